package membership

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// A Revival finds out, together with those of other mirrors that come back after a crash, whether
// so many died that nobody can go on without them, and then which of them begins the group anew. It
// is a machine without clock or goroutine: give it the datagrams that are its (see Ours) and the
// time, and send what Flush gives.
//
// # When it may be done
//
// Enough have come back if those who were voters are a quorum of the newest decree that any of them
// knows to be in force, and of every decree that one of them has voted for to follow it. A quorum
// that has crashed votes no more, so no others can decide anything; and as each vote was on a disk
// before it was given, no decree was ever in force that enough do not know of. Any two sets that
// are enough have a mirror in common.
//
// # How it is done
//
// By Paxos, as decrees are, among those who came back. One that has the latest world bids to be the
// founder; who hears the highest bid promises, which its disk has before it is said, and tells what
// it accepted before, which the bidder then must propose in place of itself. What enough have
// accepted is decided, and is known to whoever asks later. The founder begins the group with its
// own world, under a number that no member ever had; all others join it as newcomers do.
//
// One that did not crash, but stands still as most of the others did, leaves its group where that
// makes those who came back enough (see Needed): from then on it votes no more, as if it had
// crashed, and takes part with the world that it has.
//
// Each says all that it knows in one datagram, again and again. What one says is counted by another
// only if it shows that it has heard that one's number of this start, so that nothing old counts.
type Revival struct {
	opt    RevivalOptions
	random *random
	nonce  uint64
	sealer sealer
	count  uint32

	mem     Memory // as it should be
	durable Memory // as the disk has it: what others are told
	writes  []write1

	others map[uint64]*other // by mark
	doors  []netip.AddrPort
	living bool // this mirror is in a group
	quorum bool // and in touch with most of it

	now      time.Duration
	sayAt    time.Duration
	enoughAt time.Duration // since when enough are here; 0 if they are not
	neededAt time.Duration // since when they would be with this one; 0 if not
	bid      bid
	bidAt    time.Duration
	waitBid  time.Duration
	out      []link.Datagram
}

// write1 is a memory on its way to the disk.
type write1 struct {
	number uint64
	memory Memory
}

// bid is this mirror's attempt to have somebody found the group.
type bid struct {
	ballot   Ballot
	proposes bool
	value    Founding
}

// other is what another mirror has said last.
type other struct {
	statement
	at   netip.AddrPort
	seen time.Duration
}

// RevivalOptions are for NewRevival. Memory, Keys, Seed and Remember have no default.
type RevivalOptions struct {
	Memory Memory
	// World says that a world is kept here, which is at Tick and has Hash.
	World      bool
	Tick, Hash uint64
	// Addr is where others reach this mirror, and Doors where others may be.
	Addr  netip.AddrPort
	Doors []netip.AddrPort
	// Keys are the operator's.
	Keys []token.Key
	Seed [32]byte
	// Patience is how long to wait for the rest when enough are back, but not all: one that is late
	// may have a later world. It must be longer than a group takes to notice that it lacks a
	// quorum. Zero means 5 s.
	Patience time.Duration
	// Remember begins to write a memory to the disk, and returns a number that grows; Remembered
	// is told when the disk has it.
	Remember func(*Memory) uint64
}

const (
	sayEvery  = 200 * time.Millisecond
	freshFor  = 1500 * time.Millisecond
	allHere   = 500 * time.Millisecond // how long to wait when all are back
	bidTime   = 2 * time.Second        // after which a bid that came to nothing is made again
	livesFor  = 3 * time.Second        // how long it counts that another is in a group that goes on
	maxOthers = 1024
)

// NewRevival makes one that has just come back.
func NewRevival(o RevivalOptions) *Revival {
	o.Patience = cmp.Or(o.Patience, 5*time.Second)
	r := &Revival{opt: o, random: &random{seed: o.Seed}, mem: o.Memory.clone(),
		durable: o.Memory.clone(), others: map[uint64]*other{}}
	r.nonce = r.random.Uint64() | 1
	r.sealer = newSealer(o.Keys)
	for _, list := range [][]netip.AddrPort{o.Doors, o.Memory.Doors, {o.Memory.Founding.Addr}} {
		for _, a := range list {
			r.meet(a)
		}
	}
	return r
}

// meet keeps where another mirror may be.
func (r *Revival) meet(a netip.AddrPort) {
	if a.IsValid() && a.Port() != 0 && a != r.opt.Addr && !slices.Contains(r.doors, a) &&
		len(r.doors) < maxOthers {
		r.doors = append(r.doors, a)
	}
}

// Doors lists where other mirrors may be found.
func (r *Revival) Doors() []netip.AddrPort { return slices.Clone(r.doors) }

// Live tells that this mirror is in a group, with what it remembers of that. From then on it only
// answers others who come back.
func (r *Revival) Live(m *Memory) {
	r.living = true
	r.mem, r.durable, r.writes = m.clone(), m.clone(), nil
	r.bid = bid{}
}

// Touch tells whether this mirror is in touch with most of its group.
func (r *Revival) Touch(quorum bool) { r.quorum = quorum }

// Needed reports whether this mirror, which did not crash, should leave its group and return (see
// Returns): it stands still, as most of the others are gone, and for a while those who came back
// would have been enough with it, and not without. near says who of its group is in touch with it,
// and so stands still as well.
func (r *Revival) Needed(now time.Duration, near func(member.ID) bool) bool {
	r.now = max(r.now, now)
	list := r.present()
	if !r.living || r.quorum || len(list) == 1 || r.goesOn() || enough(list[1:]) ||
		!quorums(list, func(id member.ID) bool { return was(list, id) || near(id) }) {
		r.neededAt = 0
		return false
	}
	if r.neededAt == 0 {
		r.neededAt = r.now
	}
	return r.now-r.neededAt >= r.opt.Patience
}

// Returns tells that this mirror is out of the group that it was in, without having forgotten its
// memory, and what its world is.
func (r *Revival) Returns(world bool, tick, hash uint64) {
	r.living, r.quorum, r.enoughAt, r.neededAt = false, false, 0, 0
	r.opt.World, r.opt.Tick, r.opt.Hash = world, tick, hash
}

// Decided is who begins the group anew, if that is decided and this mirror's disk has it.
func (r *Revival) Decided() (Founding, bool) {
	f := r.durable.Founding
	return f, !r.living && f.Epoch != 0 && f.Epoch == r.durable.Order.Epoch
}

// Founds reports whether that is this mirror.
func (r *Revival) Founds() bool {
	f, ok := r.Decided()
	return ok && f.Mark == r.mem.Mark && r.opt.World
}

// Memory is what this mirror remembers.
func (r *Revival) Memory() Memory { return r.mem.clone() }

// remember has the disk take what has changed.
func (r *Revival) remember() {
	m := r.mem.clone()
	r.writes = append(r.writes, write1{r.opt.Remember(&m), m})
}

// Remembered tells that the disk has all up to a number.
func (r *Revival) Remembered(number uint64) {
	for len(r.writes) > 0 && r.writes[0].number <= number {
		r.durable = r.writes[0].memory
		r.writes = slices.Delete(r.writes, 0, 1)
		r.sayAt = 0
	}
}

// Receive takes a datagram of another mirror.
func (r *Revival) Receive(now time.Duration, from netip.AddrPort, b []byte) {
	r.now = max(r.now, now)
	var s statement
	if !r.sealer.open(b, &s) || s.memory.Mark == r.mem.Mark || s.memory.Group != r.mem.Group {
		return
	}
	r.meet(from)
	if s.echo != r.nonce {
		r.say(from, s.nonce) // so that what it says counts the next time
		return
	}
	o := r.others[s.memory.Mark]
	switch {
	case o == nil && len(r.others) >= maxOthers:
		return
	case o == nil:
		o = &other{}
		r.others[s.memory.Mark] = o
	case o.nonce == s.nonce && s.count <= o.count:
		return // it has said something since
	}
	*o = other{s, from, r.now}
	switch {
	case !r.living:
		r.hear(&s)
	case !s.living:
		r.say(from, s.nonce)
	}
}

// hear takes what another mirror proves to say now.
func (r *Revival) hear(s *statement) {
	if f := &s.memory.Founding; f.Epoch != 0 && f.Epoch == s.memory.Order.Epoch &&
		f.Epoch > r.mem.Order.Epoch {
		r.decided(f)
	}
	b := &s.bid
	switch {
	case b.ballot.none() || b.ballot.less(r.mem.Promised) || b.ballot.Mark != s.memory.Mark:
	case !b.proposes && b.ballot != r.mem.Promised:
		r.mem.Promised = b.ballot
		r.remember()
	case b.proposes && b.ballot != r.mem.Accepted && b.value.Epoch > r.mem.Order.Epoch:
		r.accept(b)
	}
}

// accept takes a proposal.
func (r *Revival) accept(b *bid) {
	r.mem.Promised, r.mem.Accepted, r.mem.Founding = b.ballot, b.ballot, b.value
	r.remember()
}

// decided takes it that somebody begins the group anew.
func (r *Revival) decided(f *Founding) {
	m := &r.mem
	m.Order, m.Next, m.Founding = f.order(), Order{}, *f
	m.Promised, m.Accepted = Ballot{}, Ballot{}
	m.NextID = max(m.NextID, f.ID+1)
	if f.Mark == m.Mark {
		m.Self = f.ID
	}
	r.meet(f.Addr)
	r.bid = bid{}
	r.remember()
}

// Tick does what is due.
func (r *Revival) Tick(now time.Duration) {
	r.now = max(r.now, now)
	if r.living {
		return
	}
	r.pursue()
	if r.now >= r.sayAt {
		r.sayAt = r.now + sayEvery*3/4 + time.Duration(r.random.Uint64()%uint64(sayEvery/2))
		for _, a := range r.doors {
			r.say(a, r.echoTo(a))
		}
	}
}

// echoTo is the number by which the mirror at an address knows that it was heard, or 0.
func (r *Revival) echoTo(a netip.AddrPort) (echo uint64) {
	last := time.Duration(-1)
	for _, mark := range slices.Sorted(maps.Keys(r.others)) {
		if o := r.others[mark]; o.at == a && o.seen > last {
			echo, last = o.nonce, o.seen
		}
	}
	return echo
}

// present lists those who are back and heard of late, this mirror first, as the disks have it.
func (r *Revival) present() []*statement {
	list := []*statement{r.own(0)}
	for _, mark := range slices.Sorted(maps.Keys(r.others)) {
		if o := r.others[mark]; r.now-o.seen < freshFor && !o.living {
			list = append(list, &o.statement)
		}
	}
	return list
}

// goesOn reports whether another is in a group that goes on: there is nothing to revive.
func (r *Revival) goesOn() bool {
	for _, o := range r.others {
		if o.living && o.quorum && r.now-o.seen < livesFor {
			return true
		}
	}
	return false
}

// orders lists the decrees of which a quorum must be back: the newest that is known to be in force,
// and what was voted for to follow it.
func orders(list []*statement) (all []*Order) {
	top := uint32(0)
	for _, s := range list {
		top = max(top, s.memory.Order.Epoch)
	}
	add := func(o *Order) {
		if !slices.ContainsFunc(all, func(p *Order) bool { return p.equal(o) }) {
			all = append(all, o)
		}
	}
	for _, s := range list {
		if s.memory.Order.Epoch == top {
			add(&s.memory.Order)
		}
		if n := &s.memory.Next; n.Epoch > top && maybe(list, n) {
			add(n)
		}
	}
	return all
}

// maybe reports whether a decree that one of some mirrors has voted for may be in force: not if so
// many of those who decide about it are back and have not that the rest is no quorum.
func maybe(list []*statement, next *Order) bool {
	for _, s := range list {
		if o := &s.memory.Order; o.Epoch+1 == next.Epoch && o.quorum(func(id member.ID) bool {
			return !slices.ContainsFunc(list, func(t *statement) bool {
				return t.memory.Self == id && !t.memory.Next.equal(next)
			})
		}) {
			return true
		}
	}
	return false
}

// enough reports whether some mirrors know all that was decided, and nobody can decide anything
// without them.
func enough(list []*statement) bool {
	return len(list) > 0 && quorums(list, func(id member.ID) bool { return was(list, id) })
}

// quorums reports whether some members are a quorum of each decree that counts among some mirrors.
func quorums(list []*statement, has func(member.ID) bool) bool {
	for _, o := range orders(list) {
		if !o.quorum(has) {
			return false
		}
	}
	return true
}

// was reports whether one of some mirrors was a member.
func was(list []*statement, id member.ID) bool {
	return slices.ContainsFunc(list, func(s *statement) bool { return s.memory.Self == id })
}

// all reports whether no voter lacks.
func all(list []*statement) bool {
	for _, o := range orders(list) {
		if slices.ContainsFunc(o.Voters, func(id member.ID) bool { return !was(list, id) }) {
			return false
		}
	}
	return true
}

// better orders mirrors by who should found the group: the latest world first.
func better(a, b *statement) int {
	later := func(s *statement) uint64 {
		if !s.world {
			return 0
		}
		return s.tick + 1
	}
	return cmp.Or(cmp.Compare(later(b), later(a)), cmp.Compare(a.memory.Mark, b.memory.Mark))
}

// pursue begins a bid when enough are back, and carries it on.
func (r *Revival) pursue() {
	if _, ok := r.Decided(); ok {
		return
	}
	list := r.present()
	if r.goesOn() || !enough(list) {
		r.enoughAt, r.bid = 0, bid{}
		return
	}
	if r.enoughAt == 0 {
		r.enoughAt = r.now
	}
	if !r.bid.ballot.none() {
		r.carryOn(list)
		return
	}
	wait := r.opt.Patience
	if all(list) {
		if wait = allHere; len(list) == 1 {
			wait = 0 // it was alone
		}
	}
	slices.SortFunc(list, better)
	for rank, s := range list {
		if s.memory.Mark == r.mem.Mark {
			wait += time.Duration(rank) * bidTime
		}
	}
	if r.opt.World && r.now-r.enoughAt >= wait && r.now >= r.waitBid {
		r.begin(list)
	}
}

// begin makes a bid.
func (r *Revival) begin(list []*statement) {
	round := r.mem.Promised.Round
	for _, s := range list {
		round = max(round, s.memory.Promised.Round, s.bid.ballot.Round)
	}
	r.bid = bid{ballot: Ballot{round + 1, r.mem.Mark}}
	r.bidAt = r.now
	r.mem.Promised = r.bid.ballot
	r.remember()
	r.sayAt = 0
}

// carryOn goes on with a bid: to propose when enough have promised, and to the end when enough have
// accepted.
func (r *Revival) carryOn(list []*statement) {
	b := &r.bid
	if r.bid.ballot.less(r.mem.Promised) || r.now-r.bidAt > bidTime {
		r.bid = bid{}
		r.waitBid = r.now + time.Duration(r.random.Uint64()%uint64(bidTime))
		return
	}
	joined := slices.DeleteFunc(slices.Clone(list), func(s *statement) bool {
		return !b.proposes && s.memory.Promised != b.ballot ||
			b.proposes && s.memory.Accepted != b.ballot
	})
	switch {
	case !enough(joined) || !r.covers(joined, list):
	case !b.proposes:
		b.proposes, b.value = true, r.choose(joined)
		r.accept(b)
		r.sayAt = 0
	default:
		f := b.value
		r.decided(&f)
		r.sayAt = 0
	}
}

// covers reports whether some of those who are back are enough by all that all of them know.
func (r *Revival) covers(some, list []*statement) bool {
	return quorums(list, func(id member.ID) bool { return was(some, id) })
}

// choose is what to propose: what may have been decided before, or this mirror.
func (r *Revival) choose(list []*statement) Founding {
	f := Founding{Mark: r.mem.Mark, Addr: r.opt.Addr, Tick: r.opt.Tick, Hash: r.opt.Hash, ID: 1}
	var last Ballot
	epoch := uint32(0)
	for _, s := range list {
		m := &s.memory
		epoch = max(epoch, m.Order.Epoch, m.Next.Epoch)
		f.ID = max(f.ID, m.NextID)
	}
	if f.ID > crimp.MaxMember {
		f.ID = 1
	}
	f.Epoch = epoch + 1
	for _, s := range list {
		if m := &s.memory; last.less(m.Accepted) {
			last, f = m.Accepted, m.Founding
		}
	}
	return f
}

// Waits says for whom this mirror waits, for people.
func (r *Revival) Waits() string {
	if f, ok := r.Decided(); ok {
		if f.Mark == r.mem.Mark {
			return "it was chosen to begin the game again, and its disk has lost the world"
		}
		return fmt.Sprintf("%v begins the game again, from tick %d", f.Addr, f.Tick)
	}
	list := r.present()
	var lack []string
	for _, o := range orders(list) {
		if !o.quorum(func(id member.ID) bool { return was(list, id) }) {
			var ids []string
			for _, id := range o.Voters {
				if !was(list, id) {
					ids = append(ids, fmt.Sprint(id))
				}
			}
			lack = append(lack, fmt.Sprintf("of the mirrors of decree %d, %s are not back", o.Epoch,
				strings.Join(ids, ", ")))
		}
	}
	if len(lack) == 0 {
		return "most are back"
	}
	return strings.Join(lack, "; ")
}

// Deadline is when Tick is due next: of a mirror that is in a group, never.
func (r *Revival) Deadline() time.Duration {
	if r.living {
		return math.MaxInt64
	}
	return max(min(r.sayAt, r.now+sayEvery/4), r.now)
}

// Flush appends what is to be sent.
func (r *Revival) Flush(out []link.Datagram) []link.Datagram {
	out = append(out, r.out...)
	r.out = nil
	return out
}
