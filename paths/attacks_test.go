package paths

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// bench of three: us, a member that is proved at an address, and one that means harm.
func threesome() (us, good, bad *Paths, at netip.AddrPort) {
	us, good, bad = New(Options{Self: 1}), New(Options{Self: 2}), New(Options{Self: 3})
	us.Add(0, 2, pairKey(1, 2), nil)
	us.Add(0, 3, pairKey(1, 3), nil)
	good.Add(0, 1, pairKey(1, 2), nil)
	bad.Add(0, 1, pairKey(1, 3), nil)
	at = netip.MustParseAddrPort("192.0.2.2:4000")
	us.answered(us.learn(us.byID[2], source{kind: Direct, addr: at}), time.Millisecond)
	return us, good, bad, at
}

// TestStolenAddress: a member that sends with another's address as its own does not take it away.
func TestStolenAddress(t *testing.T) {
	us, _, bad, at := threesome()
	q := bad.byID[1]
	bad.number++
	ask := bad.probe(q, head{kind: kindProbe, from: 3, to: 1, number: bad.number})
	us.Receive(0, []link.Datagram{{Addr: at, Data: ask}})
	if us.Stats().Answers != 1 {
		t.Fatalf("not answered: %+v", us.Stats())
	}
	if in := us.Receive(0, []link.Datagram{{Addr: at, Data: []byte{0x80}}}); in[0].Addr != Addr(2) {
		t.Errorf("a datagram of 2 is taken for one of %v", in[0].Addr)
	}
}

// TestReserved: a member that sends with the relay's address as its own is not taken to be there.
func TestReserved(t *testing.T) {
	us, _, bad, at := threesome()
	relay := netip.MustParseAddrPort("198.51.100.1:7000")
	us.Reserve(relay)
	us.Add(0, 3, pairKey(1, 3), []netip.AddrPort{relay})
	bad.number++
	ask := bad.probe(bad.byID[1], head{kind: kindProbe, from: 3, to: 1, number: bad.number})
	us.Receive(0, []link.Datagram{{Addr: relay, Data: ask}})
	in := us.Receive(0, []link.Datagram{{Addr: relay, Data: []byte{0x80}}})
	if in[0].Addr != relay {
		t.Errorf("a datagram of the relay is taken for one of %v", in[0].Addr)
	}
	for _, d := range us.Tick(0, nil) {
		if d.Addr == relay {
			t.Error("the relay is asked as a member")
		}
	}
	if us.Reserve(at); us.byID[2].current != nil {
		t.Errorf("a reserved address is used: %v", us.byID[2].current.addr)
	}
}

// TestFlood: asks without end, between two looks of ours, are answered within bounds.
func TestFlood(t *testing.T) {
	us, _, bad, at := threesome()
	for range 10_000 {
		bad.out.flush(nil)
		bad.number++
		ask := bad.probe(bad.byID[1], head{kind: kindProbe, from: 3, to: 1, number: bad.number})
		us.Receive(0, []link.Datagram{{Addr: at, Data: ask}})
	}
	if n := len(us.Send(0, nil)); n > maxReady+1 || us.Stats().Withheld < 9000 {
		t.Errorf("%d answers at once, %+v", n, us.Stats())
	}
}

// TestGreedyMember: what we carry for a member is bounded, and only to members, whatever it hands
// us.
func TestGreedyMember(t *testing.T) {
	us, _, bad, at := threesome()
	q := bad.byID[1]
	data := make([]byte, 1000)
	sent := 0
	now := time.Duration(0)
	for range 100 {
		now += 10 * time.Millisecond
		for range 20 {
			bad.out.flush(nil)
			wrapped := bad.wrap(q, 3, 2, maxCarriers, data)
			us.Receive(now, []link.Datagram{{Addr: netip.MustParseAddrPort("192.0.2.3:4000"),
				Data: wrapped}})
		}
		for _, d := range us.Send(now, nil) {
			if sent += len(d.Data); d.Addr != at {
				t.Fatalf("carries to %v", d.Addr)
			}
		}
	}
	if most := 2*us.opt.CarryRate + 2000; sent > most || sent < us.opt.CarryRate {
		t.Errorf("%d bytes in a second, at most %d", sent, most)
	}
	s := us.Stats()
	for _, to := range []member.ID{9, 1, 3, 0, RelayID} {
		bad.out.flush(nil)
		us.Receive(now+time.Minute, []link.Datagram{{Addr: at, Data: bad.wrap(q, 3, to, 3, data)}})
	}
	bad.out.flush(nil)
	us.Receive(now+time.Minute, []link.Datagram{{Addr: at, Data: bad.wrap(q, 3, 2, 0, data)}})
	if more := us.Stats(); more.Carried != s.Carried || more.Uncarried != s.Uncarried+5 {
		t.Errorf("carried %d, not carried %d", more.Carried-s.Carried, more.Uncarried-s.Uncarried)
	}
}

// TestBlackHole: a member claims to reach everybody and carries nothing. Others carry in its place.
func TestBlackHole(t *testing.T) {
	simtest.Run(t, seeds(2, 100), func(n *netsim.Net) error {
		n.Use(cable)
		g := newGroup(n, 4, false)
		g.machines[2].paths.opt.CarryRate = 1
		g.start()
		n.Run(3*time.Second + n.Rand().Duration(time.Second))
		n.Cut(g.machines[0].ep, g.machines[1].ep)
		n.Run(2 * time.Second)
		g.look()
		n.Run(2 * time.Second)
		if x, _ := g.machines[0].paths.To(2); x.Kind != Over || x.Via != 4 {
			return fmt.Errorf("%+v", x)
		}
		return g.lacking(100 * time.Millisecond)
	})
}

// TestNamedStranger: an address that a member names and that is not its own is asked a few times.
func TestNamedStranger(t *testing.T) {
	us, _, bad, _ := threesome()
	victim := netip.MustParseAddrPort("198.51.100.9:53")
	us.Add(0, 3, pairKey(1, 3), []netip.AddrPort{victim})
	q := bad.byID[1]
	got := 0
	for now := time.Duration(0); now < time.Minute; now += 10 * time.Millisecond {
		// It also says that it hears nothing, over and over, and sends so that it is missed.
		if now%(100*time.Millisecond) == 0 {
			bad.out.flush(nil)
			bad.number++
			ask := bad.probe(q, head{
				kind: kindProbe, second: flagDeaf, from: 3, to: 1, number: bad.number})
			us.Receive(now, []link.Datagram{{Addr: netip.MustParseAddrPort("192.0.2.3:4000"),
				Data: ask}})
			us.Add(now, 3, pairKey(1, 3), []netip.AddrPort{victim})
		}
		for _, d := range us.Tick(now, nil) {
			if d.Addr == victim {
				got++
			}
		}
	}
	if got < 20 || got > 45 {
		t.Errorf("a stranger was asked %d times in a minute", got)
	}
}
