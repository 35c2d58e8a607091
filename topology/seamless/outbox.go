package seamless

import (
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// outbox is what leaves a zone after a tick, within what package zone takes of it; see the limits
// there. What has to wait is part of what the zone is.
type outbox struct {
	out    *zone.Output
	closed []zone.ID
	items  int
	bytes  int
	asked  int // how many joined or left

	errands []errand  // what zones tell each other, and entities that go back
	acts    []waiting // actions on what is elsewhere, in order
	events  []waiting // strict events that happened
	size    int       // bytes of both
	buf     []byte
	w       bits.Writer
	sync    bits.Sync
}

// waiting is an action for an entity elsewhere, or an event, as bytes.
type waiting struct {
	target world.ID
	data   []byte
}

// errand is what is told to a zone itself, or an entity that goes back to it.
type errand struct {
	to     zone.ID
	entity uint64 // control for what is told
	data   []byte
}

// What a tick puts out is less than what package zone takes, so that there is always room for what
// cannot wait: what goes back, and what zones tell each other.
const (
	maxErrands     = 900
	maxItems       = 800
	maxDepartures  = 500
	maxErrandBytes = 100 << 10
	maxBytes       = 96 << 10
	maxLeaving     = 64 << 10 // bytes of departures, if there are several
	maxAsked       = 256
	maxEvents      = 512
	maxEventBytes  = 16 << 10
	// maxWaiting bounds the bytes of what waits. Beyond it actions are given up: that takes a zone
	// that nobody steps for long.
	maxWaiting = 16 << 20
)

// begin opens the outbox for a tick.
func (o *outbox) begin(out *zone.Output, closed []zone.ID) {
	o.out, o.closed, o.items, o.bytes, o.asked = out, closed, 0, 0, 0
}

func (o *outbox) end() { o.out, o.closed = nil, nil }

// opens says whether a zone takes anything just now.
func (o *outbox) opens(to zone.ID) bool { return !slices.Contains(o.closed, to) }

// hasRoom says whether one more entity may leave in this tick.
func (o *outbox) hasRoom(size int) bool {
	return o.items < maxDepartures && (o.bytes == 0 || o.bytes+size <= maxLeaving)
}

func (o *outbox) depart(to zone.ID, entity uint64, data []byte) {
	o.items++
	o.bytes += len(data)
	o.out.Depart(to, entity, data)
}

// What zones tell each other about themselves.
const (
	controlForget  = iota // identifiers that can be given up
	controlLeft           // a player who has left
	controlIntents        // what a player commands at ticks to come, who went there
)

// tell tells something to another zone itself.
func (o *outbox) tell(to zone.ID, kind byte, data []byte) {
	o.errands = append(o.errands, errand{to, control, append([]byte{kind}, data...)})
}

// giveBack hands an entity back that came, and for which there is no room.
func (o *outbox) giveBack(to zone.ID, entity uint64, data []byte) {
	o.errands = append(o.errands, errand{to, entity, slices.Clone(data)})
}

// run puts out the errands to all who take anything, in order.
func (o *outbox) run() {
	kept := o.errands[:0]
	for _, e := range o.errands {
		full := o.items >= maxErrands || o.items > 0 && o.bytes+len(e.data) > maxErrandBytes
		switch {
		case full || !o.opens(e.to):
			kept = append(kept, e)
		case e.entity == control:
			o.items++
			o.bytes += len(e.data)
			o.out.Act(e.to, control, e.data)
		default:
			o.depart(e.to, e.entity, e.data)
		}
	}
	clear(o.errands[len(kept):])
	o.errands = kept
}

// act takes an action of another zone, or what that zone tells.
func (b *body) act(a *zone.Action) {
	r := reader{b: a.Data}
	if a.Entity == control {
		switch r.byte() {
		case controlForget:
			b.forgets(&r)
		case controlLeft:
			p := world.Player(r.below(1 << 16))
			if !r.bad {
				b.left(p)
			}
		case controlIntents: // taken before all else
		default:
			b.faults.strange++
		}
		return
	}
	x := world.Acted{Target: world.ID(a.Entity)}
	x.Hops = r.byte()
	x.Kind = uint16(r.below(1 << 16))
	x.By = world.ID(r.uint())
	x.Tick = world.Tick(r.uint())
	x.Ordinal = uint16(r.below(1 << 16))
	switch {
	case r.bad:
		b.faults.strange++
	case b.owns(x.Target):
		if b.in.Act(x, r.rest()) != nil {
			b.faults.strange++
		}
	case x.Hops > 0 && !b.keeps(x.Target):
		b.faults.nowhere++ // as it was followed on its way from where its identifier is kept
	default:
		b.out.add(&b.out.acts, x.Target, &b.faults, func(buf []byte) []byte {
			buf = append(buf, a.Data...)
			buf[0] = 1
			return buf
		})
	}
}

// keeps says whether an entity is of this zone's own allocator, and somewhere else.
func (b *body) keeps(id world.ID) bool {
	_, ok := b.went[id]
	return ok
}

// send puts out the actions on what is elsewhere, and the strict events, as far as there is room.
func (b *body) send() {
	o := &b.out
	for x, data := range b.w.Host().Outgoing {
		o.add(&o.acts, x.Target, &b.faults, func(buf []byte) []byte {
			buf = putUint(append(buf, x.Hops), uint64(x.Kind))
			buf = putUint(putUint(buf, uint64(x.By)), uint64(x.Tick))
			return append(putUint(buf, uint64(x.Ordinal)), data...)
		})
	}
	for e, v := range b.w.Host().Happened {
		if i := b.game.Events()[e.Kind]; !i.Weak() && i.Delivery() != world.Unreliable {
			data := o.event(&e, v)
			o.add(&o.events, world.None, &b.faults, func(buf []byte) []byte {
				return append(buf, data...)
			})
		}
	}
	o.run()
	b.flushActs()
	o.flushEvents()
}

// event writes an event.
func (o *outbox) event(e *world.Emitted, v bits.Syncer) []byte {
	if cap(o.buf) < zone.MaxItem {
		o.buf = make([]byte, zone.MaxItem)
	}
	o.buf = o.buf[:zone.MaxItem]
	head := append(o.buf[:0], eventGame)
	head = putUint(head, uint64(e.Kind))
	head = putUint(head, uint64(e.By))
	head = putUint(head, uint64(e.Tick))
	head = putUint(head, uint64(e.Ordinal))
	head = putUint(head, uint64(e.About))
	o.w.Reset(o.buf[len(head):zone.MaxItem])
	o.sync.StartWrite(&o.w)
	v.Sync(&o.sync)
	if o.sync.Err() != nil || o.w.Err() != nil {
		return head // without its fields, which are too many
	}
	return o.buf[:len(head)+len(o.w.Bytes())]
}

// add has something wait. Bytes are written into memory that was used before, if there is any.
func (o *outbox) add(list *[]waiting, target world.ID, f *faults, write func([]byte) []byte) {
	if o.size > maxWaiting {
		f.dropped++
		return
	}
	n := len(*list)
	if n < cap(*list) {
		*list = (*list)[:n+1]
	} else {
		*list = append(*list, waiting{})
	}
	x := &(*list)[n]
	x.target, x.data = target, write(x.data[:0])
	o.size += len(x.data)
}

// flushActs puts out the actions that may leave, in order.
func (b *body) flushActs() {
	o, kept := &b.out, 0
	for i := range o.acts {
		a := &o.acts[i]
		to, ok := b.addressee(a.target, a.data[0] > 0)
		if !ok && b.unheard(a) {
			o.acts[i], o.acts[kept] = o.acts[kept], o.acts[i]
			kept++
			continue
		}
		full := o.items >= maxItems || o.bytes > 0 && o.bytes+len(a.data) > maxBytes
		if ok && (full || !o.opens(to)) {
			// The order of those on one entity stays, as they all go to one zone.
			o.acts[i], o.acts[kept] = o.acts[kept], o.acts[i]
			kept++
			continue
		}
		o.size -= len(a.data)
		if ok {
			o.items++
			o.bytes += len(a.data)
			o.out.Act(to, uint64(a.target), a.data)
		}
	}
	o.acts = o.acts[:kept]
}

// addressee is the zone to which an action goes: the one that shows its target, or else the one
// that keeps the identifier, from where it follows the target on its way. It goes there if it has
// gone astray before. There is none for what is no more.
func (b *body) addressee(id world.ID, astray bool) (zone.ID, bool) {
	if id.Class() < len(b.where) && b.where[id.Class()].state {
		return b.plan.Home, !b.home()
	}
	if g, ok := b.ghosts.all[id]; ok && g.from != b.self && !astray {
		return g.from, true
	}
	if to, ok := b.went[id]; ok {
		return to, true
	}
	to, ok := b.plan.keeper(id.Allocator())
	return to, ok && to != b.self
}

// unheard says whether an action is on something of a zone of which this one has not heard yet, as
// the plan that says of it is still on its way. It waits for that, and not for ever.
func (b *body) unheard(a *waiting) bool {
	if _, ok := b.plan.keeper(a.target.Allocator()); ok || b.owns(a.target) {
		return false
	}
	r := reader{b: a.data[1:]}
	r.uint() // which action
	r.uint() // by whom
	at := world.Tick(r.uint())
	return b.w.Tick() < at+10*patience
}

// flushEvents tells of the events for which there is room.
func (o *outbox) flushEvents() {
	n, size, most := 0, 0, maxEventBytes
	if o.bytes < maxBytes/2 {
		most = zone.MaxItem // so that the largest leaves in some tick
	}
	for n < min(len(o.events), maxEvents) &&
		size+len(o.events[n].data) <= most {
		size += len(o.events[n].data)
		o.out.Event(o.events[n].data)
		n++
	}
	o.size -= size
	if n == len(o.events) {
		o.events = o.events[:0]
		return
	}
	told := slices.Clone(o.events[:n])
	copy(o.events, o.events[n:])
	copy(o.events[len(o.events)-n:], told)
	o.events = o.events[:len(o.events)-n]
}
