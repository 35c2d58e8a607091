package doom3

import (
	"encoding/binary"
	"fmt"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// overtaken is by how many others a packet may be overtaken and still be used.
const overtaken = 32

// receiver is the client's side. It keeps of each entity, in the order of packets, the base of
// every packet that may come and all that may become one.
type receiver struct {
	state    replica.ReceiverState
	list     [][]gotImage  // by handle; what lies behind is memory for more
	contents [keep][]int32 // handles of the images in the latest packets
	safe     uint32        // no packet is to come that follows fewer messages
	early    replica.Waiting
	views    *gotViews // nil where what left the view is told entity by entity
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
	if err := d.early.Hold(d.state, p); err != nil || d.views == nil {
		return err
	}
	return d.views.get(dec, p)
}

// Counted reads the packets that waited for the message that has come.
func (d *receiver) Counted() { d.early.Counted(d.state) }

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
	if d.views != nil {
		d.views.keep(p)
	}
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
