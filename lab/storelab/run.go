package storelab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/service/store/database"
	"github.com/coeval-dev/coeval/world"
)

// A run is a game with its desk, and a goroutine that does the desk's jobs, as servers have them.
// A second world of the same game is played without a database, to compare with.
type run struct {
	game  *world.Game
	world *world.World
	bare  *world.World
	in    *world.Inputs
	store kept.Store

	mu   sync.Mutex // of the desk
	desk *kept.Desk

	wake  chan struct{}
	ended chan struct{}
	stops context.CancelFunc
	err   error // of the goroutine

	rests   bool  // the goroutine has nothing to do
	counts  bool  // this is a tick whose answers count
	answers []int // ticks that each took

	shares []time.Duration // what the desk took of each tick
}

func begin(ctx context.Context, db kept.Store, o Options) (*run, error) {
	r := &run{store: db, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	r.game = define(o.Entities, func(ticks int) {
		if r.counts {
			r.answers = append(r.answers, ticks)
		}
	})
	var err error
	if r.world, err = r.game.New(world.Settings{Seed: 1}); err != nil {
		return nil, err
	}
	if r.bare, err = r.game.New(world.Settings{Seed: 1}); err != nil {
		return nil, err
	}
	r.in = r.game.NewInputs()
	r.desk, err = kept.NewDesk(r.game, kept.Options{Owner: "bench store", World: 1, Prune: o.Prune})
	if err != nil {
		return nil, err
	}
	if err := r.desk.Open(ctx, db); err != nil {
		return nil, err
	}
	inner, stops := context.WithCancel(ctx)
	r.stops = stops
	go r.work(inner)
	return r, nil
}

// work does jobs until it is stopped.
func (r *run) work(ctx context.Context) {
	defer close(r.ended)
	for {
		r.mu.Lock()
		j := r.desk.Take(^world.Tick(0))
		r.rests = j == nil
		r.mu.Unlock()
		if j == nil {
			select {
			case <-ctx.Done():
				return
			case <-r.wake:
			}
			continue
		}
		err := j.Run(ctx, r.store)
		r.mu.Lock()
		r.desk.Done(j, err)
		r.mu.Unlock()
		if err != nil && ctx.Err() != nil {
			return // whoever stopped it knows why; a prune may be under way at any time
		}
		if err != nil {
			r.err = fmt.Errorf("a %s: %w", j.Kind(), err)
			return
		}
	}
}

func (r *run) stop() error {
	r.stops()
	<-r.ended
	return r.err
}

// tick computes a tick, with all that a server does for the store.
func (r *run) tick() error {
	began := lab.ThreadTime()
	r.in.Reset()
	r.mu.Lock()
	err := r.desk.Tell(r.in)
	r.mu.Unlock()
	if err != nil {
		return err
	}
	step := lab.ThreadTime()
	r.counts = true
	err = r.world.Host().Step(r.in)
	if r.counts = false; err != nil {
		return err
	}
	step = lab.ThreadTime() - step
	r.mu.Lock()
	r.desk.Tick(r.world)
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
	r.shares = append(r.shares, lab.ThreadTime()-began-step)
	return nil
}

func (r *run) stats() kept.Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.desk.Stats()
}

func (r *run) loaded() int { return int(r.stats().Loads) }

// failed is what the goroutine that does jobs has met.
func (r *run) failed() error {
	select {
	case <-r.ended:
		return r.err
	default:
		return nil
	}
}

// settle has all trades be answered, and all that was changed be written.
func (r *run) settle(ctx context.Context) error {
	world.StateOf[fair](r.world).Trades = 0 // from here on the other world is not played
	for r.stats().Pending > 0 {
		if err := errors.Join(r.tick(), ctx.Err(), r.failed()); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	for range 3 { // the answers come in
		if err := r.tick(); err != nil {
			return err
		}
	}
	for {
		r.mu.Lock()
		left := r.desk.Flush()
		r.mu.Unlock()
		select {
		case r.wake <- struct{}{}:
		default:
		}
		if err := errors.Join(ctx.Err(), r.failed()); err != nil || left == 0 {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// verify loads all into another world, and compares.
func (r *run) verify(ctx context.Context, db database.Database, out *Row) error {
	s, err := db.Status(ctx)
	if err != nil {
		return err
	}
	stats := r.stats()
	written, answers, done := int64(0), uint64(s.Answers), stats.Requests-stats.Again
	for _, c := range s.Classes { // and not what the desk itself notes of its world
		if slices.ContainsFunc(r.game.Classes(), func(i *world.ClassInfo) bool {
			return i.Name() == c.Class
		}) {
			written += c.Rows
		}
	}
	gold, rows := 0, int64(0)
	for _, b := range world.All[body](r.world) {
		gold += b.Gold
		rows += 2
	}
	again, err := r.reload(ctx, db)
	if err != nil {
		return err
	}
	differ := 0
	for id, b := range world.All[body](r.world) {
		if x := world.Get[body](again, id); x == nil || x.Gold != b.Gold || x.Pos != b.Pos {
			differ++
		}
	}
	for id, p := range world.All[pack](r.world) {
		if x := world.Get[pack](again, id); x == nil || x.Ammo != p.Ammo {
			differ++
		}
	}
	switch {
	case written != rows:
		out.Wrong = fmt.Sprintf("there are %d rows, and %d things", written, rows)
	case answers > done || stats.Prunes == 0 && answers < done:
		out.Wrong = fmt.Sprintf("%d answers for %d requests", s.Answers, stats.Requests)
	case gold != riches*int(rows)/2:
		out.Wrong = fmt.Sprintf("there are %d pieces of gold, and were %d", gold, riches*rows/2)
	case differ > 0:
		out.Wrong = fmt.Sprintf("%d things are loaded as something else than they were", differ)
	default:
		out.Verified = true
	}
	return nil
}

// reload begins the game anew, in which nothing moves, and loads what is kept.
func (r *run) reload(ctx context.Context, db kept.Store) (*world.World, error) {
	w, err := r.game.New(world.Settings{Seed: 1})
	if err != nil {
		return nil, err
	}
	things := uint64(0)
	for _, b := range world.All[body](w) {
		b.Still = true
		things++
	}
	for _, p := range world.All[pack](w) {
		p.Still = true
		things++
	}
	d, err := kept.NewDesk(r.game, kept.Options{Owner: "bench store", World: 2})
	if err != nil {
		return nil, err
	}
	if err := d.Open(ctx, db); err != nil {
		return nil, err
	}
	in := r.game.NewInputs()
	for ticks := 0; d.Stats().Loads < things || ticks < 3; ticks++ {
		if d.Stats().Loads < things {
			ticks = 0
		}
		in.Reset()
		if err := d.Tell(in); err != nil {
			return nil, err
		}
		if err := w.Host().Step(in); err != nil {
			return nil, err
		}
		d.Tick(w)
		if err := errors.Join(d.Work(ctx, db), ctx.Err()); err != nil {
			return nil, err
		}
	}
	return w, nil
}
