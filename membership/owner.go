package membership

import (
	"cmp"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
)

// owner is what the council asks of a membership.
type owner struct{ m *Membership }

// Report tells what is held here of members that may be about to go, and freezes them.
func (o *owner) Report(suspects []member.ID) []byte {
	m, to := o.m, bits.CursorTo(nil)
	for _, id := range suspects {
		if c, ok := m.g.Freeze(id); ok {
			m.frozen[id] = true
			holdingOf(&c, maxSpans/len(suspects)+1).fields(&to)
		}
	}
	return to.Data()
}

// Farewell is why a member is out.
func (o *owner) Farewell(id member.ID) []byte {
	why := o.m.reasons.why[id]
	if why == 0 {
		why = o.m.why(id) // decided at this moment
	}
	return []byte{byte(why)}
}

// Compose makes the next decree from what this mirror wants.
func (o *owner) Compose(present *council.Decree, suspects []member.ID,
	reports []council.Report) council.Decree {
	m := o.m
	d := present.Clone()
	d.Epoch++
	d.Leader = m.self
	ch, err := readCharter(present.Body)
	if err != nil {
		return council.Decree{} // cannot be: it is in force
	}
	ch.roster.Epoch = d.Epoch
	ch.roster.Gone = nil
	if m.random.Read(ch.roster.Key[:]); m.proofs.sign {
		ch.roster.Proof = crimp.Signatures
	}

	gone := func(id member.ID) bool { return slices.Contains(suspects, id) }
	for _, id := range suspects {
		if ch.find(id) == nil {
			continue
		}
		if !ch.isWitness(id) {
			ch.roster.Gone = append(ch.roster.Gone,
				crimp.Agree(id, m.why(id), cuts(id, reports, gone)))
		}
		ch.remove(id)
	}
	d.Voters = slices.DeleteFunc(d.Voters, gone)
	d.Witnesses = slices.DeleteFunc(d.Witnesses, gone)
	d.Learners = slices.DeleteFunc(d.Learners, gone)

	for _, id := range sorted(m.ready) {
		if at, ok := slices.BinarySearch(d.Learners, id); ok {
			d.Learners = slices.Delete(d.Learners, at, at+1)
			d.Voters = member.Insert(d.Voters, id)
			if ch.isWitness(id) {
				d.Witnesses = member.Insert(d.Witnesses, id)
			}
		}
	}
	for i := range m.candidates {
		c := &m.candidates[i]
		if !c.there(m.now) || ch.holder(c.card.Sign) != nil || ch.size() >= m.opt.MaxMembers {
			continue
		}
		id := ch.takeID()
		ch.add(crimp.Member{ID: id, Card: c.card}, c.witness)
		d.Learners = member.Insert(d.Learners, id)
	}
	if m.leaving {
		d.Leader = cmp.Or(m.successor(&d), m.self)
	}
	d.Body = ch.append(nil)
	return d
}

// cuts gathers what those who stay hold of a member.
func cuts(who member.ID, reports []council.Report, gone func(member.ID) bool) (list []crimp.Cut) {
	for _, r := range reports {
		if gone(r.From) {
			continue
		}
		held, err := readReport(r.Data)
		if err != nil {
			continue
		}
		for _, c := range held {
			if c.Member == who {
				list = append(list, c)
			}
		}
	}
	return list
}

// why is the reason to take a member out.
func (m *Membership) why(id member.ID) crimp.Reason {
	if m.proofs.against(id) || slices.Contains(m.reasons.doubted, id) {
		return crimp.ReasonEquivocated
	}
	if why, ok := m.expelled[id]; ok {
		return why
	}
	if m.Leaves(id) {
		return crimp.ReasonLeft
	}
	return crimp.ReasonSilent
}

// successor is who should lead after this mirror, or zero if nobody can.
func (m *Membership) successor(d *council.Decree) member.ID {
	for _, id := range d.Voters {
		if id != m.self && d.MayLead(id) && !m.Leaves(id) &&
			m.council.Silent(id) < m.opt.Silence/2 {
			return id
		}
	}
	return 0
}
