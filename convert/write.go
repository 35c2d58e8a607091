package convert

import (
	"errors"
	"fmt"
	"math"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// errBeyond is that a value is not in its new range.
var errBeyond = errors.New("is beyond its range now")

// write puts a value where an atom has it. With clamp, what is beyond becomes the nearest there is.
func (a *atom) write(v value, image []int32, server []world.SavedValue, clamp bool) error {
	if a.server {
		return a.writeServer(v, &server[a.first], clamp)
	}
	k := image[a.first : a.first+len(a.slots)]
	s := &a.slots[0]
	if v.absent {
		for i := range k {
			k[i] = a.slots[i].Absent
		}
		return nil
	}
	switch a.form {
	case whole:
		return a.writeWhole(v, k, clamp)
	case length:
		n, err := within(v.int(), 0, int64(s.Max), clamp)
		k[0] = int32(n)
		return err
	case real:
		return writeReal(s, v.number(), k, clamp)
	case angle:
		turn := int64(s.Max) - int64(s.Min) + 1
		n := int64(math.RoundToEven(math.Mod(v.number(), 2*math.Pi)/s.Scale)) % turn
		if n > int64(s.Max) {
			n -= turn
		} else if n < int64(s.Min) {
			n += turn
		}
		k[0] = int32(n)
	case text:
		n, err := within(int64(len(v.text)), 0, int64(s.Max), clamp)
		if err != nil {
			return fmt.Errorf("has %d bytes, of which there may be %d now", len(v.text), s.Max)
		}
		clear(k)
		k[0] = int32(n)
		for i, c := range v.text[:n] {
			k[1+i/4] |= int32(uint32(c) << (8 * (i % 4)))
		}
	case direction:
		m := float64(s.Max)
		u, w := math.RoundToEven(v.parts[0]*m), math.RoundToEven(v.parts[1]*m)
		if math.Abs(u) == m { // each point of the seams has one form
			w = math.Abs(w)
		}
		if math.Abs(w) == m {
			u = math.Abs(u)
		}
		k[0], k[1] = int32(u), int32(w)
	case rotation:
		k[0] = int32(v.parts[0])
		for i := 1; i < 4; i++ { // towards zero, so that the largest stays so
			k[i] = int32(v.parts[i] / a.slots[i].Scale * (1 + 1e-12))
		}
	}
	return nil
}

// within is a number in a range.
func within(n, low, high int64, clamp bool) (int64, error) {
	to := min(max(n, low), high)
	if to != n && !clamp {
		return to, fmt.Errorf("%w, %d..%d", errBeyond, low, high)
	}
	return to, nil
}

// writeWhole puts a whole number, or one that is rounded to be one, into its slots.
func (a *atom) writeWhole(v value, k []int32, clamp bool) error {
	v, err := rounded(v)
	if err != nil {
		return err
	}
	s := &a.slots[0]
	if len(k) == 1 && !a.bitwise() {
		n, err := within(clampInt(v), int64(s.Min), int64(s.Max), clamp)
		k[0] = int32(n)
		return err
	}
	u := v.size
	most := uint64(math.MaxUint64)
	if len(k) == 1 {
		most = math.MaxUint32
	}
	switch {
	case a.unsigned() && (v.negative || u > most):
		if u = min(u, most); v.negative {
			u = 0
		}
		if !clamp {
			err = errBeyond
		}
	case !a.unsigned():
		n := clampInt(v)
		if !v.is(n) && !clamp {
			err = errBeyond
		}
		u = uint64(n)
	}
	if len(k) == 1 {
		k[0] = int32(uint32(u))
		return err
	}
	k[0], k[1] = int32(uint32(u>>32)), int32(uint32(u))
	if high := min(max(k[0], s.Min), s.Max); high != k[0] {
		if !clamp {
			return errBeyond
		}
		// the nearest with that upper half
		k[0], k[1] = high, 0
		if high == s.Max {
			k[1] = -1
		}
	}
	return err
}

// rounded is a number as a whole one.
func rounded(v value) (value, error) {
	if v.form == whole || v.form == length {
		return value{form: whole, negative: v.negative, size: v.size}, nil
	}
	x := math.RoundToEven(v.real)
	switch {
	case !(math.Abs(x) < 1<<63):
		return value{}, fmt.Errorf("%v is no whole number of 64 bits", v.real)
	case x < 0:
		return value{form: whole, negative: true, size: uint64(-x)}, nil
	}
	return value{form: whole, size: uint64(x)}, nil
}

// is says that a whole number is n.
func (v value) is(n int64) bool {
	w := signed(n)
	return w.size == v.size && w.negative == v.negative
}

// clampInt is a whole number as an int64, or the nearest.
func clampInt(v value) int64 {
	switch {
	case v.negative && v.size > 1<<63:
		return math.MinInt64
	case v.negative:
		return -int64(v.size)
	case v.size > math.MaxInt64:
		return math.MaxInt64
	}
	return int64(v.size)
}

func writeReal(s *bits.Slot, x float64, k []int32, clamp bool) error {
	switch s.Kind {
	case bits.KindFullFloat32:
		if math.Abs(x) > math.MaxFloat32 && !clamp {
			return errBeyond
		}
		x = min(max(x, -math.MaxFloat32), math.MaxFloat32)
		b := math.Float32bits(float32(x))
		k[0] = int32(b ^ uint32(int32(b)>>31)>>1)
		return nil
	case bits.KindFullFloat:
		b := math.Float64bits(x)
		b ^= uint64(int64(b)>>63) >> 1
		k[0], k[1] = int32(uint32(b>>32)), int32(uint32(b))
		return nil
	}
	n := math.RoundToEven(x / s.Scale)
	low, high := float64(s.Min), float64(s.Max)
	k[0] = int32(min(max(n, low), high))
	// An end of the range of before, rounded to the steps of now, is still that end.
	if !(n >= low-0.5 && n <= high+0.5) && !clamp {
		return fmt.Errorf("%w, %s..%s", errBeyond, decimal(low*s.Scale), decimal(high*s.Scale))
	}
	return nil
}

// writeServer puts a value where only whole worlds have it.
func (a *atom) writeServer(v value, to *world.SavedValue, clamp bool) error {
	switch a.form {
	case text:
		to.Text = string(v.text)
		return nil
	case real:
		x := v.number()
		if a.typ == "float32" && math.Abs(x) <= math.MaxFloat64 {
			if math.Abs(x) > math.MaxFloat32 && !clamp {
				return errBeyond
			}
			x = float64(float32(min(max(x, -math.MaxFloat32), math.MaxFloat32)))
		}
		to.Word = math.Float64bits(x)
		return nil
	}
	v, err := rounded(v)
	if err != nil {
		return err
	}
	size := bitsOf(a.typ)
	if a.typ == "bool" || a.unsigned() {
		most := uint64(math.MaxUint64) >> (64 - size)
		to.Word = min(v.size, most)
		if v.negative {
			to.Word = 0
		}
		if to.Word != v.size && !clamp {
			return errBeyond
		}
		return nil
	}
	n, err := within(clampInt(v), math.MinInt64>>(64-size), math.MaxInt64>>(64-size), clamp)
	if err == nil && !clamp && !v.is(n) {
		err = errBeyond
	}
	to.Word = uint64(n)
	return err
}

// bitsOf is the size of a type.
func bitsOf(typ string) uint {
	switch typ {
	case "bool":
		return 1
	case "int8", "uint8":
		return 8
	case "int16", "uint16":
		return 16
	case "int32", "uint32":
		return 32
	}
	return 64
}
