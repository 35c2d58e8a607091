package replica

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// Doom3 follows J.M.P. van Waveren, "The DOOM III network architecture" (2006),
// section 4.2. Server and client have one common base for each entity. When
// the server learns that a packet has arrived, it makes that packet's images the bases and
// tells the client to do the same, in a reliable message. Every packet says how many of
// these messages went before it, and is read against the bases as they are after just so many.
//
// What differs: an acknowledgement is the connection's, and one for each packet, since a packet here can be decoded alone;
// and several advances share a message if they come between two snapshots.

// advanceBits is how much of the count of messages a packet of Doom3 carries:
// enough for all that can be under way.
const advanceBits = 10

// doom3Sender is the server's side.
type doom3Sender struct {
	s        *Sender
	said     []doom3Said // by handle
	advanced []uint32    // packets that became bases since the last message
}

// doom3Said is what a client was last told of a handle.
type doom3Said struct {
	unique uint32
	number uint32 // the image
	turned uint32 // the first packet since which it is told the same: that it is there, or that it is gone
	what   uint8
	known  bool // one of these packets has arrived
}

// get gives what was said of a handle, or nil if nothing was.
func (d *doom3Sender) get(h int32) *doom3Said {
	if int(h) < len(d.said) && d.said[h].unique == d.s.records[h].unique {
		return &d.said[h]
	}
	return nil
}

// prepare sends the client what it needs to follow, and marks all that
// differs from its base or may not have been heard.
func (d *doom3Sender) prepare() {
	s := d.s
	if len(d.advanced) > 0 {
		m := s.messages.open()
		*m = append(*m, messageAdvance)
		for _, p := range d.advanced {
			*m = binary.LittleEndian.AppendUint16(*m, uint16(p))
		}
		s.messages.sent++
		d.advanced = d.advanced[:0]
	}
	for i := range s.view {
		h := s.view[i].handle
		r := &s.records[h]
		said := d.get(h)
		// What did not fit into any packet has a number that was not said.
		if r.told != held || said == nil || said.number != r.number {
			continue
		}
		sl := &s.pub.slots[r.slot]
		if !said.known {
			r.again()
		} else if (r.acked == 0 || r.ack(0).number != r.number) && sl.unique == r.unique && !s.waits(r, sl) {
			r.again()
		}
	}
	for _, h := range s.leaving {
		if r := &s.records[h]; r.want != held && r.told == r.want && !d.settled(h) {
			r.again()
		}
	}
}

func (d *doom3Sender) header(enc codec.PacketEncoder, _ uint32) {
	enc.Bits(d.s.messages.sent&(1<<advanceBits-1), advanceBits)
}

func (d *doom3Sender) base(w *Worker, f *flight, r *record, sl *slot) (world.Player, int64) {
	if r.acked > 0 {
		a := r.ack(0)
		if m, image := sl.find(a.number); m != nil {
			w.hist.Add(image, int32(min(age(f.tick, a.tick), 255)))
			return m.owner, inWindow
		}
		// The image was given up, and so is the base.
		r.acked = 0
	}
	r.bound = false
	return d.s.startBase(w, sl), noBase
}

func (d *doom3Sender) packed(bool) {
	for i := range d.s.staged {
		f := d.s.staged[i].flight
		for j := range f.entries {
			e := &f.entries[j]
			for int(e.handle) >= len(d.said) {
				d.said = append(d.said, doom3Said{})
			}
			said := &d.said[e.handle]
			if said.unique != e.unique || said.what != e.what {
				*said = doom3Said{unique: e.unique, turned: f.packet, what: e.what}
			}
			said.number = e.number
		}
	}
}

// landed makes what arrived the bases.
func (d *doom3Sender) landed(f *flight, ok bool) bool {
	s := d.s
	if !ok || s.next-f.packet > window+1 { // the client does not keep older ones for certain
		return false
	}
	moved := false
	for i := range f.entries {
		e := &f.entries[i]
		r := &s.records[e.handle]
		if r.unique != e.unique {
			continue
		}
		if said := d.get(e.handle); said != nil && said.what == e.what && int32(f.packet-said.turned) >= 0 {
			said.known = true
		}
		if e.what != held || int32(f.packet-r.since) < 0 || r.acked > 0 && int32(f.packet-r.ack(0).packet) <= 0 {
			continue
		}
		s.hold(r, e.number)
		s.unbase(r)
		*r.ack(0), r.acked, r.bound = ack{f.packet, e.number, f.tick, e.sends}, 1, true
		moved = true
	}
	if moved {
		d.advanced = append(d.advanced, f.packet)
	}
	return true
}

func (d *doom3Sender) settled(h int32) bool {
	said := d.get(h)
	return said == nil || said.known && said.what == d.s.records[h].want
}

// distrust does nothing: what a rejected packet said is forgotten, and the
// entities in it are sent in full.
func (d *doom3Sender) distrust() {}

// What a client of Doom3 keeps of packets that came before the messages that
// they follow.
const (
	maxEarly      = 64
	maxEarlyBytes = 1 << 17
)

// errEarly says that a packet cannot be read before more messages have come.
var errEarly = errors.New("replica: a packet that came too early")

// doom3Receiver is the client's side.
type doom3Receiver struct {
	r        *Receiver
	contents [keepPackets][]int32 // handles of the images in the latest packets
	safe     uint32               // no packet is to come that follows fewer messages
	early    []earlyPacket        // waiting, in order of arrival; what lies behind is memory for more
	bytes    int                  // of those
}

type earlyPacket struct {
	packet, count uint32
	data          []byte
}

func (d *doom3Receiver) header(dec codec.PacketDecoder, _ packetInfo) (uint32, error) {
	count := near(dec.Bits(advanceBits), advanceBits, d.r.received)
	if dec.Err() != nil {
		return 0, ErrPacket
	}
	if int32(count-d.r.received) > 0 {
		return count, errEarly
	}
	return count, nil
}

// hold keeps a packet until it can be read. If there are too many, the one that
// came first is given up.
func (d *doom3Receiver) hold(info packetInfo, data []byte) error {
	for i := range d.early {
		if d.early[i].packet == info.packet {
			return ErrStale
		}
	}
	if len(data) > maxEarlyBytes/2 {
		return ErrPacket
	}
	for len(d.early) == maxEarly || d.bytes+len(data) > maxEarlyBytes {
		d.r.stats.Rejected++
		d.r.reject(d.early[0].packet, false)
		d.release(0)
	}
	n := len(d.early)
	if n < cap(d.early) {
		d.early = d.early[:n+1]
	} else {
		d.early = append(d.early, earlyPacket{})
	}
	e := &d.early[n]
	e.packet, e.count, e.data = info.packet, info.count, append(e.data[:0], data...)
	d.bytes += len(data)
	return nil
}

// release takes a packet off those that wait. Its memory serves another, and
// stays as it is until then.
func (d *doom3Receiver) release(i int) []byte {
	e := d.early[i]
	copy(d.early[i:], d.early[i+1:])
	d.early[len(d.early)-1] = e
	d.early = d.early[:len(d.early)-1]
	d.bytes -= len(e.data)
	return e.data
}

// counted reads the packets that waited for the message that has come, in the
// order in which they were sent.
func (d *doom3Receiver) counted() {
	for {
		next := -1
		for i := range d.early {
			e := &d.early[i]
			if int32(e.count-d.r.received) <= 0 && (next < 0 || int32(e.packet-d.early[next].packet) < 0) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		// What is wrong with it is in the statistics and told to the server.
		_ = d.r.Packet(d.release(next))
	}
}

// advance makes the images of packets the bases.
func (d *doom3Receiver) advance(data []byte) error {
	if len(data) == 0 || len(data)%2 != 0 {
		return fmt.Errorf("%w: it should name packets", ErrMessage)
	}
	r := d.r
	r.received++
	for ; len(data) > 0; data = data[2:] {
		packet := near(uint32(binary.LittleEndian.Uint16(data)), 16, r.newest)
		if !r.packets[packet%keepPackets].same(packet) {
			continue // it could not be used, and the server was told so
		}
		for _, h := range d.contents[packet%keepPackets] {
			if g := r.entities[h].got(packet); g != nil && !g.based {
				g.based, g.since = true, r.received
			}
		}
	}
	return nil
}

func (d *doom3Receiver) base(info packetInfo, n *news, newOwner bool) error {
	r := d.r
	e := r.at(n.handle)
	switch {
	case n.bind && e != nil && e.after(info.packet, n):
		return ErrStale
	case n.bind:
		r.startBase(n.id, n.class, &r.work.hist, &n.owner, newOwner)
		return nil
	case e == nil || e.unsure:
		return ErrBase
	case int32(info.packet-e.bound) < 0:
		return ErrStale
	}
	g := e.based(info.count)
	if g == nil {
		r.work.missing = n.handle
		return ErrBase
	}
	n.class = e.class
	if !newOwner {
		n.owner = g.owner
	}
	r.work.hist.Reset()
	r.work.hist.Add(g.image, int32(min(age(info.tick, g.tick), 255)))
	return nil
}

// based finds the image that is the base after so many messages.
func (e *entity) based(count uint32) *gotImage {
	for i := len(e.images) - 1; i >= 0; i-- {
		if g := &e.images[i]; g.based && int32(g.since-count) <= 0 {
			return g
		}
	}
	return nil
}

func (d *doom3Receiver) commit(info packetInfo, snap *Snapshot) {
	r := d.r
	if old := &r.packets[(r.newest-overtaken)%keepPackets]; old.same(r.newest-overtaken) && int32(old.count-d.safe) > 0 {
		d.safe = old.count
	}
	handles := d.contents[info.packet%keepPackets][:0]
	for i := range r.work.list {
		n := &r.work.list[i]
		e := r.place(n, info, snap)
		if e == nil {
			continue // gone before anything of it came
		}
		if n.what == held {
			d.keep(e, info, n)
			handles = append(handles, n.handle)
		}
		snap.tell(e, info, n)
	}
	d.contents[info.packet%keepPackets] = handles
}

// keep adds an image, in place of those that cannot be a base any more: they
// are older than what is the base of any packet that may come, or too old to
// become one.
func (d *doom3Receiver) keep(e *entity, info packetInfo, n *news) {
	safe := e.based(d.safe)
	kept := 0
	for i := range e.images {
		g := &e.images[i]
		if safe != nil && int32(g.packet-safe.packet) < 0 || !g.based && int32(d.r.newest-g.packet) >= keepPackets {
			continue
		}
		if safe == g {
			safe = &e.images[kept]
		}
		e.images[kept], e.images[i] = e.images[i], e.images[kept]
		kept++
	}
	// The memory of those that go lies behind those that stay.
	e.images = e.images[:kept]
	if kept < cap(e.images) {
		e.images = e.images[:kept+1]
	} else {
		e.images = append(e.images, gotImage{})
	}
	g := e.images[kept]
	if len(g.image) != len(n.image) {
		g.image = make([]int32, len(n.image))
	}
	copy(g.image, n.image)
	g = gotImage{packet: info.packet, tick: info.tick, owner: n.owner, image: g.image}
	at := kept
	for ; at > 0 && int32(e.images[at-1].packet-info.packet) > 0; at-- {
		e.images[at] = e.images[at-1]
	}
	e.images[at] = g
}
