package stepvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
)

// A function is one that the package declares, a package-level variable whose value holds
// functions, or one that is handed to the toolkit. Literals inside a function count as part of it:
// they are assumed to run.
type function struct {
	obj    types.Object // nil for what no one can name
	name   string       // as its author would say it
	decl   ast.Node     // for the reach of a comment above it
	doc    *ast.CommentGroup
	params []*types.Var // the receiver first
	typ    *ast.FuncType
	body   ast.Node
	root   bool

	found   []finding
	calls   []edge
	dynamic []dynamic
	writes  []int
	wrote   bool                  // writes is known
	sites   []write               // nil while they are not known
	flow    *flow                 // nil while it is not known
	all     map[Category]*finding // one of each category, its own or of what it calls
}

// An edge is a mention of another function of the same package.
type edge struct {
	to  *function
	pos token.Pos
}

// A finding is one place where two machines could part.
type finding struct {
	pos, end token.Pos
	category Category
	message  string
	fixes    []analysis.SuggestedFix
	inner    *trouble // where a call into another package leads to
}

// what is the message as callers in other packages will see it.
func (f *finding) what() string {
	if f.inner != nil {
		return f.inner.What
	}
	return f.message
}

// collect lists the package's functions.
func (u *unit) collect() {
	for _, file := range u.pass.Files {
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				u.addFunction(decl)
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.ValueSpec); ok && decl.Tok == token.VAR {
						u.addVariables(decl, spec)
					}
				}
			}
		}
		u.addHooks(file)
	}
}

func (u *unit) addFunction(decl *ast.FuncDecl) {
	obj, ok := u.info.Defs[decl.Name].(*types.Func)
	if !ok {
		return
	}
	fn := &function{obj: obj, name: nameOf(obj), decl: decl, doc: decl.Doc, typ: decl.Type}
	if decl.Body != nil {
		fn.body = decl.Body
	}
	sig := obj.Signature()
	if sig.Recv() != nil {
		fn.params = append(fn.params, sig.Recv())
	}
	fn.params = slices.AppendSeq(fn.params, sig.Params().Variables())
	fn.root = isRoot(obj)
	u.funcs = append(u.funcs, fn)
	u.byObj[obj] = fn
}

// addVariables takes in package-level variables that hold functions, such as a table of rules.
func (u *unit) addVariables(decl *ast.GenDecl, spec *ast.ValueSpec) {
	for i, value := range spec.Values {
		if !u.holdsFunction(value) {
			continue
		}
		fn := &function{decl: value, doc: decl.Doc, body: value}
		if len(spec.Values) == len(spec.Names) {
			fn.obj, fn.name = u.info.Defs[spec.Names[i]], spec.Names[i].Name
		}
		if fn.obj == nil { // the blank identifier
			continue
		}
		u.funcs = append(u.funcs, fn)
		u.byObj[fn.obj] = fn
	}
}

func (u *unit) holdsFunction(value ast.Expr) bool {
	found := false
	ast.Inspect(value, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			found = true
		case *ast.Ident:
			_, isFunc := u.info.Uses[n].(*types.Func)
			found = found || isFunc
		}
		return !found
	})
	return found
}

// nameOf is a function's name with its receiver: (*Ball).Step.
func nameOf(obj *types.Func) string {
	recv := obj.Signature().Recv()
	if recv == nil {
		return obj.Name()
	}
	name := types.TypeString(recv.Type(), func(*types.Package) string { return "" })
	if name[0] == '*' {
		name = "(" + name + ")"
	}
	return name + "." + obj.Name()
}
