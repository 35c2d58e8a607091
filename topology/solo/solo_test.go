package solo

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/world"
)

// walker counts its ticks and goes where it is told.
type walker struct{ Ticks, At int }

func (x *walker) Sync(s *bits.Sync) {
	s.Int(&x.Ticks, 0, 1<<20)
	s.Int(&x.At, 0, 1<<20)
}

func (x *walker) Step(w *world.World, me world.ID) {
	x.Ticks++
	x.At += world.Command[walk](w, me).By
}

type walk struct{ By int }

func (c *walk) Sync(s *bits.Sync) { s.Int(&c.By, 0, 3) }

var game = world.Define("walk", world.Rate(100), world.Class[walker](world.ClassOptions{Limit: 3}),
	world.Commands[walk](),
	world.OnJoin(func(w *world.World, p world.Player) { w.SetOwner(world.Spawn(w, walker{}), p) }))

func newRun(t *testing.T, o Options) *Run {
	t.Helper()
	r, err := New(game, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *Run) tick() (t world.Tick) {
	r.View(func(w *world.World) { t = w.Tick() })
	return t
}

func TestFastReachesTheEnd(t *testing.T) {
	after := 0
	r := newRun(t, Options{Ticks: 50, Players: 2,
		Inputs: func(tick world.Tick, in *world.Inputs) {
			if err := world.Give(in, 1, walk{By: 2}); err != nil {
				t.Error(err)
			}
		},
		After: func(w *world.World, in *world.Inputs) {
			after++
			if int(w.Tick()) != after || len(in.Players()) != 1 {
				t.Error(w.Tick(), after, in.Players())
			}
		}})
	if err := r.Fast(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.tick() != 50 || after != 50 {
		t.Error(r.tick(), after)
	}
	r.View(func(w *world.World) {
		for id, x := range world.All[walker](w) {
			want := walker{Ticks: 49}
			if w.Owner(id) == 1 {
				want.At = 98
			}
			if *x != want {
				t.Errorf("player %d: %+v", w.Owner(id), *x)
			}
		}
	})
	if err := r.Step(); !errors.Is(err, ErrEnd) {
		t.Error(err)
	}
}

// TestRealTime runs in a bubble where time is virtual: it passes when all are waiting for it.
func TestRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, Options{})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Real(ctx) }()
		var last world.Tick
		pass := func(d time.Duration, want int) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := int(r.tick() - last); got < want-1 || got > want+1 {
				t.Errorf("%d ticks in %v, want %d", got, d, want)
			}
			last = r.tick()
		}
		pass(time.Second, 100)
		if err := r.SetSpeed(3); err != nil {
			t.Error(err)
		}
		pass(time.Second, 300)
		if err := r.SetSpeed(0.5); err != nil {
			t.Error(err)
		}
		pass(2*time.Second, 100)
		r.SetPaused(true)
		pass(time.Hour, 0)
		at := r.tick()
		for range 5 {
			if err := r.Step(); err != nil {
				t.Error(err)
			}
		}
		if r.tick() != at+5 {
			t.Errorf("%d ticks by hand", r.tick()-at)
		}
		for range 3 {
			r.Advance()
		}
		synctest.Wait()
		if r.tick() != at+8 {
			t.Errorf("%d ticks by hand and asked for", r.tick()-at)
		}
		last = r.tick()
		r.SetPaused(false)
		pass(2*time.Second, 100)
		if r.Lost() != 0 {
			t.Errorf("%v lost", r.Lost())
		}
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestTimeThatCannotBeCaughtUpIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := true
		r := newRun(t, Options{Ticks: 100, After: func(w *world.World, _ *world.Inputs) {
			if w.Tick() == 10 && slow {
				slow = false
				time.Sleep(time.Minute) // the lid was closed
			}
		}})
		start := time.Now()
		if err := r.Real(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took < time.Minute+900*time.Millisecond-drive.Stall ||
			r.Lost() < 59*time.Second {
			t.Errorf("100 ticks took %v, %v given up", took, r.Lost())
		}
	})
}

func TestErrors(t *testing.T) {
	for _, x := range []float64{-1, 1e9} {
		if _, err := New(game, Options{Speed: x}); err == nil {
			t.Errorf("a speed of %v", x)
		}
	}
	if _, err := New(world.Define(""), Options{}); err == nil {
		t.Error("a game that has mistakes")
	}
	r := newRun(t, Options{Players: 9, Ticks: 5})
	if err := r.Fast(t.Context()); !errors.Is(err, world.ErrLimit) {
		t.Error(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	r = newRun(t, Options{Players: -1})
	if err := r.Fast(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestFromGoesOn(t *testing.T) {
	a := newRun(t, Options{Ticks: 80})
	for range 30 {
		if err := a.Step(); err != nil {
			t.Fatal(err)
		}
	}
	var data []byte
	a.View(func(w *world.World) { data = w.Host().Save(nil) })
	w, err := game.Load(data)
	if err != nil {
		t.Fatal(err)
	}
	b, err := From(w, Options{Ticks: 80})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.Fast(t.Context()), b.Fast(t.Context())); err != nil {
		t.Fatal(err)
	}
	a.View(func(x *world.World) {
		b.View(func(y *world.World) {
			if d := world.Differ(x, y); d != nil {
				t.Error(d)
			}
		})
	})
}

// A puff of dust lasts for three ticks, and is no part of the world.
type puff struct{ Age int }

func (p *puff) Step(w *world.World, me world.ID) {
	if p.Age++; p.Age == 3 {
		w.Remove(me)
	}
}

type runner struct{ Ticks int }

func (x *runner) Sync(s *bits.Sync) { s.Int(&x.Ticks, 0, 1<<20) }
func (x *runner) Step(w *world.World, me world.ID) {
	x.Ticks++
	world.Spawn(w, puff{})
}

func TestLocalEntitiesAreSeenAlone(t *testing.T) {
	g := world.Define("run", world.Class[runner](), world.Local[puff](),
		world.OnStart(func(w *world.World) { world.Spawn(w, runner{}) }))
	after := 0
	r, err := New(g,
		Options{Ticks: 10,
			After: func(w *world.World, in *world.Inputs) { after = world.Count[puff](w) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Fast(context.Background()); err != nil || after != 3 {
		t.Errorf("%d puffs, %v", after, err)
	}
	var saved []byte
	r.View(func(w *world.World) { saved = w.Host().Save(nil) })
	w, err := g.Load(saved)
	if err != nil {
		t.Fatal(err)
	}
	again, err := From(w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	again.View(func(w *world.World) { after = world.Count[puff](w) })
	if after != 0 {
		t.Errorf("%d puffs were saved", after)
	}
	if err := again.Step(); err != nil {
		t.Fatal(err)
	}
	again.View(func(w *world.World) { after = world.Count[puff](w) })
	if after != 1 {
		t.Errorf("%d puffs after a tick", after)
	}
}

// A fuse makes its game panic when it has burnt down.
type fuse struct{ Left int }

func (f *fuse) Sync(s *bits.Sync) { s.Int(&f.Left, 0, 100) }

func (f *fuse) Step(*world.World, world.ID) {
	if f.Left--; f.Left == 0 {
		panic("boom")
	}
}

func TestPanicIsAnError(t *testing.T) {
	fuses := world.Define("fuses", world.Class[fuse](),
		world.OnStart(func(w *world.World) { world.Spawn(w, fuse{Left: 7}) }))
	after := 0
	r, err := New(fuses, Options{After: func(*world.World, *world.Inputs) { after++ }})
	if err != nil {
		t.Fatal(err)
	}
	var p *world.Panic
	if err := r.Fast(t.Context()); !errors.As(err, &p) || p.Tick != 7 || p.Class != "fuse" ||
		after != 6 {
		t.Errorf("%v after %d ticks", err, after)
	}
	if err := r.Step(); !errors.As(err, &p) {
		t.Errorf("it goes on: %v", err)
	}
	r.View(func(*world.World) { t.Error("a world that stopped in the middle of a tick is shown") })
}
