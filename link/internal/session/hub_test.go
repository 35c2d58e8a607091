package session

import (
	"errors"
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pipe is a session whose other end is the test. A write waits until the test
// takes it, as on a network that has stalled.
type pipe struct {
	in, out chan []byte
	done    chan struct{}
	once    sync.Once
	max     int
}

var home = netip.MustParseAddrPort("192.0.2.1:5")

func newPipe() *pipe {
	return &pipe{in: make(chan []byte), out: make(chan []byte), done: make(chan struct{}), max: 100}
}

func (p *pipe) Read(buf []byte) (int, error) {
	select {
	case b := <-p.in:
		if len(b) > len(buf) {
			return 0, ErrBad
		}
		return copy(buf, b), nil
	case <-p.done:
		return 0, errors.New("over")
	}
}

func (p *pipe) Write(b []byte) error {
	if string(b) == "lose me" {
		return ErrLost
	}
	select {
	case p.out <- append([]byte(nil), b...):
		return nil
	case <-p.done:
		return errors.New("over")
	}
}

func (p *pipe) Close()                 { p.once.Do(func() { close(p.done) }) }
func (p *pipe) Max() int               { return p.max }
func (p *pipe) Remote() netip.AddrPort { return netip.MustParseAddrPort("192.0.2.1:5") }

func newHub(holdBack bool) *Hub {
	return New(Options{Carrier: link.WebSocket, Max: 100, Queue: 16, PeerQueue: 4, Sessions: 2,
		Idle: time.Hour, HoldBack: holdBack})
}

func start(t *testing.T, h *Hub, p *pipe) netip.AddrPort {
	t.Helper()
	place := h.Enter(p.Remote(), nil)
	if place == nil {
		t.Fatal("no room")
	}
	addr, ended := place.Start(p)
	if ended == nil {
		t.Fatal("closed")
	}
	return addr
}

// TestStalledPeer: a peer that takes nothing fills its own queue and no other,
// and Close does not wait for it for ever.
func TestStalledPeer(t *testing.T) {
	h := newHub(false)
	slow, quick := newPipe(), newPipe()
	a, b := start(t, h, slow), start(t, h, quick)
	l := h.Link()
	taken := 0
	for {
		n, err := l.Send([]link.Datagram{{Addr: a, Data: []byte("x")}})
		taken += n
		if errors.Is(err, link.ErrFull) {
			break
		}
		if taken > 100 {
			t.Fatal("takes without end")
		}
	}
	if n, err := l.Send([]link.Datagram{{Addr: b, Data: []byte("y")}}); n != 1 || err != nil {
		t.Errorf("the other: %d, %v", n, err)
	}
	if got := <-quick.out; string(got) != "y" {
		t.Errorf("the other got %q", got)
	}
	h.End(link.ErrClosed)
	c := l.Counters()
	if int(c.Sent) != taken+1 || int(c.DroppedOut) != taken {
		t.Errorf("took %d, counts %+v", taken, c)
	}
	if h.Enter(home, nil) != nil {
		t.Error("a closed hub has room")
	}
}

// TestEndFlushes: what was taken before the end still goes out to peers that
// take it.
func TestEndFlushes(t *testing.T) {
	h := newHub(false)
	p := newPipe()
	addr := start(t, h, p)
	h.Link().Send([]link.Datagram{{Addr: addr, Data: []byte("1")},
		{Addr: addr, Data: []byte("lose me")}, {Addr: addr, Data: []byte("2")}})
	var got []string
	var g sync.WaitGroup
	g.Go(func() {
		for len(got) < 2 {
			select {
			case b := <-p.out:
				got = append(got, string(b))
			case <-p.done:
				return
			}
		}
	})
	h.End(link.ErrClosed)
	g.Wait()
	if len(got) != 2 || got[1] != "2" {
		t.Errorf("got %q", got)
	}
	if c := h.Link().Counters(); c.DroppedOut != 1 || c.Sent != 3 {
		t.Errorf("counts %+v", c)
	}
}

// TestHoldBackOrDrop: beyond its share, a sender is made to wait or loses.
func TestHoldBackOrDrop(t *testing.T) {
	for _, holdBack := range []bool{true, false} {
		h := newHub(holdBack)
		p := newPipe()
		start(t, h, p)
		l := h.Link()
		var g sync.WaitGroup
		g.Go(func() {
			for range 10 {
				p.in <- []byte("x")
			}
			p.in <- make([]byte, 101) // too large, and skipped
			p.in <- []byte("last")
		})
		if !holdBack {
			for l.Counters().DroppedIn < 8 {
				runtime.Gosched()
			}
		}
		got := 0
		batch := make([]link.Datagram, 3)
		last := false
		for !last {
			n, err := l.Receive(batch)
			if err != nil {
				t.Fatal(err)
			}
			got += n
			for _, d := range batch[:n] {
				last = last || string(d.Data) == "last"
			}
			if n == 0 {
				if !holdBack && got == 4 {
					break // the last was dropped with the others
				}
				l.Wait(-1)
			}
		}
		g.Wait()
		want := link.Counters{Received: uint64(got), DroppedIn: uint64(12 - got)}
		c := l.Counters()
		c.ReceivedBytes = 0
		if holdBack && got != 11 || !holdBack && got != 4 || c != want {
			t.Errorf("hold back %v: received %d, counts %+v", holdBack, got, c)
		}
		h.End(link.ErrClosed)
	}
}

// TestSilentPeerGoes, and its place is free again.
func TestSilentPeerGoes(t *testing.T) {
	h := New(Options{Max: 100, Queue: 4, PeerQueue: 4, Sessions: 1, Idle: 4 * time.Millisecond})
	p := newPipe()
	addr, ended := h.Enter(home, nil).Start(p)
	if h.Enter(home, nil) != nil {
		t.Error("room for two")
	}
	<-ended
	if _, ok := h.Link().Remote(addr); ok {
		t.Error("still there")
	}
	again := h.Enter(home, nil)
	if again == nil {
		t.Error("its place is not free")
	}
	again.Leave()
	h.End(link.ErrClosed)
}

// TestStartAfterEnd: a session that comes too late is closed.
func TestStartAfterEnd(t *testing.T) {
	h := newHub(false)
	place := h.Enter(home, nil)
	h.End(link.ErrClosed)
	p := newPipe()
	if _, ended := place.Start(p); ended != nil {
		t.Error("started")
	}
	<-p.done
}

// TestPeerLimit: what one peer can be sent may be less than another.
func TestPeerLimit(t *testing.T) {
	h := newHub(false)
	p := newPipe()
	p.max = 50
	addr := start(t, h, p)
	l := h.Link()
	if l.MaxDatagram() != 100 || l.MaxDatagramTo(addr) != 50 {
		t.Errorf("%d and %d", l.MaxDatagram(), l.MaxDatagramTo(addr))
	}
	if _, err := l.Send([]link.Datagram{{Addr: addr, Data: make([]byte, 51)}}); !errors.Is(err,
		link.ErrTooLarge) {
		t.Errorf("%v", err)
	}
	l.Disconnect(addr)
	if l.Sessions() != 0 {
		t.Error("still there")
	}
	h.End(link.ErrClosed)
}
