package interest

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
	"pgregory.net/rapid"
)

// The oracle computes views by looking at every entity for every client, by the definitions of the
// sources and nothing else: no grid, no lists, no stamps, no memory but what the last view was.
type oracle struct {
	entities map[world.ID]Traits
	horizon  time.Duration
}

// A shown is what the oracle knows of an entity in a view.
type shown struct {
	priority float32
	by       uint32
}

// An asking is one evaluation of a client's rules.
type asking struct {
	*oracle
	o       Observer
	lag     float64
	weights []float32
	before  map[world.ID]shown
	next    int
}

func (or *oracle) view(r *Rules, o Observer, before map[world.ID]shown) map[world.ID]shown {
	steps := (o.RoundTrip + lagStep - 1) / lagStep
	a := &asking{or, o, min(steps*lagStep, or.horizon).Seconds(), r.Weights, before, 0}
	return a.union(r.Sources)
}

func (a *asking) union(sources []Source) map[world.ID]shown {
	all := map[world.ID]shown{}
	for _, s := range sources {
		for id, f := range a.eval(s) {
			all[id] = shown{max(all[id].priority, f.priority), all[id].by | f.by}
		}
	}
	return all
}

func (a *asking) eval(s Source) map[world.ID]shown {
	bit := uint32(1) << min(a.next, 31)
	a.next++
	held := func(id world.ID) bool { return a.before[id].by&bit != 0 }
	found := map[world.ID]shown{}
	each := func(relevance func(id world.ID, t Traits) float64) {
		for id, t := range a.entities {
			if t.Never || t.Only != 0 && t.Only&a.o.Channels == 0 {
				continue
			}
			p := float32(relevance(id, t))
			if t.Importance != 0 {
				p *= max(0, t.Importance)
			}
			if c := id.Class(); c < len(a.weights) && a.weights[c] != 0 {
				p *= max(0, a.weights[c])
			}
			if p > 0 {
				found[id] = shown{p, bit}
			}
		}
	}
	constant := func(weight float64, yes func(t Traits) bool) {
		each(func(_ world.ID, t Traits) float64 {
			if !yes(t) {
				return 0
			}
			return or(weight, 1)
		})
	}
	fall := func(d2, out, least, weight float64) float64 {
		part := 0.0
		if out > 0 {
			part = min(1, math.Sqrt(d2)/out)
		}
		return or(weight, 1) * (1 - float64((1-or(least, 0.1))*part))
	}
	switch s := s.(type) {
	case *Radius:
		each(func(id world.ID, t Traits) float64 {
			d2, ok := a.distanceSq(t)
			leave := or(s.Leave, s.Enter*1.1)
			more := t.Nimbus + float64(t.Speed*a.lag)
			in, out := s.Enter+float64(a.o.Speed*a.lag)+more, max(leave, s.Enter)+
				float64(a.o.Speed*a.lag)+more
			if !ok || !s.Classes.Has(id.Class()) || d2 > out*out || d2 > in*in && !held(id) {
				return 0
			}
			return fall(d2, out, s.Far, s.Weight)
		})
	case *Sound:
		each(func(id world.ID, t Traits) float64 {
			d2, ok := a.distanceSq(t)
			more := float64(a.o.Speed*a.lag) + float64(t.Speed*a.lag)
			reach := t.Sound * or(s.Hearing, 1)
			in, out := reach+more, float64(reach*or(s.Hold, 1.1))+more
			if !ok || t.Sound == 0 || !s.Classes.Has(id.Class()) || d2 > out*out || d2 > in*in &&
				!held(id) {
				return 0
			}
			return fall(d2, out, s.Far, s.Weight)
		})
	case *Always:
		constant(s.Weight, func(t Traits) bool { return t.Always })
	case *Owned:
		constant(s.Weight,
			func(t Traits) bool { return t.Owner != world.Nobody && t.Owner == a.o.Player })
	case *Channel:
		of := s.Of
		if of == 0 {
			of = math.MaxUint64
		}
		constant(s.Weight, func(t Traits) bool { return t.Channels&a.o.Channels&of != 0 })
	case *Everything:
		constant(s.Weight, func(Traits) bool { return true })
	case Any:
		found = a.union(s)
	case *Where:
		of, in := a.eval(s.Of), a.eval(s.In)
		for id, f := range of {
			if g, ok := in[id]; ok {
				found[id] = shown{f.priority, f.by | g.by}
			}
		}
	case *Except:
		of, not := a.eval(s.Of), a.eval(s.Not)
		for id, f := range of {
			if _, ok := not[id]; !ok {
				found[id] = f
			}
		}
	case *Relevance:
		for id, f := range a.eval(s.Of) {
			t := a.entities[id]
			if p := float32(s.Judge(&a.o, id, &t)) * f.priority; p > 0 {
				found[id] = shown{p, f.by}
			}
		}
	case *Limit:
		of := a.eval(s.Of)
		rank := func(id world.ID) float32 {
			if held(id) {
				return of[id].priority * float32(1+max(0, or(s.Keep, 0.2)))
			}
			return of[id].priority
		}
		ids := keys(of)
		slices.SortFunc(ids,
			func(x, y world.ID) int {
				return cmp.Or(cmp.Compare(rank(y), rank(x)), cmp.Compare(x, y))
			})
		// A Limit that has room for all shows all, so order matters only beyond it.
		for _, id := range ids[:min(len(ids), s.Max)] {
			found[id] = of[id]
		}
	default:
		panic("the oracle does not know this source")
	}
	for id, f := range found {
		found[id] = shown{f.priority, f.by | bit}
	}
	return found
}

func (a *asking) distanceSq(t Traits) (float64, bool) {
	x, y, z := t.Pos.X-a.o.Pos.X, t.Pos.Y-a.o.Pos.Y, t.Pos.Z-a.o.Pos.Z
	return float64(x*x) + float64(y*y) + float64(z*z), !t.Nowhere
}

func or(x, otherwise float64) float64 {
	if x == 0 {
		return otherwise
	}
	return x
}

func keys(m map[world.ID]shown) []world.ID {
	ids := make([]world.ID, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// A watcher is one client of the test, with what the oracle says of it.
type watcher struct {
	view View
	o    Observer
	r    *Rules
	want map[world.ID]shown
}

// Whatever moves, comes, goes and changes its traits, whichever rules clients have, every view is
// what the oracle says, after many ticks as after one.
func TestOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		options := Options{
			Cell:  rapid.SampledFrom([]float64{0, 3, 10, 1000}).Draw(t, "cell"),
			Cubes: rapid.Bool().Draw(t, "cubes"),
			Horizon: rapid.SampledFrom([]time.Duration{0, 110 * time.Millisecond}).Draw(t,
				"horizon"),
		}
		ix := NewIndex(options)
		or := &oracle{map[world.ID]Traits{}, cmp.Or(options.Horizon, 250*time.Millisecond)}
		finder := NewFinder()
		rules := []*Rules{drawRules(t), drawRules(t)}
		clients := make([]*watcher, rapid.IntRange(1, 4).Draw(t, "clients"))
		for i := range clients {
			clients[i] = &watcher{o: drawObserver(t), r: rules[i%2]}
		}
		id := rapid.Custom(func(t *rapid.T) world.ID {
			return world.MakeID(rapid.IntRange(0, 2).Draw(t, "class"), 0,
				rapid.IntRange(0, 9).Draw(t, "index"), rapid.IntRange(1, 2).Draw(t, "generation"))
		})
		for range rapid.IntRange(1, 12).Draw(t, "ticks") {
			for range rapid.SampledFrom([]int{0, 0, 1, 3, 20}).Draw(t, "changes") {
				id := id.Draw(t, "id")
				switch v, there := or.entities[id]; {
				case there && rapid.IntRange(0, 4).Draw(t, "remove") == 0:
					ix.Remove(id)
					delete(or.entities, id)
				case there && rapid.Bool().Draw(t, "step"):
					v.Pos.X += float64(rapid.IntRange(-3, 3).Draw(t, "dx"))
					v.Pos.Y += float64(rapid.IntRange(-3, 3).Draw(t, "dy"))
					ix.Set(id, v)
					or.entities[id] = v
				default:
					v = drawTraits(t)
					ix.Set(id, v)
					if math.IsNaN(v.Pos.X) || math.IsInf(v.Pos.X, 0) {
						v.Pos, v.Nowhere = det.Vec3{}, true
					}
					or.entities[id] = v
				}
			}
			if ix.Len() != len(or.entities) {
				t.Fatalf("%d entities, want %d", ix.Len(), len(or.entities))
			}
			or.near(t, ix, drawPos(t), rapid.SampledFrom([]float64{0, 4, 25, 1e12}).Draw(t, "near"))
			for n, c := range clients {
				switch rapid.IntRange(0, 12).Draw(t, "client") {
				case 0, 1, 2:
					c.o.Pos.X += float64(rapid.IntRange(-3, 3).Draw(t, "dx"))
				case 3:
					c.o = drawObserver(t)
				case 4:
					c.r = rules[rapid.IntRange(0, 1).Draw(t, "rules")]
				case 5:
					continue // not every client is updated every tick
				}
				c.check(t, n, finder, ix, or)
			}
		}
	})
}

// near compares what Near finds.
func (or *oracle) near(t fataler, ix *Index, p det.Vec3, distance float64) {
	var got, want []world.ID
	ix.Near(p, distance, func(id world.ID, v *Traits) bool {
		if v != ix.Traits(id) {
			t.Fatalf("Near gives other traits for %v than Traits", id)
		}
		got = append(got, id)
		return true
	})
	a := asking{o: Observer{Pos: p}}
	for id, v := range or.entities {
		if d2, ok := a.distanceSq(v); ok && !v.Never && d2 <= distance*distance {
			want = append(want, id)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("within %v of %v are %v, want %v", distance, p, got, want)
	}
}

// check updates a client's view and compares it, its changes and its report with the oracle's.
func (c *watcher) check(t fataler, n int, f *Finder, ix *Index, or *oracle) {
	before := c.want
	held := before
	if c.view.rules != c.r {
		held = nil
	}
	c.want = or.view(c.r, c.o, held)
	changed := f.Update(&c.view, ix, c.r, c.o)
	ids := keys(c.want)
	if len(ids) != len(c.view.Entries()) {
		t.Fatalf("client %d sees %v, want %v", n, c.view.Entries(), c.want)
	}
	differs := len(before) != len(c.want)
	for i, e := range c.view.Entries() {
		want := c.want[ids[i]]
		if e.ID != ids[i] || e.Priority != want.priority || e.by != want.by {
			t.Fatalf("client %d sees %v with priority %v by %b, want %v %v %b", n, e.ID, e.Priority,
				e.by, ids[i], want.priority, want.by)
		}
		if at, ok := c.view.Find(e.ID); !ok || at != i {
			t.Fatalf("client %d finds %v at %d %v, want %d", n, e.ID, at, ok, i)
		}
		differs = differs || before[e.ID] != want
	}
	if changed != differs {
		t.Fatalf("client %d: changed %v, want %v", n, changed, differs)
	}
	var entered, left, removed []world.ID
	for _, id := range ids {
		if _, ok := before[id]; !ok {
			entered = append(entered, id)
		}
	}
	for _, id := range keys(before) {
		if _, ok := c.want[id]; ok {
			continue
		}
		if c.view.Has(id) {
			t.Fatalf("client %d still has %v", n, id)
		}
		if _, ok := or.entities[id]; ok {
			left = append(left, id)
		} else {
			removed = append(removed, id)
		}
	}
	if !slices.Equal(c.view.Entered(), entered) || !slices.Equal(c.view.Left(), left) ||
		!slices.Equal(c.view.Removed(), removed) {
		t.Fatalf("client %d: entered %v left %v removed %v, want %v %v %v", n, c.view.Entered(),
			c.view.Left(), c.view.Removed(), entered, left, removed)
	}
}
