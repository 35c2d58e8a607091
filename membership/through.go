package membership

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
)

// A candidate may reach some mirrors and not the überserver. It then has the mirror that it reaches
// ask for it. That one has seen its token and knows that it runs the same; when the decree comes by
// which the candidate is in, it tells the candidate. From there on the candidate is a member, and
// what it says to the überserver is carried.

// charge is a candidate that this mirror asks the überserver for.
type charge struct {
	conn  *conn.Conn
	join  join
	until time.Duration
	sayAt time.Duration
}

const (
	// maxCharges bounds the candidates that a mirror asks for at a time.
	maxCharges = 4
	// askPatience is for how long a mirror asks before it sends the candidate elsewhere.
	askPatience = 5 * time.Second
)

// plea is what the überserver is told of a candidate.
type plea struct {
	client  uint64
	witness bool
	card    crimp.Card
}

func (p *plea) fields(c *bits.Cursor) {
	c.U64(&p.client)
	c.Bool(&p.witness)
	p.card.Fields(c)
	c.Check(p.card.Addr.IsValid())
}

// askFor begins to ask the überserver for a candidate.
func (m *Membership) askFor(k *conn.Conn, j *join) {
	m.asked = slices.DeleteFunc(m.asked, func(c charge) bool {
		return c.conn == k || c.join.card.Sign == j.card.Sign
	})
	if len(m.asked) >= maxCharges {
		_ = k.Send(channel, []byte{messageWait})
		return
	}
	m.asked = append(m.asked, charge{conn: k, join: *j, until: m.now + askPatience, sayAt: m.now})
}

// ask goes on asking, and tells those who are in by now.
func (m *Membership) ask() {
	m.candidates = slices.DeleteFunc(m.candidates,
		func(c candidate) bool { return c.conn == nil && !c.there(m.now) })
	m.asked = slices.DeleteFunc(m.asked, func(c charge) bool {
		h := m.charter.holder(c.join.card.Sign)
		switch {
		case !c.conn.Open():
			return true
		case h != nil && slices.Contains(m.council.Decree().Learners, h.ID):
			m.tellWelcome(h.ID, c.conn)
			return true
		case m.now >= c.until || m.Leads() || !m.council.Quorum():
			_ = c.conn.Send(channel, []byte{messageWait})
			return true
		}
		return false
	})
	for i := range m.asked {
		if c := &m.asked[i]; m.now >= c.sayAt {
			c.sayAt = m.now + m.opt.Silence/5
			p := plea{c.conn.Client(), c.join.witness, c.join.card}
			_ = m.g.Confer(m.now, m.uber, write(talkJoin, &p))
		}
	}
}

// askedFor considers a candidate that another member asks for.
func (m *Membership) askedFor(by member.ID, b []byte) {
	var p plea
	if !m.Leads() || m.leaving || !m.council.Decree().Has(by) || !read(b, &p) ||
		!m.opt.Identity.Good(&p.card) || p.card.Sign == m.opt.Card.Sign ||
		m.charter.holder(p.card.Sign) != nil || m.isBarred(&p.card) {
		return
	}
	if m.opt.Admit != nil && m.opt.Admit(Candidate{
		Client: p.client, Addr: p.card.Addr, Card: p.card}) != nil {
		return
	}
	until := m.now + 2*m.opt.Silence
	at := slices.IndexFunc(m.candidates,
		func(c candidate) bool { return c.card.Sign == p.card.Sign })
	switch {
	case at >= 0:
		m.candidates[at].until = until
	case m.charter.size()+len(m.candidates) < m.opt.MaxMembers:
		m.candidates = append(m.candidates,
			candidate{card: p.card, witness: p.witness, until: until})
	}
}
