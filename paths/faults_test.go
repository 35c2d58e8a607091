package paths

import (
	"fmt"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// seeds is how many a test runs: some, or many when COEVAL_SOAK is set.
func seeds(some, many int) int {
	if os.Getenv("COEVAL_SOAK") != "" {
		return many
	}
	return some
}

// TestChain: five machines that each pass only to the next, without a relay. What the first sends
// to the last goes over all of them.
func TestChain(t *testing.T) {
	simtest.Run(t, seeds(1, 100), func(n *netsim.Net) error {
		n.Use(cable)
		g := newGroup(n, 5, false)
		for i, a := range g.machines {
			for _, b := range g.machines[min(i+2, 5):] {
				n.Cut(a.ep, b.ep)
			}
		}
		g.start()
		n.Run(3 * time.Second)
		g.look()
		n.Run(3 * time.Second)
		if x, _ := g.machines[0].paths.To(5); x.Kind != Over || x.Hops != 4 || x.Via != 2 {
			return fmt.Errorf("the last is reached by %+v", x)
		}
		return g.lacking(120 * time.Millisecond)
	})
}

// reach says in how many steps each can reach each: one by a line that passes both ways, two by the
// relay, more over others.
func reach(lines [][]bool, relayed []bool) [][]int {
	steps := make([][]int, len(lines))
	for a := range lines {
		steps[a] = make([]int, len(lines))
		for b := range lines {
			switch {
			case lines[a][b] && lines[b][a]:
				steps[a][b] = 1
			case relayed[a] && relayed[b]:
				steps[a][b] = 2
			default:
				steps[a][b] = 99
			}
		}
	}
	for k := range lines {
		for a := range lines {
			for b := range lines {
				if d := steps[a][k] + steps[k][b]; a != b && d < steps[a][b] {
					steps[a][b] = d
				}
			}
		}
	}
	return steps
}

// TestPartialCuts: any lines between machines are cut, in one direction or both. Pairs that some
// others join hear each other again in bounded time.
func TestPartialCuts(t *testing.T) {
	simtest.Run(t, seeds(4, 2000), func(n *netsim.Net) error {
		r := n.Rand()
		members := 3 + r.IntN(4)
		relayed := r.Chance(0.3)
		n.Use(netsim.Conditions{
			Up:   netsim.Profile{Latency: 20 * time.Millisecond, Loss: 0.05},
			Down: netsim.Profile{Latency: 20 * time.Millisecond, Loss: 0.05}})
		g := newGroup(n, members, relayed)
		lines := make([][]bool, members)
		g.start()
		n.Run(2500 * time.Millisecond)
		for a := range lines {
			lines[a] = make([]bool, members)
		}
		for a := range lines {
			for b := range lines {
				if lines[a][b] = a != b; a != b && r.Chance(0.35) {
					lines[a][b] = false
					n.CutOneWay(g.machines[a].ep, g.machines[b].ep)
				}
			}
		}
		// With a relay, some machines may lose it as well.
		on := make([]bool, members)
		for a := range on {
			if on[a] = relayed; relayed && r.Chance(0.3) {
				on[a] = false
				n.Cut(g.machines[a].ep, g.relay.ep)
			}
		}
		n.Run(3 * time.Second)
		g.look()
		n.Run(2 * time.Second)
		return g.checkReach(reach(lines, on))
	})
}

// checkReach: those who can reach each other do, and keep doing so.
func (g *group) checkReach(steps [][]int) error {
	for a := range steps {
		for b := range steps {
			if got := g.machines[b].got[member.ID(a+1)]; a != b && steps[a][b] <= maxHops &&
				max(got.worst, g.net.Now()-got.last) > 600*time.Millisecond {
				x, _ := g.machines[a].paths.To(member.ID(b + 1))
				return fmt.Errorf("%d members, %d hears nothing of %d for %v, %d steps; path: %+v",
					len(steps), b+1, a+1, max(got.worst, g.net.Now()-got.last), steps[a][b], x)
			}
		}
	}
	return nil
}

// TestChaos: cuts, pauses, rebound routers and storms, with loss, copies and reordering all the
// time. When they are over, every pair is as it was.
func TestChaos(t *testing.T) {
	simtest.Run(t, seeds(3, 2000), func(n *netsim.Net) error {
		r := n.Rand()
		line := netsim.Profile{
			Latency: 25 * time.Millisecond, Loss: r.Float64() * 0.2, Duplicate: 0.05,
			Reorder: 0.05,
			Jitter:  netsim.Jitter{Shape: netsim.Uniform, Amount: 20 * time.Millisecond}}
		n.Use(netsim.Conditions{Up: line, Down: line})
		g := newGroup(n, 2+r.IntN(4), true)
		where := make([]int, len(g.machines))
		for i, m := range g.machines {
			where[i] = r.IntN(len(homes))
			homes[where[i]].put(n, fmt.Sprint("home", i), m)
		}
		g.start()
		if err := n.Chaos(netsim.Chaos{
			Start: time.Second, End: 8 * time.Second, Most: 8, Longest: 2 * time.Second,
			Cut: []string{"*"}, Pause: []string{"*"}, Storm: []string{"*"},
			Weather: "loss=30% latency=120ms",
			Rebind:  []string{"home0", "home1", "home2"}}); err != nil {
			return err
		}
		n.Run(11 * time.Second)
		n.Use(cable)
		n.Run(16 * time.Second)
		g.look()
		n.Run(2 * time.Second)
		for i := range g.machines {
			for j := range g.machines {
				if i != j && direct[where[i]][where[j]] != (g.kind(i, j) == Direct) {
					x, _ := g.machines[i].paths.To(member.ID(j + 1))
					return fmt.Errorf("%s and %s: %+v", homes[where[i]].name, homes[where[j]].name,
						x)
				}
			}
		}
		return g.lacking(100 * time.Millisecond)
	})
}

// TestNoAmplification: of two machines that are made to disagree who is next, neither sends on more
// than came, and nothing goes round.
func TestNoAmplification(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 3})
	n.Use(cable)
	g := newGroup(n, 4, false)
	for _, m := range g.machines[:3] {
		n.Cut(m.ep, g.machines[3].ep)
	}
	g.start()
	n.Run(2 * time.Second)
	// All three claim to be next to the one that nobody reaches.
	now := n.Now()
	for _, m := range g.machines[:3] {
		for _, o := range g.machines[:3] {
			if o != m {
				v := []byte{0, 4, 1, 0, 4}
				if err := m.paths.TakeVector(now, o.id, v); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	var before [3]Stats
	for i, m := range g.machines[:3] {
		before[i] = m.paths.Stats()
	}
	n.Run(400 * time.Millisecond)
	sent, carried := uint64(0), uint64(0)
	for i, m := range g.machines[:3] {
		s := m.paths.Stats()
		sent += s.Sent[Over] - before[i].Sent[Over] + s.Asks - before[i].Asks
		carried += s.Carried - before[i].Carried
	}
	if sent == 0 || carried == 0 || carried > sent*maxCarriers {
		t.Errorf("%d sent, %d carried", sent, carried)
	}
}

// TestReplays: what was overheard has no effect when it is sent again, from wherever; nor have
// forgeries.
func TestReplays(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 5})
	n.Use(cable)
	g := newGroup(n, 2, true)
	type overheard struct {
		from, to netip.AddrPort
		data     []byte
	}
	var tape []overheard
	n.SetTrace(func(e netsim.Event) {
		if e.What == netsim.Delivered && Ours(e.Data) {
			tape = append(tape, overheard{
				n.Endpoint(e.From).PublicAddr(), n.Endpoint(e.To).PublicAddr(),
				append([]byte(nil), e.Data...)})
		}
	})
	g.start()
	n.Run(4 * time.Second)
	n.SetTrace(nil)
	thief := n.Endpoint("thief")
	stolen := 0
	thief.Handle(func(netip.AddrPort, []byte) { stolen++ })
	before := []Stats{g.machines[0].paths.Stats(), g.machines[1].paths.Stats()}
	if len(tape) < 8 {
		t.Fatalf("%d probes overheard", len(tape))
	}
	for _, o := range tape {
		n.Inject(thief.PublicAddr(), o.to, o.data)
		n.Inject(o.from, o.to, o.data)
		for bit := range len(o.data) * 8 {
			o.data[bit/8] ^= 1 << (bit % 8)
			n.Inject(thief.PublicAddr(), o.to, o.data)
			o.data[bit/8] ^= 1 << (bit % 8)
		}
	}
	n.Run(2 * time.Second)
	if stolen != 0 {
		t.Errorf("%d datagrams went to one who replays", stolen)
	}
	refused := uint64(0)
	for i, m := range g.machines {
		s := m.paths.Stats()
		if s.Learnt != before[i].Learnt || s.Changes != before[i].Changes {
			t.Errorf("%+v\n%+v", before[i], s)
		}
		refused += s.Replayed + s.Forged + s.Malformed + s.Strangers -
			(before[i].Replayed + before[i].Forged + before[i].Malformed + before[i].Strangers)
	}
	// A flip of the first byte may make another protocol's datagram of it.
	if least := len(tape) * (2 + ProbeSize*8 - 8); refused < uint64(least) {
		t.Errorf("%d refused of at least %d", refused, least)
	}
}

// TestBounds: whatever a member names or sends, addresses, asks and what is carried for it are
// bounded.
func TestBounds(t *testing.T) {
	key := [32]byte{7}
	us, them := New(Options{Self: 1, Seed: [32]byte{1}}), New(Options{Self: 2, Seed: [32]byte{2}})
	us.Add(0, 3, [32]byte{9}, nil)
	now := time.Duration(0)
	out := 0
	for i := range 600 {
		now += 10 * time.Millisecond
		a := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), 4000)
		us.Add(now, 2, key, []netip.AddrPort{a})
		them.Add(now, 1, key, []netip.AddrPort{a})
		// Each ask of theirs comes from another address.
		for _, d := range them.Tick(now, nil) {
			us.Receive(now, []link.Datagram{{Addr: a, Data: d.Data}})
		}
		for _, d := range us.Tick(now, nil) {
			if len(d.Data) > ProbeSize {
				t.Fatalf("%d bytes to an address that proved nothing", len(d.Data))
			}
			out += len(d.Data) + headers
		}
		if q := us.byID[2]; len(q.paths) > 1+maxGiven+maxLearnt || len(us.at) > len(q.paths) {
			t.Fatalf("%d paths, %d addresses", len(q.paths), len(us.at))
		}
	}
	answers := int(us.Stats().Answers) * (ProbeSize + headers)
	if most := int(now.Seconds()+1)*us.opt.ProbeRate + answers; out > most {
		t.Errorf("%d bytes, at most %d", out, most)
	}
	for _, bad := range []string{"0.0.0.0:1", "224.0.0.1:1", "10.0.0.1:0", "255.255.255.255:9",
		"[ff02::1]:4000"} {
		us.Add(now, 3, [32]byte{9}, []netip.AddrPort{netip.MustParseAddrPort(bad)})
	}
	us.Add(now, 3, [32]byte{9}, []netip.AddrPort{Addr(2), {}})
	if q := us.byID[3]; len(q.paths) != 1 {
		t.Errorf("%d paths of addresses that are none", len(q.paths))
	}
}
