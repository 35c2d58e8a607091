package membership

import (
	"errors"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
)

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

func (c *charter) fields(k *bits.Cursor) {
	k.U16((*uint16)(&c.nextID))
	k.Check(c.nextID != 0 && c.nextID <= crimp.MaxMember)
	before := member.ID(0)
	for w := range bits.List16(k, &c.witnesses, crimp.MaxMembers) {
		w.Fields(k)
		k.Check(w.ID > before)
		before = w.ID
	}
	c.roster.Fields(k)
}

func (c *charter) append(b []byte) []byte {
	k := bits.CursorTo(b)
	c.fields(&k)
	return k.Data()
}

var errMalformed = errors.New("membership: malformed message")

func readCharter(b []byte) (c charter, err error) {
	k := bits.CursorOver(b)
	if c.fields(&k); !k.Done() {
		return c, errMalformed
	}
	return c, c.roster.Check()
}

// fits reports whether a charter belongs to its decree.
func (c *charter) fits(d *council.Decree) bool {
	if c.roster.Epoch != d.Epoch || len(c.roster.Members)+len(c.witnesses) != len(d.Voters)+
		len(d.Learners) {
		return false
	}
	stranger := func(m crimp.Member) bool { return !d.Has(m.ID) }
	return !slices.ContainsFunc(c.roster.Members, stranger) &&
		!slices.ContainsFunc(c.witnesses, stranger) &&
		d.MayLead(d.Leader) && c.find(d.Leader) != nil
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
		if i := slices.IndexFunc(list,
			func(m crimp.Member) bool { return m.Sign == sign }); i >= 0 {
			return &list[i]
		}
	}
	return nil
}

// isWitness reports whether a member is one of the witnesses.
func (c *charter) isWitness(id member.ID) bool {
	_, ok := slices.BinarySearchFunc(c.witnesses, id, byID)
	return ok
}

func (c *charter) size() int { return len(c.roster.Members) + len(c.witnesses) }

// takeID gives out identifiers one after the other, so that none comes again soon.
func (c *charter) takeID() member.ID {
	for {
		id := c.nextID
		if c.nextID++; c.nextID > crimp.MaxMember {
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
//	2 member  4 all up to here, and in the highest bit whether it is disputed
//	2 spans, then each: first 4, more 4
type holding struct {
	member   member.ID
	upTo     crimp.Sequence
	spans    []crimp.Span
	disputed bool // some of it is not what the member has signed
}

const (
	maxSpans = 512
	// maxHeld bounds the packets beyond a gap that a report can claim; package crimp keeps no
	// more of a member.
	maxHeld     = 8192
	maxSequence = 1 << 30
	disputedBit = 1 << 31
)

func (h *holding) fields(c *bits.Cursor) {
	c.U16((*uint16)(&h.member))
	upTo := uint32(h.upTo)
	if h.disputed {
		upTo |= disputedBit
	}
	c.U32(&upTo)
	h.upTo, h.disputed = crimp.Sequence(upTo&^disputedBit), upTo&disputedBit != 0
	c.Check(h.upTo <= maxSequence)
	after, held := h.upTo+1, 0
	for s := range bits.List16(c, &h.spans, maxSpans+1) {
		c.U32((*uint32)(&s.First))
		c.U32(&s.More)
		c.Check(s.First > after && s.First <= maxSequence && s.More < maxHeld && held+
			int(s.More) < maxHeld)
		after, held = s.First+crimp.Sequence(s.More)+1, held+int(s.More)+1
	}
}

// holdingOf puts what is held of a member into at most so many spans. What is beyond is not
// claimed.
func holdingOf(c *crimp.Cut, most int) *holding {
	h := &holding{member: c.Member, upTo: c.Seq, disputed: c.Disputed}
	for _, s := range c.Also {
		if n := len(h.spans); n > 0 && h.spans[n-1].First+crimp.Sequence(h.spans[n-1].More)+1 == s {
			h.spans[n-1].More++
		} else if n == most {
			break
		} else {
			h.spans = append(h.spans, crimp.Span{First: s})
		}
	}
	return h
}

// cut is what is held, packet by packet.
func (h *holding) cut() crimp.Cut {
	c := crimp.Cut{Member: h.member, Seq: h.upTo, Disputed: h.disputed}
	for _, s := range h.spans {
		for i := range crimp.Sequence(s.More) + 1 {
			c.Also = append(c.Also, s.First+i)
		}
	}
	return c
}

func readReport(b []byte) (list []crimp.Cut, err error) {
	for c := bits.CursorOver(b); !c.Done(); {
		var h holding
		if h.fields(&c); !c.OK() || len(list) == crimp.MaxMembers {
			return nil, errMalformed
		}
		list = append(list, h.cut())
	}
	return list, nil
}
