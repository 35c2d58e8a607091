package feellab

import (
	"fmt"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/world"
)

// This file judges the same shots otherwise: the tick of a shot is computed again, in copies of the
// world before it, with other limits. So one run gives a whole curve, of the same shots.

// A Judged is what would have become of the hits that were seen, and of those who would have died,
// by one way to judge.
type Judged struct {
	// What is varied: the time behind cover that is still hit, the limit of rewinding, or the
	// margin; in ms or, the last, in units.
	Vary  string  `json:"vary" head:"judged by"`
	Value float64 `json:"value" head:"up to" as:"%.4g"`
	// Denied are hits that were seen by the living, of the living.
	Denied Share `json:"denied" head:"seen, and denied"`
	// Late are deaths by direct hit after more than 100 ms behind cover.
	Late Share `json:"late" head:"deaths more than 100 ms behind cover"`
}

// others are copies of the world that judge otherwise.
type others struct {
	run  *run
	ways []way
	w    *world.World
	any  bool // they were judged at this tick
}

// A way is one way to judge.
type way struct {
	Judged
	world.Judging
	hits []game.Hit // of the tick that was judged last
}

const (
	varyCover  = "time behind cover"
	varyLimit  = "limit of rewinding"
	varyMargin = "margin beside the way"
	forever    = world.Tick(1000)
)

// newOthers makes the ways that a title can be tried in, or none if it cannot be.
func newOthers(r *run, w *world.World) *others {
	o := &others{run: r}
	g := r.Title.Game
	most := g.Rewinds()
	if most == 0 || r.Title.Shots.Hits == nil {
		return o
	}
	o.w = w.Host().Clone()
	add := func(vary string, value float64, j world.Judging) {
		o.ways = append(o.ways, way{Judged: Judged{Vary: vary, Value: value}, Judging: j})
	}
	for _, c := range []world.Tick{0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30} {
		add(varyCover, r.millis(int(c)), world.Judging{Limit: most, Cover: c, Margin: -1})
	}
	o.ways[len(o.ways)-1].Cover = forever
	for i := range world.Tick(7) {
		l := most * i / 6
		add(varyLimit, r.millis(int(l)), world.Judging{Limit: l, Cover: forever, Margin: -1})
	}
	for _, m := range []float64{0, 0.25, 0.5, 1, 2, 4, 1e6} {
		add(varyMargin, m, world.Judging{Limit: most, Cover: forever, Margin: m})
	}
	return o
}

// judge computes a tick again in all ways, if anything is to be seen in it.
func (o *others) judge(in *world.Inputs, w *world.World) {
	r := o.run
	o.any = false
	if len(o.ways) == 0 {
		return
	}
	for i := range r.sightings {
		o.any = o.any || r.sightings[i].tick == w.Tick()
	}
	for _, h := range r.hits {
		o.any = o.any || h.Direct
	}
	if !o.any {
		return
	}
	for i := range o.ways {
		x := &o.ways[i]
		if err := o.w.Host().CopyFrom(r.before); err != nil {
			r.Fail(err)
			return
		}
		o.w.Host().SetJudging(&x.Judging)
		_ = o.w.Host().Step(in) // the server's world reports the same errors
		x.hits = x.hits[:0]
		r.Title.Hits(o.w, func(h game.Hit) bool {
			if h.Direct && h.By != h.Victim {
				x.hits = append(x.hits, h)
			}
			return true
		})
		if r.On {
			o.count(x, w)
		}
	}
}

// count books what came of a tick in one way.
func (o *others) count(x *way, w *world.World) {
	r := o.run
	for i := range r.sightings {
		s := &r.sightings[i]
		if s.tick != w.Tick() || s.why == victimDead || s.why == shooterDead || s.found {
			continue
		}
		if _, alive := r.bodyOf(r.before, s.victim); !alive {
			continue
		}
		if _, alive := r.bodyOf(r.before, s.by.Me); !alive {
			continue
		}
		x.Denied.Of++
		if !x.has(s) {
			x.Denied.N++
		}
	}
	for _, h := range x.hits {
		if !h.Kill {
			continue
		}
		x.Late.Of++
		if r.millis(r.behindCover(w, h)) > late {
			x.Late.N++
		}
	}
}

func (x *way) has(s *sighting) bool {
	for _, h := range x.hits {
		if h.By == s.by.Me && h.Victim == s.victim && h.Weapon == s.weapon {
			return true
		}
	}
	return false
}

// find is whether a hit that was seen would have been one, in the last of the ways that vary
// something.
func (o *others) find(vary string, s *sighting) bool {
	for i := len(o.ways) - 1; i >= 0 && o.any; i-- {
		if o.ways[i].Vary == vary {
			return o.ways[i].has(s)
		}
	}
	return false
}

// uncovered says whether it would have been one if nothing were cover, and anywhere if the client
// were believed whatever it says, too.
func (o *others) uncovered(s *sighting) bool { return o.find(varyCover, s) }

func (o *others) anywhere(s *sighting) bool { return o.find(varyMargin, s) }

// curve is what came of it.
func (r *run) curve() (list []Judged) {
	for i := range r.other.ways {
		j := r.other.ways[i].Judged
		j.Denied, j.Late = share(j.Denied.N, j.Denied.Of), share(j.Late.N, j.Late.Of)
		list = append(list, j)
	}
	return list
}

// knee is the time behind cover at which the curve bends most: what lies furthest from the line
// between its ends. It is 0 where there is no curve.
func knee(curve []Judged) (at float64) {
	share := func(s Share) float64 { return lab.Ratio(float64(s.N), float64(s.Of)) }
	var list []Judged
	for _, j := range curve {
		if j.Vary == varyCover {
			list = append(list, j)
		}
	}
	if len(list) == 0 {
		return 0
	}
	a, b := list[0], list[len(list)-1]
	gain, cost := share(a.Denied)-share(b.Denied), share(b.Late)-share(a.Late)
	most := 0.0
	for _, j := range list {
		d := lab.Ratio(share(a.Denied)-share(j.Denied), gain) -
			lab.Ratio(share(j.Late)-share(a.Late), cost)
		if d > most {
			at, most = j.Value, d
		}
	}
	return at
}

// Plot draws the curves: hits that were denied against deaths behind cover.
func (r Results) Plot() *lab.Plot {
	p := &lab.Plot{Across: 1, Wide: 860, High: 300}
	for _, x := range r {
		panel := lab.Panel{
			Title: fmt.Sprintf("%s, %s, %d hits seen", x.Style, x.Network, x.Seen),
			X:     "time behind cover that is still hit, ms", Y: "%"}
		denied := lab.Series{Name: "seen, and denied", Colour: 0}
		dead := lab.Series{Name: "deaths more than 100 ms behind cover", Colour: 1}
		for _, j := range x.Curve {
			if j.Vary != varyCover {
				continue
			}
			denied.Points = append(denied.Points, point(j.Value, j.Denied))
			dead.Points = append(dead.Points, point(j.Value, j.Late))
		}
		panel.Series = []lab.Series{denied, dead}
		p.Panels = append(p.Panels, panel)
	}
	return p
}

func point(x float64, s Share) lab.Point {
	return lab.Point{X: x, Y: 100 * lab.Ratio(float64(s.N), float64(s.Of)), Low: 100 * s.Low,
		High: 100 * s.High}
}
