package peers

import (
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// office is what only the leader needs to know.
type office struct {
	candidates []applicant
	ready      []member.ID
	leaver     []member.ID
	liars      []member.ID
	charges    []charge    // who waits for whom
	lapse      []member.ID // of the suspects: who is to lapse, and not to go
	going      bool        // this one wants to leave
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

func (p *Peer) grace() world.Tick {
	return world.Tick(p.match.Grace * time.Duration(p.game.Rate()) / second)
}

// govern does what is due for this peer as a member: it decides with the others who is one.
func (p *Peer) govern() error {
	if p.council == nil {
		return nil
	}
	p.council.Tick(p.now)
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
	p.preside()
	if p.now >= p.pace.sendAt { // it goes with the next commands
		for _, m := range p.council.Outgoing() {
			if q := p.pair(m.To); q != nil {
				q.small(append([]byte{kindCouncil}, m.Data...))
			}
		}
	}
	if p.readyUp(); p.council == nil {
		return nil
	}
	p.await()
	p.complain()
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
		p.office.ready, p.office.lapse = p.office.ready[:0], nil
		return
	}
	if !p.council.Quorum() || p.council.Proposing() {
		return
	}
	suspects := p.suspects()
	p.office.lapse = p.office.lapse[:0]
	for _, id := range p.lapsing() {
		d := p.council.Decree()
		with := member.Insert(slices.Clone(suspects), id)
		if !slices.Contains(suspects, id) &&
			d.Quorum(func(v member.ID) bool { return !slices.Contains(with, v) }) {
			p.office.lapse, suspects = append(p.office.lapse, id), with
		}
	}
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
// what commits to them, and for nobody else's. Who waits for so long suspects it, and it is put out
// as one who is silent is, if enough do. Where lines were cut some may wait for one and some for
// another, who is not to blame: so what was waited for while it was not heard does not count, and
// who sends again is not suspected any more; nor is who was suspected for long and not put out.
func (p *Peer) stalls() {
	who := p.staller()
	for _, st := range p.streams {
		if silent := p.council.Silent(st.id); st.suspect == 0 && silent > p.match.Patience/2 {
			st.back = p.now // nothing could come of it
		}
		if st.suspect != 0 && (st.moved > st.suspect || p.now-st.suspect > 2*p.match.Patience) {
			st.suspect, st.back = 0, p.now
		}
		p.council.Suspect(st.id, st.suspect != 0)
	}
	if who == nil || who.suspect != 0 {
		return
	}
	most := p.match.Patience
	if p.now-max(who.moved, who.back) > most+most/2 && p.now-p.pace.since > most {
		p.stats.Stalls++
		who.suspect = p.now
		p.council.Suspect(who.id, true)
		p.tell(News{Kind: Waiting, Member: who.id,
			Text: "it is there and sends no commands: it is put out"})
	}
}

// staller is the one whose commands are waited for, or nil.
func (p *Peer) staller() (who *stream) {
	d := p.council.Decree()
	if p.phase != Playing || !p.pace.late || !p.council.Quorum() ||
		len(d.Voters) == 2 && len(d.Witnesses) == 0 {
		return nil
	}
	if p.match.Commit { // where it does not help that it lapses: as it leads, and does not let it
		if list := p.missing(); len(list) > 0 {
			who = p.stream(list[0])
		}
		return who
	}
	least := p.own.next - 1
	for _, st := range p.streams {
		if st.id == p.self || p.charter.span(st.id) == nil {
			continue
		}
		if n := world.Tick(st.Have()); n < least {
			least, who = n, st
		}
	}
	return who
}

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

// readyUp tells the leader that this one is connected with all and keeps up, so that it can play.
func (p *Peer) readyUp() {
	if p.phase != Entering || p.now < p.door.sayAt {
		return
	}
	if p.forgotten() {
		p.dismissed("nobody is left of those who let this one in", nil)
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

// forgotten says of one who does not play yet that nothing is heard of any who do: they are gone,
// or have begun anew without it.
func (p *Peer) forgotten() bool {
	for _, id := range p.council.Decree().Voters {
		if id == p.self || p.council.Silent(id) < 4*p.match.Patience {
			return false
		}
	}
	return true
}

// lacking asks for commands that count and are not here, of those who cannot send them any more,
// and of whom nothing has come for a while.
func (p *Peer) lacking() {
	if p.now < p.door.lackAt {
		return
	}
	p.door.lackAt = p.now + second/10
	quiet := second / 4
	if p.match.Commit {
		quiet = second / 10 // before whoever it is lapses
	}
	for i := range p.charter.spans {
		s := &p.charter.spans[i]
		have := world.Tick(p.stream(s.member).Have())
		st := p.stream(s.member)
		if s.member == p.self || have >= s.until ||
			s.until == open && (p.now-st.moved < quiet || have > p.copy.Shown()) &&
				!p.charter.lacks(s.member, have) {
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
