package peers

import (
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// office is what only the leader needs to know.
type office struct {
	candidates []applicant
	ready      []member.ID
	leaver     []member.ID
	liars      []member.ID
	going      bool // this one wants to leave
	// of one of two: when to ask the witness again, and in which epoch it may go on alone
	askAt   time.Duration
	granted uint32
}

type applicant struct {
	candidate
	at time.Duration
}

func (o *office) readies(id member.ID) { o.ready = member.Insert(o.ready, id) }
func (o *office) leaves(id member.ID)  { o.leaver = member.Insert(o.leaver, id) }

// candidate takes the word of a member that somebody at its door wants to play.
func (p *Peer) candidate(m *candidate) {
	if p.charter.holder(&m.card.sign) != nil && !m.returns {
		return
	}
	for i := range p.office.candidates {
		if a := &p.office.candidates[i]; a.card.sign == m.card.sign {
			a.candidate, a.at = *m, p.now
			return
		}
	}
	if len(p.office.candidates) < MaxSeats {
		p.office.candidates = append(p.office.candidates, applicant{*m, p.now})
	}
}

// refound begins anew with who is left, where everybody else who could decide has lost what it
// had: each of them has knocked, with its own keys, to be let in again. Or where the title says
// that of two each goes on alone.
func (p *Peer) refound() {
	d := p.council.Decree()
	if p.phase != Playing || p.council.Quorum() && p.council.Leads() || len(d.Voters) < 2 ||
		!d.Votes(p.self) {
		return
	}
	alone := p.alone()
	for _, id := range d.Voters {
		e := p.charter.find(id)
		if id == p.self {
			continue
		}
		if e == nil || p.council.Silent(id) < p.match.Patience {
			return
		}
		if !alone && !slices.ContainsFunc(p.office.candidates, func(a applicant) bool {
			return a.returns && a.card.sign == e.card.sign
		}) {
			return
		}
	}
	ch, err := readCharter(d.Body)
	if err != nil {
		return
	}
	grace := p.grace()
	for i := range ch.spans {
		if s := &ch.spans[i]; s.until != open {
			s.until = max(min(s.until, p.heldOf(s.member)), s.from)
		}
	}
	for _, id := range slices.Concat(d.Voters, d.Learners) {
		if id != p.self {
			ch.close(id, p.heldOf(id), grace)
		}
	}
	next := council.Decree{
		Epoch: d.Epoch + epochsApart, Leader: p.self, Voters: []member.ID{p.self},
		Body: ch.append(nil)}
	phase, copied := p.phase, p.own
	for len(p.pairs) > 0 {
		p.part(p.pairs[0].id)
	}
	if err := p.enter(p.self, next, council.Link{}); err != nil {
		_ = p.end(err)
		return
	}
	p.phase, p.own = phase, copied
	p.founded = next.Epoch
	p.guestsDecree()
}

// epochsApart keeps decrees of a match that begins anew apart from those before.
const epochsApart = 1000

func (p *Peer) grace() world.Tick {
	return world.Tick(p.match.Grace * time.Duration(p.game.Rate()) / second)
}

// govern does what is due for this peer as a member: it decides with the others who is one.
func (p *Peer) govern() error {
	if p.council == nil {
		return nil
	}
	p.council.Tick(p.now)
	p.preside()
	for _, d := range p.council.Decided() {
		p.guestsDecree()
		if d.Has(p.self) {
			if err := p.decreed(&d); err != nil {
				return err
			}
		}
	}
	if _, out := p.council.Dismissed(); out {
		p.dismissed("the others took this one for gone", nil)
		return nil
	}
	if p.now >= p.pace.sendAt { // it goes with the next commands
		for _, m := range p.council.Outgoing() {
			if q := p.pair(m.To); q != nil {
				q.small(append([]byte{kindCouncil}, m.Data...))
			}
		}
	}
	p.readyUp()
	p.stalls()
	p.appeal()
	p.lacking()
	p.refound()
	return nil
}

// preside is what the leader does: it has those taken out who are silent, and lets others in.
func (p *Peer) preside() {
	p.office.candidates = slices.DeleteFunc(p.office.candidates,
		func(a applicant) bool { return p.now-a.at > 2*second })
	if !p.council.Leads() {
		p.office.ready = p.office.ready[:0]
		return
	}
	if !p.council.Quorum() || p.council.Proposing() {
		return
	}
	suspects := p.suspects()
	if len(suspects) > 0 || p.wanting() || p.successor() != 0 {
		p.council.Propose(p.now, suspects)
	}
}

// suspects lists who is to be taken out.
func (p *Peer) suspects() (list []member.ID) {
	d := p.council.Decree()
	add := func(id member.ID, need bool) {
		if id == p.self || slices.Contains(list, id) || !d.Has(id) {
			return
		}
		with := member.Insert(slices.Clone(list), id)
		if need || d.Quorum(func(v member.ID) bool { return !slices.Contains(with, v) }) {
			list = with
		}
	}
	bound := len(d.Voters) == 2 && !p.alone() // of two, neither goes on by itself
	for i := range p.charter.members {
		e := &p.charter.members[i]
		patience := p.match.Patience
		if !d.Votes(e.id) {
			patience = max(patience, 4*second)
		}
		if e.id != p.self && p.council.Silent(e.id) > patience && !(bound && d.Votes(e.id)) {
			add(e.id, true)
		}
	}
	for _, id := range p.office.leaver {
		add(id, false)
	}
	for _, id := range p.office.liars {
		add(id, false)
	}
	for i := range p.office.candidates {
		// Who knocks with the keys of a member is that member, and has lost what it had.
		if e := p.charter.holder(&p.office.candidates[i].card.sign); e != nil &&
			p.office.candidates[i].returns &&
			p.council.Silent(e.id) > p.match.Patience/2 {
			add(e.id, false)
		}
	}
	return list
}

// stalls finds a member that is there but does not play: everybody waits for its commands, or for
// what commits to them, and for nobody else's. All see that, so all come to distrust it, and it is
// put out as one who is silent is.
func (p *Peer) stalls() {
	d := p.council.Decree()
	if p.phase != Playing || !p.pace.late || !p.council.Quorum() ||
		len(d.Voters) == 2 && len(d.Witnesses) == 0 {
		return
	}
	least, who := p.own.next-1, (*stream)(nil)
	for _, st := range p.streams {
		if st.id == p.self || p.charter.span(st.id) == nil {
			continue
		}
		if n := st.progress(); n < least {
			least, who = n, st
		}
	}
	if who != nil && p.now-who.moved > p.match.Patience+p.match.Patience/2 &&
		p.now-p.pace.since > p.match.Patience && p.council.Silent(who.id) < p.match.Patience {
		p.stats.Stalls++
		p.council.Distrust(who.id)
		p.tell(News{Kind: Waiting, Member: who.id,
			Text: "it is there and sends no commands: it is put out"})
	}
}

// progress is how far a member has come with its commands, or with what commits to them.
func (st *stream) progress() world.Tick { return max(world.Tick(st.Have()), st.seals.have) }

// successor is who leads after one that wants to leave, or zero.
func (p *Peer) successor() member.ID {
	if !p.office.going {
		return 0
	}
	for _, id := range p.council.Decree().Voters {
		if id != p.self && p.council.Decree().MayLead(id) &&
			p.council.Silent(id) < p.match.Patience/2 &&
			!slices.Contains(p.office.leaver, id) {
			return id
		}
	}
	return 0
}

// wanting says whether a decree is needed to let somebody in.
func (p *Peer) wanting() bool {
	d := p.council.Decree()
	for _, id := range p.office.ready {
		if slices.Contains(d.Learners, id) {
			return true
		}
	}
	return slices.ContainsFunc(p.office.candidates,
		func(a applicant) bool { return p.admits(p.charter, &a.candidate) })
}

// admits says whether a candidate can be a member now.
func (p *Peer) admits(ch *charter, c *candidate) bool {
	if ch.holder(&c.card.sign) != nil || len(ch.members) >= maxMembers {
		return false
	}
	seat, _ := ch.seat(&c.card.sign, p.match.Seats)
	waiting := 0
	for i := range ch.members {
		if ch.members[i].player == 0 {
			waiting++
		}
	}
	return seat != 0 && waiting+ch.playing()+len(ch.absent) <= p.match.Seats
}

// owner is what the council asks of a peer.
type owner Peer

// report is what a voter says of how far it has come, and of whose commands it has.
type report struct {
	stamped, settled world.Tick
	have             []want
}

func (r *report) fields(c *bits.Cursor) {
	tick(c, &r.stamped)
	tick(c, &r.settled)
	list(c, &r.have, maxSpans, func(w *want) { w.fields(c) })
}

// Report tells how far this peer has come, and takes nothing more of those who may be about to go.
// Until the epoch is decided it claims to hold no more than it did then: so nothing that the decree
// changes can be settled before.
func (o *owner) Report(suspects []member.ID) []byte {
	p := (*Peer)(o)
	if !p.limited {
		p.limited, p.limit = true, min(p.claim(), p.own.next-1)
	}
	for _, id := range suspects {
		p.frozen = member.Insert(p.frozen, id)
	}
	r := report{stamped: p.own.next - 1, settled: p.copy.Settled()}
	for _, s := range p.streams {
		r.have = append(r.have, want{s.id, world.Tick(s.Have())})
	}
	c := bits.CursorTo(nil)
	r.fields(&c)
	return c.Data()
}

// Farewell is what a member that is out is told.
func (o *owner) Farewell(member.ID) []byte { return nil }

// Compose makes the next decree.
func (o *owner) Compose(present *council.Decree, suspects []member.ID,
	reports []council.Report) council.Decree {
	p := (*Peer)(o)
	d := present.Clone()
	d.Epoch++
	d.Leader = p.self
	ch, err := readCharter(present.Body)
	if err != nil {
		return council.Decree{} // cannot be: it is in force
	}
	was, _ := readCharter(present.Body)
	gone := func(id member.ID) bool { return slices.Contains(suspects, id) }
	sum := p.gather(reports, gone)
	grace := p.grace()
	for i := range ch.spans { // of those who went before, what nobody has any more does not count
		if s := &ch.spans[i]; s.until != open && s.until > sum.settled {
			s.until = max(min(s.until, sum.have[s.member]), s.from)
		}
	}
	for _, id := range suspects {
		ch.close(id, sum.have[id], grace)
	}
	d.Voters = slices.DeleteFunc(d.Voters, gone)
	d.Witnesses = slices.DeleteFunc(d.Witnesses, gone)
	d.Learners = slices.DeleteFunc(d.Learners, gone)
	p.admit(ch, was, &d, sum.stamped)
	if next := p.successor(); next != 0 && d.MayLead(next) {
		d.Leader = next
	}
	ch.forget(sum.settled)
	d.Body = ch.append(nil)
	return d
}

// summary is what reports say in all.
type summary struct {
	stamped, settled world.Tick
	have             map[member.ID]world.Tick
}

func (p *Peer) gather(reports []council.Report, gone func(member.ID) bool) summary {
	sum := summary{settled: open, have: map[member.ID]world.Tick{}}
	for _, r := range reports {
		if gone(r.From) {
			continue
		}
		var m report
		c := bits.CursorOver(r.Data)
		if m.fields(&c); !c.Done() {
			continue
		}
		sum.stamped, sum.settled = max(sum.stamped, m.stamped), min(sum.settled, m.settled)
		for _, h := range m.have {
			sum.have[h.member] = max(sum.have[h.member], h.from)
		}
	}
	if sum.settled == open {
		sum.settled = 0
	}
	return sum
}

// admit lets those in who are ready to play, and makes others members who want to.
func (p *Peer) admit(ch, was *charter, d *council.Decree, stamped world.Tick) {
	from := stamped + p.notice()
	if was.playing() < p.match.Start && stamped == 0 {
		from = 1 // it has not begun
	}
	for _, id := range p.office.ready {
		at, ok := slices.BinarySearch(d.Learners, id)
		e := ch.find(id)
		if !ok || e == nil {
			continue
		}
		player, waits := ch.seat(&e.card.sign, p.match.Seats)
		if player == 0 {
			continue
		}
		s := span{player: player, member: id, from: from, until: open, joins: true}
		if waits != nil {
			if from < waits.leaves {
				s.joins = false
				ch.absent = slices.DeleteFunc(ch.absent,
					func(a absentee) bool { return a.player == player })
			} else {
				waits.sign = [32]byte{} // it has left by then, and comes as somebody new
			}
		}
		e.player = player
		ch.spans = append(ch.spans, s)
		d.Learners = slices.Delete(d.Learners, at, at+1)
		d.Voters = member.Insert(d.Voters, id)
	}
	for i := range p.office.candidates {
		c := &p.office.candidates[i].candidate
		if was.holder(&c.card.sign) != nil || !p.admits(ch, c) {
			continue
		}
		ch.members = append(ch.members, entry{id: ch.next, card: c.card, addrs: c.addrs})
		d.Learners = member.Insert(d.Learners, ch.next)
		ch.next++
	}
}

// notice is how many ticks before it plays a newcomer is told, and all others.
func (p *Peer) notice() world.Tick {
	worst := time.Duration(0)
	for _, q := range p.pairs {
		if q.open() {
			worst = max(worst, q.conn.Quality().RoundTrip)
		}
	}
	return world.Tick((2*worst+second*3/20)/p.game.TickLength()) + 2
}

// forget takes out of a charter what is long over.
func (ch *charter) forget(settled world.Tick) {
	const margin = 1000 // ticks
	if settled < margin {
		return
	}
	settled -= margin
	ch.spans = slices.DeleteFunc(ch.spans, func(s span) bool {
		return s.until < settled && ch.relieved(&s, settled)
	})
	ch.absent = slices.DeleteFunc(ch.absent, func(a absentee) bool {
		return a.leaves < settled &&
			!slices.ContainsFunc(ch.spans,
				func(s span) bool { return s.player == a.player && s.until < a.leaves })
	})
}

// readyUp tells the leader that this one is connected with all and keeps up, so that it can play.
func (p *Peer) readyUp() {
	if p.phase != Entering || p.now < p.door.sayAt {
		return
	}
	p.door.sayAt = p.now + second/20
	for i := range p.charter.members {
		e := &p.charter.members[i]
		if q := p.pair(e.id); e.id != p.self && p.charter.span(e.id) != nil &&
			(q == nil || !q.open()) && p.now-p.door.entered < p.match.Patience {
			return
		}
	}
	if p.held()-min(p.held(), p.copy.Shown()) > 20 {
		return
	}
	if p.council.Leads() {
		p.office.readies(p.self)
	} else if q := p.pair(p.council.Decree().Leader); q != nil {
		q.small([]byte{kindReady})
	}
}

// lacking asks for commands that count and are not here, of those who cannot send them any more,
// and of whom nothing has come for a while.
func (p *Peer) lacking() {
	if p.now < p.door.lackAt {
		return
	}
	p.door.lackAt = p.now + second/10
	for i := range p.charter.spans {
		s := &p.charter.spans[i]
		have := world.Tick(p.stream(s.member).Have())
		st := p.stream(s.member)
		if s.member == p.self || have >= s.until ||
			s.until == open && (p.now-st.moved < second/4 || have > p.copy.Shown()) {
			continue
		}
		m := want{member: s.member, from: max(have+1, s.from)}
		for _, q := range p.pairs {
			q.small(message(kindWant, m.fields))
		}
	}
}

// dismissed has this peer ask to come back.
func (p *Peer) dismissed(why string, but *try) {
	p.tell(News{Kind: Out, Text: why})
	for _, e := range p.charter.members {
		if e.id != p.self {
			for _, a := range e.addrs {
				p.ask.met(a)
			}
		}
	}
	for len(p.pairs) > 0 {
		p.part(p.pairs[0].id)
	}
	p.closeDoor()
	p.council, p.self, p.charter, p.streams, p.paths = nil, 0, nil, nil, nil
	p.copy, p.frozen, p.limited = nil, nil, false
	p.own.next = 1
	p.pace = pace{style: p.pace.style}
	p.phase = Asking
	p.stats.Returns++
	p.ask.begin(p.now, but)
}

// Leave has the others know that this one goes. Close the peer some time later.
func (p *Peer) Leave() {
	if p.council == nil {
		return
	}
	p.office.going = true
	for _, q := range p.pairs {
		q.control([]byte{kindLeave})
	}
}

// String tells how far the peer has come, for tests and logs.
func (p *Peer) String() string {
	if p.copy == nil {
		return fmt.Sprintf("%s %v", p.opt.Name, p.phase)
	}
	return fmt.Sprintf("%s %v member %d shown %d known %d settled %d", p.opt.Name, p.phase, p.self,
		p.copy.Shown(), p.copy.Known(), p.copy.Settled())
}
