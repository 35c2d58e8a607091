package server

import (
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/mem"
	"github.com/coeval-dev/coeval/topology/client"
)

// endless is a link at which more waits than can ever be taken.
type endless struct {
	link.Link
	data  []byte
	taken int
}

func (l *endless) Receive(batch []link.Datagram) (int, error) {
	for i := range batch {
		l.taken++
		batch[i] = link.Datagram{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{
			198, byte(l.taken >> 16), byte(l.taken >> 8), byte(l.taken)}), 9), Data: l.data}
	}
	return len(batch), nil
}

func (l *endless) Send(batch []link.Datagram) (int, error) { return len(batch), nil }
func (l *endless) MaxDatagram() int                        { return 1200 }
func (l *endless) Close() error                            { return nil }

// TestEndlessFlood: a link that never runs dry does not hold up a tick, and whoever comes by
// another link plays as if there were no flood.
func TestEndlessFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("it is slow, and nothing in it runs at once that does not elsewhere")
	}
	hub := mem.NewHub(mem.Options{})
	inside, err := hub.Open(netip.AddrPort{})
	must(t, err)
	own, err := hub.Open(netip.AddrPort{})
	must(t, err)
	flood := &endless{data: make([]byte, 64)}
	flood.data[0] = 0x80
	s, err := New(Options{Title: yardTitle(20, 100, 100), Workers: 1,
		Links: []link.Link{flood, inside}})
	must(t, err)
	defer s.Close()
	tok, err := s.Token(7, nil, time.Hour)
	must(t, err)
	c, err := client.New(client.Options{Title: yardTitle(20, 100, 100), Link: own, Token: tok,
		Servers: []netip.AddrPort{inside.LocalAddr()}})
	must(t, err)
	defer c.Close()
	now, playing := time.Duration(0), 0
	for range 120 {
		now += yard.TickLength()
		before := flood.taken
		must(t, s.Tick(now))
		if n := flood.taken - before; n > mostAtOnce+2*mostOfEach {
			t.Fatalf("a tick took in %d datagrams", n)
		}
		if c.Frame(now, nil).World != nil {
			playing++
		}
	}
	if playing < 90 {
		t.Errorf("the player saw the world in %d of 120 frames", playing)
	}
	if st := s.Stats(); st.Bounded < 120 || st.Ticks != 120 {
		t.Errorf("bounded %d times in %d ticks", st.Bounded, st.Ticks)
	}
}

// TestFloodSeenAndOver: what clients send is no flood, more is one, and it passes.
func TestFloodSeenAndOver(t *testing.T) {
	flood := &endless{data: []byte{1}}
	s, err := New(Options{Title: yardTitle(20, 100, 100), Workers: 1, Links: []link.Link{flood}})
	must(t, err)
	defer s.Close()
	must(t, s.Tick(yard.TickLength()))
	if s.hurry() != floodPoll {
		t.Error("a flood was not seen")
	}
	for _, x := range []struct {
		taken int
		in    time.Duration
		flood bool
	}{
		{1, time.Millisecond, false}, {19, time.Millisecond, false}, {200, time.Millisecond, true},
		{300, yard.TickLength(), false}, {3000, yard.TickLength(), true},
	} {
		if s.flood(x.taken, x.in) != x.flood {
			t.Errorf("%d in %v: flood is %v", x.taken, x.in, !x.flood)
		}
	}
}
