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
	s.landAll()
	defer s.applyPins()
	m := message{data[1:], nil}
	switch data[0] {
	case messageReject:
		packet := uint32(m.number(1<<32 - 1))
		handles := m.handles(len(s.handles.list))
		if err := m.done(); err != nil {
			return err
		}
		s.reject(packet)
		s.doubt = append(s.doubt[:0], handles...)
	case messageFresh:
		handles := m.handles(len(s.handles.list))
		if err := m.done(); err != nil {
			return err
		}
		for _, h := range handles {
			s.refresh(h)
		}
	default:
		return fmt.Errorf("%w: unknown kind %d", ErrMessage, data[0])
	}
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
