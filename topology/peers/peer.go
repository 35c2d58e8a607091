package peers

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/seed"
	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/paths"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/world"
)

// A Phase is how far a peer has come.
type Phase uint8

const (
	Asking   Phase = iota // it knocks
	Guest                 // it follows the match
	Entering              // it is a member, and does not play yet
	Playing               // it plays
	Ended                 // it is over
)

func (p Phase) String() string {
	return [...]string{"asking", "guest", "entering", "playing", "ended"}[p]
}

// A Peer is one player's machine: a whole copy of the world, and connections with all the others.
// It is driven by Poll, from one goroutine, or by Run.
type Peer struct {
	opt   Options
	game  *world.Game
	id    *identity
	rand  *seed.Reader
	now   time.Duration
	phase Phase
	err   error
	calls drive.Calls

	match Match
	sum   [32]byte // names the match

	tenure

	lore
	own
	pace
	marks marks
	door  door
	ask   asking

	paths   *paths.Paths // as a member
	meeting meeting
	pairs   []*pair
	batch   []link.Datagram
	out     []link.Datagram
	sealed  []byte // datagrams at the door, with their first byte
	text    []byte // what seals are digests of
	stats   Stats
	cheats  *cheats
}

// cheats change what this peer tells the others: for tests of what a liar can do.
type cheats struct {
	item func(to member.ID, t world.Tick, item []byte) []byte
	mark func(to member.ID, m *mark)
	// noSeals has it commit to nothing, and withholds reveal nothing to a member
	noSeals   bool
	withholds func(to member.ID) bool
}

// tenure is this peer as a member.
type tenure struct {
	self    member.ID
	council *council.Council
	keys    *keys
	charter *charter
	limit   world.Tick // what is claimed to be held, at most, until the epoch is decided
	limited bool
	founded uint32      // the epoch of the decree that this peer made alone, which has no proof
	frozen  []member.ID // of whom nothing more is taken until then
	office  office
	waits   waits
	stamped world.Tick // while limited: the last tick for which seals may go
}

// lore is what is known of the match: who has commanded what, and what came of it.
type lore struct {
	coder   *turns.Coder
	streams []*stream
	copy    *turns.Copy
	image   []int32 // scratch
	start   []int32
}

// A stream is the commands of one member.
type stream struct {
	*turns.Stream
	id    member.ID
	moved time.Duration // when something new of it last came
	seals *seals
	era   uint8 // how many times its member has lapsed
	aged  bool  // the era is known
	// back is since when it could come, and suspect since when its member is suspected, or zero
	back, suspect time.Duration
}

// own is what this peer commands.
type own struct {
	player world.Player
	next   world.Tick // the tick of the next command
	last   []int32    // the last one
	in     *world.Inputs
	item   []byte
	nonces nonces
	sealed world.Tick // the newest tick for which a seal has gone
	began  world.Tick // the last tick before this era
}

// New makes a peer. It does nothing until it is driven.
func New(o Options) (*Peer, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	id, err := newIdentity(o.Identity)
	if err != nil {
		return nil, err
	}
	p := &Peer{opt: o, game: o.Game, id: id, rand: seed.New(o.Seed),
		batch: make([]link.Datagram, 64)}
	p.coder = turns.NewCoder(o.Game)
	p.image, p.start = make([]int32, p.coder.Len()), make([]int32, p.coder.Len())
	p.own.last, p.own.in = make([]int32, p.coder.Len()), o.Game.NewInputs()
	p.coder.Start(p.start)
	p.own.next = 1
	p.pace.style = o.Style
	if o.Match == nil {
		return p, nil
	}
	m := *o.Match
	if err := m.fill(o.Game); err != nil {
		return nil, err
	}
	p.match = m
	return p, p.found()
}

// found begins a match.
func (p *Peer) found() error {
	w, err := p.opt.World(&p.match)
	if err != nil {
		return err
	}
	if w.Game() != p.game || w.Tick() != 0 {
		return fmt.Errorf(
			"peers: Options.World gave a world of %q at tick %d; a match begins with one "+
				"of %q at tick 0", w.Game().Name(), w.Tick(), p.game.Name())
	}
	p.sum = p.match.digest(&p.opt.Secret)
	ch := &charter{next: 2, members: []entry{{id: 1, card: p.id.card(p.opt.Name), player: 1,
		addrs: p.addresses()}},
		spans: []span{{player: 1, member: 1, from: 1, until: open, joins: true}}}
	if err := p.begin(w, 0); err != nil {
		return err
	}
	d := council.Decree{Epoch: 1, Leader: 1, Voters: []member.ID{1}, Body: ch.append(nil)}
	p.founded = d.Epoch
	if err := p.enter(1, d, council.Link{}); err != nil {
		return err
	}
	return p.openDoor()
}

func (p *Peer) addresses() (list []netip.AddrPort) {
	if p.opt.Address.IsValid() {
		list = append(list, p.opt.Address)
	}
	return list
}

// begin makes the copy that executes turns.
func (p *Peer) begin(w *world.World, chain uint64) error {
	c, err := turns.NewCopy(w, p,
		turns.Options{Every: p.match.Every, After: p.opt.After, Chain: chain})
	if err != nil {
		return err
	}
	p.copy = c
	p.marks = marks{}
	return nil
}

// enter makes this peer a member, by a decree.
func (p *Peer) enter(self member.ID, d council.Decree, proof council.Link) error {
	p.keys = &keys{id: p.id, match: &p.sum}
	c, err := council.New(p.now, council.Options{
		ID: self, Owner: (*owner)(p), Keys: p.keys, Approve: p.keys.approve, Proof: proof,
		Seed: p.rand.Uint64(), Silence: p.match.Patience,
		Resend: min(p.match.Patience/8, 250*time.Millisecond)}, d)
	if err != nil {
		return err
	}
	p.self, p.council = self, c
	p.paths = paths.New(paths.Options{Self: self, Seed: p.seed32(),
		Wall: p.opt.Wall + int64(p.now/second)})
	p.paths.SetRelay(p.now, p.meeting.in)
	if p.opt.Meeting != nil {
		for _, a := range p.opt.Meeting.Addrs {
			p.paths.Reserve(a)
		}
	}
	p.office = office{}
	p.phase = Entering
	return p.decreed(c.Decree())
}

// decreed puts a decree in force.
func (p *Peer) decreed(d *council.Decree) error {
	ch, err := readCharter(d.Body)
	if err != nil {
		return err
	}
	p.charter, p.limited, p.frozen = ch, false, p.frozen[:0]
	p.waits.since, p.office.charges = p.now, nil
	p.flow()
	for _, q := range p.pairs {
		q.extras = p.now - second // they should know at once which decree is in force here
	}
	for _, g := range p.door.guests {
		if there := g.said && ch.holder(&g.card.sign) != nil; g.returns {
			g.returns = there // until what it was before is gone
		} else {
			g.entered = g.entered || there
		}
	}
	p.office.candidates = slices.DeleteFunc(p.office.candidates,
		func(a applicant) bool { return ch.holder(&a.card.sign) != nil && !a.returns })
	if p.self != 0 {
		for _, q := range slices.Clone(p.pairs) {
			if ch.find(q.id) == nil {
				p.part(q.id)
				p.tell(News{Kind: Left, Member: q.id})
			}
		}
		for i := range ch.members {
			if e := &ch.members[i]; e.id != p.self && p.pair(e.id) == nil {
				if err := p.meet(e); err != nil {
					return err
				}
				p.tell(News{Kind: Joined, Member: e.id, Player: e.player, Text: e.card.name})
			}
		}
		p.plays()
	}
	p.copy.Learn(p.copy.Settled() + 1)
	return nil
}

// flow makes a stream for each member that has commanded anything, and cuts what does not count.
func (p *Peer) flow() {
	for i := range p.charter.spans {
		s := &p.charter.spans[i]
		st := p.stream(s.member)
		if st == nil {
			at, _ := slices.BinarySearchFunc(p.streams, s.member,
				func(st *stream, id member.ID) int { return int(st.id) - int(id) })
			st = &stream{Stream: turns.NewStream(p.coder, uint64(s.from)), id: s.member,
				moved: p.now, seals: &seals{}}
			if s.until <= p.copy.Settled() { // all of it is in the world that this peer began with
				st.Stream = turns.Resume(p.coder, uint64(s.until), nil, turns.Head{})
			}
			p.streams = slices.Insert(p.streams, at, st)
		}
		if s.until != open {
			st.Cut(uint64(s.until))
		}
	}
	for _, st := range p.streams {
		p.lapse(st)
	}
	p.streams = slices.DeleteFunc(p.streams, func(st *stream) bool {
		return !slices.ContainsFunc(p.charter.spans, func(s span) bool { return s.member == st.id })
	})
}

func (p *Peer) stream(id member.ID) *stream {
	for _, s := range p.streams {
		if s.id == id {
			return s
		}
	}
	return nil
}

// plays begins to play when the charter says so.
func (p *Peer) plays() {
	s := p.charter.span(p.self)
	if s == nil || p.phase != Entering {
		return
	}
	p.phase = Playing
	p.own.player, p.own.next = s.player, s.from
	p.own.nonces = nonces{secret: p.seed32()}
	copy(p.own.last, p.start)
	p.leaveDoor()
	p.tell(News{Kind: Entered, Member: p.self, Player: s.player, Tick: s.from})
}

// Poll does what is due. The time that it is given must run forward.
func (p *Peer) Poll(now time.Duration) error {
	p.now = now
	if p.phase == Ended {
		return p.err
	}
	if err := p.receive(); err != nil {
		return p.end(err)
	}
	p.look()
	p.attend()
	p.knock()
	if err := p.govern(); err != nil {
		return p.end(err)
	}
	if err := p.play(); err != nil {
		return p.end(err)
	}
	p.compare()
	p.feed()
	p.vector()
	p.talk()
	return p.flush()
}

func (p *Peer) end(err error) error {
	if p.phase != Ended {
		p.phase, p.err = Ended, err
		p.tell(News{Kind: Over, Err: err})
	}
	return err
}

// First bytes of datagrams of connections at a door, to it and from it. Two peers may have one of
// those each way, and one as members, at a time.
const (
	toDoor   = 0x60
	fromDoor = 0x61
)

// mostBatches is how many batches of datagrams a poll takes in at most, whatever comes.
const mostBatches = 16

func (p *Peer) receive() error {
	for range mostBatches {
		n, err := p.opt.Link.Receive(p.batch)
		if err != nil {
			return fmt.Errorf("peers: the way to the others has ended: %w", err)
		}
		for i := range p.batch[:n] {
			p.take(p.batch[i : i+1])
		}
		if n < len(p.batch) {
			break
		}
	}
	return nil
}

// look takes what has happened to connections without a datagram: that one has ended by silence.
func (p *Peer) look() {
	for _, q := range slices.Clone(p.pairs) {
		for _, e := range q.receive(p.now, nil) {
			p.event(q, &e)
		}
	}
	if p.door.server != nil {
		for _, e := range p.door.server.Events() {
			p.knocked(&e)
		}
	}
	for _, t := range slices.Clone(p.ask.tries) {
		for _, e := range t.client.Events() {
			p.answered(t, &e)
		}
	}
}

// take finds out whose a datagram is: the relay's, that of somebody at a door, or of a member.
func (p *Peer) take(one []link.Datagram) {
	if r := p.opt.Meeting; r != nil && slices.Contains(r.Addrs, one[0].Addr) {
		r.Client.Receive(p.now, one)
		p.attend()
		return
	}
	if p.paths != nil && !isDoor(one[0].Data) {
		one = p.paths.Receive(p.now, one)
	}
	if len(one) > 0 {
		p.datagram(one)
	}
}

func isDoor(b []byte) bool { return len(b) > 1 && (b[0] == toDoor || b[0] == fromDoor) }

func (p *Peer) datagram(one []link.Datagram) {
	d := &one[0]
	if isDoor(d.Data) {
		to := d.Data[0] == toDoor
		d.Data = d.Data[1:]
		p.atDoor(to, one)
		return
	}
	for _, q := range p.pairs {
		if q.addr == d.Addr {
			for _, e := range q.receive(p.now, one) {
				p.event(q, &e)
			}
			return
		}
	}
}

func (p *Peer) event(q *pair, e *conn.Event) {
	switch e.Kind {
	case conn.Connected:
		q.conn = e.Conn
		q.sending = sending{}
		m := have{upTo: p.heldOf(q.id)}
		q.control(message(kindHave, m.fields))
		if p.council != nil {
			p.council.Greet(p.now, q.id)
		}
	case conn.Disconnected:
		if q.conn == e.Conn {
			q.conn = nil
			q.retry = p.now + 200*time.Millisecond
		}
	case conn.Message:
		if e.Conn != q.conn {
			return
		}
		q.heard = p.now
		if p.council != nil {
			p.council.Heard(q.id, p.now)
		}
		if e.Channel == chTurns {
			p.takeTurns(q, e.Data)
		} else if len(e.Data) > 0 {
			p.said(q, e.Data[0], e.Data[1:])
		}
	case conn.BulkSent, conn.BulkCanceled:
		q.bulk = false
	case conn.BulkReceived:
		p.repair(q, e.Data)
	}
}

// heldOf is up to where the commands of a member are here.
func (p *Peer) heldOf(id member.ID) world.Tick {
	if s := p.stream(id); s != nil {
		return world.Tick(s.Have())
	}
	return 0
}

// said takes a message of a member.
func (p *Peer) said(q *pair, kind uint8, b []byte) {
	c := bitsOver(b)
	switch kind {
	case kindCouncil:
		p.council.Receive(p.now, q.id, b)
	case kindHave:
		var m have
		if m.fields(&c); c.Done() {
			q.told, q.asked = true, 0
			q.items.acked = max(min(m.upTo, p.own.next-1),
				p.own.next-min(p.own.next, turns.Window/2))
		}
	case kindWant:
		var m want
		if m.fields(&c); c.Done() {
			p.wanted(q, &m)
		}
	case kindItems:
		var m items
		if m.fields(&c); c.Done() && !(p.match.Commit && m.member == q.id) {
			p.takeItems(&m)
		}
	case kindCandidate:
		var m candidate
		if m.fields(&c); c.Done() {
			p.candidate(&m)
		}
	case kindReady:
		p.office.readies(q.id)
	case kindMark:
		var m mark
		if m.fields(&c); c.Done() {
			p.marked(q.id, &m)
		}
	case kindHeads:
		p.heads(b)
	case kindNeed:
		p.needed(q)
	case kindDiffers:
		p.tell(News{Kind: Differs, Member: q.id, Text: string(b)})
	case kindLeave:
		p.office.leaves(q.id)
	case kindBlame:
		var m blame
		if m.fields(&c); c.Done() {
			p.office.blamed(q.id, &m, p.now)
		}
	case kindVector:
		if p.paths.TakeVector(p.now, q.id, b) != nil {
			p.stats.Malformed++
		}
	}
}

func (p *Peer) flush() error {
	p.out = p.out[:0]
	for i := 0; i < len(p.pairs); i++ {
		q := p.pairs[i]
		if p.pace.spoke || !q.open() || q.bulk || q.deadline() <= p.now {
			p.out = q.flush(p.now, p.out) // otherwise what there is goes with the next commands
		}
		p.redial(q)
	}
	p.pace.spoke = false
	p.flushDoor()
	p.route()
	for done := 0; done < len(p.out); {
		n, err := p.opt.Link.Send(p.out[done:])
		if done += n; err == nil {
			continue
		}
		if !link.Passing(err) {
			return p.end(fmt.Errorf("peers: the way to the others has ended: %w", err))
		}
		done++ // as good as lost on the way
	}
	return nil
}
