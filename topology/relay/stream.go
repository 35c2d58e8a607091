package relay

import "bytes"

// A stream is the items that a member sends, by number. Those before taken have gone into rows,
// those up to had are there, and some beyond may be, with gaps before them. None is ahead of taken
// by more than the bound that the member was told; and some that were taken are kept, to see that
// no other bytes are sent for them.
type stream struct {
	taken, had uint32
	debt       uint32 // rows that have gone by without an item of their own
	slots      []slot // ring of streamSlots
	large      map[uint32][]byte
}

// slot holds an item, if it is there: tag is its number and one.
type slot struct {
	tag   uint32
	size  uint8
	small [11]byte
}

const (
	// MaxAhead is how many items a member may send beyond those that rows have taken.
	MaxAhead    = 64
	streamSlots = 128
)

func (s *stream) slot(n uint32) *slot { return &s.slots[n%streamSlots] }

// item is an item that is there.
func (s *stream) item(n uint32) []byte {
	x := s.slot(n)
	if int(x.size) > len(x.small) {
		return s.large[n%streamSlots]
	}
	return x.small[:x.size]
}

type verdict uint8

const (
	fresh   verdict = iota
	known           // has been there before
	beyond          // is further ahead than allowed
	changed         // had other bytes before
)

// put takes an item that has come.
func (s *stream) put(n uint32, item []byte) verdict {
	if s.slots == nil {
		s.slots = make([]slot, streamSlots)
	}
	if n-s.taken >= MaxAhead && int32(n-s.taken) >= 0 {
		return beyond
	}
	if s.taken-n > streamSlots-MaxAhead && int32(n-s.taken) < 0 {
		return known // too long ago to tell
	}
	x := s.slot(n)
	if x.tag == n+1 {
		if !bytes.Equal(s.item(n), item) {
			return changed
		}
		return known
	}
	if int32(n-s.had) < 0 {
		return known
	}
	x.tag, x.size = n+1, uint8(len(item))
	if len(item) > len(x.small) {
		if s.large == nil {
			s.large = map[uint32][]byte{}
		}
		s.large[n%streamSlots] = append(s.large[n%streamSlots][:0], item...)
	} else {
		copy(x.small[:], item)
	}
	for s.had-s.taken < MaxAhead && s.slot(s.had).tag == s.had+1 {
		s.had++
	}
	return fresh
}

// ready says whether the next item is there.
func (s *stream) ready() bool { return s.had != s.taken }

// owe counts a row of which so many items were taken, and says how many rows the stream is behind.
// Both ends count alike.
func owe(debt uint32, taken int) uint32 {
	return uint32(min(max(int(debt)+1-taken, 0), MaxAhead))
}

// advance finds how many are there after some have been taken.
func (s *stream) advance() {
	for s.slots != nil && s.had-s.taken < MaxAhead && s.slot(s.had).tag == s.had+1 {
		s.had++
	}
}
