package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// Errors of Receiver.Packet. After any of them the receiver is as it was, and has asked the server for what it needs.
var (
	// ErrEpoch says that a packet belongs to another world of the same connection, such as the one before a change of map. It is not an error of the server.
	ErrEpoch = errors.New("replica: a packet of another epoch")
	// ErrStale says that a packet came so late that it cannot be used.
	ErrStale = errors.New("replica: a packet that came too late")
	// ErrBase says that a packet is a difference from something that the receiver does not have.
	ErrBase = errors.New("replica: a packet on a base that is not here")
	// ErrHash says that what a packet came to is not what the server meant.
	ErrHash = errors.New("replica: a packet that decodes to something else than was sent")
	// ErrPacket says that a packet is not one that a server makes.
	ErrPacket = errors.New("replica: a malformed packet")
)

// errTwice is ErrStale for a packet that came before.
var errTwice = fmt.Errorf("%w, since it had come already", ErrStale)

// ReceiverOptions say what a client starts from.
type ReceiverOptions struct {
	// Start is a new world made with the server's settings; what is in it need not be sent. Nil if there is none.
	Start *world.World
	// Epoch must be that of the server's SenderOptions.
	Epoch uint8
	// Tick is about where the server is; half a minute more or less is close enough.
	Tick world.Tick
}

// maxHandles bounds how many entities a server can make a client keep.
const maxHandles = 1 << 18

// overtaken is by how many others a packet may be overtaken and still be used.
const overtaken = 32

// keepPackets is for how many packets an image is kept in any case: more than
// the window, so that a packet that was overtaken still finds its bases.
const keepPackets = 2 * (window + 1)

// A Receiver turns packets back into what a client holds: the images of the
// entities in its view. It takes any bytes, and keeps no more than a bounded
// amount for each entity.
type Receiver struct {
	protocol *Protocol
	options  ReceiverOptions
	dec      codec.PacketDecoder

	start     map[world.ID]startImage
	startHash uint64

	entities []*entity             // by handle
	places   map[entityPlace]int32 // which handle stands for what is in a place
	packets  [keepPackets]packetInfo
	newest   uint32
	any      bool
	tick     world.Tick // of the newest packet
	before   uint32     // messages before the newest packet

	received uint32 // messages with events
	events   []Event
	eventBuf []byte
	heard    int        // events that were handed out
	believed []Event    // of those, which may be retracted
	settling world.Tick // the settled tick that was heard of,
	settled  world.Tick // and that was handed out

	queue    []*Snapshot // not handed out yet
	shown    *Snapshot   // handed out
	handed   uint64      // how many were taken before the last of those that were handed out
	pool     []*Snapshot
	limbo    []spareImage // memory of images that a waiting snapshot may show
	spare    [][][]int32  // memory of images, by class
	outgoing [][]byte
	asked    bool // what was doubted has not been answered

	work  scratch
	stats ReceiverStats

	classic classicReceiver // what an older strategy does its own way; nil for Coeval
	doom3   *doom3Receiver  // the same, if it is Doom3
}

// ReceiverStats counts what a receiver met.
type ReceiverStats struct {
	Packets  uint64 // used
	Stale    uint64 // came too late
	Rejected uint64 // could not be used
	Mismatch uint64 // decoded to something else than the server meant
	Repairs  uint64 // entities asked for anew
	Held     int    // entities in view
	Kept     int    // images kept
}

type startImage struct {
	image []int32
	owner world.Player
}

// entity is what a receiver holds of one entity.
type entity struct {
	id     world.ID
	player world.Player // whose command it is, if it is one
	class  int32
	origin world.Name
	bound  uint32 // the packet that said what it is
	unsure bool   // it was asked for anew, and must be bound again
	floor  uint32 // what came up to this packet does not count, since it was asked for anew after it
	again  bool   // there is a floor
	told   uint32 // the packet that spoke of it last
	what   uint8  // and what that said
	passed bool   // what stands in its place was later bound to another handle
	images []gotImage
}

// gotImage is an image that came in a packet.
type gotImage struct {
	packet uint32
	tick   uint32
	owner  world.Player
	image  []int32

	based bool   // for Doom3: it became a base
	since uint32 // with this message
}

type packetInfo struct {
	packet uint32
	tick   uint32
	count  uint32 // of messages before it; for Coeval the lowest bits
	first  bool
	more   bool
	valid  bool
	acks   acks
}

// scratch is what a packet says, before it is known to be right.
type scratch struct {
	list  []news
	image []int32
	hist  codec.History
	part  codec.History
	acks  acks
	holes bool // some that the server may count on are missing here

	missing int32 // the handle of the entity whose base is not here, or -1
}

// news is what a packet says of one entity.
type news struct {
	handle int32
	what   uint8
	bind   bool
	id     world.ID
	player world.Player
	class  int32
	origin world.Name
	owner  world.Player
	image  []int32
}

// NewReceiver makes a receiver that holds nothing.
func NewReceiver(p *Protocol, o ReceiverOptions) *Receiver {
	r := &Receiver{protocol: p, options: o, dec: p.strategy.NewDecoder(), tick: o.Tick, places: map[entityPlace]int32{}, spare: make([][][]int32, len(p.classes))}
	switch p.options.Strategy {
	case Quake3:
		r.classic = &quake3Receiver{r: r}
	case Doom3:
		r.doom3 = &doom3Receiver{r: r}
		r.classic = r.doom3
	}
	if o.Start != nil {
		r.start = map[world.ID]startImage{}
		for class := range p.game.Classes() {
			for id := range o.Start.Host().Of(class) {
				r.start[id] = startImage{slices.Clone(o.Start.Host().Image(id)), o.Start.Owner(id)}
			}
		}
		r.startHash = startHash(o.Start)
	}
	return r
}

// Start identifies what the client starts from; 0 if nothing. The server's
// Publisher.Start must be the same for SenderOptions.Start to be set.
func (r *Receiver) Start() uint64 { return r.startHash }

// Start identifies what the published world was at first.
func (b *Publisher) Start() uint64 { return b.startHash }

// startHash covers the images of a world.
func startHash(w *world.World) uint64 {
	h := uint64(1)
	for class := range w.Game().Classes() {
		for id := range w.Host().Of(class) {
			h = (h ^ uint64(id)) * 0x9e3779b97f4a7c15
			h = mix(h, uint32(w.Owner(id)), imageSum(w.Host().Image(id)))
		}
	}
	return max(h, 1)
}

// Stats tells what the receiver met, and how much it keeps.
func (r *Receiver) Stats() ReceiverStats {
	s := r.stats
	for _, e := range r.entities {
		if e != nil {
			s.Kept += len(e.images)
			if e.what == held {
				s.Held++
			}
		}
	}
	return s
}

// Tick is that of the newest packet.
func (r *Receiver) Tick() world.Tick { return r.tick }

// Image gives what the receiver holds of an entity in view: for tools and tests. The scan takes its time.
func (r *Receiver) Image(id world.ID) (image []int32, ok bool) {
	for _, e := range r.entities {
		if e != nil && e.id == id && e.player == world.Nobody && e.what == held && len(e.images) > 0 {
			return e.images[len(e.images)-1].image, true
		}
	}
	return nil, false
}

// Packet takes a packet that arrived. What it brings is handed out by Next.
func (r *Receiver) Packet(data []byte) error {
	snap := r.snapshot()
	info, err := r.read(data, snap)
	if err != nil {
		r.pool = append(r.pool, snap)
		if errors.Is(err, errEarly) {
			if err = r.doom3.hold(info, data); err == nil {
				return nil
			}
		}
		switch {
		case errors.Is(err, ErrEpoch):
		case errors.Is(err, errTwice):
			r.stats.Stale++ // the first one counts
		case errors.Is(err, ErrStale):
			r.stats.Stale++
			r.reject(info.packet, false)
		case info.valid: // its header could be read, so the server can be told
			r.stats.Rejected++
			if errors.Is(err, ErrHash) {
				r.stats.Mismatch++
			}
			// A wrong base makes nonsense of what follows it.
			r.reject(info.packet, !errors.Is(err, ErrBase) && r.protocol.options.Strategy != Quake3)
			if r.work.missing >= 0 {
				r.fresh([]int32{r.work.missing})
			}
		default:
			r.stats.Rejected++
		}
		return err
	}
	r.stats.Packets++
	r.commit(info, snap)
	return nil
}

// reject tells the server that a packet was of no use. If something that is
// held may be wrong, it is asked for hashes to compare.
func (r *Receiver) reject(packet uint32, doubt bool) {
	m := append([]byte{messageReject}, binary.AppendUvarint(nil, uint64(packet))...)
	var list []int32
	if doubt && !r.asked {
		for _, n := range r.work.list {
			if len(list) < maxReport {
				list = append(list, n.handle)
			}
		}
		r.asked = len(list) > 0
	}
	r.outgoing = append(r.outgoing, appendHandles(m, list))
}

func appendHandles(m []byte, list []int32) []byte {
	m = binary.AppendUvarint(m, uint64(len(list)))
	for _, h := range list {
		m = binary.AppendUvarint(m, uint64(h))
	}
	return m
}

// fresh asks for entities as if they had never been sent.
func (r *Receiver) fresh(list []int32) {
	for len(list) > 0 {
		n := min(len(list), maxReport)
		r.outgoing = append(r.outgoing, appendHandles([]byte{messageFresh}, list[:n]))
		for _, h := range list[:n] {
			r.stats.Repairs++
			e := r.entities[h]
			r.recycle(e, len(e.images))
			e.unsure, e.floor, e.again = true, r.newest, true
		}
		list = list[n:]
	}
}

// Outgoing gives the messages that are to be sent to the server, reliably.
// They are good until the next call.
func (r *Receiver) Outgoing() [][]byte {
	out := r.outgoing
	r.outgoing = nil
	return out
}

// Message takes a reliable message of the server.
func (r *Receiver) Message(data []byte) error {
	if len(data) == 0 {
		return fmt.Errorf("%w: empty", ErrMessage)
	}
	m := message{data[1:], nil}
	switch data[0] {
	case messageEvents, messageLeading:
		err := r.hear(&m, data[0] == messageLeading)
		if err == nil && r.classic != nil {
			r.classic.counted()
		}
		return err
	case messageBases:
		return r.compare(&m)
	case messageAdvance:
		if r.classic != nil {
			err := r.classic.advance(data[1:])
			if err == nil {
				r.classic.counted()
			}
			return err
		}
	}
	return fmt.Errorf("%w: unknown kind %d", ErrMessage, data[0])
}

// compare looks at what is held of doubted entities, and asks anew for those
// that are not what the server thinks. If all are right, it asks for all of them.
func (r *Receiver) compare(m *message) error {
	r.asked = false
	var wrong, all []int32
	for m.err == nil {
		h := int32(m.number(maxHandles)) - 1
		if h < 0 {
			break
		}
		var e *entity
		if int(h) < len(r.entities) {
			e = r.entities[h]
		}
		bad := false
		for m.err == nil {
			packet := uint32(m.number(1<<32-1)) - 1
			if packet == ^uint32(0) {
				break
			}
			b := m.bytes(2)
			if b == nil || e == nil {
				continue
			}
			if g := e.got(packet); g == nil || imageHash(g.image) != binary.LittleEndian.Uint16(b) {
				bad = true
			}
		}
		if e != nil {
			all = append(all, h)
			if bad {
				wrong = append(wrong, h)
			}
		}
	}
	if err := m.done(); err != nil {
		return err
	}
	if len(wrong) == 0 {
		wrong = all
	}
	r.fresh(wrong)
	return nil
}

// got finds the image that came in a packet.
func (e *entity) got(packet uint32) *gotImage {
	for i := len(e.images) - 1; i >= 0; i-- {
		if e.images[i].packet == packet {
			return &e.images[i]
		}
	}
	return nil
}
