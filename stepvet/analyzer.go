package stepvet

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// Analyzer finds what makes two machines that step the same world disagree. Hand it to any driver
// of go/analysis: the command coeval vet, go vet, an editor, or a linter that takes analysers.
//
// Its flag -unchecked also reports the calls whose target it cannot know.
var Analyzer = &analysis.Analyzer{
	Name: "stepvet",
	Doc: "find nondeterminism in the Step and Sync methods of a game, and in all that they " +
		"call\n\n" + doc,
	URL:       "https://pkg.go.dev/github.com/coeval-dev/coeval/stepvet",
	Run:       run,
	FactTypes: []analysis.Fact{new(summary)},
}

const doc = `A game steps on many machines, and again after each correction; every run must give the same bits. This analyser reports map
iteration, clocks, concurrency, shared randomness, input and output, products that a compiler may fuse, inexact functions of math,
unbounded conversions, code that sees addresses, and state outside the world.`

var unchecked bool

func init() {
	Analyzer.Flags.BoolVar(&unchecked, "unchecked", false,
		"also report calls whose target cannot be known")
}

// A unit is one package under analysis.
type unit struct {
	pass    *analysis.Pass
	info    *types.Info
	engine  bool
	verbose bool
	funcs   []*function                // in the order of the source
	byObj   map[types.Object]*function // also package-level variables that hold functions
	byLit   map[*ast.FuncLit]*summary  // of function literals, as far as someone asked
	allows  []*allow
	facts   map[types.Object]*summary // of other packages, as far as someone asked
	impls   map[dynamic][]*types.Func
}

func run(pass *analysis.Pass) (any, error) {
	// The standard library is judged by a table: its insides use maps and locks freely and
	// correctly.
	if standard(pass.Pkg.Path()) || len(pass.Files) == 0 {
		return nil, nil
	}
	u := &unit{
		pass: pass, info: pass.TypesInfo, engine: engine(pass.Pkg), verbose: unchecked,
		byObj: map[types.Object]*function{}, byLit: map[*ast.FuncLit]*summary{},
		facts: map[types.Object]*summary{}, impls: map[dynamic][]*types.Func{},
	}
	u.collect()
	u.findAllows()
	for _, fn := range u.funcs {
		u.scan(fn)
	}
	for _, fn := range u.funcs {
		u.inspectFlow(fn)
		u.inspectWrites(fn)
		u.suppress(fn)
	}
	u.spread()
	u.export()
	u.reportReached()
	u.reportAllows()
	return nil, nil
}
