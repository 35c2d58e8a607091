package doom3

import (
	"encoding/binary"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/replica"
)

// sender is the server's side. The base of an entity is its newest image that arrived, and is
// pinned.
type sender struct {
	state    replica.SenderState
	said     []said     // by handle
	advanced []byte     // the message that names the packets that became bases
	views    *sentViews // nil where what left the view is told entity by entity
}

// said is what a client was last told of a handle, and holds as its base.
type said struct {
	unique uint32
	// the first packet since which it is told the same: that it is there, or that it is gone
	turned uint32
	what   replica.What
	known  bool // one of these packets has arrived

	base   uint32 // the image, 0 if there is none
	packet uint32 // that brought it
	tick   uint32
	since  uint32 // packets before this one say nothing about what the client holds
}

// at gives what was said of a handle.
func (d *sender) at(handle int32) *said {
	for int(handle) >= len(d.said) {
		d.said = append(d.said, said{})
	}
	return &d.said[handle]
}

// Begin sends the client what it needs to follow.
func (d *sender) Begin() {
	if len(d.advanced) > 0 {
		d.state.Tell(d.advanced)
		d.advanced = d.advanced[:0]
	}
}

func (d *sender) Header(enc codec.PacketEncoder, p *replica.Sent) {
	enc.Bits(d.state.Messages()&(1<<countBits-1), countBits)
	if d.views != nil {
		d.views.put(enc, d.state, p.Packet)
	}
}

func (d *sender) Bound(handle int32) bool { return d.at(handle).base != 0 }

func (d *sender) Base(handle int32, p *replica.Sent, b *replica.Base) {
	s := d.at(handle)
	if s.base == 0 {
		return
	}
	if !d.state.Kept(handle, s.base) {
		s.base = 0 // the image was given up, and so is the base
		return
	}
	b.Add(s.base, min(replica.Age(p.Tick, s.tick), 255))
}

func (d *sender) Staged(packets []*replica.Sent, _ bool) {
	for _, p := range packets {
		for _, e := range p.Said {
			if s := d.at(e.Handle); s.unique != e.Unique || s.what != e.What {
				s.unique, s.what, s.turned, s.known = e.Unique, e.What, p.Packet, false
			}
		}
	}
}

// Landed makes what arrived the bases.
func (d *sender) Landed(p *replica.Sent, arrived bool) bool {
	if !arrived || d.state.Next()-p.Packet > window {
		return false
	}
	if d.views != nil {
		d.views.landed(p.Packet)
	}
	moved := false
	for _, e := range p.Said {
		s := d.at(e.Handle)
		if s.unique != e.Unique {
			continue
		}
		if s.what == e.What && int32(p.Packet-s.turned) >= 0 {
			s.known = true
		}
		if e.What != replica.Held || int32(p.Packet-s.since) < 0 || s.base != 0 &&
			int32(p.Packet-s.packet) <= 0 {
			continue
		}
		d.state.Pin(e.Handle, e.Number)
		d.unbase(e.Handle)
		s.base, s.packet, s.tick = e.Number, p.Packet, p.Tick
		moved = true
	}
	if moved {
		d.advanced = binary.LittleEndian.AppendUint16(d.advanced, uint16(p.Packet))
	}
	return true
}

// unbase lets go of the image that the client has as its base.
func (d *sender) unbase(handle int32) {
	if s := d.at(handle); s.base != 0 {
		d.state.Unpin(handle, s.base)
		s.base = 0
	}
}

func (d *sender) Heard(handle int32) bool {
	s := d.at(handle)
	return s.known || s.unique == 0
}

func (d *sender) Held(handle int32, i int) (packet, number uint32, ok bool) {
	s := d.at(handle)
	return s.packet, s.base, i == 0 && s.base != 0
}

func (d *sender) Refresh(handle int32) {
	d.unbase(handle)
	d.at(handle).since = d.state.Next()
}

func (d *sender) Forget(handle int32) {
	d.unbase(handle)
	*d.at(handle) = said{since: d.state.Next()}
}

// Rejected forgets what a packet brought.
func (d *sender) Rejected(packet uint32, arrived bool) {
	if d.views != nil {
		d.views.rejected(packet)
	}
	for h := range d.said {
		if arrived && d.said[h].packet == packet {
			d.unbase(int32(h))
		}
	}
}
