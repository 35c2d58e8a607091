package membership

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
)

// Leave takes this mirror out of the group in good order: if it is the überserver, it has
// another lead first; then the roster is changed, and Dismissed comes. Send nothing more from
// here on. The last mirror ends the group; see Spare.
func (m *Membership) Leave(now time.Duration, g *crimp.Group) {
	m.now, m.g = max(m.now, now), g
	m.yields = false
	if m.leaving || m.done {
		return
	}
	m.leaving, m.leaveBy = true, m.now+20*m.opt.Silence
	if m.council == nil {
		m.end(crimp.Denied, crimp.ReasonLeft, "")
		return
	}
	g.Leave(now)
	m.sayAt = m.now
}

// Yield is Leave for a mirror that wants to join anew: it goes only while the group can go on
// without it, and does not end the group. See Alone and Stay.
func (m *Membership) Yield(now time.Duration, g *crimp.Group) {
	if !m.leaving {
		m.Leave(now, g)
		m.yields = m.leaving
	}
}

// Spare reports whether the group can go on without this mirror, as far as is known here:
// another has the state, and does not itself want to go. A mirror that wants to leave only to
// join anew should ask first.
func (m *Membership) Spare() bool {
	if m.council == nil || m.done || !m.council.Quorum() {
		return false
	}
	return !m.Leads() || m.successor(m.council.Decree()) != 0
}

// Leaves reports whether a member has said of late that it wants to leave, as far as this one was
// to be told: those who want to tell the überserver.
func (m *Membership) Leaves(id member.ID) bool {
	l, ok := m.leavers[id]
	return ok && m.now-l.said < m.opt.Silence
}

// Alone reports whether this mirror leads, and nobody else in the group could go on without it: all
// others that have the state want to leave themselves.
func (m *Membership) Alone() bool {
	if m.lapsed || !m.Leads() || !m.Quorum() {
		return false
	}
	d := m.council.Decree()
	return !slices.ContainsFunc(d.Voters,
		func(id member.ID) bool { return id != m.self && d.MayLead(id) && !m.Leaves(id) })
}

// Stay takes back Leave, if this mirror is not out yet.
func (m *Membership) Stay(now time.Duration) {
	m.now = max(m.now, now)
	if m.leaving && !m.lapsed && !m.done && m.council != nil {
		m.leaving, m.yields, m.closing = false, false, 0
		m.g.Stay(now)
	}
}

// missed reports whether a member has left by a decree that is not known here.
func (m *Membership) missed(next *charter) bool {
	return slices.ContainsFunc(m.charter.roster.Members, func(o crimp.Member) bool {
		return next.find(o.ID) == nil &&
			!slices.ContainsFunc(next.roster.Gone,
				func(d crimp.Departure) bool { return d.ID == o.ID })
	})
}

// lapse is for a member that learns of a decree without knowing the one before, by which somebody
// left: what counts of that one it cannot know. Its vote may be all that the others need to go on,
// so it stays in the council until they let it go, but out of the group.
func (m *Membership) lapse() {
	if m.lapsed || m.opt.Witness {
		return
	}
	m.lapsed = true
	if !m.cutOff {
		m.cutOff, m.cutAt = true, m.now
		m.g.Tell(crimp.Event{Kind: crimp.CutOff, Member: m.self})
	}
	m.leaving, m.leaveBy, m.sayAt = true, m.now+80*m.opt.Silence, m.now
}

// depart goes on with leaving.
func (m *Membership) depart() {
	d := m.council.Decree()
	others := slices.ContainsFunc(d.Voters,
		func(id member.ID) bool { return id != m.self && d.MayLead(id) })
	// One has joined, and will have the state.
	soon := slices.ContainsFunc(d.Learners,
		func(id member.ID) bool { return !m.charter.isWitness(id) })
	late := m.now > m.leaveBy
	switch {
	case m.yields && m.Alone():
	case m.Leads() && !others && (!soon || late):
		m.close()
	case late:
		// nobody lets go; the others will find it silent
		m.end(crimp.Dismissed, crimp.ReasonLeft, "")
	case !m.Leads() && m.now >= m.sayAt:
		m.sayAt = m.now + m.opt.Silence/5
		_ = m.g.Confer(m.now, m.uber, write(talkLeave, &leaver{last: m.g.Last()}))
	}
}

// close ends a group of which this is the last mirror. Witnesses and newcomers are told, some
// times over, as it may get lost.
func (m *Membership) close() {
	if m.now < m.sayAt {
		return
	}
	d := m.council.Decree()
	if m.closing++; m.closing > 3 || len(d.Voters)+len(d.Learners) == 1 {
		m.end(crimp.Dismissed, crimp.ReasonClosed, "")
		return
	}
	m.sayAt = m.now + m.opt.Silence/10
	for _, id := range slices.Concat(d.Voters, d.Learners) {
		if id != m.self {
			_ = m.g.Confer(m.now, id, []byte{talkClosed})
		}
	}
}
