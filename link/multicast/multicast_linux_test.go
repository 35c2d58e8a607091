package multicast_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/linktest"
	"github.com/coeval-dev/coeval/link/multicast"
)

func open(t testing.TB, o multicast.Options) link.Link {
	t.Helper()
	l, err := multicast.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// TestLink: what is sent by unicast obeys the contract of all carriers. The system drops what comes
// while its buffer is full and does not say so.
func TestLink(t *testing.T) {
	o := multicast.Options{
		Group: netip.MustParseAddrPort("239.77.1.1:47001"), Interface: "lo", Listen: "127.0.0.1:0"}
	linktest.Run(t, linktest.Carrier{
		Open: func(t testing.TB) (link.Link, func() linktest.Client) {
			server, err := multicast.Open(o)
			if err != nil {
				t.Fatal(err)
			}
			return server, func() linktest.Client {
				client, err := multicast.Open(o)
				if err != nil {
					t.Fatal(err)
				}
				return linktest.Client{Link: client, Server: server.LocalAddr()}
			}
		},
	})
}

// receive waits for one datagram.
func receive(t *testing.T, l link.Link) link.Datagram {
	t.Helper()
	var batch [1]link.Datagram
	for range 100 {
		n, err := l.Receive(batch[:])
		if err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			return batch[0]
		}
		if _, err := l.Wait(time.Second); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("nothing came")
	return link.Datagram{}
}

// TestGroup: one datagram reaches all, its sender included, and can be answered.
func TestGroup(t *testing.T) {
	group := netip.MustParseAddrPort("239.77.1.2:47002")
	o := multicast.Options{Group: group, Interface: "lo", Listen: "127.0.0.1:0"}
	a, b, c := open(t, o), open(t, o), open(t, o)
	if n, err := a.Send([]link.Datagram{{Addr: group, Data: []byte("all")}}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	for _, l := range []link.Link{a, b, c} {
		if d := receive(t, l); string(d.Data) != "all" || d.Addr != a.LocalAddr() {
			t.Errorf("got %q from %v, want it from %v", d.Data, d.Addr, a.LocalAddr())
		}
	}
	b.Send([]link.Datagram{{Addr: a.LocalAddr(), Data: []byte("one")}})
	if d := receive(t, a); string(d.Data) != "one" || d.Addr != b.LocalAddr() {
		t.Errorf("got %q from %v", d.Data, d.Addr)
	}
}

// TestApart: groups on one port do not hear each other.
func TestApart(t *testing.T) {
	one, two := netip.MustParseAddrPort("239.77.1.3:47003"),
		netip.MustParseAddrPort("239.77.1.4:47003")
	a := open(t, multicast.Options{Group: one, Interface: "lo", Listen: "127.0.0.1:0"})
	b := open(t, multicast.Options{Group: two, Interface: "lo", Listen: "127.0.0.1:0"})
	a.Send([]link.Datagram{{Addr: one, Data: []byte("one")}})
	if d := receive(t, a); string(d.Data) != "one" {
		t.Errorf("got %q", d.Data)
	}
	// What else was sent had its time: it went out before.
	b.Send([]link.Datagram{{Addr: b.LocalAddr(), Data: []byte("last")}})
	if d := receive(t, b); string(d.Data) != "last" {
		t.Errorf("the other group got %q", d.Data)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	good := netip.MustParseAddrPort("239.77.1.5:47005")
	for _, c := range []struct {
		name string
		o    multicast.Options
		says []string
	}{
		{"no group", multicast.Options{}, []string{"239.1.2.3:4000"}},
		{"no multicast address", multicast.Options{Group: netip.MustParseAddrPort("10.0.0.1:4000")},
			[]string{"239.0.0.0/8"}},
		{"no port", multicast.Options{Group: netip.MustParseAddrPort("239.1.2.3:0")},
			[]string{"port"}},
		{"wrong interface", multicast.Options{Group: good, Interface: "nosuch0"},
			[]string{"nosuch0", "this machine has", "lo"}},
		{"bad ttl", multicast.Options{Group: good, Interface: "lo", TTL: 300},
			[]string{"1 to 255"}},
		{"wrong listen", multicast.Options{Group: good, Interface: "lo", Listen: "nonsense"},
			[]string{"nonsense"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := multicast.Open(c.o)
			if err == nil {
				l.Close()
				t.Fatal("was opened")
			}
			for _, s := range c.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%q does not say %q", err, s)
				}
			}
		})
	}
}
