package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/coeval-dev/coeval/internal/layers"
)

var (
	build         = stage{"build", command("go", "build", "./...")}
	crossBuild    = stage{"build for others", func(r *runner) error { return r.cross(pureOnly) }}
	crossBuildAll = stage{"build for others", func(r *runner) error { return r.cross(everything) }}
)

// platforms are those on which games built with the toolkit are to run; the
// one this runs on is built anyway. The last ones, close to others, wait for a
// soak.
var platforms = []struct {
	os, arch string
	run      bool // tests run what is compiled for it
	soakOnly bool
}{
	{"js", "wasm", true, false},
	{"windows", "amd64", false, false},
	{"darwin", "arm64", false, false},
	{"linux", "arm64", true, true},
	{"linux", "386", true, true},
}

// What is built for another platform: in a short run what must build anywhere,
// pure packages and the carriers without heavy libraries, as compiling the rest
// for each of them would take most of the time there is. Where nothing is run of
// it, only types are checked: a soak compiles it.
type extent bool

const (
	pureOnly   extent = false
	everything extent = true
)

func (r *runner) cross(what extent) error {
	var failed []string
	for _, p := range platforms {
		if p.soakOnly && what != everything {
			continue
		}
		env := []string{"GOOS=" + p.os, "GOARCH=" + p.arch, "CGO_ENABLED=0"}
		names, err := r.crossPackages(env, p.os, what)
		if err != nil {
			return err
		}
		fmt.Fprintf(r.out, "%s/%s: %d packages\n", p.os, p.arch, len(names))
		if len(names) == 0 {
			continue
		}
		if what == everything || p.run {
			err = r.do(append(env, roomy()...), "go", append([]string{"build"}, names...)...)
		} else if err = r.typeCheck(env, p.arch, names); err != nil {
			fmt.Fprintln(r.out, err)
		}
		if err != nil {
			failed = append(failed, p.os+"/"+p.arch)
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("does not build for %s", strings.Join(failed, ", "))
	}
	return nil
}

// crossPackages lists what to build for a platform, without what has no file
// for it.
func (r *runner) crossPackages(env []string, system string, what extent) ([]string, error) {
	out, err := r.ask(env, "go", "list", "-e", "-json=ImportPath,Name,GoFiles,Deps", "./...")
	if err != nil {
		return nil, err
	}
	chart := layers.Current()
	var names []string
	dec := json.NewDecoder(strings.NewReader(out))
	for {
		var p struct {
			ImportPath, Name string
			GoFiles, Deps    []string
		}
		if err := dec.Decode(&p); err == io.EOF {
			return names, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		own, _ := r.tree.Own(p.ImportPath)
		switch {
		case len(p.GoFiles) == 0:
		case what == everything && system != "js", chart.Pure(own), isCarrier(own) &&
			r.light(p.Deps):
			names = append(names, p.ImportPath)
		}
	}
}

func isCarrier(own string) bool { return strings.HasPrefix(own, "link/") }

// light reports whether a package compiles nothing from outside the project
// but what comes from Go's own authors.
func (r *runner) light(deps []string) bool {
	for _, d := range deps {
		_, own := r.tree.Own(d)
		first, _, _ := strings.Cut(d, "/")
		if !own && strings.Contains(first, ".") && first != "golang.org" {
			return false
		}
	}
	return true
}
