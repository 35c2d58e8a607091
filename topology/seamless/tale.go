package seamless

import (
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// tale is what a gateway has heard of events. What a zone tells is provisional until its journal
// has the tick; what a zone's new owner does not tell again, of what its last had told, is taken
// back by name.
type tale struct {
	pending []heardEvent // neither confirmed nor retracted, in the order in which they came
	waiting []heardEvent // of ticks to which the world has not come
	names   map[world.Emitted]world.Tick
	out     []replica.Happening
	settled world.Tick
}

// heardEvent is an event of a zone.
type heardEvent struct {
	view  *gateView
	event world.Emitted
	image []int32
	// questioned says that the zone has another owner since, which has not told it.
	questioned bool
	// old says that it had happened for good when it was told.
	old bool
}

// keepNames is for how many ticks the names of events are kept, so that what is told twice is heard
// once.
const keepNames = 600

func (t *tale) open() { t.names = map[world.Emitted]world.Tick{} }

// take hears an event.
func (t *tale) take(g *Gate, v *gateView, data []byte) {
	e, image, ok := readEvent(g.w.Game(), data)
	if !ok {
		g.stats.Strange++
		return
	}
	if _, known := t.names[e]; known {
		for i := range t.pending {
			if o := &t.pending[i]; o.event == e {
				o.questioned = false
			}
		}
		return
	}
	t.names[e] = max(g.w.Tick(), e.Tick)
	t.waiting = append(t.waiting, heardEvent{view: v, event: e, image: image,
		old: e.Tick <= v.durable})
}

// question doubts what a zone has told that is not durable: it has another owner.
func (t *tale) question(v *gateView) {
	for _, list := range [2][]heardEvent{t.pending, t.waiting} {
		for i := range list {
			if list[i].view == v {
				list[i].questioned = true
			}
		}
	}
}

// told says that a zone has told all events up to a tick, but for those that wait for room.
func (t *tale) told(v *gateView, tick world.Tick) {
	for _, list := range [2][]heardEvent{t.pending, t.waiting} {
		for i := range list {
			if x := &list[i]; x.view == v && x.questioned && x.event.Tick+keepTold/2 < tick {
				x.image = nil // it did not happen
			}
		}
	}
}

// publish says what became known by the time that the world is at a tick.
func (g *Gate) publish(now world.Tick) {
	t := &g.tale
	kept := t.waiting[:0]
	for _, x := range t.waiting {
		switch {
		case x.image == nil:
		case x.event.Tick > now:
			kept = append(kept, x)
		case x.old:
			g.happened(replica.Confirmed, &x)
		default:
			g.happened(replica.Provisional, &x)
			g.stats.Provisional++
			t.pending = append(t.pending, x)
		}
	}
	clear(t.waiting[len(kept):])
	t.waiting = kept
	open := t.pending[:0]
	for _, x := range t.pending {
		switch {
		case x.image == nil:
			g.happened(replica.Retracted, &x)
			g.stats.Retracted++
			delete(t.names, x.event)
		case !x.questioned && x.event.Tick <= x.view.durable:
			g.happened(replica.Confirmed, &x)
			g.stats.Confirmed++
		default:
			open = append(open, x)
		}
	}
	clear(t.pending[len(open):])
	t.pending = open
	t.settle(g)
	if now%keepNames == 0 {
		for e, at := range t.names {
			if at+keepNames < now {
				delete(t.names, e)
			}
		}
	}
}

func (g *Gate) happened(what replica.Standing, x *heardEvent) {
	g.tale.out = append(g.tale.out, replica.Happening{What: what, Event: x.event, Image: x.image})
}

// settle finds the tick up to which everything is certain that has been told.
func (t *tale) settle(g *Gate) {
	to := g.w.Tick()
	for _, v := range g.sight.views {
		if v.shows() {
			to = min(to, v.durable)
		}
	}
	for i := range t.pending {
		if e := &t.pending[i]; e.event.Tick > 0 {
			to = min(to, e.event.Tick-1)
		}
	}
	t.settled = max(t.settled, to)
}
