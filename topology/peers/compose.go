package peers

import (
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// This file is what a decree is made of: what voters report, and what the leader makes of it.

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
		p.tenure.stamped = open
	}
	if len(suspects) > 0 { // no seal for a later tick goes until it is decided: see lapse.go
		p.tenure.stamped = min(p.tenure.stamped, p.own.next-1)
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
	sum := p.gather(reports, func(id member.ID) bool { return slices.Contains(suspects, id) })
	grace := p.grace()
	for i := range ch.spans { // of those who went before, what nobody has any more does not count
		if s := &ch.spans[i]; s.until != open && s.until > sum.settled {
			s.until = max(min(s.until, sum.have[s.member]), s.from)
		}
	}
	var out []member.ID
	for _, id := range suspects {
		if slices.Contains(p.office.lapse, id) && p.council.Silent(id) < p.match.Patience &&
			p.letLapse(ch, id, &sum) {
			continue
		}
		if id != p.self {
			out = append(out, id)
			ch.close(id, sum.have[id], grace)
		}
	}
	gone := func(id member.ID) bool { return slices.Contains(out, id) }
	d.Voters = slices.DeleteFunc(d.Voters, gone)
	d.Witnesses = slices.DeleteFunc(d.Witnesses, gone)
	d.Learners = slices.DeleteFunc(d.Learners, gone)
	if !p.unaware(present) {
		p.enlarge(ch, was, &d, sum.stamped)
	}
	p.admit(ch, was, &d)
	if next := p.successor(); next != 0 && d.MayLead(next) {
		d.Leader = next
	}
	ch.forget(sum.settled)
	ch.forgetLapses(sum.settled - min(sum.settled, max(p.minute(), spanMargin)))
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

// unaware says of a leader of two that the other one does not know the decree in force, as far as
// is known here. A leader could decide alone; but if it lost what it had, the other would have to
// begin anew, and must know then who else may have gone on. So nobody plays of whom it does not
// know that they have joined.
func (p *Peer) unaware(d *council.Decree) bool {
	return len(d.Voters) == 2 && !p.alone() && slices.ContainsFunc(d.Voters,
		func(id member.ID) bool { return !p.council.Knows(id) })
}

// enlarge lets those in who are ready to play.
func (p *Peer) enlarge(ch, was *charter, d *council.Decree, stamped world.Tick) {
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
}

// admit makes members of those who want to play.
func (p *Peer) admit(ch, was *charter, d *council.Decree) {
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
	return world.Tick((2*p.slowest()+second*3/20)/p.game.TickLength()) + 2
}

// spanMargin is for how many ticks a charter remembers what is over.
const spanMargin = 1000

// forget takes out of a charter what is long over.
func (ch *charter) forget(settled world.Tick) {
	if settled < spanMargin {
		return
	}
	settled -= spanMargin
	ch.spans = slices.DeleteFunc(ch.spans, func(s span) bool {
		return s.until < settled && ch.relieved(&s, settled)
	})
	ch.absent = slices.DeleteFunc(ch.absent, func(a absentee) bool {
		return a.leaves < settled &&
			!slices.ContainsFunc(ch.spans,
				func(s span) bool { return s.player == a.player && s.until < a.leaves })
	})
}
