package doom3

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// overtaken is by how many others a packet may be overtaken and still be used.
const overtaken = 32

// What a client keeps of packets that came before the messages that they follow.
const (
	maxEarly      = 64
	maxEarlyBytes = 1 << 17
)

// receiver is the client's side. It keeps of each entity, in the order of packets, the base of
// every packet that may come and all that may become one.
type receiver struct {
	state    replica.ReceiverState
	list     [][]gotImage  // by handle; what lies behind is memory for more
	contents [keep][]int32 // handles of the images in the latest packets
	safe     uint32        // no packet is to come that follows fewer messages
	early    []earlyPacket // waiting, in order of arrival; what lies behind is memory for more
	bytes    int           // of those
}

// gotImage is an image that came in a packet.
type gotImage struct {
	packet uint32
	tick   uint32
	owner  world.Player
	image  []int32
	based  bool   // it became a base
	since  uint32 // with this message
}

type earlyPacket struct {
	packet, count uint32
	data          []byte
}

// grow adds one more to a list, with the memory it had.
func grow[T any](list []T) []T {
	if len(list) < cap(list) {
		return list[:len(list)+1]
	}
	var zero T
	return append(list, zero)
}

func (d *receiver) Header(dec codec.PacketDecoder, p *replica.Arrived) error {
	here := d.state.Messages()
	p.Messages = here + uint32(int32((dec.Bits(countBits)-here)<<(32-countBits))>>(32-countBits))
	if dec.Err() != nil {
		return replica.ErrPacket
	}
	if int32(p.Messages-here) > 0 {
		return d.hold(p)
	}
	return nil
}

// hold keeps a packet until it can be read. If there are too many, the one that
// came first is given up.
func (d *receiver) hold(p *replica.Arrived) error {
	if slices.ContainsFunc(d.early, func(e earlyPacket) bool { return e.packet == p.Packet }) {
		return replica.ErrStale
	}
	if len(p.Data) > maxEarlyBytes/2 {
		return replica.ErrPacket
	}
	for len(d.early) == maxEarly || d.bytes+len(p.Data) > maxEarlyBytes {
		d.state.Refuse(d.early[0].packet)
		d.release(0)
	}
	d.early = grow(d.early)
	e := &d.early[len(d.early)-1]
	e.packet, e.count, e.data = p.Packet, p.Messages, append(e.data[:0], p.Data...)
	d.bytes += len(p.Data)
	return replica.ErrWaits
}

// release takes a packet off those that wait. Its memory serves another, and
// stays as it is until then.
func (d *receiver) release(i int) []byte {
	e := d.early[i]
	copy(d.early[i:], d.early[i+1:])
	d.early[len(d.early)-1] = e
	d.early = d.early[:len(d.early)-1]
	d.bytes -= len(e.data)
	return e.data
}

// Counted reads the packets that waited for the message that has come, in the
// order in which they were sent.
func (d *receiver) Counted() {
	for {
		next := -1
		for i := range d.early {
			e := &d.early[i]
			if int32(e.count-d.state.Messages()) <= 0 &&
				(next < 0 || int32(e.packet-d.early[next].packet) < 0) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		// What is wrong with it is in the statistics and told to the server.
		_ = d.state.Packet(d.release(next))
	}
}

// Message makes the images of packets the bases.
func (d *receiver) Message(data []byte, count uint32) error {
	if len(data) == 0 || len(data)%2 != 0 {
		return fmt.Errorf("%w: it should name packets", replica.ErrMessage)
	}
	for ; len(data) > 0; data = data[2:] {
		newest := d.state.Newest()
		packet := newest + uint32(int32(int16(binary.LittleEndian.Uint16(data)-uint16(newest))))
		if d.state.Came(packet) == nil {
			continue // it could not be used, and the server was told so
		}
		for _, h := range d.contents[packet%keep] {
			if g := d.find(h, packet); g != nil && !g.based {
				g.based, g.since = true, count
			}
		}
	}
	return nil
}

func (d *receiver) Base(_ codec.PacketDecoder, p *replica.Arrived, n *replica.News,
	h *codec.History) error {
	g := based(*d.at(n.Handle), p.Messages)
	if g == nil {
		d.state.Missing(n.Handle)
		return replica.ErrBase
	}
	n.From(h, g.image, g.owner, replica.Age(p.Tick, g.tick))
	return nil
}

// based finds the image that is the base after so many messages.
func based(images []gotImage, count uint32) *gotImage {
	for i := len(images) - 1; i >= 0; i-- {
		if g := &images[i]; g.based && int32(g.since-count) <= 0 {
			return g
		}
	}
	return nil
}

func (d *receiver) Certain(p *replica.Arrived) bool { return d.state.Whole(p) }

func (d *receiver) Commit(p *replica.Arrived, news []replica.News) {
	if old := d.state.Came(d.state.Newest() - overtaken); old != nil &&
		int32(old.Messages-d.safe) > 0 {
		d.safe = old.Messages
	}
	handles := d.contents[p.Packet%keep][:0]
	for i := range news {
		if n := &news[i]; n.What == replica.Held {
			d.keep(p, n)
			handles = append(handles, n.Handle)
		}
	}
	d.contents[p.Packet%keep] = handles
}

// keep adds an image, in place of those that cannot be a base any more: they
// are older than what is the base of any packet that may come, or too old to
// become one.
func (d *receiver) keep(p *replica.Arrived, n *replica.News) {
	list := d.at(n.Handle)
	images := *list
	oldest := uint32(0)
	safe := based(images, d.safe)
	if safe != nil {
		oldest = safe.packet
	}
	kept := 0
	for i := range images {
		g := &images[i]
		if safe != nil && int32(g.packet-oldest) < 0 || !g.based &&
			int32(d.state.Newest()-g.packet) >= keep {
			continue
		}
		images[kept], images[i] = images[i], images[kept]
		kept++
	}
	// The memory of those that go lies behind those that stay.
	images = grow(images[:kept])
	now := gotImage{
		packet: p.Packet, tick: p.Tick, owner: n.Owner,
		image: append(images[kept].image[:0], n.Image...)}
	at := kept
	for ; at > 0 && int32(images[at-1].packet-p.Packet) > 0; at-- {
		images[at] = images[at-1]
	}
	images[at] = now
	*list = images
}

func (d *receiver) at(handle int32) *[]gotImage {
	for int(handle) >= len(d.list) {
		d.list = append(d.list, nil)
	}
	return &d.list[handle]
}

// find finds the image that came in a packet.
func (d *receiver) find(handle int32, packet uint32) *gotImage {
	if int(handle) >= len(d.list) {
		return nil
	}
	list := d.list[handle]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].packet == packet {
			return &list[i]
		}
	}
	return nil
}

func (d *receiver) Image(handle int32, packet uint32) ([]int32, bool) {
	if g := d.find(handle, packet); g != nil {
		return g.image, true
	}
	return nil, false
}

func (d *receiver) Forget(handle int32) { *d.at(handle) = (*d.at(handle))[:0] }

func (d *receiver) Kept() (n int) {
	for _, list := range d.list {
		n += len(list)
	}
	return n
}
