package replica

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// read decodes a packet into the scratch and the snapshot, and changes nothing
// else.
func (r *Receiver) read(data []byte, snap *Snapshot) (info packetInfo, err error) {
	dec := r.dec
	dec.Begin(data)
	r.work.list, r.work.image, r.work.missing = r.work.list[:0], r.work.image[:0], -1
	if epoch := dec.Bits(epochBits); epoch != uint32(r.options.Epoch)&(1<<epochBits-1) {
		return info, ErrEpoch
	}
	info.packet = near(dec.Bits(packetBits), packetBits, r.newest)
	info.tick = near(dec.Bits(tickBits), tickBits, uint32(r.tick))
	info.first = dec.Flag(chanceFirst)
	if dec.Err() != nil || int32(info.packet) < 0 {
		return info, ErrPacket
	}
	info.valid = true
	if r.any && int32(r.newest-info.packet) > overtaken {
		return info, ErrStale
	}
	if r.packets[info.packet%keepPackets].same(info.packet) {
		return info, errTwice
	}
	if r.classic != nil {
		info.count, err = r.classic.header(dec, info)
	} else {
		info.count, err = r.readKnown(dec, info.packet)
	}
	if err != nil {
		return info, err
	}
	snap.Tick = world.Tick(int64(r.tick) + int64(int32(info.tick-uint32(r.tick))))
	if info.first {
		snap.Early = int(int8(dec.Bits(earlyBits)))
		snap.Report = true
		if dec.Flag(chanceRepeated) {
			snap.Repeated = int(dec.Bits(repeatBits))
		}
	}
	hash, err := r.readEntities(dec, info)
	if err != nil {
		return info, err
	}
	info.more = dec.Flag(chanceMore)
	if !info.more {
		if err := r.readTail(dec, snap); err != nil {
			return info, err
		}
	}
	sum := dec.Bits(hashBits)
	if dec.Err() != nil {
		return info, ErrPacket
	}
	if sum != fold(hash) {
		return info, ErrHash
	}
	if dec.Finish() != nil {
		return info, ErrPacket
	}
	snap.Certain = !info.more && !snap.Behind && r.certain(info)
	return info, nil
}

func (p *packetInfo) same(packet uint32) bool { return p.valid && p.packet == packet }

// readKnown learns what of all that was sent before the server knows to have
// arrived, and how many messages it sent.
func (r *Receiver) readKnown(dec codec.PacketDecoder, packet uint32) (count uint32, err error) {
	if err := r.readAcks(dec, packet); err != nil {
		return 0, err
	}
	return r.readCount(dec)
}

// acks is what a packet says has arrived of those before it.
type acks struct {
	known bool // any has
	from  uint32
	low   uint32 // those up to this one have not, as far as is said
	set   packetSet
}

func (a *acks) has(packet uint32) bool {
	return a.known && int32(packet-a.from) <= 0 && int32(packet-a.low) > 0 && a.set.has(packet)
}

// readAcks learns which packets the server knows to have arrived.
func (r *Receiver) readAcks(dec codec.PacketDecoder, packet uint32) error {
	w := &r.work
	w.acks = acks{known: dec.Flag(chanceAck)}
	w.holes = false
	if !w.acks.known {
		return nil
	}
	from := packet - dec.Bits(ageBits)
	if from == packet || int32(from) < 0 {
		return ErrPacket
	}
	w.acks.from, w.acks.low = from, from-min(from, span)-1
	w.acks.set.add(from)
	missing, holes := rare, false
	for p := from - 1; p != w.acks.low; p-- {
		lost := dec.Flag(missing.chance())
		missing.count(lost)
		if !lost {
			w.acks.set.add(p)
		} else if !r.packets[p%keepPackets].same(p) {
			holes = true
		}
	}
	// What is known to be lost is told again, or deferred.
	w.holes = dec.Flag(chanceUndecided) && holes
	if dec.Err() != nil {
		return ErrPacket
	}
	return nil
}

// readCount learns how many messages with events were sent before the packet.
func (r *Receiver) readCount(dec codec.PacketDecoder) (uint32, error) {
	if !r.work.acks.known || dec.Flag(chanceEvents) {
		return dec.Bits(eventBits), nil
	}
	from := &r.packets[r.work.acks.from%keepPackets]
	if !from.same(r.work.acks.from) {
		return 0, ErrBase
	}
	return from.count, nil
}

func (r *Receiver) readEntities(dec codec.PacketDecoder, info packetInfo) (hash uint64, err error) {
	s := skips{}
	more := dec.Flag(chanceAny)
	handle := int64(-1)
	for more {
		handle += 1 + int64(getGap(dec, &s))
		if dec.Err() != nil || handle >= maxHandles {
			return 0, ErrPacket
		}
		at := len(r.work.list)
		r.work.list = append(r.work.list, news{handle: int32(handle), what: held})
		n := &r.work.list[at]
		if err := r.readEntity(dec, info, n); err != nil {
			r.work.list = r.work.list[:at]
			return 0, err
		}
		sum := uint64(0)
		if n.what == held {
			sum = imageSum(n.image)
		}
		hash = mix(hash, uint32(handle), sum)
		more = dec.Flag(chanceEntity)
	}
	return hash, nil
}

// readEntity reads what is said of one entity.
func (r *Receiver) readEntity(dec codec.PacketDecoder, info packetInfo, n *news) error {
	var e *entity
	if int(n.handle) < len(r.entities) {
		e = r.entities[n.handle]
	}
	newOwner := false
	if dec.Flag(chanceSpecial) {
		if dec.Flag(chanceGone) {
			n.what = left
			if dec.Flag(chanceRemoved) {
				n.what = removed
			}
			if dec.Err() != nil {
				return ErrPacket
			}
			if r.classic == nil && e != nil && int32(info.packet-e.bound) < 0 {
				return ErrStale
			}
			return nil // it may be said though nothing of it came
		}
		if n.bind = dec.Flag(chanceBind); n.bind {
			if err := r.readBinding(dec, info, n); err != nil {
				return err
			}
		}
		if newOwner = dec.Flag(chanceOwner); newOwner {
			n.owner = world.Player(dec.Bits(16))
		}
	}
	switch {
	case r.classic != nil:
		if err := r.classic.base(info, n, newOwner); err != nil {
			return err
		}
	case n.bind && e != nil && e.after(info.packet, n):
		return ErrStale
	case n.bind:
		r.startBase(n.id, n.class, &r.work.hist, &n.owner, newOwner)
	case e == nil || e.unsure:
		return ErrBase
	case int32(info.packet-e.bound) < 0:
		return ErrStale
	default:
		n.class = e.class
		if err := r.base(dec, info, e, n, newOwner); err != nil {
			return err
		}
	}
	return r.readImage(dec, n)
}

// after says whether a packet that says what a handle stands for was overtaken
// by one that says something else.
func (e *entity) after(packet uint32, n *news) bool {
	if e.again && int32(packet-e.floor) <= 0 {
		return true
	}
	return int32(packet-e.bound) < 0 && (e.id != n.id || e.player != n.player)
}

// readBinding learns which entity a handle stands for.
func (r *Receiver) readBinding(dec codec.PacketDecoder, info packetInfo, n *news) error {
	p := r.protocol
	if p.commands >= 0 && dec.Flag(chanceCommand) {
		n.player, n.class = world.Player(dec.Bits(16)), int32(p.commands)
		if dec.Err() != nil || n.player == world.Nobody {
			return ErrPacket
		}
		return nil
	}
	n.id = p.getID(dec)
	if dec.Flag(chanceOrigin) {
		n.origin.By = p.getID(dec)
		n.origin.Tick = world.Tick(info.tick - dec.Bits(originBits))
		n.origin.Ordinal = uint16(getNumber(dec))
	}
	if dec.Err() != nil || n.id == world.None || n.id.Generation() == 0 {
		return ErrPacket
	}
	n.class = int32(n.id.Class())
	return nil
}

// startBase is what an entity is a difference from that is not known yet.
func (r *Receiver) startBase(id world.ID, class int32, h *codec.History, owner *world.Player, newOwner bool) {
	h.Reset()
	if s, ok := r.start[id]; ok && id != world.None {
		h.Add(s.image, 255)
		if !newOwner {
			*owner = s.owner
		}
		return
	}
	h.Add(r.protocol.start(class), 255)
}

// base fills the history with the images of an entity that the server counts
// on, as Sender.base does.
func (r *Receiver) base(dec codec.PacketDecoder, info packetInfo, e *entity, n *news, newOwner bool) error {
	w := &r.work
	w.hist.Reset()
	var ticks [depth]uint32
	var at [depth]int
	count := 0
	for i := len(e.images) - 1; i >= 0 && count < depth; i-- {
		g := &e.images[i]
		if !w.acks.has(g.packet) {
			continue
		}
		if age(info.tick, g.tick) > recent {
			break
		}
		ticks[count], at[count] = g.tick, i
		count++
	}
	if count > 0 {
		picked, n2 := choose(info.tick, ticks[:count])
		for i := range n2 {
			g := &e.images[at[picked[i]]]
			if i == 0 && !newOwner {
				n.owner = g.owner
			}
			w.hist.Add(g.image, int32(age(info.tick, g.tick)))
		}
		return nil
	}
	if dec.Flag(chanceOld) {
		g := e.got(info.packet - getNumber(dec))
		if g == nil {
			w.missing = n.handle
			return ErrBase
		}
		w.hist.Add(g.image, int32(min(age(info.tick, g.tick), 255)))
		if !newOwner {
			n.owner = g.owner
		}
		return nil
	}
	r.startBase(e.id, e.class, &w.hist, &n.owner, newOwner)
	return nil
}

// readImage reads the image itself, part by part.
func (r *Receiver) readImage(dec codec.PacketDecoder, n *news) error {
	w := &r.work
	c := &r.protocol.classes[n.class]
	from := len(w.image)
	if cap(w.image)-from < c.fields { // earlier ones keep the memory they are in
		w.image = make([]int32, 0, max(4096, c.fields))
		from = 0
	}
	w.image = w.image[:from+c.fields]
	n.image = w.image[from : from+c.fields : from+c.fields]
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
		if _, err := dec.Get(part.class, h, n.image[part.from:part.to]); err != nil {
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
				handle += 1 + int64(getGap(dec, &s))
				if dec.Err() != nil {
					return ErrPacket
				}
				if handle >= int64(len(r.entities)) || r.entities[handle] == nil {
					continue // what would have told of it has not come
				}
				if e := r.entities[handle]; e.player == world.Nobody && e.what == held {
					snap.Deferred = append(snap.Deferred, e.id)
				}
			}
		}
	}
	return r.readSparks(dec, snap)
}

// certain says whether nothing was missed that the server thinks is on its way
// or here, so that what a packet does not mention has not changed.
func (r *Receiver) certain(info packetInfo) bool {
	if r.classic != nil {
		return r.whole(info)
	}
	if !r.work.acks.known || r.work.holes {
		return false
	}
	for p := r.work.acks.from + 1; p != info.packet; p++ {
		if !r.packets[p%keepPackets].same(p) {
			return false
		}
	}
	return true
}
