package raw

import (
	"fmt"
	"slices"

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
