package route

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
)

// State is what a member says of its lines.
type State struct {
	Member member.ID
	// Number counts the states of a member. A later one takes the place of those before.
	Number uint32
	Hears  []Hearing
	// Proof is the owner's, for those to whom the state is passed on.
	Proof []byte
}

// Hearing is what a member says of one line.
type Hearing struct {
	Member member.ID
	Up     bool  // it hears that member directly
	Age    uint8 // when it last did, in sixteenths of Options.Dead; MaxAge: long ago, or never
}

// Bounds of a state.
const (
	MaxHears = 255
	MaxAge   = 127
	upFlag   = 0x80
)

// Fields reads or writes what a state says, without its proof:
//
//	2 member  4 number  1 lines, then each: member 2, 1: bit 7 whether it is heard, and its age
func (s *State) Fields(c *bits.Cursor) {
	c.U16((*uint16)(&s.Member))
	c.U32(&s.Number)
	c.Check(s.Member != 0 && s.Number != 0)
	before := member.ID(0)
	for h := range bits.List8(c, &s.Hears, MaxHears) {
		flags := h.Age
		if h.Up {
			flags |= upFlag
		}
		c.U16((*uint16)(&h.Member))
		c.U8(&flags)
		c.Check(h.Member > before)
		before = h.Member
		h.Up, h.Age = flags&upFlag != 0, flags&^upFlag
	}
}

// hears reports whether the state says that a member is heard.
func (s *State) hears(id member.ID) bool {
	for i := range s.Hears {
		if h := &s.Hears[i]; h.Member == id {
			return h.Up
		}
	}
	return false
}

// Hears reports whether the maker of a state hears a member directly.
func Hears(s *State, id member.ID) bool { return s != nil && s.hears(id) }

// same reports whether two states say the same of who is heard.
func (s *State) same(o *State) bool {
	if len(s.Hears) != len(o.Hears) {
		return false
	}
	for i := range s.Hears {
		if s.Hears[i].Member != o.Hears[i].Member || s.Hears[i].Up != o.Hears[i].Up {
			return false
		}
	}
	return true
}
