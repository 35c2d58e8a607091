package paths

import (
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/member"
)

// Stats count what happened since New.
type Stats struct {
	// Datagrams of connections, and their bytes, by the Kind of path that they went by.
	Sent      [kinds]uint64
	SentBytes [kinds]uint64
	Unsent    uint64 // there was no path

	Asks       uint64 // probes that ask
	Answers    uint64 // probes that answer
	ProbeBytes uint64 // of both
	Withheld   uint64 // asks that had to wait for their share of ProbeRate, answers to a flood

	Proved   uint64 // paths that answered for the first time
	Learnt   uint64 // addresses that a member was heard from and had not named
	Changes  uint64 // of the path in use
	Silences uint64 // members that fell silent
	Deaf     uint64 // members that said they hear nothing of us, which we took for true

	Carried      uint64 // datagrams for others that we handed on
	CarriedBytes uint64
	Uncarried    uint64 // with no next member, too many before, or to us in a circle
	Overdrawn    uint64 // of a member that hands us more than it may

	Malformed uint64
	Strangers uint64 // from or to members that are not known
	Forged    uint64 // with a wrong proof
	Replayed  uint64 // that came before, or long ago
	Astray    uint64 // answers from elsewhere than was asked
}

// Stats returns the counts so far.
func (p *Paths) Stats() Stats { return p.stats }

// Path is how a member is reached just now, for pages and metrics.
type Path struct {
	Member member.ID
	Kind   Kind
	Addr   netip.AddrPort // of a direct one
	Via    member.ID      // who carries: a member, or RelayID
	Hops   int            // how many steps it has
	Trip   time.Duration  // there and back, or zero if that was not measured yet
	Proved bool           // an answer came by it, and it is not doubted
	Since  time.Duration  // when it came into use
}

// List appends how each member is reached just now, by rising number.
func (p *Paths) List(b []Path) []Path {
	for _, q := range p.peers {
		b = append(b, q.report())
	}
	return b
}

// To is how one member is reached just now, and false for one that is not known.
func (p *Paths) To(id member.ID) (Path, bool) {
	if q := p.byID[id]; q != nil {
		return q.report(), true
	}
	return Path{}, false
}

func (q *peer) report() Path {
	x := q.current
	if x == nil {
		return Path{Member: q.id}
	}
	return Path{
		Member: q.id, Kind: x.kind, Addr: x.addr, Via: x.via, Hops: x.hops, Trip: x.trip,
		Proved: x.good(), Since: x.since}
}
