package turns

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrTwoFaced says that somebody has sent two different commands for one tick.
var ErrTwoFaced = errors.New("turns: two different commands for one tick")

// Window is how many items of a stream are kept, and how far ahead of what is whole one may come.
const Window = 512

// A Head is a digest of a stream up to some item: who signs it has said all of them.
type Head [sha256.Size]byte

// A Stream is the commands of one player as they come in. Items are numbered by the tick that they
// are for. They may come in any order, doubled, and several times; they count once all before them
// are there.
type Stream struct {
	coder *Coder
	from  uint64 // the first item
	have  uint64 // all up to this one are there; from-1 if none is
	ring  [Window]entry
	start []int32 // the image before the first
	work  []int32
	first Head // before the first item
	head  Head // up to have
}

type entry struct {
	n     uint64 // which item it is; zero for none
	item  []byte
	image []int32 // once all before it are there
	head  Head
}

// NewStream makes a stream whose first item has a number, at least 1.
func NewStream(c *Coder, from uint64) *Stream {
	from = max(from, 1)
	s := &Stream{coder: c, from: from, have: from - 1, start: make([]int32, c.Len()),
		work: make([]int32, c.Len())}
	c.Start(s.start)
	return s
}

// From is the number of the first item.
func (s *Stream) From() uint64 { return s.from }

// Have is the number of the item up to which all are there, or one less than the first.
func (s *Stream) Have() uint64 { return s.have }

// Holds says whether an item is there and all before it are, and it was not forgotten.
func (s *Stream) Holds(n uint64) bool {
	return n >= s.from && n <= s.have && s.ring[n%Window].n == n
}

// Item is the bytes of an item that the stream holds. They must not be changed.
func (s *Stream) Item(n uint64) []byte { return s.ring[n%Window].item }

// Image is the command of an item that the stream holds. It must not be changed.
func (s *Stream) Image(n uint64) []int32 { return s.ring[n%Window].image }

// HeadAt is the digest up to an item that the stream holds.
func (s *Stream) HeadAt(n uint64) Head { return s.ring[n%Window].head }

// Guess fills in what is expected of an item that is not there: what is left of the last one when
// it is repeated.
func (s *Stream) Guess(image []int32) {
	copy(image, s.last())
	s.coder.Repeat(image)
}

func (s *Stream) last() []int32 {
	if s.have < s.from {
		return s.start
	}
	return s.ring[s.have%Window].image
}

// Put takes an item. News says whether more is whole than before. One that is too far ahead is
// forgotten, as if it had been lost. ErrTwoFaced says that another was there for its number, and
// ErrItem that it is no command; then nothing has changed.
func (s *Stream) Put(n uint64, item []byte) (news bool, err error) {
	if n < s.from || n > s.have+Window/2 {
		return false, nil
	}
	e := &s.ring[n%Window]
	if e.n == n {
		if !bytes.Equal(e.item, item) {
			return false, fmt.Errorf("%w: tick %d", ErrTwoFaced, n)
		}
		return false, nil
	}
	if n <= s.have {
		return false, nil // it was there, and is forgotten
	}
	if n > s.have+1 {
		e.n, e.item = n, append(e.item[:0], item...)
		return false, nil
	}
	if err := s.try(item); err != nil { // it is read before it is kept
		return false, fmt.Errorf("%w: tick %d", err, n)
	}
	e.n, e.item = n, append(e.item[:0], item...)
	s.count(e)
	for s.whole(s.have + 1) {
	}
	return true, nil
}

// try reads an item that would be the next.
func (s *Stream) try(item []byte) error {
	e := &s.ring[(s.have+1)%Window]
	if e.image == nil {
		e.image = make([]int32, s.coder.Len())
	}
	copy(s.work, s.last())
	return s.coder.Read(item, s.work, e.image)
}

// whole makes an item that came early count, if it is there. One that is no command is forgotten.
func (s *Stream) whole(n uint64) bool {
	e := &s.ring[n%Window]
	if e.n != n {
		return false
	}
	if s.try(e.item) != nil {
		e.n = 0
		return false
	}
	s.count(e)
	return true
}

// count has an item count that was read: all before it are there.
func (s *Stream) count(e *entry) {
	var b [sha256.Size + 8 + MaxItem]byte
	text := append(b[:0], s.head[:]...)
	text = binary.BigEndian.AppendUint64(text, e.n)
	s.head = sha256.Sum256(append(text, e.item...))
	e.head = s.head
	s.have = e.n
}

// Cut forgets all items after one: they do not count after all.
func (s *Stream) Cut(n uint64) {
	for i := range s.ring { // and not by number: who says what there is may lie about it
		if e := &s.ring[i]; e.n > n {
			e.n = 0
		}
	}
	if n < s.have {
		s.have = max(n, s.from-1)
		s.head = s.first
		if s.have >= s.from {
			s.head = s.ring[s.have%Window].head
		}
	}
}

// Repeat has all items from the next one to a number be ones that repeat the command before them,
// whatever came for those early.
func (s *Stream) Repeat(to uint64) {
	for i := range s.ring {
		if e := &s.ring[i]; e.n > s.have && e.n <= to {
			e.n = 0
		}
	}
	for s.have < to {
		if _, err := s.Put(s.have+1, nil); err != nil {
			return // cannot be: what repeats can follow anything
		}
	}
}

// Resume makes a stream of which all up to an item is elsewhere: the image of that item and the
// digest up to there are known.
func Resume(c *Coder, have uint64, image []int32, head Head) *Stream {
	s := NewStream(c, have+1)
	if len(image) == len(s.start) {
		copy(s.start, image)
	}
	s.first, s.head = head, head
	return s
}

// Before is the image and the digest that the item after n follows from: those of item n, if the
// stream holds it or begins right after it.
func (s *Stream) Before(n uint64) (image []int32, head Head, ok bool) {
	if s.Holds(n) {
		return s.Image(n), s.HeadAt(n), true
	}
	if n+1 == s.from {
		return s.start, s.first, true
	}
	return nil, Head{}, false
}
