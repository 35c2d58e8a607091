package layers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// attackers are the sections of docs/threats.md, with the fewest tests that each may name.
var attackers = map[string]int{
	"The passer-by": 12, "The copier": 8, "The cheater": 16, "The flooder": 5,
	"The bad mirror": 14, "The bad file": 14}

// TestThreats: each test that docs/threats.md names is in the package that it is said to be in, and
// each attacker's row names one.
func TestThreats(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "threats.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz)\\w+)`")
	for name, fewest := range attackers {
		_, section, found := strings.Cut(string(page), "\n## "+name+"\n")
		if !found {
			t.Errorf("%q has lost its heading", name)
			continue
		}
		section, _, _ = strings.Cut(section, "\n## ")
		tests := named.FindAllStringSubmatch(section, -1)
		if len(tests) < fewest {
			t.Errorf("%s: %d tests; are its tables still there?", name, len(tests))
		}
		for row := range strings.Lines(section) {
			if strings.HasPrefix(row, "| ") && !strings.HasPrefix(row, "| what") &&
				!named.MatchString(row) {
				t.Errorf("%s: no test in %s", name, row)
			}
		}
		for _, x := range tests {
			if !hasTest(t, filepath.Join(root, filepath.FromSlash(x[1])), x[2]) {
				t.Errorf("%s has no %s, which docs/threats.md speaks of", x[1], x[2])
			}
		}
	}
}

// hasTest says whether the tests of a folder have a function.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(source), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
