package rooms

import (
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

type walker struct{ X float64 }

func (k *walker) Sync(s *bits.Sync) { s.Float(&k.X, 0, 100, 1.0/64) }

func (k *walker) Step(w *world.World, me world.ID) {
	if k.X++; k.X > 29.5 {
		w.Remove(me)
	}
}

// block makes n by n rooms of ten by ten, each with an opening to its neighbours, off the middle by
// turns, every third with a door.
func block(t testing.TB, n int) *Plan {
	l := Layout{Rooms: n * n, Locate: func(p det.Vec2) int {
		x, y := int(det.Floor(p.X/10)), int(det.Floor(p.Y/10))
		if x < 0 || y < 0 || x >= n || y >= n {
			return -1
		}
		return y*n + x
	}}
	for i := range n * n {
		x, y := float64(i%n*10), float64(i/n*10)
		off := 2 + float64(i*7%5)
		o := Portal{Depth: 0.5}
		if i%3 == 0 {
			o.Door = i/3 + 1
		}
		if i%n < n-1 {
			o.A, o.B, o.P, o.Q = i, i+1, det.Vec2{X: x + 10, Y: y + off}, det.Vec2{
				X: x + 10, Y: y + off + 2}
			l.Portals = append(l.Portals, o)
		}
		if i/n < n-1 {
			o.A, o.B, o.P, o.Q, o.Door = i+n, i, det.Vec2{X: x + off, Y: y + 10}, det.Vec2{
				X: x + off + 2, Y: y + 10}, 0
			l.Portals = append(l.Portals, o)
		}
	}
	p, err := NewPlan(l)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// crowd is a block with walkers in it, of whom a part moves each tick, and clients who look from
// among them.
type crowd struct {
	r     *Rooms
	ix    *interest.Index
	rules *interest.Rules
	at    []det.Vec3
	rand  det.Rand
	views []interest.View
	tick  int
}

func newCrowd(t testing.TB, side, things, clients int) *crowd {
	c := &crowd{ix: newIndex(), rand: det.At(1, 2, 3), views: make([]interest.View, clients)}
	c.r = New(block(t, side), c.ix, Options{})
	c.rules = &interest.Rules{
		Sources: []interest.Source{&Sight{In: c.r, Reach: 40}, &Hearing{In: c.r}}}
	for range things {
		c.at = append(c.at,
			det.Vec3{X: c.rand.Range(0, float64(10*side)), Y: c.rand.Range(0, float64(10*side))})
	}
	for i := range c.at {
		c.set(i)
	}
	return c
}

func (c *crowd) set(i int) {
	t := interest.Traits{Pos: c.at[i], Speed: 9, Nimbus: 0.4}
	if i%8 == 0 {
		t.Sound = 15
	}
	c.ix.Set(entity(i), t)
	c.r.Set(entity(i))
}

// move lets every n-th walker take a step, and now and then a door move.
func (c *crowd) move(n int) {
	c.tick++
	if n == 0 {
		return
	}
	for i := c.tick % n; i < len(c.at); i += n {
		d := c.rand.Unit2().Mul(0.15)
		c.at[i].X, c.at[i].Y = c.at[i].X+d.X, c.at[i].Y+d.Y
		c.set(i)
	}
	if c.tick%4 == 0 {
		c.r.SetDoor(1+c.rand.IntN(len(c.r.open)-1), c.rand.Chance(0.5))
		c.r.Refresh()
	}
}

func (c *crowd) update(f *interest.Finder) (shown int) {
	for i := range c.views {
		f.Update(&c.views[i], c.ix, c.rules,
			interest.Observer{Pos: c.at[i], Speed: 9, RoundTrip: 100 * time.Millisecond})
		shown += len(c.views[i].Entries())
	}
	return shown
}

// BenchmarkUpdate is the views of 200 clients in 400 rooms with 1000 walkers.
func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{0, 100, 5, 1} {
		part := 0
		if n > 0 {
			part = 100 / n
		}
		b.Run(fmt.Sprintf("moving=%d%%", part), func(b *testing.B) {
			c, f := newCrowd(b, 20, 1000, 200), interest.NewFinder()
			for range 3 {
				c.update(f)
			}
			b.ReportAllocs()
			b.ResetTimer()
			shown := 0
			for range b.N {
				b.StopTimer()
				c.move(n)
				b.StartTimer()
				shown = c.update(f)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(c.views)),
				"ns/client")
			b.ReportMetric(float64(shown)/float64(len(c.views)), "shown/client")
		})
	}
}

// BenchmarkSet is a walker that takes a step.
func BenchmarkSet(b *testing.B) {
	c := newCrowd(b, 20, 1000, 0)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i = (i + 1) % len(c.at)
		c.at[i].X += 0.01
		c.set(i)
	}
}

// BenchmarkDoor is a door that moves: what is seen is worked out anew for the rooms that it
// concerns.
func BenchmarkDoor(b *testing.B) {
	c := newCrowd(b, 20, 0, 0)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		c.r.SetDoor(1+n%(len(c.r.open)-1), n/(len(c.r.open)-1)%2 == 0)
		c.r.Refresh()
	}
}

// BenchmarkPlan is what loading a map of 400 rooms costs.
func BenchmarkPlan(b *testing.B) {
	for b.Loop() {
		block(b, 20)
	}
}

func TestNoAllocations(t *testing.T) {
	c, f := newCrowd(t, 12, 400, 60), interest.NewFinder()
	for range 200 {
		c.move(4)
		c.update(f)
	}
	// a view or a list may grow a last time
	if n := testing.AllocsPerRun(100, func() { c.move(4); c.update(f) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}
