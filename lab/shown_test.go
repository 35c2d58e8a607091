package lab_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// What was shown is held against what was settled, body by body, and events that were taken back
// are counted with how long they were believed.
func TestShown(t *testing.T) {
	s, err := lab.NewSubject(pong.Title, "", 2)
	if err != nil {
		t.Fatal(err)
	}
	m, err := lab.NewMatch(s, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	a := lab.NewAudience(s)
	settle := func(shown *world.World) {
		if shown != nil {
			a.Show(shown)
			a.Show(m.World) // it was shown already
		}
		a.Settle(m.World)
	}
	step := func() {
		if err := m.Step(); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		step()
	}
	settle(m.World) // not counted, as it is not on
	a.On = true
	for range 98 {
		step()
		settle(m.World)
	}
	// One body of two is off by 0.25, and then one is missing.
	for _, change := range []func(w *world.World, id world.ID){
		func(w *world.World, id world.ID) {
			image := slices.Clone(w.Host().Image(id))
			image[1] += 64 // of steps of 1/256
			if err := w.Host().Put(id, w.Host().Entry(id), image); err != nil {
				t.Fatal(err)
			}
		},
		func(w *world.World, id world.ID) { w.Host().Lend(id) },
	} {
		step()
		w := m.World.Host().Clone()
		for id := range world.All[pong.Paddle](w) {
			change(w, id)
			break
		}
		settle(w)
	}
	a.Settle(m.World)
	a.Show(m.World) // settled before it is shown: it is right
	event := func(n world.Tick) world.Emitted { return world.Emitted{Name: world.Name{Tick: n}} }
	hear := func(ms int, what timeline.What, n world.Tick) {
		a.Hear(time.Duration(ms)*time.Millisecond,
			[]timeline.Notice{{What: what, Event: event(n)}})
	}
	for n := range world.Tick(10) {
		hear(0, timeline.Provisional, n)
	}
	hear(30, timeline.Retracted, 3)
	hear(90, timeline.Retracted, 4)
	hear(100, timeline.Confirmed, 5)
	hear(110, timeline.Retracted, 5) // never announced since
	r := lab.SumShown(a)
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-3 }
	if r.Bodies != 202 || !near(r.Wrong, 2.0/202) || !near(r.OffSome, 2.0/202) ||
		!near(r.OffFar, 1.0/202) || !near(r.OffMean, 0.25/202) || r.OffP95 != 0 {
		t.Errorf("%+v", r)
	}
	if r.Events != 10 || r.Taken != 2 || !near(r.TakenShare, 0.2) || r.BelievedP50 != 90 ||
		r.BelievedP95 != 90 {
		t.Errorf("%+v", r)
	}
}
