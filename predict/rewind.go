package predict

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// A Rewind remembers where things were, so that a server can judge a shot by what the shooter saw:
// the lag compensation of Half-Life. It is for players who are shown others in the past (see Quake3
// and HalfLife); those who predict everything aim at the present and need none.
//
// It favours the shooter at the cost of whoever is shot, who may have found cover since. Two things
// keep that within bounds: nothing is rewound further than a limit, and what has cover in the
// present is not rewound at all. The DOOM III paper tells why the second is needed: two players who
// circle a tree, of whom one could shoot the other through it.
type Rewind struct {
	o       RewindOptions
	classes []*fields // by number, nil for those that are not kept
	past    []moment  // a ring by tick
	newest  world.Tick
	any     bool
}

// RewindOptions say what a Rewind remembers.
type RewindOptions struct {
	// Classes names the classes to remember, each with the field that is its place; an empty name
	// means Pos.
	Classes map[string]string
	// Limit is how many ticks back a shooter's view is honoured: the client's lead, and by how much
	// it shows others later than the newest snapshot. A longer delay is that player's own burden.
	// Default: half a second.
	Limit world.Tick
	// Through leaves out the look at the present, so that players can be hit behind cover that they
	// have reached. It is there for comparison.
	Through bool
}

// A moment is where things were at one tick, in order of identifier.
type moment struct {
	tick  world.Tick
	ids   []world.ID
	place []det.Vec3
}

// NewRewind makes a Rewind for the worlds of a game. Record what happens with it.
func NewRewind(g *world.Game, o RewindOptions) (*Rewind, error) {
	if err := g.Err(); err != nil {
		return nil, err
	}
	o.Limit = cmp.Or(o.Limit, world.Tick(max(1, g.Rate()/2)))
	if o.Limit > 1000 {
		return nil, fmt.Errorf("predict: a rewind of %d ticks; choose at most 1000", o.Limit)
	}
	r := &Rewind{o: o, classes: make([]*fields, len(g.Classes())), past: make([]moment, o.Limit+2)}
	for name, field := range o.Classes {
		i := slices.IndexFunc(g.Classes(),
			func(c *world.ClassInfo) bool { return c.Name() == name })
		if i < 0 {
			return nil, fmt.Errorf("predict: game %q has no class %q to rewind", g.Name(), name)
		}
		f, err := fieldsOf(g.Classes()[i].Schema(), cmp.Or(field, "Pos"), "")
		if err != nil {
			return nil, err
		}
		r.classes[i] = &f
	}
	return r, nil
}

// Remember remembers the world as it is. Call it after each tick.
func (r *Rewind) Remember(w *world.World) {
	m := &r.past[w.Tick()%world.Tick(len(r.past))]
	m.tick, m.ids, m.place = w.Tick(), m.ids[:0], m.place[:0]
	for i, c := range r.classes {
		if c == nil {
			continue
		}
		for id := range w.Host().Of(i) {
			m.ids = append(m.ids, id)
			m.place = append(m.place, c.point(w.Host().Image(id)))
		}
	}
	r.newest, r.any = w.Tick(), true
}

// At is where something was at a moment, given in ticks and parts of them, or as near to it as the
// limit allows. It is not ok when it was not there then.
func (r *Rewind) At(id world.ID, moment float64) (det.Vec3, bool) {
	if !r.any {
		return det.Vec3{}, false
	}
	moment = min(max(moment, float64(r.newest)-float64(r.o.Limit)), float64(r.newest))
	t := world.Tick(max(0, moment))
	a, ok := r.exactly(id, t)
	if !ok {
		return det.Vec3{}, false
	}
	rest := moment - float64(t)
	if rest <= 0 {
		return a, true
	}
	b, ok := r.exactly(id, t+1)
	if !ok {
		return a, true
	}
	return a.Add(b.Sub(a).Mul(rest)), true
}

func (r *Rewind) exactly(id world.ID, t world.Tick) (det.Vec3, bool) {
	m := &r.past[t%world.Tick(len(r.past))]
	if m.tick != t {
		return det.Vec3{}, false
	}
	i, ok := slices.BinarySearch(m.ids, id)
	if !ok {
		return det.Vec3{}, false
	}
	return m.place[i], true
}

// Where says where to look for a target when a shot is judged: where the shooter saw it, at the
// moment given. It is not ok, and the target is to be looked for where it is now, if it was not
// there then or has cover now. Clear says whether the line of fire to a place is free at present;
// it is asked about where the target is now.
func (r *Rewind) Where(target world.ID, seen float64, clear func(present det.Vec3) bool) (det.Vec3,
	bool) {
	was, ok := r.At(target, seen)
	if !ok {
		return was, false
	}
	if !r.o.Through && clear != nil {
		is, there := r.exactly(target, r.newest)
		if !there || !clear(is) {
			return was, false
		}
	}
	return was, true
}

// point is the place that an image tells of, in the world's units.
func (f *fields) point(image []int32) det.Vec3 {
	var v [3]float64
	for i, slot := range f.place {
		v[i] = float64(image[slot]) * f.scale
	}
	return det.Vec3{X: v[0], Y: v[1], Z: v[2]}
}
