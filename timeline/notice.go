package timeline

import (
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// A Notice is what became known of an event. Each event of the leading world is announced as Provisional once, and later either Confirmed or Retracted, once. What
// is Confirmed is what happened in the settled world, each event of it exactly once.
type Notice struct {
	What  What
	Event world.Emitted // its name is the same in all notices about it
	// Image holds the event's fields, as Game.Events describes them. Those of a weak event may differ a little when it is confirmed.
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
	switch w {
	case Provisional:
		return "provisional"
	case Confirmed:
		return "confirmed"
	case Retracted:
		return "retracted"
	}
	return fmt.Sprintf("notice %d", uint8(w))
}

// notices collects what one Advance has to tell, in memory that is used again.
type notices struct {
	list []Notice
	data []int32
}

func (n *notices) reset() { n.list, n.data = n.list[:0], n.data[:0] }

func (n *notices) add(what What, e world.Emitted, image []int32) {
	at := len(n.data)
	n.data = append(n.data, image...) // where this moves to new memory, earlier notices keep the old
	n.list = append(n.list, Notice{what, e, n.data[at:len(n.data):len(n.data)]})
}

// announce tells how what the leading world does at a tick differs from what was announced of it before, which may be nothing.
func (o *watcher) announce(n *notices, before, now *Outcome) {
	if before == nil {
		for _, e := range now.events {
			n.add(Provisional, e.Emitted, now.image(e))
		}
		return
	}
	o.match(before, now, func(b, e int) {
		switch {
		case e < 0:
			n.add(Retracted, before.events[b].Emitted, before.image(before.events[b]))
		case b < 0:
			n.add(Provisional, now.events[e].Emitted, now.image(now.events[e]))
		}
	})
}

// confirm tells what of that which was announced did happen.
func (o *watcher) confirm(n *notices, announced, settled *Outcome) {
	if announced == nil {
		for _, e := range settled.events {
			n.add(Provisional, e.Emitted, settled.image(e))
			n.add(Confirmed, e.Emitted, settled.image(e))
		}
		return
	}
	o.match(announced, settled, func(a, s int) {
		switch {
		case s < 0:
			n.add(Retracted, announced.events[a].Emitted, announced.image(announced.events[a]))
		case a < 0:
			n.add(Provisional, settled.events[s].Emitted, settled.image(settled.events[s]))
			n.add(Confirmed, settled.events[s].Emitted, settled.image(settled.events[s]))
		default:
			n.add(Confirmed, announced.events[a].Emitted, settled.image(settled.events[s]))
		}
	})
}

// match pairs the events of two outcomes: strict ones that are the same, weak ones that have the same name and are about the same. What has no partner is told
// with -1 in place of it.
func (o *watcher) match(a, b *Outcome, tell func(a, b int)) {
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
		if found >= 0 {
			o.used[found] = true
			next = found + 1
		}
		tell(i, found)
	}
	for j := range b.events {
		if !o.used[j] {
			tell(-1, j)
		}
	}
}
