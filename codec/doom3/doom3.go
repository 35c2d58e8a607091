package doom3

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/raw"
)

// Strategy is DOOM III's coding for one schema. It is only read, and may be shared.
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
	return &Strategy{s, layouts}, nil
}

// Name is how benchmarks call it.
func (*Strategy) Name() string { return "doom3" }

// NewEncoder makes an encoder, for one goroutine at a time.
func (s *Strategy) NewEncoder() codec.PacketEncoder { return &encoder{strategy: s} }

// NewDecoder makes a decoder, for one goroutine at a time.
func (s *Strategy) NewDecoder() codec.PacketDecoder { return &decoder{strategy: s} }

type encoder struct {
	strategy *Strategy
	z        shortener
	before   mark
	err      error // an image that cannot be packed
}

func (e *encoder) Begin(buf []byte) {
	e.z.reset(buf)
	e.err = nil
}

func (e *encoder) Put(class int, h *codec.History, now []int32) bool {
	l := &e.strategy.layouts[class]
	base := l.Base(h)
	before := e.z.mark()
	same := 0 // zero bits not yet written
	changed := false
	for i := range l.Fields {
		if now[i] == base[i] {
			same++
			continue
		}
		if !changed {
			changed = true
			e.z.write(1, 1)
		}
		f := &l.Fields[i]
		u := f.Offset(now[i])
		if u > f.Span {
			e.err = raw.RangeError(e.strategy.schema, class, i, int64(now[i]))
			return true // another packet would not help; Finish tells
		}
		e.z.zeros(same)
		e.z.write(uint64(u)<<1|1, f.Width+1)
		same = 0
	}
	if !changed {
		same = 1
	}
	e.z.zeros(same)
	if !e.z.fits() {
		e.z.rewind(before)
		return false
	}
	return true
}

// Refer does nothing: no entity is predicted from another.
func (e *encoder) Refer(int, *codec.History, []int32) {}

func (e *encoder) Bits(v uint32, n uint) { e.z.write(uint64(v)&(1<<n-1), int(n)) }

// Flag takes a bit, whatever the chance; zeros in a row are shortened with the rest.
func (e *encoder) Flag(bit bool, _ uint32) {
	if bit {
		e.z.write(1, 1)
	} else {
		e.z.write(0, 1)
	}
}

func (e *encoder) Full() bool     { return !e.z.fits() }
func (e *encoder) Mark()          { e.before = e.z.mark() }
func (e *encoder) Rewind()        { e.z.rewind(e.before) }
func (e *encoder) Spent() float64 { return float64(e.z.w.Len() + e.z.n) }

func (e *encoder) Finish() ([]byte, error) {
	if e.err != nil {
		return nil, e.err
	}
	return e.z.finish()
}

type decoder struct {
	strategy *Strategy
	expanded expanded
	r        bits.Reader
}

func (d *decoder) Begin(packet []byte) {
	d.expanded.fill(packet)
	d.r.Reset(d.expanded.buf)
}

func (d *decoder) Get(class int, h *codec.History, now []int32) (bool, error) {
	l := &d.strategy.layouts[class]
	copy(now, l.Base(h))
	if !d.r.ReadBool() {
		return false, d.err()
	}
	for i := range l.Fields {
		if !d.r.ReadBool() {
			continue
		}
		f := &l.Fields[i]
		u := uint32(d.r.ReadBits(f.Width))
		if u > f.Span {
			return true, raw.RangeError(d.strategy.schema, class, i, int64(f.Min)+int64(u))
		}
		now[i] = f.Min + int32(u)
	}
	return true, d.err()
}

func (d *decoder) Refer(int, *codec.History, []int32) {}

func (d *decoder) Bits(n uint) uint32 { return uint32(d.r.ReadBits(int(n))) }
func (d *decoder) Flag(uint32) bool   { return d.r.ReadBool() }
func (d *decoder) Err() error         { return d.err() }

// err notes also where zeros were read that only fill up the last byte.
func (d *decoder) err() error {
	if err := d.r.Err(); err != nil {
		return err
	}
	if d.r.Len() > d.expanded.size {
		return bits.ErrShort
	}
	return nil
}

// Finish allows for the zeros that fill up the last word and the last byte.
func (d *decoder) Finish() error {
	if err := d.err(); err != nil {
		return err
	}
	if !d.expanded.endsAt(d.r.Len()) {
		return bits.ErrTrailing
	}
	return nil
}
