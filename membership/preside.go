package membership

import (
	"maps"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
)

// newcomerPatience is how long a new member may take to say its first word.
const newcomerPatience = 5 * time.Second

// preside is what the überserver does: it has the silent taken out, and others let in.
func (m *Membership) preside() {
	if !m.Leads() {
		m.resign()
		return
	}
	if !m.council.Quorum() {
		m.turnAway()
		return
	}
	d := m.council.Decree()
	suspects := m.suspects(d)
	wanted := len(suspects) > 0 || m.proofs.sign && m.charter.roster.Proof != crimp.Signatures
	for id := range m.ready {
		wanted = wanted || slices.Contains(d.Learners, id)
	}
	for i := range m.candidates {
		wanted = wanted || m.charter.holder(m.candidates[i].card.Sign) == nil &&
			m.candidates[i].there(m.now) && m.charter.size() < m.opt.MaxMembers
	}
	if m.leaving && m.successor(d) != 0 {
		wanted = true
	}
	if wanted && !m.council.Proposing() {
		m.council.Propose(m.now, suspects)
	}
	m.askForStates()
}

// suspects lists who is to be taken out: all who are silent, and of those who are to go
// for other reasons as many as can be spared at a time, for it takes a quorum of those who
// stay.
func (m *Membership) suspects(d *council.Decree) (list []member.ID) {
	all := slices.Concat(d.Voters, d.Learners)
	for _, id := range all {
		if id != d.Leader && m.silent(id) {
			list = member.Insert(list, id)
		}
	}
	for _, id := range all {
		if id == d.Leader || !m.shallGo(id) {
			continue
		}
		with := member.Insert(slices.Clone(list), id)
		if d.Quorum(func(v member.ID) bool { return !slices.Contains(with, v) }) {
			list = with
		}
	}
	return list
}

// silent reports whether a member has not been heard for too long.
func (m *Membership) silent(id member.ID) bool {
	silent := m.council.Silent(id)
	patience := m.opt.Silence
	if n := m.newcomers[id]; n != nil && !m.council.Decree().Votes(id) {
		if m.now-silent > n.since {
			n.heard = true
		}
		if !n.heard {
			patience = max(patience, newcomerPatience)
		}
	}
	return silent > patience
}

// shallGo reports whether a member is to be taken out although it is there.
func (m *Membership) shallGo(id member.ID) bool {
	if _, ok := m.expelled[id]; ok {
		return true
	}
	l := m.leavers[id]
	// All that it has sent should be here, for nobody can ask it any more then.
	return m.Leaves(id) && (m.whole(id, l.last) || m.now-l.since > m.opt.Silence)
}

// whole reports whether all that a member has sent, up to a packet, is here.
func (m *Membership) whole(id member.ID, last crimp.Sequence) bool {
	for _, c := range m.g.Start().Cuts {
		if c.Member == id {
			return c.Seq >= last
		}
	}
	return true
}

// resign forgets what only an überserver knows.
func (m *Membership) resign() {
	clear(m.expelled)
	maps.DeleteFunc(m.leavers, func(id member.ID, _ leaver) bool { return !m.Leaves(id) })
	clear(m.ready)
	m.turnAway()
}
