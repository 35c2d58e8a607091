package conn

import (
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
)

// TestRenewal: keys are renewed again and again while both ends talk, over paths that lose, double
// and reorder. Nothing is dropped for it but what the path takes: every message that arrives opens,
// none comes twice or is missing where it is reliable, and both ends go through the same
// generations.
func TestRenewal(t *testing.T) {
	conditions := []netsim.Conditions{netsim.Perfect, netsim.WiFi, netsim.Awful}
	for _, c := range conditions {
		t.Run(c.Name, func(t *testing.T) {
			for seed := range uint64(seeds(2)) {
				renewing(t, seed+1, c)
			}
		})
	}
}

func renewing(t *testing.T, seed uint64, c netsim.Conditions) {
	n := netsim.New(netsim.Options{Seed: seed, Conditions: c})
	p := newPair(t, n, pairOptions{
		server: func(o *ServerOptions) { o.renewAfter = 200 },
		client: func(o *ClientOptions) { o.renewAfter = 330 },
	})
	p.connect(t)
	var sent [2]int // reliable messages, by client and server
	var next [2]int
	var last, gap [2]time.Duration
	for i := range last {
		last[i] = n.Now()
	}
	on := func(who int) func(e *Event) {
		return func(e *Event) {
			if e.Kind != Message || e.Channel != 2 {
				return
			}
			if want := fmt.Sprint(next[who]); string(e.Data) != want {
				t.Fatalf("seed %d: message %s where %s was due", seed, e.Data, want)
			}
			next[who]++
			gap[who] = max(gap[who], n.Now()-last[who])
			last[who] = n.Now()
		}
	}
	p.onServer, p.onClient = on(0), on(1)
	say := func(who int, c *Conn) {
		_ = c.Send(0, []byte("unreliable"))
		if c.Send(2, fmt.Append(nil, sent[who])) == nil {
			sent[who]++
		}
	}
	p.cp.step = func() { say(0, p.client.Conn()) }
	p.sp.step = func() { say(1, p.sc) }
	n.Run(30 * time.Second)
	p.cp.step, p.sp.step = nil, nil
	n.Run(5 * time.Second)
	if next != sent || sent[0] < 1700 {
		t.Fatalf("seed %d: %v messages of %v came", seed, next, sent)
	}
	s, k := p.server.Stats(), p.client.Stats()
	damaged := c.Name == "awful" // where packets come damaged, and hang about for long
	if !damaged && (s.Forged != 0 || k.Forged != 0) {
		t.Errorf("seed %d: %d and %d packets did not open", seed, s.Forged, k.Forged)
	}
	if s.Renewals < 6 || s.Renewals != k.Renewals ||
		p.sc.renewal.chain != p.client.conn.renewal.chain {
		t.Errorf("seed %d: %d and %d renewals", seed, s.Renewals, k.Renewals)
	}
	if c.Name == "perfect" && (gap[0] > 3*tick || gap[1] > 3*tick) {
		t.Errorf("seed %d: pauses of %v", seed, gap)
	}
}

// renewed is a client and a server of which the client is about to renew, in memory.
func renewed(t *testing.T) (h *hall, c, s *Conn) {
	t.Helper()
	h = newHall(t, 1)
	for range 150 { // longer than between two renewals
		h.send()
		h.serve(nil)
		h.fetch()
	}
	return h, h.clients[0].Conn(), h.server.Find(0)
}

// sendOne makes the client send one packet, and returns it.
func (h *hall) sendOne(t *testing.T) link.Datagram {
	t.Helper()
	if err := h.clients[0].Conn().Send(0, []byte("x")); err != nil {
		t.Fatal(err)
	}
	h.send()
	if len(h.in) != 1 {
		t.Fatalf("%d packets", len(h.in))
	}
	d := h.in[0]
	d.Data = append([]byte(nil), d.Data...)
	return d
}

// TestRenewalOutOfOrder: packets of the old keys that come after the first of the new ones are
// taken for a while, and not longer.
func TestRenewalOutOfOrder(t *testing.T) {
	h, c, s := renewed(t)
	early, late := h.sendOne(t), h.sendOne(t)
	c.renewFrom = c.sent.next + 1
	last, fresh := h.sendOne(t), h.sendOne(t)
	if last.Data[0]&keyPhase != 0 || fresh.Data[0]&keyPhase == 0 {
		t.Fatal("not renewed where it should be")
	}
	give := func(d link.Datagram) uint64 {
		was := s.book.ReceivedPackets
		d.Data = append([]byte(nil), d.Data...)
		h.server.Receive(h.now, []link.Datagram{d})
		h.server.Events()
		return s.book.ReceivedPackets - was
	}
	if give(fresh) != 1 || give(last) != 1 || give(early) != 1 || give(early) != 0 {
		t.Error("packets of both keys are not taken once each")
	}
	for range 10 {
		h.now += 400 * time.Millisecond
		h.server.Receive(h.now, nil)
	}
	if give(late) != 0 || h.server.Stats().Forged == 0 {
		t.Error("the old keys still open packets after 4 s")
	}
	if s.phaseBit != keyPhase || s.renewal.ahead {
		t.Error("the server has not followed")
	}
}

// TestRenewalIsPaced: a client that renews with each packet makes the server compute keys no more
// than once a second, and loses nothing but its own packets.
func TestRenewalIsPaced(t *testing.T) {
	h, c, _ := renewed(t)
	began := h.now
	for range 600 {
		c.lastHeard, c.lastAck = h.now, h.now
		c.makeNext()
		c.sealNext()
		c.renewal = renewal{chain: c.renewal.chain.next(), at: c.renewal.at}
		h.in = append(h.in[:0], h.sendOne(t))
		h.serve(nil)
		h.now += tick
	}
	most := uint64((h.now-began)/renewGap) + 1
	if n := h.server.Stats().Renewals; n > most {
		t.Errorf("%d renewals in %v", n, h.now-began)
	}
	if h.server.Stats().Forged < 500 {
		t.Errorf("%+v", h.server.Stats())
	}
}

// TestPeerThatNeverRenews: an end whose peer does not follow goes on for as many packets again, and
// ends the connection before it would seal more with one key than it may.
func TestPeerThatNeverRenews(t *testing.T) {
	h, c, _ := renewed(t)
	h.clients[0].opt.renewAfter = 100
	c.renewFrom = c.sent.next
	from := c.sent.next
	for range 400 {
		if !c.Open() {
			break
		}
		_ = c.Send(0, []byte("x"))
		h.send() // and it is lost
		// Others still come, or it would be silence that ends it.
		c.lastHeard, c.lastAck = h.now, h.now
		h.now += tick
	}
	if e := h.clients[0].Events(); c.Open() || len(e) != 1 || e[0].Reason != ReasonWornOut {
		t.Fatalf("open %v, %+v", c.Open(), e)
	}
	if n := c.sent.next - from; n < 200 || n > 210 {
		t.Errorf("ended after %d packets", n)
	}
}

// TestNumbersRunOut: a connection ends in good order before its packets' numbers do.
func TestNumbersRunOut(t *testing.T) {
	h, c, _ := renewed(t)
	c.sent.next = maxNumber - 3
	c.sent.forgetAll()
	c.renewFrom = c.sent.next
	for range 10 {
		_ = c.Send(0, []byte("x"))
		h.send()
		h.now += tick
	}
	if e := h.clients[0].Events(); c.Open() || len(e) != 1 || e[0].Reason != ReasonWornOut {
		t.Fatalf("open %v, %+v", c.Open(), e)
	}
}
