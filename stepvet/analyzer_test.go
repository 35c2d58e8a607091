package stepvet

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

// findings passes on what analysistest complains about, except for facts: that they arrive is seen
// by what is found across packages. What is missing in the package unchecked is kept, as it is
// found on request only.
type findings struct {
	testing.TB
	unchecked []string
}

func (f *findings) Errorf(format string, args ...any) {
	f.Helper()
	text := fmt.Sprintf(format, args...)
	switch {
	case strings.Contains(format, "unexpected %s") && len(args) >= 2 && args[1] == "fact":
	case strings.Contains(text, "example.com/unchecked/") &&
		strings.Contains(text, "no diagnostic was reported matching"):
		f.unchecked = append(f.unchecked, text)
	default:
		f.TB.Error(text)
	}
}

// TestMistakesAreFound, and none where there are none. All packages are looked at in one go, since
// what takes time is to load what they import.
func TestMistakesAreFound(t *testing.T) {
	f := &findings{TB: t}
	results := analysistest.Run(f, analysistest.TestData(), Analyzer, "example.com/mistakes",
		"example.com/unchecked",
		"example.com/clean", "example.com/dice", "example.com/world", "example.com/bits",
		"example.com/det")
	seen := map[Category]bool{}
	for _, r := range results {
		for _, d := range r.Diagnostics {
			seen[Category(d.Category)] = true
			if want := Text(d.Message) + " [" + d.Category + "]"; d.Message != want {
				t.Errorf("the message does not end with its category: %q", d.Message)
			}
		}
	}
	for _, c := range Categories() {
		if c != Unchecked && !seen[c] {
			t.Errorf("no mistake of category %s was made, so that nothing proves that it is found",
				c)
		}
	}
	if len(f.unchecked) == 0 || seen[Unchecked] {
		t.Error("calls that cannot be followed were reported without being asked for")
	}
}

func TestUncheckedOnRequest(t *testing.T) {
	if err := Analyzer.Flags.Set("unchecked", "true"); err != nil {
		t.Fatal(err)
	}
	defer Analyzer.Flags.Set("unchecked", "false")
	f := &findings{TB: t}
	analysistest.Run(f, analysistest.TestData(), Analyzer, "example.com/unchecked")
	for _, missing := range f.unchecked {
		t.Error(missing)
	}
}

func TestSuggestedEditsRound(t *testing.T) {
	analysistest.RunWithSuggestedFixes(&findings{TB: t}, analysistest.TestData(), Analyzer,
		"example.com/fix")
}

func TestAnalyzerIsValid(t *testing.T) {
	if err := analysis.Validate([]*analysis.Analyzer{Analyzer}); err != nil {
		t.Error(err)
	}
}
