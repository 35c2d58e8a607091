package seamless

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/world"
)

// What a player commands for ticks comes out as it went in, whatever its intent, and is saved and
// loaded as it is.
func TestAhead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	type key struct {
		who world.Player
		t   world.Tick
	}
	var a ahead
	want, now := map[key][]byte{}, world.Tick(100)
	for range 5000 {
		k := key{world.Player(1 + r.IntN(9)), now + world.Tick(r.IntN(60)) - 8}
		data := []byte{byte(r.IntN(256)), byte(len(want))}
		if _, ok := want[k]; !ok {
			want[k] = data
		}
		a.put(k.who, k.t, data)
		if r.IntN(8) != 0 {
			continue
		}
		now++
		a.forget(now-8, now-30)
		newest := map[world.Player]world.Tick{}
		for k := range want {
			newest[k.who] = max(newest[k.who], k.t)
		}
		for k := range want {
			if k.t < now-8 && (k.t != newest[k.who] || k.t < now-30) {
				delete(want, k)
			}
		}
		var b ahead
		saved := a.save(nil)
		b.load(&reader{b: saved})
		if !slices.Equal(saved, b.save(nil)) {
			t.Fatal("what is loaded is not what was saved")
		}
		n := 0
		for i := range b {
			n += len(b[i].list)
		}
		if n != len(want) {
			t.Fatalf("%d commands are kept, not %d", n, len(want))
		}
		for k, data := range want {
			if !slices.Equal(b.at(k.who, k.t), data) {
				t.Fatalf("player %d, tick %d: %v, want %v", k.who, k.t, b.at(k.who, k.t), data)
			}
		}
	}
}

// A command is what it was when it is read, with what was shown along with it.
func TestOrder(t *testing.T) {
	s := world.Sight{Ago: 7, Base: 3}
	s.Add(world.Claim{Target: 1 << 40, Place: [3]int32{-5, 0, 9}})
	for _, seen := range []world.Sight{{}, {Ago: 1}, s} {
		data := writeIntent(nil, 700, []int32{-1, 1 << 30}, &seen)
		r, image := reader{b: data}, make([]int32, 2)
		tick := r.uint()
		got, ok := readIntent(r.rest(), image)
		if !ok || tick != 700 || got != seen || image[0] != -1 || image[1] != 1<<30 {
			t.Errorf("%d %+v %v %v, want %+v", tick, got, image, ok, seen)
		}
	}
}

// Each command of a player is given to a zone once, however often and in whichever intent it comes.
func TestGiven(t *testing.T) {
	g := given{}
	n := 0
	for _, at := range []world.Tick{5, 6, 5, 4, 6, 7, 4, 70, 69, 5, 70, 1000, 69, 999, 999} {
		if g.first(1, 1, at) {
			n++
		}
	}
	if n != 8 {
		t.Errorf("%d were given", n)
	}
}

// openGate is a gateway without servers.
func openGate(t testing.TB) (*node, *Gate) {
	title := goldTitle()
	kept := newKept()
	if _, err := Found(t.Context(), FoundOptions{Title: title, Cluster: kept, Zones: 4,
		Reach: goldReach}); err != nil {
		t.Fatal(err)
	}
	net := netsim.New(netsim.Options{Seed: 1})
	o := Options{Title: title, Cluster: kept, Link: net.Endpoint("gateway"),
		Keys: []token.Key{{7}}, Self: 9, Seed: [32]byte{9}, Zones: -1, Gate: &GateOptions{},
		Simulated: func() time.Duration { return 0 }}
	m, err := Enter(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m.node, m.Gate()
}

// FuzzGate has a gateway take what comes from servers.
func FuzzGate(f *testing.F) {
	f.Add(byte(saysFeed), []byte{1, 1, 9, 9, 0, 0, 6, 0, 0, 0, 0, 0, 0, 1})
	f.Add(byte(saysSeated), make([]byte, 26))
	f.Add(byte(saysChat), []byte{3, 1, 'a', 2, 'b', 'c', 4})
	f.Add(byte(saysWatch), []byte{1, 0, 64, 32, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 1, 5})
	n, g := openGate(f)
	f.Fuzz(func(t *testing.T, kind byte, data []byte) {
		n.now += time.Millisecond
		n.take(1, append([]byte{kind}, data...))
		g.Advance()
		g.Words()
		g.Leading()
		if len(g.sight.views) > 64 {
			g.sight.views = nil // of zones that are none
		}
	})
}
