package layers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWalk: each function of the walk in docs/architecture.md is in the file that it is said to be in.
func TestWalk(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	hops := regexp.MustCompile(`(?m)^\| ([\w/]+\.go) \| (\w+)\.(\w+) \|`).FindAllStringSubmatch(string(page), -1)
	if len(hops) < 20 {
		t.Fatalf("the walk has %d hops; are its tables still there?", len(hops))
	}
	for _, h := range hops {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(h[1])))
		if err != nil {
			t.Error(err)
			continue
		}
		method := regexp.MustCompile(`(?m)^func \(\w+ \*?` + h[2] + `\) ` + h[3] + `\(`)
		if !method.Match(source) {
			t.Errorf("%s has no function %s.%s, which docs/architecture.md speaks of", h[1], h[2], h[3])
		}
	}
	if !strings.Contains(string(page), "## The walk of a rocket") {
		t.Error("the walk has lost its heading")
	}
}
