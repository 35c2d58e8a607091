package timeline

import (
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// A Notice is what became known of an event. Each event of the leading world is announced as
// Provisional once, and later either Confirmed or Retracted, once. What is Confirmed is what
// happened in the settled world, each event of it exactly once.
type Notice struct {
	What  What
	Event world.Emitted // its name is the same in all notices about it
	// Image holds the event's fields, as Game.Events describes them. Those of a weak event may
	// differ a little when it is confirmed.
	Image []int32
}

// What says what a Notice is about.
type What uint8

const (
	// Provisional: it happened in the leading world. Show it, and do not count on it.
	Provisional What = iota
	// Confirmed: it happened.
	Confirmed
	// Retracted: it did not happen after all.
	Retracted
)

func (w What) String() string {
	return named(int(w), "notice", "provisional", "confirmed", "retracted")
}

// notices collects what one Advance has to tell, in memory that is used again.
type notices struct {
	list []Notice
	data []int32

	announced, retracted int // since the start
}

func (n *notices) reset() { n.list, n.data = n.list[:0], n.data[:0] }

func (n *notices) add(what What, e world.Emitted, image []int32) {
	switch what {
	case Provisional:
		n.announced++
	case Retracted:
		n.retracted++
	}
	at := len(n.data)
	// where this moves to new memory, earlier notices keep the old
	n.data = append(n.data, image...)
	n.list = append(n.list, Notice{what, e, n.data[at:len(n.data):len(n.data)]})
}

// announce tells how what the leading world does at a tick differs from what was announced of it
// before, which may be nothing.
func (o *watcher) announce(n *notices, before, now *Outcome) {
	o.match(before, now, func(b, e *happening) {
		switch {
		case e == nil:
			n.add(Retracted, b.Emitted, before.image(*b))
		case b == nil:
			n.add(Provisional, e.Emitted, now.image(*e))
		}
	})
}

// confirm tells what of that which was announced did happen.
func (o *watcher) confirm(n *notices, announced, settled *Outcome) {
	o.match(announced, settled, func(a, s *happening) {
		if s == nil {
			n.add(Retracted, a.Emitted, announced.image(*a))
			return
		}
		if a == nil {
			a = s
			n.add(Provisional, s.Emitted, settled.image(*s))
		}
		n.add(Confirmed, a.Emitted, settled.image(*s))
	})
}

// match pairs the events of two outcomes: strict ones that are the same, weak ones that have the
// same name and are about the same. What has no partner is told with nil in place of it. The first
// outcome may be nil.
func (o *watcher) match(a, b *Outcome, tell func(a, b *happening)) {
	if a == nil {
		a = &o.nothing
	}
	o.used = slices.Grow(o.used[:0], len(b.events))[:len(b.events)]
	clear(o.used)
	next := 0 // mostly they are in the same order
	for i, x := range a.events {
		found := -1
		for k := range b.events {
			j := (next + k) % len(b.events)
			if o.used[j] {
				continue
			}
			y := b.events[j]
			if o.game.Events()[x.Kind].Weak() && x.Emitted == y.Emitted || sameEvent(a, b, x, y) {
				found = j
				break
			}
		}
		if found < 0 {
			tell(&a.events[i], nil)
			continue
		}
		o.used[found] = true
		next = found + 1
		tell(&a.events[i], &b.events[found])
	}
	for j := range b.events {
		if !o.used[j] {
			tell(nil, &b.events[j])
		}
	}
}
