package mirror

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
)

// TestNearestMirror: when a mirror dies, or is stopped, each of its players goes on at the mirror
// that is nearest to that player, however many play there, and whatever is nearest to the mirror
// that they come from.
func TestNearestMirror(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 31})
	f := newFleet(n, Options{})
	defer f.close()
	for i := range 4 {
		f.launch(string(rune('a'+i)), netsim.Both(netsim.Profile{Latency: 30 * time.Millisecond}))
		n.Run(200 * time.Millisecond)
	}
	f.until(10*time.Second, "all serve", f.whole)
	path := func(d time.Duration) netsim.Conditions {
		return netsim.Both(netsim.Profile{Latency: d, Loss: 0.01,
			Jitter: netsim.Jitter{Amount: 2 * time.Millisecond}})
	}
	// The first three are of mirror d, each nearest to another of the rest; the others fill a.
	for i := range 6 {
		home := 0
		if i < 3 {
			home = 3
		}
		b := f.play(uint64(i+1), f.machines[home], path(5*time.Millisecond))
		for k := 0; k < 3 && i < 3; k++ {
			way := path(time.Duration(60+20*k) * time.Millisecond)
			if k == i {
				way = path(15 * time.Millisecond)
			}
			n.Connect(b.end, f.machines[k].public, way)
		}
	}
	all := func() bool {
		for _, b := range f.bots {
			if !b.plays() {
				return false
			}
		}
		return true
	}
	f.until(10*time.Second, "all play", all)
	n.Run(2 * time.Second)
	at := func(b *bot) int {
		for k, s := range f.machines {
			if c := b.Conn(); c != nil && c.Addr() == s.public.PublicAddr() {
				return k
			}
		}
		return -1
	}
	f.machines[3].kill()
	n.Run(4 * time.Second)
	f.until(5*time.Second, "all play again", all)
	for i, b := range f.bots[:3] {
		if at(b) != i {
			t.Errorf("player %d plays at mirror %d, and %d is the nearest", i+1, at(b), i)
		}
	}
	// Now a leaves in good order. Players 1 and 4 to 6 are there; for 1 the nearest is b by now.
	f.machines[0].mirror.Leave()
	n.Run(6 * time.Second)
	f.until(5*time.Second, "all play on", all)
	if at(f.bots[0]) != 1 {
		t.Errorf("player 1 plays at mirror %d, and 1 is the nearest", at(f.bots[0]))
	}
	if f.err != nil {
		t.Error(f.err)
	}
}
