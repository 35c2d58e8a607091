//go:build !js

package page

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
)

// errNoGo is what those are told who have neither Go nor a release.
var errNoGo = errors.New(
	"to compile the game for the browser, Go is needed and was not found: install it from " +
		"https://go.dev, or use a release of coeval, which brings the game; a server can also " +
		"use what demo --build-client DIR has built on another machine, by --client DIR")

// A Source is what is compiled for the browser: a package, and a folder of a module that has it.
type Source struct {
	program, dir string
	matches      bool // it plays in matches at a relay, too
}

// FindClient finds the source of a title's client: its own program for the browser, or else the
// very program that runs.
func FindClient(ctx context.Context, t *game.Title) (Source, error) {
	return FindProgram(ctx, t.Client)
}

// FindProgram finds the source of a program; without a name, of the one that runs.
func FindProgram(ctx context.Context, program string) (Source, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return Source{}, errNoGo
	}
	s := Source{program: program}
	info, _ := debug.ReadBuildInfo()
	if s.program == "" {
		if s.program = mainPackage(info); s.program == "" {
			return s, errors.New(
				"it is not known what this program was compiled from, so it cannot be compiled " +
					"for the browser: build it with go build in its module, or give its title " +
					"a Client")
		}
	}
	where := []string{".", os.Getenv("PWD")}
	if strings.HasPrefix(s.program, cli.Module+"/") {
		where = append(where, toolkitFolder(ctx, info), builtFrom())
	}
	for _, dir := range where {
		if dir == "" {
			continue
		}
		s.dir = dir
		if _, err := s.native(ctx).output("list", "-find", s.program); err == nil {
			return s, nil
		}
	}
	return s, fmt.Errorf(
		"the sources of %s are needed to compile the game for the browser and were not found: "+
			"start in the folder of their module, or use a release that brings the game; a "+
			"server can also use what demo --build-client DIR has built there, by "+
			"--client DIR", s.program)
}

// mainPackage is the package that the program was compiled from, or nothing.
func mainPackage(info *debug.BuildInfo) string {
	switch {
	case info == nil || info.Path == "" || strings.HasSuffix(info.Path, ".test"):
		return ""
	case info.Path == "command-line-arguments": // go run main.go
		return "."
	}
	return info.Path
}

// toolkitFolder is where Go keeps the sources of the toolkit, if it has downloaded them.
func toolkitFolder(ctx context.Context, info *debug.BuildInfo) string {
	if info == nil || info.Main.Path != cli.Module || !strings.HasPrefix(info.Main.Version, "v") {
		return ""
	}
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}",
		cli.Module+"@"+info.Main.Version).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// builtFrom is the folder of the toolkit in which this program was compiled, if it is still there.
func builtFrom() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		return ""
	}
	dir := filepath.Join(filepath.Dir(file), "..", "..", "..")
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return ""
	}
	return dir
}

// A goCommand runs the go command where sources are.
type goCommand struct {
	ctx context.Context
	dir string
	env []string
}

// browser is for compiling for the browser, and native for this machine.
func (s *Source) browser(ctx context.Context) *goCommand {
	env := []string{"GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOWORK=off"}
	if s.matches {
		env = append(env, strings.TrimSpace("GOFLAGS="+os.Getenv("GOFLAGS")+" -tags="+MatchTag))
	}
	return &goCommand{ctx, s.dir, env}
}

// MatchTag is the build tag of programs for the browser that play in matches at a relay.
const MatchTag = "coevalmatch"

func (s *Source) native(ctx context.Context) *goCommand { return &goCommand{ctx, s.dir, nil} }

func (g *goCommand) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(g.ctx, "go", args...)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), g.env...)
	if os.Getenv("GOGC") == "" { // compilers are short-lived: they need not tidy up so early
		cmd.Env = append(cmd.Env, "GOGC=400", "GOMEMLIMIT=1GiB")
	}
	return cmd
}

// output is what a command prints.
func (g *goCommand) output(args ...string) (string, error) {
	cmd := g.command(args...)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return "", compilerError(problem.String(), err)
	}
	return string(out), nil
}

// key tells apart what would be compiled: by the sources, what they depend on, and the compiler.
func (s *Source) key(ctx context.Context) (string, error) {
	version, err := exec.CommandContext(ctx, "go", "version").Output()
	if err != nil {
		return "", err
	}
	out, err := s.browser(ctx).output("list", "-deps", "-f",
		`{{if not .Standard}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{range .EmbedFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}`, s.program)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "bundle 2\n%s%s\n", version, s.program)
	for name := range strings.Lines(out) {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s\n", filepath.Base(name))
		_, err = io.Copy(h, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:12]), nil
}

// follow runs a command that prints the name of each package as it is compiled.
func (g *goCommand) follow(compiled func(name string), args ...string) error {
	cmd := g.command(args...)
	said, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var problem strings.Builder
	s := bufio.NewScanner(said)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if line := s.Text(); strings.ContainsAny(line, " :#\t") {
			problem.WriteString(line + "\n")
		} else {
			compiled(line)
		}
	}
	if err := cmd.Wait(); err != nil {
		return compilerError(problem.String(), err)
	}
	return nil
}

// CompileNative builds the program for this machine into a file. What go run compiled before is
// used, as the flags of the compiler are the same; the linker leaves out what only debuggers need.
func (s *Source) CompileNative(ctx context.Context, to string) error {
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
