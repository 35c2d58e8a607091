//go:build !js

package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// sources are the files that a program is made from, of modules that someone works on: those in
// Go's own store never change.
type sources struct {
	dirs  []string // of packages, in which any file of Go counts
	files []string // others: go.mod, and what is embedded
}

// sources lists those of a program, for this machine and for the browser.
func (s *source) sources(ctx context.Context) (out sources, err error) {
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

// A stamp is what tells one version of a file from another.
type stamp struct {
	size int64
	time time.Time
}

// look takes the stamps of all files.
func (s *sources) look() map[string]stamp {
	out := map[string]stamp{}
	take := func(name string) {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			out[name] = stamp{info.Size(), info.ModTime()}
		}
	}
	for _, dir := range s.dirs {
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
	for _, name := range s.files {
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
func changed(before, now map[string]stamp) string {
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

// next waits until sources have changed, and names one that has.
func (s *sources) next(ctx context.Context, last map[string]stamp) (name string,
	now map[string]stamp, err error) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for before := last; ; {
		select {
		case <-ctx.Done():
			return "", nil, ctx.Err()
		case <-tick.C:
		}
		now := s.look()
		if name := changed(last, now); name != "" && changed(before, now) == "" {
			return name, now, nil
		}
		before = now
	}
}

// relative is a file as people name it, from where the program was started.
func relative(name string) string {
	if dir, err := os.Getwd(); err == nil {
		if r, err := filepath.Rel(dir, name); err == nil && !strings.HasPrefix(r, "..") {
			return r
		}
	}
	return name
}

// compileServer builds the program for this machine into a file. What go run compiled before is
// used, as the flags of the compiler are the same; the linker leaves out what only debuggers need.
func (s *source) compileServer(ctx context.Context, to string) error {
	cmd := s.native(ctx).command("build", "-buildvcs=false", "-ldflags=-w", "-o", to, s.program)
	var said bytes.Buffer
	cmd.Stderr, cmd.Stdout = &said, &said
	if err := cmd.Run(); err != nil {
		return compilerError(said.String(), err)
	}
	return nil
}

// compilerError is what the compiler said, without the lines that only name packages.
func compilerError(said string, err error) error {
	var lines []string
	for line := range strings.Lines(said) {
		if line = strings.TrimRight(line, "\r\n"); line != "" && !strings.HasPrefix(line, "# ") {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return err
	}
	return errors.New(strings.Join(lines[:min(len(lines), 40)], "\n"))
}

// sameFile says whether two files have the same bytes.
func sameFile(a, b string) bool {
	x, err := os.ReadFile(a)
	if err != nil {
		return false
	}
	y, err := os.ReadFile(b)
	return err == nil && bytes.Equal(x, y)
}
