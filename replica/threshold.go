package replica

import (
	"fmt"
	"strings"

	"github.com/coeval-dev/coeval/bits"
)

// A Threshold says by how much a field may differ from what a client was told of it before that
// alone is a reason to tell it again.
type Threshold struct {
	// Field is the field's name in the class's schema. The name of a vector, or of a struct, stands
	// for all the numbers in it: "Pos" for Pos.X and Pos.Y. These must be integers of at most 32
	// bits, numbers of a fixed resolution, angles or vectors: what is written otherwise has no
	// distance.
	Field string
	// By is the largest distance that is not told, in the field's own units: 0 or more. Numbers of
	// one threshold are a point in space, and the distance is the straight line; angles go the
	// short way round, in radians.
	By float64
}

// thresholds compares images of a class that has some. Every number of an image is either in a
// stretch of exact or in one of fields.
type thresholds struct {
	exact  []stretch
	fields []nearField
}

// stretch is the numbers of an image from one to before another.
type stretch struct{ from, to int }

// nearField is the numbers that one threshold is about.
type nearField struct {
	numbers []nearNumber
	most    float64 // the square of the largest distance that is not told
}

type nearNumber struct {
	at    int
	scale float64 // what one step is worth
	round int64   // how many steps lead back to the same value; 0 if none do
}

// newThresholds looks up the fields of a policy, and says what is wrong with them. It gives nil if
// the policy has none.
func newThresholds(list []Threshold, s *bits.Schema) (t *thresholds, wrong []error) {
	if len(list) == 0 {
		return nil, nil
	}
	t = &thresholds{}
	taken := make([]string, len(s.Slots)) // by number: the threshold that it has
	for _, b := range list {
		f := nearField{most: b.By * b.By}
		err := f.find(b, s, taken)
		if err == nil && !(b.By >= 0) {
			err = fmt.Errorf("the threshold of %s is %v; give a distance of 0 or more", b.Field,
				b.By)
		}
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		t.fields = append(t.fields, f)
	}
	for i := range taken {
		switch n := len(t.exact); {
		case taken[i] != "":
		case n > 0 && t.exact[n-1].to == i:
			t.exact[n-1].to++
		default:
			t.exact = append(t.exact, stretch{i, i + 1})
		}
	}
	return t, wrong
}

// find lists the numbers of a threshold's field.
func (f *nearField) find(b Threshold, s *bits.Schema, taken []string) error {
	for i := range s.Slots {
		slot := &s.Slots[i]
		if slot.Name != b.Field && !strings.HasPrefix(slot.Name, b.Field+".") {
			continue
		}
		if taken[i] != "" {
			return fmt.Errorf("%s has a threshold twice, as %s and as %s; leave one out",
				slot.Name, taken[i], b.Field)
		}
		if !measured(slot) {
			return fmt.Errorf(
				"%s is of kind %v, which has no distance in units; leave its threshold "+
					"out, or give thresholds to the fields beside it one by one", slot.Name,
				slot.Kind)
		}
		n := nearNumber{at: i, scale: 1}
		if slot.Scale != 0 {
			n.scale = slot.Scale
		}
		if slot.Wraps {
			n.round = int64(slot.Max) - int64(slot.Min) + 1
		}
		f.numbers = append(f.numbers, n)
	}
	if len(f.numbers) == 0 {
		return fmt.Errorf("there is no field %q to have a threshold; there are %s", b.Field,
			names(s))
	}
	for _, n := range f.numbers { // only now, as a threshold that is refused has none
		taken[n.at] = b.Field
	}
	return nil
}

// measured says whether differences of a number are distances in the field's units.
func measured(s *bits.Slot) bool {
	switch s.Kind {
	case bits.KindInt:
		return s.Parts == 1
	case bits.KindFloat, bits.KindAngle, bits.KindVec2, bits.KindVec3:
		return true
	}
	return false
}

// within says whether one image differs from another by nothing that is worth telling.
func (t *thresholds) within(now, told []int32) bool {
	for _, s := range t.exact {
		for i := s.from; i < s.to; i++ {
			if now[i] != told[i] {
				return false
			}
		}
	}
	for i := range t.fields {
		if f := &t.fields[i]; f.distance(now, told) > f.most {
			return false
		}
	}
	return true
}

// distance is the square of how far a field of two images is apart.
func (f *nearField) distance(a, b []int32) (sum float64) {
	for i := range f.numbers {
		n := &f.numbers[i]
		d := int64(a[n.at]) - int64(b[n.at])
		if n.round != 0 {
			d = (d%n.round + n.round) % n.round
			d = min(d, n.round-d)
		}
		x := float64(float64(d) * n.scale)
		sum += float64(x * x)
	}
	return sum
}
