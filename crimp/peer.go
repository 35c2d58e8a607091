package crimp

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
)

// peer is what is known of one member: its packets within the history, what of them is
// missing, and how far away it is. Our own packets are kept in one, too.
type peer struct {
	id     member.ID
	card   Card
	secret []byte        // shared with it
	heard  time.Duration // when anything genuine last came

	standing
	history
	recovery
	redundancy
	rhythm
	turn
	sealed
	reported
	testimony
	cast cast

	delay  delay
	window replayWindow // of its control packets
	lossy  replayWindow // of its lossy packets
	signed replayWindow // of its digests
	bucket bucket       // for repairs that it asks for
}

// standing is whether a member is in the group. One that is not present is kept for what counts
// of it: all up to end, if it has ended.
type standing struct {
	present bool // in the newest roster
	left    bool // has said that it leaves
	ended   bool // it is gone, and its packets up to end count
	end     Sequence
	frozen  bool // nothing beyond frozeAt is taken for now
	frozeAt Sequence
	untold  bool // gone, but Left has not been told yet
	why     Reason
}

// history is a ring of slots for the sequences from base up to, but not including, next. Beside
// it are the sums of what the packets say: they are read in a row, for each digest, and would cost
// as many misses of the cache if they lay in the slots. A packet that came only inside of another
// has none, which is zero.
type history struct {
	ring       []slot
	sums       []byte
	base, next Sequence
	// floating: we came while it was sending, so what is below its first packet that
	// came is not missing, as far as we know yet.
	floating bool
	started  bool
}

// recovery is which packets are missing and wanted, one loss for each. Each slot of such a packet
// has the place of its loss in the list.
type recovery struct {
	losses   []loss
	patience int // how many later packets make one lost
	inOrder  int // packets since patience was last raised
	lossRate float64
}

// redundancy is what a member sends in advance, and the parity of its last windows.
type redundancy struct {
	repeat  int // how many predecessors its packets carry
	packets int // its window of parity
	parity  int
	sets    [paritySets]paritySet
	setAt   int
}

// rhythm is a member's regular clock, by which packets are expected.
type rhythm struct {
	period   time.Duration // zero for none
	anchor   Sequence      // newest packet that came as it was first sent
	anchorAt time.Duration
}

// turn is what waits to be delivered in its order. All before deliver was, or was given up.
type turn struct {
	queue   []pending
	deliver Sequence
	logical uint64 // logical clock of the last delivered
	promise promise
	depSent Sequence // the last of it that a packet of ours says it depends on
}

// sealed is from which packet on all is sealed in an epoch, if that is known.
type sealed struct {
	fresh   Sequence
	freshIn uint32 // the epoch that this is about
}

// reported is what a member says of our packets.
type reported struct {
	lossSeen uint8
	lossAt   time.Duration
	echoed   time.Duration // when one had come there
}

func newPeer(id member.ID, card *Card) *peer {
	p := &peer{id: id, card: *card}
	p.present, p.deliver = true, 1
	p.history = history{base: 1, next: 1, started: true}
	p.alloc(ringFirst)
	return p
}

// addPeer finds or makes a member of a new roster.
func (g *Group) addPeer(m *Member, floating bool) *peer {
	if p := g.byID[m.ID]; p != nil {
		p.card.Addr, p.card.Site = m.Addr, m.Site
		return p
	}
	p := newPeer(m.ID, &m.Card)
	p.floating, p.started = floating, !floating
	p.patience = g.opt.Recovery.OutOfOrder
	p.heard, p.echoed = g.now, g.now
	p.bucket.fill(g.now, g.pace.each())
	g.byID[m.ID] = p
	at, _ := slices.BinarySearchFunc(g.peers, m.ID, peerID)
	g.peers = slices.Insert(g.peers, at, p)
	g.emit(Event{Kind: Joined, Member: m.ID})
	return p
}

// peerID compares peers with an id, for lists by rising id.
func peerID(p *peer, id member.ID) int { return int(p.id) - int(id) }
