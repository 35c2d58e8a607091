//go:build !js

package page

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Files are those that a program is made from, of modules that someone works on: those in
// Go's own store never change.
type Files struct {
	dirs  []string // of packages, in which any file of Go counts
	files []string // others: go.mod, and what is embedded
}

// Files lists those of a program, for this machine and for the browser.
func (s *Source) Files(ctx context.Context) (out Files, err error) {
	seen := map[string]bool{}
	add := func(list *[]string, name string) {
		if name != "" && !seen[name] {
			seen[name] = true
			*list = append(*list, name)
		}
	}
	const what = `{{if not .Standard}}{{with .Module}}{{if or .Main .Replace}}` +
		`{{"mod\t"}}{{.GoMod}}{{"\n"}}{{end}}{{end}}` +
		`{{if and .Module (or .Module.Main .Module.Replace)}}` +
		`{{$d := .Dir}}{{"dir\t"}}{{$d}}{{"\n"}}` +
		`{{range .EmbedFiles}}{{"file\t"}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`
	for _, cmd := range []*goCommand{s.browser(ctx), s.native(ctx)} {
		text, err := cmd.output("list", "-e", "-deps", "-f", what, s.program)
		if err != nil {
			return out, err
		}
		for line := range strings.Lines(text) {
			kind, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
			switch kind {
			case "dir":
				add(&out.dirs, name)
			case "file", "mod":
				add(&out.files, name)
			}
		}
	}
	if len(out.dirs) == 0 {
		return out, fmt.Errorf("there are no sources of %s to watch: start in the folder of its "+
			"module", s.program)
	}
	return out, nil
}

// Folders is how many folders of packages there are.
func (f *Files) Folders() int { return len(f.dirs) }

// Stamps are what tells versions of files apart, by name.
type Stamps map[string]stamp

// A stamp is what tells one version of a file from another.
type stamp struct {
	size int64
	time time.Time
}

// Look takes the stamps of all files.
func (f *Files) Look() Stamps {
	out := Stamps{}
	take := func(name string) {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			out[name] = stamp{info.Size(), info.ModTime()}
		}
	}
	for _, dir := range f.dirs {
		list, err := os.ReadDir(dir)
		if err != nil {
			continue // it was removed, which shows
		}
		for _, e := range list {
			if name := e.Name(); isSource(name) {
				take(filepath.Join(dir, name))
			}
		}
	}
	for _, name := range f.files {
		take(name)
	}
	return out
}

// isSource says whether a file in a package's folder is compiled into programs.
func isSource(name string) bool {
	return !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_") &&
		!strings.HasSuffix(name, "_test.go") &&
		(strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".s"))
}

// changed names a file that is new, gone or another than before, or is nothing.
func changed(before, now Stamps) string {
	for name, s := range now {
		if before[name] != s {
			return name
		}
	}
	for name := range before {
		if _, there := now[name]; !there {
			return name
		}
	}
	return ""
}

// How often files are looked at. A change counts when it has been there for one look, so that a
// file is not read while it is being written.
const lookEvery = 200 * time.Millisecond

// Next waits until sources have changed, and names one that has.
func (f *Files) Next(ctx context.Context, last Stamps) (name string,
	now Stamps, err error) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for before := last; ; {
		select {
		case <-ctx.Done():
			return "", nil, ctx.Err()
		case <-tick.C:
		}
		now := f.Look()
		if name := changed(last, now); name != "" && changed(before, now) == "" {
			return name, now, nil
		}
		before = now
	}
}
