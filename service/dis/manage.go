package dis

import "encoding/binary"

// Request is what the PDUs of simulation management have in common: from whom, to whom, and a
// number by which the answer is known.
type Request struct {
	From, To ID
	Number   uint32
}

func putRequest(w []byte, q *Request) {
	putID(w, q.From)
	putID(w[6:], q.To)
}

// CreateEntity asks the receiver to make an entity.
type CreateEntity struct {
	Header
	Request
}

// RemoveEntity says that an entity is no more, or asks its simulator to remove it.
type RemoveEntity struct {
	Header
	Request
}

const createSize = 28

func (h *Header) appendRequest(b []byte, k Kind, q *Request) []byte {
	b, w := h.begin(b, k, createSize)
	putRequest(w[12:], q)
	binary.BigEndian.PutUint32(w[24:], q.Number)
	return b
}

func (h *Header) readRequest(b []byte, k Kind, q *Request) error {
	r, err := h.open(b, k, createSize)
	if err != nil {
		return err
	}
	*q = Request{getID(r[12:]), getID(r[18:]), binary.BigEndian.Uint32(r[24:])}
	return h.exactly(createSize)
}

// Append adds the PDU to b.
func (p *CreateEntity) Append(b []byte) []byte {
	return p.appendRequest(b, KindCreateEntity, &p.Request)
}

// Read sets p to the PDU that b begins with.
func (p *CreateEntity) Read(b []byte) error {
	return p.readRequest(b, KindCreateEntity, &p.Request)
}

// Append adds the PDU to b.
func (p *RemoveEntity) Append(b []byte) []byte {
	return p.appendRequest(b, KindRemoveEntity, &p.Request)
}

// Read sets p to the PDU that b begins with.
func (p *RemoveEntity) Read(b []byte) error {
	return p.readRequest(b, KindRemoveEntity, &p.Request)
}

// StartResume says when an entity or exercise goes on.
type StartResume struct {
	Header
	Request
	Real, Simulated Clock
}

const startSize = 44

// Append adds the PDU to b.
func (p *StartResume) Append(b []byte) []byte {
	b, w := p.begin(b, KindStartResume, startSize)
	putRequest(w[12:], &p.Request)
	putClock(w[24:], p.Real)
	putClock(w[32:], p.Simulated)
	binary.BigEndian.PutUint32(w[40:], p.Number)
	return b
}

// Read sets p to the PDU that b begins with.
func (p *StartResume) Read(b []byte) error {
	r, err := p.open(b, KindStartResume, startSize)
	if err != nil {
		return err
	}
	p.Request = Request{getID(r[12:]), getID(r[18:]), binary.BigEndian.Uint32(r[40:])}
	p.Real, p.Simulated = getClock(r[24:]), getClock(r[32:])
	return p.exactly(startSize)
}

// StopFreeze says when an entity or exercise stands still, why, and what goes on all the same.
type StopFreeze struct {
	Header
	Request
	Real   Clock
	Reason uint8
	Frozen uint8
}

const stopSize = 40

// Append adds the PDU to b.
func (p *StopFreeze) Append(b []byte) []byte {
	b, w := p.begin(b, KindStopFreeze, stopSize)
	putRequest(w[12:], &p.Request)
	putClock(w[24:], p.Real)
	w[32], w[33] = p.Reason, p.Frozen
	binary.BigEndian.PutUint32(w[36:], p.Number)
	return b
}

// Read sets p to the PDU that b begins with.
func (p *StopFreeze) Read(b []byte) error {
	r, err := p.open(b, KindStopFreeze, stopSize)
	if err != nil {
		return err
	}
	p.Request = Request{getID(r[12:]), getID(r[18:]), binary.BigEndian.Uint32(r[36:])}
	p.Real, p.Reason, p.Frozen = getClock(r[24:]), r[32], r[33]
	return p.exactly(stopSize)
}

// Acknowledge answers a request.
type Acknowledge struct {
	Header
	Request        // Number is that of what is answered
	Flag    uint16 // 1 create, 2 remove, 3 start, 4 stop, 5 transfer
	Answer  uint16 // 0 other, 1 able to comply, 2 unable
}

const acknowledgeSize = 32

// Append adds the PDU to b.
func (p *Acknowledge) Append(b []byte) []byte {
	b, w := p.begin(b, KindAcknowledge, acknowledgeSize)
	putRequest(w[12:], &p.Request)
	binary.BigEndian.PutUint16(w[24:], p.Flag)
	binary.BigEndian.PutUint16(w[26:], p.Answer)
	binary.BigEndian.PutUint32(w[28:], p.Number)
	return b
}

// Read sets p to the PDU that b begins with.
func (p *Acknowledge) Read(b []byte) error {
	r, err := p.open(b, KindAcknowledge, acknowledgeSize)
	if err != nil {
		return err
	}
	p.Request = Request{getID(r[12:]), getID(r[18:]), binary.BigEndian.Uint32(r[28:])}
	p.Flag, p.Answer = binary.BigEndian.Uint16(r[24:]), binary.BigEndian.Uint16(r[26:])
	return p.exactly(acknowledgeSize)
}

func putClock(w []byte, c Clock) {
	binary.BigEndian.PutUint32(w, uint32(c.Hours))
	binary.BigEndian.PutUint32(w[4:], uint32(c.Stamp))
}

func getClock(r []byte) Clock {
	return Clock{int32(binary.BigEndian.Uint32(r)), Stamp(binary.BigEndian.Uint32(r[4:]))}
}
