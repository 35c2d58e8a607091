package zone

import (
	"slices"
	"time"
)

// stream is what passes between a zone and one other, both ways. What comes before the live part
// follows from the zone's records.
type stream struct {
	peer ID
	// out holds the items for the peer that are not known to be taken, by number.
	out   queue
	bytes int // of out
	// accepted is the number up to which items of the peer were taken by a tick.
	accepted uint64
	// ghost is what the body holds of the peer.
	ghostEpoch uint64
	ghostTick  Tick

	// since is how many items, and bytes of them, are behind one that a tick puts out, up to the
	// last entity among them: see together.
	since, sinceLen int

	live passage
}

// passage is what the owner of a zone knows about a stream beyond the records. Each number goes
// from being in the next record to being in one under way, which has a mark of it, to being
// durable, and only what is durable is told to others.
type passage struct {
	built, durable           uint64 // up to which items of out are
	acceptBuilt, acceptKnown uint64 // up to which taken items are

	told   uint64        // up to which the peer was told that they are taken
	answer bool          // it is to be told again
	gap    bool          // it sent something that is further on
	asked  time.Duration // when it was last told of a gap
	gapAt  time.Duration // when something was sent again as it was missing

	sent     uint64 // up to which items were sent
	have     uint64 // up to which the peer has items, as it said
	resendAt time.Duration
	wait     time.Duration // before it is sent again

	inbox      queue // items of the peer that wait for a tick
	inboxBytes int

	ghost    shown  // what the peer shows, for the next tick
	ghostBuf []byte // its bytes
	seen     Tick   // up to which tick the peer has what is shown to it
	seenOf   uint64 // the epoch in which that was shown
}

// streams are ordered by peer.
type streams []*stream

func (s streams) find(peer ID) (int, bool) {
	// Written out, as a closure for slices.BinarySearchFunc costs more than the search.
	lo, hi := 0, len(s)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if s[mid].peer < peer {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(s) && s[lo].peer == peer
}

// get gives the stream of a peer or nil.
func (s streams) get(peer ID) *stream {
	if i, ok := s.find(peer); ok {
		return s[i]
	}
	return nil
}

// open gives the stream of a peer and makes it if there is room for one more, otherwise nil.
func (s *streams) open(peer ID) *stream {
	i, ok := s.find(peer)
	if !ok {
		if len(*s) >= MaxPeers || peer == 0 {
			return nil
		}
		*s = slices.Insert(*s, i, newStream(peer))
	}
	return (*s)[i]
}

func newStream(peer ID) *stream {
	st := &stream{peer: peer}
	st.out.restart(1)
	st.live.inbox.restart(1)
	return st
}

// push puts an item into the outbox and gives its number.
func (st *stream) push(i *item) uint64 {
	st.out.push(i)
	st.bytes += i.size()
	return st.out.end() - 1
}

// passed drops what the peer has taken.
func (st *stream) passed(number uint64) {
	for st.out.len() > 0 && st.out.first <= number {
		st.bytes -= st.out.at(st.out.first).size()
		st.out.drop(st.out.first + 1)
	}
}

// full says that no more of what would cross is kept for this peer.
func (st *stream) full() bool { return st.out.len() >= maxOutbox || st.bytes >= maxOutboxLen }

// revive begins the live part after a replay: all there is, is durable, and nothing is sent.
func (st *stream) revive() {
	last := st.out.end() - 1
	st.live = passage{built: last, durable: last,
		acceptBuilt: st.accepted, acceptKnown: st.accepted,
		sent: st.out.first - 1, have: st.out.first - 1}
	st.live.inbox.restart(st.accepted + 1)
}
