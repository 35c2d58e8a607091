package layers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// walks are the tables of docs/architecture.md that follow something from function to function,
// with the fewest hops that each may have.
var walks = map[string]int{"The walk of a rocket": 20, "A command settles at another mirror": 30}

// TestWalk: each function of the walks in docs/architecture.md is in the file that it is said to be
// in.
func TestWalk(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	hop := regexp.MustCompile(`(?m)^\| ([\w/]+\.go) \| (\w+)\.(\w+) \|`)
	for name, fewest := range walks {
		_, walk, found := strings.Cut(string(page), "\n## "+name+"\n")
		if !found {
			t.Errorf("the walk %q has lost its heading", name)
			continue
		}
		walk, _, _ = strings.Cut(walk, "\n## ")
		hops := hop.FindAllStringSubmatch(walk, -1)
		if len(hops) < fewest {
			t.Errorf("%s: %d hops; are its tables still there?", name, len(hops))
		}
		for _, h := range hops {
			source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(h[1])))
			if err != nil {
				t.Error(err)
				continue
			}
			method := regexp.MustCompile(`(?m)^func \(\w+ \*?` + h[2] + `\) ` + h[3] + `\(`)
			if !method.Match(source) {
				t.Errorf("%s has no function %s.%s, which docs/architecture.md speaks of", h[1],
					h[2], h[3])
			}
		}
	}
}
