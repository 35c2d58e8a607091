package session

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// from is a peer of an address, with a port of its own.
func from(address string, port int) netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr(address), uint16(port))
}

// sit begins a session, or says that there is no place.
func sit(h *Hub, remote netip.AddrPort) (netip.AddrPort, *pipe) {
	place := h.Enter(remote, nil)
	if place == nil {
		return netip.AddrPort{}, nil
	}
	p := newPipe()
	addr, _ := place.Start(p)
	return addr, p
}

func over(p *pipe) bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// TestStrangersGiveWay: sessions of which nobody has proved anything are many, and keep no one out;
// those who have proved themselves stay.
func TestStrangersGiveWay(t *testing.T) {
	h := New(Options{Max: 100, Sessions: 40, PerSource: -1, Idle: time.Hour})
	defer h.End(link.ErrClosed)
	l := h.Link()
	l.Guard(time.Hour)
	player, seat := sit(h, from("198.51.100.1", 1))
	l.Keep(player)
	for i := range 200 {
		if _, p := sit(h, from("203.0.113.5", i)); p == nil {
			t.Fatalf("stranger %d found no place", i)
		}
	}
	_, honest := sit(h, from("198.51.100.2", 1))
	_, second := sit(h, from("198.51.100.3", 1))
	for i := range 200 { // the crowd goes on, and gives way to itself
		sit(h, from("203.0.113.5", i))
	}
	if over(seat) || over(honest) || over(second) {
		t.Error("someone else than the crowd gave way")
	}
	c := l.Places()
	if c.Taken != 40 || c.Proven != 1 || c.GaveWay != 200-39+2+200 || c.Full != 0 {
		t.Errorf("%+v", c)
	}
}

// TestPlayersStay: when all have proved themselves, newcomers are told that it is full.
func TestPlayersStay(t *testing.T) {
	h := New(Options{Max: 100, Sessions: 20, Idle: time.Hour, PerSource: -1})
	defer h.End(link.ErrClosed)
	l := h.Link()
	l.Guard(time.Hour)
	for i := range 20 {
		addr, _ := sit(h, from("198.51.100.1", i))
		l.Keep(addr)
	}
	if _, p := sit(h, from("198.51.100.2", 1)); p != nil {
		t.Error("one more found a place")
	}
	if c := l.Places(); c.Full != 1 || c.GaveWay != 0 || c.Proven != 20 {
		t.Errorf("%+v", c)
	}
}

// TestPlacesOfASource: one source has so many places, a /64 of IPv6 being one; this machine has
// all.
func TestPlacesOfASource(t *testing.T) {
	h := New(Options{Max: 100, Sessions: 100, PerSource: 4, Idle: time.Hour})
	defer h.End(link.ErrClosed)
	l := h.Link()
	l.Guard(time.Hour)
	sat := func(remote func(i int) netip.AddrPort) (n int) {
		for i := range 10 {
			if addr, p := sit(h, remote(i)); p != nil {
				n++
				l.Keep(addr)
			}
		}
		return n
	}
	four := sat(func(i int) netip.AddrPort { return from("203.0.113.5", i) })
	six := sat(func(i int) netip.AddrPort { return from(fmt.Sprintf("2001:db8::%x:1", i), 1) })
	own := sat(func(i int) netip.AddrPort { return from("127.0.0.1", i) })
	if four != 4 || six != 4 || own != 10 || l.Places().Crowded != 12 {
		t.Errorf("%d, %d and %d; %+v", four, six, own, l.Places())
	}
}

// TestLapse: a session ends when nobody has proved themselves on it in time, and one that is kept
// does not, until it is not kept any more.
func TestLapse(t *testing.T) {
	h := New(Options{Max: 100, Sessions: 100, Idle: 400 * time.Millisecond})
	defer h.End(link.ErrClosed)
	l := h.Link()
	const guard = 60 * time.Millisecond
	l.Guard(guard)
	_, silent := sit(h, from("203.0.113.5", 1))
	kept, player := sit(h, from("203.0.113.5", 2))
	end := make(chan struct{})
	for _, p := range []*pipe{silent, player} { // both talk all the time
		go func() {
			for {
				select {
				case p.in <- []byte("x"):
					l.Keep(kept)
					l.Guard(guard)
				case <-p.done:
					return
				case <-end:
					return
				}
				time.Sleep(time.Millisecond)
			}
		}()
	}
	<-silent.done
	if c := l.Places(); c.Lapsed != 1 {
		t.Errorf("%+v", c)
	}
	close(end)
	time.Sleep(2 * guard)
	if over(player) {
		t.Error("the player lost the place while the guard was away")
	}
	for !over(player) {
		l.Guard(guard)
		time.Sleep(time.Millisecond)
	}
	if c := l.Places(); c.Lapsed != 2 {
		t.Errorf("%+v", c)
	}
}

// TestUnguarded: where nobody proves anything, as with a protocol of one's own, sessions stay, and
// it is full when it is.
func TestUnguarded(t *testing.T) {
	h := New(Options{Max: 100, Sessions: 3, Idle: time.Hour})
	defer h.End(link.ErrClosed)
	for i := range 3 {
		sit(h, from("203.0.113.5", i))
	}
	if _, p := sit(h, from("203.0.113.6", 1)); p != nil || h.Link().Places().Full != 1 {
		t.Errorf("%+v", h.Link().Places())
	}
}

// TestPlaceGivenAway: a place that was given to someone else while its session was being set up
// does not become one.
func TestPlaceGivenAway(t *testing.T) {
	h := New(Options{Max: 100, Sessions: 1, Idle: time.Hour})
	defer h.End(link.ErrClosed)
	h.Link().Guard(time.Hour)
	ended := 0
	first := h.Enter(from("203.0.113.5", 1), func() { ended++ })
	if h.Enter(from("203.0.113.6", 1), nil) == nil || ended != 1 {
		t.Fatal("the first has not given way")
	}
	p := newPipe()
	if _, going := first.Start(p); going != nil || !over(p) {
		t.Error("it has begun all the same")
	}
	first.Leave()
	if h.Link().Places().Taken != 1 {
		t.Errorf("%+v", h.Link().Places())
	}
}
