package replica

import (
	"fmt"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// kept is Coeval at a client. It keeps of each entity the images that the server may count on:
// those of the latest packets, and a few older ones.
type kept struct {
	r     *Receiver
	list  [][]keptImage     // by handle, in the order of packets
	acks  [keepPackets]acks // what each of the latest packets says
	now   acks              // what the packet that is read says
	holes bool              // some that the server may count on are missing here
	spare [][][]int32       // memory of images, by class
	size  int               // numbers in all of that memory
}

// maxKept bounds the numbers in all images that a client keeps, whatever a server sends: 128 MiB.
// An honest one, which has to send every image, stays far below it.
const maxKept = 1 << 25

// keptImage is an image that came in a packet.
type keptImage struct {
	packet uint32
	tick   uint32
	owner  world.Player
	class  int32
	image  []int32
}

// acks is what a packet says has arrived of those before it.
type acks struct {
	known  bool // any has
	from   uint32
	low    uint32 // those up to this one have not, as far as is said
	oldest uint32 // the oldest that has
	set    packetSet
}

func (a *acks) has(packet uint32) bool {
	return a.known && int32(packet-a.from) <= 0 && int32(packet-a.low) > 0 && a.set.has(packet)
}

func newKept(r ReceiverState) ReceiverBases {
	k := &kept{r: (*Receiver)(r.(*receiverState))}
	k.spare = make([][][]int32, len(k.r.protocol.classes))
	return k
}

// Header learns what of all that was sent before the server knows to have
// arrived, and how many messages with events it sent.
func (k *kept) Header(dec codec.PacketDecoder, p *Arrived) error {
	if k.size > maxKept {
		return ErrPacket
	}
	if err := k.readAcks(dec, p.Packet); err != nil {
		return err
	}
	low := uint32(0)
	if !k.now.known || dec.Flag(chanceEvents) {
		low = dec.Bits(eventBits)
	} else if from := k.r.arrived.came(k.now.from); from != nil {
		low = from.Messages & (1<<eventBits - 1)
	} else {
		return ErrBase
	}
	p.Messages = (*receiverState)(k.r).Count(low, p.Packet)
	return nil
}

// readAcks learns which packets the server knows to have arrived.
func (k *kept) readAcks(dec codec.PacketDecoder, packet uint32) error {
	k.now, k.holes = acks{known: dec.Flag(chanceAck)}, false
	if !k.now.known {
		return nil
	}
	from := packet - dec.Bits(ageBits)
	if from == packet || int32(from) < 0 {
		return ErrPacket
	}
	k.now.from, k.now.low, k.now.oldest = from, from-min(from, span)-1, from
	k.now.set.add(from)
	missing, holes := rare, false
	for p := from - 1; p != k.now.low; p-- {
		lost := dec.Flag(missing.chance())
		missing.count(lost)
		if !lost {
			k.now.set.add(p)
			k.now.oldest = p
		} else if k.r.arrived.came(p) == nil {
			holes = true
		}
	}
	// What is known to be lost is told again, or deferred.
	k.holes = dec.Flag(chanceUndecided) && holes
	if dec.Err() != nil {
		return ErrPacket
	}
	return nil
}

// Base fills the history with the images of an entity that the server counts
// on, as known.Base does. A packet that counts on one from before the client asked for the entity
// anew was made before the server knew of that.
func (k *kept) Base(dec codec.PacketDecoder, p *Arrived, n *News, h *codec.History) error {
	if e := k.r.at(n.Handle); e.again && k.now.known && int32(k.now.oldest-e.floor) <= 0 {
		return ErrBase
	}
	images := *k.at(n.Handle)
	var ticks [depth]uint32
	var at [depth]int
	count := 0
	for i := len(images) - 1; i >= 0 && count < depth; i-- {
		g := &images[i]
		if !k.now.has(g.packet) {
			continue
		}
		if Age(p.Tick, g.tick) > recent {
			break
		}
		ticks[count], at[count] = g.tick, i
		count++
	}
	if count > 0 {
		picked, m := choose(p.Tick, ticks[:count])
		for _, i := range picked[:m] {
			g := &images[at[i]]
			n.From(h, g.image, g.owner, Age(p.Tick, g.tick))
		}
		return nil
	}
	if !dec.Flag(chanceOld) {
		k.r.startBase(n, h)
		return nil
	}
	g := k.find(n.Handle, p.Packet-codec.GetNumber(dec))
	if g == nil {
		k.r.work.missing = n.Handle
		return ErrBase
	}
	n.From(h, g.image, g.owner, Age(p.Tick, g.tick))
	return nil
}

// Certain says whether nothing was missed that the server thinks is on its way
// or here, so that what a packet does not mention has not changed.
func (k *kept) Certain(p *Arrived) bool {
	if !k.now.known || k.holes {
		return false
	}
	for n := k.now.from + 1; n != p.Packet; n++ {
		if k.r.arrived.came(n) == nil {
			return false
		}
	}
	return true
}

// Commit keeps the images of a packet.
func (k *kept) Commit(p *Arrived, news []News) {
	k.acks[p.Packet%keepPackets] = k.now
	for i := range news {
		if n := &news[i]; n.What == Held {
			k.add(p, n)
		}
	}
}

// add keeps an image. Those that no packet can be based on any more make room.
func (k *kept) add(p *Arrived, n *News) {
	k.drop(n.Handle, k.useless(*k.at(n.Handle)))
	var memory []int32
	if spare := &k.spare[n.Class]; len(*spare) > 0 {
		memory = (*spare)[len(*spare)-1]
		*spare = (*spare)[:len(*spare)-1]
	} else {
		k.size += len(n.Image)
	}
	list := k.at(n.Handle)
	at := len(*list)
	for at > 0 && int32((*list)[at-1].packet-p.Packet) > 0 {
		at--
	}
	*list = append(*list, keptImage{})
	copy((*list)[at+1:], (*list)[at:])
	(*list)[at] = keptImage{p.Packet, p.Tick, n.Owner, n.Class, append(memory[:0], n.Image...)}
}

// useless counts the oldest images that no packet can be based on any more: the server looks at the
// newest depth that it knows to have arrived, or if they are all older than the latest packets, at
// the newest keepOld that it sent. What it knew is what the oldest packet says that may still come.
func (k *kept) useless(images []keptImage) int {
	in := &k.r.arrived
	if last := in.newest - overtaken; in.came(last) != nil {
		oldest, acked := &k.acks[last%keepPackets], 0
		for i := len(images) - 1; i >= 0; i-- {
			if oldest.has(images[i].packet) {
				acked++
			}
			if acked > depth+slack {
				return i
			}
		}
	}
	old := 0
	for old < len(images) && int32(in.newest-images[old].packet) > keepPackets {
		old++
	}
	return max(old-keepOld, 0)
}

// slack is how many images are kept beyond those that the server looks at, as it may learn that one
// of those was of no use.
const slack = 3

// drop takes the oldest images off an entity. Their memory is used again.
func (k *kept) drop(handle int32, n int) {
	if n == 0 {
		return
	}
	list := k.at(handle)
	for _, g := range (*list)[:n] {
		k.spare[g.class] = append(k.spare[g.class], g.image)
	}
	*list = append((*list)[:0], (*list)[n:]...)
}

func (k *kept) Forget(handle int32) { k.drop(handle, len(*k.at(handle))) }

func (k *kept) at(handle int32) *[]keptImage {
	for int(handle) >= len(k.list) {
		k.list = append(k.list, nil)
	}
	return &k.list[handle]
}

// find finds the image that came in a packet.
func (k *kept) find(handle int32, packet uint32) *keptImage {
	if int(handle) >= len(k.list) {
		return nil
	}
	list := k.list[handle]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].packet == packet {
			return &list[i]
		}
	}
	return nil
}

func (k *kept) Image(handle int32, packet uint32) ([]int32, bool) {
	if g := k.find(handle, packet); g != nil {
		return g.image, true
	}
	return nil, false
}

// Message fails: Coeval has none of its own.
func (k *kept) Message([]byte, uint32) error {
	return fmt.Errorf("%w: unknown kind %d", ErrMessage, messageAdvance)
}

func (k *kept) Counted() {}

func (k *kept) Kept() (n int) {
	for _, list := range k.list {
		n += len(list)
	}
	return n
}
