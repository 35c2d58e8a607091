package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/bits"
)

// ErrMessage is wrapped by the errors of Sender.Message and Receiver.Message:
// the other side sent what it should not.
var ErrMessage = errors.New("replica: bad message")

// maxReport is how many entities one report of a client may name.
const maxReport = 64

// A report is what a client says: that it could not use a packet, and which entities it doubts; or
// which entities it needs anew.
type report struct {
	packet  uint64
	handles []int32
}

// fields reads or writes a report of some kind, on handles below a number.
func (r *report) fields(c *bits.Cursor, kind byte, below int) {
	if kind == messageReject {
		c.Uvarint(&r.packet, 1<<32-1)
	}
	n := uint64(len(r.handles))
	c.Uvarint(&n, maxReport)
	if c.Reading() {
		r.handles = make([]int32, n)
	}
	for i := range r.handles {
		h := uint64(r.handles[i])
		c.Uvarint(&h, 1<<31-1)
		c.Check(int(h) < below)
		r.handles[i] = int32(h)
	}
}

// Message takes a message that the client's Receiver sent. An error means that
// the client does not keep to the protocol; nothing was done then.
//
// A client says here that it could not use a packet, though it arrived, and which entities it needs
// anew.
func (s *Sender) Message(data []byte) error {
	if len(data) == 0 || data[0] != messageReject && data[0] != messageFresh {
		return fmt.Errorf("%w: none that a client sends", ErrMessage)
	}
	var r report
	c := bits.CursorOver(data[1:])
	if r.fields(&c, data[0], len(s.handles.list)); !c.Done() {
		return fmt.Errorf(
			"%w: a report that is cut off, too long, or on an entity that was never sent",
			ErrMessage)
	}
	s.landAll()
	if data[0] == messageReject {
		s.reject(uint32(r.packet))
		if len(r.handles) > 0 { // a client asks one question, and goes on to reject
			s.doubt = r.handles
		}
	} else if len(r.handles) > 0 {
		s.flights.renounce()
		for _, h := range r.handles {
			s.refresh(h)
		}
	}
	s.applyPins()
	return nil
}

// reject forgets that a packet arrived.
func (s *Sender) reject(packet uint32) {
	s.ledger.Rejects++
	under := slices.IndexFunc(s.flights.list, func(f *flight) bool { return f.Packet == packet })
	arrived := under < 0 && s.flights.recent(packet) && s.flights.arrived.has(packet)
	s.bases.Rejected(packet, arrived)
	if under >= 0 { // the verdict was not known yet, and now it is
		s.land(s.flights.list[under], false)
	}
	if !arrived {
		return
	}
	s.flights.disown(packet)
	for i := range s.handles.list {
		r := &s.handles.list[i]
		if r.unique == 0 || r.packet != packet {
			continue
		}
		r.told, s.view.stale = untold, true
		if h := int32(i); r.want != Held && !slices.Contains(s.view.leaving, h) {
			s.view.leaving = append(s.view.leaving, h) // that it is gone must be told once more
		}
	}
}

// refresh sends an entity as if the client had never heard of it.
func (s *Sender) refresh(h int32) {
	r := s.at(h)
	if r.unique == 0 {
		return
	}
	s.ledger.Repairs++
	s.bases.Refresh(h)
	if r.want == Held {
		r.told, s.view.stale = untold, true
	}
}

// answer queues the hashes of all that the client is thought to hold of the
// entities that it doubts.
func (s *Sender) answer() {
	if len(s.doubt) == 0 {
		return
	}
	m := s.messages.open()
	*m = append(*m, messageBases)
	for _, h := range s.doubt {
		r := s.at(h)
		if r.unique == 0 {
			continue
		}
		sl := &s.pub.slots[r.slot]
		if sl.unique != r.unique {
			continue
		}
		*m = binary.AppendUvarint(*m, uint64(h)+1)
		for i := 0; ; i++ {
			packet, number, ok := s.bases.Held(h, i)
			if !ok {
				break
			}
			if _, image := sl.find(number); image != nil {
				*m = binary.AppendUvarint(*m, uint64(packet)+1)
				*m = binary.LittleEndian.AppendUint16(*m, imageHash(image))
			}
		}
		*m = append(*m, 0)
	}
	*m = append(*m, 0)
	s.doubt = s.doubt[:0]
}

// imageHash tells images apart.
func imageHash(image []int32) uint16 {
	h := imageSum(image)
	return uint16(h>>48 ^ h>>20)
}
