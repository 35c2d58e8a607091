// Package predictlab measures what a snapshot costs a client that predicts.
//
//	host/tools/bench   {program} bench predict
//	lab/predictlab     the measurement           <- here
//	predict            what is measured
package predictlab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/worldlab"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// Options say how prediction is measured. The zero value is 1000 entities, all of them moving,
// predicted again over 8 ticks.
type Options struct {
	Entities, Ticks, Rounds int
	Progress                lab.Progress
}

// List describes the options.
func (o *Options) List() []*lab.Option {
	return []*lab.Option{
		lab.Number(&o.Entities, "entities", 1000, 1, 60000, "how many are in view"),
		lab.Number(&o.Ticks, "ticks", 8, 1, 50, "how many ticks are predicted again"),
		lab.Number(&o.Rounds, "rounds", 40, 1, math.MaxInt,
			"how often everything is timed; the quickest counts"),
	}
}

// Result is what a snapshot costs a client that predicts, in milliseconds. The JSON names are for
// scripts and stay.
type Result struct {
	Entities int    `json:"entities"`
	Fields   int    `json:"fields"`
	Ticks    int    `json:"ticks"`
	Platform string `json:"platform"`

	// Tick is one of normal play: every entity steps, and the world is kept.
	Tick float64 `json:"tick_ms" head:"a tick" as:"%.3f ms"`
	// Take is a snapshot with all entities, up to the comparison.
	Take float64 `json:"take_ms" head:"taking a snapshot" as:"%.3f ms"`
	// Same is the prediction after it, if nothing differs: nothing is computed again.
	Same float64 `json:"same_ms" head:"predicting again, all as predicted: nothing is computed" as:"%.3f ms"`
	// All is the same if one in a hundred differs: all ticks of all entities.
	All float64 `json:"all_ms" head:"one in a hundred not" as:"%.3f ms"`
	// Alone is the same where the class says that its entities do not look at each other.
	Alone     float64 `json:"alone_ms" head:"the same, entities alone: only those that were wrong" as:"%.3f ms"`
	PerEntity float64 `json:"ns_per_entity" head:"- an entity and tick" as:"%.0f ns"` // of All
	Show      float64 `json:"show_ms" head:"the world to draw" as:"%.3f ms"`
	Allocs    float64 `json:"allocs" head:"allocations of a snapshot, predicting again and showing" as:"%.3g"`

	// Verified says that after predicting again the present was what the server came to.
	Verified bool   `json:"verified"`
	Wrong    string `json:"wrong,omitempty"`
}

// Report lists what a snapshot costs.
func (r *Result) Report(p *lab.Report) {
	p.Say("%d entities of %d fields, snapshots %d ticks old, %s; verified: %v", r.Entities,
		r.Fields, r.Ticks, r.Platform, r.Verified)
	p.Figures([]*Result{r}, "Tick, Take, Same, All, PerEntity, Alone, Show, Allocs")
}

// Check is an error if the result is not verified.
func (r *Result) Check() error {
	if r.Verified {
		return nil
	}
	return fmt.Errorf("what was predicted is not what came to be: %s", r.Wrong)
}

// Run measures what a snapshot costs a client: taking it, and predicting anew from it, with and
// without skipping what was right.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := lab.Fill(o.List()); err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all, err := newBench(o, false)
	if err != nil {
		return nil, err
	}
	alone, err := newBench(o, true)
	if err != nil {
		return nil, err
	}
	for i := range o.Rounds {
		if err := errors.Join(ctx.Err(), all.round(), alone.round()); err != nil {
			return nil, err
		}
		o.Progress.Tell(float64(i+1)/float64(o.Rounds), "measuring")
	}
	r := &Result{
		Entities: o.Entities, Fields: len(all.server.Game().Classes()[0].Schema().Slots),
		Ticks: o.Ticks, Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Tick: lab.Millis(all.tick.Best), Take: lab.Millis(all.take.Best),
		Same: lab.Millis(all.same.Best), All: lab.Millis(all.again.Best),
		Alone: lab.Millis(alone.again.Best), Show: lab.Millis(all.show.Best),
		PerEntity: float64(all.again.Best.Nanoseconds()) / float64(o.Entities*o.Ticks),
	}
	if r.Allocs, err = all.allocations(); err != nil {
		return nil, err
	}
	err = errors.Join(all.verify(), alone.verify())
	if r.Verified = err == nil; err != nil {
		r.Wrong = err.Error()
	}
	return r, nil
}

// A walking soldier moves by itself; it has the 20 fields of bench world.
type walking struct{ worldlab.Soldier }

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

// bench is a client and the world of its server, as far apart as the ticks that are predicted
// again.
type bench struct {
	o      Options
	server *world.World // at the tick of the next snapshot
	future *world.World // as the client's present will be
	client *predict.Client
	snap   replica.Snapshot
	images []int32
	now    time.Duration
	n      int

	tick, take, same, again, show lab.Timer
}

func newBench(o Options, alone bool) (*bench, error) {
	g := world.Define("predicted", world.Class[walking](world.ClassOptions{Limit: o.Entities + 64}),
		world.OnStart(func(w *world.World) {
			for range o.Entities {
				r := w.Rand()
				v := walking{}
				v.Pos.X, v.Pos.Y, v.Pos.Z = r.Range(200, 15900), r.Range(200, 15900),
					r.Range(200, 1800)
				v.Vel, v.Yaw, v.Health, v.Weapon = r.Unit3().Mul(320), r.Angle(), 100,
					uint8(r.IntN(9))
				world.Spawn(w, v)
			}
		}))
	w, err := g.New(world.Settings{Seed: 1})
	if err != nil {
		return nil, err
	}
	c, err := predict.New(g,
		predict.Options{
			Classes: map[string]predict.Class{"walking": {Alone: alone}},
			Clock:   predict.ClockOptions{Guard: 0.01}})
	if err != nil {
		return nil, err
	}
	b := &bench{o: o, server: w, future: w.Host().Clone(), client: c}
	b.snapshot(false)
	c.Snapshot(b.now, &b.snap) // where it starts from
	return b, c.Err()
}

// snapshot makes one of all entities, as the server has them; of one in a hundred, if wrong, with
// another health, which the client could not foresee.
func (b *bench) snapshot(wrong bool) {
	b.n++
	b.snap.Tick, b.snap.Certain = b.server.Tick(), true
	b.snap.Updates, b.images = b.snap.Updates[:0], b.images[:0]
	for id := range b.server.Entities() {
		from := len(b.images)
		b.images = append(b.images, b.server.Host().Image(id)...)
		b.snap.Updates = append(b.snap.Updates,
			replica.Update{
				ID: id, What: replica.Held, Entry: b.server.Host().Entry(id),
				Image: b.images[from:]})
	}
	if !wrong {
		return
	}
	slots := b.server.Game().Classes()[0].Schema().Slots
	health := slices.IndexFunc(slots, func(s bits.Slot) bool { return s.Name == "Soldier.Health" })
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
func (b *bench) advance() {
	for b.client.Tick() < b.server.Tick()+world.Tick(b.o.Ticks) {
		b.client.Next()
		b.client.Step()
	}
}

// round takes a snapshot that is as predicted, and one that is not.
func (b *bench) round() error {
	if err := b.step(); err != nil {
		return err
	}
	b.advance()
	b.snapshot(false)
	b.take.Time(func() { b.client.Snapshot(b.now, &b.snap) })
	b.same.Time(func() { b.client.Repredict() })
	b.tick.Time(func() { b.client.Next(); b.client.Step() })
	if err := b.step(); err != nil {
		return err
	}
	b.advance()
	b.snapshot(true)
	start := lab.ThreadTime()
	b.client.Snapshot(b.now, &b.snap)
	b.client.Repredict()
	b.again.Took(max(lab.ThreadTime()-start-b.take.Best, 0))
	b.show.Time(func() { b.client.Show(b.now) })
	if err := b.change(); err != nil {
		return err
	}
	return b.client.Err()
}

// change sets what the last snapshot told otherwise in the server's world, too.
func (b *bench) change() error {
	var sync bits.Sync
	for i := range b.snap.Updates {
		u := &b.snap.Updates[i]
		if slices.Equal(b.server.Host().Image(u.ID), u.Image) {
			continue
		}
		layout := b.server.Game().Classes()[u.ID.Class()].Layout()
		if err := layout.Unpack(&sync, world.Get[walking](b.server, u.ID), u.Image); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) step() error {
	b.now += b.server.Game().TickLength()
	return b.server.Host().Step(nil)
}

// verify compares the client's present with what the server comes to.
func (b *bench) verify() error {
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
			return fmt.Errorf("entity %v is predicted as %v and comes to be %v", id,
				w.Host().Image(id), b.future.Host().Image(id))
		}
	}
	return nil
}

// allocations counts those of a round.
func (b *bench) allocations() (float64, error) {
	least := uint64(1 << 62)
	for range 5 {
		if err := b.step(); err != nil {
			return 0, err
		}
		b.advance()
		b.snapshot(true)
		least = min(least, lab.Allocations(1, func() {
			b.client.Snapshot(b.now, &b.snap)
			b.client.Show(b.now)
		}))
		if err := b.change(); err != nil {
			return 0, err
		}
	}
	return float64(least), nil
}
