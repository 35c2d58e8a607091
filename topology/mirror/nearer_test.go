package mirror

import (
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/wire"
)

// A globe is a fleet whose players are at different distances from its mirrors.
type globe struct {
	*fleet
	t       *testing.T
	missing uint64 // commands, in the beginning
}

func newGlobe(t *testing.T, seed uint64, mirrors int, change func(i int, o *Options)) *globe {
	n := netsim.New(netsim.Options{Seed: seed})
	g := &globe{fleet: newFleet(n, Options{}), t: t}
	for i := range mirrors {
		m := &machine{fleet: g.fleet, name: string(rune('a' + i))}
		if change != nil {
			m.change = func(o *Options) { change(i, o) }
		}
		g.launchMachine(m, netsim.Both(netsim.Profile{Latency: 30 * time.Millisecond}))
		n.Run(200 * time.Millisecond)
	}
	g.until(20*time.Second, "all serve", g.whole)
	return g
}

// rough is a way over which some is lost and all of it comes early or late.
func rough(d time.Duration) netsim.Conditions {
	return netsim.Both(netsim.Profile{Latency: d, Loss: 0.01,
		Jitter: netsim.Jitter{Amount: 3 * time.Millisecond}})
}

// far has a player be so far from the mirrors, in milliseconds one way.
func (g *globe) far(b *bot, ms ...int) {
	for i, d := range ms {
		g.net.Connect(b.end, g.machines[i].public, rough(time.Duration(d)*time.Millisecond))
	}
}

// at is the mirror that a player plays at.
func (g *globe) at(b *bot) int {
	for k, s := range g.machines {
		if c := b.Conn(); c != nil && c.Addr() == s.public.PublicAddr() {
			return k
		}
	}
	return -1
}

func (g *globe) allPlay() bool {
	for _, b := range g.bots {
		if !b.plays() {
			return false
		}
	}
	return true
}

// settleDown lets everybody play, and forgets the gaps of the beginning.
func (g *globe) settleDown() {
	g.until(10*time.Second, "all play", g.allPlay)
	for _, b := range g.bots {
		b.gap = 0
		g.missing += b.Stats().Repeated
	}
}

func (g *globe) end() {
	if g.err != nil {
		g.t.Error(g.err)
	}
	g.close()
}

// TestGoesToTheNearest: players who began at a far mirror, as their list began with it, go on at
// the nearest within seconds, and are shown the world all the while; who is well where it is stays.
func TestGoesToTheNearest(t *testing.T) {
	for seed := range uint64(2) {
		g := newGlobe(t, 71+seed, 5, nil)
		ways := [][]int{{90, 60, 12, 100, 70}, {80, 10, 60, 90, 50}, {20, 15, 80, 90, 25},
			{75, 80, 90, 8, 70}, {70, 40, 55, 60, 65}}
		want := []int{2, 1, 0, 3, 1}
		for i, w := range ways {
			g.far(g.play(uint64(i+1), g.machines[0], rough(50*time.Millisecond)), w...)
		}
		g.settleDown()
		g.until(15*time.Second, "all are at the nearest", func() bool {
			for i, b := range g.bots {
				if g.at(b) != want[i] {
					return false
				}
			}
			return true
		})
		took := g.net.Now()
		g.net.Run(5 * time.Second)
		gap, missing, moves := time.Duration(0), -g.missing, uint64(0)
		for _, b := range g.bots {
			gap, missing = max(gap, b.gap), missing+b.Stats().Repeated
			moves += b.Stats().Nearer
		}
		in, out := uint64(0), uint64(0)
		for _, s := range g.machines {
			in, out = in+s.mirror.Moves().In[wire.Nearer], out+s.mirror.Moves().Out[wire.Nearer]
		}
		t.Logf("seed %d: all at the nearest %v after the beginning, %d moves; the longest time "+
			"without a new state was %v, %d commands were missing", 71+seed, took, moves, gap,
			missing)
		if moves != 4 || in != 4 || out != 4 || gap > 150*time.Millisecond {
			t.Errorf("seed %d: %d moves, %d in, %d out, a gap of %v", 71+seed, moves, in, out, gap)
		}
		g.end()
	}
}

// TestRoams: a player goes from one continent to another and back, with another address each time,
// and is at the nearest mirror soon after. When that dies, it goes to the next nearest.
func TestRoams(t *testing.T) {
	g := newGlobe(t, 81, 4, nil)
	defer g.end()
	b := g.play(1, g.machines[0], rough(50*time.Millisecond))
	g.far(b, 10, 60, 90, 120)
	g.settleDown()
	g.net.Run(4 * time.Second)
	if g.at(b) != 0 {
		t.Fatalf("plays at %d", g.at(b))
	}
	for i, leg := range [][]int{{110, 80, 15, 30}, {12, 60, 120, 90}} {
		b.end.RebindAddr()
		g.far(b, leg...)
		began, want := g.net.Now(), 2-2*i
		g.until(30*time.Second, fmt.Sprint("leg ", i), func() bool { return g.at(b) == want })
		t.Logf("leg %d: at the nearest after %v, the longest time without a new state was %v",
			i, g.net.Now()-began, b.gap)
		g.net.Run(25 * time.Second)
		b.gap = 0
	}
	g.machines[0].kill()
	g.until(5*time.Second, "the next nearest", func() bool { return g.at(b) == 1 })
	t.Logf("a mirror died: %v without a new state", b.gap)
}

// TestEquals: mirrors that are about as near, over a way that is now better and now worse, do not
// take turns.
func TestEquals(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays for minutes, one thing after another: nothing in it can race")
	}
	g := newGlobe(t, 91, 3, nil)
	defer g.end()
	for i := range 3 {
		g.far(g.play(uint64(i+1), g.machines[i], rough(20*time.Millisecond)), 20, 24, 28)
	}
	unsteady := g.play(4, g.machines[0], netsim.LTE)
	g.settleDown()
	minutes := 2
	for range minutes * 6 {
		for _, b := range g.bots {
			if b == unsteady {
				continue
			}
			d := int(g.net.Now()/time.Millisecond) % 17
			g.far(b, 20+d%7, 20+d%5, 20+d%8)
		}
		g.net.Run(10 * time.Second)
	}
	moves := uint64(0)
	for _, b := range g.bots {
		moves += b.Stats().Moves
	}
	t.Logf("%d moves of %d players in %d minutes", moves, len(g.bots), minutes)
	if moves != 0 {
		t.Errorf("%d moves between equals", moves)
	}
}

// TestFullMirror: the nearest mirror of all has room for three. A newcomer is sent to another
// mirror, those who play stay where they are, and when a mirror dies its players find room.
func TestFullMirror(t *testing.T) {
	g := newGlobe(t, 95, 3, func(i int, o *Options) {
		if i == 1 {
			o.Room = 3
		}
	})
	defer g.end()
	for i := range 6 {
		g.far(g.play(uint64(i+1), g.machines[0], rough(50*time.Millisecond)), 60, 8, 100)
	}
	g.settleDown()
	crowd := func(k int) (n int) {
		for _, b := range g.bots {
			if g.at(b) == k {
				n++
			}
		}
		return n
	}
	g.until(10*time.Second, "three are at the nearest", func() bool { return crowd(1) == 3 })
	g.net.Run(5 * time.Second)
	late := g.play(7, g.machines[1], rough(50*time.Millisecond))
	g.far(late, 60, 8, 100)
	g.until(10*time.Second, "a newcomer plays", g.allPlay)
	g.until(20*time.Second, "the newcomer is at the nearest that has room",
		func() bool { return crowd(0) == 4 })
	t.Logf("%d, %d and %d players; the longest time without a new state was %v", crowd(0),
		crowd(1), crowd(2), g.bots[5].gap)
	if crowd(1) != 3 || crowd(0) != 4 {
		t.Errorf("%d play at the mirror that has room for 3, %d at the other", crowd(1), crowd(0))
	}
	g.machines[0].kill()
	g.net.Run(3 * time.Second)
	g.until(10*time.Second, "all play on", g.allPlay)
	if crowd(0) != 0 || crowd(1)+crowd(2) != 7 || crowd(1) > 3 {
		t.Errorf("%d and %d players after a mirror died", crowd(1), crowd(2))
	}
}

// TestNoStampede: a mirror is started beside all players. They go there, a few in each second, and
// not so many that it is much fuller than the others without being much nearer.
func TestNoStampede(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays for minutes, one thing after another: nothing in it can race")
	}
	g := newGlobe(t, 97, 2, func(_ int, o *Options) { o.Server.Players = 24 })
	defer g.end()
	for i := range 12 {
		g.far(g.play(uint64(i+1), g.machines[i%2], rough(60*time.Millisecond)), 60, 60)
	}
	g.settleDown()
	g.net.Run(3 * time.Second)
	m := &machine{fleet: g.fleet, name: "c"}
	m.change = func(o *Options) { o.Server.Players = 24 }
	g.launchMachine(m, netsim.Both(netsim.Profile{Latency: 30 * time.Millisecond}))
	for _, b := range g.bots {
		g.net.Connect(b.end, m.public, rough(15*time.Millisecond))
	}
	g.until(20*time.Second, "all serve", g.whole)
	most, were := 0, 0
	for range 30 {
		g.net.Run(time.Second)
		n := int(m.mirror.Moves().In[wire.Nearer])
		most, were = max(most, n-were), n
	}
	gap := time.Duration(0)
	for _, b := range g.bots {
		gap = max(gap, b.gap)
	}
	t.Logf("%d of 12 players went to the new mirror within half a minute, at most %d in a second; the "+
		"longest time without a new state was %v", were, most, gap)
	if were < 8 || most > 2*movesAtOnce {
		t.Errorf("%d went, at most %d in a second", were, most)
	}
}

// TestNearestIsCutOff: the nearest mirror answers pings, but is cut off from the others and can let
// nobody in. Players stay where they are, and are shown the world all the while.
func TestNearestIsCutOff(t *testing.T) {
	g := newGlobe(t, 99, 4, nil)
	defer g.end()
	b := g.play(1, g.machines[0], rough(50*time.Millisecond))
	g.far(b, 70, 75, 80, 90)
	g.settleDown()
	g.net.Run(2 * time.Second)
	for _, s := range g.machines[:3] {
		g.net.Connect(s.between, g.machines[3].between,
			netsim.Both(netsim.Profile{Latency: 30 * time.Millisecond, Loss: 1}))
	}
	g.far(b, 70, 75, 80, 8)
	g.net.Run(20 * time.Second)
	t.Logf("%d moves, %d attempts failed; the longest time without a new state was %v",
		b.Stats().Moves, b.Stats().Failed, b.gap)
	if g.at(b) == 3 || !b.plays() || b.gap > 200*time.Millisecond {
		t.Errorf("plays at %d, a gap of %v", g.at(b), b.gap)
	}
}
