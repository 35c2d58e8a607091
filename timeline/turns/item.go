package turns

import (
	"errors"
	"fmt"
	mathbits "math/bits"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// MaxItem is how many bytes an item has at most.
const MaxItem = 255

// ErrItem says that bytes are no item that could follow the one before.
var ErrItem = errors.New("turns: not a command of this game")

// A Coder makes items of commands. An item says in what a command differs from the one before it in
// the same stream, or rather from what is left of that when it is repeated. A command that is just
// repeated is an item without bytes.
//
// The bits of an item are, for each number of the command's image that differs: how many numbers
// further on than the last one it is, in Elias's gamma code; and then the number. One of up to
// four bits stands as it is, from the least that it can be. Of a wider one the first bit says
// whether the difference is small: then it follows as a signed number of half as many bits, and
// one more, as the number is wide; otherwise the number follows as it is. What is left of the last
// byte is zero.
type Coder struct {
	game  *world.Game
	slots []bits.Slot
	in    *world.Inputs
	w     bits.Writer
	r     bits.Reader
	buf   [MaxItem + 16]byte
	level []int32
	// scratch of Merge
	merged []int32
}

// NewCoder makes a coder for a game.
func NewCoder(g *world.Game) *Coder {
	c := &Coder{game: g, in: g.NewInputs()}
	if s := g.Commands(); s != nil {
		c.slots = s.Slots
		c.level = make([]int32, len(c.slots))
	}
	return c
}

// Len is how many numbers the image of a command has.
func (c *Coder) Len() int { return len(c.slots) }

// Start fills an image with what counts as the command before the first.
func (c *Coder) Start(image []int32) {
	for i := range c.slots {
		image[i] = c.slots[i].Absent
	}
}

// anyone is a player's number where only one is at a time.
const anyone world.Player = 1

// Repeat makes an image what is left of it when it is repeated: its levels, without its edges.
func (c *Coder) Repeat(image []int32) {
	if len(c.slots) == 0 {
		return
	}
	c.in.Reset()
	if c.in.GiveImage(anyone, image) == nil && c.in.Repeat(anyone) {
		c.in.Image(anyone, image)
	}
}

// Merge gives an image the edges of one before it that is not executed by itself: what was pressed
// in between is not lost.
func (c *Coder) Merge(before, image []int32) {
	if len(c.slots) == 0 {
		return
	}
	copy(c.level, before)
	c.Repeat(c.level)
	merged := append(c.merged[:0], image...)
	c.merged = merged
	for i := range merged {
		if before[i] != c.level[i] && image[i] == c.level[i] {
			merged[i] = before[i]
		}
	}
	c.in.Reset()
	if c.in.GiveImage(anyone, merged) == nil && c.in.Image(anyone, merged) {
		copy(image, merged)
	}
}

// span is how many values a number can have, less one, and in how many bits it fits.
func span(s *bits.Slot) (most uint32, width int) {
	most = uint32(s.Max) - uint32(s.Min)
	return most, mathbits.Len32(most)
}

// small is how wide a small difference of a number is, or zero for one that always stands whole.
func small(width int) int {
	if width <= 4 {
		return 0
	}
	return width/2 + 1
}

// Append writes the item of an image that follows another. The one before is changed to what is
// left of it when it is repeated.
func (c *Coder) Append(dst []byte, before, image []int32) ([]byte, error) {
	c.Repeat(before)
	if slices.Equal(before, image) {
		return dst, nil
	}
	w := &c.w
	w.Reset(c.buf[:])
	last := -1
	for i := range c.slots {
		if image[i] == before[i] {
			continue
		}
		gamma(w, uint64(i-last))
		last = i
		c.put(w, &c.slots[i], before[i], image[i])
	}
	data := w.Bytes()
	if w.Err() != nil || len(data) > MaxItem {
		return dst, fmt.Errorf("turns: a command takes more than %d bytes", MaxItem)
	}
	return append(dst, data...), nil
}

func (c *Coder) put(w *bits.Writer, s *bits.Slot, before, now int32) {
	most, width := span(s)
	n := small(width)
	if n == 0 {
		w.WriteBits(uint64(uint32(now)-uint32(s.Min)), width)
		return
	}
	d := int64(now) - int64(before)
	if s.Wraps {
		d = wrap(d, int64(most)+1)
	}
	if half := int64(1) << (n - 1); d >= -half && d < half {
		w.WriteBool(true)
		w.WriteBits(uint64(d+half), n)
		return
	}
	w.WriteBool(false)
	w.WriteBits(uint64(uint32(now)-uint32(s.Min)), width)
}

// wrap takes a difference the short way round.
func wrap(d, size int64) int64 {
	if d %= size; d >= size/2 {
		d -= size
	} else if d < -size/2 {
		d += size
	}
	return d
}

// Read makes an image of an item and the image before it, which are two; the one before is changed
// to what is left of it when it is repeated. The bytes may come from anyone.
func (c *Coder) Read(item []byte, before, image []int32) error {
	c.Repeat(before)
	copy(image, before)
	if len(item) == 0 {
		return nil
	}
	if len(item) > MaxItem || len(c.slots) == 0 {
		return ErrItem
	}
	r := &c.r
	r.Reset(item)
	for at := -1; ; {
		step, ok := ungamma(r)
		if !ok {
			break
		}
		if step == 0 || step > uint64(len(c.slots)-1-at) {
			return ErrItem
		}
		at += int(step)
		if !c.get(r, &c.slots[at], &image[at]) {
			return ErrItem
		}
	}
	if r.Err() != nil {
		return ErrItem
	}
	c.in.Reset()
	if c.in.GiveImage(anyone, image) != nil {
		return ErrItem
	}
	return nil
}

func (c *Coder) get(r *bits.Reader, s *bits.Slot, v *int32) bool {
	most, width := span(s)
	n := small(width)
	if n > 0 && r.ReadBool() {
		d := int64(*v) + int64(r.ReadBits(n)) - int64(1)<<(n-1)
		if s.Wraps {
			d = int64(s.Min) + mod(d-int64(s.Min), int64(most)+1)
		}
		if d < int64(s.Min) || d > int64(s.Max) {
			return false
		}
		*v = int32(d)
		return r.Err() == nil
	}
	d := r.ReadBits(width)
	if d > uint64(most) {
		return false
	}
	*v = int32(uint32(s.Min) + uint32(d))
	return r.Err() == nil
}

func mod(a, n int64) int64 {
	if a %= n; a < 0 {
		a += n
	}
	return a
}

// gamma writes a number from 1 in Elias's gamma code: as many zeros as it has bits beyond the
// first, and the number.
func gamma(w *bits.Writer, v uint64) {
	n := mathbits.Len64(v)
	for range n - 1 {
		w.WriteBool(false)
	}
	for i := n - 1; i >= 0; i-- {
		w.WriteBool(v>>i&1 != 0)
	}
}

// ungamma reads one. It is not ok where nothing but the zeros that fill the last byte is left,
// which ends an item, and gives zero where there are too many of them.
func ungamma(r *bits.Reader) (v uint64, ok bool) {
	zeros := 0
	for {
		if r.Left() == 0 {
			return 0, zeros >= 8
		}
		if r.ReadBool() {
			break
		}
		zeros++
	}
	if zeros > 16 {
		return 0, true
	}
	v = 1
	for range zeros {
		v <<= 1
		if r.ReadBool() {
			v |= 1
		}
	}
	return v, true
}

// Least is the least that a number of the image can be.
func (c *Coder) Least(i int) int32 { return c.slots[i].Min }
