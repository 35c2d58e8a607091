package membership

import (
	"errors"
	"hash/crc32"
	"net/netip"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
)

// Memory is what a member must not forget in a crash, so that a group of which most have died comes
// back as one: what it knows to be decided, and what it has helped to decide. Each vote is in it
// before it is given. Mark names the disk that it is on; Self is the member that this mirror was
// last, in Group.
type Memory struct {
	Mark   uint64
	Group  uint64
	Self   member.ID
	Order  Order            // the newest that is known to be in force
	Next   Order            // that was voted for to follow it; of epoch 0 if none was
	NextID member.ID        // that nobody has had
	Doors  []netip.AddrPort // where the members were
	// Stay is the owner's: the world that is kept belongs to this stay in a group, or to one before
	// it of the same number.
	Stay uint64
	// Promised and Accepted are this mirror's part in a revival, and Founding is what it accepted;
	// or, if its epoch is that of Order, what was decided.
	Promised, Accepted Ballot
	Founding           Founding
}

// Order is who decides: a decree, without what only those who are in it need.
type Order struct {
	Epoch  uint32
	Leader member.ID
	Voters []member.ID
}

// orderOf is what is remembered of a decree.
func orderOf(d *council.Decree) Order {
	return Order{d.Epoch, d.Leader, slices.Clone(d.Voters)}
}

// quorum reports whether some voters are enough to decide what follows.
func (o *Order) quorum(has func(member.ID) bool) bool {
	d := council.Decree{Leader: o.Leader, Voters: o.Voters}
	return d.Quorum(has)
}

func (o *Order) equal(p *Order) bool {
	return o.Epoch == p.Epoch && o.Leader == p.Leader && slices.Equal(o.Voters, p.Voters)
}

// Ballot orders attempts to decide about a revival.
type Ballot struct {
	Round uint32
	Mark  uint64 // whose it is
}

func (b Ballot) none() bool { return b == Ballot{} }

func (b Ballot) less(c Ballot) bool {
	return b.Round < c.Round || b.Round == c.Round && b.Mark < c.Mark
}

// Founding says who begins a group anew: the mirror whose disk has Mark and which is found at Addr,
// as member ID, by a decree of Epoch. Its world is at Tick and has Hash.
type Founding struct {
	Epoch uint32
	ID    member.ID
	Mark  uint64
	Addr  netip.AddrPort
	Tick  uint64
	Hash  uint64
}

// order is what a founding decides: the founder alone has a vote.
func (f *Founding) order() Order { return Order{f.Epoch, f.ID, []member.ID{f.ID}} }

func (o *Order) fields(c *bits.Cursor) {
	c.U32(&o.Epoch)
	c.U16((*uint16)(&o.Leader))
	before := member.ID(0)
	for id := range bits.List16(c, &o.Voters, council.MaxMembers) {
		c.U16((*uint16)(id))
		c.Check(*id > before)
		before = *id
	}
}

func (b *Ballot) fields(c *bits.Cursor) {
	c.U32(&b.Round)
	c.U64(&b.Mark)
}

func (f *Founding) fields(c *bits.Cursor) {
	c.U32(&f.Epoch)
	c.U16((*uint16)(&f.ID))
	c.U64(&f.Mark)
	c.AddrOrNone(&f.Addr)
	c.U64(&f.Tick)
	c.U64(&f.Hash)
}

// said is the part of a memory that others are told.
func (m *Memory) said(c *bits.Cursor) {
	c.U64(&m.Mark)
	c.U64(&m.Group)
	c.U16((*uint16)(&m.Self))
	m.Order.fields(c)
	m.Next.fields(c)
	c.U16((*uint16)(&m.NextID))
	m.Promised.fields(c)
	m.Accepted.fields(c)
	m.Founding.fields(c)
}

const memoryVersion = 1

// Append writes a memory, with a sum by which damage is noticed.
func (m *Memory) Append(b []byte) []byte {
	at := len(b)
	c := bits.CursorTo(append(b, memoryVersion))
	m.said(&c)
	c.U64(&m.Stay)
	for a := range bits.List16(&c, &m.Doors, 2*crimp.MaxMembers) {
		c.Addr(a)
	}
	sum := crc32.Checksum(c.Data()[at:], castagnoli)
	c.U32(&sum)
	return c.Data()
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Errors of ReadMemory. Use errors.Is.
var (
	ErrMemory = errors.New("membership: what a mirror remembered of its group is damaged")
	ErrNewer  = errors.New("membership: what a mirror remembered of its group was written by a " +
		"newer program")
)

// ReadMemory reads what Append wrote.
func ReadMemory(b []byte) (*Memory, error) {
	if len(b) < 5 {
		return nil, ErrMemory
	}
	body := b[:len(b)-4]
	var sum uint32
	if c := bits.CursorOver(b[len(b)-4:]); true {
		c.U32(&sum)
	}
	switch {
	case sum != crc32.Checksum(body, castagnoli):
		return nil, ErrMemory
	case body[0] != memoryVersion:
		return nil, ErrNewer
	}
	m := &Memory{}
	c := bits.CursorOver(body[1:])
	m.said(&c)
	c.U64(&m.Stay)
	for a := range bits.List16(&c, &m.Doors, 2*crimp.MaxMembers) {
		c.Addr(a)
	}
	if !c.Done() {
		return nil, ErrMemory
	}
	return m, nil
}

// clone copies a memory with all it holds.
func (m *Memory) clone() Memory {
	c := *m
	c.Order.Voters, c.Next.Voters = slices.Clone(m.Order.Voters), slices.Clone(m.Next.Voters)
	c.Doors = slices.Clone(m.Doors)
	return c
}

// A vow is a vote that is on its way to the disk, as part of what Options.Remember was given.
type vow struct{ written, vote uint64 }

// remember gives the owner what this member must not forget, if it has changed.
func (m *Membership) remember() {
	if m.opt.Remember == nil || m.council == nil || m.done {
		return
	}
	number, next := m.council.Vow()
	now := memorized{m.charter.roster.Epoch, number}
	if now == m.memorized {
		return
	}
	m.memorized = now
	d := m.council.Decree()
	mem := Memory{Group: m.charter.roster.Group, Self: m.self, Order: orderOf(d),
		NextID: m.charter.nextID}
	if n, err := council.ReadDecree(next); err == nil {
		mem.Next = orderOf(&n)
		if ch, err := readCharter(n.Body); err == nil {
			mem.NextID = max(mem.NextID, ch.nextID)
		}
	}
	for _, list := range [][]crimp.Member{m.charter.roster.Members, m.charter.witnesses} {
		for i := range list {
			mem.Doors = append(mem.Doors, list[i].Addr)
		}
	}
	m.vows = append(m.vows, vow{m.opt.Remember(&mem), number})
}

// memorized is what the owner was told last: of which epoch, and with which vote.
type memorized struct {
	epoch uint32
	vote  uint64
}

// Remembered tells that what Options.Remember was given up to a number is on the disk.
func (m *Membership) Remembered(number uint64) {
	n := 0
	for n < len(m.vows) && m.vows[n].written <= number {
		n++
	}
	if n == 0 {
		return
	}
	if m.council != nil && !m.done {
		m.council.Remembered(m.vows[n-1].vote)
	}
	m.vows = slices.Delete(m.vows, 0, n)
}
