package mirror

import (
	"net/netip"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// A stream is what has come from one other mirror. Commands are used as they come, in whatever order; what hangs on order (promises, assignments) waits
// until nothing before it is missing.
type stream struct {
	id      member.ID
	started bool       // it may stamp
	from    world.Tick // commands of it up to here do not count

	next    crimp.Sequence // the first packet that has not come
	promise world.Tick     // of the last packet before next
	count   uint32         // commands it stamped before that packet
	beyond  map[crimp.Sequence][]byte
	// submitted counts its commands that counted, where timelines wait: they have numbers without gaps.
	submitted uint32
	// implied is the tick before its last command: timelines that wait take it that nothing earlier follows.
	implied world.Tick

	have    world.Tick // as it said itself
	waiting bool       // it said so
	newest  crimp.Sequence
	place   Place
	addr    netip.AddrPort // for mirrors
}

func newStream(id member.ID, next crimp.Sequence) *stream {
	return &stream{id: id, next: next, beyond: map[crimp.Sequence][]byte{}}
}

// put keeps a packet until it is in order. It says whether the packet was news.
func (s *stream) put(seq crimp.Sequence, data []byte) bool {
	if seq < s.next || s.beyond[seq] != nil {
		return false
	}
	s.beyond[seq] = append(make([]byte, 0, len(data)), data...)
	return true
}

// drain calls f with each packet that is in order now, until it says that it cannot take one yet.
func (s *stream) drain(f func(data []byte) bool) {
	for {
		data := s.beyond[s.next]
		if data == nil || !f(data) {
			return
		}
		delete(s.beyond, s.next)
		s.next++
	}
}

// skip passes over a packet that will never come.
func (s *stream) skip(seq crimp.Sequence) {
	if seq == s.next {
		s.next++
	}
}

// told takes what the newest packet says about its sender; older ones that come late do not count.
func (s *stream) told(seq crimp.Sequence, p *packet) {
	if seq > s.newest {
		s.newest, s.have, s.waiting = seq, p.have, p.waiting
	}
}

// promised takes a packet that is in order. It says whether the sender is to be believed: who takes back a promise is not.
func (s *stream) promised(p *packet) bool {
	if p.promise < s.promise || p.count < s.count {
		return false
	}
	s.promise, s.count = p.promise, p.count
	return true
}

// bound is the tick up to which the mirror stamps nothing more.
func (s *stream) bound() world.Tick { return max(s.promise, s.from) }
