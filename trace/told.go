package trace

import (
	"fmt"
	"strings"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/entropy"
	"github.com/coeval-dev/coeval/world"
)

// An InputKind is a kind of input that a game has beside joins, leaves and commands.
type InputKind struct {
	Name   string
	Source world.InputSource
	Schema *bits.Schema // what its fields are; nil for content, which is bytes
}

// A Telling is an input of such a kind.
type Telling struct {
	world.Told
	Data []byte // its fields as world.Inputs.Tell takes them
}

const (
	maxKinds    = 1 << 10
	maxTellings = 1 << 10
	maxTelling  = 1 << 16
)

// toldHistory is what both sides know of what players were shown and of what is told beside
// commands. It begins anew at every state.
type toldHistory struct {
	given  [2]entropy.Bit // something is said of a player's sight, by whether it was before
	ago    entropy.Integer
	base   entropy.Integer
	claims entropy.Integer

	some   entropy.Bit
	count  entropy.Integer
	kind   entropy.Integer
	number entropy.Integer
	length entropy.Integer
}

// A shown is what is known of a player's sights.
type shown struct {
	last  world.Sight
	given int // whether something was said with the last command
}

// A Saw is what a player was shown with a command, if that was said; see world.Inputs.Show.
type Saw struct {
	world.Sight
	Given bool
}

// worst is more bytes than a tick's part of it can take.
func (h *toldHistory) worst(r *Record) int {
	n := 16 + 768*len(r.Sights)
	for i := range r.Tellings {
		n += 640 + 2*len(r.Tellings[i].Data)
	}
	return n
}

// sight codes what a player was shown with a command.
func (h *toldHistory) sight(c *coder, of *shown, s *Saw) {
	s.Given = c.bit(&h.given[of.given], s.Given)
	if of.given = 0; !s.Given {
		return
	}
	of.given = 1
	ago := int64(of.last.Ago) + c.int(&h.ago, int64(s.Ago)-int64(of.last.Ago))
	base := int64(of.last.Base) + c.int(&h.base, int64(s.Base)-int64(of.last.Base))
	n := c.uint(&h.claims, uint64(s.Claimed))
	if ago < 0 || ago >= 1<<16 || base < 0 || base >= 1<<16 || n > world.MaxClaims {
		c.bad = true
		return
	}
	s.Ago, s.Base, s.Claimed = uint16(ago), uint16(base), uint8(n)
	for i := range s.Claims[:n] {
		q := &s.Claims[i]
		q.Target = world.ID(h.long(c, uint64(q.Target)))
		for k := range q.Place {
			q.Place[k] = int32(c.raw(uint64(uint32(q.Place[k])), 32))
		}
	}
	of.last = s.Sight
}

// long is a number of 64 bits of which nothing is known.
func (h *toldHistory) long(c *coder, v uint64) uint64 {
	return c.raw(v>>32, 32)<<32 | c.raw(v&(1<<32-1), 32)
}

// tellings codes what is told in a tick beside commands.
func (h *toldHistory) tellings(c *coder, r *Record, kinds int) {
	if !c.bit(&h.some, len(r.Tellings) > 0) {
		return
	}
	n := c.uint(&h.count, uint64(len(r.Tellings)))
	if n > maxTellings {
		c.bad = true
	}
	for i := 0; i < int(n) && !c.failed(); i++ {
		if c.reading {
			r.Tellings = append(r.Tellings, Telling{})
		}
		h.telling(c, &r.Tellings[i], kinds)
	}
}

func (h *toldHistory) telling(c *coder, t *Telling, kinds int) {
	kind := c.uint(&h.kind, uint64(t.Kind))
	if kind >= uint64(kinds) {
		c.bad = true
		return
	}
	t.Kind = uint16(kind)
	t.To.By = world.ID(c.uint(&h.number, uint64(t.To.By)))
	t.To.Tick = world.Tick(c.uint(&h.number, uint64(t.To.Tick)))
	ordinal := c.uint(&h.number, uint64(t.To.Ordinal))
	from, seq := c.uint(&h.number, uint64(t.From)), c.uint(&h.number, uint64(t.Seq))
	n := c.uint(&h.length, uint64(len(t.Data)))
	if ordinal >= 1<<16 || from >= 1<<32 || seq >= 1<<32 || n >= maxTelling {
		c.bad = true
		return
	}
	t.To.Ordinal, t.From, t.Seq = uint16(ordinal), uint32(from), uint32(seq)
	for i := 0; i < int(n) && !c.failed(); i++ {
		if c.reading {
			t.Data = append(t.Data, 0)
		}
		t.Data[i] = byte(c.raw(uint64(t.Data[i]), 8))
	}
}

// size is what tellings count for towards the end of a block, in numbers.
func (r *Record) size() int {
	n := len(r.Players) * r.slots
	for i := range r.Tellings {
		n += 1 + len(r.Tellings[i].Data)/4
	}
	return n
}

// FormatTelling writes what was told for people to read. The kinds are those of the header.
func FormatTelling(kinds []InputKind, t *Telling) string {
	if int(t.Kind) >= len(kinds) {
		return fmt.Sprintf("an input of kind %d", t.Kind)
	}
	k := &kinds[t.Kind]
	var b strings.Builder
	fmt.Fprintf(&b, "%v %s", k.Source, k.Name)
	switch k.Source {
	case world.FromAnswer:
		fmt.Fprintf(&b, " to %v of tick %d", t.To.By, t.To.Tick)
	case world.FromElsewhere:
		fmt.Fprintf(&b, " number %d from %d", t.Seq, t.From)
	}
	fmt.Fprintf(&b, ", %d bytes", len(t.Data))
	return b.String()
}

// FormatSight writes what a player was shown for people to read; it is empty where that is not
// said.
func FormatSight(s *Saw) string {
	if !s.Given {
		return ""
	}
	text := fmt.Sprintf("sees %.1f ticks ago", float64(s.Ago)/16)
	if s.Ago == 0 {
		text = fmt.Sprintf("predicts from %d ticks ago", s.Base)
	}
	for _, c := range s.Claims[:min(s.Claimed, world.MaxClaims)] {
		text += fmt.Sprintf(", hits %v", c.Target)
	}
	return text
}
