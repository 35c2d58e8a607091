package replica

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// read decodes a packet into the scratch and the snapshot, and changes nothing
// else.
func (r *Receiver) read(p *Arrived, snap *Snapshot) error {
	dec, in := r.dec, &r.arrived
	dec.Begin(p.Data)
	r.work.list, r.work.missing = r.work.list[:0], -1
	if epoch := dec.Bits(epochBits); epoch != uint32(r.options.Epoch)&(1<<epochBits-1) {
		return ErrEpoch
	}
	p.Packet = near(dec.Bits(packetBits), packetBits, in.newest)
	p.Tick = near(dec.Bits(tickBits), tickBits, uint32(in.tick))
	tables := uint32(0)
	if r.protocol.scheme.Learns {
		tables = dec.Bits(tablesBits)
	}
	p.First = dec.Flag(chanceFirst)
	if dec.Err() != nil || int32(p.Packet) < 0 {
		return ErrPacket
	}
	p.valid = true
	if in.any && int32(in.newest-p.Packet) > overtaken {
		return ErrStale
	}
	if in.came(p.Packet) != nil {
		return errTwice
	}
	if r.protocol.scheme.Learns {
		if r.tables[tables] == nil {
			return ErrTables
		}
		dec.(*codec.Decoder).Use(r.tables[tables])
	}
	if err := r.bases.Header(dec, p); err != nil {
		return err
	}
	snap.Tick = world.Tick(int64(in.tick) + int64(int32(p.Tick-uint32(in.tick))))
	if p.First {
		snap.Early = int(int8(dec.Bits(earlyBits)))
		snap.Report = true
		if dec.Flag(chanceRepeated) {
			snap.Repeated = int(dec.Bits(repeatBits))
		}
		if dec.Flag(chanceActed) {
			ahead := int64(int32(dec.Bits(actedBits)<<(32-actedBits)) >> (32 - actedBits))
			snap.Acted = world.Tick(max(int64(snap.Tick)+ahead, 1))
		}
	}
	hash, err := r.readEntities(dec, p, snap)
	if err != nil {
		return err
	}
	if p.More = dec.Flag(chanceMore); !p.More {
		if err := r.readTail(dec, snap); err != nil {
			return err
		}
	}
	sum := dec.Bits(hashBits)
	if dec.Err() != nil {
		return ErrPacket
	}
	if sum != fold(hash) {
		return ErrHash
	}
	if dec.Finish() != nil {
		return ErrPacket
	}
	snap.Certain = !p.More && !snap.Behind && r.bases.Certain(p)
	return nil
}

func (r *Receiver) readEntities(dec codec.PacketDecoder, p *Arrived, snap *Snapshot) (hash uint64,
	err error) {
	s := skips{}
	more := dec.Flag(chanceAny)
	handle := int64(-1)
	for more {
		handle += 1 + int64(wire{dec: dec}.gap(&s, 0))
		if dec.Err() != nil || handle >= maxHandles {
			return 0, ErrPacket
		}
		at := len(r.work.list)
		r.work.list = append(r.work.list, News{Handle: int32(handle), What: Held})
		n := &r.work.list[at]
		if err := r.readEntity(dec, p, n, snap); err != nil {
			r.work.list = r.work.list[:at]
			return 0, err
		}
		sum := uint64(0)
		if n.What == Held {
			sum = imageSum(n.Image)
		}
		hash = mix(hash, uint32(handle), sum)
		more = dec.Flag(chanceEntity)
	}
	return hash, nil
}

// readEntity reads what is said of one entity.
func (r *Receiver) readEntity(dec codec.PacketDecoder, p *Arrived, n *News, snap *Snapshot) error {
	e, scheme := r.at(n.Handle), r.protocol.scheme
	if dec.Flag(chanceSpecial) {
		if dec.Flag(chanceGone) {
			n.What = Left
			if dec.Flag(chanceRemoved) {
				n.What = Removed
			}
			if dec.Err() != nil {
				return ErrPacket
			}
			if !scheme.Repeats && e != nil && int32(p.Packet-e.bound) < 0 {
				return ErrStale
			}
			return nil // it may be said though nothing of it came
		}
		if n.Bind = dec.Flag(chanceBind); n.Bind {
			if !r.readBinding(dec, p.Tick, n) {
				return ErrPacket
			}
		}
		if n.owned = dec.Flag(chanceOwner); n.owned {
			n.Owner = world.Player(dec.Bits(16))
		}
	}
	if !scheme.Frames {
		if err := e.stands(p.Packet, n); err != nil {
			return err
		}
	}
	h := &r.work.hist
	h.Reset()
	if n.Bind {
		r.startBase(n, h)
	} else if err := r.bases.Base(dec, p, n, h); err != nil {
		return err
	}
	return r.readImage(dec, n, snap)
}

// readBinding reads which entity it is, and says whether it can be one.
func (r *Receiver) readBinding(dec codec.PacketDecoder, tick uint32, n *News) bool {
	r.protocol.binding(wire{dec: dec}, tick, n)
	return dec.Err() == nil &&
		(n.Player != world.Nobody || n.ID.Generation() != 0 && r.known(n.ID))
}

// stands says whether a packet can speak of what a handle stands for: it was not overtaken by one
// that says something else, and knows what that is.
func (e *entity) stands(packet uint32, n *News) error {
	switch {
	case n.Bind && e == nil:
	case n.Bind:
		if e.again && int32(packet-e.floor) <= 0 || int32(packet-e.bound) < 0 &&
			(e.id != n.ID || e.player != n.Player) {
			return ErrStale
		}
	case e == nil || e.unsure:
		return ErrBase
	case int32(packet-e.bound) < 0:
		return ErrStale
	default:
		n.ID, n.Player, n.Class, n.Origin = e.id, e.player, e.class, e.origin
	}
	return nil
}

// startBase is what an entity is a difference from that is not known yet.
func (r *Receiver) startBase(n *News, h *codec.History) {
	if s, ok := r.start[n.ID]; ok && n.ID != world.None {
		n.From(h, s.image, s.owner, 255)
		return
	}
	n.From(h, r.protocol.start(n.Class), world.Nobody, 255)
}

// readImage reads the image itself, part by part, into memory of the snapshot.
func (r *Receiver) readImage(dec codec.PacketDecoder, n *News, snap *Snapshot) error {
	w := &r.work
	c := &r.protocol.classes[n.Class]
	if cap(snap.images)-len(snap.images) < c.fields { // earlier ones keep the memory they are in
		snap.images = make([]int32, 0, max(2*cap(snap.images), c.fields, 256))
	}
	from := len(snap.images)
	snap.images = snap.images[:from+c.fields]
	n.Image = snap.images[from : from+c.fields : from+c.fields]
	if c.fields == 0 {
		return nil
	}
	for _, part := range c.parts {
		h := &w.hist
		if len(c.parts) > 1 {
			w.part = w.hist
			for i := range w.part.Len {
				w.part.Images[i] = w.hist.Images[i][part.from:part.to]
			}
			h = &w.part
		}
		if _, err := dec.Get(part.class, h, n.Image[part.from:part.to]); err != nil {
			return ErrPacket
		}
	}
	return nil
}

// readTail reads what follows the entities: what is deferred, and events.
func (r *Receiver) readTail(dec codec.PacketDecoder, snap *Snapshot) error {
	if dec.Flag(chanceDeferred) {
		if snap.Behind = dec.Flag(chanceRemoved); !snap.Behind {
			s := skips{}
			handle := int64(-1)
			for dec.Flag(chanceEntity) {
				handle += 1 + int64(wire{dec: dec}.gap(&s, 0))
				if dec.Err() != nil {
					return ErrPacket
				}
				// If nothing is known of it, what would have told of it has not come.
				if e := r.at(int32(min(handle, maxHandles))); e != nil &&
					e.player == world.Nobody && e.what == Held {
					snap.Deferred = append(snap.Deferred, e.id)
				}
			}
		}
	}
	return r.readUnreliable(dec, snap)
}
