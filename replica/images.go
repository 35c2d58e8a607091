package replica

import "github.com/coeval-dev/coeval/world"

// recent is for how many publications every image of an entity can be found, and in ticks
// how far back a history may reach. An older one can be found as long as it is some client's base.
const recent = 120

// maxRing is how many images an entity has at most besides those that are
// pinned: a power of two above recent, as there is no more than one in a publication.
const maxRing = 128

// maxPinned bounds how many older images are kept of an entity. A client whose
// base is given up starts again from what its game starts from.
const maxPinned = 16

// slot is one thing that can be sent: an entity, a state, or the latest
// command of a player. Its images are numbered from 1; a number is never used for another image.
type slot struct {
	id     world.ID
	player world.Player // whose command it is, if it is one
	unique uint32       // tells apart those that had this slot one after another; 0 if it is free
	class  int32
	number uint32 // of the newest image
	taken  uint32 // the image from which on clients go on by themselves; 0 if they do not
	fields int32
	born   uint64 // the publication that first found it in the world
	seen   uint64 // and the one that last did
	origin world.Name

	images []int32 // a ring of images
	meta   []imageMeta
	pinned []pinnedImage
	lasts  bool        // the first image is kept for good,
	oldest pinnedImage // here
	// the image that the world starts with, which clients know without being told; nil if it was
	// not there
	first      []int32
	firstOwner world.Player // and whose it is then
}

// imageMeta is what is known of an image in the ring.
type imageMeta struct {
	number uint32
	since  uint32 // the publication in which it became so
	pins   uint32 // how many clients have it as their base
	owner  world.Player
	sum    uint64 // its hash
}

// FirstImage is the number of an entity's first image, as it was when it came into the world or
// when the world was first published. Where Scheme.Lasting is set it can always be found.
const FirstImage = 1

// pinnedImage is one that left the ring while it was a base.
type pinnedImage struct {
	imageMeta
	image []int32
}

// push adds the newest image.
func (s *slot) push(count uint32, owner world.Player, image []int32) {
	s.number++
	if len(s.meta) == 0 {
		s.grow(2)
	}
	at := int(s.number) & (len(s.meta) - 1)
	if old := &s.meta[at]; old.number != 0 {
		// It was true until the next one came.
		next := &s.meta[(at+1)&(len(s.meta)-1)]
		if count-next.since <= recent && len(s.meta) < maxRing {
			s.grow(2 * len(s.meta))
			at = int(s.number) & (len(s.meta) - 1)
		} else if old.pins > 0 {
			s.pin(at)
		}
	}
	s.meta[at] = imageMeta{number: s.number, since: count, owner: owner, sum: imageSum(image)}
	copy(s.row(at), image)
	if s.lasts && s.number == FirstImage {
		s.oldest.imageMeta, s.oldest.image = s.meta[at], append(s.oldest.image[:0], image...)
	}
}

func (s *slot) row(at int) []int32 {
	n := int(s.fields)
	return s.images[at*n : at*n+n : at*n+n]
}

// grow makes the ring larger. Images keep their numbers, and so find their new places.
func (s *slot) grow(size int) {
	meta, images := s.meta, s.images
	n := int(s.fields)
	s.meta, s.images = make([]imageMeta, size), make([]int32, size*n)
	for i, m := range meta {
		if m.number != 0 {
			at := int(m.number) & (size - 1)
			s.meta[at] = m
			copy(s.row(at), images[i*n:i*n+n])
		}
	}
}

// pin keeps an image that is about to be overwritten. If there are too many
// already, the oldest is given up, and with it the base of those who had it.
func (s *slot) pin(at int) {
	var keep pinnedImage
	if n := len(s.pinned); n == maxPinned {
		keep = s.pinned[0]
		copy(s.pinned, s.pinned[1:])
		s.pinned = s.pinned[:maxPinned-1]
	} else if n < cap(s.pinned) {
		keep = s.pinned[:n+1][n] // for the memory of one that was released
	}
	keep.imageMeta = s.meta[at]
	keep.image = append(keep.image[:0], s.row(at)...)
	s.pinned = append(s.pinned, keep)
}

// find gives an image by its number, or nil if it is no longer kept.
func (s *slot) find(number uint32) (*imageMeta, []int32) {
	if len(s.meta) == 0 {
		return nil, nil
	}
	if at := int(number) & (len(s.meta) - 1); s.meta[at].number == number {
		return &s.meta[at], s.row(at)
	}
	for i := range s.pinned {
		if s.pinned[i].number == number {
			return &s.pinned[i].imageMeta, s.pinned[i].image
		}
	}
	if s.lasts && number == FirstImage {
		return &s.oldest.imageMeta, s.oldest.image
	}
	return nil, nil
}

// hold says that one more client has an image as its base, and release that
// one less does.
func (s *slot) hold(number uint32) {
	if m, _ := s.find(number); m != nil {
		m.pins++
	}
}

func (s *slot) release(number uint32) {
	m, _ := s.find(number)
	if m == nil || m.pins == 0 {
		return
	}
	if m.pins--; m.pins > 0 {
		return
	}
	for i := range s.pinned {
		if s.pinned[i].number == number {
			spare, last := s.pinned[i], len(s.pinned)-1
			copy(s.pinned[i:], s.pinned[i+1:])
			s.pinned[last] = spare // its memory serves the next one that is pinned
			s.pinned = s.pinned[:last]
			return
		}
	}
}

// takeOver notes whether clients go on by themselves from the newest image on. With anew, those who
// hold an older one do not.
func (s *slot) takeOver(yes, anew bool) {
	switch {
	case !yes:
		s.taken = 0
	case anew || s.taken == 0:
		s.taken = s.number
	}
}

// now is the newest image.
func (s *slot) now() (*imageMeta, []int32) {
	at := int(s.number) & (len(s.meta) - 1)
	return &s.meta[at], s.row(at)
}
