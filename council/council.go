package council

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/coeval-dev/coeval/member"
)

// Owner is who a council works for.
type Owner interface {
	// Report tells what this voter knows of some members that may be about to go. From then
	// on it must take nothing more of them, until the epoch is decided: others rely on
	// the report.
	Report(suspects []member.ID) []byte
	// Compose makes the decree to follow the present one, from the reports of a quorum, not
	// counting the suspects among them. It must leave the epoch one higher, and may do all else:
	// take out the suspects, let others in, change who leads. It is called when a proposal of this
	// member has got that far, and what it makes may yet lose against another's.
	Compose(present *Decree, suspects []member.ID, reports []Report) Decree
	// Farewell is what a member that is out is told with the news, at most 256 bytes.
	Farewell(id member.ID) []byte
}

// Report is what one voter said of the suspects.
type Report struct {
	From member.ID
	Data []byte
}

// Options are for New. ID, Owner and Keys have no default.
type Options struct {
	ID    member.ID
	Owner Owner
	Keys  Keys
	// Approve, if set, is asked before this member votes for a decree that another proposes.
	Approve func(present, next *Decree) bool
	// Remembers says that this member's votes are written to a disk, each before it is given: see
	// Vow and Remembered.
	Remembers bool
	// Proof is that of the decree which New is given, to pass on. The first of all has none.
	Proof Link
	// Seed makes the pauses of members differ. It need not be secret.
	Seed uint64
	// Silence is for how long a member may not be heard before others think it gone. Zero
	// means 750 ms.
	Silence time.Duration
	// Resend is after how long what was not answered is said again. Zero means an eighth of
	// Silence. It should not be far below the round trip.
	Resend time.Duration
}

// Message is to be sent to a member. It may be lost, doubled, late or out of order, but it
// must not be altered or made by another than who is said to have sent it.
type Message struct {
	To   member.ID
	Data []byte
}

// Stats counts what a council has met.
type Stats struct {
	Malformed  uint64 // messages that are none
	Strangers  uint64 // messages of members that are not known
	Outsiders  uint64 // messages of members that are out
	Unproven   uint64 // decrees, proposals, promises and votes without the signatures they need
	Unheard    uint64 // not looked at, as the sender had just said something unproven
	Claimed    uint64 // words without proof that this member is out
	Distrusted uint64 // messages of members that are proven to lie
	Split      uint64 // two decrees for one epoch, both with votes: somebody voted twice
	Campaigns  uint64 // attempts to succeed a leader that is not heard
	Ballots    uint64 // attempts to decide, campaigns included
	Outbid     uint64 // of those, given up for another's
	Decided    uint64 // decrees that this member has brought about
	Learnt     uint64 // decrees in all
}

// keepDecrees is how many decrees are kept for those who have missed some.
const keepDecrees = 32

// Council is one member's part in deciding. It is a machine without clock, goroutine or
// randomness of its own, used from one goroutine.
type Council struct {
	opt    Options
	now    time.Duration
	random uint64
	decree Decree
	past   [keepDecrees]kept
	peers  map[member.ID]*peer
	out    []Message
	handed []Message
	news   []Decree
	stats  Stats
	memory remembering

	poll

	// As a proposer:
	bid     *bid
	wish    bool        // the leader's owner wants something decided
	want    []member.ID // suspects of that
	retryAt time.Duration
	losses  int // ballots lost in a row

	author    bool          // this member has brought the newest decree about
	pushAt    time.Duration // when to tell it again to those who do not know it
	wokeAt    time.Duration // when this member last had been stopped for a while
	backAt    time.Duration // when this member last ran again after it was stopped, or zero
	entered   time.Duration // when the newest decree was learnt
	doubtAt   time.Duration // since when the leader is not heard
	doubting  bool
	delay     time.Duration // before we campaign
	beatAt    time.Duration
	apart     bool // a quorum was not heard
	dismissed bool
	note      []byte
}

// poll is this member's part as a voter on the next decree.
type poll struct {
	promised    ballot
	accepted    ballot
	value       []byte
	backed      claim  // what was accepted last for which another has signed
	backedValue []byte // its decree
	topRound    uint32 // the highest round that was heard of
	held        holding
	outs        []member.ID // who has said that this member is out
}

type kept struct {
	epoch uint32
	link  Link
}

// peer is what is known of another member.
type peer struct {
	heard  time.Duration // when anything last came, or it came into the group
	met    bool          // something of it has come
	echo   time.Duration // when anything of ours last came there, as far as is known
	beat   time.Duration // when its last beat came
	flags  uint8         // of that
	open   ballot        // of that
	openAt time.Duration // since when there is one
	epoch  uint32        // the newest it is known to know
	told   time.Duration // when it was last sent a decree, or that it is out
	asked  time.Duration // when it was last sent a beat out of turn
	// until when what costs signatures to look at is not looked at, as the last was not proven
	doubtedUntil time.Duration
	distrusted   bool // it is proven to lie: it counts as silent, and is not heard
	suspected    bool // it counts as silent, and is heard
}

// New makes a member's council, that knows one decree: the first of all, which a founder
// makes itself, or the one by which the member was let in.
func New(now time.Duration, o Options, d Decree) (*Council, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	if o.ID == 0 || !d.Has(o.ID) {
		return nil, fmt.Errorf("council: member %d is not in the decree", o.ID)
	}
	if o.Owner == nil || o.Keys == nil {
		return nil, errors.New("council: no owner, or no keys")
	}
	o.Silence = cmp.Or(o.Silence, 750*time.Millisecond)
	o.Resend = cmp.Or(o.Resend, o.Silence/8)
	if o.Silence < 0 || o.Resend <= 0 || o.Resend > o.Silence {
		return nil, fmt.Errorf(
			"council: silence of %v and resending after %v, choose the second shorter than the "+
				"first", o.Silence, o.Resend)
	}
	c := &Council{
		opt: o, now: now, wokeAt: now, random: o.Seed ^ uint64(o.ID)<<48,
		peers: map[member.ID]*peer{}}
	c.enter(d.Clone(), &o.Proof)
	c.news = nil
	return c, nil
}

// Decree is the newest decree. It must not be changed.
func (c *Council) Decree() *Decree { return &c.decree }

// Decided hands out the decrees that were learnt since it was last called, in order, and
// without gaps unless Teach made one.
func (c *Council) Decided() []Decree {
	d := c.news
	c.news = nil
	return d
}

// Knows says whether a member is known to know the decree in force.
func (c *Council) Knows(id member.ID) bool {
	p := c.peers[id]
	return id == c.opt.ID || p != nil && p.epoch >= c.decree.Epoch
}

// Dismissed reports whether this member is out, and what it was told about it. Nothing it
// does counts any more.
func (c *Council) Dismissed() (note []byte, ok bool) { return c.note, c.dismissed }

// Leads reports whether this member leads, as far as it knows.
func (c *Council) Leads() bool { return !c.dismissed && c.decree.Leader == c.opt.ID }

// Stats counts what the council has met.
func (c *Council) Stats() Stats { return c.stats }

// Outgoing hands out what is to be sent. It is good until the next call.
func (c *Council) Outgoing() []Message {
	clear(c.handed)
	c.handed, c.out = c.out, c.handed[:0]
	return c.handed
}

func (c *Council) send(to member.ID, m *message) {
	c.out = append(c.out, Message{to, m.append(nil)})
}

// Receive takes a message of another member.
func (c *Council) Receive(now time.Duration, from member.ID, b []byte) {
	c.advance(now)
	if c.dismissed {
		return
	}
	p := c.peers[from]
	if p == nil || from == c.opt.ID {
		c.stats.Strangers++
		return
	}
	m, ok := readMessage(b)
	if !ok {
		c.stats.Malformed++
		return
	}
	if p.distrusted {
		c.stats.Distrusted++
		return
	}
	if !c.decree.Has(from) {
		c.stats.Outsiders++
		c.tellOut(from, p, m.known())
		return
	}
	switch m.kind {
	case kindOut:
		c.claimedOut(from, &m)
		return
	case kindDecided, kindHeld:
		c.learn(from, p, &m)
		return
	}
	c.heard(p, c.now)
	p.met = true
	if m.kind == kindBeat {
		c.takeBeat(from, p, &m)
		return
	}
	p.epoch = max(p.epoch, m.epoch-1)
	switch {
	case m.epoch <= c.decree.Epoch:
		if m.kind == kindPrepare || m.kind == kindAccept {
			c.catchUp(from, p, m.epoch)
		}
	case m.epoch > c.decree.Epoch+1:
		c.ask(from, p)
	case !c.decree.Votes(from) || !c.decree.Votes(c.opt.ID):
	case m.kind == kindPrepare:
		c.prepare(from, &m)
	case m.kind == kindAccept:
		c.accept(from, &m)
	case c.bid == nil || m.ballot != c.bid.ballot:
	case m.kind == kindPromise:
		c.promise(from, &m)
	case m.kind == kindAccepted:
		c.acceptedBy(from, &m)
	case m.kind == kindRefuse:
		c.refused(&m)
	}
}

// Tick does what is due. It should be called several times in Resend, or by Deadline.
func (c *Council) Tick(now time.Duration) {
	c.advance(now)
	if c.dismissed {
		return
	}
	c.watch()
	c.pursue()
	c.ripen()
	if c.dismissed {
		return
	}
	c.push()
	if c.now >= c.beatAt {
		c.beat()
	}
}

// Deadline is when Tick should be called next, at the latest.
func (c *Council) Deadline() time.Duration {
	if c.dismissed {
		return never
	}
	if len(c.out) > 0 {
		return c.now
	}
	at := c.beatAt
	if c.author {
		at = min(at, c.pushAt)
	}
	if len(c.held.list) > 0 {
		at = min(at, c.held.tellAt)
	}
	if c.bid != nil {
		at = min(at, c.bid.resendAt)
		if c.bid.enough {
			at = min(at, c.bid.enoughAt+c.straggle())
		}
	} else if c.wish {
		at = min(at, max(c.retryAt, c.now+c.opt.Resend/4))
	}
	if c.doubting && c.decree.MayLead(c.opt.ID) && c.bid == nil {
		at = min(at, max(c.doubtAt+c.delay, c.retryAt, c.now+c.opt.Resend/4))
	}
	return at
}

const never = time.Duration(1<<63 - 1)

// enter puts a decree in force, and begins with the next.
func (c *Council) enter(d Decree, l *Link) {
	c.stats.Learnt++
	c.decree, c.entered, c.author = d, c.now, false
	c.past[d.Epoch%keepDecrees] = kept{d.Epoch, Link{d.Append(nil), l.ballot, l.votes}}
	c.promised, c.accepted, c.value, c.topRound = ballot{}, ballot{}, nil, 0
	c.memory.waiting = nil
	c.backed, c.backedValue, c.held, c.outs = claim{}, nil, holding{}, nil
	c.bid, c.losses, c.retryAt = nil, 0, 0
	c.wish, c.want = false, nil
	c.doubting = false
	for id := range c.othersOf(&d) {
		if c.peers[id] == nil {
			c.peers[id] = &peer{heard: c.now, echo: c.now, told: -never / 2, asked: -never / 2}
		}
	}
	if p := c.peers[d.Leader]; p != nil {
		// A new leader is given some time.
		p.heard, p.flags = max(p.heard, c.now-c.opt.Silence/2), 0
		p.echo = max(p.echo, c.now-c.opt.Silence/2)
	}
	for _, p := range c.peers {
		p.open, p.flags = ballot{}, p.flags&^flagDoubt
	}
	c.forget()
	c.beatAt = c.now
	c.news = append(c.news, d.Clone())
}

// forget drops former members, those that were heard last being kept.
func (c *Council) forget() {
	for len(c.peers) > 2*MaxMembers {
		var oldest member.ID
		for id, p := range c.peers {
			if !c.decree.Has(id) &&
				(oldest == 0 || p.heard < c.peers[oldest].heard ||
					p.heard == c.peers[oldest].heard && id < oldest) {
				oldest = id
			}
		}
		delete(c.peers, oldest)
	}
}

// others calls f for each other member, in order.
func (c *Council) others(learners bool, f func(member.ID, *peer)) {
	for id := range c.othersOf(&c.decree) {
		if learners || c.decree.Votes(id) {
			f(id, c.peers[id])
		}
	}
}

// othersOf goes over all members of a decree but this one: the voters, then the learners.
func (c *Council) othersOf(d *Decree) iter.Seq[member.ID] {
	return func(yield func(member.ID) bool) {
		for _, list := range [][]member.ID{d.Voters, d.Learners} {
			for _, id := range list {
				if id != c.opt.ID && !yield(id) {
					return
				}
			}
		}
	}
}

// unit is uniform in [0, 1): splitmix64.
func (c *Council) unit() float64 {
	c.random += 0x9e3779b97f4a7c15
	z := c.random
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return float64(z>>11) / (1 << 53)
}
