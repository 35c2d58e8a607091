package predict

import (
	"math"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/reckon"
	"github.com/coeval-dev/coeval/world"
)

// blends hold what is left of the errors that are being hidden: few, as most things are where they
// were predicted to be.
type blends struct{ pool[blend] }

type blend struct {
	class       *class
	place, turn reckon.Blend
}

// correct takes up the error of an entity that was predicted to have one image and is now predicted
// to have another, both for the same tick. It gives the distance between the two places, in the
// world's units, and whether the entity jumps.
func (b *blends) correct(c *class, id world.ID, was, is []int32) (distance float64, snapped bool) {
	from, to := c.fields.state(was), c.fields.state(is)
	distance = c.fields.distance(was, is)
	x := b.of[id]
	if distance == 0 && x == nil && (c.fields.turn < 0 || was[c.fields.turn] == is[c.fields.turn]) {
		return 0, false
	}
	if x == nil {
		x = b.add(id)
		*x = blend{class: c}
	}
	snapped = !x.place.Correct(&c.place, from, to)
	if c.fields.turn >= 0 {
		t := c.fields.turn
		if snapped {
			x.turn = reckon.Blend{}
		} else {
			x.turn.Correct(&c.turn, reckon.State{Pos: reckon.VecInt(was[t], 0, 0)},
				reckon.State{Pos: reckon.VecInt(is[t], 0, 0)})
		}
	}
	return distance, snapped
}

// rename lets the error of a predicted spawn go on under the identifier of the real one.
func (b *blends) rename(from, to world.ID) {
	if x := b.of[from]; x != nil {
		delete(b.of, from)
		b.of[to] = x
	}
}

// tick lets a tick pass, and forgets what is where it should be, or is no more.
func (b *blends) tick(w *world.World) {
	for id, x := range b.of {
		x.place.Tick(&x.class.place)
		x.turn.Tick(&x.class.turn)
		if x.place.Gone() && x.turn.Gone() || !w.Has(id) {
			b.remove(id)
		}
	}
}

// show adds what is left of the error to an image.
func (x *blend) show(image []int32) {
	f := &x.class.fields
	v := x.place.Offset(&x.class.place)
	for i, slot := range f.place {
		sl := &f.slots[slot]
		n := int64(image[slot]) + int64(round(v[i].Float()))
		image[slot] = int32(min(max(n, int64(sl.Min)), int64(sl.Max)))
	}
	if f.turn >= 0 {
		image[f.turn] = f.around(f.turn,
			int64(image[f.turn])+int64(round(x.turn.Offset(&x.class.turn)[0].Float())))
	}
}

// state is where an image says that something is, in its own steps.
func (f *fields) state(image []int32) (s reckon.State) {
	for i, slot := range f.place {
		s.Pos[i] = det.FixedInt(image[slot])
	}
	return s
}

// distance is how far two images are apart, in the world's units.
func (f *fields) distance(a, b []int32) float64 {
	sum := 0.0
	for _, slot := range f.place {
		d := float64(int64(a[slot]) - int64(b[slot]))
		sum += d * d
	}
	return math.Sqrt(sum) * f.scale
}
