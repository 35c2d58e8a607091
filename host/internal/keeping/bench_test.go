//go:build !js

package keeping

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/world"
)

// entities is how many the world has that is kept in benchmarks.
const entities = 10000

// A soldier has as many fields as a player of a first-person shooter, and always moves.
type soldier struct {
	Pos, Vel    det.Vec3
	Yaw, Pitch  det.Angle
	Health      int
	Legs, Torso int
	Ammo        [8]int
}

func (p *soldier) Sync(s *bits.Sync) {
	s.Vec3(&p.Pos, -32768, 32768, 1.0/8)
	s.Vec3(&p.Vel, -2048, 2048, 1.0/8)
	s.Angle(&p.Yaw, 12)
	s.Angle(&p.Pitch, 12)
	s.Int(&p.Health, 0, 200)
	s.Int(&p.Legs, 0, 1<<12)
	s.Int(&p.Torso, 0, 1<<12)
	for i := range p.Ammo {
		s.Int(&p.Ammo[i], 0, 255)
	}
}

func (p *soldier) Step(w *world.World, _ world.ID) {
	p.Pos = p.Pos.MulAdd(p.Vel, w.Seconds())
	p.Yaw = (p.Yaw + 0.01).Wrap()
	p.Legs = (p.Legs + 1) % 4096
	p.Ammo[p.Legs%8] = p.Legs % 256
	if p.Pos.X > 32000 || p.Pos.X < -32000 {
		p.Vel.X = -p.Vel.X
	}
}

// army makes a world in which all entities move at every tick.
func army(b *testing.B) *world.World {
	b.Helper()
	g := world.Define("bench", world.Class[soldier](world.ClassOptions{Limit: entities}),
		world.OnStart(func(w *world.World) {
			for range entities {
				r := w.Rand()
				at := det.Vec3{X: r.Range(0, 16000), Y: r.Range(0, 16000), Z: r.Range(0, 2000)}
				world.Spawn(w, soldier{Pos: at, Vel: det.Vec3{X: r.Range(-300, 300)}, Health: 100})
			}
		}))
	w, err := g.New(world.Settings{Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	return w
}

// BenchmarkHandOver is what a tick costs the goroutine that computes it, with 64 seats.
func BenchmarkHandOver(b *testing.B) {
	m := begin(b, Options{Dir: b.TempDir(), Flush: Flush{Never: true}, Every: time.Hour})
	for p := world.Player(1); p <= 64; p++ {
		m.seats = append(m.seats, keep.Seat{Client: uint64(p), Player: p, Name: "somebody"})
	}
	k := m.k
	in := pong.Game.NewInputs()
	for range 2000 {
		if err := m.world.Host().Step(in); err != nil {
			b.Fatal(err)
		}
		for len(k.free) < queued/2 {
			time.Sleep(time.Microsecond)
		}
		k.Tick(m.world, in, m.seats)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := m.world.Host().Step(in); err != nil {
			b.Fatal(err)
		}
		for len(k.free) < queued/2 { // the other goroutine has 16 ms for it in a game
			b.StopTimer()
			time.Sleep(time.Millisecond)
			b.StartTimer()
		}
		k.Tick(m.world, in, m.seats)
	}
	if n := k.Numbers(); n.Missed > 0 {
		b.Errorf("%d ticks were missed", n.Missed)
	}
	_ = k.Close(nil)
}

// BenchmarkTicks plays a world of 10,000 entities at 60 ticks a second, with and without keeping
// it, a second of each in turn. Each second that is kept writes the world twice, once in its
// middle. Times are those of the thread that computes the ticks, to which nothing else on the
// machine adds.
func BenchmarkTicks(b *testing.B) {
	w := army(b)
	in := w.Game().NewInputs()
	k, err := Open(w.Game(), Options{Dir: b.TempDir(), Every: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	if err := k.Begin(w, game.Level{Name: "field"}, nil); err != nil {
		b.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var without, with, added, copied []time.Duration
	const second = 60
	pace := time.NewTicker(time.Second / second)
	defer pace.Stop()
	for b.Loop() {
		for i := range 2 * second {
			<-pace.C
			began := lab.ThreadTime()
			if err := w.Host().Step(in); err != nil {
				b.Fatal(err)
			}
			stepped := lab.ThreadTime()
			if i < second {
				without = append(without, stepped-began)
				k.gap, k.since = true, time.Now() // these ticks are in no journal
				continue
			}
			whole := i == second || i == second*3/2
			if whole {
				k.since = time.Time{}
			}
			k.Tick(w, in, nil)
			done := lab.ThreadTime()
			if with, added = append(with, done-began), append(added, done-stepped); whole {
				copied = append(copied, done-stepped)
			}
		}
	}
	micros := func(list []time.Duration, part float64) float64 {
		slices.Sort(list)
		return float64(list[int(float64(len(list)-1)*part)].Nanoseconds()) / 1000
	}
	b.ReportMetric(micros(without, 0.99), "p99-without-µs")
	b.ReportMetric(micros(with, 0.99), "p99-with-µs")
	b.ReportMetric(micros(added, 0.5), "added-p50-µs")
	b.ReportMetric(micros(added, 0.99), "added-p99-µs")
	b.ReportMetric(micros(copied, 0.5), "whole-p50-µs")
	b.ReportMetric(micros(copied, 1), "whole-max-µs")
	n := k.Numbers()
	b.ReportMetric(float64(n.Chapter.Microseconds())/1000, "written-in-ms")
	if n.Chapters == 0 {
		b.Errorf("%v", n)
	}
	if err := k.Close(w); err != nil {
		b.Error(err)
	}
}

// BenchmarkComeBack is how long a game of 10,000 entities takes to come back after a crash, with as
// many ticks in its journal as there are at most: those that took a second to compute.
func BenchmarkComeBack(b *testing.B) {
	w := army(b)
	in := w.Game().NewInputs()
	o := Options{Dir: b.TempDir(), Flush: Flush{Never: true}, Every: time.Hour}
	k, err := Open(w.Game(), o)
	if err != nil {
		b.Fatal(err)
	}
	if err := k.Begin(w, game.Level{Name: "field"}, nil); err != nil {
		b.Fatal(err)
	}
	ticks := 0
	for spent := time.Duration(0); spent < longestReplay; ticks++ {
		began := time.Now()
		if err := w.Host().Step(in); err != nil {
			b.Fatal(err)
		}
		spent += time.Since(began)
		k.Tick(w, in, nil)
	}
	if err := k.Close(nil); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		k, err := Open(w.Game(), o)
		if err != nil {
			b.Fatal(err)
		}
		if got := k.Kept().World; got.Tick() != w.Tick() || got.Hash() != w.Hash() {
			b.Errorf("tick %d of %d", got.Tick(), w.Tick())
		}
		if err := k.Close(nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(ticks), "ticks")
}
