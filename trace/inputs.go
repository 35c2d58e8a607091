package trace

import (
	"fmt"
	mathbits "math/bits"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/entropy"
	"github.com/coeval-dev/coeval/world"
)

// Most of what players command is what they commanded a tick ago: keys are held, and where an aim
// moves, it moves on. So a command is coded as its difference from the player's last one, with
// models that learn how often each field changes and by how much. What is as expected then costs
// hundredths of a bit. The models begin anew at every state, and the blocks between two states
// depend on each other.

// The bounds of what a block may hold, so that few bytes cannot ask for much memory or work.
const (
	maxNumbers = 1 << 20 // players times numbers in a command
	maxTicks   = 1 << 10 // in one block
	fullBlock  = 1 << 18 // numbers after which a block is closed
)

// A history is what both sides know after some ticks of a chapter: everyone's last command, and
// what was learned.
type history struct {
	schema *bits.Schema // with no slots where there are no commands
	seats  []*seat      // in order of player
	spare  []*seat

	moves     entropy.Bit // someone joins or leaves
	strangers entropy.Bit // someone commands who has no seat
	counts    entropy.Integer
	gaps      entropy.Integer
	hashed    entropy.Bit
	same      [32]entropy.Bit // a command is the last one, by what came before
	fields    []fieldModels
}

// A seat is what is known of a player.
type seat struct {
	player world.Player
	given  [2]entropy.Bit // whether a command is there, by whether the last was
	had    bool
	here   bool
	runs   uint // how often in a row the command was the same
	recent uint // whether it was the same, the last four times, a bit each
	image  []int32
	motion []motion
}

// A motion is what is known of one number of a player's command.
type motion struct {
	changed uint8 // whether it did, in the last two commands that differed
	delta   int32 // by how much it changed the last time it did
	steady  int32 // how far off the guess "as much again" has been of late, in 16ths
	free    int32 // and the guess "not at all"
}

// fieldModels are what was learned of one number of all players' commands.
type fieldModels struct {
	changed [8]entropy.Bit
	values  []entropy.Bit // for a small range: a tree of values for each value before
	sizes   [8]*entropy.Integer
}

func newHistory(schema *bits.Schema) *history {
	if schema == nil {
		schema = new(bits.Schema)
	}
	h := &history{schema: schema}
	h.reset()
	return h
}

// reset forgets everything, at the beginning of a chapter.
func (h *history) reset() {
	spare, fields := append(h.spare, h.seats...), h.fields
	*h = history{schema: h.schema, spare: spare, seats: h.seats[:0], fields: fields}
	if h.fields == nil {
		h.fields = make([]fieldModels, len(h.schema.Slots))
	}
	for i := range h.fields {
		f := &h.fields[i]
		clear(f.changed[:])
		clear(f.values)
		for _, m := range f.sizes {
			if m != nil {
				*m = entropy.Integer{}
			}
		}
	}
}

func (h *history) find(p world.Player) (int, bool) {
	return slices.BinarySearchFunc(h.seats, p,
		func(s *seat, p world.Player) int { return int(s.player) - int(p) })
}

// sit gives a player a seat with nothing commanded yet.
func (h *history) sit(p world.Player) *seat {
	i, found := h.find(p)
	if found {
		return h.seats[i]
	}
	s := new(seat)
	if n := len(h.spare); n > 0 {
		s, h.spare = h.spare[n-1], h.spare[:n-1]
	}
	n := len(h.schema.Slots)
	image, moves := s.image, s.motion
	if image == nil {
		image, moves = make([]int32, n), make([]motion, n)
	}
	clear(moves)
	for j := range image {
		image[j] = h.schema.Slots[j].Absent
	}
	*s = seat{player: p, image: image, motion: moves}
	h.seats = slices.Insert(h.seats, i, s)
	return s
}

func (h *history) rise(p world.Player) {
	if i, found := h.find(p); found {
		h.spare = append(h.spare, h.seats[i])
		h.seats = slices.Delete(h.seats, i, i+1)
	}
}

// fits says whether a tick can be recorded at all.
func (h *history) fits(r *Record) error {
	if n := (len(h.seats) + len(r.Joins) + len(r.Players)) * len(h.schema.Slots); n > maxNumbers {
		return fmt.Errorf(
			"trace: commands of %d numbers for %d players; at most %d numbers can be recorded",
			len(h.schema.Slots), n/len(h.schema.Slots), maxNumbers)
	}
	return nil
}

// worst is more bytes than a tick can take: a decision takes two at most, a number has at most 38
// of them and four bytes that are not coded.
func (h *history) worst(r *Record) int {
	return 64 + 96*(len(r.Joins)+len(r.Leaves)+len(r.Players)) + 2*len(h.seats) +
		82*len(r.Players)*len(h.schema.Slots)
}

// tick codes one tick.
func (h *history) tick(c *coder, r *Record) {
	if c.bit(&h.moves, len(r.Joins)+len(r.Leaves) > 0) {
		r.Leaves = h.list(c, r.Leaves)
		r.Joins = h.list(c, r.Joins)
		for _, p := range r.Leaves {
			h.rise(p)
		}
		for _, p := range r.Joins {
			h.sit(p)
		}
		if h.crowded(c) {
			return
		}
	}
	h.attend(c, r)
	for _, s := range h.seats {
		if !s.here || c.failed() {
			continue
		}
		if c.reading {
			r.Players = append(r.Players, s.player)
			r.images = slices.Grow(r.images, r.slots)[:len(r.images)+r.slots]
		}
		i, _ := slices.BinarySearch(r.Players, s.player)
		h.command(c, s, r.Command(i))
	}
	h.hash(c, r)
}

func (h *history) crowded(c *coder) bool {
	c.bad = c.bad || len(h.seats)*len(h.schema.Slots) > maxNumbers
	return c.bad
}

// list codes players in ascending order.
func (h *history) list(c *coder, list []world.Player) []world.Player {
	n := c.uint(&h.counts, uint64(len(list)))
	if n > 1<<16-1 {
		c.bad = true
		return list
	}
	last := uint64(0)
	for i := uint64(0); i < n && !c.failed(); i++ {
		p := last
		if !c.reading {
			p = uint64(list[i])
		}
		p = last + 1 + c.uint(&h.gaps, p-last-1)
		if p <= last || p > 1<<16-1 {
			c.bad = true
			break
		}
		last = p
		if c.reading {
			list = append(list, world.Player(p))
		}
	}
	return list
}

// attend codes whose commands are there.
func (h *history) attend(c *coder, r *Record) {
	known := 0
	for _, s := range h.seats {
		here := false
		if !c.reading {
			_, here = slices.BinarySearch(r.Players, s.player)
		}
		before := 0
		if s.had {
			before = 1
		}
		s.here = c.bit(&s.given[before], here)
		s.had = s.here
		if s.here {
			known++
		}
	}
	if !c.bit(&h.strangers, len(r.Players) > known) {
		return
	}
	var strangers []world.Player
	if !c.reading {
		for _, p := range r.Players {
			if _, found := h.find(p); !found {
				strangers = append(strangers, p)
			}
		}
	}
	for _, p := range h.list(c, strangers) {
		s := h.sit(p)
		s.here, s.had = true, true
	}
	h.crowded(c)
}

// command codes one player's command.
func (h *history) command(c *coder, s *seat, image []int32) {
	context := s.recent & 15
	if s.runs >= 4 {
		context = 16 + uint(min(mathbits.Len(s.runs)-3, 15))
	}
	same := c.bit(&h.same[context], !c.reading && slices.Equal(image, s.image))
	s.recent <<= 1
	if same {
		s.recent |= 1
		s.runs++
		copy(image, s.image)
		return
	}
	s.runs = 0
	any := uint8(0)
	for i := range image {
		f, m := &h.fields[i], &s.motion[i]
		changed := true
		if i < len(image)-1 || any > 0 { // or else it must be the last
			changed = c.bit(&f.changed[m.changed&3|any<<2], image[i] != s.image[i])
		}
		m.changed <<= 1
		if changed {
			m.changed |= 1
			any = 1
			s.image[i] = f.value(c, &h.schema.Slots[i], m, s.image[i], image[i])
		}
		image[i] = s.image[i]
	}
}

// value codes a number that is not what it was.
func (f *fieldModels) value(c *coder, s *bits.Slot, m *motion, was, is int32) int32 {
	span := uint64(int64(s.Max)-int64(s.Min)) + 1
	switch {
	case span <= 2:
		return s.Min + s.Max - was
	case span <= 16:
		if f.values == nil {
			f.values = make([]entropy.Bit, 16*16)
		}
		at := int(was-s.Min) * 16
		v := c.tree(f.values[at:at+16], uint64(is-s.Min), 4)
		if v >= span {
			c.bad = true
			return was
		}
		return s.Min + int32(v)
	}
	return f.moved(c, s, m, was, is)
}

// moved codes by how much a number changed. Where it has been moving steadily the guess is that it
// goes on so; where it jumps about, that it may go anywhere, though more likely onward than back.
// Whichever guess was the better one of late is taken.
func (f *fieldModels) moved(c *coder, s *bits.Slot, m *motion, was, is int32) int32 {
	span := int64(s.Max) - int64(s.Min) + 1
	guess, off := int64(0), m.free
	if m.steady < m.free {
		guess, off = int64(m.delta), m.steady
	}
	size := &f.sizes[min((mathbits.Len32(uint32(off))+1)/2, len(f.sizes)-1)]
	if *size == nil {
		*size = new(entropy.Integer)
	}
	onward := int64(1)
	if m.delta < 0 {
		onward = -1
	}
	delta := int64(is) - int64(was)
	if s.Wraps {
		delta = wrap(delta, span)
	}
	delta = guess + onward*c.int(*size, onward*(delta-guess))
	v := int64(was) + delta
	if s.Wraps && (v < int64(s.Min) || v > int64(s.Max)) {
		v -= span
		if delta < 0 {
			v += 2 * span
		}
	}
	if delta < -1<<33 || delta > 1<<33 || v < int64(s.Min) || v > int64(s.Max) {
		c.bad = true
		return was
	}
	m.free = drift(m.free, delta)
	m.steady = drift(m.steady, delta-int64(m.delta))
	m.delta = int32(max(min(delta, 1<<30), -1<<30))
	return int32(v)
}

// wrap is the shorter way around a circle.
func wrap(d, span int64) int64 {
	switch {
	case 2*d >= span:
		return d - span
	case 2*d < -span:
		return d + span
	}
	return d
}

// drift moves an average, in 16ths, a quarter of the way to a new distance.
func drift(average int32, d int64) int32 {
	d = min(max(d, -d), 1<<24)
	return average + (int32(16*d)-average)/4
}

// hash codes the lowest bits of the world's hash, if they are there. The whole of it stands at the
// end of a block.
func (h *history) hash(c *coder, r *Record) {
	if c.bit(&h.hashed, r.HashBits > 0) {
		v := c.raw(r.Hash&0xFF, 8)
		if c.reading {
			r.Hash, r.HashBits = v, 8
		}
	} else if c.reading {
		r.Hash, r.HashBits = 0, 0
	}
}
