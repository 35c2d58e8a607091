package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/games/pong"
)

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
	c := NewClient(title, nil)
	_ = c.Make(t.Context())
	b := c.Now()
	if want := "./main.go:4:2: undefined: battle"; b.Error != want || b.Done {
		t.Errorf("%q, want %q", b.Error, want)
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
	s := Files{dirs: []string{dir}, files: []string{filepath.Join(dir, "image.png")}}
	last := s.Look()
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
		now := s.Look()
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
	c := NewClient(pong.Title, nil)
	for _, x := range []struct {
		b    Progress
		want string
	}{
		{Progress{Step: "compiling"}, ""},
		{Failed(os.ErrInvalid), "invalid argument"},
		{Progress{Step: "compiling"}, "invalid argument"},
		{Progress{Done: true}, "invalid argument"}, // which is told with what was made
	} {
		if c.Relay(x.b); c.Now().Error != x.want {
			t.Errorf("after %+v: %q", x.b, c.Now().Error)
		}
	}
	if c.Tell(Progress{Done: true}, nil); c.Now().Error != "" {
		t.Error(c.Now().Error)
	}
}
