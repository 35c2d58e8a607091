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
	exact   bool
}

// New makes the strategy for a schema. It fails where the schema is not valid.
func New(s *codec.Schema) (*Strategy, error) {
	layouts, err := raw.Layouts(s)
	if err != nil {
		return nil, err
	}
	return &Strategy{schema: s, layouts: layouts}, nil
}

// NewExact makes the strategy in the form that DOOM III had it: a field that differs from the base
// says in one more bit whether it has its common value, which then takes no more. The common value
// of a field is what an entity of which nothing is known starts from.
func NewExact(s *codec.Schema) (*Strategy, error) {
	d, err := New(s)
	if err != nil {
		return nil, err
	}
	d.exact = true
	return d, nil
}

// Name is how benchmarks call it.
func (s *Strategy) Name() string {
	if s.exact {
		return "doom3exact"
	}
	return "doom3"
}

// NewEncoder makes an encoder, for one goroutine at a time.
func (s *Strategy) NewEncoder() codec.PacketEncoder { return &encoder{strategy: s} }

// NewDecoder makes a decoder, for one goroutine at a time.
func (s *Strategy) NewDecoder() codec.PacketDecoder { return &decoder{strategy: s} }

type encoder struct {
	raw.Writer // for what it does not do otherwise
	strategy   *Strategy
	z          shortener
	before     mark
}

func (e *encoder) Begin(buf []byte) {
	e.z.reset(buf)
	e.Fail = nil
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
			e.Fail = raw.RangeError(e.strategy.schema, class, i, int64(now[i]))
			return true // another packet would not help; Finish tells
		}
		e.z.zeros(same)
		same = 0
		switch {
		case !e.strategy.exact:
			e.z.write(uint64(u)<<1|1, f.Width+1)
		case now[i] == l.Default[i]:
			e.z.write(0b01, 2)
		default:
			e.z.write(0b11, 2)
			e.z.write(uint64(u), f.Width)
		}
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
	if e.Fail != nil {
		return nil, e.Fail
	}
	return e.z.finish()
}

type decoder struct {
	raw.Reader
	strategy *Strategy
	expanded expanded
}

func (d *decoder) Begin(packet []byte) {
	d.expanded.fill(packet)
	d.R.Reset(d.expanded.buf)
}

func (d *decoder) Get(class int, h *codec.History, now []int32) (bool, error) {
	l := &d.strategy.layouts[class]
	copy(now, l.Base(h))
	if !d.R.ReadBool() {
		return false, d.Err()
	}
	for i := range l.Fields {
		if !d.R.ReadBool() {
			continue
		}
		if d.strategy.exact && !d.R.ReadBool() {
			now[i] = l.Default[i]
			continue
		}
		f := &l.Fields[i]
		u := uint32(d.R.ReadBits(f.Width))
		if u > f.Span {
			return true, raw.RangeError(d.strategy.schema, class, i, int64(f.Min)+int64(u))
		}
		now[i] = f.Min + int32(u)
	}
	return true, d.Err()
}

// Err notes also where zeros were read that only fill up the last byte.
func (d *decoder) Err() error {
	if err := d.R.Err(); err != nil {
		return err
	}
	if d.R.Len() > d.expanded.size {
		return bits.ErrShort
	}
	return nil
}

// Finish allows for the zeros that fill up the last word and the last byte.
func (d *decoder) Finish() error {
	if err := d.Err(); err != nil {
		return err
	}
	if !d.expanded.endsAt(d.R.Len()) {
		return bits.ErrTrailing
	}
	return nil
}
