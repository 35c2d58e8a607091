package predict

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/coeval-dev/coeval/bits"
)

// fields is what predict knows about the images of a class: which numbers move, and which say where
// it is.
type fields struct {
	slots []bits.Slot
	moves []move  // how each number goes from one value to another
	place []int   // the slots of its place, up to three
	turn  int     // the slot of its heading, or -1
	scale float64 // what a step of the place is worth
}

// A move says how a number goes from one value to another.
type move uint8

const (
	steps     move = iota // it changes at once
	slides                // it takes every value between
	wraps                 // so it does, by the short way around
	turns                 // it is the first of a quaternion's four
	component             // it is one of the other three
)

// fieldsOf finds out how the numbers of a class move. Place and heading are given by name; the
// first vector called Pos, if there is one, is the place when none is.
func fieldsOf(s *bits.Schema, place, heading string) (fields, error) {
	f := fields{slots: s.Slots, moves: make([]move, len(s.Slots)), turn: -1}
	named := cmp.Or(place, "Pos")
	for i, sl := range s.Slots {
		switch sl.Kind {
		case bits.KindFloat, bits.KindVec2, bits.KindVec3:
			f.moves[i] = slides
		case bits.KindAngle:
			f.moves[i] = wraps
		case bits.KindQuat:
			f.moves[i] = component
			if sl.Part == 0 {
				f.moves[i] = turns
			}
		}
		if sl.Optional {
			f.moves[i] = steps // it may stand for another field, or for none
			continue
		}
		if (sl.Name == named || strings.HasPrefix(sl.Name, named+".")) && f.moves[i] == slides &&
			len(f.place) < 3 {
			f.place = append(f.place, i)
			f.scale = sl.Scale
		}
		if heading != "" && sl.Name == heading {
			f.turn = i
		}
	}
	if place != "" && len(f.place) == 0 {
		return f, fmt.Errorf(
			"predict: class %s has no number or vector %q that is always there; name one that "+
				"its Sync method quantises in steps", s.Name, place)
	}
	if heading != "" && (f.turn < 0 || f.moves[f.turn] != wraps) {
		return f, fmt.Errorf("predict: class %s has no angle %q that is always there", s.Name,
			heading)
	}
	return f, nil
}

// between sets dst to the image that lies a share of the way from a to b. What cannot lie between
// stays as in a.
func (f *fields) between(dst, a, b []int32, share float64) {
	copy(dst, a)
	for i, m := range f.moves {
		if a[i] == b[i] {
			continue
		}
		switch m {
		case slides:
			dst[i] = a[i] + round(share*float64(int64(b[i])-int64(a[i])))
		case wraps:
			dst[i] = f.around(i,
				int64(a[i])+int64(round(share*float64(f.short(i, int64(b[i])-int64(a[i]))))))
		}
	}
	for i, m := range f.moves {
		// with another component largest, the nearer of the two must do
		if m == turns && a[i] == b[i] {
			for j := i + 1; j < min(i+4, len(dst)); j++ {
				dst[j] = a[j] + round(share*float64(int64(b[j])-int64(a[j])))
			}
		} else if m == turns && share >= 0.5 {
			copy(dst[i:min(i+4, len(dst))], b[i:])
		}
	}
}

// beyond sets dst to the image that b leads to from a, where the time from a to b goes on by a
// share of it. Numbers stay in their ranges.
func (f *fields) beyond(dst, a, b []int32, share float64) {
	copy(dst, b)
	for i, m := range f.moves {
		if a[i] == b[i] {
			continue
		}
		sl := &f.slots[i]
		switch m {
		case slides:
			x := int64(b[i]) + int64(round(share*float64(int64(b[i])-int64(a[i]))))
			dst[i] = int32(min(max(x, int64(sl.Min)), int64(sl.Max)))
		case wraps:
			dst[i] = f.around(i,
				int64(b[i])+int64(round(share*float64(f.short(i, int64(b[i])-int64(a[i]))))))
		}
	}
}

// short is a difference by the short way around.
func (f *fields) short(i int, d int64) int64 {
	span := int64(f.slots[i].Max) - int64(f.slots[i].Min) + 1
	d %= span
	if d < -span/2 {
		d += span
	} else if d >= span-span/2 {
		d -= span
	}
	return d
}

// around brings a number that wraps into its range.
func (f *fields) around(i int, x int64) int32 {
	lo := int64(f.slots[i].Min)
	span := int64(f.slots[i].Max) - lo + 1
	x = (x - lo) % span
	if x < 0 {
		x += span
	}
	return int32(x + lo)
}

func round(x float64) int32 {
	if x < 0 {
		return -int32(0.5 - x)
	}
	return int32(x + 0.5)
}
