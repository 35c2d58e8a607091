package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// slowest are the tests that took longest, so that it is seen where the time goes. What a test
// waits for others that run beside it does not count.
type slowest []timed

type timed struct {
	name    string
	seconds float64
}

const (
	slowCounted = 10  // are told
	slowFrom    = 5.0 // seconds
)

// add takes note of how long a test took that has ended, of a package; parts of tests and whole
// packages do not count.
func (s *slowest) add(pkg string, e *event) {
	if e.Test == "" || strings.Contains(e.Test, "/") || e.Elapsed < slowFrom {
		return
	}
	*s = append(*s, timed{pkg + " " + e.Test, e.Elapsed})
	slices.SortStableFunc(*s, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
	*s = (*s)[:min(len(*s), slowCounted)]
}

func (s slowest) print(out io.Writer) {
	if len(s) > 0 {
		fmt.Fprintln(out, "took longest:")
	}
	for _, t := range s {
		fmt.Fprintf(out, "    %-60s %6.1fs\n", t.name, t.seconds)
	}
}
