package quake

import (
	"errors"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/raw"
)

// Strategy is the coding for one schema. It is only read, and may be shared.
type Strategy struct {
	schema  *codec.Schema
	layouts []raw.Layout
}

// New makes the strategy for a schema. It fails where the schema is not valid.
func New(s *codec.Schema) (*Strategy, error) {
	layouts, err := raw.Layouts(s)
	if err != nil {
		return nil, err
	}
	for i := range layouts {
		for j := range layouts[i].Fields {
			f := &layouts[i].Fields[j]
			f.Width = (f.Width + 7) &^ 7
		}
	}
	return &Strategy{s, layouts}, nil
}

// Name is how benchmarks call it.
func (*Strategy) Name() string { return "quake" }

// NewEncoder makes an encoder, for one goroutine at a time.
func (s *Strategy) NewEncoder() codec.PacketEncoder { return &encoder{strategy: s} }

// NewDecoder makes a decoder, for one goroutine at a time.
func (s *Strategy) NewDecoder() codec.PacketDecoder { return &decoder{strategy: s} }

// A group is the fields that one byte of flags is about, lowest bit first. Its highest bit says
// that the flags of another group follow.
const (
	group = 7
	more  = 1 << group
)

type encoder struct {
	raw.Writer
	strategy *Strategy
}

// Put writes the flags, and then the fields.
func (e *encoder) Put(class int, h *codec.History, now []int32) bool {
	l := &e.strategy.layouts[class]
	base := l.Base(h)
	last := len(l.Fields) // changed fields are all below
	for last > 0 && now[last-1] == base[last-1] {
		last--
	}
	before := e.W.Mark()
	for from := 0; from == 0 || from < last; from += group {
		flags := uint64(0)
		for i := from; i < min(from+group, last); i++ {
			if now[i] != base[i] {
				flags |= 1 << (i - from)
			}
		}
		if from+group < last {
			flags |= more
		}
		e.W.WriteBits(flags, 8)
	}
	for i := range last {
		if now[i] == base[i] {
			continue
		}
		f := &l.Fields[i]
		u := f.Offset(now[i])
		if u > f.Span {
			e.Fail = raw.RangeError(e.strategy.schema, class, i, int64(now[i]))
			return true // another packet would not help; Finish tells
		}
		e.W.WriteBits(uint64(u), f.Width)
	}
	if e.W.Err() != nil {
		e.W.Rewind(before)
		return false
	}
	return true
}

var errFlag = errors.New("codec/quake: a flag of a field that the class does not have")

type decoder struct {
	raw.Reader
	strategy *Strategy
	flags    [codec.MaxFields]bool
}

func (d *decoder) Get(class int, h *codec.History, now []int32) (changed bool, err error) {
	l := &d.strategy.layouts[class]
	copy(now, l.Base(h))
	fields := len(l.Fields)
	last := 0 // flags are known below
	for again := true; again; {
		flags := d.R.ReadBits(8)
		again = flags&more != 0
		for i := range group {
			set := flags>>i&1 != 0
			changed = changed || set
			if last+i < fields {
				d.flags[last+i] = set
			} else if set {
				return changed, errFlag
			}
		}
		if last += group; again && last >= fields {
			return changed, errFlag
		}
	}
	for i := range min(last, fields) {
		if !d.flags[i] {
			continue
		}
		f := &l.Fields[i]
		u := uint32(d.R.ReadBits(f.Width))
		if u > f.Span {
			return true, raw.RangeError(d.strategy.schema, class, i, int64(f.Min)+int64(u))
		}
		now[i] = f.Min + int32(u)
	}
	return changed, d.R.Err()
}
