package membership

import (
	"slices"

	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
)

// owner is what the council asks of a membership.
type owner struct{ m *Membership }

// Report tells what is held here of members that may be about to go, and wedges them.
func (o *owner) Report(suspects []member.ID) (b []byte) {
	m := o.m
	for _, id := range suspects {
		if c, ok := m.g.Wedge(id); ok {
			m.wedged[id] = true
			b = appendCut(b, &c, maxSpans/len(suspects)+1)
		}
	}
	return b
}

// Farewell is why a member is out.
func (o *owner) Farewell(id member.ID) []byte {
	why := o.m.reasons[id]
	if why == 0 {
		why = o.m.why(id) // decided at this moment
	}
	return []byte{byte(why)}
}

// Compose makes the next decree from what this mirror wants.
func (o *owner) Compose(present *council.Decree, suspects []member.ID, reports []council.Report) council.Decree {
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
	_, _ = m.random.Read(ch.roster.Key[:])

	gone := func(id member.ID) bool { return slices.Contains(suspects, id) }
	for _, id := range suspects {
		who := id
		if ch.find(who) == nil {
			continue
		}
		if !slices.ContainsFunc(ch.witnesses, func(w crimp.Member) bool { return w.ID == who }) {
			ch.roster.Gone = append(ch.roster.Gone, crimp.Agree(who, m.why(who), cuts(who, reports, gone)))
		}
		ch.remove(who)
	}
	d.Voters = slices.DeleteFunc(d.Voters, gone)
	d.Witnesses = slices.DeleteFunc(d.Witnesses, gone)
	d.Learners = slices.DeleteFunc(d.Learners, gone)

	for _, id := range sorted(m.ready) {
		if at, ok := slices.BinarySearch(d.Learners, id); ok {
			d.Learners = slices.Delete(d.Learners, at, at+1)
			d.Voters = insert(d.Voters, id)
			if slices.ContainsFunc(ch.witnesses, func(w crimp.Member) bool { return w.ID == id }) {
				d.Witnesses = insert(d.Witnesses, id)
			}
		}
	}
	for i := range m.candidates {
		c := &m.candidates[i]
		if !c.conn.Open() || ch.holder(c.card.Sign) != nil || ch.size() >= m.opt.MaxMembers {
			continue
		}
		id := ch.takeID()
		ch.add(crimp.Member{ID: id, Card: c.card}, c.witness)
		d.Learners = insert(d.Learners, id)
	}
	if m.leaving {
		if heir := m.heir(&d); heir != 0 {
			d.Leader = heir
		}
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
	if why, ok := m.outcasts[id]; ok {
		return why
	}
	if _, ok := m.goers[id]; ok {
		return crimp.ReasonLeft
	}
	return crimp.ReasonSilent
}

// heir is who should lead after this mirror, or zero if nobody can.
func (m *Membership) heir(d *council.Decree) member.ID {
	for _, id := range d.Voters {
		_, goes := m.goers[id]
		if id != m.self && d.MayLead(id) && !goes && m.council.Silent(id) < m.opt.Silence/2 {
			return id
		}
	}
	return 0
}

func insert(list []member.ID, id member.ID) []member.ID {
	at, ok := slices.BinarySearch(list, id)
	if ok {
		return list
	}
	return slices.Insert(list, at, id)
}
