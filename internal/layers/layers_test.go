package layers

import (
	"os"
	"strings"
	"testing"
)

const root = "../.."

// TestProjectFollowsMap is what this package is for.
func TestProjectFollowsMap(t *testing.T) {
	tree, err := Load(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"internal/layers", "cmd/coeval", "bits", "det"} {
		if tree.Find(want) == nil {
			t.Errorf("%s was not read, so nothing would be said of it", want)
		}
	}
	for _, f := range Current().Check(tree) {
		t.Error(f)
	}
}

func TestDocsShowTheSameMap(t *testing.T) {
	page, err := os.ReadFile(root + "/docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"Map": Map, "Impure": Impure, "Dependencies": Dependencies} {
		if !strings.Contains(string(page), "```"+text+"```") {
			t.Errorf("docs/architecture.md does not show %s as internal/layers/map.go has it: "+
				"copy it there, between two rows of backticks", name)
		}
	}
}

// TestMapOrders checks that the map is an order: of two different entries, at
// most one may import the other, and nothing pure may import what is not.
func TestMapOrders(t *testing.T) {
	c := Current()
	var paths []string
	for _, e := range c.entries {
		paths = append(paths, strings.ReplaceAll(e.pattern, "*", "x"))
	}
	paths = append(paths, "link/udp", "netsim/proxy", "conn/token", "games/arena/client",
		"games/pong")
	for _, a := range paths {
		for _, b := range paths {
			if a == b || unitOf(a, c.find(a)) == unitOf(b, c.find(b)) {
				continue
			}
			if c.refuse(a, b) == "" && c.refuse(b, a) == "" {
				t.Errorf("%s and %s may import each other", a, b)
			}
			if c.refuse(a, b) == "" && c.Pure(a) && !c.Pure(b) {
				t.Errorf("%s is pure and may import %s", a, b)
			}
		}
	}
}

func TestMapSays(t *testing.T) {
	c := Current()
	for _, x := range []struct {
		from, to string
		may      bool
	}{
		{"codec", "bits", true},
		{"bits", "codec", false},
		{"entropy", "det", true}, // along two arrows
		{"det", "entropy", false},
		{"netsim", "link", true},
		{"link", "netsim", false},
		{"conn/token", "netsim", true},
		{"conn", "link", true},
		{"conn", "link/udp", false},
		{"netsim", "netsim/proxy", false},
		{"netsim", "netsim/simtest", false},
		{"topology/mirror", "netsim/simtest", true},
		{"netsim/proxy", "link/udp", true},
		{"predict", "replica", true},
		{"replica", "predict", false},
		{"timeline", "replica", false},
		{"interest", "reckon", false},
		{"topology/mirror", "crimp", true},
		{"topology/mirror", "topology/solo", false},
		{"service/store", "topology/seamless", true},
		{"lab", "service/cluster", true},
		{"lab", "games/arena", false},
		{"cmd/coeval", "games/arena/client", true},
		{"games/arena/client", "games/arena", true},
		{"games/arena", "games/pong", false},
		{"cmd/coeval", "internal/check", false},
		{"internal/check", "internal/layers", true},
	} {
		if why := c.refuse(x.from, x.to); (why == "") != x.may {
			t.Errorf("%s imports %s: allowed %v, want %v (%s)", x.from, x.to, why == "", x.may, why)
		}
	}
}

func TestPureSide(t *testing.T) {
	c := Current()
	for _, p := range []string{
		"det", "bits", "codec", "link", "netsim", "conn", "conn/token", "world", "trace"} {
		if !c.Pure(p) {
			t.Errorf("%s should be pure", p)
		}
	}
	for _, p := range []string{
		"link/udp", "netsim/proxy", "conn/conntest", "topology/solo", "service/store", "lab",
		"cmd/coeval", "games/arena", "internal/check"} {
		if c.Pure(p) {
			t.Errorf("%s should not be pure", p)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, x := range []struct{ rows, deps, want string }{
		{"a  b\n", "", "no line of dashes"},
		{"a\n---\n---\nb\n", "", "two lines of dashes"},
		{"a\n---\na\n", "", "a stands in the map twice"},
		{"a b\n---\n", "", "separate entries by two spaces"},
		{"a/{b,c\n---\n", "", "open brace"},
		{"a -> b\n---\nb\n", "", "arrow a -> b does not lead to an entry of the same row"},
		{"a -> z\n---\n", "", "arrow a -> z does not lead"},
		{"a\n---\n", "example.com/lib\n", "does not say from where"},
	} {
		_, err := Parse(x.rows, "", x.deps)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("Parse(%q, %q): %v, want %q", x.rows, x.deps, err, x.want)
		}
	}
}
