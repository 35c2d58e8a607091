package seamless

import (
	"slices"

	"github.com/coeval-dev/coeval/zone"
)

// ZoneLoad is what a zone has to do, as its server writes it into the map, for whoever decides
// where borders are to be.
type ZoneLoad struct {
	Zone     zone.ID
	Entities int
	Ghosts   int `json:",omitempty"`
	Players  int `json:",omitempty"`
	// Busy is which part of a tick's time a tick takes to compute, on average.
	Busy float64 `json:",omitempty"`
	// Axis and Cut are where a border would divide what is there into halves, and Both is which
	// part of it would be near to that border, and so be seen on both sides. It is 1 where nothing
	// can be divided.
	Axis int     `json:",omitempty"`
	Cut  float64 `json:",omitempty"`
	Both float64 `json:",omitempty"`
	// Thin is by how much the zone has lowered the rates of what is far; see Numbers.
	Thin int `json:",omitempty"`
}

// sampled is of how many entities at most the places are looked at.
const sampled = 1024

// load says what a zone has to do.
func (b *body) load() ZoneLoad {
	l := ZoneLoad{Zone: b.self, Entities: b.census.entities, Ghosts: b.census.ghosts,
		Players: b.census.players, Busy: b.pace.busy, Both: 1, Thin: b.pace.thin}
	var at [3][]float64
	stride := 1 + b.census.entities/sampled
	h, n := b.w.Host(), 0
	for class := range b.where {
		p := &b.where[class]
		if len(p.slots) == 0 {
			continue
		}
		for id := range h.Of(class) {
			if b.w.Ghost(id) {
				continue
			}
			if n++; n%stride != 0 {
				continue
			}
			x := p.at(h.Image(id))
			for i := range at {
				at[i] = append(at[i], x[i])
			}
		}
	}
	for axis := range at {
		if cut, both := b.halve(axis, at[axis]); both < l.Both {
			l.Axis, l.Cut, l.Both = axis, cut, both
		}
	}
	return l
}

// halve finds where half of the places are before a cut, and which part of them is near to it.
func (b *body) halve(axis int, at []float64) (cut, both float64) {
	if len(at) < 4 {
		return 0, 1
	}
	slices.Sort(at)
	cut = at[len(at)/2]
	own := b.area()
	if !(own.lo[axis] < cut && cut < own.hi[axis]) || at[0] == cut {
		return 0, 1
	}
	from, _ := slices.BinarySearch(at, cut-b.plan.Reach)
	to, _ := slices.BinarySearch(at, cut+b.plan.Reach)
	return cut, float64(to-from) / float64(len(at))
}
