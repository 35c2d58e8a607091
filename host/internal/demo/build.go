//go:build !js

package demo

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
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/web"
)

// buildState is how far the game for the browser is. The JSON names are the page's.
type buildState struct {
	Step    string  `json:"step"`
	Part    float64 `json:"part"` // from 0 to 1
	Done    bool    `json:"done"`
	Error   string  `json:"error"`
	Seconds float64 `json:"seconds"`
	Tag     string  `json:"tag"` // of the program; a page that has another is to load it anew
}

// A clientBuild makes the game for the browser: from what a release brought, from what was kept, or
// by compiling it.
type clientBuild struct {
	title *game.Title
	watch func(buildState) // told of each change; may be nil
	began time.Time
	begun atomic.Bool

	mu    sync.Mutex
	state buildState
	made  *web.Bundle
}

func newClientBuild(t *game.Title) *clientBuild {
	return &clientBuild{title: t, began: time.Now(), state: buildState{Step: "one moment"}}
}

// bundle is what was made, or nil.
func (c *clientBuild) bundle() *web.Bundle {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made
}

func (c *clientBuild) now() buildState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

func (c *clientBuild) tell(s buildState, made *web.Bundle) {
	c.mu.Lock()
	s.Seconds = time.Since(c.began).Seconds()
	if made != nil {
		c.made = made
	}
	if c.made != nil {
		s.Tag = c.made.Tag
	}
	c.state = s
	c.mu.Unlock()
	if c.watch != nil {
		c.watch(s)
	}
}

// run makes the bundle, the first time.
func (c *clientBuild) run(ctx context.Context) {
	if c.begun.Swap(true) {
		return
	}
	b, err := c.make(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		c.tell(failedBuild(err), nil)
	default:
		c.tell(doneBuild(b), b)
	}
}

func failedBuild(err error) buildState {
	return buildState{Step: "the game could not be compiled", Error: err.Error()}
}

func doneBuild(b *web.Bundle) buildState {
	_, gz, zst := b.Sizes()
	return buildState{
		Step: fmt.Sprintf("the game has %.2f MB, or %.2f MB for browsers that take no zstd",
			float64(zst)/1e6, float64(gz)/1e6), Part: 1, Done: true}
}

func (c *clientBuild) make(ctx context.Context) (*web.Bundle, error) {
	if c.title.Client != "" { // a release brings no other
		if b, err := web.Released(); err != nil || b != nil {
			return b, err
		}
	}
	c.tell(buildState{Step: "looking for the game's sources", Part: 0.01}, nil)
	src, err := findSource(ctx, c.title)
	if err != nil {
		return nil, err
	}
	key, err := src.key(ctx)
	if err != nil {
		return nil, err
	}
	kept := ""
	if cache, err := os.UserCacheDir(); err == nil {
		kept = filepath.Join(cache, "coeval", "client", key)
		if b, err := web.LoadBundle(os.DirFS(kept)); err == nil {
			return b, nil
		}
	}
	b, err := c.again(ctx, src)
	if err != nil {
		return nil, err
	}
	if kept != "" && b.Save(kept) == nil {
		forget(filepath.Dir(kept), key)
	}
	return b, nil
}

// again compiles and compresses, whatever was kept.
func (c *clientBuild) again(ctx context.Context, src source) (*web.Bundle, error) {
	program, starter, err := c.compile(ctx, src)
	if err != nil {
		return nil, err
	}
	c.tell(buildState{Step: "compressing", Part: 0.97}, nil)
	return web.QuickBundle(program, starter) // its way to the browser is short
}

// keptBundles is how many are kept, so that going back and forth between versions does not compile
// each time.
const keptBundles = 4

// forget removes the oldest of what was kept.
func forget(dir, but string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	age := func(e os.DirEntry) time.Time {
		info, err := e.Info()
		if err != nil || e.Name() == but {
			return time.Now() // it goes last
		}
		return info.ModTime()
	}
	slices.SortFunc(list, func(a, b os.DirEntry) int { return age(a).Compare(age(b)) })
	for _, e := range list[:max(0, len(list)-keptBundles)] {
		_ = os.RemoveAll(filepath.Join(dir, e.Name()))
	}
}

// errNoGo is what those are told who have neither Go nor a release.
var errNoGo = errors.New(
	"to compile the game for the browser, Go is needed and was not found: install it from " +
		"https://go.dev, or use a release of coeval, which brings the game")

// A source is what is compiled for the browser: a package, and a folder of a module that has it.
type source struct{ program, dir string }

// findSource finds the sources of a title's client: its own program for the browser, or else the
// very program that runs.
func findSource(ctx context.Context, t *game.Title) (source, error) {
	return findProgram(ctx, t.Client)
}

// findProgram finds the sources of a program; without a name, of the one that runs.
func findProgram(ctx context.Context, program string) (source, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return source{}, errNoGo
	}
	s := source{program: program}
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
			"start the demo in the folder of their module, or use a release that brings the "+
			"game", s.program)
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
func (s *source) browser(ctx context.Context) *goCommand {
	return &goCommand{ctx, s.dir,
		[]string{"GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOWORK=off"}}
}

func (s *source) native(ctx context.Context) *goCommand { return &goCommand{ctx, s.dir, nil} }

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
func (s *source) key(ctx context.Context) (string, error) {
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

// compile runs the compiler, and tells how far it is.
func (c *clientBuild) compile(ctx context.Context, src source) (program, starter []byte,
	err error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, nil, err
	}
	for _, at := range []string{"lib/wasm", "misc/wasm"} { // it has moved
		if starter, err = os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), at,
			"wasm_exec.js")); err == nil {
			break
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("go's own wasm_exec.js is not there: %w", err)
	}
	tmp, err := os.MkdirTemp("", "coeval-client-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(tmp)
	out := filepath.Join(tmp, "client.wasm")
	total := make(chan int, 1)
	go func() { total <- src.count(ctx) }()
	n, parts := 0, usualPackages
	if err := src.browser(ctx).follow(func(name string) {
		n++
		select {
		case parts = <-total:
		default:
		}
		step := fmt.Sprintf("compiling the game for the browser, %d of up to %d parts: %s", n,
			max(n, parts), strings.TrimPrefix(name, cli.Module+"/"))
		c.tell(buildState{Step: step, Part: 0.03 + 0.85*float64(n)/float64(max(n, parts, 1))}, nil)
	}, "build", "-v", "-trimpath", "-ldflags=-s -w", "-o", out, src.program); err != nil {
		return nil, nil, err
	}
	program, err = os.ReadFile(out)
	return program, starter, err
}

// usualPackages is how many packages the game is about made of, for as long as no one has counted.
const usualPackages = 220

// count says how many packages the game is made of.
func (s *source) count(ctx context.Context) int {
	out, _ := s.browser(ctx).output("list", "-deps", s.program) // without, it is a guess
	return strings.Count(out, "\n")
}

// buildOnly compiles into a folder, for releases.
func (d *flags) buildOnly(ctx context.Context, out io.Writer) error {
	c := newClientBuild(d.title)
	bar := cli.NewProgress(out)
	c.watch = func(b buildState) { bar.Show(b.Part, b.Step) }
	src, err := findSource(ctx, d.title)
	if err != nil {
		return err
	}
	program, starter, err := c.compile(ctx, src)
	if err != nil {
		return err
	}
	b, err := web.NewBundle(program, starter)
	if err != nil {
		return err
	}
	bar.Clear()
	if err := b.Save(d.build); err != nil {
		return err
	}
	plain, gz, zst := b.Sizes()
	fmt.Fprintf(out, "%s: %d bytes of WebAssembly, %d with zstd, %d with gzip, and %d of page\n",
		d.build, plain, zst, gz, web.PageSize())
	return nil
}

// Precompile compiles what a program in a folder is made of besides itself, for this machine and
// for the browser side by side, so that it starts at once later. Show is told how far it is.
func Precompile(ctx context.Context, dir string, show func(part float64, what string)) error {
	src := source{program: cli.Module + "/host", dir: dir}
	var work sync.WaitGroup
	var mu sync.Mutex
	done, total := 0, 0
	each := make([]error, 2)
	for i, g := range []*goCommand{src.native(ctx), src.browser(ctx)} {
		args := []string{"build", "-v"}
		if i == 1 {
			args = append(args, "-trimpath") // as it will be
		}
		work.Go(func() {
			n, _ := g.output("list", "-deps", src.program) // without, it is a guess
			mu.Lock()
			total += strings.Count(n, "\n")
			mu.Unlock()
			each[i] = g.follow(func(name string) {
				mu.Lock()
				defer mu.Unlock()
				done++
				show(float64(done)/float64(max(done, total, 1)),
					"compiling "+strings.TrimPrefix(name, cli.Module+"/"))
			}, append(args, src.program)...)
		})
	}
	work.Wait()
	if each[0] != nil {
		return each[0] // the other says the same
	}
	return each[1]
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
