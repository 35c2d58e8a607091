package conn

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// TestQuality compares what a connection says of itself with what the network was
// told to do.
func TestQuality(t *testing.T) {
	simtest.Run(t, seeds(10), func(n *netsim.Net) error {
		up := netsim.Profile{Latency: 40 * time.Millisecond, Loss: 0.05}
		down := netsim.Profile{Latency: 40 * time.Millisecond, Loss: 0.20}
		n.Use(netsim.Conditions{Up: up, Down: down})
		p := newPair(t, n, pairOptions{})
		const ahead = 1234 * time.Second
		p.sp.clock = func() time.Duration { return n.Now() + ahead }
		if err := p.tryConnect(); err != nil {
			return err
		}
		p.cp.step = func() { _ = p.client.Conn().Send(0, make([]byte, 30)) }
		p.sp.step = func() { _ = p.sc.Send(0, make([]byte, 30)) }
		n.Run(30 * time.Second)
		c, s := p.client.Conn().Quality(), p.sc.Quality()
		near := func(what string, got, want, within float64) error {
			if got < want-within || got > want+within {
				return fmt.Errorf("%s is %v, want %v", what, got, want)
			}
			return nil
		}
		// Both ends look only at their ticks, which adds up to two of them to a round trip.
		for _, err := range []error{
			near("client's round trip", c.RoundTrip.Seconds(), 0.097, 0.018),
			near("server's round trip", s.RoundTrip.Seconds(), 0.097, 0.018),
			near("client's loss out", c.LossOut, 0.05, 0.06),
			near("client's loss in", c.LossIn, 0.20, 0.12),
			near("server's loss out", s.LossOut, 0.20, 0.12),
			near("server's loss in", s.LossIn, 0.05, 0.06),
			near("client's clock offset", (c.Offset - ahead).Seconds(), 0, 0.018),
			near("server's clock offset", (s.Offset + ahead).Seconds(), 0, 0.018),
		} {
			if err != nil {
				return err
			}
		}
		if off := c.Offset - ahead; off > c.OffsetError || -off > c.OffsetError {
			return fmt.Errorf("the offset is %v out, and said to be no more than %v", off,
				c.OffsetError)
		}
		if c.Jitter > 10*time.Millisecond {
			return fmt.Errorf("jitter %v on a path without", c.Jitter)
		}
		return nil
	})
}

// TestJitterIsSeen: a path with jitter shows it.
func TestJitterIsSeen(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 1})
	path := netsim.Profile{
		Latency: 30 * time.Millisecond, Jitter: netsim.Jitter{
			Shape: netsim.Uniform, Amount: 60 * time.Millisecond}}
	n.Use(netsim.Both(path))
	p := newPair(t, n, pairOptions{})
	p.connect(t)
	p.cp.step = func() { _ = p.client.Conn().Send(0, make([]byte, 30)) }
	p.sp.step = func() { _ = p.sc.Send(0, make([]byte, 30)) }
	n.Run(20 * time.Second)
	if j := p.sc.Quality().Jitter; j < 5*time.Millisecond || j > 60*time.Millisecond {
		t.Errorf("jitter %v", j)
	}
}

// TestSilence: without traffic a connection stays up on keep-alives alone, a few
// packets a second, and ends when the other side is gone.
func TestSilence(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 1, Conditions: netsim.Cable})
	p := newPair(t, n, pairOptions{})
	p.connect(t)
	n.Run(5 * time.Second)
	before := p.server.Ledger()
	n.Run(60 * time.Second)
	after := p.server.Ledger()
	if sent := after.Packets - before.Packets; sent < 50 || sent > 130 {
		t.Errorf("%d packets in a minute of silence", sent)
	}
	for _, c := range []*Conn{p.sc, p.client.Conn()} {
		if q := c.Quality(); q.LossOut > 0.02 || q.LossIn > 0.02 ||
			q.RoundTrip > 80*time.Millisecond {
			t.Errorf("after a minute of silence: %+v", q)
		}
	}
	n.Cut(p.sp.ep, p.cp.ep)
	n.Run(15 * time.Second)
	for _, events := range [][]Event{p.serverEvents, p.clientEvents} {
		if last := events[len(events)-1]; last.Kind != Disconnected ||
			last.Reason != ReasonTimeout {
			t.Errorf("the last event is %+v", last)
		}
	}
	n.Run(5 * time.Second)
	if !p.server.Done() || !p.client.Done() {
		t.Error("not done")
	}
}

// TestDeadline: a driver that sleeps until Deadline and otherwise wakes only for
// datagrams keeps a connection going.
func TestDeadline(t *testing.T) {
	h := newHall(t, 1)
	c := h.clients[0]
	wakes := 0
	for start := h.now; h.now < start+30*time.Second; wakes++ {
		next := min(c.Deadline(), h.server.Deadline())
		if next <= h.now {
			next = h.now + time.Millisecond
		}
		h.now = next
		h.send()
		h.serve(nil)
		h.fetch()
		h.now -= tick // fetch lets a tick pass
	}
	if h.server.Len() != 1 || !c.Conn().Open() {
		t.Error("the connection was lost")
	}
	if wakes > 400 {
		t.Errorf("%d wakes in 30 s of silence", wakes)
	}
}

// TestRoundTripWithoutWaiting: how long the peer sits on a packet is no part of the
// round trip.
func TestRoundTripWithoutWaiting(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 1})
	n.Use(netsim.Both(netsim.Profile{Latency: 40 * time.Millisecond}))
	p := newPair(t, n, pairOptions{server: func(o *ServerOptions) { o.SendRate = 10 }})
	p.connect(t)
	p.cp.step = func() { _ = p.client.Conn().Send(0, make([]byte, 30)) }
	p.sp.step = func() { _ = p.sc.Send(0, make([]byte, 30)) }
	// Acknowledgements wait for up to a tenth of a second, but the newest packet that
	// each acknowledges is fresh; so look at one that is not.
	n.Run(5 * time.Second)
	p.cp.step = nil
	for range 20 {
		n.Run(330 * time.Millisecond)
		_ = p.client.Conn().Send(0, make([]byte, 30))
	}
	if trip := p.client.Conn().Quality().RoundTrip; trip < 80*time.Millisecond ||
		trip > 117*time.Millisecond {
		t.Errorf("round trip %v, want about 97 ms", trip)
	}
}

// TestCloseIsHeard: the news of a close gets through a bad network, and is no timeout.
func TestCloseIsHeard(t *testing.T) {
	simtest.Run(t, seeds(60), func(n *netsim.Net) error {
		n.Use(hostile)
		p := newPair(t, n, pairOptions{})
		if err := p.tryConnect(); err != nil {
			return err
		}
		n.Run(time.Second)
		p.sc.Close(ReasonGame+1, "map over")
		n.Run(closeLinger + time.Second)
		last := p.clientEvents[len(p.clientEvents)-1]
		if last.Kind != Disconnected || last.Reason != ReasonGame+1 ||
			string(last.Data) != "map over" {
			return fmt.Errorf("the client's last event is %v %v", last.Kind, last.Reason)
		}
		n.Run(closeLinger)
		if !p.client.Done() || !p.server.Done() {
			return fmt.Errorf("not done")
		}
		return nil
	})
}

// slowly is a client that looks at its link in every sixth tick only, as a page with few frames
// does. Its link knows how long datagrams have waited.
type slowly struct {
	*Client
	inbox []link.Datagram
	at    []time.Duration
	ticks int
}

func (s *slowly) Receive(now time.Duration, batch []link.Datagram) {
	for _, d := range batch {
		s.inbox = append(s.inbox, link.Datagram{Addr: d.Addr, Data: bytes.Clone(d.Data)})
		s.at = append(s.at, now)
	}
	if s.ticks++; s.ticks%6 != 0 {
		return
	}
	for i := range s.inbox {
		s.inbox[i].Waited = now - s.at[i]
	}
	s.Client.Receive(now, s.inbox)
	s.inbox, s.at = s.inbox[:0], s.at[:0]
}

func (s *slowly) Flush(now time.Duration, out []link.Datagram) []link.Datagram {
	if s.ticks%6 != 0 {
		return out
	}
	return s.Client.Flush(now, out)
}

// TestFramesAreNoRoundTrip: how seldom a client looks is no part of the round trip, at either end.
func TestFramesAreNoRoundTrip(t *testing.T) {
	simtest.Run(t, seeds(3), func(n *netsim.Net) error {
		way := netsim.Profile{Latency: 55 * time.Millisecond}
		n.Use(netsim.Conditions{Up: way, Down: way})
		p := newPair(t, n, pairOptions{})
		p.cp.machine = &slowly{Client: p.client}
		if err := p.tryConnect(); err != nil {
			return err
		}
		p.cp.step = func() { _ = p.client.Conn().Send(0, make([]byte, 30)) }
		p.sp.step = func() { _ = p.sc.Send(0, make([]byte, 30)) }
		n.Run(20 * time.Second)
		// Both ends of this network look only at their ticks, which adds up to two of them.
		for _, got := range []time.Duration{
			p.client.Conn().Quality().RoundTrip, p.sc.Quality().RoundTrip,
		} {
			if got < 110*time.Millisecond || got > 110*time.Millisecond+2*tick {
				return fmt.Errorf("a round trip of 110 ms is said to be %v", got)
			}
		}
		return nil
	})
}
