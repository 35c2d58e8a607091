package tunnel

import (
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/games/pong"
)

// TestSources: what was measured of an architecture is good until something changes that it is made
// of, and no longer.
func TestSources(t *testing.T) {
	const one, two = "github.com/coeval-dev/coeval/replica/quake3",
		"github.com/coeval-dev/coeval/replica/doom3"
	s := ReadSources([]string{one, two})
	if s.whole != "" {
		t.Fatal("the go command says nothing of these packages")
	}
	first, second := s.Of([]string{one}), s.Of([]string{two})
	if first == second {
		t.Error("two packages are taken for one")
	}
	if s.Of([]string{one}) != first {
		t.Error("one package is taken for two")
	}
	s.files[one] = "changed"
	if s.Of([]string{one}) == first || s.Of([]string{two}) != second {
		t.Error("a change of one package should count for that one alone")
	}
	first = s.Of([]string{one})
	s.files["github.com/coeval-dev/coeval/replica"] = "changed"
	if s.Of([]string{one}) == first || s.Of([]string{two}) == second {
		t.Error("a change of what both import should count for both")
	}
	// Where there is no source, any other build of the program counts.
	if none := ReadSources([]string{"example.com/nowhere/at/all"}); none.whole == "" {
		t.Error("a package that is nowhere has a source")
	}
}

// TestPackagesOf: a title's own packages are found by its types and functions.
func TestPackagesOf(t *testing.T) {
	list := PackagesOf(pong.Title)
	if !slices.Contains(list, "github.com/coeval-dev/coeval/games/pong") {
		t.Errorf("pong is in %v", list)
	}
}
