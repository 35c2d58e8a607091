package membership

import (
	"slices"

	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
)

// This file is about decrees as they come into force here.

// found makes the group, with this mirror as its only member.
func (m *Membership) found() {
	was := m.opt.Anew
	m.charter = charter{nextID: max(was.ID, 1)}
	r := &m.charter.roster
	r.Group, r.Proof, r.Epoch = m.random.Uint64(), m.opt.Proof, max(was.Epoch, 1)
	if was.Group != 0 {
		r.Group = was.Group
	}
	m.random.Read(r.Key[:])
	id := m.charter.takeID()
	m.charter.add(crimp.Member{ID: id, Card: m.opt.Card}, false)
	d := council.Decree{Epoch: r.Epoch, Leader: id, Voters: []member.ID{id},
		Body: m.charter.append(nil)}
	if err := m.enter(id, d, council.Link{}); err != nil {
		// A roster of one that is made here cannot be wrong, unless the options are.
		m.end(crimp.Denied, crimp.ReasonMismatch, err.Error())
		return
	}
	m.state = true
}

// welcomed makes this node a member by the decree that lets it in. It has nothing yet by which to
// judge the proof: who let it in has the operator's key. It keeps the proof for others.
func (m *Membership) welcomed(id member.ID, l *council.Link) error {
	d, err := council.ReadDecree(l.Decree)
	if err != nil {
		return err
	}
	return m.enter(id, d, *l)
}

// enter makes this node a member by the first decree that it knows.
func (m *Membership) enter(id member.ID, d council.Decree, proof council.Link) error {
	ch, err := readCharter(d.Body)
	if err != nil {
		return err
	}
	keys := &keys{identity: m.opt.Identity, group: ch.roster.Group}
	c, err := council.New(m.now, council.Options{
		ID: id, Owner: &owner{m}, Keys: keys, Approve: keys.approve, Proof: proof,
		Seed: m.random.Uint64(), Silence: m.opt.Silence, Remembers: m.opt.Remember != nil}, d)
	if err != nil {
		return err
	}
	me := ch.find(id)
	if !ch.fits(&d) || me == nil || me.Sign != m.opt.Card.Sign {
		return errMalformed
	}
	m.council, m.self = c, id
	if err := m.put(&d, ch, !m.opt.Found); err != nil {
		m.council, m.self = nil, 0
		return err
	}
	m.g.Tell(crimp.Event{Kind: crimp.Established, Member: id})
	m.tellLead()
	return nil
}

// put gives a roster to the group.
func (m *Membership) put(d *council.Decree, ch charter, floating bool) error {
	if m.opt.Witness || m.lapsed {
		if err := m.g.Introduce(ch.roster.Group, m.self, ch.roster.Members); err != nil {
			return err
		}
	} else {
		set := m.g.SetRoster
		if floating {
			set = m.g.SetRosterFloating
		}
		if err := set(m.now, ch.roster); err != nil {
			return err
		}
	}
	if err := m.g.Introduce(ch.roster.Group, m.self, ch.witnesses); err != nil {
		return err
	}
	m.charter, m.uber = ch, d.Leader
	m.g.KeepLines(m.now, slices.Concat(d.Voters, d.Learners))
	return nil
}

func (m *Membership) tellLead() {
	m.g.Tell(crimp.Event{Kind: crimp.Led, Member: m.uber,
		Seq: crimp.Sequence(m.charter.roster.Epoch)})
}

// learn puts in force what was decided.
func (m *Membership) learn() {
	for _, d := range m.council.Decided() {
		ch, err := readCharter(d.Body)
		if err != nil || !ch.fits(&d) {
			m.end(crimp.Dismissed, crimp.ReasonMismatch, "a decree makes no sense")
			return
		}
		for _, gone := range ch.roster.Gone {
			if m.reasons.remember(gone.ID, gone.Reason); gone.Reason == crimp.ReasonEquivocated {
				m.bar(gone.ID)
			}
		}
		for i := range m.charter.witnesses {
			if id := m.charter.witnesses[i].ID; ch.find(id) == nil && m.reasons.why[id] == 0 {
				m.reasons.remember(id, crimp.ReasonSilent)
			}
		}
		if d.Epoch != m.charter.roster.Epoch+1 && m.missed(&ch) {
			m.lapse()
		}
		if err := m.put(&d, ch, false); err != nil {
			m.end(crimp.Dismissed, crimp.ReasonOutdated, err.Error())
			return
		}
		for _, id := range sorted(m.frozen) {
			m.g.Thaw(m.now, id) // of those that are gone, it does nothing
		}
		clear(m.frozen)
		m.tellLead()
		m.cleared(&d)
		if m.asking != nil {
			m.asking.follow()
		}
	}
	if note, out := m.council.Dismissed(); out {
		why := crimp.ReasonOutdated
		if len(note) == 1 {
			why = crimp.Reason(note[0])
		}
		if m.lapsed {
			why = crimp.ReasonOutdated
		}
		m.end(crimp.Dismissed, why, "")
	}
}

// reasons is why members are out, to tell them when they ask. Of too many the oldest are forgotten.
type reasons struct {
	why   map[member.ID]crimp.Reason
	order []member.ID // the oldest first
	// Who has signed what fits nobody.
	doubted []member.ID
}

func (r *reasons) remember(id member.ID, why crimp.Reason) {
	if _, known := r.why[id]; !known {
		r.order = append(r.order, id)
	}
	r.why[id] = why
	if len(r.order) > 2*crimp.MaxMembers {
		delete(r.why, r.order[0])
		r.order = r.order[1:]
	}
}
