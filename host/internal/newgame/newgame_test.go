package newgame

import (
	"errors"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/cli"
)

// TestMake: a module has all files, by the game's own name, and its go.mod needs what the checkout
// needs.
func TestMake(t *testing.T) {
	for _, x := range Templates {
		dir := filepath.Join(t.TempDir(), "of", "my-game")
		m, err := Make(t.Context(), Options{Dir: dir, Template: x.Name})
		if err != nil {
			t.Fatal(err)
		}
		if m.Name != "my-game" || m.Path != "example.com/my-game" || m.Lines > 150 || m.Lines < 50 {
			t.Errorf("%+v", m)
		}
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		lines := 0 // of all that an author reads first, comments included
		for _, f := range list {
			names = append(names, f.Name())
			text, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil || strings.Contains(string(text), "{name}") ||
				strings.Contains(string(text), "newgame") {
				t.Errorf("%s: %v\n%s", f.Name(), err, text)
			}
			if filepath.Ext(f.Name()) == ".go" {
				if _, err := parser.ParseFile(token.NewFileSet(), "", text, 0); err != nil {
					t.Error(err)
				}
				if !strings.HasSuffix(f.Name(), "_test.go") {
					lines += strings.Count(string(text), "\n")
				}
			}
		}
		if lines > 150 {
			t.Errorf("%s has %d lines", x.Name, lines)
		}
		want := ".gitignore README.md game.go game_test.go go.mod go.sum main.go"
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s has %s", x.Name, got)
		}
		for file, want := range map[string]string{
			"game.go": `world.Define("my-game",`, "main.go": "// Command my-game is ",
			"README.md": "# my-game\n", ".gitignore": "/my-game\n",
			"go.mod": "replace " + cli.Module + " => " + quoteMod(m.Local) + "\n",
			"go.sum": "github.com/quic-go/quic-go",
		} {
			text, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil || !strings.Contains(string(text), want) {
				t.Errorf("%s: no %q, %v", file, want, err)
			}
		}
	}
}

// TestMakeRefuses: each mistake is said with what to do about it, and nothing is left behind.
func TestMakeRefuses(t *testing.T) {
	dir := t.TempDir()
	full := filepath.Join(dir, "full")
	if err := os.MkdirAll(filepath.Join(full, "something"), 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		o    Options
		says string
	}{
		{Options{Dir: full}, "is not empty: choose another name"},
		{Options{Dir: file}, "is no folder that can be used"},
		{Options{Dir: filepath.Join(dir, "Tanks")}, "is no name for a game: take small letters"},
		{Options{Dir: filepath.Join(dir, "1up")}, "is no name for a game"},
		{Options{Dir: filepath.Join(dir, "func")}, "no word of Go"},
		{Options{Dir: filepath.Join(dir, "a b")}, "is no name for a game"},
		{Options{Dir: "."}, "is no name for a game"},
		{Options{Dir: filepath.Join(dir, "x"), Template: "chess"},
			`no template "chess": choose one of hello, shooter, cars`},
		{Options{Dir: filepath.Join(dir, "x"), Module: "/x"}, "is no path of a module: take one"},
		{Options{Dir: filepath.Join(dir, "x"), Module: "a//b"}, "is no path of a module"},
		{Options{Dir: filepath.Join(dir, "x"), Module: "a.com/x y"}, "is no path of a module"},
		{Options{Dir: filepath.Join(dir, "x"), Module: "a.com/../x"}, "is no path of a module"},
		{Options{Dir: filepath.Join(dir, "x"), Local: dir}, "is no checkout of the toolkit"},
	} {
		_, err := Make(t.Context(), x.o)
		var usage cli.UsageError
		if err == nil || !strings.Contains(err.Error(), x.says) || !errors.As(err, &usage) {
			t.Errorf("%+v: %v", x.o, err)
		}
	}
	t.Setenv("PATH", dir)
	if _, err := Make(t.Context(), Options{Dir: filepath.Join(dir, "x")}); err == nil ||
		!strings.Contains(err.Error(), "install it from https://go.dev/dl") {
		t.Error(err)
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
}

// TestNotPublished: a version that is not to be had is said in words, with what to do, and nothing
// is left behind.
func TestNotPublished(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(dir)) // which has nothing
	m := &Module{Dir: filepath.Join(dir, "tanks"), Name: "tanks", Path: "example.com/tanks",
		template: Templates[0], version: "v0.1234.5"}
	err := m.write(t.Context())
	if err == nil || !strings.Contains(err.Error(), "version v0.1234.5 of the toolkit") ||
		!strings.Contains(err.Error(), "{program} new tanks --local FOLDER") ||
		!strings.Contains(err.Error(), "Go says:\n") {
		t.Error(err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 0 {
		t.Errorf("there is %v, %v", list, err)
	}
}

// TestMakeInAnEmptyFolder: one that is there and empty is used, such as a new repository's parent.
func TestMakeInAnEmptyFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tanks")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(t.Context(), Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Error(err)
	}
}

// TestParseMod reads what go.mod may look like.
func TestParseMod(t *testing.T) {
	needs, version := parseMod("module x\n\ngo 1.30\n\nrequire b.org/b v2.0.0 // indirect\n" +
		"require (\n\ta.org/a v1.0.0\n\t// a comment\n\tc.org/c v3.0.0 // indirect\n)\n\n" +
		"tool d.org/d\n")
	if got := strings.Join(needs, ","); version != "1.30" ||
		got != "a.org/a v1.0.0,b.org/b v2.0.0,c.org/c v3.0.0" {
		t.Errorf("%s, %q", version, got)
	}
	if quoteMod("/a/b") != "/a/b" || quoteMod("/a b") != `"/a b"` {
		t.Error("quotes")
	}
}
