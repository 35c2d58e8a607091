package stepvet

import (
	"fmt"
	"go/types"
	"strings"
)

// A summary is what callers need to know of a function. It travels between packages as a fact, and
// is made for every function of a package, because which of them a Step will call is known only
// later.
type summary struct {
	Troubles []trouble // at most one of each category: what the function or anything it calls does
	// interface methods it calls: a package further up may have more types that implement them
	Dynamic  []dynamic
	Writes   []int     // parameters through which it writes
	Adds     []slot    // floats reachable from a parameter that it adds or subtracts
	Products []slot    // floats reachable from a result that are products nobody rounded
	Passes   []passage // floats that come back as they were given
}

// AFact marks summary as a fact.
func (*summary) AFact() {}

func (s *summary) String() string {
	var names []string
	for _, t := range s.Troubles {
		names = append(names, string(t.Category))
	}
	return strings.Join(names, ",")
}

func (s *summary) empty() bool {
	return len(s.Troubles)+len(s.Dynamic)+len(s.Writes)+len(s.Adds)+len(s.Products)+
		len(s.Passes) == 0
}

// A trouble is one finding in a function that may be in another package.
type trouble struct {
	Category Category
	Where    string // file and line, for people
	What     string
}

// A dynamic is a method of an interface.
type dynamic struct{ Pkg, Type, Method string }

// A slot is a value reachable from a parameter or result: its number, the receiver being parameter
// 0, and a path such as ".Pos.X".
type slot struct {
	Index int
	Path  string
}

// A passage says that a result holds what a parameter held.
type passage struct{ Result, Param slot }

// engine tells whether a package is part of the toolkit that steps worlds. What happens inside is
// the toolkit's own business and has its own tests: it copies memory and keeps maps. Only the flow
// of floats through it matters to callers.
func engine(pkg *types.Package) bool {
	path := pkg.Path()
	if rest, ok := strings.CutPrefix(path, "github.com/coeval-dev/coeval/"); ok {
		switch rest {
		case "det", "bits", "entropy", "codec", "world", "interest", "reckon", "kept":
			return true
		}
		return false
	}
	declares := func(name string) bool {
		_, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		return ok
	}
	return strings.HasSuffix(path, "/world") && declares("World") ||
		strings.HasSuffix(path, "/bits") && declares("Sync") || isDet(path)
}

func isDet(path string) bool { return strings.HasSuffix(path, "/det") }

// summaryOf gives what is known of a function, of any package; never nil.
func (u *unit) summaryOf(obj types.Object) *summary {
	if obj == nil || obj.Pkg() == nil {
		return &summary{}
	}
	if fn, ok := obj.(*types.Func); ok {
		obj = fn.Origin()
	}
	if obj.Pkg() == u.pass.Pkg {
		if fn := u.byObj[obj]; fn != nil {
			if f := u.flowOf(fn); f != nil {
				return &f.out
			}
		}
		return &summary{}
	}
	s, ok := u.facts[obj]
	if !ok {
		s = &summary{}
		if !standard(obj.Pkg().Path()) {
			u.pass.ImportObjectFact(obj, s)
		}
		u.facts[obj] = s
	}
	return s
}

// export gives what the package's functions do to the packages that import it.
func (u *unit) export() {
	for _, fn := range u.funcs {
		if fn.obj == nil {
			continue
		}
		s := *u.summaryOf(fn.obj)
		s.Writes = fn.writes
		if !u.engine {
			for _, c := range Categories() {
				if f := fn.all[c]; f != nil {
					s.Troubles = append(s.Troubles, trouble{c, u.where(f), f.what()})
				}
			}
			s.Dynamic = fn.dynamic
		}
		if !s.empty() {
			u.pass.ExportObjectFact(fn.obj, &s)
		}
	}
}

// where names a place so that it reads the same on every machine.
func (u *unit) where(f *finding) string {
	if f.inner != nil {
		return f.inner.Where
	}
	at := u.pass.Fset.Position(f.pos)
	name := at.Filename[strings.LastIndexAny(at.Filename, `/\`)+1:]
	return fmt.Sprintf("%s/%s:%d", u.pass.Pkg.Path(), name, at.Line)
}
