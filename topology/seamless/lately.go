package seamless

import (
	"cmp"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// lately are the events of a zone's last ticks, for gateways. They are no part of what the zone is.
type lately struct {
	list  []toldEvent
	image []int32
	sync  bits.Sync
}

// toldEvent is one of them, as appendEvent has written it.
type toldEvent struct {
	tick      world.Tick
	by, about world.ID
	data      []byte
}

const (
	// keepTold is for how many ticks events are kept for feeds that are about to be opened: those
	// of a zone that has just been taken over.
	keepTold = 64
	maxTold  = 4096
)

// take notes what happened in the tick that was computed.
func (t *lately) take(w *world.World) {
	n, now := 0, w.Tick()
	for n < len(t.list) && (t.list[n].tick+keepTold < now || len(t.list)-n > maxTold) {
		n++
	}
	t.list = slices.Delete(t.list, 0, n)
	for e, v := range w.Host().Happened {
		if x, ok := t.event(w.Game(), &e, v); ok {
			x.tick = now
			t.list = append(t.list, x)
		}
	}
}

// event writes one.
func (t *lately) event(g *world.Game, e *world.Emitted, v bits.Syncer) (x toldEvent, ok bool) {
	layout := g.Events()[e.Kind].Layout()
	if n := layout.Len(); len(t.image) < n {
		t.image = make([]int32, n)
	}
	image := t.image[:layout.Len()]
	if layout.Pack(&t.sync, v, image) != nil {
		return x, false
	}
	x = toldEvent{tick: e.Tick, by: e.By, about: e.About}
	x.data = appendEvent(nil, e, image)
	return x, true
}

// saved lists the events that a zone keeps about what is its own, the oldest first.
func (t *lately) saved(b *body) (list []toldEvent) {
	for e, v := range b.w.Host().SavedHappened {
		if e.About == world.None && !b.home() || e.About != world.None && !b.owns(e.About) {
			continue
		}
		if x, ok := t.event(b.game, &e, v); ok {
			list = append(list, x)
		}
	}
	slices.SortStableFunc(list, func(a, b toldEvent) int { return cmp.Compare(a.tick, b.tick) })
	return list
}

// appendEvent writes an event's name and image.
func appendEvent(dst []byte, e *world.Emitted, image []int32) []byte {
	dst = putUint(putUint(dst, uint64(e.Kind)), uint64(e.By))
	dst = putUint(putUint(dst, uint64(e.Tick)), uint64(e.Ordinal))
	dst = putUint(dst, uint64(e.About))
	for _, v := range image {
		dst = putInt(dst, int64(v))
	}
	return dst
}

// readEvent reads one. The image is new.
func readEvent(g *world.Game, data []byte) (e world.Emitted, image []int32, ok bool) {
	r := reader{b: data}
	e.Kind = uint16(r.below(uint64(len(g.Events()))))
	e.By = world.ID(r.uint())
	e.Tick = world.Tick(r.uint())
	e.Ordinal = uint16(r.below(1 << 16))
	e.About = world.ID(r.uint())
	if r.bad {
		return e, nil, false
	}
	image = make([]int32, g.Events()[e.Kind].Layout().Len())
	for i := range image {
		v := r.int()
		if v != int64(int32(v)) {
			r.fail()
		}
		image[i] = int32(v)
	}
	return e, image, r.done()
}
