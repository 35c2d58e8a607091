package quake3

import (
	"fmt"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/raw"
	"github.com/coeval-dev/coeval/entropy"
)

// Strategy is Quake III's coding for one schema. It is only read, and may be shared.
type Strategy struct {
	schema  *codec.Schema
	classes []class
	huffman *entropy.Huffman
	codes   [256]code
}

// Options say what may differ from game to game.
type Options struct {
	// Huffman is the code for whole bytes. Where it is nil the package's own is used, as Quake III
	// has but one for all that is made of it.
	Huffman *entropy.Huffman
}

// class is a layout with what Quake III adds to each field.
type class struct {
	raw.Layout
	fields []field
}

type field struct {
	raw.Field
	zero  uint32 // the offset of the field's zero, which takes one bit
	small bool   // whether values near zero have a shorter form
}

// The shorter form takes smallBits bits, as it does in Quake III for floats that happen to be small
// whole numbers.
const (
	smallBits = 13
	smallBias = 1 << (smallBits - 1)
)

// code is the Huffman code of a byte, lowest bit first.
type code struct {
	bits  uint16
	width uint8
}

// New makes the strategy for a schema. It fails where the schema is not valid.
func New(s *codec.Schema, opt Options) (*Strategy, error) {
	layouts, err := raw.Layouts(s)
	if err != nil {
		return nil, err
	}
	q := &Strategy{schema: s, huffman: opt.Huffman}
	if q.huffman == nil {
		if q.huffman, err = recorded(); err != nil {
			return nil, err
		}
	}
	for b := range q.codes {
		w := bits.NewWriter(make([]byte, 8))
		q.huffman.WriteByteTo(w, byte(b))
		width := w.Len()
		q.codes[b] = code{uint16(bits.NewReader(w.Bytes()).ReadBits(width)), uint8(width)}
	}
	for i, l := range layouts {
		c := class{Layout: l}
		for j := range l.Fields {
			c.fields = append(c.fields, newField(&s.Classes[i].Fields[j], l.Fields[j]))
		}
		q.classes = append(q.classes, c)
	}
	return q, nil
}

func newField(f *codec.Field, packed raw.Field) field {
	zero := min(max(0, f.Min), f.Max)
	if f.Kind == codec.Velocity { // often sent with an offset that makes it positive
		zero = int32((int64(f.Min) + int64(f.Max) + 1) / 2)
	}
	return field{
		Field: packed,
		zero:  packed.Offset(zero),
		// what Quake III would have kept as a float
		small: packed.Width == 32 && f.Kind != codec.Discrete,
	}
}

// Name is how benchmarks call it.
func (*Strategy) Name() string { return "quake3" }

// NewEncoder makes an encoder, for one goroutine at a time.
func (q *Strategy) NewEncoder() codec.PacketEncoder { return &encoder{strategy: q} }

// NewDecoder makes a decoder, for one goroutine at a time.
func (q *Strategy) NewDecoder() codec.PacketDecoder { return &decoder{strategy: q} }

type encoder struct {
	raw.Writer
	strategy *Strategy
}

func (e *encoder) Put(class int, h *codec.History, now []int32) bool {
	c := &e.strategy.classes[class]
	base := c.Base(h)
	last := len(c.fields) // changed fields are all below
	for last > 0 && now[last-1] == base[last-1] {
		last--
	}
	if last == 0 {
		if e.W.Room() < 1 {
			return false
		}
		e.W.WriteBits(0, 1)
		return true
	}
	before := e.W.Mark()
	e.write(1, 1, uint32(last), 8)
	same := 0 // zero bits not yet written
	for i := range last {
		if now[i] == base[i] {
			same++
			continue
		}
		if same > 0 {
			e.W.WriteBits(0, same)
			same = 0
		}
		f := &c.fields[i]
		u := f.Offset(now[i])
		switch {
		case u > f.Span:
			e.Fail = raw.RangeError(e.strategy.schema, class, i, int64(now[i]))
			return true // another packet would not help; Finish tells
		case u == f.zero:
			e.W.WriteBits(0b01, 2)
		case !f.small:
			e.write(0b11, 2, u, f.Width)
		case u-f.zero+smallBias < 1<<smallBits:
			e.write(0b011, 3, u-f.zero+smallBias, smallBits)
		default:
			e.write(0b111, 3, u, f.Width)
		}
	}
	if e.W.Err() != nil {
		e.W.Rewind(before)
		return false
	}
	return true
}

// write appends flags of up to three bits and a number as Quake III writes one: the lowest bits as
// they are, until whole bytes are left, and the bytes by their Huffman codes. Together they take 63
// bits at most.
func (e *encoder) write(flags uint64, n int, v uint32, width int) {
	odd := width & 7
	out := flags | uint64(v&(1<<odd-1))<<n
	n += odd
	v >>= odd
	for width >>= 3; width > 0; width-- {
		c := &e.strategy.codes[v&255]
		out |= uint64(c.bits) << n
		n += int(c.width)
		v >>= 8
	}
	e.W.WriteBits(out, n)
}

type decoder struct {
	raw.Reader
	strategy *Strategy
}

func (d *decoder) Get(class int, h *codec.History, now []int32) (bool, error) {
	c := &d.strategy.classes[class]
	copy(now, c.Base(h))
	if !d.R.ReadBool() {
		return false, d.R.Err()
	}
	last := int(d.read(8))
	if last < 1 || last > len(c.fields) {
		if d.R.Err() == nil {
			return true,
				fmt.Errorf("class %s: the last changed field is number %d of %d",
					d.strategy.schema.Classes[class].Name, last, len(c.fields))
		}
		return true, d.R.Err()
	}
	for i := range last {
		if !d.R.ReadBool() {
			continue
		}
		f := &c.fields[i]
		u := f.zero
		if d.R.ReadBool() {
			if f.small && !d.R.ReadBool() {
				u += d.read(smallBits) - smallBias
			} else {
				u = d.read(f.Width)
			}
		}
		if u > f.Span {
			return true, raw.RangeError(d.strategy.schema, class, i, int64(f.Min)+int64(u))
		}
		now[i] = f.Min + int32(u)
	}
	return true, d.R.Err()
}

// read is the other side of write, without the flags.
func (d *decoder) read(width int) uint32 {
	at := width & 7
	v := uint32(d.R.ReadBits(at))
	for ; at < width; at += 8 {
		v |= uint32(d.strategy.huffman.ReadByteFrom(&d.R)) << at
	}
	return v
}
