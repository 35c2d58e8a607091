package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// ErrMessage is wrapped by the errors of Sender.Message and Receiver.Message:
// the other side sent what it should not.
var ErrMessage = errors.New("replica: bad message")

// maxReport is how many entities one report of a client may name.
const maxReport = 64

// Message takes a message that the client's Receiver sent. An error means that
// the client does not keep to the protocol; nothing was done then.
//
// A client says here that it could not use a packet, though it arrived, and which entities it needs anew.
func (s *Sender) Message(data []byte) error {
	if len(data) == 0 {
		return fmt.Errorf("%w: empty", ErrMessage)
	}
	s.settle()
	defer s.applyPins()
	m := message{data[1:], nil}
	switch data[0] {
	case messageReject:
		packet := uint32(m.number(1<<32 - 1))
		handles := m.handles(len(s.records))
		if err := m.done(); err != nil {
			return err
		}
		s.reject(packet)
		s.doubt = append(s.doubt[:0], handles...)
	case messageFresh:
		handles := m.handles(len(s.records))
		if err := m.done(); err != nil {
			return err
		}
		for _, h := range handles {
			s.refresh(&s.records[h])
		}
	default:
		return fmt.Errorf("%w: unknown kind %d", ErrMessage, data[0])
	}
	return nil
}

// reject forgets that a packet arrived.
func (s *Sender) reject(packet uint32) {
	s.ledger.Rejects++
	if s.classic != nil {
		s.classic.distrust()
	}
	for _, f := range s.flights {
		if f.packet == packet { // the verdict was not known yet, and now it is
			s.land(f, false)
			return
		}
	}
	if s.next-packet > window+1 || !s.arrived.has(packet) {
		return
	}
	s.arrived.drop(packet)
	for i := range s.records {
		if s.records[i].unique != 0 {
			s.disown(int32(i), packet)
		}
	}
	if s.newest == packet {
		s.any = false
		for p := packet - 1; s.next-p <= window; p-- {
			if s.arrived.has(p) {
				s.newest, s.any = p, true
				break
			}
		}
	}
}

// disown forgets that the client has what a packet said of an entity.
func (s *Sender) disown(h int32, packet uint32) {
	r := &s.records[h]
	number, newest := r.disown(packet)
	if newest {
		if r.acked > 0 {
			s.hold(r, r.ack(0).number)
		}
		s.release(r, number)
	}
	if r.acked == 0 {
		r.bound = false // what said which entity it is may have been just that packet
	}
	if r.packet == packet {
		r.told = untold
		s.stale = true
		if r.want != held && !slices.Contains(s.leaving, h) {
			s.leaving = append(s.leaving, h) // that it is gone must be told once more
		}
	}
}

// refresh sends an entity as if the client had never heard of it.
func (s *Sender) refresh(r *record) {
	if r.unique == 0 {
		return
	}
	s.ledger.Repairs++
	if s.classic != nil {
		s.classic.distrust()
	}
	s.unbase(r)
	r.bound, r.since = false, s.next
	if r.want == held {
		r.told, s.stale = untold, true
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
		r := &s.records[h]
		if r.unique == 0 {
			continue
		}
		sl := &s.pub.slots[r.slot]
		if sl.unique != r.unique {
			continue
		}
		*m = binary.AppendUvarint(*m, uint64(h)+1)
		for i := range int(r.acked) {
			a := r.ack(i)
			if _, image := sl.find(a.number); image != nil {
				*m = binary.AppendUvarint(*m, uint64(a.packet)+1)
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

// message reads a reliable message.
type message struct {
	data []byte
	err  error
}

func (m *message) fail(what string) {
	if m.err == nil {
		m.err = fmt.Errorf("%w: %s", ErrMessage, what)
	}
}

// number reads a number of at most so much.
func (m *message) number(most uint64) uint64 {
	v, n := binary.Uvarint(m.data)
	if n <= 0 || v > most {
		m.fail("a number is missing or too large")
		m.data = nil
		return 0
	}
	m.data = m.data[n:]
	return v
}

// bytes reads n bytes.
func (m *message) bytes(n int) []byte {
	if n > len(m.data) {
		m.fail("it ends too early")
		m.data = nil
		return nil
	}
	b := m.data[:n]
	m.data = m.data[n:]
	return b
}

// handles reads a list of handles.
func (m *message) handles(count int) []int32 {
	n := int(m.number(maxReport))
	var list []int32
	for range n {
		h := m.number(1<<31 - 1)
		if m.err == nil && int(h) >= count {
			m.fail("an entity that was never sent")
		}
		list = append(list, int32(h))
	}
	if m.err != nil {
		return nil
	}
	return list
}

func (m *message) done() error {
	if m.err == nil && len(m.data) > 0 {
		m.fail("more than there should be")
	}
	return m.err
}
