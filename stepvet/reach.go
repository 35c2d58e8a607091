package stepvet

import (
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// spread carries what functions do to the functions that call them, until nothing changes.
func (u *unit) spread() {
	for _, fn := range u.funcs {
		fn.all = map[Category]*finding{}
		for i := range fn.found {
			f := &fn.found[i]
			if fn.all[f.category] == nil {
				fn.all[f.category] = f
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, fn := range u.funcs {
			for _, e := range fn.calls {
				for _, c := range Categories() {
					if f := e.to.all[c]; f != nil && fn.all[c] == nil {
						fn.all[c] = f
						changed = true
					}
				}
				for _, d := range e.to.dynamic {
					if !slices.Contains(fn.dynamic, d) {
						fn.dynamic = append(fn.dynamic, d)
						changed = true
					}
				}
			}
		}
	}
	for _, fn := range u.funcs {
		slices.SortFunc(fn.dynamic, func(a, b dynamic) int {
			return strings.Compare(a.Pkg+" "+a.Type+" "+a.Method, b.Pkg+" "+b.Type+" "+b.Method)
		})
		fn.dynamic = slices.Compact(fn.dynamic)
	}
}

// reportReached reports what was found in the functions that Step and Sync lead to, and how they
// lead there.
func (u *unit) reportReached() {
	from := map[*function]*function{}
	var queue []*function
	for _, fn := range u.funcs {
		if fn.root {
			from[fn] = nil
			queue = append(queue, fn)
		}
	}
	for i := 0; i < len(queue); i++ {
		fn := queue[i]
		for _, e := range fn.calls {
			if _, seen := from[e.to]; !seen && !u.trusted(e.to) {
				from[e.to] = fn
				queue = append(queue, e.to)
			}
		}
	}
	type spot struct {
		pos      token.Pos
		category Category
	}
	told := map[spot]bool{} // a function handed to the toolkit is also part of the one it stands in
	for _, fn := range u.funcs {
		if _, reached := from[fn]; !reached {
			continue
		}
		slices.SortStableFunc(fn.found, func(a, b finding) int { return int(a.pos - b.pos) })
		for _, f := range fn.found {
			if s := (spot{f.pos, f.category}); told[s] {
				continue
			} else {
				told[s] = true
			}
			u.report(f, f.message+route(fn, from))
		}
	}
}

// trusted tells whether a function is the toolkit's own. Its tests have rules in the same package.
func (u *unit) trusted(fn *function) bool {
	return u.engine && !strings.HasSuffix(u.pass.Fset.Position(fn.decl.Pos()).Filename, "_test.go")
}

// route says by which calls a function is reached, if it is not itself where the toolkit calls.
func route(fn *function, from map[*function]*function) string {
	if from[fn] == nil {
		return ""
	}
	var names []string
	for ; fn != nil; fn = from[fn] {
		names = append(names, fn.name)
	}
	slices.Reverse(names)
	if len(names) > 4 { // both ends tell the most
		names = append(names[:2], append([]string{"..."}, names[len(names)-1])...)
	}
	return " (reached by " + strings.Join(names, " > ") + ")"
}

func (u *unit) report(f finding, message string) {
	u.pass.Report(analysis.Diagnostic{
		Pos: f.pos, End: f.end, Category: string(f.category),
		Message:        message + " [" + string(f.category) + "]",
		SuggestedFixes: f.fixes,
	})
}
