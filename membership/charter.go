package membership

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
)

var be = binary.BigEndian

// charter is the body of a decree: the roster, with its key, and what else must be the same
// everywhere.
//
//	2 next identifier
//	2 witnesses, then each: id 2, card
//	  roster
type charter struct {
	roster    crimp.Roster
	nextID    member.ID
	witnesses []crimp.Member
}

// maxMember is the highest identifier that package crimp leaves to members.
const maxMember = 1<<16 - 3

func (c *charter) append(b []byte) []byte {
	b = be.AppendUint16(b, uint16(c.nextID))
	b = be.AppendUint16(b, uint16(len(c.witnesses)))
	for i := range c.witnesses {
		b = be.AppendUint16(b, uint16(c.witnesses[i].ID))
		b = c.witnesses[i].Card.Append(b)
	}
	return c.roster.Append(b)
}

var errMalformed = errors.New("membership: malformed message")

func readCharter(b []byte) (c charter, err error) {
	if len(b) < 4 {
		return c, errMalformed
	}
	c.nextID = member.ID(be.Uint16(b))
	n := int(be.Uint16(b[2:]))
	b = b[4:]
	if n > crimp.MaxMembers || c.nextID == 0 || c.nextID > maxMember {
		return c, errMalformed
	}
	for range n {
		if len(b) < 2 {
			return c, errMalformed
		}
		w := crimp.Member{ID: member.ID(be.Uint16(b))}
		if w.Card, b, err = crimp.ReadCard(b[2:]); err != nil {
			return c, err
		}
		if k := len(c.witnesses); w.ID == 0 || k > 0 && w.ID <= c.witnesses[k-1].ID {
			return c, errMalformed
		}
		c.witnesses = append(c.witnesses, w)
	}
	c.roster, err = crimp.ReadRoster(b)
	return c, err
}

// fits reports whether a charter belongs to its decree.
func (c *charter) fits(d *council.Decree) bool {
	if c.roster.Epoch != d.Epoch || len(c.roster.Members)+len(c.witnesses) != len(d.Voters)+len(d.Learners) {
		return false
	}
	for i := range c.roster.Members {
		if !d.Has(c.roster.Members[i].ID) {
			return false
		}
	}
	for i := range c.witnesses {
		if !d.Has(c.witnesses[i].ID) {
			return false
		}
	}
	return d.MayLead(d.Leader) && c.find(d.Leader) != nil
}

// find gives the entry of a member, witness or not, or nil.
func (c *charter) find(id member.ID) *crimp.Member {
	for _, list := range [][]crimp.Member{c.roster.Members, c.witnesses} {
		if i, ok := slices.BinarySearchFunc(list, id, byID); ok {
			return &list[i]
		}
	}
	return nil
}

func byID(m crimp.Member, id member.ID) int { return int(m.ID) - int(id) }

// holder gives the member with an identity, or nil.
func (c *charter) holder(sign [32]byte) *crimp.Member {
	for _, list := range [][]crimp.Member{c.roster.Members, c.witnesses} {
		for i := range list {
			if list[i].Sign == sign {
				return &list[i]
			}
		}
	}
	return nil
}

func (c *charter) size() int { return len(c.roster.Members) + len(c.witnesses) }

// takeID gives out identifiers one after the other, so that none comes again soon.
func (c *charter) takeID() member.ID {
	for {
		id := c.nextID
		if c.nextID++; c.nextID > maxMember {
			c.nextID = 1
		}
		if c.find(id) == nil {
			return id
		}
	}
}

func (c *charter) add(m crimp.Member, witness bool) {
	list := &c.roster.Members
	if witness {
		list = &c.witnesses
	}
	at, _ := slices.BinarySearchFunc(*list, m.ID, byID)
	*list = slices.Insert(*list, at, m)
}

func (c *charter) remove(id member.ID) {
	gone := func(m crimp.Member) bool { return m.ID == id }
	c.roster.Members = slices.DeleteFunc(c.roster.Members, gone)
	c.witnesses = slices.DeleteFunc(c.witnesses, gone)
}

// A report is what a voter holds of the suspects. For each of whom it can say anything:
//
//	2 member  4 all up to here  2 spans, then each: first 4, more 4
const maxSpans = 512

func appendCut(b []byte, c *crimp.Cut, spans int) []byte {
	b = be.AppendUint16(b, uint16(c.Member))
	b = be.AppendUint32(b, uint32(c.Seq))
	at := len(b)
	b = append(b, 0, 0)
	n := 0
	for i := 0; i < len(c.Also) && n < spans; n++ { // what is beyond is not claimed
		first := c.Also[i]
		more := 0
		for i++; i < len(c.Also) && c.Also[i] == first+crimp.Sequence(more)+1; i++ {
			more++
		}
		b = be.AppendUint32(be.AppendUint32(b, uint32(first)), uint32(more))
	}
	be.PutUint16(b[at:], uint16(n))
	return b
}

// maxHeld bounds the packets beyond a gap that a report can claim; package crimp keeps no
// more of a member.
const maxHeld = 8192

func readReport(b []byte) (list []crimp.Cut, err error) {
	for len(b) > 0 {
		if len(b) < 8 {
			return nil, errMalformed
		}
		c := crimp.Cut{Member: member.ID(be.Uint16(b)), Seq: crimp.Sequence(be.Uint32(b[2:]))}
		n := int(be.Uint16(b[6:]))
		b = b[8:]
		if n > maxSpans+1 || len(b) < 8*n || c.Seq > 1<<30 {
			return nil, errMalformed
		}
		after := c.Seq + 1
		for range n {
			first, more := crimp.Sequence(be.Uint32(b)), be.Uint32(b[4:])
			b = b[8:]
			if first <= after || more >= maxHeld || len(c.Also)+int(more) >= maxHeld || first > 1<<30 {
				return nil, errMalformed
			}
			for i := range crimp.Sequence(more) + 1 {
				c.Also = append(c.Also, first+i)
			}
			after = first + crimp.Sequence(more) + 1
		}
		list = append(list, c)
		if len(list) > crimp.MaxMembers {
			return nil, errMalformed
		}
	}
	return list, nil
}
