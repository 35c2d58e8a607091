package membership

import (
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
)

// proofs is the evidence against members: digests or packets that they have signed and that
// contradict each other. Everybody who has it checks it, takes the member for silent, and tells all
// others, until it is out.
type proofs struct {
	list   []crimp.Evidence
	tellAt time.Duration
	// From whom evidence came that is none, and until when no more of it is looked at.
	liars map[member.ID]time.Duration
	// Somebody was told something else than was signed, and nobody can tell by whom. So packets
	// are to be signed from now on: then it shows. Since when that is not done, and when to say
	// it again.
	sign    bool
	unsaid  time.Duration
	signsAt time.Duration
	asked   member.ID // who led then
	// Where members were that were put out by evidence, and until when nobody there is let in.
	barred map[netip.AddrPort]time.Duration
}

// barTime is for how long one that was put out by evidence is not let in again.
const barTime = 10 * time.Minute

// bar remembers where one was that is put out by evidence.
func (m *Membership) bar(id member.ID) {
	if at := m.charter.find(id); at != nil {
		p := &m.proofs
		if p.barred == nil || len(p.barred) > crimp.MaxMembers {
			p.barred = map[netip.AddrPort]time.Duration{}
		}
		p.barred[at.Addr] = m.now + barTime
	}
}

// isBarred reports whether a candidate was put out by evidence.
func (m *Membership) isBarred(c *crimp.Card) bool { return m.now < m.proofs.barred[c.Addr] }

// signing has packets signed after a dispute. Whoever leads decides it; one that does not, within
// some time, is not to be relied on.
func (m *Membership) signing() {
	p := &m.proofs
	if m.g.Disputed() {
		p.sign = true
	}
	if !p.sign || m.charter.roster.Proof == crimp.Signatures || !m.council.Quorum() || m.Leads() ||
		p.asked != m.uber {
		p.unsaid, p.asked = m.now, m.uber
		return
	}
	if m.now < p.signsAt {
		return
	}
	p.signsAt = m.now + m.opt.Silence/5
	if m.now-p.unsaid > signTime*m.opt.Silence {
		m.council.Distrust(m.uber)
	}
	d := m.council.Decree()
	for _, id := range slices.Concat(d.Voters, d.Learners) {
		if id != m.self {
			_ = m.g.Confer(m.now, id, []byte{talkSign})
		}
	}
}

// signTime is how long whoever leads may take to have packets signed, in times of silence.
const signTime = 4

func (p *proofs) against(id member.ID) bool {
	return slices.ContainsFunc(p.list, func(e crimp.Evidence) bool { return e.Member() == id })
}

// accuse acts on evidence, new and old.
func (m *Membership) accuse() {
	p := &m.proofs
	for _, e := range m.g.Evidence() {
		if id := e.Member(); !p.against(id) && m.charter.find(id) != nil {
			p.list = append(p.list, e)
			m.council.Distrust(id)
			p.tellAt = m.now
		}
	}
	m.reasons.doubted = slices.DeleteFunc(m.reasons.doubted,
		func(id member.ID) bool { return m.charter.find(id) == nil })
	// A digest that fits nobody is as good as two: an honest member's fits whoever is honest.
	for _, id := range m.g.Members() {
		if id != m.self && m.g.Denounced(id) {
			m.council.Distrust(id)
			m.reasons.doubted = member.Insert(m.reasons.doubted, id)
		}
	}
	p.list = slices.DeleteFunc(p.list,
		func(e crimp.Evidence) bool { return m.charter.find(e.Member()) == nil })
	if len(p.list) == 0 || m.now < p.tellAt {
		return
	}
	p.tellAt = m.now + m.opt.Silence/5
	d := m.council.Decree()
	for i := range p.list {
		b := p.list[i].Append([]byte{talkEvidence})
		for _, id := range slices.Concat(d.Voters, d.Learners) {
			if id != m.self && !p.against(id) {
				_ = m.g.Confer(m.now, id, b)
			}
		}
	}
}

// evidence is what a member says against another.
type evidence struct{ crimp.Evidence }

func (e *evidence) fields(c *bits.Cursor) { e.Fields(c) }

// hearEvidence takes what a member says against another. Signatures are checked only of evidence
// that is new, and not of one who has just told what is none.
func (m *Membership) hearEvidence(from member.ID, b []byte) {
	p := &m.proofs
	var e evidence
	if m.now < p.liars[from] {
		m.refusals.Evidence++
		return
	}
	if !read(b, &e) || !m.believes(&e.Evidence) {
		m.refusals.Evidence++
		if p.liars == nil {
			p.liars = map[member.ID]time.Duration{}
		}
		if len(p.liars) > crimp.MaxMembers {
			clear(p.liars)
		}
		p.liars[from] = m.now + m.opt.Silence/5
	}
}

// believes checks evidence. One without a world of its own has no streams to hold it against.
func (m *Membership) believes(e *crimp.Evidence) bool {
	id := e.Member()
	at := m.charter.find(id)
	switch {
	case at == nil || m.proofs.against(id):
		return true // it is out, or will be
	case m.opt.Witness || m.lapsed:
		if !e.Holds(m.charter.roster.Group, &at.Card) {
			return false
		}
		m.proofs.list = append(m.proofs.list, *e)
		m.council.Distrust(id)
		m.proofs.tellAt = m.now
		return true
	}
	return m.g.Testify(*e)
}
