package paths

import (
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// Kind is how datagrams for a member go.
type Kind uint8

// The kinds of paths.
const (
	None   Kind = iota
	Direct      // to an address of the member
	Relay       // carried by the relay
	Over        // carried by another member
	kinds
)

var kindNames = [kinds]string{"none", "direct", "relay", "over"}

// String is a word for pages and logs.
func (k Kind) String() string { return kindNames[min(k, kinds-1)] }

const never = time.Duration(math.MinInt64 / 2)

// path is one of the ways in which a member may be reached.
//
// A direct one is used only while it is good: it has been proved, by an answer to an ask of ours
// that went by it, and is not doubted. One over others is used on trust until it is doubted.
type path struct {
	peer *peer
	kind Kind
	addr netip.AddrPort // of a direct one
	via  member.ID      // who carries
	hops int            // how many steps it has
	// learnt is for addresses that the member did not name.
	learnt bool

	asks  [4]ask // the latest, by number
	turn  int
	tries int           // asks since the last answer
	next  time.Duration // when to ask again

	proved  time.Duration // when the last answer came
	trip    time.Duration // how long answers take
	doubted bool
	doubts  int           // in quick succession
	needs   int           // answers that are still needed to trust it again
	lost    time.Duration // when it was doubted last
	since   time.Duration // when it came into use
	heard   time.Duration // when something last came by it
}

// ask is a probe that has no answer yet.
type ask struct {
	number uint64
	at     time.Duration
}

func (x *path) good() bool { return x.proved != never && !x.doubted }

// is reports whether something that came from a source came by the path.
func (x *path) is(s source) bool {
	switch {
	case x.kind != s.kind:
		return false
	case x.kind == Direct:
		return x.addr == s.addr
	case x.kind == Over:
		return x.via == s.via
	}
	return true
}

func (p *Paths) newPath(q *peer, kind Kind, hops int) *path {
	return &path{
		peer: q, kind: kind, hops: hops, next: p.now, proved: never, lost: never,
		heard: p.now}
}

// give adds an address that a member is said to have.
func (p *Paths) give(q *peer, a netip.AddrPort) {
	if !p.usable(a) {
		return
	}
	given := 0
	var oldest *path
	for _, x := range q.paths {
		if x.kind != Direct {
			continue
		}
		if x.addr == a {
			x.learnt = false
			return
		}
		if !x.learnt {
			given++
			if x != q.current && (oldest == nil || x.proved < oldest.proved) {
				oldest = x
			}
		}
	}
	if given >= maxGiven {
		p.drop(oldest)
	}
	x := p.newPath(q, Direct, 1)
	x.addr = a
	q.paths = append(q.paths, x)
}

// usable reports whether an address can be a member's, so that a probe may be sent there.
func (p *Paths) usable(a netip.AddrPort) bool {
	ip := a.Addr()
	_, _, madeUp := link.Session(a)
	return !p.opt.RelayOnly && !slices.Contains(p.reserved, a) && ip.IsValid() && a.Port() != 0 &&
		!madeUp && !ip.IsUnspecified() && !ip.IsMulticast() &&
		ip != netip.AddrFrom4([4]byte{255, 255, 255, 255})
}

// learn finds the path by which something came that a member has proved to have made, or adds it.
func (p *Paths) learn(q *peer, s source) *path {
	for _, x := range q.paths {
		if x.is(s) {
			return x
		}
	}
	if s.kind != Direct {
		return nil
	}
	count := 0
	var oldest *path
	for _, x := range q.paths {
		if x.kind != Direct || !x.learnt {
			continue
		}
		count++
		if x != q.current && (oldest == nil || x.heard < oldest.heard) {
			oldest = x
		}
	}
	if count >= maxLearnt {
		p.drop(oldest)
	}
	x := p.newPath(q, Direct, 1)
	x.addr, x.learnt = s.addr, true
	q.paths = append(q.paths, x)
	p.stats.Learnt++
	return x
}

// learntFor is how long a learnt address is kept that does not answer.
const learntFor = time.Minute

// forgetLearnt drops learnt addresses that have been silent for long.
func (p *Paths) forgetLearnt() {
	for _, q := range p.peers {
		for _, x := range q.paths {
			if x.learnt && !x.good() && p.now-x.heard > learntFor && x != q.current {
				p.drop(x)
				break
			}
		}
	}
}

// drop forgets a path.
func (p *Paths) drop(x *path) {
	q := x.peer
	p.unmark(x)
	q.paths = slices.DeleteFunc(q.paths, func(o *path) bool { return o == x })
	if q.current == x {
		q.current = nil
		p.choose(q)
	}
}

// mark notes that datagrams from the address of a path are of its member. Another member that has
// been proved to be there keeps the address.
func (p *Paths) mark(x *path) {
	if x.kind != Direct {
		return
	}
	if old := p.at[x.addr]; old != nil && old.peer != x.peer && old.good() && !x.good() {
		return
	}
	p.at[x.addr] = x
}

func (p *Paths) unmark(x *path) {
	if x.kind == Direct && p.at[x.addr] == x {
		delete(p.at, x.addr)
	}
}

// doubt stops the use of a path until it has been answered, as often as it has failed of late.
func (p *Paths) doubt(x *path) {
	if x.doubted {
		return
	}
	if p.now-x.lost > settleTime {
		x.doubts = 0
	}
	x.doubts = min(x.doubts+1, 4)
	x.doubted, x.needs, x.lost = true, x.doubts, p.now
	x.tries, x.next = 0, p.now
	p.choose(x.peer)
}

// answered notes that an ask by a path was answered.
func (p *Paths) answered(x *path, trip time.Duration) {
	q := x.peer
	trip = max(trip, 0)
	if x.proved == never {
		x.trip = trip
		p.stats.Proved++
	} else {
		x.trip += (trip - x.trip) / 4
	}
	x.proved, x.heard, x.tries, x.asks = p.now, p.now, 0, [4]ask{}
	if x.doubted {
		q.outage = false // the member was silent, and not the network
		if x.needs--; x.needs > 0 {
			x.next = p.now + askSoon
			return
		}
		x.doubted = false
	}
	p.mark(x)
	x.next = p.now + p.opt.Keepalive
	p.choose(q)
	if x == q.current {
		x.next = p.now + p.opt.Measure
	}
}

// rank is how much a path is liked, the less the more. It is false for one that cannot be used.
func (p *Paths) rank(x *path) (rank int, ok bool) {
	switch x.kind {
	case Direct:
		rank, ok = 0, x.proved != never
	case Relay:
		rank, ok = 1, p.relay
	case Over:
		hop := p.byID[x.via]
		rank, ok = 2, hop != nil && hop.near()
		if x.proved == never {
			rank = 3
		}
	}
	if x.doubted {
		rank = 4
	}
	return rank, ok
}

// choose picks the path to use.
func (p *Paths) choose(q *peer) {
	var best *path
	least := 0
	for _, x := range q.paths {
		rank, ok := p.rank(x)
		if !ok || best != nil && (rank > least || rank == least && !x.better(best, q.current)) {
			continue
		}
		best, least = x, rank
	}
	if best != q.current {
		q.current = best
		p.stats.Changes++
		if best != nil {
			best.since = p.now
			best.next = min(best.next, p.now+p.opt.Measure)
			if !best.good() {
				best.next = p.now
			}
		}
	}
	reach := 0
	if q.near() {
		reach = q.current.hops
	}
	if reach != q.reach {
		q.reach = reach
		p.table.stale = true
	}
}

// better compares two paths of one rank. Of those that are doubted the one that was proved last is
// better; of others the one in use stays unless the other is much shorter.
func (x *path) better(y, current *path) bool {
	if x.doubted && x.proved != y.proved {
		return x.proved > y.proved
	}
	if x.hops != y.hops {
		return x.hops < y.hops
	}
	const margin = time.Millisecond
	switch current {
	case x:
		return y.trip+margin >= x.trip-x.trip/4
	case y:
		return x.trip+margin < y.trip-y.trip/4
	}
	return x.trip < y.trip
}
