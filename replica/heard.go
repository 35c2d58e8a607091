package replica

import (
	"fmt"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// An Event is something that happened once, as it came from the server; or the word that one which
// came before did not happen.
type Event struct {
	world.Emitted
	Delivery world.Delivery
	// Provisional says that the server may still take it back: it is certain when Receiver.Settled
	// reaches its tick.
	Provisional bool
	// Retracted says that it came as provisional before, and did not happen after all. Its fields
	// are those that it came with.
	Retracted bool
	data      []byte
}

// Fields gives a reader that stands before the event's fields, for
// Host.Deliver.
func (e *Event) Fields() *bits.Reader { return bits.NewReader(e.data) }

// Deliver lets a partial world hear of the event, or takes it back there if it was retracted.
func (e *Event) Deliver(w *world.World) error {
	if e.Retracted {
		w.Host().Retract(e.Emitted)
		return nil
	}
	return w.Host().Deliver(e.Emitted, e.Fields())
}

// hearing is what a client was told of events. The first taken of list were handed out, and are
// gone with the next call; of those that were handed out as provisional a copy waits until it is
// settled whether they happened.
type hearing struct {
	received    uint32 // messages that are counted
	list        []Event
	data        []byte // fields of those
	taken       int
	provisional []Event
	settling    world.Tick // the settled tick that was heard of,
	settled     world.Tick // and that was handed out
}

// hear takes a message with events. In one of a world that may be taken back each says how much it
// is to be believed.
func (r *Receiver) hear(c *bits.Cursor, leading bool) error {
	in := &r.events
	kept, data, settled := len(in.list), len(in.data), in.settling
	for c.OK() && len(c.Data()) > 0 {
		kind, standing := uint64(0), Confirmed
		c.Uvarint(&kind, 1<<18)
		if leading {
			kind, standing = kind>>2, Standing(kind&3)
		}
		if standing == settling && kind == 0 {
			tick := world.Tick(0)
			bits.Number(c, &tick, 1<<62-1)
			settled = max(settled, tick)
			continue
		}
		c.Check(standing != settling && kind < uint64(len(r.protocol.game.Events())))
		e := Event{Provisional: standing == Provisional, Retracted: standing == Retracted}
		eventName(c, &e.Emitted)
		if !e.Retracted {
			n := uint64(0)
			c.Uvarint(&n, maxEventBits)
			c.Bytes(&e.data, int(n+7)/8)
		}
		if c.OK() {
			e.Kind, e.Delivery = uint16(kind), r.protocol.game.Events()[kind].Delivery()
			r.keep(&e, e.data)
			in.list = append(in.list, e)
		}
	}
	if !c.OK() || len(in.list) > maxEvents {
		in.list, in.data = in.list[:kept], in.data[:data]
		return fmt.Errorf(
			"%w: events that the game does not have, that are cut off, or too many that no one "+
				"takes", ErrMessage)
	}
	in.settling = settled
	return nil
}

// keep copies an event's fields to where they are good until all events have been taken.
func (r *Receiver) keep(e *Event, data []byte) {
	r.events.data = append(r.events.data, data...)
	e.data = r.events.data[len(r.events.data)-len(data):]
}

// maxEvents is how many reliable events may wait to be taken, and how many of those that were may
// be retracted.
const maxEvents = 1 << 16

// Events gives the reliable events that have come, in order, and takes them off the receiver. Take
// them before Next, since they come before what it gives. One that is older than its kind's Life is
// left out, unless it is saved. They are good until the next call.
//
// Where the server's world may be taken back, an event comes as Provisional. Later either Settled
// reaches its tick, and it is certain; or it comes once more, as Retracted.
func (r *Receiver) Events() []Event {
	if r.events.taken > 0 {
		r.events.list = append(r.events.list[:0], r.events.list[r.events.taken:]...)
		r.events.taken = 0
		if len(r.events.list) == 0 {
			r.events.data = r.events.data[:0]
		}
	}
	kept := r.events.list[:0]
	for i := range r.events.list {
		e := r.events.list[i]
		switch {
		case e.Retracted && !r.retracted(&e) || !e.Retracted && r.tooOld(&e):
			continue
		case e.Provisional && e.Tick <= r.events.settled:
			e.Provisional = false // it is certain, whatever was said
		case e.Provisional:
			r.mayRetract(&e)
		}
		kept = append(kept, e)
	}
	r.events.list = kept
	r.events.taken = len(kept)
	r.confirm()
	return kept
}

// Settled is the last tick of which the server is known to take nothing back: an event up to there
// that was not retracted did happen. It is as of the last call of Events. A server tells of it
// within a quarter of a second where there are events to be certain of, and otherwise about once a
// second. For one that never takes anything back it is 0, and no event is provisional.
func (r *Receiver) Settled() world.Tick { return r.events.settled }

// mayRetract remembers an event that may be retracted. If there are too many, the first is taken
// for certain.
func (r *Receiver) mayRetract(e *Event) {
	if len(r.events.provisional) == maxEvents {
		r.certain(0)
	}
	n := len(r.events.provisional)
	if n < cap(r.events.provisional) {
		r.events.provisional = r.events.provisional[:n+1] // with the memory it had
	} else {
		r.events.provisional = append(r.events.provisional, Event{})
	}
	b := &r.events.provisional[n]
	data := append(b.data[:0], e.data...)
	*b = *e
	b.data = data
}

// retracted finds what an event retracts. It reports false if that was never handed out, or is
// certain.
func (r *Receiver) retracted(e *Event) bool {
	for i := range r.events.provisional {
		if b := &r.events.provisional[i]; b.Emitted == e.Emitted {
			r.keep(e, b.data)
			r.certain(i)
			return true
		}
	}
	return false
}

// certain forgets an event that cannot be retracted any more. Its memory serves another.
func (r *Receiver) certain(i int) {
	last := len(r.events.provisional) - 1
	b := r.events.provisional[i]
	copy(r.events.provisional[i:], r.events.provisional[i+1:])
	r.events.provisional[last] = b
	r.events.provisional = r.events.provisional[:last]
}

// confirm takes for certain what was not retracted up to the settled tick.
func (r *Receiver) confirm() {
	if r.events.settling == r.events.settled {
		return
	}
	r.events.settled = r.events.settling
	for i := 0; i < len(r.events.provisional); {
		if r.events.provisional[i].Tick <= r.events.settled {
			r.certain(i)
		} else {
			i++
		}
	}
}

func (r *Receiver) tooOld(e *Event) bool {
	life := r.protocol.game.Events()[e.Kind].Life()
	return life > 0 && e.Delivery != world.Saved && r.arrived.tick > e.Tick+world.Tick(life)
}

// readUnreliable reads unreliable events.
func (r *Receiver) readUnreliable(dec codec.PacketDecoder, snap *Snapshot) error {
	for dec.Flag(chanceEvent) {
		var e Event
		n := r.protocol.event(wire{dec: dec}, snap.Tick, &e.Emitted, 0)
		if dec.Err() != nil || n > maxEventBits || int(e.Kind) >= len(r.protocol.game.Events()) {
			return ErrPacket
		}
		e.Delivery = r.protocol.game.Events()[e.Kind].Delivery()
		from := len(snap.data)
		for ; n > 0; n -= min(n, 8) {
			snap.data = append(snap.data, byte(dec.Bits(uint(min(n, 8)))))
		}
		if dec.Err() != nil {
			return ErrPacket
		}
		e.data = snap.data[from:]
		if !r.tooOld(&e) {
			snap.Events = append(snap.Events, e)
		}
	}
	return nil
}
