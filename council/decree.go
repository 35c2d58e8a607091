package council

import (
	"errors"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/bits"
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
func (d *Decree) Has(id member.ID) bool {
	return contains(d.Voters, id) || contains(d.Learners, id)
}

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
		return fmt.Errorf(
			"council: a decree with %d voters and %d learners, want at least a voter and at most "+
				"%d in all", len(d.Voters), len(d.Learners), MaxMembers)
	case !rising(d.Voters) || !rising(d.Witnesses) || !rising(d.Learners):
		return errors.New("council: a decree whose members are not in rising order, from 1")
	case !d.MayLead(d.Leader):
		return fmt.Errorf("council: a decree in which %d leads, who is no voter or a witness",
			d.Leader)
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
	c.Voters, c.Witnesses, c.Learners, c.Body = slices.Clone(d.Voters), slices.Clone(d.Witnesses),
		slices.Clone(d.Learners), slices.Clone(d.Body)
	return c
}

// fields reads or writes a decree:
//
//	4 epoch  2 leader
//	2 voters, 2 each  2 witnesses, 2 each  2 learners, 2 each
//	  body
func (d *Decree) fields(c *bits.Cursor) {
	c.U32(&d.Epoch)
	c.U16((*uint16)(&d.Leader))
	for _, list := range []*[]member.ID{&d.Voters, &d.Witnesses, &d.Learners} {
		ids(c, list)
	}
	c.Rest(&d.Body)
}

func ids(c *bits.Cursor, list *[]member.ID) {
	for id := range bits.List16(c, list, MaxMembers) {
		c.U16((*uint16)(id))
	}
}

// Append writes a decree.
func (d *Decree) Append(b []byte) []byte {
	c := bits.CursorTo(b)
	d.fields(&c)
	return c.Data()
}

var errMalformed = errors.New("council: malformed message")

// ReadDecree reads what Append wrote, and says what is wrong with it. The decree has its
// own memory.
func ReadDecree(b []byte) (d Decree, err error) {
	c := bits.CursorOver(b)
	if d.fields(&c); !c.Done() {
		return d, errMalformed
	}
	d.Body = append([]byte(nil), d.Body...) // nil for none
	return d, d.Check()
}
