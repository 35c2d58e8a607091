package gateway

import (
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/service/dis"
)

// again is how large the answer to a missing packet is.
func again(w *outgoing, seq uint32) int {
	n := 16
	for _, b := range w.lasting[seq%ring] {
		n += len(b) + 4
	}
	return n
}

// lacking answers that a reference is not there: the entity is told whole.
func (w *outgoing) lacking(g *Gateway, now time.Duration, clock dis.Stamp, index uint64) {
	if index >= uint64(len(w.slots)) || w.slots[index] == nil || w.slots[index].last == nil {
		g.Counters.Unanswered++
		return
	}
	s := w.slots[index]
	g.Counters.Answered++
	s.reference = nil
	if s.pending == 0 {
		w.add(g, now, clock, item{kind: itemReference, slot: s, pdu: s.last}, len(s.last)+6)
	}
}

// readAgain reads the PDUs of a packet that was asked for, which are told unless it came meanwhile.
func (g *Gateway) readAgain(now time.Duration, r *bits.Reader) error {
	seq, n := uint32(r.ReadBits(32)), r.ReadUvarint()
	if n > 4096 {
		return errNonsense
	}
	fresh := false
	for i, m := range g.in.gaps {
		if m.seq == seq {
			g.in.gaps = append(g.in.gaps[:i], g.in.gaps[i+1:]...)
			g.in.got[seq%window] = seq
			fresh = true
			break
		}
	}
	for range n {
		b, err := readPDU(r)
		if err != nil {
			return err
		}
		if fresh {
			g.tellRaw(now, b)
		}
	}
	return r.Err()
}

// ask asks for a reference, not more often than it can be answered.
func (g *Gateway) ask(now time.Duration, clock dis.Stamp, index uint64) {
	at, ok := g.in.asked[index]
	if ok && now-at < askAgain || !ok && len(g.in.asked) >= maxSlots {
		return
	}
	g.in.asked[index] = now
	g.Counters.Asked++
	g.out.add(g, now, clock, item{kind: itemLacking, seq: uint32(index)}, 8)
}
