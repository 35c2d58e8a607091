package listenlab

import (
	"encoding/binary"
	"errors"
	"time"
)

// A probe is a datagram of either direction. An answer repeats what it answers.
type probe struct {
	session uint64
	number  uint32
	sent    int64 // by the clock of who asks
	// of an answer:
	came int64  // by the clock of who answers
	have uint64 // which of the last 64 before this number have come, the newest in the lowest bit
	last bool   // it is an answer
}

// probeSize is that of a game's small packet.
const probeSize = 64

var magic = [8]byte{'c', 'o', 'e', 'v', 'a', 'l', 'L', '1'}

func (p *probe) append(b []byte) []byte {
	from := len(b)
	b = append(b, magic[:]...)
	b = binary.BigEndian.AppendUint64(b, p.session)
	b = binary.BigEndian.AppendUint32(b, p.number)
	b = binary.BigEndian.AppendUint64(b, uint64(p.sent))
	b = binary.BigEndian.AppendUint64(b, uint64(p.came))
	b = binary.BigEndian.AppendUint64(b, p.have)
	answer := byte(0)
	if p.last {
		answer = 1
	}
	b = append(b, answer)
	for len(b)-from < probeSize {
		b = append(b, 0)
	}
	return b
}

var errProbe = errors.New("listenlab: this is no probe")

func (p *probe) parse(b []byte) error {
	if len(b) != probeSize || [8]byte(b[:8]) != magic || b[44] > 1 {
		return errProbe
	}
	p.session = binary.BigEndian.Uint64(b[8:])
	p.number = binary.BigEndian.Uint32(b[16:])
	p.sent = int64(binary.BigEndian.Uint64(b[20:]))
	p.came = int64(binary.BigEndian.Uint64(b[28:]))
	p.have = binary.BigEndian.Uint64(b[36:])
	p.last = b[44] == 1
	return nil
}

// An Answerer answers probes. It remembers of some sessions which probes have come, and nothing
// else.
type Answerer struct {
	sessions map[uint64]*heard
	Answered uint64
	Refused  uint64 // datagrams that are no probes
}

// heard is what has come of a session.
type heard struct {
	number uint32
	have   uint64
	at     time.Duration
}

// mostSessions is how many are remembered; the one that was heard longest ago makes room.
const mostSessions = 256

// NewAnswerer makes one.
func NewAnswerer() *Answerer { return &Answerer{sessions: map[uint64]*heard{}} }

// Answer makes the answer to a datagram, as long as that, or nothing if it is no probe.
func (a *Answerer) Answer(now time.Duration, b []byte) []byte {
	var p probe
	if p.parse(b) != nil || p.last {
		a.Refused++
		return nil
	}
	h := a.sessions[p.session]
	if h == nil {
		a.forget()
		h = &heard{number: p.number}
		a.sessions[p.session] = h
	}
	h.at = now
	switch ahead := int64(p.number) - int64(h.number); {
	case ahead > 0 && ahead < 64:
		h.have = h.have<<ahead | 1<<(ahead-1)
		h.number = p.number
	case ahead >= 64:
		h.have, h.number = 0, p.number
	case ahead < 0 && ahead >= -64:
		h.have |= 1 << (-ahead - 1)
	}
	a.Answered++
	p.came, p.have, p.last = int64(now), h.have, true
	p.number, p.have = h.answering(p.number)
	return p.append(nil)
}

// answering is the number that an answer is for, and which before it have come.
func (h *heard) answering(n uint32) (uint32, uint64) {
	if behind := h.number - n; behind > 0 && behind < 64 {
		return n, h.have >> behind
	}
	return n, h.have
}

func (a *Answerer) forget() {
	if len(a.sessions) < mostSessions {
		return
	}
	var oldest uint64
	first := true
	for id, h := range a.sessions {
		o := a.sessions[oldest]
		if first || h.at < o.at || h.at == o.at && id < oldest {
			oldest, first = id, false
		}
	}
	delete(a.sessions, oldest)
}
