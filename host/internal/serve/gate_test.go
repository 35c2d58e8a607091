package serve

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"
)

// from is a connection of an address.
type from struct {
	net.Conn
	addr   string
	closed bool
}

func (c *from) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.addr))
}

func (c *from) Close() error {
	c.closed = true
	return nil
}

// arrivals are connections that come in their order.
type arrivals chan net.Conn

func (a arrivals) Accept() (net.Conn, error) { return <-a, nil }
func (a arrivals) Close() error              { return nil }
func (a arrivals) Addr() net.Addr            { return nil }

// TestGate: whoever holds on to connections takes them from themselves, and not from others.
func TestGate(t *testing.T) {
	var r Refusals
	in := make(arrivals, 1)
	g := newGate(in, mostConns, &r)
	come := func(addr string, port int) *from {
		c := &from{addr: fmt.Sprintf("%s:%d", addr, port)}
		in <- c
		if got, err := g.Accept(); err != nil || got != net.Conn(c) {
			t.Fatalf("%v is refused: %v", c.addr, err)
		}
		return c
	}
	honest := come("198.51.100.1", 1)
	for i := range 1000 {
		come("203.0.113.5", i+1)
		come("[2001:db8::"+fmt.Sprintf("%x]", i), 7)
	}
	if len(g.open) != 2*connsOfEach+1 || honest.closed {
		t.Errorf("%d connections are open, the first is closed: %v", len(g.open), honest.closed)
	}
	for i := range 1000 { // this machine may have all, but not more
		come("127.0.0.1", i+1)
	}
	late := come("198.51.100.2", 1)
	if len(g.open) != mostConns || honest.closed || late.closed {
		t.Errorf("%d connections are open", len(g.open))
	}
	g.state(late, http.StateIdle)
	g.state(honest, http.StateHijacked)
	g.state(late, http.StateClosed)
	if len(g.open) != mostConns-2 {
		t.Errorf("%d connections are open after two have gone", len(g.open))
	}
	if n := r.All(); n["connections"] == 0 ||
		n["connections_of_one_address"] != 2*(1000-connsOfEach) {
		t.Errorf("%v", n)
	}
}

// TestSlowRequests: who connects and says nothing, or the beginning of a request, is let go.
func TestSlowRequests(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Site{Listener: l}
	var w http.Server
	s.Protect(&w)
	if w.ReadHeaderTimeout <= 0 || w.IdleTimeout <= 0 || w.MaxHeaderBytes <= 0 ||
		w.ConnState == nil {
		t.Errorf("a web server without limits: %+v", &w)
	}
	s.Run(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	defer s.Close()
	if s.web.ReadTimeout <= 0 || s.web.WriteTimeout <= 0 {
		t.Errorf("a site without limits: %+v", &s.web)
	}
	resp, err := http.Get("http://" + s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Error(resp.Status)
	}
}

// TestDoorLimits: one address takes its share of tokens and no more, whatever others do, and what
// is remembered of addresses is bounded.
func TestDoorLimits(t *testing.T) {
	d := &Door{Open: true, Seats: 4}
	now := time.Unix(1000, 0)
	at := netip.MustParseAddr("203.0.113.5")
	passed := 0
	for range 1000 {
		if d.pass(sourceOf(at), now) == "" {
			passed++
		}
	}
	if passed != tokensOfEach+8 {
		t.Errorf("one address was given %d tokens at once", passed)
	}
	if why := d.pass(sourceOf(netip.MustParseAddr("203.0.113.6")), now); why != "" {
		t.Errorf("another: %s", why)
	}
	now = now.Add(10 * time.Second)
	for passed = 0; d.pass(sourceOf(at), now) == ""; passed++ {
	}
	if passed != 10 {
		t.Errorf("%d tokens after ten seconds", passed)
	}
	given := 0
	for i := range 100_000 { // of as many addresses, within one second
		a := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		if d.pass(sourceOf(a), now.Add(time.Duration(i)*10*time.Microsecond)) == "" {
			given++
		}
	}
	if given > tokensAtOnce+tokensASecond+1 || len(d.each.of) > mostRates {
		t.Errorf("%d tokens for a crowd, %d addresses remembered", given, len(d.each.of))
	}
	own := netip.MustParseAddr("127.0.0.1")
	d = &Door{Open: true, Seats: 4}
	for passed = 0; d.pass(sourceOf(own), now) == ""; passed++ {
	}
	if passed != tokensAtOnce {
		t.Errorf("this machine was given %d", passed)
	}
}

// TestAddresses: those by which tokens may name a server.
func TestAddresses(t *testing.T) {
	own := netip.MustParseAddrPort("192.0.2.1:4000")
	list, err := Addresses(own, []string{"203.0.113.7", " 203.0.113.8:5000", "[2001:db8::1]:4000"})
	if err != nil || fmt.Sprint(list) !=
		"[203.0.113.7:4000 203.0.113.8:5000 [2001:db8::1]:4000 192.0.2.1:4000]" {
		t.Errorf("%v, %v", list, err)
	}
	for _, any := range []string{"0.0.0.0:4000", "[::]:4000"} {
		list, err = Addresses(netip.MustParseAddrPort(any), nil)
		found := false
		for _, a := range list {
			found = found || a == netip.MustParseAddrPort("127.0.0.1:4000")
			if a.Port() != 4000 || a.Addr().Zone() != "" || a.Addr().IsUnspecified() {
				t.Errorf("%v is no address for a token", a)
			}
		}
		if !found || err != nil {
			t.Errorf("%s: %v, %v", any, list, err)
		}
	}
}
