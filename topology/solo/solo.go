package solo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/world"
)

// Options say what a Run starts from and whom it talks to. The zero value is one player who does
// nothing.
type Options struct {
	// Settings are those of the world.
	Settings world.Settings
	// Players is how many join at the first tick, numbered from 1. Default: 1. Below zero, none
	// does, and Inputs lets them in.
	Players int
	// Inputs fills in what the players do in a tick. They are empty but for who joins.
	Inputs func(t world.Tick, in *world.Inputs)
	// After is called after each tick, with the world as it is then and what went in.
	After func(w *world.World, in *world.Inputs)
	// Ticks is where to stop. Default: never.
	Ticks int
	// Speed is how fast time goes: 1 as it does, 2 twice as fast. Default: 1.
	Speed float64
	// Paused starts with time standing still.
	Paused bool
}

// A Run is a game under way. Its methods may be called from any goroutine; what Inputs and After do
// must not call them.
type Run struct {
	opt   Options
	calls drive.Calls // wakes Real when something was changed that the clock has to know

	mu     sync.Mutex // of the world, and what goes with it
	world  *world.World
	locals *world.Locals // attached to the world, as who plays alone sees sparks too
	in     *world.Inputs
	failed error // the game panicked, and the world is not to be used any more

	speed  atomic.Pointer[float64]
	paused atomic.Bool
	owed   atomic.Int64 // ticks that Advance asked for
	lost   atomic.Int64 // nanoseconds
}

// New makes a world of a game, at tick 0.
func New(g *world.Game, o Options) (*Run, error) {
	w, err := g.New(o.Settings)
	if err != nil {
		return nil, err
	}
	o.Players = cmp.Or(o.Players, 1)
	return begin(w, o)
}

// From goes on with a world that was loaded, or copied from elsewhere. The Run owns it from now on;
// no players join but those that Inputs lets in.
func From(w *world.World, o Options) (*Run, error) {
	o.Players = -1
	return begin(w, o)
}

func begin(w *world.World, o Options) (*Run, error) {
	g := w.Game()
	r := &Run{opt: o, world: w, locals: g.NewLocals(), in: g.NewInputs()}
	r.paused.Store(o.Paused)
	if err := w.Host().SetLocals(r.locals); err != nil {
		return nil, err
	}
	return r, r.SetSpeed(cmp.Or(o.Speed, 1))
}

// ErrEnd says that the run is at its last tick.
var ErrEnd = errors.New("solo: the run has reached its last tick")

// Step computes one tick now, whether or not time stands still. If the game panics the error is a
// *world.Panic, that says where; After is not called, and the run is over.
func (r *Run) Step() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed != nil {
		return r.failed
	}
	if r.opt.Ticks > 0 && r.world.Tick() >= world.Tick(r.opt.Ticks) {
		return ErrEnd
	}
	r.in.Reset()
	if r.world.Tick() == 0 {
		for p := 1; p <= r.opt.Players; p++ {
			r.in.Join(world.Player(p))
		}
	}
	if r.opt.Inputs != nil {
		r.opt.Inputs(r.world.Tick()+1, r.in)
	}
	err := r.world.Host().TryStep(r.in)
	if err != nil { // most ticks are to allocate nothing
		var panicked *world.Panic
		if errors.As(err, &panicked) {
			r.failed = err
			return err
		}
	}
	if local := r.locals.Step(r.world); err == nil {
		err = local
	}
	if r.opt.After != nil {
		r.opt.After(r.world, r.in)
	}
	return err
}

// Fast computes ticks one after the other, without regard to time, until the last or until the
// context ends. An error of the game ends it.
func (r *Run) Fast(ctx context.Context) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.Step(); err != nil {
			return ended(err)
		}
	}
}

func ended(err error) error {
	if errors.Is(err, ErrEnd) {
		return nil
	}
	return err
}

// Real computes ticks as time goes by, until the last or until the context ends. An error of the
// game ends it.
func (r *Run) Real(ctx context.Context) error {
	return ended(drive.Loop{
		Tick: func(time.Duration) error { return r.Step() },
		Pace: r.pace,
		Poll: func(time.Duration) error { return r.pay() }, Polls: 1,
		Lost: func(d time.Duration) { r.lost.Add(int64(d)) }, Calls: &r.calls,
	}.Run(ctx))
}

// pace is how long a tick lasts now; nothing while time stands still.
func (r *Run) pace() time.Duration {
	if r.Paused() {
		return 0
	}
	return time.Duration(float64(r.world.Game().TickLength()) / r.Speed())
}

// pay computes the ticks that Advance asked for.
func (r *Run) pay() error {
	for range r.owed.Swap(0) {
		if err := r.Step(); err != nil {
			return err
		}
	}
	return nil
}

// Lost is how much time was given up because the machine could not keep up.
func (r *Run) Lost() time.Duration { return time.Duration(r.lost.Load()) }

// SetPaused lets time stand still, or go on.
func (r *Run) SetPaused(on bool) {
	r.paused.Store(on)
	r.calls.Wake()
}

// Advance lets Real compute a tick although time stands still: for a key that goes on by one.
// Unlike Step, it leaves the computing to Real's goroutine.
func (r *Run) Advance() {
	r.owed.Add(1)
	r.calls.Wake()
}

// Paused says whether time stands still.
func (r *Run) Paused() bool { return r.paused.Load() }

// SetSpeed changes how fast time goes, from a hundredth to a hundred times.
func (r *Run) SetSpeed(x float64) error {
	if !(x >= 0.01 && x <= 100) {
		return fmt.Errorf("solo: a speed of %v; choose 0.01 to 100, or Fast for no regard to time",
			x)
	}
	r.speed.Store(&x)
	r.calls.Wake()
	return nil
}

// Speed is how fast time goes.
func (r *Run) Speed() float64 { return *r.speed.Load() }

// View lets f look at the world, between ticks. If the game panicked there is nothing to look at,
// and f is not called.
func (r *Run) View(f func(w *world.World)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		f(r.world)
	}
}
