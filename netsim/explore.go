package netsim

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
)

// Search says which seeds Explore tries.
type Search struct {
	First uint64 // the first seed
	Seeds int    // how many; 100 when zero
	// Runs is how many runs may be spent on reducing a failure; 1000 when zero, none
	// when negative.
	Runs int
	// Trace is given to the networks, for debugging.
	Trace func(Event)
}

// Failure is a seed for which a run failed, and the least that makes it fail.
// It prints as a report with a script to paste into Replay.
type Failure struct {
	Seed   uint64
	Err    error  // of the run with that seed
	Script Script // reduced, and exact
	Last   error  // of the run with that script

	Faults int // how many the run had before it was reduced
	Runs   int // how many runs the reduction took
	// Unrepeatable is set when a second run with the same seed did something else, and
	// so nothing could be reduced. Look for map iteration, clocks, goroutines and
	// random numbers that do not come from the seed.
	Unrepeatable bool
}

// Error is the report.
func (f *Failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %v\n", f.Seed, f.Err)
	if f.Unrepeatable {
		b.WriteString(
			"a second run with this seed went differently, so the run depends on something else " +
				"than its seed: look for map iteration, clocks, goroutines, other random numbers\n")
		return b.String()
	}
	fmt.Fprintf(&b, "reduced from %d faults to %d in %d runs; replay this script:\n%v", f.Faults,
		len(f.Script.Faults), f.Runs, f.Script)
	if f.Last != nil && f.Last.Error() != f.Err.Error() {
		fmt.Fprintf(&b, "with which the run says: %v\n", f.Last)
	}
	return b.String()
}

// Unwrap gives the error of the run.
func (f *Failure) Unwrap() error { return f.Err }

// Explore calls run with networks of many seeds until one fails, reduces the
// faults of that run to few, and returns the *Failure, or nil when none fails.
//
// The run makes its endpoints, sets conditions, may ask for Chaos, lets time
// pass and returns an error when something is not as it should be. It must use no
// randomness but the network's, and return its errors rather than end the
// goroutine (so no t.Fatal). A panic counts as an error.
func Explore(s Search, run func(*Net) error) error {
	for seed := s.First; seed < s.First+uint64(max(0, cmp.Or(s.Seeds, 100))); seed++ {
		n := New(Options{Seed: seed, Trace: s.Trace})
		if err := attempt(n, run); err != nil {
			return s.diagnose(n, err, run)
		}
	}
	return nil
}

// Replay runs once with a script in place of chance.
func Replay(s Script, run func(*Net) error) error {
	n, err := scripted(s)
	if err != nil {
		return err
	}
	if err := attempt(n, run); err != nil {
		return err
	}
	return n.strangers(s)
}

// diagnose repeats a failed run, writing down its faults, and reduces them.
func (s Search) diagnose(failed *Net, err error, run func(*Net) error) *Failure {
	f := &Failure{Seed: failed.seed, Err: err, Last: err}
	again := New(Options{Seed: failed.seed})
	again.noting = true
	if attempt(again, run) == nil || again.digest != failed.digest {
		f.Unrepeatable = true
		return f
	}
	f.Script = again.Script()
	f.Faults = len(f.Script.Faults)
	f.Script, f.Runs = Reduce(f.Script, cmp.Or(s.Runs, 1000), func(c Script) bool {
		err := fails(c, run)
		if err != nil {
			f.Last = err
		}
		return err != nil
	})
	return f
}

// fails runs a script and does not mind names that the run did not make.
func fails(s Script, run func(*Net) error) error {
	n, err := scripted(s)
	if err != nil {
		return nil
	}
	return attempt(n, run)
}

// Script is what went wrong so far on a network whose faults Explore notes, as a
// script that does the same.
func (n *Net) Script() Script {
	s := Script{Seed: n.seed, Exact: true, Faults: slices.Clone(n.noted)}
	// By kind, so that a reduction can take away much at once.
	slices.SortStableFunc(s.Faults, func(a, b Fault) int { return int(a.Kind) - int(b.Kind) })
	return s
}

// scripted makes a network to which only the script happens.
func scripted(s Script) (*Net, error) {
	n := New(Options{Seed: s.Seed})
	n.replaying = true
	n.exact = s.Exact
	return n, n.Schedule(s.Faults...)
}

// strangers is the error for a script that names endpoints which the run did
// not make, most likely by a slip.
func (n *Net) strangers(s Script) error {
	for _, f := range s.Faults {
		for _, name := range []string{f.From, f.To} {
			if name != "" && name != "*" && n.byName[name] == nil {
				return fmt.Errorf(
					"the script names the endpoint %q, which the run did not make: %v", name, f)
			}
		}
	}
	return nil
}

// attempt runs and makes a panic an error.
func attempt(n *Net, run func(*Net) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return run(n)
}
