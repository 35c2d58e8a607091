package seamless

import (
	"fmt"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// places say where the entities of each class are, by the field that its hints name. What has no
// place is at home, where every zone sees it.
type places []placeOf

// placeOf is how the place of a class is found in its images. Without slots it has none.
type placeOf struct {
	state bool
	slots []int
	scale []float64
}

// placesOf finds out where a title's entities are.
func placesOf(t *game.Title) (places, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	list := make(places, len(t.Game.Classes()))
	some := false
	for i, c := range t.Game.Classes() {
		p := &list[i]
		p.state = c.State()
		field, ok := t.Place(i)
		if p.state || !ok {
			continue
		}
		some = true
		for _, s := range field.Slots[:min(len(field.Slots), 3)] {
			p.slots = append(p.slots, s)
			p.scale = append(p.scale, c.Schema().Slots[s].Scale)
		}
	}
	if !some {
		return nil, fmt.Errorf("seamless: title %q cannot be divided, as none of its classes has "+
			"a place: give those that are somewhere a field Pos, or call h.Place in their Hints",
			t.Name())
	}
	return list, nil
}

// of says whether the entities of a class have a place.
func (l places) of(class int) bool { return len(l[class].slots) > 0 }

// at is where an entity's image says that it is.
func (p *placeOf) at(image []int32) (at point) {
	for i, s := range p.slots {
		at[i] = float64(image[s]) * p.scale[i]
	}
	return at
}

// extent is the least box in which all is that has a place. It is not ok if that is no more than a
// point.
func (l places) extent(w *world.World) (b Box, ok bool) {
	var lo, hi point
	some := false
	for id := range w.Entities() {
		if !l.of(id.Class()) {
			continue
		}
		at := l[id.Class()].at(w.Host().Image(id))
		for i, x := range at {
			if !some {
				lo[i], hi[i] = x, x
			}
			lo[i], hi[i] = min(lo[i], x), max(hi[i], x)
		}
		some = true
	}
	return Box{det.Vec3{X: lo[0], Y: lo[1], Z: lo[2]}, det.Vec3{X: hi[0], Y: hi[1], Z: hi[2]}},
		some && lo != hi
}

// full is the box of all places that the fields of a title's classes can hold.
func (l places) full(t *game.Title) (b Box) {
	var lo, hi point
	for i, c := range t.Game.Classes() {
		p := &l[i]
		for k, s := range p.slots {
			slot := &c.Schema().Slots[s]
			lo[k] = min(lo[k], float64(slot.Min)*p.scale[k])
			hi[k] = max(hi[k], float64(slot.Max)*p.scale[k])
		}
	}
	return Box{det.Vec3{X: lo[0], Y: lo[1], Z: lo[2]}, det.Vec3{X: hi[0], Y: hi[1], Z: hi[2]}}
}

// about lists the zones in which something at a place may be in a moment.
func (p *Plan) about(at *point, list []zone.ID) []zone.ID {
	far := max(2*p.Margin, p.Reach/8)
	for i := range p.areas {
		if p.areas[i].beyond(at) <= far {
			list = append(list, p.areas[i].zone)
		}
	}
	return list
}
