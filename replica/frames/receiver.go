package frames

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/replica"
)

// receiver is the client's side: it keeps the latest snapshots as they were, each whole.
type receiver struct {
	state  replica.ReceiverState
	frames []gotFrame // for packets that were overtaken, too
	first  uint32     // of the packet that is read: the first packet of its snapshot,
	on     *gotFrame  // what it is a difference from,
	count  uint32     // and the lowest bits of its count of messages
}

func newReceiver(r replica.ReceiverState, back uint32) *receiver {
	return &receiver{state: r, frames: make([]gotFrame, 2*back+2)}
}

// gotFrame is a snapshot of which some or all packets came.
type gotFrame struct {
	valid   bool
	first   uint32 // packet
	on      uint32 // the first packet of the snapshot that it is a difference from
	based   bool   // there is one
	tick    uint32
	count   uint32    // messages before it, the lowest bits
	got     uint32    // packets that came
	parts   uint32    // of so many; 0 if that is not known
	whole   bool      // they are all here, and holds is what it holds
	changed imageList // what its packets said
	holds   imageList
}

// imageList is some entities and their images, by rising handles. Its memory
// serves again and again.
type imageList struct {
	list   []replica.News
	images []int32
}

func (l *imageList) reset() { l.list, l.images = l.list[:0], l.images[:0] }

// add appends news with a copy of their image.
func (l *imageList) add(n replica.News) {
	from := len(l.images)
	l.images = append(l.images, n.Image...) // earlier ones keep the memory they are in
	n.Image = l.images[from:len(l.images):len(l.images)]
	l.list = append(l.list, n)
}

// frame finds a snapshot by its first packet, or gives nil.
func (q *receiver) frame(first uint32) *gotFrame {
	for i := range q.frames {
		if f := &q.frames[i]; f.valid && f.first == first {
			return f
		}
	}
	return nil
}

func (q *receiver) Header(dec codec.PacketDecoder, p *replica.Arrived) error {
	part := uint32(0)
	if !p.First {
		part = codec.GetNumber(dec)
	}
	if dec.Err() != nil || part >= 1<<partBits || part > p.Packet || (part == 0) != p.First {
		return replica.ErrPacket
	}
	q.first, q.on = p.Packet-part, nil
	counted := true
	if dec.Flag(chanceBase) {
		age := dec.Bits(ageBits)
		counted = dec.Flag(chanceCounted)
		if dec.Err() != nil || age == 0 {
			return replica.ErrPacket
		}
		if q.on = q.frame(q.first - age); q.on == nil || !q.on.whole {
			return replica.ErrBase
		}
		q.count = q.on.count
	}
	if counted {
		q.count = dec.Bits(countBits)
	}
	f := q.frame(q.first)
	if f != nil &&
		(f.based != (q.on != nil) || f.based && f.on != q.on.first || f.tick != p.Tick) ||
		dec.Err() != nil {
		return replica.ErrPacket // its packets disagree
	}
	p.Messages = q.state.Count(q.count, p.Packet)
	return nil
}

func (q *receiver) Base(_ codec.PacketDecoder, p *replica.Arrived, n *replica.News,
	h *codec.History) error {
	if q.on == nil {
		return replica.ErrBase
	}
	i, ok := slices.BinarySearchFunc(q.on.holds.list, n.Handle,
		func(e replica.News, handle int32) int {
			return cmp.Compare(e.Handle, handle)
		})
	if !ok {
		return replica.ErrBase
	}
	e := &q.on.holds.list[i]
	n.ID, n.Player, n.Class, n.Origin = e.ID, e.Player, e.Class, e.Origin
	n.From(h, e.Image, e.Owner, replica.Age(p.Tick, q.on.tick))
	return nil
}

func (q *receiver) Certain(p *replica.Arrived) bool { return q.state.Whole(p) }

func (q *receiver) Commit(p *replica.Arrived, news []replica.News) {
	f := q.frame(q.first)
	if f == nil {
		f = q.begin(p)
	}
	for i := range news {
		f.changed.add(news[i])
	}
	f.got++
	if !p.More {
		f.parts = p.Packet - f.first + 1
	}
	if f.got == f.parts {
		q.complete(f)
	}
}

// begin makes room for a snapshot, in place of the oldest.
func (q *receiver) begin(p *replica.Arrived) *gotFrame {
	f := &q.frames[0]
	for i := range q.frames {
		g := &q.frames[i]
		if !g.valid {
			f = g
			break
		}
		if g != q.on && (f == q.on || int32(g.first-f.first) < 0) {
			f = g
		}
	}
	f.changed.reset()
	f.holds.reset()
	*f = gotFrame{
		valid: true, first: q.first, tick: p.Tick, count: q.count, changed: f.changed,
		holds: f.holds}
	if q.on != nil {
		f.based, f.on = true, q.on.first
	}
	return f
}

// complete makes a snapshot of which all packets came: what it is a difference
// from, and what they said.
func (q *receiver) complete(f *gotFrame) {
	slices.SortStableFunc(f.changed.list,
		func(a, b replica.News) int { return cmp.Compare(a.Handle, b.Handle) })
	var rest []replica.News
	if f.based {
		on := q.frame(f.on)
		if on == nil || !on.whole {
			return
		}
		rest = on.holds.list
	}
	for _, e := range f.changed.list {
		for len(rest) > 0 && rest[0].Handle < e.Handle {
			f.holds.add(rest[0])
			rest = rest[1:]
		}
		if len(rest) > 0 && rest[0].Handle == e.Handle {
			rest = rest[1:]
		}
		if n := len(f.holds.list); n > 0 && f.holds.list[n-1].Handle == e.Handle {
			f.holds.list = f.holds.list[:n-1] // no server says two things of one entity
		}
		if e.What == replica.Held {
			f.holds.add(e)
		}
	}
	for _, e := range rest {
		f.holds.add(e)
	}
	f.changed.reset()
	f.whole = true
}

// Image finds nothing: there are no bases but snapshots.
func (q *receiver) Image(int32, uint32) ([]int32, bool) { return nil, false }

// Forget does nothing: a snapshot stays as it was.
func (q *receiver) Forget(int32) {}

// Message fails: there are none of the strategy's own.
func (q *receiver) Message([]byte, uint32) error {
	return fmt.Errorf("%w: one that this strategy does not have", replica.ErrMessage)
}

func (q *receiver) Counted() {}

func (q *receiver) Kept() (n int) {
	for i := range q.frames {
		n += len(q.frames[i].holds.list)
	}
	return n
}
