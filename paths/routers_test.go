package paths

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// home is what a machine stands behind in the tests below: nothing, or a router.
type home struct {
	name string
	put  func(n *netsim.Net, name string, m *machine)
}

func behind(o netsim.NAT) func(*netsim.Net, string, *machine) {
	return func(n *netsim.Net, name string, m *machine) { m.ep.Behind(n.Router(name, o)) }
}

var homes = []home{
	{"none", func(*netsim.Net, string, *machine) {}},
	{"full cone", behind(netsim.NAT{Kind: netsim.FullCone})},
	{"address-restricted", behind(netsim.NAT{Kind: netsim.AddressRestricted})},
	{"port-restricted", behind(netsim.NAT{Kind: netsim.PortRestricted})},
	{"symmetric", behind(netsim.NAT{Kind: netsim.Symmetric})},
}

// direct is which pairs of homes get a direct path.
var direct = [5][5]bool{
	{true, true, true, true, true},
	{true, true, true, true, true},
	{true, true, true, true, true},
	{true, true, true, true, false},
	{true, true, true, false, false},
}

func word(b bool) string {
	if b {
		return "direct"
	}
	return "carried"
}

// became says whether two machines reach each other directly, and complains of a pair in which the
// two do not agree or nothing comes.
func (g *group) became() (bool, error) {
	g.look()
	g.net.Run(2 * time.Second)
	a, b := g.kind(0, 1), g.kind(1, 0)
	if a != b {
		return false, fmt.Errorf("one is reached by %v, the other by %v", a, b)
	}
	return a == Direct, g.lacking(100 * time.Millisecond)
}

// TestRouters: every pair of routers is passed, directly where the table says so.
func TestRouters(t *testing.T) {
	for i, a := range homes {
		for j, b := range homes {
			t.Run(a.name+" and "+b.name, func(t *testing.T) {
				simtest.Run(t, 1, func(n *netsim.Net) error {
					n.Use(cable)
					g := newGroup(n, 2, true)
					a.put(n, "home1", g.machines[0])
					b.put(n, "home2", g.machines[1])
					g.start()
					if n.RunUntil(time.Second, func() bool {
						return g.kind(0, 1) == Direct && g.kind(1, 0) == Direct
					}) {
						t.Logf("direct after %v", n.Now().Round(time.Millisecond))
					}
					got, err := g.became()
					if err == nil && got != direct[i][j] {
						err = fmt.Errorf("%s, want %s", word(got), word(direct[i][j]))
					}
					return err
				})
			})
		}
	}
}

// shared are machines behind one router, or behind two behind one.
var shared = []struct {
	name            string
	nested          bool
	names           bool // members tell each other their own addresses
	kind            netsim.NATKind
	hairpin, direct bool
}{
	{"one router, own addresses told", false, true, netsim.PortRestricted, false, true},
	{"one symmetric router, own addresses told", false, true, netsim.Symmetric, false, true},
	{"one router", false, false, netsim.PortRestricted, false, false},
	{"one full cone with hairpin", false, false, netsim.FullCone, true, true},
	{"one address-restricted with hairpin", false, false, netsim.AddressRestricted, true, true},
	{"one port-restricted with hairpin", false, false, netsim.PortRestricted, true, true},
	{"one symmetric with hairpin", false, false, netsim.Symmetric, true, false},
	{"two behind a provider's without hairpin", true, true, netsim.PortRestricted, false, false},
	{"two behind a provider's with hairpin", true, true, netsim.PortRestricted, true, true},
	{"two behind a symmetric provider's with hairpin", true, true, netsim.Symmetric, true, false},
}

func TestSharedRouters(t *testing.T) {
	for _, x := range shared {
		t.Run(x.name, func(t *testing.T) {
			simtest.Run(t, 1, func(n *netsim.Net) error {
				n.Use(cable)
				g := newGroup(n, 2, true)
				g.names = x.names
				r := n.Router("shared", netsim.NAT{Kind: x.kind, Hairpin: x.hairpin})
				for i, m := range g.machines {
					in := r
					if x.nested {
						in = n.Router(fmt.Sprint("home", i),
							netsim.NAT{Kind: netsim.PortRestricted})
						in.Behind(r)
					}
					m.ep.Behind(in)
				}
				g.start()
				n.Run(time.Second)
				got, err := g.became()
				if err == nil && got != x.direct {
					err = fmt.Errorf("%s, want %s", word(got), word(x.direct))
				}
				return err
			})
		})
	}
}

// TestRoutersTable: the page shows the tables that the tests above hold.
func TestRoutersTable(t *testing.T) {
	page, err := os.ReadFile("../docs/paths.md")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| |")
	for _, h := range homes {
		b.WriteString(" " + h.name + " |")
	}
	b.WriteString("\n|---" + strings.Repeat("|---", len(homes)) + "|\n")
	for i, h := range homes {
		b.WriteString("| **" + h.name + "** |")
		for j := range homes {
			b.WriteString(" " + word(direct[i][j]) + " |")
		}
		b.WriteString("\n")
	}
	if !bytes.Contains(page, []byte(b.String())) {
		t.Errorf("docs/paths.md does not have this table:\n%s", b.String())
	}
	b.Reset()
	for _, x := range shared {
		fmt.Fprintf(&b, "| %s | %s |\n", x.name, word(x.direct))
	}
	if !bytes.Contains(page, []byte(b.String())) {
		t.Errorf("docs/paths.md does not have this table:\n%s", b.String())
	}
}

// TestRebind: a router that gives other ports in the middle of a match costs a pair no more time
// than a cut, and the pair is direct again within a second.
func TestRebind(t *testing.T) {
	for i, a := range homes[1:] {
		for j, b := range homes[1:] {
			if !direct[i+1][j+1] {
				continue
			}
			t.Run(a.name+" and "+b.name, func(t *testing.T) {
				simtest.Run(t, 1, func(n *netsim.Net) error {
					n.Use(cable)
					g := newGroup(n, 2, true)
					a.put(n, "home1", g.machines[0])
					b.put(n, "home2", g.machines[1])
					g.start()
					n.Run(3*time.Second + n.Rand().Duration(time.Second))
					g.look()
					g.machines[0].ep.Router().Rebind()
					n.Run(1500 * time.Millisecond)
					if a, b := g.kind(0, 1), g.kind(1, 0); a != Direct || b != Direct {
						return fmt.Errorf("%v and %v", a, b)
					}
					return g.lacking(changeover)
				})
			})
		}
	}
}
