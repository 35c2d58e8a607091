package replica

import "slices"

// What a client keeps of packets that came before the messages that they follow.
const (
	maxEarly      = 64
	maxEarlyBytes = 1 << 17
)

// Waiting holds packets that came before messages that they follow, for strategies that can read
// them only after those. It is bounded in number and in bytes.
type Waiting struct {
	early []earlyPacket // in order of arrival; what lies behind is memory for more
	bytes int           // of those
}

type earlyPacket struct {
	packet, count uint32
	data          []byte
}

// Hold keeps a packet if more messages went before it than have come, and then gives ErrWaits. If
// there are too many, the one that came first is given up.
func (w *Waiting) Hold(r ReceiverState, p *Arrived) error {
	if int32(p.Messages-r.Messages()) <= 0 {
		return nil
	}
	if slices.ContainsFunc(w.early, func(e earlyPacket) bool { return e.packet == p.Packet }) {
		return ErrStale
	}
	if len(p.Data) > maxEarlyBytes/2 {
		return ErrPacket
	}
	for len(w.early) == maxEarly || w.bytes+len(p.Data) > maxEarlyBytes {
		r.Refuse(w.early[0].packet)
		w.release(0)
	}
	if len(w.early) < cap(w.early) {
		w.early = w.early[:len(w.early)+1] // with the memory it had
	} else {
		w.early = append(w.early, earlyPacket{})
	}
	e := &w.early[len(w.early)-1]
	e.packet, e.count, e.data = p.Packet, p.Messages, append(e.data[:0], p.Data...)
	w.bytes += len(p.Data)
	return ErrWaits
}

// release takes a packet off those that wait. Its memory serves another, and
// stays as it is until then.
func (w *Waiting) release(i int) []byte {
	e := w.early[i]
	copy(w.early[i:], w.early[i+1:])
	w.early[len(w.early)-1] = e
	w.early = w.early[:len(w.early)-1]
	w.bytes -= len(e.data)
	return e.data
}

// Counted reads the packets that waited for the message that has come, in the
// order in which they were sent.
func (w *Waiting) Counted(r ReceiverState) {
	for {
		next := -1
		for i := range w.early {
			e := &w.early[i]
			if int32(e.count-r.Messages()) <= 0 &&
				(next < 0 || int32(e.packet-w.early[next].packet) < 0) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		// What is wrong with it is in the statistics and told to the server.
		_ = r.Packet(w.release(next))
	}
}
