package replica

import (
	"fmt"

	"github.com/coeval-dev/coeval/world"
)

// firstBytes is about how large a message with first images is. One image alone may take more.
const firstBytes = 1000

// maxFirstBytes is room for an image of any size.
const maxFirstBytes = 1 << 16

func (s *senderState) InView(list []int32) []int32 {
	for i := range s.view.list {
		if v := &s.view.list[i]; s.pub.slots[v.slot].unique == v.unique {
			list = append(list, v.handle)
		}
	}
	return list
}

// TellFirst sends first images, in as many messages as it takes. Each begins with the tick, and
// says of every entity which it is, whose, and its image as a difference from what it starts from.
func (s *senderState) TellFirst(handles []int32) {
	w := s.encodes
	if cap(w.buf) < maxFirstBytes {
		w.buf = make([]byte, maxFirstBytes)
	}
	enc := w.enc
	for len(handles) > 0 {
		enc.Begin(w.buf[:maxFirstBytes])
		enc.Bits(uint32(s.pub.tick), 32)
		said := 0
		for said < len(handles) && enc.Spent() < 8*firstBytes {
			s.putFirst(w, handles[said])
			said++
		}
		enc.Flag(false, chanceEntity)
		if data, err := enc.Finish(); err == nil { // what has no image is told in packets
			s.Tell(data)
		}
		handles = handles[said:]
	}
}

// putFirst writes the first image of an entity.
func (s *senderState) putFirst(w *Worker, h int32) {
	sl := &s.pub.slots[s.handles.list[h].slot]
	m, image := sl.find(FirstImage)
	if m == nil {
		return
	}
	enc := w.enc
	enc.Flag(true, chanceEntity)
	enc.Bits(uint32(h), handleBits)
	s.pub.protocol.binding(wire{enc: enc}, uint32(s.pub.tick),
		&News{ID: sl.id, Player: sl.player, Origin: sl.origin})
	w.hist.Reset()
	owner := (*Sender)(s).startBase(w, sl)
	enc.Flag(m.owner != owner, chanceOwner)
	if m.owner != owner {
		enc.Bits(uint32(m.owner), 16)
	}
	w.putParts(&s.pub.protocol.classes[sl.class], image)
}

// handleBits is what a handle takes where it stands alone.
const handleBits = 18

// First reads what TellFirst wrote.
func (r *receiverState) First(content []byte, each func(n *News)) error {
	bad := fmt.Errorf("%w: images that are cut off, or of what the game does not have", ErrMessage)
	dec, snap, n := r.dec, &r.work.first, &News{}
	dec.Begin(content)
	tick := dec.Bits(32)
	r.work.list, snap.images = r.work.list[:0], snap.images[:0]
	for dec.Flag(chanceEntity) {
		r.work.list = append(r.work.list,
			News{Handle: int32(dec.Bits(handleBits)), What: Held, Bind: true})
		n = &r.work.list[len(r.work.list)-1]
		if !(*Receiver)(r).readBinding(dec, tick, n) {
			return bad
		}
		h := &r.work.hist
		h.Reset()
		owned := dec.Flag(chanceOwner)
		if owned {
			n.Owner, n.owned = world.Player(dec.Bits(16)), true
		}
		(*Receiver)(r).startBase(n, h)
		if (*Receiver)(r).readImage(dec, n, snap) != nil {
			return bad
		}
	}
	if dec.Finish() != nil {
		return bad
	}
	for i := range r.work.list {
		each(&r.work.list[i])
	}
	return nil
}
