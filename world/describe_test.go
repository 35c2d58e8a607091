package world

import (
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
)

func described(parts ...Declaration) *Game { return Define("g", parts...) }

// variants are games that each differ from the first in one thing that two machines have to agree
// on.
var variants = []struct {
	name string
	game *Game
	want string // in the difference from the first
}{
	{"base", described(Class[plainRock](), Commands[steer](), Event[fired]()), ""},
	{"name", Define("h", Class[plainRock](), Commands[steer](), Event[fired]()),
		"game g here, game h there"},
	{"rate", described(Class[plainRock](), Commands[steer](), Event[fired](), Rate(30)),
		"game: rate: 60 here, 30 there"},
	{"range", described(Class[widerRock](ClassOptions{Name: "plainRock"}), Commands[steer](),
		Event[fired]()), "class plainRock: field Size: int 0..9 here, int 0..10 there"},
	{"limit", described(Class[plainRock](ClassOptions{Limit: 9}), Commands[steer](),
		Event[fired]()), "class plainRock: limit: 65536 here, 9 there"},
	{"state", described(State[plainRock](), Commands[steer](), Event[fired]()),
		"class plainRock only here\nstate plainRock only there"},
	{"class", described(Class[plainRock](), Class[drone](), Commands[steer](), Event[fired]()),
		"class drone only there"},
	{"server", described(Class[plainRock](), Class[ship](), Commands[steer](), Event[fired]()),
		"class ship only there"},
	{"order", described(Class[ship](), Class[plainRock](), Commands[steer](), Event[fired]()),
		"class ship only there"},
	{"commands", described(Class[plainRock](), Commands[fired](), Event[fired]()),
		"commands: field Loud only there"},
	{"no commands", described(Class[plainRock](), Event[fired]()), "commands only here"},
	{"no edge", described(Class[plainRock](), Commands[edgeless](), Event[fired]()),
		"commands: edge Fire only here"},
	{"delivery",
		described(Class[plainRock](), Commands[steer](),
			Event[fired](EventOptions{Delivery: Saved})),
		"event fired: delivery: reliable, strict here, saved, strict there"},
	{"weak", described(Class[plainRock](), Commands[steer](),
		Event[fired](EventOptions{Weak: true})), "reliable, weak there"},
	{"life", described(Class[plainRock](), Commands[steer](), Event[fired](EventOptions{Life: 90})),
		"event fired: life only there"},
	{"longer life",
		described(Class[plainRock](), Commands[steer](), Event[fired](EventOptions{Life: 91})),
		"event fired: life only there"},
	{"event limit",
		described(Class[plainRock](), Commands[steer](), Event[fired](EventOptions{Limit: 91})),
		"event fired: limit: 65536 here, 91 there"},
	{"event", described(Class[plainRock](), Commands[steer](), Event[fired](), Event[hit]()),
		"event hit only there"},
}

type edgeless struct {
	Aim    det.Angle
	Thrust int8
	Fire   bool
}

func (c *edgeless) Sync(b *bits.Sync) {
	b.Angle(&c.Aim, 12)
	b.Int8(&c.Thrust, 0, 15)
	b.Bool(&c.Fire)
}

// TestHashFollowsTheDescription: the hash of two games is the same exactly if their descriptions
// are, and the difference says where they are not.
func TestHashFollowsTheDescription(t *testing.T) {
	for i, x := range variants {
		if err := x.game.Err(); err != nil {
			t.Fatal(x.name, err)
		}
		for j, y := range variants {
			same := x.game.Describe() == y.game.Describe()
			if same != (x.game.Hash() == y.game.Hash()) || same != (i == j) {
				t.Errorf("%s and %s: descriptions same: %v, hashes %x %x", x.name, y.name, same,
					x.game.Hash(), y.game.Hash())
			}
			if diff := DiffDescriptions(x.game.Describe(),
				y.game.Describe()); same != (diff == "") {
				t.Errorf("%s and %s: difference %q", x.name, y.name, diff)
			}
		}
		if got := DiffDescriptions(variants[0].game.Describe(),
			x.game.Describe()); !strings.Contains(got, x.want) {
			t.Errorf("%s: %q does not say %q", x.name, got, x.want)
		}
	}
	a, b := described(Class[ship](), Class[plainRock]()),
		described(Class[plainRock](), Class[ship]())
	if got := DiffDescriptions(a.Describe(), b.Describe()); !strings.Contains(got,
		"another order: game g, class ship, class plainRock here, game g, class plainRock, class "+
			"ship there") {
		t.Error(got)
	}
}

func TestDescribe(t *testing.T) {
	const want = `game arena
  rate: 60
class ship
  limit: 65536
  field Pos: vec2 -200..200 in steps of 0.015625
  field Vel: vec2 -64..64 in steps of 0.00390625
  field Aim: angle -2048..2047 times 0.0015339807878856412, wraps
  field Health: int 0..100
  field Burning: bool
  field Heat: int 3..90, or absent
  field Name: string of at most 12
  field Reload: int 0..30
  server-only field Shots: int
  server-only field Mood: float64
  server-only field Motto: string
class shell
  limit: 300
`
	got := arena.Describe()
	if !strings.HasPrefix(got, want) {
		t.Errorf("%s", got)
	}
	for _, line := range []string{
		"state match\n  field Ticks: int 0..1073741824\n", "commands\n", "  edge Fire: bool\n",
		"event sunk\n  delivery: saved, strict\n  limit: 1000\n",
		"  field Points[7].Y: int -999..999"} {
		if !strings.Contains(got, line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
	odd := Define("two\nlines: here", Class[plainRock](ClassOptions{Name: "a: b\n  field Size"}))
	if n := strings.Count(odd.Describe(), "\n"); n != 5 {
		t.Errorf("a name breaks the form:\n%s", odd.Describe())
	}
}

func FuzzDiffDescriptions(f *testing.F) {
	for _, x := range variants {
		f.Add(x.game.Describe())
	}
	f.Add("")
	f.Add("  field: \x1b[31m")
	f.Add(strings.Repeat("class x\n  a: b\n", 100))
	f.Fuzz(func(t *testing.T, theirs string) {
		mine := arena.Describe()
		got := DiffDescriptions(mine, theirs)
		if (got == "") != (mine == theirs) {
			t.Fatalf("%q", got)
		}
		if len(got) > (maxDifferences+2)*(4*maxQuoted+60) ||
			strings.ContainsFunc(got,
				func(c rune) bool { return c != '\n' && (c < ' ' || c > '~') }) {
			t.Fatalf("%q", got)
		}
	})
}
