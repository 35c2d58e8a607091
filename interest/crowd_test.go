package interest

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

type fataler interface {
	Fatalf(format string, args ...any)
}

// seeds is how many seeds a test runs: n, or that many times COEVAL_SEEDS for a soak.
func seeds(n int) uint64 {
	if k, err := strconv.Atoi(os.Getenv("COEVAL_SEEDS")); err == nil && k > 0 {
		return uint64(n * k)
	}
	return uint64(n)
}

// A crowd is a square full of things that run about, some of which are players. Whatever its size,
// it is so dense that a player sees the given number of others on average.
type crowd struct {
	seed    uint64
	tick    uint64
	side    float64
	ix      *Index
	ids     []world.ID
	traits  []Traits
	vel     []det.Vec2
	players int // the first so many
}

const crowdRadius = 50

// crowdRules are those of a game with most of what there is: seen, heard, owned, told.
var crowdRules = &Rules{Sources: []Source{
	&Owned{Weight: 10},
	&Always{},
	&Radius{Enter: crowdRadius, Leave: 55},
	&Sound{Weight: 0.5},
	&Channel{Weight: 0.2},
}}

func newCrowd(seed uint64, entities, players int, others float64, o Options) *crowd {
	c := &crowd{
		seed: seed, side: math.Sqrt(
			float64(entities) * math.Pi * crowdRadius * crowdRadius / others), ix: NewIndex(o),
		players: players}
	for i := range entities {
		r := det.At(seed, uint64(i), 0)
		c.ids = append(c.ids, world.MakeID(min(i/players, 1), 0, i, 1))
		c.traits = append(c.traits,
			Traits{Pos: det.Vec3{X: r.Range(0, c.side), Y: r.Range(0, c.side)}, Speed: 8})
		c.vel = append(c.vel, r.Unit2().Mul(8))
		if i < players {
			c.traits[i].Owner = world.Player(i + 1)
		}
		c.ix.Set(c.ids[i], c.traits[i])
	}
	return c
}

// step moves a part of the crowd by a 60th of a second.
func (c *crowd) step(moving float64) (moved []int) {
	c.tick++
	for i := range c.ids {
		r := det.At(c.seed, uint64(i), c.tick)
		if !r.Chance(moving) {
			continue
		}
		t := &c.traits[i]
		for axis, p := range []*float64{&t.Pos.X, &t.Pos.Y} {
			v := []*float64{&c.vel[i].X, &c.vel[i].Y}[axis]
			*p += *v / 60
			if *p < 0 || *p > c.side {
				*v = -*v
			}
		}
		moved = append(moved, i)
	}
	return moved
}

func (c *crowd) set(moved []int) {
	for _, i := range moved {
		c.ix.Set(c.ids[i], c.traits[i])
	}
}

func (c *crowd) observer(player int) Observer {
	return Observer{
		Pos: c.traits[player].Pos, Speed: 8,
		RoundTrip: time.Duration(20+player%100) * time.Millisecond,
		Player:    world.Player(player + 1)}
}

// Crowds in motion, at rest and in between, with things that come, go, sound and matter, for many
// ticks: all views are what the oracle says.
func TestCrowd(t *testing.T) {
	for seed := range seeds(4) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			c := newCrowd(seed, 300, 10, 20, Options{Cell: 25})
			or := &oracle{map[world.ID]Traits{}, 250 * time.Millisecond}
			for i, id := range c.ids {
				or.entities[id] = c.traits[i]
			}
			rules := *crowdRules
			rules.Sources = append([]Source{
				&Limit{Of: &Radius{Enter: 70, Leave: 90, Weight: 0.3}, Max: 12}}, rules.Sources...)
			watchers := make([]watcher, c.players)
			finder := NewFinder()
			const ticks = 80
			entered, left, quiet := 0, 0, 0
			for tick := range uint64(ticks) {
				r := det.At(seed, 1<<40, tick)
				moved := c.step([]float64{0, 0.01, 0.2, 1}[tick/4%4])
				for range r.IntN(3) {
					i := c.players + r.IntN(len(c.ids)-c.players)
					v := &c.traits[i]
					v.Sound, v.Always, v.Importance = []float64{0, 30, 150}[r.IntN(3)],
						r.Chance(0.1), float32(r.IntN(3))
					v.Channels, v.Only = uint64(r.IntN(3)), uint64(r.IntN(2))
					if r.Chance(0.3) {
						c.ix.Remove(c.ids[i])
						delete(or.entities, c.ids[i])
						c.ids[i] = world.MakeID(1, 0, i, c.ids[i].Generation()+1)
					}
					moved = append(moved, i)
				}
				c.set(moved)
				for _, i := range moved {
					or.entities[c.ids[i]] = c.traits[i]
				}
				for n := range watchers {
					w := &watchers[n]
					w.r, w.o = &rules, c.observer(n)
					w.o.Channels = uint64(n % 4)
					w.check(t, n, finder, c.ix, or)
					entered, left = entered+len(w.view.Entered()), left+len(w.view.Left())+
						len(w.view.Removed())
					if len(moved) == 0 {
						quiet++
					}
				}
			}
			if entered < 20 || left < 10 || quiet < 10 {
				t.Fatalf("%d entered, %d left, %d were quiet: too little happens for the test to "+
					"mean anything", entered, left, quiet)
			}
		})
	}
}

// Different finders update different views of one index at the same time, and the views are those
// that one finder makes. The race detector looks on.
func TestParallel(t *testing.T) {
	const workers = 4
	c := newCrowd(7, 1000, 100, 30, Options{})
	alone, together := make([]View, c.players), make([]View, c.players)
	finders := make([]*Finder, workers)
	for i := range finders {
		finders[i] = NewFinder()
	}
	one := NewFinder()
	for range 20 {
		c.set(c.step(0.5))
		var wg sync.WaitGroup
		for n, f := range finders {
			wg.Go(func() {
				for i := n; i < c.players; i += workers {
					f.Update(&together[i], c.ix, crowdRules, c.observer(i))
				}
			})
		}
		wg.Wait()
		for i := range alone {
			one.Update(&alone[i], c.ix, crowdRules, c.observer(i))
			if !reflect.DeepEqual(alone[i].Entries(), together[i].Entries()) {
				t.Fatalf("client %d: alone %v, together %v", i, alone[i].Entries(),
					together[i].Entries())
			}
		}
	}
}

// Once everything has been everywhere nothing is allocated: not by motion, nor by things that come
// and go, nor by sounds, nor by views.
func TestNoAllocations(t *testing.T) {
	c := newCrowd(3, 300, 25, 20, Options{})
	rules := &Rules{Sources: append([]Source{
		&Limit{Of: Any{&Radius{Enter: 100}, &Where{Of: &Sound{}, In: &Everything{}}}, Max: 10},
		&Relevance{Of: &Except{Of: &Radius{Enter: 30}, Not: &Sound{}}, Judge: judge, Steady: true},
	}, crowdRules.Sources...)}
	views := make([]View, c.players)
	f := NewFinder()
	moved := make([]int, 0, len(c.ids))
	tick := func() {
		c.tick++
		moved = moved[:0]
		for i := range c.ids {
			// the same again and again, so that there is a steady state to speak of
			r := det.At(3, uint64(i), c.tick%64)
			if !r.Chance(0.3) {
				continue
			}
			c.traits[i].Pos = det.Vec3{X: r.Range(0, c.side), Y: r.Range(0, c.side)}
			c.traits[i].Sound = float64(r.IntN(2) * 60)
			c.traits[i].Always = r.Chance(0.01)
			c.traits[i].Channels = uint64(r.IntN(4))
			if r.Chance(0.1) {
				c.ix.Remove(c.ids[i])
				c.ids[i] = world.MakeID(c.ids[i].Class(), 0, i, 1+int(r.Uint64N(1000)))
			}
			moved = append(moved, i)
		}
		c.set(moved)
		for i := range views {
			o := c.observer(i)
			o.Channels = uint64(i % 4)
			f.Update(&views[i], c.ix, rules, o)
		}
		for i := range views { // and again, for the path that finds nothing to do
			o := c.observer(i)
			o.Channels = uint64(i % 4)
			f.Update(&views[i], c.ix, rules, o)
		}
	}
	for range 3 * 64 {
		tick()
	}
	if n := testing.AllocsPerRun(64, tick); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
}

// A thing that wanders without end does not fill the memory with the cells that it was in, and who
// watches is not misled when those are forgotten.
func TestWander(t *testing.T) {
	ix := NewIndex(Options{Cell: 1})
	or := &oracle{map[world.ID]Traits{}, 250 * time.Millisecond}
	f := NewFinder()
	still := watcher{r: &Rules{Sources: []Source{&Radius{Enter: 3}}}}
	with := watcher{r: still.r}
	wanderer, stone := world.MakeID(0, 0, 0, 1), world.MakeID(0, 0, 1, 1)
	or.entities[stone] = Traits{Pos: det.Vec3{Y: 1}}
	ix.Set(stone, or.entities[stone])
	most := 0
	for tick := range 5000 {
		p := det.Vec3{X: float64(tick)}
		if tick%7 < 3 {
			p.X = 1 // home for a while, so that cells are forgotten just when it leaves, too
		}
		or.entities[wanderer] = Traits{Pos: p}
		ix.Set(wanderer, or.entities[wanderer])
		with.o.Pos = p
		with.check(t, 0, f, ix, or)
		still.check(t, 1, f, ix, or)
		most = max(most, len(ix.sight.levels[0].cells))
	}
	if most > 300 {
		t.Errorf("%d cells for two things", most)
	}
	before := &ix.sight.levels[0].cells[:1][0]
	for tick := range 2000 {
		ix.Set(wanderer, Traits{Pos: det.Vec3{Y: float64(tick)}})
	}
	if before != &ix.sight.levels[0].cells[0] {
		t.Error("forgetting cells takes new memory")
	}
}
