package arena

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/interest/rooms"
	"github.com/coeval-dev/coeval/world"
	"pgregory.net/rapid"
)

// With doors open and with any of them shut, whoever has a clear line to a point is in a room that
// sees the point's room: the plans of the maps that come with the game against rays that know
// nothing of rooms.
func TestPlansMissNothing(t *testing.T) {
	for _, name := range []string{"duel", "foundry", "maze"} {
		m, err := MapNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := m.Plan()
		if err != nil {
			t.Fatal(err)
		}
		r := rooms.New(plan, interest.NewIndex(interest.Options{}), rooms.Options{})
		var s Scene
		s.set(m)
		rand := det.At(11, 1, uint64(m.Width))
		point := func() det.Vec2 {
			for {
				if p := (det.Vec2{X: rand.Range(1, float64(m.Width-1)),
					Y: rand.Range(1, float64(m.Height-1))}); m.RoomAt(p) >= 0 {
					return p
				}
			}
		}
		seen, pairs, rays := map[[2]int]bool{}, 0, 0
		for round := range 8 {
			for d := range m.Doors {
				open := round == 0 || rand.Chance(0.5)
				s.Open[d] = 0
				if open {
					s.Open[d] = DoorOpen
				}
				r.SetDoor(d+1, open)
			}
			r.Refresh()
			for range 4000 {
				from := point()
				dir := rand.Unit2()
				// Everything along the ray up to the wall is seen.
				far := s.Cast(from, dir, 400).Distance
				for range 4 {
					rays++
					to := from.MulAdd(dir, rand.Range(0, far))
					a, b := m.RoomAt(from), m.RoomAt(to)
					if b < 0 {
						continue // on the wall itself
					}
					if round == 0 {
						seen[[2]int{a, b}], seen[[2]int{b, a}] = true, true
					}
					if !plan.Sees(a, b) || !r.Sees(a, b) || !r.Sees(b, a) {
						t.Fatalf("%s: one sees from %v, room %d, to %v, room %d, but the rooms "+
							"say no", name, from, a, to, b)
					}
				}
			}
		}
		for a := range m.Rooms {
			for b := range m.Rooms {
				if plan.Sees(a, b) {
					pairs++
				}
			}
		}
		all := len(m.Rooms) * len(m.Rooms)
		t.Logf("%s: %d rooms, %d portals; of %d pairs of rooms the plan excludes %.1f %%; %d "+
			"rays saw %d pairs, the plan has %d", name, len(m.Rooms), len(m.Portals),
			all, 100-100*float64(pairs)/float64(all), rays, len(seen), pairs)
		if name == "maze" && pairs*10 > all {
			t.Errorf("the plan excludes only %d of %d pairs", all-pairs, all)
		}
	}
}

// Every fighter and shot that a client's eye could see now, with its whole body, is in the client's
// view, in a match of bots.
func TestViewsMissNothing(t *testing.T) {
	w, bots, in := crowded(t, "maze", 120)
	it := newInterest()
	var s Scene
	finder := interest.NewFinder()
	views := make([]interest.View, 12)
	shown, all, seen := 0, 0, 0
	for range 240 {
		think(t, w, bots, in)
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		if err := it.Follow(w); err != nil {
			t.Fatal(err)
		}
		s.Look(w)
		for i := range views {
			p := world.Player(i*7 + 1)
			o := it.Observer(p, time.Duration(i%2)*60*time.Millisecond)
			finder.Update(&views[i], it.Index, it.Rules, o)
			eye := det.Vec2{X: o.Pos.X, Y: o.Pos.Y}
			all += it.Index.Len() - len(bots)
			for _, e := range views[i].Entries() {
				if e.ID.Class() != classSheet {
					shown++
				}
			}
			for id, f := range world.All[Fighter](w) {
				d := f.Pos.Sub(eye)
				if !f.Alive() || d.Len() > ViewReach {
					continue
				}
				side := d.Perp().Unit().Mul(Radius * 0.98)
				if s.Clear(eye, f.Pos) || s.Clear(eye, f.Pos.Add(side)) ||
					s.Clear(eye, f.Pos.Sub(side)) {
					seen++
					if !views[i].Has(id) {
						t.Fatalf("tick %d: player %d at %v sees %v at %v, and is not shown it",
							w.Tick(), p, eye, id, f.Pos)
					}
				}
			}
			for id, o := range world.All[Shot](w) {
				if o.Pos.Sub(eye).Len() < ViewReach && s.Clear(eye, o.Pos) && !views[i].Has(id) {
					t.Fatalf("tick %d: player %d at %v sees %v at %v, and is not shown it",
						w.Tick(), p, eye, id, o.Pos)
				}
			}
		}
	}
	t.Logf("%d of %d entities are shown (%.1f %%); fighters were in sight %d times", shown, all,
		100*float64(shown)/float64(all), seen)
}

// Nobody comes into sight unannounced: who is seen at a tick was in the view that was made a round
// trip before, doors and running included.
func TestViewsAreAhead(t *testing.T) {
	w, bots, in := crowded(t, "foundry", 16)
	const lag = 9 // ticks: 150 ms
	it := newInterest()
	var s Scene
	finder := interest.NewFinder()
	past := make([][lag]map[world.ID]bool, len(bots))
	views := make([]interest.View, len(bots))
	var lives [lag]map[world.ID]uint8
	late, seen := 0, 0
	for n := range 900 {
		think(t, w, bots, in)
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		if err := it.Follow(w); err != nil {
			t.Fatal(err)
		}
		s.Look(w)
		for i := range bots {
			o := it.Observer(world.Player(i+1), 150*time.Millisecond)
			finder.Update(&views[i], it.Index, it.Rules, o)
			eye := det.Vec2{X: o.Pos.X, Y: o.Pos.Y}
			old := past[i][n%lag]
			for id, f := range world.All[Fighter](w) {
				// Who has just appeared cannot be announced.
				leapt := func(id world.ID) bool {
					return lives[n%lag][id] != world.Get[Fighter](w, id).Life
				}
				if !f.Alive() || old == nil || f.Pos.Sub(eye).Len() > ViewReach-3 || leapt(id) ||
					leapt(world.MakeID(classFighter, 0, i, 1)) || !s.Clear(eye, f.Pos) {
					continue
				}
				seen++
				if !old[id] {
					late++
					t.Logf("tick %d: %v %+v from %v", w.Tick(), id, *f, eye)
				}
			}
			now := map[world.ID]bool{}
			for _, e := range views[i].Entries() {
				now[e.ID] = true
			}
			past[i][n%lag] = now
		}
		lives[n%lag] = map[world.ID]uint8{}
		for id, f := range world.All[Fighter](w) {
			lives[n%lag][id] = f.Life
		}
	}
	t.Logf("in sight %d times, of which %d were not announced a round trip before", seen, late)
	if late*1000 > seen {
		t.Errorf("%d of %d came into sight unannounced", late, seen)
	}
}

// A change of map makes everything anew.
func TestInterestFollowsTheMap(t *testing.T) {
	mapOf(t, "test-hall", hall)
	s := on(t, "test-hall", Options{Rotation: []string{"duel"}}, 2)
	it := newInterest()
	if err := it.Follow(s.w); err != nil {
		t.Fatal(err)
	}
	old := it.Index
	m := world.StateOf[Match](s.w)
	m.Time = 1
	s.step(pause + 10)
	if err := it.Follow(s.w); err != nil || it.Index == old || it.level.Name != "duel" {
		t.Error("it is still on the old map", err)
	}
}

// A bolt from a thousand directions: what a ray meets is what stepping along it finds.
func TestCast(t *testing.T) {
	m, err := MapNamed("duel")
	if err != nil {
		t.Fatal(err)
	}
	var s Scene
	s.set(m)
	rapid.Check(t, func(t *rapid.T) {
		for i := range s.Open {
			s.Open[i] = uint8(rapid.IntRange(0, DoorOpen).Draw(t, "open"))
		}
		from := det.Vec2{
			X: rapid.Float64Range(1, 32).Draw(t, "x"), Y: rapid.Float64Range(1, 24).Draw(t, "y")}
		if m.RoomAt(from) < 0 {
			t.Skip("in a wall")
		}
		if edge := 0.01; from.X-float64(int(from.X)) < edge || from.Y-float64(int(from.Y)) < edge {
			t.Skip("on the edge between two cells, where a ray along it is in both")
		}
		dir := det.Angle(rapid.Float64Range(-3.2, 3.2).Draw(t, "angle")).Vec()
		solid := func(p det.Vec2, grow float64) bool {
			if m.Cell(int(p.X), int(p.Y)).opaque() {
				return true
			}
			for d := range m.Doors {
				for _, r := range s.Leaves(d) {
					if p.X > r.Min.X-grow && p.X < r.Max.X+grow && p.Y > r.Min.Y-grow &&
						p.Y < r.Max.Y+grow && r.Max.X > r.Min.X && r.Max.Y > r.Min.Y {
						return true
					}
				}
			}
			return false
		}
		h := s.Cast(from, dir, 30)
		const fine = 0.003
		for d := 0.0; d < h.Distance-fine; d += fine {
			if solid(from.MulAdd(dir, d), -0.01) {
				t.Fatalf("from %v along %v it passes something at %v and stops at %v", from, dir, d,
					h.Distance)
			}
		}
		if h.Normal != (det.Vec2{}) {
			p := from.MulAdd(dir, h.Distance)
			if !solid(p.MulAdd(dir, 0.01), 0.01) && !solid(p.MulAdd(dir, 0.001), 0.01) &&
				!solid(p.MulAdd(h.Normal, -0.01), 0.01) {
				t.Fatalf("from %v along %v it stops at %v, where nothing is", from, dir, h.Distance)
			}
			if h.Distance > 0 && h.Normal.Dot(dir) >= 0 {
				t.Fatalf("the normal is %v", h.Normal)
			}
		} else if h.Distance != 30 {
			t.Fatalf("it stops at %v for no reason", h.Distance)
		}
	})
}
