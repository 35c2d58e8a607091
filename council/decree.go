package council

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/member"
)

// Decree is what a council decides: who decides about the next, who leads, and whatever
// its owner wants to be the same everywhere.
type Decree struct {
	// Epoch counts decrees, from 1.
	Epoch uint32
	// Leader is one of the voters. It is the first to propose, and where the voters are
	// even in number, the half that it is in counts as the majority.
	Leader member.ID
	// Voters decide about the next decree, by majority. They stand in rising order, as do
	// the other lists.
	Voters []member.ID
	// Witnesses are those of the voters that never lead.
	Witnesses []member.ID
	// Learners are told of decrees, but have no vote.
	Learners []member.ID
	// Body is the owner's.
	Body []byte
}

// Bounds of what is decided.
const (
	MaxMembers = 512
	MaxBody    = 128 << 10
	MaxReport  = 32 << 10
)

// Quorum reports whether a set of voters is enough to decide: more than half of them, or
// half of them with the leader. Any two such sets have a voter in common.
func (d *Decree) Quorum(has func(member.ID) bool) bool {
	n := 0
	for _, v := range d.Voters {
		if has(v) {
			n++
		}
	}
	return 2*n > len(d.Voters) || 2*n == len(d.Voters) && has(d.Leader)
}

// Need is how many voters must hold something so that every quorum has one that does.
func (d *Decree) Need() int {
	smallest := (len(d.Voters) + 1) / 2
	return len(d.Voters) - smallest + 1
}

// Votes reports whether a member is a voter.
func (d *Decree) Votes(id member.ID) bool { return contains(d.Voters, id) }

// Has reports whether a member is a voter or a learner.
func (d *Decree) Has(id member.ID) bool { return contains(d.Voters, id) || contains(d.Learners, id) }

// MayLead reports whether a member is a voter and no witness.
func (d *Decree) MayLead(id member.ID) bool { return d.Votes(id) && !contains(d.Witnesses, id) }

func contains(list []member.ID, id member.ID) bool {
	_, ok := slices.BinarySearch(list, id)
	return ok
}

func rising(list []member.ID) bool {
	for i, id := range list {
		if id == 0 || i > 0 && id <= list[i-1] {
			return false
		}
	}
	return true
}

// Check says what is wrong with a decree.
func (d *Decree) Check() error {
	switch {
	case d.Epoch == 0:
		return errors.New("council: a decree of epoch 0, they count from 1")
	case len(d.Voters) == 0 || len(d.Voters)+len(d.Learners) > MaxMembers:
		return fmt.Errorf("council: a decree with %d voters and %d learners, want at least a voter and at most %d in all", len(d.Voters), len(d.Learners), MaxMembers)
	case !rising(d.Voters) || !rising(d.Witnesses) || !rising(d.Learners):
		return errors.New("council: a decree whose members are not in rising order, from 1")
	case !d.MayLead(d.Leader):
		return fmt.Errorf("council: a decree in which %d leads, who is no voter or a witness", d.Leader)
	case len(d.Body) > MaxBody:
		return fmt.Errorf("council: a decree of %d bytes, at most %d", len(d.Body), MaxBody)
	}
	for _, w := range d.Witnesses {
		if !d.Votes(w) {
			return fmt.Errorf("council: a decree with a witness, %d, that has no vote", w)
		}
	}
	for _, l := range d.Learners {
		if d.Votes(l) {
			return fmt.Errorf("council: a decree in which %d both votes and does not", l)
		}
	}
	return nil
}

// Clone copies a decree with all it holds.
func (d *Decree) Clone() Decree {
	c := *d
	c.Voters, c.Witnesses, c.Learners, c.Body = slices.Clone(d.Voters), slices.Clone(d.Witnesses), slices.Clone(d.Learners), slices.Clone(d.Body)
	return c
}

var be = binary.BigEndian

// Append writes a decree:
//
//	4 epoch  2 leader
//	2 voters, 2 each  2 witnesses, 2 each  2 learners, 2 each
//	  body
func (d *Decree) Append(b []byte) []byte {
	b = be.AppendUint32(b, d.Epoch)
	b = be.AppendUint16(b, uint16(d.Leader))
	for _, list := range [][]member.ID{d.Voters, d.Witnesses, d.Learners} {
		b = be.AppendUint16(b, uint16(len(list)))
		for _, id := range list {
			b = be.AppendUint16(b, uint16(id))
		}
	}
	return append(b, d.Body...)
}

var errMalformed = errors.New("council: malformed message")

// ReadDecree reads what Append wrote, and says what is wrong with it. The decree has its
// own memory.
func ReadDecree(b []byte) (d Decree, err error) {
	s := scan{b: b}
	d.Epoch, d.Leader = s.uint32(), member.ID(s.uint16())
	d.Voters, d.Witnesses, d.Learners = s.ids(), s.ids(), s.ids()
	if s.bad {
		return d, errMalformed
	}
	if len(s.b) > 0 {
		d.Body = slices.Clone(s.b)
	}
	return d, d.Check()
}

// scan reads fields one after the other and remembers if one was missing.
type scan struct {
	b   []byte
	bad bool
}

func (s *scan) take(n int) []byte {
	if s.bad || n < 0 || len(s.b) < n {
		s.bad = true
		return nil
	}
	p := s.b[:n]
	s.b = s.b[n:]
	return p
}

func (s *scan) uint8() uint8 {
	if p := s.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (s *scan) uint16() uint16 {
	if p := s.take(2); p != nil {
		return be.Uint16(p)
	}
	return 0
}

func (s *scan) uint32() uint32 {
	if p := s.take(4); p != nil {
		return be.Uint32(p)
	}
	return 0
}

func (s *scan) ids() (list []member.ID) {
	n := int(s.uint16())
	if n > MaxMembers || 2*n > len(s.b) {
		s.bad = true
		return nil
	}
	for range n {
		list = append(list, member.ID(s.uint16()))
	}
	return list
}
