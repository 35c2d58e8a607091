package replica

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// SenderBases is a strategy at the server, for one client: it knows what the client holds, and
// picks what each image is a difference from. Entities go by their handles.
type SenderBases interface {
	// Begin is called before the packets of a snapshot are made.
	Begin()
	// Header says in a packet what it is a difference from, and how many messages went before it.
	Header(enc codec.PacketEncoder, p *Sent)
	// Bound says whether the client knows which entity a handle stands for, so that a packet need
	// not say.
	Bound(handle int32) bool
	// Base picks what an image is a difference from. It adds nothing to b if the client is not
	// known to hold anything of the entity. Bound is asked after it.
	Base(handle int32, p *Sent, b *Base)
	// Staged is called with all packets of a snapshot. Whole is false if some of it could not be
	// encoded.
	Staged(packets []*Sent, whole bool)
	// Landed is called at the end of a packet's way, and says whether the packet counts as arrived.
	Landed(p *Sent, arrived bool) bool
	// Heard says whether the client is known to have heard what it was last told of an entity: that
	// it is there, or that it is gone.
	Heard(handle int32) bool
	// Held gives the i-th newest image that the client is known to hold, and the packet that
	// brought it.
	Held(handle int32, i int) (packet, number uint32, ok bool)
	// Refresh is called when the client asks for an entity anew: what it holds of it does not
	// count.
	Refresh(handle int32)
	// Forget is called when a handle stands for nothing any more.
	Forget(handle int32)
	// Rejected is called when the client could not use a packet. Arrived says that it counted as
	// arrived.
	Rejected(packet uint32, arrived bool)
}

// SenderState is what a strategy may ask of the Sender that it works for.
type SenderState interface {
	// Next is the number of the packet to come.
	Next() uint32
	// Messages is how many messages were sent that are counted.
	Messages() uint32
	// Tell sends a message of the strategy's own. It is counted.
	Tell(content []byte)
	// InView appends the handles of what is in view and still there.
	InView(list []int32) []int32
	// TellFirst sends the first images of entities in messages of the strategy's own, which are
	// counted: for Scheme.Lasting, and while a snapshot begins.
	TellFirst(handles []int32)
	// Kept says whether an image of an entity can still be found.
	Kept(handle int32, number uint32) bool
	// Pin sees that an image can be found until Unpin, within bounds: as long as it is a base.
	Pin(handle int32, number uint32)
	Unpin(handle int32, number uint32)
}

// Sent is a packet that a server made, with what it says of each entity.
type Sent struct {
	Packet   uint32 // its number
	Snapshot uint32 // the number of the snapshot that it belongs to, from 1
	Tick     uint32
	Said     []Said // by rising handles
}

// Said is what a packet says of one entity.
type Said struct {
	Handle int32
	Unique uint32 // tells entities apart that have the handle one after the other
	Number uint32 // of the image, if What is Held
	What   What

	sends uint32 // how many times the entity had been sent
}

// A Base is what an image is a difference from: images that the client holds, by number, the newest
// first. If there are none, it is what the game starts from.
type Base struct {
	n       int
	numbers [codec.Depth]uint32
	ages    [codec.Depth]uint32
	old     int64 // Coeval's own: see known.Base
}

// Add adds an image, and how many ticks ago it was so.
func (b *Base) Add(number, age uint32) {
	b.numbers[b.n], b.ages[b.n] = number, age
	b.n++
}

// ReceiverBases is a strategy at a client: it keeps what packets may be differences from.
type ReceiverBases interface {
	// Header reads what SenderBases.Header wrote, and sets p.Messages. ErrWaits says that it keeps
	// a copy of the packet until more messages have come.
	Header(dec codec.PacketDecoder, p *Arrived) error
	// Base fills h with what the image of an entity is a difference from, by News.From. It is not
	// called where the packet says which entity it is.
	Base(dec codec.PacketDecoder, p *Arrived, n *News, h *codec.History) error
	// Certain says whether nothing was missed, so that what a packet does not mention has not
	// changed.
	Certain(p *Arrived) bool
	// Commit takes over what a packet said, now that it is known to be right.
	Commit(p *Arrived, news []News)
	// Image finds the image of an entity that came in a packet.
	Image(handle int32, packet uint32) (image []int32, ok bool)
	// Forget drops what is kept of a handle.
	Forget(handle int32)
	// Message takes a message of the strategy's own, the count-th of those that are counted.
	Message(content []byte, count uint32) error
	// Counted is called when one more of the counted messages has come.
	Counted()
	// Kept is how many images are kept.
	Kept() int
}

// ReceiverState is what a strategy may ask of the Receiver that it works for.
type ReceiverState interface {
	// Newest is the number of the newest packet.
	Newest() uint32
	// Came gives one of the latest packets, or nil if it did not come.
	Came(packet uint32) *Arrived
	// Whole says whether all packets of a snapshot up to this one came.
	Whole(p *Arrived) bool
	// Messages is how many of the counted messages came.
	Messages() uint32
	// Count completes the count of messages before a packet, of which six bits are known.
	Count(low, packet uint32) uint32
	// First reads a message of TellFirst, and gives what it says of each entity. The news are good
	// during the call.
	First(content []byte, each func(n *News)) error
	// Missing notes that the base of an entity is not here, so that it will be asked for anew.
	Missing(handle int32)
	// Refuse gives up a packet that waited, and tells the server so.
	Refuse(packet uint32)
	// Packet takes a packet that waited.
	Packet(data []byte) error
}

// Arrived is a packet that came, as far as its header tells.
type Arrived struct {
	Packet   uint32 // its number
	Tick     uint32
	Messages uint32 // how many counted messages went before it
	First    bool   // it is the first of its snapshot
	More     bool   // others of its snapshot follow
	Data     []byte // all of it, until Commit
	// InView has a bit for each handle that is in view, where Scheme.Views is set; it is good until
	// Commit.
	InView []uint32

	valid bool
}

// same says whether it is a certain packet.
func (p *Arrived) same(packet uint32) bool { return p.valid && p.Packet == packet }

// News is what a packet says of one entity.
type News struct {
	Handle int32
	What   What
	Bind   bool // it says which entity it is
	Class  int32
	ID     world.ID
	Player world.Player // whose command it is, if it is one
	Origin world.Name
	Owner  world.Player
	Image  []int32

	owned bool // it says whose it is
}

// From adds an image that the news are a difference from, as it was at a tick; the first is the
// base.
func (n *News) From(h *codec.History, image []int32, owner world.Player, age uint32) {
	if h.Len == 0 && !n.owned {
		n.Owner = owner
	}
	h.Add(image, int32(min(age, 255)))
}

// Age is how many ticks ago something was. Where a server's tick went back it may lie ahead, and
// counts as now.
func Age(now, then uint32) uint32 {
	if int32(now-then) < 0 {
		return 0
	}
	return now - then
}
