package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/entropy"
	"github.com/coeval-dev/coeval/world"
)

// Errors of Receiver.Packet. After any of them the receiver is as it was, and has asked the server
// for what it needs.
var (
	// ErrEpoch says that a packet belongs to another world of the same connection, such as the one
	// before a change of map. It is not an error of the server.
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

// ErrWaits is what a strategy says of a packet that it keeps until it can be read.
var ErrWaits = errors.New("replica: a packet that waits for messages")

// errTwice is ErrStale for a packet that came before.
var errTwice = fmt.Errorf("%w, since it had come already", ErrStale)

// ReceiverOptions say what a client starts from.
type ReceiverOptions struct {
	// Start is a new world made with the server's settings; what is in it need not be sent. Nil if
	// there is none.
	Start *world.World
	// Epoch must be that of the server's SenderOptions.
	Epoch uint8
	// Tick is about where the server is; half a minute more or less is close enough.
	Tick world.Tick
}

// maxHandles bounds how many entities a server can make a client keep, and maxAllocators from how
// many servers: a world has room of its own for the entities of each.
const (
	maxHandles    = 1 << 18
	maxAllocators = 64
)

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
	bases    ReceiverBases
	dec      codec.PacketDecoder
	tables   [TableSets]*codec.Model // that packets may name

	start     map[world.ID]startImage
	startHash uint64

	entities []*entity             // by handle
	places   map[entityPlace]int32 // which handle stands for what is in a place
	arrived  arrivals
	events   hearing
	queue    queue
	outgoing [][]byte
	from     []int // the allocators of entities
	asked    bool  // what was doubted has not been answered

	work  scratch
	stats ReceiverStats
}

// arrivals are the latest packets that came and could be used. What lies further back than
// overtaken packets before the newest is not taken any more.
type arrivals struct {
	ring   [keepPackets]Arrived
	newest uint32
	any    bool
	tick   world.Tick // of the newest packet
	before uint32     // messages before the newest packet
}

// came gives one of the latest packets, or nil if it did not come.
func (a *arrivals) came(packet uint32) *Arrived {
	if p := &a.ring[packet%keepPackets]; p.same(packet) {
		return p
	}
	return nil
}

// add notes a packet.
func (a *arrivals) add(p *Arrived, tick world.Tick) {
	at := &a.ring[p.Packet%keepPackets]
	*at = *p
	at.Data = nil
	if !a.any || int32(p.Packet-a.newest) > 0 {
		a.newest, a.any, a.tick, a.before = p.Packet, true, tick, p.Messages
	}
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

// entity is what a receiver knows of what a handle stands for. Its images are with the strategy.
type entity struct {
	id     world.ID
	player world.Player // whose command it is, if it is one
	class  int32
	origin world.Name
	bound  uint32 // the packet that said what it is
	unsure bool   // it was asked for anew, and must be bound again
	// what came up to this packet does not count, since it was asked for anew after it
	floor  uint32
	again  bool   // there is a floor
	told   uint32 // the packet that spoke of it last
	what   What   // and what that said
	passed bool   // what stands in its place was later bound to another handle
}

// scratch is what a packet says, before it is known to be right.
type scratch struct {
	packet  Arrived // the one that is being read
	list    []News
	hist    codec.History
	part    codec.History
	missing int32    // the handle of the entity whose base is not here, or -1
	first   Snapshot // memory for the images of a message
	message []byte   // one that was shortened
}

// NewReceiver makes a receiver that holds nothing.
func NewReceiver(p *Protocol, o ReceiverOptions) *Receiver {
	r := &Receiver{
		protocol: p, options: o, dec: p.coding.NewDecoder(), places: map[entityPlace]int32{}}
	r.tables[0] = p.model
	r.arrived.tick = o.Tick
	r.bases = p.scheme.Receiver((*receiverState)(r))
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
	s.Kept = r.bases.Kept()
	for _, e := range r.entities {
		if e != nil && e.what == Held {
			s.Held++
		}
	}
	return s
}

// Tick is that of the newest packet.
func (r *Receiver) Tick() world.Tick { return r.arrived.tick }

// Packet takes a packet that arrived. What it brings is handed out by Next.
func (r *Receiver) Packet(data []byte) error {
	snap := r.queue.fresh()
	r.work.packet = Arrived{Data: data}
	p := &r.work.packet
	err := r.read(p, snap)
	if err == nil {
		r.stats.Packets++
		r.commit(p, snap)
		return nil
	}
	r.queue.pool = append(r.queue.pool, snap)
	switch {
	case errors.Is(err, ErrWaits):
		return nil
	case errors.Is(err, ErrEpoch):
	case errors.Is(err, errTwice):
		r.stats.Stale++ // the first one counts
	case errors.Is(err, ErrStale):
		r.stats.Stale++
		r.reject(p.Packet, false)
	case p.valid: // its header could be read, so the server can be told
		r.stats.Rejected++
		if errors.Is(err, ErrHash) {
			r.stats.Mismatch++
		}
		// A wrong base makes nonsense of what follows it.
		r.reject(p.Packet, !errors.Is(err, ErrBase) && !r.protocol.scheme.Frames)
		if r.work.missing >= 0 {
			r.fresh([]int32{r.work.missing})
		}
	default:
		r.stats.Rejected++
	}
	return err
}

// reject tells the server that a packet was of no use. If something that is held may be wrong, it
// is asked for hashes to compare. Only what a packet that could be used has spoken of is named: a
// spoiled one may speak of handles that no server ever gave out.
func (r *Receiver) reject(packet uint32, doubt bool) {
	var list []int32
	if doubt && !r.asked {
		for i := range r.work.list {
			if h := r.work.list[i].Handle; len(list) < maxReport && r.at(h) != nil {
				list = append(list, h)
			}
		}
		r.asked = len(list) > 0
	}
	r.report(messageReject, report{uint64(packet), list})
}

func (r *Receiver) report(kind byte, about report) {
	c := bits.CursorTo([]byte{kind})
	about.fields(&c, kind, maxHandles)
	r.outgoing = append(r.outgoing, c.Data())
}

// fresh asks for entities as if they had never been sent.
func (r *Receiver) fresh(list []int32) {
	for some := range slices.Chunk(list, maxReport) {
		r.report(messageFresh, report{handles: some})
		for _, h := range some {
			r.stats.Repairs++
			r.bases.Forget(h)
			e := r.entities[h]
			e.unsure, e.floor, e.again = true, r.arrived.newest, true
		}
	}
}

// Outgoing gives the messages that are to be sent to the server, reliably.
// They are good until the next call.
func (r *Receiver) Outgoing() [][]byte {
	out := r.outgoing
	r.outgoing = nil
	return out
}

// maxShortened is how large a message may be that comes shortened.
const maxShortened = 1 << 18

// Message takes a reliable message of the server.
func (r *Receiver) Message(data []byte) error {
	if r.protocol.scheme.Shortens {
		whole, err := entropy.ZeroRuns{}.Decode(r.work.message[:0], data, maxShortened)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrMessage, err)
		}
		r.work.message, data = whole, whole
	}
	if len(data) == 0 {
		return fmt.Errorf("%w: empty", ErrMessage)
	}
	c := bits.CursorOver(data[1:])
	switch data[0] {
	case messageEvents, messageLeading:
		if err := r.hear(&c, data[0] == messageLeading); err != nil {
			return err
		}
	case messageAdvance:
		if err := r.bases.Message(data[1:], r.events.received+1); err != nil {
			return err
		}
	case messageBases:
		return r.compare(&c)
	default:
		return fmt.Errorf("%w: unknown kind %d", ErrMessage, data[0])
	}
	r.events.received++
	r.bases.Counted()
	return nil
}

// compare looks at what is held of doubted entities, and asks anew for those
// that are not what the server thinks. If all are right, it asks for all of them.
func (r *Receiver) compare(c *bits.Cursor) error {
	r.asked = false
	var wrong, all []int32
	next := func(most uint64) (n uint64) { // 0 at the end of a list
		c.Uvarint(&n, most)
		return n
	}
	for h := next(maxHandles); h > 0 && c.OK(); h = next(maxHandles) {
		handle := int32(h) - 1
		bad := false
		for p := next(1<<32 - 1); p > 0 && c.OK(); p = next(1<<32 - 1) {
			var hash [2]byte
			c.Raw(hash[:])
			image, ok := r.bases.Image(handle, uint32(p)-1)
			bad = bad || !ok || imageHash(image) != binary.LittleEndian.Uint16(hash[:])
		}
		if r.at(handle) != nil {
			all = append(all, handle)
			if bad {
				wrong = append(wrong, handle)
			}
		}
	}
	if !c.Done() {
		return fmt.Errorf("%w: hashes of bases that are cut off or too long", ErrMessage)
	}
	if len(wrong) == 0 {
		wrong = all
	}
	r.fresh(wrong)
	return nil
}

// known says whether a server may tell of an entity with this identifier: those that clients make
// up themselves are never told, and there are not many servers that make others.
func (r *Receiver) known(id world.ID) bool {
	a := id.Allocator()
	return a != world.Predicted && (len(r.from) < maxAllocators || slices.Contains(r.from, a))
}

// at gives what is known of a handle, or nil.
func (r *Receiver) at(handle int32) *entity {
	if int(handle) < len(r.entities) {
		return r.entities[handle]
	}
	return nil
}

// receiverState is a Receiver as its strategy sees it.
type receiverState Receiver

func (r *receiverState) Newest() uint32              { return r.arrived.newest }
func (r *receiverState) Came(packet uint32) *Arrived { return r.arrived.came(packet) }
func (r *receiverState) Messages() uint32            { return r.events.received }
func (r *receiverState) Missing(handle int32)        { r.work.missing = handle }
func (r *receiverState) Packet(data []byte) error    { return (*Receiver)(r).Packet(data) }

func (r *receiverState) Whole(p *Arrived) bool {
	for packet, first := p.Packet, p.First; !first; {
		packet--
		before := r.Came(packet)
		if before == nil || before.Tick != p.Tick {
			return false
		}
		first = before.First
	}
	return true
}

// Count goes by what is near to what has come, and not above that of a later packet.
func (r *receiverState) Count(low, packet uint32) uint32 {
	count := near(low, eventBits, r.events.received)
	if a := &r.arrived; a.any && int32(packet-a.newest) < 0 && int32(count-a.before) > 0 {
		count = a.before - (a.before-low)&(1<<eventBits-1)
	}
	return count
}

func (r *receiverState) Refuse(packet uint32) {
	r.stats.Rejected++
	(*Receiver)(r).reject(packet, false)
}
