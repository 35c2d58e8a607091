package stepvet

import (
	"slices"
	"strings"
)

// A Category names one kind of nondeterminism. It stands in brackets at the end of each message,
// and a comment that allows a finding names it.
type Category string

// The categories that the analyser reports.
const (
	MapIter    Category = "mapiter"    // the order of a map
	Clock      Category = "clock"      // the wall clock, timers, sleeping
	Concurrent Category = "concurrent" // goroutines, channels, select, locks, atomics
	Random     Category = "random"     // random numbers that are not drawn by seed, entity and tick
	IO         Category = "io"         // files, sockets, printing, the environment, the machine
	Fuse       Category = "fuse"       // a product of floats that may be fused with a sum
	Math       Category = "math"       // functions of math that differ between processors
	Convert    Category = "convert"    // a float that may not fit the integer it becomes
	Address    Category = "address"    // code that sees where things are in memory
	Global     Category = "global"     // a write to a package-level variable
	Unchecked  Category = "unchecked"  // a call that cannot be followed; only on request
	// a comment that allows something, and is wrong; cannot itself be allowed
	Allow Category = "allow"
)

// Categories lists every category, for tools that show or filter them.
func Categories() []Category {
	return []Category{
		MapIter, Clock, Concurrent, Random, IO, Fuse, Math, Convert, Address, Global, Unchecked,
		Allow}
}

// Text is a finding's message without the category at its end, for those who show the two apart.
func Text(message string) string {
	for _, c := range Categories() {
		if head, ok := strings.CutSuffix(message, " ["+string(c)+"]"); ok {
			return head
		}
	}
	return message
}

// allowable tells whether a comment may name the category.
func allowable(c Category) bool { return c != Allow && slices.Contains(Categories(), c) }

func allowableNames() string {
	var names []string
	for _, c := range Categories() {
		if allowable(c) {
			names = append(names, string(c))
		}
	}
	return strings.Join(names, ", ")
}
