package raw

import (
	"fmt"
	mathbits "math/bits"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/codec"
)

// Strategy is bit packing for one schema. It is only read, and may be shared.
type Strategy struct {
	schema  *codec.Schema
	layouts []Layout
}

// New makes the strategy for a schema. It fails where the schema is not valid.
func New(s *codec.Schema) (*Strategy, error) {
	layouts, err := Layouts(s)
	if err != nil {
		return nil, err
	}
	return &Strategy{s, layouts}, nil
}

// Name is how benchmarks call it.
func (*Strategy) Name() string { return "raw" }

// NewEncoder makes an encoder, for one goroutine at a time.
func (s *Strategy) NewEncoder() codec.PacketEncoder { return &encoder{strategy: s} }

// NewDecoder makes a decoder, for one goroutine at a time.
func (s *Strategy) NewDecoder() codec.PacketDecoder { return &decoder{strategy: s} }

type encoder struct {
	Writer
	strategy *Strategy
}

func (e *encoder) Put(class int, h *codec.History, now []int32) bool {
	l := &e.strategy.layouts[class]
	if slices.Equal(now, l.Base(h)) {
		if e.W.Room() < 1 {
			return false
		}
		e.W.WriteBits(0, 1)
		return true
	}
	if e.W.Room() < 1+l.Bits {
		return false
	}
	e.W.WriteBits(1, 1)
	for i := range l.Fields {
		f := &l.Fields[i]
		u := f.Offset(now[i])
		if u > f.Span {
			e.Fail = RangeError(e.strategy.schema, class, i, int64(now[i]))
			return true // another packet would not help; Finish tells
		}
		e.W.WriteBits(uint64(u), f.Width)
	}
	return true
}

type decoder struct {
	Reader
	strategy *Strategy
}

func (d *decoder) Get(class int, h *codec.History, now []int32) (bool, error) {
	l := &d.strategy.layouts[class]
	if !d.R.ReadBool() {
		copy(now, l.Base(h))
		return false, d.R.Err()
	}
	for i := range l.Fields {
		f := &l.Fields[i]
		u := uint32(d.R.ReadBits(f.Width))
		if u > f.Span {
			return true, RangeError(d.strategy.schema, class, i, int64(f.Min)+int64(u))
		}
		now[i] = f.Min + int32(u)
	}
	return true, d.R.Err()
}

// RangeError says which field was given, or sent, a value that it cannot hold.
func RangeError(s *codec.Schema, class, field int, v int64) error {
	c := &s.Classes[class]
	f := &c.Fields[field]
	return fmt.Errorf("class %s, field %s: %d is not between %d and %d", c.Name, f.Name, v, f.Min,
		f.Max)
}

// A Field says how one value is packed: as value - Min, in Width bits.
type Field struct {
	Min   int32
	Span  uint32 // the greatest value - Min
	Width int    // 0 to 32 bits
}

// Offset is what is packed for a value. It is above Span for a value that the field cannot hold.
func (f *Field) Offset(v int32) uint32 { return uint32(v - f.Min) }

// A Layout says how the image of a class is packed.
type Layout struct {
	Fields []Field
	Bits   int // the sum of the widths

	// Default is the base of an entity of which the receiver holds nothing: zero, or what is
	// nearest to it, in every field.
	Default []int32
}

// Layouts makes the layout of each class of a schema. It fails where the schema is not valid.
func Layouts(s *codec.Schema) ([]Layout, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	layouts := make([]Layout, len(s.Classes))
	for i := range layouts {
		l := &layouts[i]
		for _, f := range s.Classes[i].Fields {
			span := uint32(f.Max - f.Min)
			width := mathbits.Len32(span)
			l.Fields = append(l.Fields, Field{f.Min, span, width})
			l.Bits += width
			l.Default = append(l.Default, min(max(0, f.Min), f.Max))
		}
	}
	return layouts, nil
}

// Base is the image that an entity is compared with.
func (l *Layout) Base(h *codec.History) []int32 {
	if h.Len == 0 {
		return l.Default
	}
	return h.Images[0]
}

// A Writer is what encoders that know nothing of chances have in common: all of codec.PacketEncoder
// but Put.
type Writer struct {
	W    bits.Writer
	Fail error // an image that cannot be packed
	mark bits.Mark
}

// Begin starts a packet.
func (w *Writer) Begin(buf []byte) {
	w.W.Reset(buf)
	w.Fail = nil
}

// Refer does nothing: no entity is predicted from another.
func (w *Writer) Refer(int, *codec.History, []int32) {}

// Bits adds the lowest n bits of v.
func (w *Writer) Bits(v uint32, n uint) { w.W.WriteBits(uint64(v)&(1<<n-1), int(n)) }

// Flag takes a bit, whatever the chance.
func (w *Writer) Flag(bit bool, _ uint32) { w.W.WriteBool(bit) }

// Full reports whether more was added than fits.
func (w *Writer) Full() bool { return w.W.Err() != nil }

// Mark remembers the present place.
func (w *Writer) Mark() { w.mark = w.W.Mark() }

// Rewind takes back what was added since Mark.
func (w *Writer) Rewind() { w.W.Rewind(w.mark) }

// Spent is how many bits have been added.
func (w *Writer) Spent() float64 { return float64(w.W.Len()) }

// Finish ends the packet.
func (w *Writer) Finish() ([]byte, error) {
	if w.Fail != nil {
		return nil, w.Fail
	}
	return w.W.Bytes(), w.W.Err()
}

// A Reader is the same of decoders: all of codec.PacketDecoder but Get.
type Reader struct{ R bits.Reader }

// Begin starts to read a packet.
func (r *Reader) Begin(packet []byte) { r.R.Reset(packet) }

// Refer does nothing.
func (r *Reader) Refer(int, *codec.History, []int32) {}

// Bits reads n bits.
func (r *Reader) Bits(n uint) uint32 { return uint32(r.R.ReadBits(int(n))) }

// Flag reads a bit.
func (r *Reader) Flag(uint32) bool { return r.R.ReadBool() }

// Err reports what was wrong with the packet so far.
func (r *Reader) Err() error { return r.R.Err() }

// Finish checks that the packet was read to its end.
func (r *Reader) Finish() error { return r.R.Finish() }
