package rooms

import (
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
	"pgregory.net/rapid"
)

func newIndex() *interest.Index { return interest.NewIndex(interest.Options{Cell: 10}) }

func entity(n int) world.ID { return world.MakeID(n%2, 0, n, 1) }

// row makes n rooms of ten by ten side by side, with openings between them, every second of which
// has a door.
func row(t testing.TB, n int) *Plan {
	l := Layout{Rooms: n, Locate: func(p det.Vec2) int {
		if p.Y < 0 || p.Y > 10 || p.X < 0 || p.X >= float64(10*n) {
			return -1
		}
		return int(p.X / 10)
	}}
	for i := 1; i < n; i++ {
		o := Portal{
			A: i - 1, B: i, P: det.Vec2{X: float64(10 * i), Y: 4}, Q: det.Vec2{
				X: float64(10 * i), Y: 6}}
		if i%2 == 0 {
			o.Door = i / 2
		}
		l.Portals = append(l.Portals, o)
	}
	p, err := NewPlan(l)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLayoutErrors(t *testing.T) {
	locate := func(det.Vec2) int { return 0 }
	q := det.Vec2{X: 1}
	for name, l := range map[string]Layout{
		"no rooms":       {Locate: locate},
		"too many":       {Rooms: MaxRooms + 1, Locate: locate},
		"no Locate":      {Rooms: 2},
		"room not there": {Rooms: 2, Locate: locate, Portals: []Portal{{A: 0, B: 2, Q: q}}},
		"negative room":  {Rooms: 2, Locate: locate, Portals: []Portal{{A: -1, B: 1, Q: q}}},
		"to itself":      {Rooms: 2, Locate: locate, Portals: []Portal{{A: 1, B: 1, Q: q}}},
		"a point":        {Rooms: 2, Locate: locate, Portals: []Portal{{A: 0, B: 1, P: q, Q: q}}},
		"not a number": {
			Rooms: 2, Locate: locate, Portals: []Portal{{A: 0, B: 1, Q: det.Vec2{X: math.NaN()}}}},
		"negative door": {
			Rooms: 2, Locate: locate, Portals: []Portal{{A: 0, B: 1, Q: q, Door: -1}}},
		"negative depth": {
			Rooms: 2, Locate: locate, Portals: []Portal{{A: 0, B: 1, Q: q, Depth: -1}}},
		"many portals": {Rooms: 2, Locate: locate, Portals: make([]Portal, MaxPortals+1)},
	} {
		if p, err := NewPlan(l); err == nil || p != nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Where the effort does not suffice, everything that is connected counts as seen.
func TestEffort(t *testing.T) {
	p := row(t, 12)
	if s := p.Summary(); s.GaveUp != 0 || s.Rooms != 12 || s.Portals != 11 || s.Doors != 5 ||
		s.Most != 12 {
		t.Errorf("%+v", s)
	}
	l := p.layout
	l.Portals = slices.Clone(l.Portals)
	// A bend: what is beyond it is out of sight.
	l.Portals[5].P, l.Portals[5].Q = det.Vec2{X: 60, Y: 40}, det.Vec2{X: 60, Y: 41}
	bent, err := NewPlan(l)
	if err != nil {
		t.Fatal(err)
	}
	if bent.Sees(0, 11) || !bent.Sees(0, 5) {
		t.Error("it does not bend")
	}
	l.Effort = 3
	weak, err := NewPlan(l)
	if err != nil {
		t.Fatal(err)
	}
	if weak.Summary().GaveUp == 0 || !weak.Sees(3, 8) {
		t.Errorf("%+v", weak.Summary())
	}
}

// counting counts how often a source is asked to find.
type counting struct {
	interest.Source
	finds *int
}

func (c counting) Find(q *interest.Query) { *c.finds++; c.Source.Find(q) }

// A view is looked at again only if something happened where it looks: in rooms that it sees, or,
// for what is heard, in rooms from which sound comes.
func TestQuiet(t *testing.T) {
	plan := row(t, 9) // doors 1 to 4 before rooms 2, 4, 6, 8
	for _, x := range []struct {
		name        string
		change      func(r *Rooms, set func(n int, x float64, sound float64))
		sees, hears bool // anew
	}{
		{"nothing", func(*Rooms, func(int, float64, float64)) {}, false, false},
		{"the same again",
			func(r *Rooms, set func(int, float64, float64)) { set(1, 15, 0); r.Refresh() }, false,
			false},
		{"something far away", func(r *Rooms, set func(int, float64, float64)) { set(7, 85, 0) },
			false, false},
		{"something beyond a shut door",
			func(r *Rooms, set func(int, float64, float64)) { set(6, 26, 0) }, false, false},
		{"in the same room", func(r *Rooms, set func(int, float64, float64)) { set(5, 6, 0) }, true,
			false},
		{"in sight", func(r *Rooms, set func(int, float64, float64)) { set(1, 16, 0) }, true,
			false},
		{"a sound beyond the door",
			func(r *Rooms, set func(int, float64, float64)) { set(6, 25, 60) }, false, true},
		{"a sound too far away", func(r *Rooms, set func(int, float64, float64)) { set(7, 85, 9) },
			false, false},
		// and there is nothing to be heard
		{"a door in sight",
			func(r *Rooms, _ func(int, float64, float64)) { r.SetDoor(1, true); r.Refresh() }, true,
			false},
		{"a door out of sight",
			func(r *Rooms, _ func(int, float64, float64)) { r.SetDoor(3, true); r.Refresh() },
			false, false},
		{"to and fro",
			func(r *Rooms, _ func(int, float64, float64)) {
				r.SetDoor(1, true)
				r.SetDoor(1, false)
				r.Refresh()
			}, false, false},
		{"it is gone",
			func(r *Rooms, _ func(int, float64, float64)) {
				r.ix.Remove(entity(1))
				r.Remove(entity(1))
			}, true, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			ix, f, v := newIndex(), interest.NewFinder(), interest.View{}
			r := New(plan, ix, Options{})
			set := func(n int, x, sound float64) {
				ix.Set(entity(n), interest.Traits{Pos: det.Vec3{X: x, Y: 5}, Sound: sound})
				r.Set(entity(n))
			}
			set(1, 15, 0)
			set(5, 5, 0)
			set(6, 25, 0)
			set(7, 84, 0)
			seen, heard := 0, 0
			rules := &interest.Rules{
				Sources: []interest.Source{
					counting{&Sight{In: r}, &seen}, counting{&Hearing{In: r}, &heard}}}
			o := interest.Observer{Pos: det.Vec3{X: 5, Y: 5}}
			for range 3 {
				f.Update(&v, ix, rules, o)
			}
			sight, hearing := &interest.Rules{Sources: rules.Sources[:1]}, &interest.Rules{
				Sources: rules.Sources[1:]}
			var sv, hv interest.View
			for range 3 {
				f.Update(&sv, ix, sight, o)
				f.Update(&hv, ix, hearing, o)
			}
			seen, heard = 0, 0
			x.change(r, set)
			f.Update(&sv, ix, sight, o)
			f.Update(&hv, ix, hearing, o)
			if (seen > 0) != x.sees || (heard > 0) != x.hears {
				t.Errorf("looked again %v, listened again %v; want %v, %v", seen > 0, heard > 0,
					x.sees, x.hears)
			}
		})
	}
}

// A shut door takes away some of a sound's reach, and a client hears at once when it opens or
// shuts.
func TestMuffle(t *testing.T) {
	ix, f, v := newIndex(), interest.NewFinder(), interest.View{}
	r := New(row(t, 3), ix, Options{})
	rules := &interest.Rules{Sources: []interest.Source{&Hearing{In: r, Muffle: 10}}}
	hear := func() bool {
		f.Update(&v, ix, rules, interest.Observer{Pos: det.Vec3{X: 5, Y: 5}})
		return len(v.Entries()) > 0
	}
	for _, x := range []struct {
		sound        float64
		shut, opened bool
	}{{19, false, false}, {21, false, true}, {29.5, false, true}, {31, true, true}} {
		v.Reset()
		ix.Set(entity(1), interest.Traits{Pos: det.Vec3{X: 25, Y: 5}, Sound: x.sound})
		r.Set(entity(1))
		for range 2 {
			for _, open := range []bool{false, true} {
				r.SetDoor(1, open)
				r.Refresh()
				v.Reset() // so that nothing is held
				if want := open && x.opened || !open && x.shut; hear() != want {
					t.Errorf("sound %v, door open %v: heard %v", x.sound, open, !want)
				}
			}
		}
	}
	ix.Set(entity(1), interest.Traits{Pos: det.Vec3{X: 25, Y: 5}, Sound: 25})
	r.Set(entity(1))
	r.SetDoor(1, false)
	r.Refresh()
	v.Reset()
	for range 3 {
		hear()
	}
	r.SetDoor(1, true)
	r.Refresh()
	if !hear() {
		t.Error("the door opened and the view did not notice")
	}
}

// Something is shown from the moment on at which it could be in a visible room when the client's
// answer arrives, and so is what the client could see by then.
func TestMargin(t *testing.T) {
	plan := row(t, 4)
	for _, x := range []struct {
		name             string
		thing, me        float64 // where they are
		speed, mine      float64
		nimbus           float64
		lag              time.Duration
		shown, lingering bool
	}{
		{"at rest behind the door", 20.5, 5, 0, 0, 0, 200 * time.Millisecond, false, true},
		{"it comes", 20.5, 5, 5, 0, 0, 200 * time.Millisecond, true, true},
		{"it comes, but not so far", 21.5, 5, 5, 0, 0, 200 * time.Millisecond, false, true},
		{"it is large", 21.2, 5, 0, 0, 1.5, 0, true, true},
		{"far behind", 29, 5, 5, 0, 0, 200 * time.Millisecond, false, false},
		{"I come to the door", 29, 19.5, 0, 5, 0, 200 * time.Millisecond, true, true},
		{"I do not come so far", 29, 18.5, 0, 5, 0, 200 * time.Millisecond, false, false},
		{"more than the horizon", 29, 17, 0, 10, 0, 9 * time.Second, false, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			ix, f := newIndex(), interest.NewFinder()
			r := New(plan, ix, Options{}) // all doors shut; that between rooms 1 and 2 is at 20
			rules := &interest.Rules{Sources: []interest.Source{&Sight{In: r}}}
			o := interest.Observer{Pos: det.Vec3{X: x.me, Y: 5}, Speed: x.mine, RoundTrip: x.lag}
			at := interest.Traits{Pos: det.Vec3{X: x.thing, Y: 5}, Speed: x.speed, Nimbus: x.nimbus}
			var v interest.View
			ix.Set(entity(1), at)
			r.Set(entity(1))
			f.Update(&v, ix, rules, o)
			if v.Has(entity(1)) != x.shown {
				t.Errorf("shown %v, want %v", v.Has(entity(1)), x.shown)
			}
			// If it was in sight before, it stays a little longer.
			near := at
			near.Pos.X = 15
			v.Reset()
			ix.Set(entity(1), near)
			r.Set(entity(1))
			f.Update(&v, ix, rules, o)
			ix.Set(entity(1), at)
			r.Set(entity(1))
			f.Update(&v, ix, rules, o)
			if v.Has(entity(1)) != x.lingering {
				t.Errorf("lingers %v, want %v", v.Has(entity(1)), x.lingering)
			}
		})
	}
}

// Follow finds who came, who moved and who is gone, from a world.
func TestFollow(t *testing.T) {
	plan := row(t, 3)
	ix, f, v := newIndex(), interest.NewFinder(), interest.View{}
	r := New(plan, ix, Options{})
	game := world.Define("walk", world.Class[walker](), world.OnStart(func(w *world.World) {
		for i := range 20 {
			world.Spawn(w, walker{X: float64(i)})
		}
	}))
	w, err := game.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	follower := interest.NewFollower(ix,
		interest.Describe(func(_ *world.World, _ world.ID, k *walker) interest.Traits {
			return interest.Traits{Pos: det.Vec3{X: k.X, Y: 5}}
		}))
	rules := &interest.Rules{Sources: []interest.Source{&Sight{In: r}}}
	for range 60 {
		follower.Follow(w)
		r.Follow(w)
		f.Update(&v, ix, rules, interest.Observer{Pos: det.Vec3{X: 1, Y: 5}})
		want := 0
		for _, k := range world.All[walker](w) {
			if k.X <= 20 {
				want++
			}
		}
		// Who just passed the door lingers.
		if got := len(v.Entries()); got < want || got > want+2 {
			t.Fatalf("tick %d: %d shown, want %d", w.Tick(), got, want)
		}
		if len(r.slots) != ix.Len() {
			t.Fatalf("%d of %d", len(r.slots), ix.Len())
		}
		if err := w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(v.Entries()) != 0 || len(r.slots) != 0 {
		t.Error("someone is left", len(v.Entries()), len(r.slots))
	}
}

// Any number of finders may look at once, and find what one finds.
func TestManyFinders(t *testing.T) {
	c := newCrowd(t, 8, 200, 32)
	alone := newCrowd(t, 8, 200, 32)
	one := interest.NewFinder()
	finders := []*interest.Finder{
		interest.NewFinder(), interest.NewFinder(), interest.NewFinder(), interest.NewFinder()}
	for range 40 {
		c.move(3)
		alone.move(3)
		var wait sync.WaitGroup
		for k, f := range finders {
			wait.Go(func() {
				for i := k; i < len(c.views); i += len(finders) {
					f.Update(&c.views[i], c.ix, c.rules,
						interest.Observer{
							Pos: c.at[i], Speed: 9, RoundTrip: 100 * time.Millisecond})
				}
			})
		}
		wait.Wait()
		alone.update(one)
		for i := range c.views {
			if !slices.Equal(c.views[i].Entries(), alone.views[i].Entries()) {
				t.Fatalf("client %d sees something else", i)
			}
		}
	}
}

// The oracle says who is shown, by definition and from nothing but positions: no lists, no stamps.
type oracle struct {
	g      *grid
	r      *Rooms
	traits map[world.ID]interest.Traits
	sound  [][]float64 // from portal to portal, with doors as they are
}

// reaches gives the rooms within a distance of a point, each with how far it is.
func (or *oracle) reaches(p det.Vec2, limit float64) map[int]float64 {
	home := or.g.locate(p)
	out := map[int]float64{home: 0}
	for range or.g.rooms {
		for _, o := range or.g.portals {
			d := math.Sqrt(o.distanceSq(p))
			for _, x := range [2][2]int{{o.A, o.B}, {o.B, o.A}} {
				if _, ok := out[x[0]]; !ok || d > limit {
					continue
				}
				if was, ok := out[x[1]]; !ok || d < was {
					out[x[1]] = d
				}
			}
		}
	}
	return out
}

func (or *oracle) sees(o interest.Observer, id world.ID, reach float64, held bool) bool {
	t := or.traits[id]
	lag, eye, at := o.RoundTrip.Seconds(), flat(o.Pos), flat(t.Pos)
	more, hold := t.Nimbus+t.Speed*lag, 0.0
	if held {
		hold = or.r.linger
	}
	for a := range or.reaches(eye, o.Speed*lag) {
		for b, gap := range or.reaches(at, t.Speed*or.r.horizon+t.Nimbus+or.r.linger) {
			if gap <= more+hold && (a < 0 || b < 0 || or.r.Sees(a, b)) {
				far := reach + more + o.Speed*lag
				if held {
					far += reach * 0.1
				}
				return reach == 0 || at.Sub(eye).Len() <= far
			}
		}
	}
	return false
}

// listen works out how far sound goes between portals, by Floyd's algorithm.
func (or *oracle) listen(muffle float64) {
	n := len(or.g.portals)
	or.sound = make([][]float64, n)
	cost := func(i int) float64 {
		if or.r.isShut(i) {
			return muffle
		}
		return 0
	}
	for i := range n {
		or.sound[i] = make([]float64, n)
		for j := range n {
			a, b := &or.g.portals[i], &or.g.portals[j]
			switch {
			case i == j:
				or.sound[i][j] = cost(i)
			case a.A == b.A || a.A == b.B || a.B == b.A || a.B == b.B:
				or.sound[i][j] = cost(i) + between(a, b) + cost(j)
			default:
				or.sound[i][j] = math.Inf(1)
			}
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				or.sound[i][j] = min(or.sound[i][j], or.sound[i][k]+or.sound[k][j]-cost(k))
			}
		}
	}
}

func (or *oracle) hears(o interest.Observer, id world.ID, held bool) bool {
	t := or.traits[id]
	if t.Sound == 0 {
		return false
	}
	ear, at := flat(o.Pos), flat(t.Pos)
	home, there := or.g.locate(ear), or.g.locate(at)
	limit := t.Sound + (t.Speed+o.Speed)*o.RoundTrip.Seconds()
	if held {
		limit += t.Sound * (holdSound - 1)
	}
	if home == there && at.Sub(ear).Len() <= limit {
		return true
	}
	for i, a := range or.g.portals {
		for j, b := range or.g.portals {
			if (a.A == home || a.B == home) && (b.A == there || b.B == there) &&
				math.Sqrt(a.distanceSq(ear))+or.sound[i][j]+math.Sqrt(b.distanceSq(at)) <= limit {
				return true
			}
		}
	}
	return false
}

func flat(p det.Vec3) det.Vec2 { return det.Vec2{X: p.X, Y: p.Y} }

// Whatever moves, comes, goes and makes a noise, whichever doors open and shut, every view is what
// the oracle says, after many ticks as after one.
func TestOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrid(t)
		plan, err := NewPlan(Layout{Rooms: g.rooms, Portals: g.portals, Locate: g.locate})
		if err != nil {
			t.Fatal(err)
		}
		ix := newIndex()
		r := New(plan, ix, Options{Linger: 0.7})
		reach := rapid.SampledFrom([]float64{0, 12}).Draw(t, "reach")
		rules := &interest.Rules{
			Sources: []interest.Source{&Sight{In: r, Reach: reach}, &Hearing{In: r, Muffle: 5}}}
		or := &oracle{g: g, r: r, traits: map[world.ID]interest.Traits{}}
		number := func(name string, of ...float64) float64 {
			return rapid.SampledFrom(of).Draw(t, name)
		}
		point := func() det.Vec3 {
			if rapid.IntRange(0, 30).Draw(t, "nowhere") == 30 {
				return det.Vec3{X: 0.3, Y: 0.3} // in a wall
			}
			p, _ := g.drawPoint(t, 0.0012345)
			return det.Vec3{X: p.X, Y: p.Y}
		}
		type client struct {
			o           interest.Observer
			v           interest.View
			seen, heard map[world.ID]bool
		}
		clients := make([]*client, 2)
		for i := range clients {
			clients[i] = &client{
				o: interest.Observer{
					Pos: point(), Speed: number("my speed", 0, 8),
					RoundTrip: time.Duration(number("lag", 0, 100, 200)) * time.Millisecond}}
		}
		finder := interest.NewFinder()
		for range rapid.IntRange(1, 10).Draw(t, "ticks") {
			for range rapid.SampledFrom([]int{0, 0, 1, 2, 12}).Draw(t, "changes") {
				id := entity(rapid.IntRange(0, 9).Draw(t, "id"))
				if _, ok := or.traits[id]; ok && rapid.IntRange(0, 5).Draw(t, "remove") == 0 {
					ix.Remove(id)
					r.Remove(id)
					delete(or.traits, id)
					continue
				}
				v := interest.Traits{
					Pos: point(), Speed: number("speed", 0, 10, 30),
					Nimbus: number("nimbus", 0, 0.4), Sound: number("sound", 0, 0, 8, 20)}
				ix.Set(id, v)
				r.Set(id)
				or.traits[id] = v
			}
			if rapid.IntRange(0, 2).Draw(t, "door moves") == 0 {
				for d := 1; d < len(plan.doors); d++ {
					r.SetDoor(d, rapid.Bool().Draw(t, "open"))
				}
				r.Refresh()
			}
			or.listen(5)
			for _, c := range clients {
				if rapid.IntRange(0, 3).Draw(t, "walk") == 0 {
					c.o.Pos = point()
				}
				seen, heard := map[world.ID]bool{}, map[world.ID]bool{}
				for id := range or.traits {
					if or.sees(c.o, id, reach, c.seen[id]) {
						seen[id] = true
					}
					if or.hears(c.o, id, c.heard[id]) {
						heard[id] = true
					}
				}
				c.seen, c.heard = seen, heard
				finder.Update(&c.v, ix, rules, c.o)
				got := 0
				for _, e := range c.v.Entries() {
					got++
					if e.By(0) != seen[e.ID] || e.By(1) != heard[e.ID] {
						t.Fatalf("%v at %v, from %v: seen %v, heard %v; want %v, %v", e.ID,
							or.traits[e.ID].Pos, c.o.Pos, e.By(0), e.By(1), seen[e.ID], heard[e.ID])
					}
				}
				for id := range or.traits {
					if (seen[id] || heard[id]) && !c.v.Has(id) {
						t.Fatalf("%v at %v, from %v is not shown; seen %v, heard %v", id,
							or.traits[id].Pos, c.o.Pos, seen[id], heard[id])
					}
				}
			}
		}
	})
}

// TestAStrangersMap works with a layout of 10 by 10 rooms whose every wall is a wide opening with a
// door, so that one sees far in all directions: the work for the plan is bounded, and so is that of
// one Refresh after all doors have moved, though what is seen is never too little.
func TestAStrangersMap(t *testing.T) {
	const n, total, each = 10, 20_000, 1_000
	l := Layout{Rooms: n * n, Total: total, Locate: func(det.Vec2) int { return -1 }}
	for i := range n * n {
		x, y := float64(i%n*4), float64(i/n*4)
		o := Portal{Depth: 0.1, Door: 1 + i%7}
		if i%n < n-1 {
			o.A, o.B, o.P, o.Q = i, i+1, det.Vec2{X: x + 4, Y: y + 0.2}, det.Vec2{
				X: x + 4, Y: y + 3.8}
			l.Portals = append(l.Portals, o)
		}
		if i/n < n-1 {
			o.A, o.B, o.P, o.Q = i+n, i, det.Vec2{X: x + 0.2, Y: y + 4}, det.Vec2{
				X: x + 3.8, Y: y + 4}
			l.Portals = append(l.Portals, o)
		}
	}
	p, err := NewPlan(l)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Summary()
	t.Logf("%+v", s)
	if s.Steps > total || s.GaveUp == 0 {
		t.Errorf("%d steps of %d, and %d rooms given up", s.Steps, total, s.GaveUp)
	}
	for r := range n * n {
		if r%n < n-1 && !p.Sees(r, r+1) {
			t.Fatalf("room %d does not see the next", r)
		}
	}
	r := New(p, interest.NewIndex(interest.Options{}), Options{Effort: each})
	for _, open := range []bool{true, false, true} {
		for d := 1; d <= 7; d++ {
			r.SetDoor(d, open)
		}
		rounds := 0
		for {
			r.Refresh()
			if rounds++; open && !r.Sees(0, 1) {
				t.Fatal("a door is open, and nothing is seen through it")
			}
			if r.behind == (set{}) {
				break
			}
		}
		t.Logf("doors open: %v; known after %d rounds", open, rounds)
		if !open && r.Sees(0, 1) {
			t.Error("the doors are shut, and one sees through them")
		}
	}
	l.Portals = l.Portals[:0]
	l.Rooms = MaxRooms
	for i := range 1100 {
		l.Portals = append(l.Portals,
			Portal{A: 0, B: 1 + i, P: det.Vec2{X: float64(i)}, Q: det.Vec2{X: float64(i) + 0.5}})
	}
	if _, err := NewPlan(l); err == nil {
		t.Error("a room with 1100 portals has a plan")
	}
}
