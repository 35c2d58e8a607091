package mirror

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/multicast"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/topology/server"
)

// TestMulticastSockets: three mirrors on real sockets of the loopback interface find out that they
// hear each other by multicast, and use it.
func TestMulticastSockets(t *testing.T) {
	group := netip.MustParseAddrPort("239.77.31.9:47131")
	var list []*Mirror
	for i := range 3 {
		l, err := multicast.Open(multicast.Options{
			Group: group, Interface: "lo", Listen: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		players, err := udp.Listen("127.0.0.1:0", udp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o := Options{
			Server: server.Options{Title: arenaTitle, Links: []link.Link{players},
				Level: server.Level{Name: "duel", Seed: 1}, Workers: 1},
			Link: l, Address: l.LocalAddr(), Public: players.LocalAddr(), Multicast: group,
			Keys: []token.Key{{1, 2, 3}}, Found: i == 0,
		}
		for _, other := range list {
			o.Ask = append(o.Ask, other.opt.Address)
		}
		m, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		list = append(list, m)
	}
	began := time.Now()
	poll := func() {
		for _, m := range list {
			if err := m.Poll(time.Since(began)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Millisecond)
	}
	casting := func() bool {
		for _, m := range list {
			if m.Phase() != Serving || len(m.Casts()) != 2 {
				return false
			}
		}
		return true
	}
	for !casting() {
		if poll(); time.Since(began) > time.Minute {
			t.Fatalf("multicast is not used: %v, %v, %v", list[0].Casts(), list[1].Casts(),
				list[2].Casts())
		}
	}
	// From here on packets between them go by multicast, and come.
	var was [3]uint64
	for i, m := range list {
		was[i] = m.Stats().Packets
	}
	for i := 0; i < len(list); {
		if poll(); list[i].Stats().Packets > was[i]+100 {
			i++
		}
		if time.Since(began) > time.Minute {
			t.Fatal("packets do not come")
		}
	}
}

// TestMulticastInterface: an interface that does not exist is an error that says which do.
func TestMulticastInterface(t *testing.T) {
	_, err := multicast.Open(multicast.Options{Group: groupAddr, Interface: "none0"})
	if err == nil || !strings.Contains(err.Error(), "lo") {
		t.Errorf("%v", err)
	}
}
