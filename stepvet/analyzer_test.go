package stepvet

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

// findings passes on what analysistest complains about, except for facts: that they arrive is seen by what is found across packages.
type findings struct{ testing.TB }

func (f findings) Errorf(format string, args ...any) {
	f.Helper()
	if !strings.Contains(format, "unexpected %s") || len(args) < 2 || args[1] != "fact" {
		f.TB.Errorf(format, args...)
	}
}

func TestMistakesAreFound(t *testing.T) {
	results := analysistest.Run(findings{t}, analysistest.TestData(), Analyzer, "example.com/mistakes")
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
			t.Errorf("no mistake of category %s was made, so that nothing proves that it is found", c)
		}
	}
}

func TestCleanCodeIsClean(t *testing.T) {
	analysistest.Run(findings{t}, analysistest.TestData(), Analyzer,
		"example.com/clean", "example.com/dice", "example.com/world", "example.com/bits", "example.com/det")
}

func TestUncheckedOnRequest(t *testing.T) {
	if err := Analyzer.Flags.Set("unchecked", "true"); err != nil {
		t.Fatal(err)
	}
	defer Analyzer.Flags.Set("unchecked", "false")
	analysistest.Run(findings{t}, analysistest.TestData(), Analyzer, "example.com/unchecked")
}

func TestUncheckedIsSilentOtherwise(t *testing.T) {
	var silent countErrors
	analysistest.Run(findings{&silent}, analysistest.TestData(), Analyzer, "example.com/unchecked")
	for _, e := range silent.errors {
		if !strings.Contains(e, "no diagnostic was reported matching") {
			t.Error(e)
		}
	}
	if len(silent.errors) == 0 {
		t.Error("the findings were reported without being asked for")
	}
}

// countErrors keeps errors instead of failing.
type countErrors struct {
	testing.TB
	errors []string
}

func (c *countErrors) Helper() {}
func (c *countErrors) Errorf(format string, args ...any) {
	c.errors = append(c.errors, fmt.Sprintf(format, args...))
}

func TestSuggestedEditsRound(t *testing.T) {
	analysistest.RunWithSuggestedFixes(findings{t}, analysistest.TestData(), Analyzer, "example.com/fix")
}

func TestAnalyzerIsValid(t *testing.T) {
	if err := analysis.Validate([]*analysis.Analyzer{Analyzer}); err != nil {
		t.Error(err)
	}
}
