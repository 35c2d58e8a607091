package netsim

import (
	"slices"
	"time"
)

// Reduce looks for a small part of a script for which fails is still true, with
// at most so many calls of fails. It is the delta debugging of Zeller and
// Hildebrandt (2002) after two shortcuts: nothing at all, and each kind of fault as
// a whole. Where that gets stuck with many faults, as when small delays only serve
// to bring about one coincidence, it looks for a single fault that does as well;
// last it makes the remaining times rounder. It returns the script and how many
// calls it took. A script that does not fail to begin with comes back as it was.
func Reduce(s Script, budget int, fails func(Script) bool) (Script, int) {
	r := reducer{script: s, budget: budget, fails: fails}
	if r.try(nil) || !r.try(s.Faults) {
		return r.script, r.runs
	}
	for k := range kinds {
		without := slices.DeleteFunc(slices.Clone(r.script.Faults),
			func(f Fault) bool { return f.Kind == k })
		if len(without) < len(r.script.Faults) {
			r.try(without)
		}
	}
	r.split(budget / 2)
	if len(r.script.Faults) > few {
		r.single(s.Faults)
	}
	r.round()
	return r.script, r.runs
}

// reducer holds the smallest script known to fail.
type reducer struct {
	script Script
	budget int
	runs   int
	fails  func(Script) bool
}

// try makes the candidate the script if it fails.
func (r *reducer) try(faults []Fault) bool {
	if r.runs >= r.budget {
		return false
	}
	r.runs++
	c := r.script
	c.Faults = faults
	if !r.fails(c) {
		return false
	}
	r.script = c
	return true
}

// split takes away parts, large ones first, until no single fault can go.
func (r *reducer) split(limit int) {
	parts := 2
	for len(r.script.Faults) >= 2 && r.runs < limit {
		all := r.script.Faults
		parts = min(parts, len(all))
		reduced := false
		for i := range parts {
			low, high := i*len(all)/parts, (i+1)*len(all)/parts
			if parts > 2 && r.try(slices.Clone(all[low:high])) {
				parts, reduced = 2, true
				break
			}
			if r.try(slices.Concat(all[:low], all[high:])) {
				parts, reduced = max(parts-1, 2), true
				break
			}
		}
		if !reduced {
			if parts == len(all) {
				return
			}
			parts = min(2*parts, len(all))
		}
	}
}

// few is how many faults a reader can follow without help.
const few = 4

// single looks for one fault among all that is enough by itself. Without the
// others' delays it may have to be longer than it was.
func (r *reducer) single(all []Fault) {
	for _, by := range []time.Duration{0, 100 * time.Millisecond, 500 * time.Millisecond} {
		for _, f := range all {
			if f.Kind == Delay {
				continue // there are as many as datagrams
			}
			if by != 0 {
				if f.Kind != Hold && f.Kind != Copy {
					continue
				}
				f.By = by
			}
			if r.try([]Fault{f}) {
				return
			}
		}
	}
}

// round makes times easier to read where that does not matter.
func (r *reducer) round() {
	for i := range r.script.Faults {
		for _, to := range []time.Duration{100 * time.Millisecond, time.Millisecond} {
			faults := slices.Clone(r.script.Faults)
			f := &faults[i]
			f.At, f.For, f.By = f.At.Round(to), f.For.Round(to), f.By.Round(to)
			// A fault that lasts no time would last for good.
			if f.For == 0 && r.script.Faults[i].For != 0 {
				f.For = to
			}
			if *f == r.script.Faults[i] || r.try(faults) {
				break
			}
		}
	}
}
