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
	maxModels  = 1 << 12 // of sizes, of 3 kB each; further ones are one
	maxTicks   = 1 << 10 // in one block
	fullBlock  = 1 << 18 // numbers after which a block is closed
)

// A history is what both sides know after some ticks of a chapter: everyone's last command, and
// what was learned.
type history struct {
	schema *bits.Schema // with no slots where there are no commands
	seats  []*seat      // in order of player
	spare  []*seat
	merged []*seat // the seats before, for the next who sit or rise
	limit  int     // of players times numbers
	rest   []int32 // the command that says nothing

	moves     entropy.Bit // someone joins or leaves
	strangers entropy.Bit // someone commands who has no seat
	counts    entropy.Integer
	gaps      entropy.Integer
	hashed    entropy.Bit
	same      [32]entropy.Bit // a command is the last one, by what came before
	fields    []fieldModels
	sizes     []*entropy.Integer // of all fields; those after the first models are spare
	models    int
	learned   bool // something, since a chapter began

	told  toldHistory
	kinds int  // of inputs beside commands
	shows bool // players were shown something with their commands
}

// A seat is what is known of a player.
type seat struct {
	player world.Player
	given  [2]entropy.Bit // whether a command is there, by whether the last was
	had    bool
	here   bool
	runs   uint // how often in a row the command was the same
	recent uint // whether it was the same, the last four times, a bit each
	fresh  bool // nothing but the command at rest came; image and motion are to be made
	image  []int32
	motion []motion
	shown  shown
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
	valued  bool          // something was learned there
	sizes   [8]*entropy.Integer
}

func newHistory(of *Header, limit int) *history {
	schema := of.Commands
	if schema == nil {
		schema = new(bits.Schema)
	}
	h := &history{schema: schema, limit: limit, fields: make([]fieldModels, len(schema.Slots)),
		kinds: len(of.Inputs), shows: of.Rewinds > 0}
	for i := range schema.Slots {
		h.rest = append(h.rest, schema.Slots[i].Absent)
	}
	return h
}

// reset forgets everything, at the beginning of a chapter, in time in proportion to what was
// learned.
func (h *history) reset() {
	learned, models := h.learned, h.models
	*h = history{schema: h.schema, spare: append(h.spare, h.seats...), seats: h.seats[:0],
		merged: h.merged, limit: h.limit, rest: h.rest, fields: h.fields, sizes: h.sizes,
		kinds: h.kinds, shows: h.shows}
	if !learned {
		return
	}
	for _, m := range h.sizes[:models] {
		*m = entropy.Integer{}
	}
	for i := range h.fields {
		f := &h.fields[i]
		clear(f.changed[:])
		clear(f.sizes[:])
		if f.valued {
			clear(f.values)
			f.valued = false
		}
	}
}

func (h *history) find(p world.Player) (int, bool) {
	return slices.BinarySearchFunc(h.seats, p,
		func(s *seat, p world.Player) int { return int(s.player) - int(p) })
}

// sit gives players, in ascending order, a seat with nothing commanded yet. It takes time in
// proportion to the seats, whatever their order, and no memory for more than are allowed.
func (h *history) sit(c *coder, list []world.Player) {
	fresh, at := 0, 0
	for _, p := range list {
		for at < len(h.seats) && h.seats[at].player < p {
			at++
		}
		if at == len(h.seats) || h.seats[at].player != p {
			fresh++
		}
	}
	if c.bad = c.bad || (len(h.seats)+fresh)*len(h.schema.Slots) > h.limit; c.bad || fresh == 0 {
		return
	}
	old, to, at := h.seats, h.merged[:0], 0
	for _, p := range list {
		for at < len(old) && old[at].player < p {
			to = append(to, old[at])
			at++
		}
		if at == len(old) || old[at].player != p {
			to = append(to, h.seat(p))
		}
	}
	h.seats, h.merged = append(to, old[at:]...), old[:0]
}

// seat makes a seat.
func (h *history) seat(p world.Player) *seat {
	var s *seat
	if n := len(h.spare); n > 0 {
		s, h.spare = h.spare[n-1], h.spare[:n-1]
	} else {
		s = new(seat)
	}
	*s = seat{player: p, fresh: true, image: s.image, motion: s.motion}
	return s
}

// last is what the player of a seat commanded last.
func (h *history) last(s *seat) []int32 {
	if s.fresh {
		return h.rest
	}
	return s.image
}

// begin makes room for what is learned of a player.
func (h *history) begin(s *seat) {
	if h.learned = true; !s.fresh {
		return
	}
	if s.image == nil {
		s.image, s.motion = make([]int32, len(h.rest)), make([]motion, len(h.rest))
	}
	copy(s.image, h.rest)
	clear(s.motion)
	s.fresh = false
}

// rise takes the seats of players, in ascending order, away.
func (h *history) rise(list []world.Player) {
	kept, at := h.seats[:0], 0
	for _, s := range h.seats {
		for at < len(list) && list[at] < s.player {
			at++
		}
		if at < len(list) && list[at] == s.player {
			h.spare = append(h.spare, s)
		} else {
			kept = append(kept, s)
		}
	}
	h.seats = kept
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
	return 64 + h.told.worst(r) + 96*(len(r.Joins)+len(r.Leaves)+len(r.Players)) + 2*len(h.seats) +
		82*len(r.Players)*len(h.schema.Slots)
}

// tick codes one tick.
func (h *history) tick(c *coder, r *Record) {
	if c.bit(&h.moves, len(r.Joins)+len(r.Leaves) > 0) {
		r.Leaves = h.list(c, r.Leaves)
		r.Joins = h.list(c, r.Joins)
		h.rise(r.Leaves)
		if h.sit(c, r.Joins); c.bad {
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
			r.Sights = append(r.Sights, Saw{})
		}
		i, _ := slices.BinarySearch(r.Players, s.player)
		h.command(c, s, r.Command(i))
		if h.shows {
			h.told.sight(c, &s.shown, &r.Sights[i])
		}
	}
	if h.kinds > 0 {
		h.told.tellings(c, r, h.kinds)
	}
	h.hash(c, r)
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
	strangers = h.list(c, strangers)
	if h.sit(c, strangers); c.bad {
		return
	}
	at := 0
	for _, p := range strangers {
		for h.seats[at].player < p {
			at++
		}
		h.seats[at].here, h.seats[at].had = true, true
	}
}

// command codes one player's command.
func (h *history) command(c *coder, s *seat, image []int32) {
	context := s.recent & 15
	if s.runs >= 4 {
		context = 16 + uint(min(mathbits.Len(s.runs)-3, 15))
	}
	same := c.bit(&h.same[context], !c.reading && slices.Equal(image, h.last(s)))
	s.recent <<= 1
	if same {
		s.recent |= 1
		s.runs++
		copy(image, h.last(s))
		return
	}
	h.begin(s)
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
			s.image[i] = h.value(c, i, m, s.image[i], image[i])
		}
		image[i] = s.image[i]
	}
}

// value codes a number that is not what it was.
func (h *history) value(c *coder, slot int, m *motion, was, is int32) int32 {
	f, s := &h.fields[slot], &h.schema.Slots[slot]
	span := uint64(int64(s.Max)-int64(s.Min)) + 1
	switch {
	case span <= 2:
		return s.Min + s.Max - was
	case span <= 16:
		if f.values == nil {
			f.values = make([]entropy.Bit, 16*16)
		}
		f.valued = true
		at := int(was-s.Min) * 16
		v := c.tree(f.values[at:at+16], uint64(is-s.Min), 4)
		if v >= span {
			c.bad = true
			return was
		}
		return s.Min + int32(v)
	}
	return h.moved(c, slot, m, was, is)
}

// moved codes by how much a number changed. Where it has been moving steadily the guess is that it
// goes on so; where it jumps about, that it may go anywhere, though more likely onward than back.
// Whichever guess was the better one of late is taken.
func (h *history) moved(c *coder, slot int, m *motion, was, is int32) int32 {
	s := &h.schema.Slots[slot]
	span := int64(s.Max) - int64(s.Min) + 1
	guess, off := int64(0), m.free
	if m.steady < m.free {
		guess, off = int64(m.delta), m.steady
	}
	sizes := &h.fields[slot].sizes
	size := h.size(&sizes[min((mathbits.Len32(uint32(off))+1)/2, len(sizes)-1)])
	onward := int64(1)
	if m.delta < 0 {
		onward = -1
	}
	delta := int64(is) - int64(was)
	if s.Wraps {
		delta = wrap(delta, span)
	}
	delta = guess + onward*c.int(size, onward*(delta-guess))
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

// size is a model that is taken when it is first used. The last of maxModels is for all that come
// after, so that commands of very many numbers take no more memory than others.
func (h *history) size(m **entropy.Integer) *entropy.Integer {
	if *m == nil {
		if h.models < maxModels {
			if h.models++; h.models > len(h.sizes) {
				h.sizes = append(h.sizes, new(entropy.Integer))
			}
		}
		*m = h.sizes[h.models-1]
	}
	return *m
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
