//go:build !js

package newgame

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/host/internal/cli"
)

//go:embed templates
var files embed.FS

// A Template is a game to begin with.
type Template struct{ Name, About string }

// Templates are the games to begin with, the simplest first.
var Templates = []Template{
	{"hello", "A meadow to walk about in and say hello"},
	{"shooter", "Ships that shoot each other"},
	{"cars", "Cars that drift around a track"},
}

// find gives the template of a name.
func find(name string) (Template, error) {
	var names []string
	for _, t := range Templates {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return Template{}, cli.Usagef("there is no template %q: choose one of %s", name,
		strings.Join(names, ", "))
}

// Options say what to make.
type Options struct {
	// Dir is the folder, whose name is that of the game.
	Dir string
	// Template is the name of the game to begin with. Default: the first of Templates.
	Template string
	// Module is the path of the module. Default: example.com/ and the game's name.
	Module string
	// Local is the folder of a checkout of the toolkit to use. Default: the one that this program
	// was compiled from, or else the released version that it is.
	Local string
}

// A Module is one that was made.
type Module struct {
	Dir, Name string // the folder, and what the game is called
	Path      string // of the module
	Local     string // the checkout that it uses, or nothing
	Lines     int    // of Go that are code, without the test

	template Template
	version  string // of the toolkit, where there is no checkout
}

// Make makes a module. On an error nothing is left of it.
func Make(ctx context.Context, o Options) (*Module, error) {
	m, err := o.check()
	if err != nil {
		return nil, err
	}
	return m, m.write(ctx)
}

// contents are the files of the module, by name.
func (m *Module) contents() (map[string][]byte, error) {
	out := map[string][]byte{}
	words := strings.NewReplacer("{name}", m.Name, "{about}", m.template.About)
	for from, to := range map[string]string{"README.md": "README.md", "gitignore": ".gitignore"} {
		text, err := files.ReadFile(path.Join("templates", from))
		if err != nil {
			return nil, err
		}
		out[to] = []byte(words.Replace(string(text)))
	}
	dir := path.Join("templates", m.template.Name)
	list, err := files.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	named := strings.NewReplacer(
		fmt.Sprintf("world.Define(%q", m.template.Name), fmt.Sprintf("world.Define(%q", m.Name),
		"// Command "+m.template.Name+" ", "// Command "+m.Name+" ")
	for _, f := range list {
		text, err := files.ReadFile(path.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		out[f.Name()] = []byte(named.Replace(string(text)))
		if !strings.HasSuffix(f.Name(), "_test.go") {
			m.Lines += code(string(text))
		}
	}
	return out, m.requirements(out)
}

// code counts the lines that are neither empty nor a comment.
func code(text string) (n int) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			n++
		}
	}
	return n
}

// requirements adds go.mod and go.sum. With a checkout the module needs what that needs, in the
// same versions, so that nothing has to be downloaded which the checkout does not have already.
func (m *Module) requirements(out map[string][]byte) error {
	if m.Local == "" {
		out["go.mod"] = fmt.Appendf(nil, "module %s\n\ngo %s\n\nrequire %s %s\n", m.Path,
			goVersion, cli.Module, m.version)
		return nil
	}
	mod, err := os.ReadFile(filepath.Join(m.Local, "go.mod"))
	if err != nil {
		return fmt.Errorf("--local: %w", err)
	}
	needs, version := parseMod(string(mod))
	text := fmt.Sprintf("module %s\n\ngo %s\n\nrequire %s v0.0.0\n\nreplace %s => %s\n\n"+
		"require (\n", m.Path, version, cli.Module, cli.Module, quoteMod(m.Local))
	for _, n := range needs {
		text += "\t" + n + " // indirect\n"
	}
	out["go.mod"] = []byte(text + ")\n")
	out["go.sum"], err = os.ReadFile(filepath.Join(m.Local, "go.sum"))
	return err
}

// goVersion is what a module needs that does not use a checkout.
const goVersion = "1.26.0"

// parseMod reads what a go.mod requires, and of which version of Go.
func parseMod(text string) (needs []string, version string) {
	version = goVersion
	inside := false
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		f := strings.Fields(line)
		switch {
		case len(f) == 2 && f[0] == "go":
			version = f[1]
		case len(f) == 2 && f[0] == "require" && f[1] == "(":
			inside = true
		case len(f) == 1 && f[0] == ")":
			inside = false
		case inside && len(f) == 2:
			needs = append(needs, f[0]+" "+f[1])
		case len(f) == 3 && f[0] == "require":
			needs = append(needs, f[1]+" "+f[2])
		}
	}
	slices.Sort(needs)
	return needs, version
}

// quoteMod is a path as go.mod has it.
func quoteMod(dir string) string {
	if strings.ContainsAny(dir, " \t\"'`()[]{},") {
		return fmt.Sprintf("%q", dir)
	}
	return dir
}

// write makes the folder with all files in it, or nothing at all: they are written to a folder
// beside it, which then takes its place.
func (m *Module) write(ctx context.Context) (err error) {
	contents, err := m.contents()
	if err != nil {
		return err
	}
	switch list, err := os.ReadDir(m.Dir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return cli.Usagef("%s is no folder that can be used: %w", m.Dir, err)
	case len(list) > 0:
		return cli.Usagef("the folder %s exists and is not empty: choose another name, or remove "+
			"what is in it", m.Dir)
	}
	parent := filepath.Dir(m.Dir)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(parent, ".coeval-new-*")
	if err != nil {
		return fmt.Errorf("%s cannot be written to: %w", parent, err)
	}
	defer os.RemoveAll(tmp)
	for name, text := range contents {
		if err := os.WriteFile(filepath.Join(tmp, name), text, 0o666); err != nil {
			return err
		}
	}
	if m.Local == "" {
		if err := m.tidy(ctx, tmp); err != nil {
			return err
		}
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	if err := os.Remove(m.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // it was empty a moment ago
	}
	return os.Rename(tmp, m.Dir)
}
