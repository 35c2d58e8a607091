package peers

import (
	"cmp"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// This file is about a member that is there and holds everybody up: where all commit first, it does
// not commit, or does not reveal what it has committed to. After Match.Lapse the others decide that
// it has lapsed: its last command that any of them holds counts once more, without its edges, up to
// a tick that is some round trips ahead. From then on its commands count again. It stays a member
// and keeps its body, and who does it on purpose has lost those ticks.
//
// It is decided as it is decided who is gone. Each voter says up to where it has the member's
// commands, and takes nothing more of it until the decree is in force; the highest of those counts.
// A command that is repeated is an item without bytes, so a lapse is items of no bytes in all
// streams of the member, its own included, and everything else follows from the streams as ever.
//
// A lapse begins an era of the member's commands. All that it has made for later ticks is void,
// what commits to those too: packets say of which era they are, and others are not looked at. The
// first tick of the era is after all for which a voter had sent a seal when it reported, and it
// sends none for later ones until the decree is in force. So nobody, whether the decree has come
// there or not, has revealed anything of the new era before the member has committed to it anew.
//
// Who is to blame nobody can prove: one that does not reveal may itself wait for a seal that
// another sent to all but to it. So who is blamed and blames another takes that one along. To
// have somebody lapse one has to lapse as well, and after Match.Lapses in a minute one is out.
//
// Of two neither is a judge of the other: there nobody lapses.

// A lapse is ticks in which a member's last command is repeated.
type lapse struct {
	member      member.ID
	era         uint8      // that begins after it: how many times the member has lapsed
	from, until world.Tick // both count
}

const (
	maxLapses    = 255
	longestLapse = 256 // ticks
)

func (l *lapse) fields(c *bits.Cursor) {
	c.U16((*uint16)(&l.member))
	c.U8(&l.era)
	tick(c, &l.from)
	tick(c, &l.until)
}

// lapsed counts the lapses of a member that have ended after a tick.
func (ch *charter) lapsed(id member.ID, after world.Tick) (n int) {
	for i := range ch.lapses {
		if l := &ch.lapses[i]; l.member == id && l.until > after {
			n++
		}
	}
	return n
}

// repeats says whether a member's command for a tick is the one before.
func (ch *charter) repeats(id member.ID, t world.Tick) bool {
	for i := range ch.lapses {
		if l := &ch.lapses[i]; l.member == id && t >= l.from && t <= l.until {
			return true
		}
	}
	return false
}

// lacks says whether commands of a member are missing after which others are repeated: it does not
// send those any more.
func (ch *charter) lacks(id member.ID, have world.Tick) bool {
	for i := range ch.lapses {
		if l := &ch.lapses[i]; l.member == id && have+1 < l.from {
			return true
		}
	}
	return false
}

// eraOf is the era of a member's commands.
func (ch *charter) eraOf(id member.ID) (era uint8) {
	if e := ch.find(id); e != nil {
		return e.lapses
	}
	for i := range ch.lapses {
		if l := &ch.lapses[i]; l.member == id {
			era = l.era
		}
	}
	return era
}

// lapse puts into a stream what the charter says of lapses.
func (p *Peer) lapse(st *stream) {
	if !st.aged { // what it has fits the charter that it came with
		st.era, st.aged = p.charter.eraOf(st.id), true
	}
	before := st.era
	var last lapse
	for _, l := range p.charter.lapses {
		if l.member != st.id || int8(l.era-st.era) <= 0 {
			continue
		}
		st.era, st.moved, last = l.era, p.now, l
		st.Cut(uint64(l.from - 1))
		*st.seals = seals{}
		for _, g := range p.door.guests {
			for i := range g.sent {
				if w := &g.sent[i]; w.member == st.id {
					w.from = min(w.from, l.from)
				}
			}
		}
		p.stats.Lapses++
		p.tell(News{Kind: Lapsed, Member: l.member, Tick: l.from, Until: l.until,
			Text: "it did not say in time what it does"})
	}
	p.fill(st)
	if st.era != before && st.id == p.self {
		p.renew(st, &last)
	}
}

// fill puts in the commands that are repeated, as far as those before them are there.
func (p *Peer) fill(st *stream) {
	for again := true; again; {
		again = false
		for i := range p.charter.lapses {
			l := &p.charter.lapses[i]
			if have := world.Tick(st.Have()); l.member == st.id && have+1 >= l.from &&
				have < l.until {
				st.Repeat(uint64(l.until))
				again = true
			}
		}
	}
}

// renew has this peer, which has lapsed, command anew.
func (p *Peer) renew(own *stream, l *lapse) {
	p.own.next, p.own.began = l.until+1, l.until
	if own.Holds(uint64(l.until)) {
		copy(p.own.last, own.Image(uint64(l.until)))
	}
	p.own.nonces = nonces{secret: p.seed32()}
	for _, q := range p.pairs {
		q.items, q.seals = outgoing{acked: l.until}, outgoing{acked: l.until}
		if p.council != nil {
			q.defers, q.until = true, uint8(p.council.Decree().Epoch)
		}
	}
}

// mayTell says whether another knows of this peer's last lapse, so that what is made since then can
// go there.
func (q *pair) mayTell() bool {
	if q.defers && q.said && int8(q.epoch-q.until) >= 0 {
		q.defers = false
	}
	return !q.defers
}

// waits is for which tick this peer waits, and since when.
type waits struct {
	tick  world.Tick
	since time.Duration
	sayAt time.Duration
}

// await notes for which tick this peer waits.
func (p *Peer) await() {
	t := p.held()
	if t != open {
		t++
	}
	shown := p.copy.Shown()
	if due := t <= shown || t == shown+1 && p.pace.late; !due || t != p.waits.tick {
		p.waits.tick, p.waits.since = t, p.now
	}
}

// missing lists the members without whom the tick that this peer waits for cannot be: those who
// have not committed to a command for it, or if all have, those who have not revealed it.
func (p *Peer) missing() (list []member.ID) {
	t := p.waits.tick
	sealed := true
	for i := range p.charter.spans {
		s := &p.charter.spans[i]
		st := p.stream(s.member)
		if s.until != open || s.member == p.self || s.from > t || world.Tick(st.Have()) >= t {
			continue
		}
		if has := !p.match.Commit || st.seals.have >= t; sealed && !has {
			sealed, list = false, list[:0]
		} else if has && !sealed {
			continue
		}
		list = append(list, s.member)
	}
	return list
}

// lapseAfter is for how long somebody is waited for who is there: so long that what is lost has
// been sent again, some times.
func (p *Peer) lapseAfter() time.Duration {
	gap := time.Duration(0)
	for _, q := range p.pairs {
		if q.open() {
			gap = max(gap, min(q.gap, second/10))
		}
	}
	after := min(4*p.slowest()+6*gap, p.match.Patience*3/4)
	return max(p.match.Lapse, after)
}

// slowest is the longest round trip.
func (p *Peer) slowest() (worst time.Duration) {
	for _, q := range p.pairs {
		if q.open() {
			worst = max(worst, q.conn.Quality().RoundTrip)
		}
	}
	return worst
}

// overdue lists whom this peer has waited for too long.
func (p *Peer) overdue() []member.ID {
	waited := p.now - p.waits.since
	if p.phase != Playing || waited <= p.match.Lapse || waited <= p.lapseAfter() {
		return nil
	}
	return p.missing()
}

// blame is for whom a member waits, and for which tick.
type blame struct {
	tick    world.Tick
	members []member.ID
}

func (m *blame) fields(c *bits.Cursor) {
	tick(c, &m.tick)
	list(c, &m.members, MaxSeats, func(id *member.ID) { c.U16((*uint16)(id)) })
}

// A charge is a blame with who said it.
type charge struct {
	blame
	by member.ID
	at time.Duration
}

func (o *office) blamed(by member.ID, m *blame, now time.Duration) {
	o.charges = slices.DeleteFunc(o.charges, func(c charge) bool { return c.by == by })
	o.charges = append(o.charges, charge{*m, by, now})
}

// blameEvery is how often the leader is told for whom this peer waits, and chargeLife for how long
// it is taken to wait.
const (
	blameEvery = second / 10
	chargeLife = 3 * second / 10
)

// lapses says whether there can be lapses.
func (p *Peer) lapses() bool {
	return p.match.Commit && p.match.Lapses >= 0 && len(p.council.Decree().Voters) > 2
}

// complain tells the leader for whom this peer has waited too long.
func (p *Peer) complain() {
	if !p.lapses() || p.now < p.waits.sayAt {
		return
	}
	m := blame{p.waits.tick, p.overdue()}
	q := p.pair(p.council.Decree().Leader)
	if len(m.members) == 0 || q == nil {
		return
	}
	p.waits.sayAt = p.now + blameEvery
	q.small(message(kindBlame, m.fields))
}

// lapsing lists who has to lapse, as the leader finds: whom it waits for itself, and all whom those
// wait for. The leader itself has to where half of the others wait for it.
func (p *Peer) lapsing() (list []member.ID) {
	o := &p.office
	o.charges = slices.DeleteFunc(o.charges,
		func(c charge) bool { return p.now-c.at > chargeLife })
	if !p.lapses() || p.phase != Playing {
		return nil
	}
	list = p.overdue()
	against := 0
	for _, c := range o.charges {
		if slices.Contains(c.members, p.self) && c.tick <= p.waits.tick {
			against++
		}
	}
	if against > 0 && 2*against >= p.charter.playing()-1 &&
		p.charter.lapsed(p.self, 0) < p.match.Lapses { // otherwise others see to it
		list = append(list, p.self)
	}
	for i := 0; i < len(list); i++ {
		list = p.implicate(list, list[i])
	}
	list = slices.DeleteFunc(list, func(id member.ID) bool {
		return id != p.self && p.council.Silent(id) > p.lapseAfter()/2 // it may be gone
	})
	slices.SortFunc(list, func(a, b member.ID) int { // not always the same one's fault
		return cmp.Or(p.charter.lapsed(a, 0)-p.charter.lapsed(b, 0), int(a)-int(b))
	})
	return list
}

// implicate adds to a list whom a member blames, for the tick that the leader waits for or an
// earlier one.
func (p *Peer) implicate(list []member.ID, by member.ID) []member.ID {
	for _, c := range p.office.charges {
		if c.by != by || c.tick > p.waits.tick {
			continue
		}
		for _, id := range c.members {
			if !slices.Contains(list, id) && p.charter.span(id) != nil {
				list = append(list, id)
			}
		}
	}
	return list
}

// minute is how many ticks there are in one.
func (p *Peer) minute() world.Tick { return world.Tick(60 * p.game.Rate()) }

// letLapse has a member lapse, in a charter that is made. It does not where the member has too
// often.
func (p *Peer) letLapse(ch *charter, id member.ID, sum *summary) bool {
	e, s := ch.find(id), ch.span(id)
	if e == nil || s == nil || len(ch.lapses) >= maxLapses {
		return false
	}
	last := max(sum.have[id], s.from-1)
	ago := last - min(last, p.minute())
	if ch.lapsed(id, ago) >= p.match.Lapses {
		return false
	}
	// Those who are honest are not further ahead than this, whatever they say.
	stamped := min(sum.stamped, last+MaxDepth+MaxDelay+1)
	until := max(last, stamped) + min(p.notice()+world.Tick(p.slowest()/p.game.TickLength()), 128)
	e.lapses++
	ch.lapses = append(ch.lapses, lapse{id, e.lapses, last + 1, min(until, last+longestLapse)})
	return true
}

// forgetLapses takes those out of a charter that are long over.
func (ch *charter) forgetLapses(before world.Tick) {
	ch.lapses = slices.DeleteFunc(ch.lapses, func(l lapse) bool { return l.until < before })
}
