package mirror

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
)

var groupAddr = netip.MustParseAddrPort("239.1.2.3:4100")

// campus starts mirrors, the first few of which are at one site with multicast and near each
// other.
func campus(f *fleet, near, far netsim.Conditions, all, site int) {
	for i := range all {
		s := &machine{fleet: f, name: string(rune('a' + i))}
		s.between, s.public = f.net.Endpoint("m"+s.name), f.net.Endpoint("s"+s.name)
		s.between.SetInbox(1 << 16)
		s.public.SetInbox(1 << 16)
		for j, other := range f.machines {
			way := far
			if i < site && j < site {
				way = near
			}
			f.net.Connect(s.between, other.between, way)
		}
		if i < site {
			s.between.JoinGroup(groupAddr)
			s.change = func(o *Options) { o.Multicast = groupAddr }
		}
		f.machines = append(f.machines, s)
		s.start()
		f.net.Run(200 * time.Millisecond)
	}
}

// casting compares whom the mirrors reach by multicast.
func (f *fleet) casting(want ...[]member.ID) error {
	for i, s := range f.machines {
		if got := s.mirror.Casts(); !slices.Equal(got, want[i]) {
			return fmt.Errorf("at %v mirror %s reaches %v by multicast, want %v", f.net.Now(),
				s.name, got, want[i])
		}
	}
	return nil
}

func (f *fleet) sentBetween() (sum uint64) {
	for _, s := range f.machines {
		sum += s.between.Counters().SentBytes
	}
	return sum
}

// TestMirrorsMulticast: of five mirrors four are at one site. They use multicast, go on without it
// while it does not pass, for all or for one, with loss all the time; the fifth is sent to by
// itself, and a line that is cut meanwhile is gone round. Settled worlds stay the same, and nobody
// has to join anew.
func TestMirrorsMulticast(t *testing.T) {
	near := netsim.Both(netsim.Profile{Latency: 500 * time.Microsecond, Loss: 0.01})
	far := netsim.Both(netsim.Profile{Latency: 30 * time.Millisecond, Loss: 0.01,
		Jitter: netsim.Jitter{Amount: 3 * time.Millisecond}})
	n := netsim.New(netsim.Options{Seed: 11})
	f := newFleet(n, Options{})
	defer f.close()
	campus(f, near, far, 5, 4)
	f.until(10*time.Second, "all serve", f.whole)
	for i, s := range f.machines {
		f.play(uint64(i+1), s, netsim.Both(netsim.Profile{Latency: 5 * time.Millisecond}))
	}
	n.Run(3 * time.Second)
	if f.err != nil {
		t.Fatal(f.err)
	}
	type ids = []member.ID
	all := []ids{{2, 3, 4}, {1, 3, 4}, {1, 2, 4}, {1, 2, 3}, nil}
	if err := f.casting(all...); err != nil {
		t.Fatal(err)
	}
	from := f.sentBetween()
	n.Run(2 * time.Second)
	with := f.sentBetween() - from

	a, b := f.machines[0], f.machines[1]
	n.PassGroups(func(from, to *netsim.Endpoint, _ []byte) bool { return to != b.between })
	n.Run(600 * time.Millisecond)
	if err := f.casting(ids{3, 4}, all[1], ids{1, 4}, ids{1, 3}, nil); err != nil {
		t.Error("b does not hear the others:", err)
	}
	n.PassGroups(func(_, _ *netsim.Endpoint, _ []byte) bool { return false })
	at := n.Now()
	if !n.RunUntil(200*time.Millisecond,
		func() bool { return f.casting(nil, nil, nil, nil, nil) == nil }) {
		t.Error("nothing passes:", f.casting(nil, nil, nil, nil, nil))
	}
	t.Log("multicast ends, and nobody relies on it any more after", n.Now()-at)
	from = f.sentBetween()
	n.Run(2 * time.Second)
	without := f.sentBetween() - from
	t.Logf("four mirrors at a site and one elsewhere, 5 players: %d bytes a second from a mirror "+
		"with multicast, %d without", with/10, without/10)
	if with*10 > without*7 {
		t.Errorf("%d bytes with multicast, %d without", with, without)
	}

	n.PassGroups(nil)
	cut := netsim.Both(netsim.Profile{Loss: 1})
	n.Connect(a.between, f.machines[4].between, cut)
	n.Run(4 * time.Second)
	if err := f.casting(all...); err != nil {
		t.Error("it is back:", err)
	}
	carried := uint64(0)
	for _, s := range f.machines {
		carried += s.mirror.Multicast().Carried
		if s.mirror.Stats().Rejoins > 0 || s.mirror.Phase() != Serving {
			t.Errorf("%s is %v and has joined anew %d times", s.name, s.mirror.Phase(),
				s.mirror.Stats().Rejoins)
		}
	}
	if carried == 0 {
		t.Error("a line is cut, and nobody carries anything")
	}
	if f.err != nil {
		t.Error(f.err)
	}
}

// TestMulticastAddress: what is no address of multicast is refused, and it is said what is.
func TestMulticastAddress(t *testing.T) {
	for _, bad := range []string{"192.0.2.1:4000", "239.1.2.3:0", "[2001:db8::1]:4000"} {
		n := netsim.New(netsim.Options{Seed: 1})
		f := newFleet(n, Options{})
		o := f.o
		e := n.Endpoint("a")
		o.Link, o.Address, o.Found, o.Multicast = e, e.PublicAddr(), true,
			netip.MustParseAddrPort(bad)
		if m, err := New(o); err == nil || !strings.Contains(err.Error(), "239.0.0.0/8") {
			t.Errorf("%s: %v, %v", bad, m, err)
		}
	}
}
