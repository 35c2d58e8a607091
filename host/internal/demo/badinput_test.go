package demo

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
)

// TestNoGo: whoever has no Go is told in the page where it is to be had.
func TestNoGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	c := newClientBuild(pong.Title)
	c.run(t.Context())
	if b := c.now(); !strings.Contains(b.Error, "install it from https://go.dev") || b.Done {
		t.Errorf("%+v", b)
	}
	if err := (&flags{title: pong.Title, preset: "lan", style: "doom3", watches: true}).watch(
		t.Context(), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "install it") {
		t.Error(err)
	}
}

// TestAClientThatDoesNotCompile: the page has the compiler's words, with file and line.
func TestAClientThatDoesNotCompile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module example.com/broken\n\ngo 1.24\n",
		"main.go": "package main\n\nfunc main() {\n\tbattle(7)\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("PWD", dir)
	title := pong.Title.Clone()
	title.Client = "example.com/broken"
	c := newClientBuild(title)
	c.run(t.Context())
	b := c.now()
	if want := "./main.go:4:2: undefined: battle"; b.Error != want || b.Done {
		t.Errorf("%q, want %q", b.Error, want)
	}
}

// TestThePortIsTaken: another is taken where none was asked for, and only there.
func TestThePortIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	if port > 65000 {
		t.Skip("there is none after it")
	}
	d := &flags{title: pong.Title, port: port}
	l, err := d.bind()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got := l.Addr().(*net.TCPAddr).Port; got <= port || got >= port+20 {
		t.Errorf("port %d, and %d is taken", got, port)
	}
	d.fixed = true
	if _, err := d.open(game.Level{}); err == nil ||
		!strings.Contains(err.Error(), "choose another by --port") {
		t.Error(err)
	}
}

// TestNoBrowser: where none opens, the address is to be opened by hand, and that is said.
func TestNoBrowser(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("there the system opens pages")
	}
	var out bytes.Buffer
	openBrowser(t.Context(), &out, "http://127.0.0.1:1/") // which is no terminal
	if !strings.Contains(out.String(), byHand) {
		t.Errorf("%q", &out)
	}
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	if c := browserCommand(t.Context(), "x"); c != nil {
		t.Errorf("without a screen: %v", c)
	}
	t.Setenv("DISPLAY", ":7")
	if c := browserCommand(t.Context(), "x"); c == nil || c.Args[0] != "xdg-open" {
		t.Errorf("%v", c)
	}
	for program, says := range map[string]string{
		"false": "no browser could be opened", "true": "",
	} {
		out.Reset()
		c := exec.CommandContext(context.Background(), program)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		opened(t.Context(), c, &out)
		if got := out.String(); says == "" && got != "" || !strings.Contains(got, says) {
			t.Errorf("%s: %q", program, got)
		}
	}
}

// TestTheGrammarOfMistakes: what only names packages is left out, and there is not too much.
func TestTheGrammarOfMistakes(t *testing.T) {
	err := compilerError("# example.com/x\n./a.go:1:2: no\n\n# example.com/y\n./b.go:3:4: no\n",
		os.ErrInvalid)
	if err.Error() != "./a.go:1:2: no\n./b.go:3:4: no" {
		t.Error(err)
	}
	if err := compilerError("# example.com/x\n", os.ErrInvalid); err != os.ErrInvalid {
		t.Error(err)
	}
	if n := strings.Count(compilerError(strings.Repeat("x\n", 99), nil).Error(), "x"); n != 40 {
		t.Error(n)
	}
}

// TestSources: files that are compiled are watched, whether they change, come or go.
func TestSources(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("a.go", "1")
	write("image.png", "1")
	s := sources{dirs: []string{dir}, files: []string{filepath.Join(dir, "image.png")}}
	last := s.look()
	for _, x := range []struct {
		what, name string
		do         func(name string)
		counts     bool
	}{
		{"a change", "a.go", func(n string) { write(n, "12") }, true},
		{"another file", "b.go", func(n string) { write(n, "1") }, true},
		{"something embedded", "image.png", func(n string) { write(n, "12") }, true},
		{"a test", "a_test.go", func(n string) { write(n, "1") }, false},
		{"an editor's file", ".a.go.swp", func(n string) { write(n, "1") }, false},
		{"a note", "notes.txt", func(n string) { write(n, "1") }, false},
		{"one less", "b.go", func(n string) { _ = os.Remove(filepath.Join(dir, n)) }, true},
	} {
		x.do(x.name)
		now := s.look()
		want := ""
		if x.counts {
			want = filepath.Join(dir, x.name)
		}
		if got := changed(last, now); got != want {
			t.Errorf("%s: %q, want %q", x.what, got, want)
		}
		last = now
	}
}

// TestMistakesAreSaidUntilTheyAreMended: a build that has only begun mends nothing.
func TestMistakesAreSaidUntilTheyAreMended(t *testing.T) {
	c := newClientBuild(pong.Title)
	for _, x := range []struct {
		b    buildState
		want string
	}{
		{buildState{Step: "compiling"}, ""},
		{failedBuild(os.ErrInvalid), "invalid argument"},
		{buildState{Step: "compiling"}, "invalid argument"},
		{buildState{Done: true}, "invalid argument"}, // which is told with what was made
	} {
		if c.relay(x.b); c.now().Error != x.want {
			t.Errorf("after %+v: %q", x.b, c.now().Error)
		}
	}
	if c.tell(buildState{Done: true}, nil); c.now().Error != "" {
		t.Error(c.now().Error)
	}
}
