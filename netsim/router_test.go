package netsim

import (
	"net/netip"
	"testing"
	"time"
)

// listener notes from where an endpoint hears.
type listener struct {
	*Endpoint
	from []netip.AddrPort
}

func listen(e *Endpoint) *listener {
	l := &listener{Endpoint: e}
	e.Handle(func(from netip.AddrPort, _ []byte) { l.from = append(l.from, from) })
	return l
}

// hears sends a datagram to an address and says whether the listener got it.
func (l *listener) hears(t *testing.T, from *Endpoint, at netip.AddrPort) bool {
	t.Helper()
	before := len(l.from)
	if err := from.SendTo(at, []byte("x")); err != nil {
		t.Fatal(err)
	}
	l.net.Run(time.Millisecond)
	return len(l.from) > before
}

// TestRouterKinds: whom each kind of router lets in, and whether it shows one address.
func TestRouterKinds(t *testing.T) {
	for _, x := range []struct {
		kind                          NATKind
		samePort, otherPort, stranger bool // let in
		one                           bool // one address towards everybody
	}{
		{FullCone, true, true, true, true},
		{AddressRestricted, true, true, false, true},
		{PortRestricted, true, false, false, true},
		{Symmetric, true, false, false, false},
	} {
		t.Run(x.kind.String(), func(t *testing.T) {
			n := New(Options{})
			home := n.Router("home", NAT{Kind: x.kind})
			in := listen(n.Endpoint("in"))
			in.Behind(home)
			other := n.Endpoint("other")
			server := listen(n.EndpointAt("server", netip.MustParseAddrPort("198.51.100.1:1")))
			twin := listen(n.EndpointAt("twin", netip.MustParseAddrPort("198.51.100.1:2")))
			if !server.hears(t, in.Endpoint, server.PublicAddr()) {
				t.Fatal("nothing goes out")
			}
			at := server.from[0]
			if at.Addr() != home.Addr() || at != in.PublicAddr() {
				t.Errorf("seen at %v, the router is at %v, public %v", at, home.Addr(),
					in.PublicAddr())
			}
			for who, want := range map[*Endpoint]bool{
				server.Endpoint: x.samePort, twin.Endpoint: x.otherPort, other: x.stranger} {
				if got := in.hears(t, who, at); got != want {
					t.Errorf("%s let in: %v", who.Name(), got)
				}
			}
			if other.SendTo(in.LocalAddr(), []byte("x")); n.unrouted == 0 {
				t.Error("a private address is reached from outside")
			}
			twin.hears(t, in.Endpoint, twin.PublicAddr())
			if one := twin.from[0] == at; one != x.one {
				t.Errorf("shows %v and %v", at, twin.from[0])
			}
		})
	}
}

// TestRouterInside: machines behind one router reach each other by their own addresses, and by
// their outer ones if the router does hairpin. Those behind another have the same addresses.
func TestRouterInside(t *testing.T) {
	for _, hairpin := range []bool{false, true} {
		n := New(Options{})
		home := n.Router("home", NAT{Hairpin: hairpin})
		a, b := listen(n.Endpoint("a")), listen(n.Endpoint("b"))
		a.Behind(home)
		b.Behind(home)
		server := listen(n.Endpoint("server"))
		if !b.hears(t, a.Endpoint, b.LocalAddr()) || b.from[0] != a.LocalAddr() {
			t.Errorf("not heard inside: %v", b.from)
		}
		server.hears(t, b.Endpoint, server.PublicAddr())
		if got := b.hears(t, a.Endpoint, server.from[0]); got != hairpin {
			t.Errorf("hairpin %v: heard %v", hairpin, got)
		}
		if hairpin && b.from[1] != a.PublicAddr() {
			t.Errorf("seen from %v, want %v", b.from[1], a.PublicAddr())
		}
		c := listen(n.Endpoint("c"))
		c.Behind(n.Router("other", NAT{}))
		if c.LocalAddr() != a.LocalAddr() {
			t.Errorf("inside of another router: %v and %v", c.LocalAddr(), a.LocalAddr())
		}
		if c.hears(t, c.Endpoint, a.LocalAddr()); len(c.from) != 1 || len(a.from) != 0 {
			t.Error("a private address leads out")
		}
	}
}

// TestRouterNested: a home behind a provider's router, whose both bindings have to be open.
func TestRouterNested(t *testing.T) {
	n := New(Options{})
	isp := n.Router("isp", NAT{Kind: PortRestricted})
	home := n.Router("home", NAT{Kind: FullCone})
	home.Behind(isp)
	in, server, other := listen(n.Endpoint("in")), listen(n.Endpoint("server")), n.Endpoint("other")
	in.Behind(home)
	server.hears(t, in.Endpoint, server.PublicAddr())
	at := server.from[0]
	if at.Addr() != isp.Addr() || at != in.PublicAddr() {
		t.Errorf("seen at %v, public %v", at, in.PublicAddr())
	}
	if !in.hears(t, server.Endpoint, at) {
		t.Error("the answer does not come in")
	}
	if in.hears(t, other, at) {
		t.Error("a stranger comes in")
	}
	isp.Rebind()
	if in.hears(t, server.Endpoint, at) {
		t.Error("a binding that was forgotten lets in")
	}
	server.hears(t, in.Endpoint, server.PublicAddr())
	if now := server.from[1]; now == at || !in.hears(t, server.Endpoint, now) {
		t.Errorf("after the rebind: %v, before %v", now, at)
	}
}

// TestRouterForgets: bindings expire, and a script rebinds a router.
func TestRouterForgets(t *testing.T) {
	s, err := Parse("at 1s rebind home port\nat 2s rebind home address\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []NATKind{FullCone, AddressRestricted, PortRestricted, Symmetric} {
		n := New(Options{})
		if err := n.Schedule(s.Faults...); err != nil {
			t.Fatal(err)
		}
		in, server := listen(n.Endpoint("in")), listen(n.Endpoint("server"))
		in.Behind(n.Router("home", NAT{Kind: kind, Timeout: 500 * time.Millisecond}))
		seen := map[netip.AddrPort]bool{}
		for i, at := range []time.Duration{0, 400, 1001, 1400, 2001, 2600} {
			n.Run(at*time.Millisecond - n.Now())
			server.hears(t, in.Endpoint, server.PublicAddr())
			last := server.from[len(server.from)-1]
			if again := i%2 == 1 && i < 5; seen[last] != again {
				t.Errorf("%v: at %d ms seen at %v", kind, at, server.from)
			}
			if seen[last] = true; !in.hears(t, server.Endpoint, last) {
				t.Errorf("%v: at %d ms no answer comes in", kind, at)
			}
		}
		n.Run(time.Second)
		if in.hears(t, server.Endpoint, in.PublicAddr()) {
			t.Errorf("%v: an expired binding lets in", kind)
		}
	}
}

// TestRouterInFlight: the binding counts when a datagram arrives, not when it leaves.
func TestRouterInFlight(t *testing.T) {
	n := New(Options{})
	n.Use(Conditions{
		Up:   Profile{Latency: 20 * time.Millisecond},
		Down: Profile{Latency: 20 * time.Millisecond}})
	in, server, other := listen(n.Endpoint("in")), listen(n.Endpoint("server")), n.Endpoint("other")
	in.Behind(n.Router("home", NAT{Kind: PortRestricted}))
	in.SendTo(server.PublicAddr(), []byte("x"))
	n.Run(50 * time.Millisecond)
	other.SendTo(server.from[0], []byte("x"))
	n.Run(10 * time.Millisecond)
	in.SendTo(other.PublicAddr(), []byte("x"))
	if n.Run(20 * time.Millisecond); len(in.from) != 1 {
		t.Error("a door that opened in time lets nobody in")
	}
}

func TestParseNAT(t *testing.T) {
	for k := range natKinds {
		for _, o := range []NAT{{Kind: k}, {Kind: k, Hairpin: true},
			{Kind: k, Hairpin: true, Timeout: 30 * time.Second}} {
			if got, err := ParseNAT(o.String()); got != o || err != nil {
				t.Errorf("%v: %v, %v", o, got, err)
			}
		}
	}
	for _, bad := range []string{"", "carton", "symmetric hare", "symmetric timeout=0",
		"full-cone timeout=x", "full-cone full-cone"} {
		if o, err := ParseNAT(bad); err == nil || o != (NAT{}) {
			t.Errorf("%q is %v", bad, o)
		}
	}
}

// FuzzNAT: what parses is printed to what parses to the same.
func FuzzNAT(f *testing.F) {
	f.Add("port-restricted hairpin timeout=30s")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := ParseNAT(text)
		if err != nil {
			return
		}
		if again, err := ParseNAT(o.String()); err != nil || again != o {
			t.Fatalf("%q is %v, and then %v, %v", text, o, again, err)
		}
	})
}
