package host

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/cli"
)

// mostNames is how many names of the toolkit an author of a networked game has to learn.
const mostNames = 44

// TestNames: docs/author.md lists the names to learn, no more than forty-four, and the game outside
// of the repository uses no others.
func TestNames(t *testing.T) {
	page, err := os.ReadFile("../docs/author.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(string(page), "## The names to learn")
	if !ok {
		t.Fatal("the page has no list of names")
	}
	var listed []string
	for _, m := range regexp.MustCompile("`([A-Za-z]+\\.[A-Za-z0-9]+)`").FindAllStringSubmatch(list,
		-1) {
		listed = append(listed, m[1])
	}
	if len(listed) > mostNames || len(listed) < mostNames/2 {
		t.Errorf("%d names are listed, want at most %d", len(listed), mostNames)
	}
	used := map[string]bool{}
	for _, file := range []string{"tanks.go", "cmd/tanks/main.go"} {
		names(t, filepath.Join("testdata/outside", file), used)
	}
	for name := range used {
		if !slices.Contains(listed, name) {
			t.Errorf("the game uses %s, which docs/author.md does not list", name)
		}
	}
	if len(used) < 30 {
		t.Errorf("the game uses only %d names", len(used))
	}
	for _, name := range listed {
		if !used[name] && !rarely[name] {
			t.Errorf("docs/author.md lists %s, which the game does without", name)
		}
	}
}

// rarely are names that an author needs and this game happens not to.
var rarely = map[string]bool{"world.Get": true}

// toolkit is by which types of parameters the methods are found that a file calls.
var toolkit = map[string]string{"world.World": "World", "bits.Sync": "Sync", "game.Hints": "Hints"}

// names collects what of the toolkit a file uses: what it names by package, and the methods of a
// world, of Sync and of Hints.
func names(t *testing.T, file string, used map[string]bool) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]bool{}
	for _, im := range f.Imports {
		if p, _ := strconv.Unquote(im.Path.Value); strings.HasPrefix(p, cli.Module+"/") {
			packages[path.Base(p)] = true
		}
	}
	for _, d := range f.Decls {
		namesOf(d, packages, used)
	}
}

// namesOf collects the names of one declaration, in which a parameter's name means one type.
func namesOf(d ast.Decl, packages, used map[string]bool) {
	params := map[string]string{}
	ast.Inspect(d, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok {
			return true
		}
		star, ok := field.Type.(*ast.StarExpr)
		if !ok {
			return true
		}
		if s, ok := star.X.(*ast.SelectorExpr); ok {
			if p, ok := s.X.(*ast.Ident); ok {
				for _, name := range field.Names {
					if kind := toolkit[p.Name+"."+s.Sel.Name]; kind != "" {
						params[name.Name] = kind
					}
				}
			}
		}
		return true
	})
	ast.Inspect(d, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := s.X.(*ast.Ident)
		switch {
		case !ok:
		case packages[x.Name]:
			used[x.Name+"."+s.Sel.Name] = true
		case params[x.Name] != "" && ast.IsExported(s.Sel.Name) &&
			!slices.Contains(fields, s.Sel.Name):
			used[params[x.Name]+"."+s.Sel.Name] = true
		}
		return true
	})
}

// fields are those of the game's own structs, whose receivers may have the name of a parameter.
var fields = []string{"Pos", "Vel", "Left", "Hits"}
