package bandwidthlab

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/world"
)

// arenaOn is the arena as so many clients play it, on a map that is large enough.
func arenaOn(t *testing.T, players int) *lab.Subject {
	t.Helper()
	s, err := lab.NewSubject(arena.Title, "foundry", players)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestShares: to which of the paper's variables a class belongs is found by watching it.
func TestShares(t *testing.T) {
	way := func(int) time.Duration { return 20 * time.Millisecond }
	r := newServed(t.Context(), servedOptions{title: arenaOn(t, 4), players: 4, seed: 3, up: way,
		down: way})
	defer r.Close()
	r.Net.Run(8 * time.Second)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	if got, want := named(r.shares), "d Sheet, e Fighter, e Shot, e commands"; got != want {
		t.Errorf("the arena: %s, want %s", got, want)
	}
	// A paddle is the players' body, and a ball is seen to move although it does not say how fast
	// it is.
	s, err := lab.NewSubject(pong.Title, "", 2)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Game.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	x := newShares(s)
	if got, want := named(x), "e Paddle, e commands"; got != want {
		t.Errorf("pong before anyone serves: %s, want %s", got, want)
	}
	for range 90 {
		if err := w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
		x.watch(w)
	}
	if got, want := named(x), "e Ball, e Paddle, e commands"; got != want {
		t.Errorf("pong: %s, want %s", got, want)
	}
}

// TestOneLevel: all numbers of clients play on one level, that of the most.
func TestOneLevel(t *testing.T) {
	for _, x := range []struct {
		title *game.Title
		most  int
		want  string
	}{{arena.Title, 32, "foundry"}, {arena.Title, 4, "duel"}, {crowd.Title, 9, "9"}} {
		o := Options{Title: x.title, Clients: []int{x.most, 2}}
		if err := o.Check(); err != nil || o.Level != x.want {
			t.Errorf("2 and %d clients play %s on %q, %v", x.most, x.title.Name(), o.Level, err)
		}
		if s, err := o.subject(2); err != nil || s.Level != x.want {
			t.Errorf("2 clients play on %q, %v", s.Level, err)
		}
	}
}

// named lists the classes that are not c.
func named(x *shares) string {
	var list []string
	name := func(i int) string {
		if classes := x.title.Game.Classes(); i < len(classes) {
			return classes[i].Name()
		}
		return "commands"
	}
	for i := range len(x.of) + 1 {
		switch x.share(i) {
		case shareD:
			list = append(list, "d "+name(i))
		case shareE:
			list = append(list, "e "+name(i))
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// TestLate: when a way becomes longer all at once, commands come late until the client's clock has
// followed, and that is counted much as the server counts it, for which also those are missing that
// a clock which jumps leaves out.
func TestLate(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	way := func(int) time.Duration { return 20 * time.Millisecond }
	r := newServed(t.Context(), servedOptions{title: arenaOn(t, 2), players: 2, seed: 3, up: way,
		down: way})
	defer r.Close()
	r.Net.Run(3 * time.Second)
	r.On, r.Since = true, r.Net.Now()
	r.begin()
	before := r.Host.Stats().Commands.Repeated
	r.Net.SetPath(r.guests[0].End, r.End, netsim.Profile{Latency: 120 * time.Millisecond})
	r.Net.Run(5 * time.Second)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	repeated := int(r.Host.Stats().Commands.Repeated - before)
	if repeated == 0 || math.Abs(float64(r.late-repeated)) > 0.3*float64(repeated) ||
		r.made < 2*290 {
		t.Errorf("%d of %d commands counted as late, the server had to make up %d", r.late, r.made,
			repeated)
	}
}

// TestHome: every mirror has its share of the clients.
func TestHome(t *testing.T) {
	for n := 1; n <= MaxClients; n++ {
		for m := 1; m <= n; m++ {
			count := make([]int, m)
			for c := range n {
				count[home(c, n, m)]++
			}
			for _, k := range count {
				if k < n/m || k > (n+m-1)/m {
					t.Fatalf("%d clients on %d mirrors: %v", n, m, count)
				}
			}
		}
	}
}
