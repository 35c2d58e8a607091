package codeclab

import (
	"encoding/binary"
	"fmt"

	"github.com/coeval-dev/coeval/codec"
)

// A frame is sent in packets that can each be decoded alone:
//
//	whole   0, entities
//	part    1, rank of the first entity (2 bytes), how many (2 bytes), the reference entity again except in the first packet, entities
//
// Entities stand in the order of sendingOrder, and their ranks count from there.
const (
	wholeHeader = 1
	partHeader  = 5
)

// sendingOrder puts the reference entity first, so that all others can make use of it.
func sendingOrder(r *codec.Recording) []int {
	order := make([]int, 0, len(r.Classes))
	if r.Refer >= 0 {
		order = append(order, r.Refer)
	}
	for e := range r.Classes {
		if e != r.Refer {
			order = append(order, e)
		}
	}
	return order
}

// A sender cuts frames into packets.
type sender struct {
	name    string
	enc     codec.PacketEncoder
	classes []int // by rank
	refer   bool  // whether the entity in the first rank is a reference
	most    int
	buffers [][]byte
	packets [][]byte // of the last frame
}

func newSender(name string, r *codec.Recording, enc codec.PacketEncoder, order []int,
	most int) *sender {
	s := &sender{name: name, enc: enc, refer: r.Refer >= 0, most: most}
	for _, e := range order {
		s.classes = append(s.classes, r.Classes[e])
	}
	return s
}

// all encodes frames one after the other, or what they would be had nothing changed.
func (s *sender) all(moments []moment, still bool) error {
	for i := range moments {
		x := &moments[i]
		now := x.now
		if still {
			now = x.base
		}
		if err := s.encode(x, now); err != nil {
			return fmt.Errorf("strategy %s, frame %d: %w", s.name, x.frame, err)
		}
	}
	return nil
}

// encode makes the packets of a frame, in buffers that are used again for the next one.
func (s *sender) encode(x *moment, now [][]int32) error {
	s.packets = s.packets[:0]
	for rank := 0; rank < len(s.classes); {
		buf := s.buffer()
		s.enc.Begin(buf[partHeader:])
		if rank > 0 && s.refer && !s.put(x, now, 0) {
			return codec.ErrFull
		}
		first := rank
		for rank < len(s.classes) && s.put(x, now, rank) {
			rank++
		}
		if rank == first {
			return fmt.Errorf("rank %d: %w", rank, codec.ErrFull)
		}
		body, err := s.enc.Finish()
		if err != nil {
			return err
		}
		n := copy(buf[partHeader:], body)
		start := 0
		if rank-first == len(s.classes) {
			start = partHeader - wholeHeader
			buf[start] = 0
		} else {
			buf[0] = 1
			binary.LittleEndian.PutUint16(buf[1:], uint16(first))
			binary.LittleEndian.PutUint16(buf[3:], uint16(rank-first))
		}
		s.packets = append(s.packets, buf[start:partHeader+n])
	}
	return nil
}

func (s *sender) put(x *moment, now [][]int32, rank int) bool {
	h := &x.histories[rank]
	if !s.enc.Put(s.classes[rank], h, now[rank]) {
		return false
	}
	if rank == 0 && s.refer {
		s.enc.Refer(s.classes[0], h, now[0])
	}
	return true
}

// buffer is room for the next packet.
func (s *sender) buffer() []byte {
	if len(s.packets) == len(s.buffers) {
		s.buffers = append(s.buffers, make([]byte, s.most))
	}
	return s.buffers[len(s.packets)]
}

// size is the bytes of the last frame.
func (s *sender) size() int {
	n := 0
	for _, p := range s.packets {
		n += len(p)
	}
	return n
}
