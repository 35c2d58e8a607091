package lab

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// PredictOptions say how prediction is measured. The zero value is 1000 entities, predicted again over 8 ticks.
type PredictOptions struct {
	// Entities is how many are in view, all of them moving. Default: 1000.
	Entities int
	// Ticks is how many are predicted again. Default: 8.
	Ticks int
	// Rounds is how often everything is timed; the quickest counts. Default: 40.
	Rounds int
	// Progress, if set, is told how much of the work is done, from 0 to 1.
	Progress func(done float64)
}

// PredictResult is what a snapshot costs a client that predicts, in milliseconds. The JSON names are for scripts and stay.
type PredictResult struct {
	Entities int    `json:"entities"`
	Fields   int    `json:"fields"`
	Ticks    int    `json:"ticks"`
	Platform string `json:"platform"`

	Tick      float64 `json:"tick_ms"`       // a tick of normal play: every entity steps, and the world is kept
	Take      float64 `json:"take_ms"`       // a snapshot with all entities, up to the comparison
	Same      float64 `json:"same_ms"`       // the prediction after it, if nothing differs: nothing is computed again
	All       float64 `json:"all_ms"`        // if something differs: all ticks of all entities
	Alone     float64 `json:"alone_ms"`      // the same, where the class says that its entities do not look at each other; one in a hundred was wrong
	PerEntity float64 `json:"ns_per_entity"` // of All, for each entity and tick
	Show      float64 `json:"show_ms"`       // the world to draw
	Allocs    float64 `json:"allocs"`        // of a snapshot, predicting again, and showing

	// Verified says that after predicting again the present was what the server came to.
	Verified bool   `json:"verified"`
	Wrong    string `json:"wrong,omitempty"`
}

// Check is an error if the result is not verified.
func (r *PredictResult) Check() error {
	if r.Verified {
		return nil
	}
	return fmt.Errorf("what was predicted is not what came to be: %s", r.Wrong)
}

// Predict measures what a snapshot costs a client: taking it, and predicting anew from it, with and without skipping what was right.
func Predict(ctx context.Context, o PredictOptions) (*PredictResult, error) {
	if o.Entities == 0 {
		o.Entities = 1000
	}
	if o.Ticks == 0 {
		o.Ticks = 8
	}
	if o.Rounds == 0 {
		o.Rounds = 40
	}
	if o.Entities < 1 || o.Entities > 60000 || o.Ticks < 1 || o.Ticks > 50 || o.Rounds < 1 {
		return nil, fmt.Errorf("%d entities, %d ticks, %d rounds: choose 1 to 60000 entities, 1 to 50 ticks and at least 1 round", o.Entities, o.Ticks, o.Rounds)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all, err := newPredictBench(o, false)
	if err != nil {
		return nil, err
	}
	alone, err := newPredictBench(o, true)
	if err != nil {
		return nil, err
	}
	for i := range o.Rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := errors.Join(all.round(), alone.round()); err != nil {
			return nil, err
		}
		if o.Progress != nil {
			o.Progress(float64(i+1) / float64(o.Rounds))
		}
	}
	ms := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
	r := &PredictResult{
		Entities: o.Entities, Fields: len(all.server.Game().Classes()[0].Schema().Slots), Ticks: o.Ticks, Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Tick: ms(all.tick), Take: ms(all.take), Same: ms(all.same), All: ms(all.again), Alone: ms(alone.again), Show: ms(all.show),
		PerEntity: float64(all.again.Nanoseconds()) / float64(o.Entities*o.Ticks),
	}
	if r.Allocs, err = all.allocations(); err != nil {
		return nil, err
	}
	if err := errors.Join(all.verify(), alone.verify()); err != nil {
		r.Wrong = err.Error()
	} else {
		r.Verified = true
	}
	return r, nil
}

// A walking soldier moves by itself; it has the 20 fields of bench world.
type walking struct{ soldier }

// Step marches on, and turns around at the border.
func (s *walking) Step(w *world.World, me world.ID) {
	s.Pos = s.Pos.MulAdd(s.Vel, w.Seconds())
	if s.Pos.X < 100 && s.Vel.X < 0 || s.Pos.X > 16000 && s.Vel.X > 0 {
		s.Vel.X = -s.Vel.X
	}
	if s.Pos.Y < 100 && s.Vel.Y < 0 || s.Pos.Y > 16000 && s.Vel.Y > 0 {
		s.Vel.Y = -s.Vel.Y
	}
	if s.Pos.Z < 100 && s.Vel.Z < 0 || s.Pos.Z > 1900 && s.Vel.Z > 0 {
		s.Vel.Z = -s.Vel.Z
	}
	s.Yaw += 0.01
	s.Legs++
}

// predictBench is a client and the world of its server, as far apart as the ticks that are predicted again.
type predictBench struct {
	o      PredictOptions
	server *world.World // at the tick of the next snapshot
	future *world.World // as the client's present will be
	client *predict.Client
	snap   replica.Snapshot
	images []int32
	now    time.Duration
	n      int

	tick, take, same, again, show time.Duration // of the quickest round
}

func newPredictBench(o PredictOptions, alone bool) (*predictBench, error) {
	g := world.Define("predicted", world.Class[walking](world.ClassOptions{Limit: o.Entities + 64}), world.OnStart(func(w *world.World) {
		for range o.Entities {
			r := w.Rand()
			v := walking{}
			v.Pos.X, v.Pos.Y, v.Pos.Z = r.Range(200, 15900), r.Range(200, 15900), r.Range(200, 1800)
			v.Vel, v.Yaw, v.Health, v.Weapon = r.Unit3().Mul(320), r.Angle(), 100, uint8(r.IntN(9))
			world.Spawn(w, v)
		}
	}))
	w, err := g.New(world.Settings{Seed: 1})
	if err != nil {
		return nil, err
	}
	c, err := predict.New(g, predict.Options{Classes: map[string]predict.Class{"walking": {Alone: alone}}, Clock: predict.ClockOptions{Guard: 0.01}})
	if err != nil {
		return nil, err
	}
	b := &predictBench{o: o, server: w, future: w.Host().Clone(), client: c}
	for _, d := range []*time.Duration{&b.tick, &b.take, &b.same, &b.again, &b.show} {
		*d = 1 << 62
	}
	b.snapshot(false)
	c.Snapshot(b.now, &b.snap) // where it starts from
	return b, c.Err()
}

// snapshot makes one of all entities, as the server has them; of one in a hundred, if wrong, with another health, which the client could not foresee.
func (b *predictBench) snapshot(wrong bool) {
	b.n++
	b.snap.Tick, b.snap.Certain = b.server.Tick(), true
	b.snap.Updates, b.images = b.snap.Updates[:0], b.images[:0]
	for id := range b.server.Entities() {
		from := len(b.images)
		b.images = append(b.images, b.server.Host().Image(id)...)
		b.snap.Updates = append(b.snap.Updates, replica.Update{ID: id, What: replica.Held, Entry: b.server.Host().Entry(id), Image: b.images[from:]})
	}
	if !wrong {
		return
	}
	slots := b.server.Game().Classes()[0].Schema().Slots
	health := slices.IndexFunc(slots, func(s bits.Slot) bool { return s.Name == "soldier.Health" })
	if health < 0 {
		health = len(slots) - 1
	}
	for i := range b.snap.Updates {
		if i%100 == b.n%100 {
			b.snap.Updates[i].Image[health] ^= 1
		}
	}
}

// advance brings the client to the tick that is so many ahead of the server's.
func (b *predictBench) advance() {
	for b.client.Tick() < b.server.Tick()+world.Tick(b.o.Ticks) {
		b.client.Next()
		b.client.Step()
	}
}

// round takes a snapshot that is as predicted, and one that is not.
func (b *predictBench) round() error {
	timed := func(best *time.Duration, f func()) {
		start := threadTime()
		f()
		*best = min(*best, threadTime()-start)
	}
	if err := b.step(); err != nil {
		return err
	}
	b.advance()
	b.snapshot(false)
	timed(&b.take, func() { b.client.Snapshot(b.now, &b.snap) })
	timed(&b.same, func() { b.client.Repredict() })
	timed(&b.tick, func() { b.client.Next(); b.client.Step() })
	if err := b.step(); err != nil {
		return err
	}
	b.advance()
	b.snapshot(true)
	whole := time.Duration(0)
	start := threadTime()
	b.client.Snapshot(b.now, &b.snap)
	b.client.Repredict()
	whole = threadTime() - start
	b.again = min(b.again, max(whole-b.take, 0))
	timed(&b.show, func() { b.client.Show(b.now) })
	// What was changed is changed on the server, too.
	for i := range b.snap.Updates {
		u := &b.snap.Updates[i]
		if !slices.Equal(b.server.Host().Image(u.ID), u.Image) {
			if err := b.change(u); err != nil {
				return err
			}
		}
	}
	return b.client.Err()
}

// change sets an entity of the server's world.
func (b *predictBench) change(u *replica.Update) error {
	s := world.Get[walking](b.server, u.ID)
	var sync bits.Sync
	return b.server.Game().Classes()[u.ID.Class()].Layout().Unpack(&sync, s, u.Image)
}

func (b *predictBench) step() error {
	b.now += b.server.Game().TickLength()
	return b.server.Host().Step(nil)
}

// verify compares the client's present with what the server comes to.
func (b *predictBench) verify() error {
	if err := errors.Join(b.step(), b.future.Host().CopyFrom(b.server)); err != nil {
		return err
	}
	b.snapshot(false)
	b.client.Snapshot(b.now, &b.snap)
	b.advance()
	for range b.o.Ticks {
		if err := b.future.Host().Step(nil); err != nil {
			return err
		}
	}
	w := b.client.Show(b.now)
	if w.Tick() != b.future.Tick() {
		return fmt.Errorf("the client is at tick %d and not %d", w.Tick(), b.future.Tick())
	}
	for id := range b.future.Entities() {
		if !slices.Equal(w.Host().Image(id), b.future.Host().Image(id)) {
			return fmt.Errorf("entity %v is predicted as %v and comes to be %v", id, w.Host().Image(id), b.future.Host().Image(id))
		}
	}
	return nil
}

// allocations counts those of a round.
func (b *predictBench) allocations() (float64, error) {
	least := uint64(1 << 62)
	for range 5 {
		if err := b.step(); err != nil {
			return 0, err
		}
		b.advance()
		b.snapshot(true)
		before := mallocs()
		b.client.Snapshot(b.now, &b.snap)
		b.client.Show(b.now)
		least = min(least, mallocs()-before)
		for i := range b.snap.Updates {
			if u := &b.snap.Updates[i]; !slices.Equal(b.server.Host().Image(u.ID), u.Image) {
				if err := b.change(u); err != nil {
					return 0, err
				}
			}
		}
	}
	return float64(least), nil
}
