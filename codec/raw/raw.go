package raw

import (
	"fmt"
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
	strategy *Strategy
	w        bits.Writer
	mark     bits.Mark
	err      error // an image that cannot be packed
}

func (e *encoder) Begin(buf []byte) {
	e.w.Reset(buf)
	e.err = nil
}

func (e *encoder) Put(class int, h *codec.History, now []int32) bool {
	l := &e.strategy.layouts[class]
	if slices.Equal(now, l.Base(h)) {
		if e.w.Room() < 1 {
			return false
		}
		e.w.WriteBits(0, 1)
		return true
	}
	if e.w.Room() < 1+l.Bits {
		return false
	}
	e.w.WriteBits(1, 1)
	for i := range l.Fields {
		f := &l.Fields[i]
		u := f.Offset(now[i])
		if u > f.Span {
			e.err = RangeError(e.strategy.schema, class, i, int64(now[i]))
			return true // another packet would not help; Finish tells
		}
		e.w.WriteBits(uint64(u), f.Width)
	}
	return true
}

// Refer does nothing: no entity is predicted from another.
func (e *encoder) Refer(int, *codec.History, []int32) {}

func (e *encoder) Bits(v uint32, n uint) { e.w.WriteBits(uint64(v)&(1<<n-1), int(n)) }

// Flag takes a bit, whatever the chance.
func (e *encoder) Flag(bit bool, _ uint32) { e.w.WriteBool(bit) }

func (e *encoder) Full() bool     { return e.w.Err() != nil }
func (e *encoder) Mark()          { e.mark = e.w.Mark() }
func (e *encoder) Rewind()        { e.w.Rewind(e.mark) }
func (e *encoder) Spent() float64 { return float64(e.w.Len()) }

func (e *encoder) Finish() ([]byte, error) {
	if e.err != nil {
		return nil, e.err
	}
	return e.w.Bytes(), e.w.Err()
}

type decoder struct {
	strategy *Strategy
	r        bits.Reader
}

func (d *decoder) Begin(packet []byte) { d.r.Reset(packet) }

func (d *decoder) Get(class int, h *codec.History, now []int32) (bool, error) {
	l := &d.strategy.layouts[class]
	if !d.r.ReadBool() {
		copy(now, l.Base(h))
		return false, d.r.Err()
	}
	for i := range l.Fields {
		f := &l.Fields[i]
		u := uint32(d.r.ReadBits(f.Width))
		if u > f.Span {
			return true, RangeError(d.strategy.schema, class, i, int64(f.Min)+int64(u))
		}
		now[i] = f.Min + int32(u)
	}
	return true, d.r.Err()
}

func (d *decoder) Refer(int, *codec.History, []int32) {}

func (d *decoder) Bits(n uint) uint32 { return uint32(d.r.ReadBits(int(n))) }
func (d *decoder) Flag(uint32) bool   { return d.r.ReadBool() }
func (d *decoder) Err() error         { return d.r.Err() }

func (d *decoder) Finish() error { return d.r.Finish() }

// RangeError says which field was given, or sent, a value that it cannot hold.
func RangeError(s *codec.Schema, class, field int, v int64) error {
	c := &s.Classes[class]
	f := &c.Fields[field]
	return fmt.Errorf("class %s, field %s: %d is not between %d and %d", c.Name, f.Name, v, f.Min, f.Max)
}
