package serve

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// named finds all that matches, in the files of a pattern.
func named(t *testing.T, pattern, expression string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v", pattern, err)
	}
	found, re := map[string]bool{}, regexp.MustCompile(expression)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range re.FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
		}
	}
	return found
}

// TestMetricsAreInTheDocuments: whatever a server or a mirror exports stands in the page for those
// who run it, and nothing else does.
func TestMetricsAreInTheDocuments(t *testing.T) {
	const made = `(?:Counts\(m, |Gauges\(m, |m\.Count\(|m\.Gauge\(|m\.Seconds\()\s*"(\w+)"`
	const written = "`coeval_(\\w+)"
	for _, x := range []struct{ code, page string }{
		{"metrics*.go", "../../../docs/operating.md"},
		{"../mirrors/*.go", "../../../docs/mirrors.md"},
	} {
		code, page := named(t, x.code, made), named(t, x.page, written)
		if x.code == "metrics*.go" {
			code["tick_seconds"] = true // a histogram
		}
		shared := named(t, "metrics*.go", made) // a mirror has of these what it uses
		for name := range code {
			if !page[name] {
				t.Errorf("%s does not speak of coeval_%s", x.page, name)
			}
		}
		for name := range page {
			if !code[name] && !shared[name] {
				t.Errorf("%s speaks of coeval_%s, which is not exported", x.page, name)
			}
		}
		if len(code) < 20 {
			t.Errorf("only %d metrics were found in %s", len(code), x.code)
		}
	}
}
