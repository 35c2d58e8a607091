package lobby_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/service/directory/lobby"
)

var world = []string{"asia", "east", "north", "south", "west"}

// crowd draws who waits.
func crowd(r *rand.Rand, n int) []lobby.Unit {
	list := make([]lobby.Unit, n)
	for i := range list {
		u := &list[i]
		u.Waited = time.Duration((n-i)*20/n) * time.Second
		size := 1
		if r.IntN(6) == 0 {
			size = 2 + r.IntN(3)
		}
		home := r.IntN(len(world))
		for range size {
			p := lobby.Player{Client: r.Uint64(), Profile: lobby.Profile{Skill: 1500 +
				int(r.NormFloat64()*300), Trips: map[string]int{}}}
			for k, name := range world {
				d := (k - home + len(world)) % len(world)
				p.Trips[name] = 15 + 60*min(d, len(world)-d) + r.IntN(40)
			}
			u.Players = append(u.Players, p)
		}
	}
	return list
}

// TestSized: groups have the size, nobody is in two, those in one are within what they put up with,
// and the same gives the same.
func TestSized(t *testing.T) {
	for seed := range uint64(seeds(40)) {
		r := rand.New(rand.NewPCG(seed, 3))
		rule := lobby.Sized{Size: 2 + r.IntN(9)}
		list := crowd(r, 1+r.IntN(200))
		groups := rule.Match(list, world)
		if again := rule.Match(list, world); !reflect.DeepEqual(groups, again) {
			t.Fatalf("seed %d: not the same twice", seed)
		}
		in := map[int]bool{}
		for _, g := range groups {
			size, low, high, widest := 0, 1<<30, 0, 0
			for _, i := range g.Units {
				if in[i] {
					t.Fatalf("seed %d: %d is in two", seed, i)
				}
				in[i] = true
				u := &list[i]
				size += len(u.Players)
				sum, second := 0, int(u.Waited/time.Second)
				for _, p := range u.Players {
					sum += p.Skill
					if p.Trips[g.Region] > 80+10*second && second < 20 {
						t.Fatalf("seed %d: %d ms after %v", seed, p.Trips[g.Region], u.Waited)
					}
				}
				low, high = min(low, sum/len(u.Players)), max(high, sum/len(u.Players))
				widest = max(widest, 100+20*second)
			}
			if size != rule.Size || high-low > 2*widest {
				t.Fatalf("seed %d: %d players of %d, skills %d to %d within %d", seed, size,
					rule.Size, low, high, widest)
			}
		}
	}
}

// TestNearAndFar: those who are near the same region play there; whoever is near none, or has
// another skill, waits for longer, and then plays too.
func TestNearAndFar(t *testing.T) {
	unit := func(north, south, skill int, waited time.Duration) lobby.Unit {
		return lobby.Unit{Waited: waited, Players: []lobby.Player{{Profile: lobby.Profile{
			Skill: skill, Trips: map[string]int{"north": north, "south": south}}}}}
	}
	for _, x := range []struct {
		name string
		list []lobby.Unit
		want string
	}{
		{"near", []lobby.Unit{unit(20, 90, 0, 0), unit(70, 20, 0, 0), unit(200, 20, 0, 0)},
			"[{[0 1] north}]"},
		{"nobody else near", []lobby.Unit{unit(20, 300, 0, 0), unit(300, 20, 0, 0)}, "[]"},
		{"after a while", []lobby.Unit{unit(20, 300, 0, 30e9), unit(300, 20, 0, 30e9)},
			"[{[0 1] north}]"},
		{"another skill", []lobby.Unit{unit(20, 20, 0, 0), unit(20, 20, 101, 0)}, "[]"},
		{"wider", []lobby.Unit{unit(20, 20, 0, 1e9), unit(20, 20, 101, 0)}, "[{[0 1] north}]"},
		{"the nearest skill", []lobby.Unit{unit(9, 9, 50, 0), unit(9, 9, 0, 0), unit(9, 9, 60, 0)},
			"[{[0 2] north}]"},
		{"far from all", []lobby.Unit{unit(900, 950, 0, 25e9), unit(950, 900, 0, 25e9),
			unit(10, 900, 0, 0)}, "[{[0 2] north}]"},
	} {
		if got := fmt.Sprint(lobby.Sized{Size: 2}.Match(x.list,
			[]string{"north", "south"})); got != x.want {
			t.Errorf("%s: %s, want %s", x.name, got, x.want)
		}
	}
	one := []lobby.Unit{{Players: []lobby.Player{{}}}, {Players: []lobby.Player{{}}}}
	if g := (lobby.Sized{Size: 2}).Match(one, nil); len(g) != 1 || g[0].Region != "" {
		t.Errorf("without regions: %+v", g)
	}
}

// TestChoose: the server is near to whoever is furthest from it, and has room for all.
func TestChoose(t *testing.T) {
	players := []lobby.Player{
		{Profile: lobby.Profile{Trips: map[string]int{"north": 10, "south": 90}}},
		{Profile: lobby.Profile{Trips: map[string]int{"north": 120, "south": 60}}}, {}}
	list := []lobby.Candidate{{ID: "a", Regions: []string{"north"}, Free: 9},
		{ID: "b", Regions: []string{"south"}, Free: 2},
		{ID: "c", Regions: []string{"south"}, Free: 9},
		{ID: "d", Regions: []string{"south"}, Free: 3}, {ID: "e", Free: 3}}
	if i := lobby.Choose(players, "", list); i != 3 {
		t.Error(i)
	}
	list = append(list, lobby.Candidate{ID: "f", Regions: []string{"north", "south"}, Free: 99})
	if i := lobby.Choose(players, "", list); i != 5 {
		t.Error(i)
	}
	if i := lobby.Choose(players, "", list[1:2]); i != -1 {
		t.Error(i)
	}
}

// TestHolds: however rooms and players come and go, no server is given more than it has room for,
// though it says only every ten seconds how many are there.
func TestHolds(t *testing.T) {
	const second, every, life = time.Second, 10, 60
	for seed := range uint64(seeds(100)) {
		r := rand.New(rand.NewPCG(seed, 4))
		var h lobby.Holds
		type coming struct{ at, server int }
		var way []coming
		capacity, players, said := [3]int{8, 16, 5}, [3]int{}, [3]int{}
		placed := 0
		for now := range 600 {
			at := time.Duration(now) * second
			for i := range players {
				if now%every == i {
					said[i] = players[i]
				}
				if players[i] > 0 && r.IntN(30) == 0 {
					players[i]--
				}
			}
			way = slices.DeleteFunc(way, func(c coming) bool {
				if c.at == now {
					players[c.server]++
				}
				return c.at == now
			})
			for range r.IntN(3) {
				n, i := 1+r.IntN(4), r.IntN(3)
				if h.Free(at, fmt.Sprint(i), said[i], capacity[i]) < n {
					continue
				}
				h.Hold(fmt.Sprint(i), n, said[i], at+(life+2*every)*second)
				placed += n
				for range n {
					if r.IntN(5) > 0 { // one of five never comes
						way = append(way, coming{now + 1 + r.IntN(life), i})
					}
				}
			}
			h.Tick(at)
			for i := range players {
				if players[i] > capacity[i] {
					t.Fatalf("seed %d, second %d: server %d has %d of %d", seed, now, i,
						players[i], capacity[i])
				}
			}
		}
		if placed < 20 {
			t.Fatalf("seed %d: only %d were placed", seed, placed)
		}
	}
}

// BenchmarkSized groups all who wait.
func BenchmarkSized(b *testing.B) {
	for _, n := range []int{1000, 10_000, 40_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			list := crowd(rand.New(rand.NewPCG(1, 5)), n)
			grouped := 0
			for b.Loop() {
				grouped = 0
				for _, g := range (lobby.Sized{Size: 8}).Match(list, world) {
					grouped += len(g.Units)
				}
			}
			b.ReportMetric(float64(grouped)/float64(n), "grouped")
		})
	}
}
