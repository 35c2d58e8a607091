package peers

import (
	"slices"

	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/member"
)

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
	if !alone && p.superseded() {
		return
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

// superseded says whether somebody who has joined, and does not play as far as is known here, may
// play by now, and have gone on with the others before they lost what they had. To begin anew would
// make two matches then. See enlarge for why nobody else can have.
func (p *Peer) superseded() bool {
	return slices.ContainsFunc(p.council.Decree().Learners, func(id member.ID) bool {
		e := p.charter.find(id)
		back := e != nil && slices.ContainsFunc(p.office.candidates, func(a applicant) bool {
			return a.returns && a.card.sign == e.card.sign
		})
		return !back && p.council.Silent(id) > p.match.Patience
	})
}

// epochsApart keeps decrees of a match that begins anew apart from those before.
const epochsApart = 1000
