package server

import "github.com/coeval-dev/coeval/topology/wire"

// This file is how many newcomers the server takes in at once. When another server dies all of its
// players may come within a second, and whoever plays here should not notice. So what newcomers
// make a tick do is bounded, whatever they send and however many workers there are: each step of
// letting one in has a price, about the microseconds that it takes, and a tick spends so much. Who
// comes when it is spent waits in turn.

// What the steps of letting someone in cost.
const (
	priceExchange = 85  // an agreement on a secret, and the connection
	priceAdmit    = 25  // the connection alone, where another goroutine computes the agreement
	priceHello    = 20  // a seat
	priceReady    = 100 // a player in the world, and the first snapshot

	// doorTick is what a tick spends. The last step that begins may cost more than is left; that
	// is missing in the next tick. The dearest is an Exchange of six clients. doorKept is kept
	// for exchanges, so that those who are connected cannot keep others out.
	doorTick = 800
	doorKept = 240
)

// A door bounds what a tick does for newcomers. Each waits once, in the order in which they came.
type door struct {
	left    int     // of what this tick may spend
	waiting []*peer // whose first word, or whose word that they are ready, waits
	next    int     // the first of those that still wait
}

// wait has someone be the last. Those who went are forgotten when they are more than those who
// wait, so that a line that is never empty takes no more than it is long.
func (d *door) wait(p *peer) {
	if d.next > len(d.waiting)/2 {
		n := copy(d.waiting, d.waiting[d.next:])
		clear(d.waiting[n:])
		d.waiting, d.next = d.waiting[:n], 0
	}
	d.waiting = append(d.waiting, p)
}

// pay begins a step of someone who is connected, unless the tick has spent all it may.
func (d *door) pay(price int) bool {
	if d.left <= doorKept {
		return false
	}
	d.left -= price
	return true
}

// enter handles a word by which someone comes in, or has it wait. Who says more meanwhile does what
// no client does, unless the level has changed: then the word is about the next one, and waits in
// the place of the first.
func (s *Server) enter(p *peer, m *wire.Message) {
	price := priceReady
	if m.Kind == wire.Hello {
		price = priceHello
	}
	switch {
	case p.entering && p.word.Kind == wire.Ready && p.word.Epoch != m.Epoch:
		p.word = *m
	case p.entering:
		s.offend(p, BadControl)
	case s.door.next < len(s.door.waiting) || !s.door.pay(price):
		p.entering, p.word = true, *m
		s.door.wait(p)
		s.stats.Waited++
	default:
		s.entered(p, m)
	}
}

func (s *Server) entered(p *peer, m *wire.Message) {
	if m.Kind == wire.Hello {
		s.hello(p, m)
	} else {
		s.ready(p, m.Epoch, m.On)
	}
}

// open gives a tick what it may spend.
func (d *door) open() { d.left = min(d.left+doorTick, doorTick) }

// admit lets those in who wait, as far as what the tick may spend lasts.
func (d *door) admit(s *Server) {
	for d.next < len(d.waiting) && d.left > doorKept {
		p := d.waiting[d.next]
		m := p.word
		d.waiting[d.next] = nil
		d.next++
		p.entering, p.word = false, wire.Message{}
		switch {
		case m.Kind == wire.Hello && p.state == greeting && d.pay(priceHello),
			m.Kind == wire.Ready && p.state == loading && m.Epoch == p.epoch && d.pay(priceReady):
			s.entered(p, &m)
		}
	}
	if d.next == len(d.waiting) {
		d.waiting, d.next = d.waiting[:0], 0
		if cap(d.waiting) > 64 {
			d.waiting = nil
		}
	}
}
