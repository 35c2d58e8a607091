package quake

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/replica"
)

// sender is the server's side. The base of an entity is its first image, once a message has told
// that.
type sender struct {
	state replica.SenderState
	said  []said  // by handle
	fresh []int32 // handles whose baselines are to be told
	since uint32  // a packet before this one that was of no use is no reason to begin anew
}

// said is what a client was last told of a handle.
type said struct {
	baseline bool // its baseline was told
	unique   uint32
	// the first packet since which it is told the same: that it is there, or that it is gone
	turned uint32
	what   replica.What
	known  bool // one of these packets has arrived
}

// at gives what was said of a handle.
func (q *sender) at(handle int32) *said {
	for int(handle) >= len(q.said) {
		q.said = append(q.said, said{})
	}
	return &q.said[handle]
}

// Begin tells the baselines of what is new in view.
func (q *sender) Begin() {
	q.fresh = q.state.InView(q.fresh[:0])
	n := 0
	for _, h := range q.fresh {
		if s := q.at(h); !s.baseline && q.state.Kept(h, replica.FirstImage) {
			s.baseline = true
			q.fresh[n] = h
			n++
		}
	}
	q.state.TellFirst(q.fresh[:n])
}

func (q *sender) Header(enc codec.PacketEncoder, _ *replica.Sent) {
	enc.Bits(q.state.Messages()&(1<<countBits-1), countBits)
}

func (q *sender) Bound(handle int32) bool { return q.at(handle).baseline }

func (q *sender) Base(handle int32, _ *replica.Sent, b *replica.Base) {
	if s := q.at(handle); s.baseline {
		if s.baseline = q.state.Kept(handle, replica.FirstImage); s.baseline {
			b.Add(replica.FirstImage, 255)
		}
	}
}

func (q *sender) Staged(packets []*replica.Sent, _ bool) {
	for _, p := range packets {
		for _, e := range p.Said {
			if s := q.at(e.Handle); s.unique != e.Unique || s.what != e.What {
				s.unique, s.what, s.turned, s.known = e.Unique, e.What, p.Packet, false
			}
		}
	}
}

func (q *sender) Landed(p *replica.Sent, arrived bool) bool {
	for _, e := range p.Said {
		if s := q.at(e.Handle); arrived && s.unique == e.Unique && s.what == e.What &&
			int32(p.Packet-s.turned) >= 0 {
			s.known = true
		}
	}
	return arrived
}

func (q *sender) Heard(handle int32) bool {
	s := q.at(handle)
	return s.known || s.unique == 0
}

// Held gives the baseline, so that whatever is not as that is told in every update.
func (q *sender) Held(handle int32, i int) (packet, number uint32, ok bool) {
	return 0, replica.FirstImage, i == 0 && q.at(handle).baseline
}

func (q *sender) Refresh(handle int32) { q.at(handle).baseline = false }

// Rejected tells all baselines anew, once for all packets that were under way.
func (q *sender) Rejected(packet uint32, _ bool) {
	if int32(packet-q.since) < 0 {
		return
	}
	q.since = q.state.Next()
	for i := range q.said {
		q.said[i].baseline, q.said[i].known = false, false
	}
}

func (q *sender) Forget(handle int32) { *q.at(handle) = said{} }
