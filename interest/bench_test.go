package interest

import (
	"fmt"
	"testing"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// updates is what a server does for a thousand clients at a tick, after a part of everything moved.
// Moving is not timed; BenchmarkSet is for that.
func updates(b *testing.B, entities int, moving float64, rules *Rules, o Options) {
	const clients = 1000
	c := newCrowd(1, entities, clients, 30, o)
	if rules == crowdRules { // which have a use for more
		for i := range c.traits {
			if i%50 == 0 {
				c.traits[i].Sound = 150
			}
			c.traits[i].Always = i%2000 == 1999
		}
	}
	views := make([]View, clients)
	f := NewFinder()
	tick := func() (changed int) {
		for i := range views {
			if f.Update(&views[i], c.ix, rules, c.observer(i)) {
				changed++
			}
		}
		return changed
	}
	for range 100 {
		c.set(c.step(moving))
		tick()
	}
	changed := 0
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		c.set(c.step(moving))
		b.StartTimer()
		changed += tick()
	}
	b.StopTimer()
	total := 0
	for i := range views {
		total += len(views[i].Entries())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/clients, "ns/client")
	b.ReportMetric(float64(total)/clients, "shown/client")
	b.ReportMetric(float64(changed)/float64(b.N)/clients, "changed/client")
}

// near is what most games need: what one owns, and what is near.
var near = &Rules{Sources: []Source{&Owned{Weight: 10}, &Radius{Enter: crowdRadius, Leave: 55}}}

// BenchmarkUpdate is the cost of a thousand views, by how much of the world moves.
func BenchmarkUpdate(b *testing.B) {
	for _, moving := range []float64{0, 0.01, 0.2, 1} {
		b.Run(fmt.Sprintf("moving=%v%%", moving*100),
			func(b *testing.B) { updates(b, 10000, moving, near, Options{}) })
	}
}

// BenchmarkSize is the same by how much there is: at the same density, so that a client sees as
// many.
func BenchmarkSize(b *testing.B) {
	for _, entities := range []int{2500, 10000, 40000} {
		b.Run(fmt.Sprint("entities=", entities),
			func(b *testing.B) { updates(b, entities, 0.2, near, Options{}) })
	}
}

// every is what there would be without an index: it looks at everything, for every client.
type every struct{ Radius }

func (s *every) Find(q *Query) {
	for slot := range q.ix.entities {
		t := &q.ix.entities[slot].traits
		d := t.Pos.Sub(q.observer.Pos).LenSq()
		if out := s.Leave + float64(q.observer.Speed*q.lag) + float64(t.Speed*q.lag); d <= out*out {
			q.addSlot(uint32(slot), 1)
		}
	}
}

func (s *every) Quiet(q *Query) bool { return q.ix.revision == q.since }

// BenchmarkEvery is BenchmarkSize without an index, for the ratio.
func BenchmarkEvery(b *testing.B) {
	rules := &Rules{Sources: []Source{&Owned{Weight: 10}, &every{Radius{Leave: 50}}}}
	for _, entities := range []int{2500, 10000, 40000} {
		b.Run(fmt.Sprint("entities=", entities),
			func(b *testing.B) { updates(b, entities, 0.2, rules, Options{}) })
	}
}

// BenchmarkCell is the same by the size of cells.
func BenchmarkCell(b *testing.B) {
	for _, cell := range []float64{12, 25, 50, 100} {
		b.Run(fmt.Sprint("cell=", cell),
			func(b *testing.B) { updates(b, 10000, 1, near, Options{Cell: cell}) })
	}
}

// BenchmarkRules is the same where one in fifty is heard from three times as far as it is seen, and
// five are always shown; and with about 130 in range, without and with a limit of 30.
func BenchmarkRules(b *testing.B) {
	b.Run("all", func(b *testing.B) { updates(b, 10000, 1, crowdRules, Options{}) })
	wide := &Radius{Enter: 2 * crowdRadius}
	b.Run("wide",
		func(b *testing.B) {
			updates(b, 10000, 1, &Rules{Sources: []Source{&Owned{}, wide}}, Options{})
		})
	limit := &Rules{Sources: []Source{&Owned{}, &Limit{Of: wide, Max: 30}}}
	b.Run("limit", func(b *testing.B) { updates(b, 10000, 1, limit, Options{}) })
}

// BenchmarkFollow is what it costs to find out that an entity of a world is as it was.
func BenchmarkFollow(b *testing.B) {
	const entities = 10000
	game := world.Define("still", world.Class[hill](), world.OnStart(func(w *world.World) {
		for range entities {
			world.Spawn(w, hill{})
		}
	}))
	w, err := game.New(world.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	f := NewFollower(NewIndex(Options{}),
		Describe(func(_ *world.World, id world.ID, h *hill) Traits {
			return Traits{Pos: det.Vec3{X: float64(id.Index()), Y: float64(h.Size)}}
		}))
	f.Follow(w)
	f.Follow(w)
	b.ReportAllocs()
	for b.Loop() {
		f.Follow(w)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/entities, "ns/entity")
}

// BenchmarkSet is the cost of one entity that moved.
func BenchmarkSet(b *testing.B) {
	for _, entities := range []int{2500, 10000, 40000} {
		b.Run(fmt.Sprint("entities=", entities), func(b *testing.B) {
			c := newCrowd(1, entities, 1000, 30, Options{})
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if n == 0 {
					b.StopTimer()
					c.step(1)
					n = entities
					b.StartTimer()
				}
				n--
				c.ix.Set(c.ids[n], c.traits[n])
			}
		})
	}
}
