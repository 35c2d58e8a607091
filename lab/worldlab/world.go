// Package worldlab measures what a world's operations cost.
//
//	host/tools/bench   {program} bench world
//	lab/worldlab       the measurement          <- here
//	world              what is measured
package worldlab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/world"
)

// Options say how package world is measured. The zero value is a world of 10,000 entities.
type Options struct {
	Entities, Rounds int
	Progress         lab.Progress
}

// List describes the options.
func (o *Options) List() []*lab.Option {
	return []*lab.Option{
		lab.Number(&o.Entities, "entities", 10000, 1, world.MaxEntities, "how many there are"),
		lab.Number(&o.Rounds, "rounds", 30, 1, math.MaxInt,
			"how often everything is timed; the quickest counts"),
	}
}

// Result is what a world's operations cost, in nanoseconds an entity where nothing else is said.
// The JSON names are for scripts and stay.
type Result struct {
	Entities int `json:"entities"`
	Fields   int `json:"fields"`
	Bytes    int `json:"bytes_per_entity"` // that a copy copies

	Step              float64 `json:"step_ns" head:"tick, all move" as:"%.1f ns"` // all in
	QuantiseChanged   float64 `json:"quantise_changed_ns" head:"- of that quantising" as:"%.1f ns"`
	QuantiseUnchanged float64 `json:"quantise_unchanged_ns" head:"tick, none moves" as:"%.1f ns"`
	Copy              float64 `json:"copy_ns" head:"copy" as:"%.1f ns"`
	MemoryCopy        float64 `json:"memory_copy_ns" head:"- the same bytes of plain memory" as:"%.1f ns"`
	CopySpeed         float64 `json:"copy_speed" head:"- of the speed of plain memory" as:"%.2f"`
	Hash              float64 `json:"hash_ns" head:"hash" as:"%.1f ns"`
	HashMillis        float64 `json:"hash_ms" head:"- for the world" as:"%.2f ms"`
	Save              float64 `json:"save_ns" head:"save" as:"%.1f ns"`
	Load              float64 `json:"load_ns" head:"load" as:"%.1f ns"`
	SavedBytes        float64 `json:"saved_bytes_per_entity" head:"- bytes saved" as:"%.1f"`
	AllocsPerTick     float64 `json:"allocs_per_tick" head:"- allocations a tick" as:"%.3g"`

	// Verified says that the copy, and what was saved and loaded, had the same hash as the
	// original, also some ticks later.
	Verified bool   `json:"verified"`
	Wrong    string `json:"wrong,omitempty"`
}

// Report lists what an entity costs.
func (r *Result) Report(p *lab.Report) {
	p.Say("%d entities of %d fields, %d bytes each; verified: %v", r.Entities, r.Fields, r.Bytes,
		r.Verified)
	p.Figures([]*Result{r}, "Step, QuantiseChanged, AllocsPerTick, QuantiseUnchanged, "+
		"Copy, MemoryCopy, CopySpeed, Hash, HashMillis, Save, SavedBytes, Load")
}

// Check is an error if the result is not verified.
func (r *Result) Check() error {
	if r.Verified {
		return nil
	}
	return fmt.Errorf("the world did not come out as it went in: %s", r.Wrong)
}

// Run measures stepping, quantising, copying, hashing, saving and loading a world of entities with
// 20 fields, as many and as wide as those of a player of a first-person shooter.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := lab.Fill(o.List()); err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b, err := newBench(o.Entities)
	if err != nil {
		return nil, err
	}
	for i := range o.Rounds {
		if err := errors.Join(ctx.Err(), b.round()); err != nil {
			return nil, err
		}
		o.Progress.Tell(float64(i+1)/float64(o.Rounds), "measuring")
	}
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(o.Entities) }
	r := &Result{
		Entities: o.Entities, Fields: len(b.moving.Game().Classes()[0].Schema().Slots),
		Bytes: len(b.from) / o.Entities,
		Step:  each(b.step.Best), QuantiseChanged: each(b.step.Best - b.own.Best),
		QuantiseUnchanged: each(b.rest.Best),
		Copy:              each(b.copy.Best), MemoryCopy: each(b.memory.Best),
		CopySpeed: float64(b.memory.Best) / float64(max(b.copy.Best, 1)),
		Hash:      each(b.hash.Best), HashMillis: lab.Millis(b.hash.Best), Save: each(b.save.Best),
		Load:       each(b.load.Best),
		SavedBytes: float64(len(b.saved)) / float64(o.Entities),
	}
	if r.AllocsPerTick, err = b.allocations(); err != nil {
		return nil, err
	}
	err = b.verify()
	if r.Verified = err == nil; err != nil {
		r.Wrong = err.Error()
	}
	return r, nil
}

// A Soldier has 20 fields.
type Soldier struct {
	Pos, Vel                   det.Vec3
	Yaw, Pitch, Roll           det.Angle
	Legs, Torso, Health, Armor uint8
	Weapon                     uint8
	Flags                      uint16
	Event, Param               uint8
	Ground, Owner              uint16
	Model                      uint8
}

// Sync lists them.
func (f *Soldier) Sync(s *bits.Sync) {
	s.Vec3In(&f.Pos, det.Vec3{}, det.Vec3{X: 16384 - 1.0/8, Y: 16384 - 1.0/8, Z: 2048 - 1.0/8},
		1.0/8)
	s.Vec3(&f.Vel, -2047, 2047, 1)
	s.Angle(&f.Yaw, 16)
	s.Angle(&f.Pitch, 16)
	s.Angle(&f.Roll, 16)
	s.Uint8(&f.Legs, 0, 255)
	s.Uint8(&f.Torso, 0, 255)
	s.Uint8(&f.Health, 0, 255)
	s.Uint8(&f.Armor, 0, 255)
	s.Uint8(&f.Weapon, 0, 31)
	s.Uint16(&f.Flags, 0, 65535)
	s.Uint8(&f.Event, 0, 255)
	s.Uint8(&f.Param, 0, 255)
	s.Uint16(&f.Ground, 0, 4095)
	s.Uint8(&f.Model, 0, 255)
	s.Uint16(&f.Owner, 0, 4095)
}

// A drill moves all soldiers, so that what moving itself costs can be measured apart.
type drill struct{ On bool }

func (d *drill) Sync(s *bits.Sync) { s.Bool(&d.On) }

func (d *drill) Step(w *world.World, me world.ID) {
	if d.On {
		march(w)
	}
}

func march(w *world.World) {
	for _, f := range world.All[Soldier](w) {
		f.Pos.X += 1.25
		if f.Pos.X > 16000 {
			f.Pos.X = 0
		}
		f.Yaw += 0.01
		f.Legs++
	}
}

type bench struct {
	moving, still, spot *world.World // spot is where copies go
	from, to, saved     []byte

	step, own, rest, copy, memory, hash, save, load lab.Timer
}

func newBench(n int) (*bench, error) {
	game := func(on bool) (*world.World, error) {
		g := world.Define("bench", world.Class[Soldier](world.ClassOptions{Limit: n}),
			world.State[drill](), world.OnStart(func(w *world.World) {
				for range n {
					r := w.Rand()
					world.Spawn(w, Soldier{
						Pos: det.Vec3{
							X: r.Range(0, 16000), Y: r.Range(0, 16000), Z: r.Range(0, 2000)},
						Vel: r.Unit3().Mul(320), Yaw: r.Angle(), Pitch: 0.1,
						Health: 100, Armor: uint8(r.IntN(100)), Weapon: uint8(r.IntN(9)),
						Flags: uint16(r.IntN(1 << 16)), Ground: 1022, Model: uint8(r.IntN(8)),
					})
				}
			}))
		return g.New(world.Settings{Seed: 1, States: []bits.Syncer{&drill{On: on}}})
	}
	b := new(bench)
	var err, err2 error
	b.moving, err = game(true)
	b.still, err2 = game(false)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	b.spot = b.moving.Host().Clone()
	b.from, b.to = make([]byte, b.moving.Host().Size()), make([]byte, b.moving.Host().Size())
	for i := range b.from {
		b.from[i] = byte(i) // memory that was never written to is not there yet
	}
	return b, errors.Join(b.moving.Host().Step(nil), b.still.Host().Step(nil))
}

// round times everything once. The operations take turns, so that whatever else the machine does
// meets all of them alike.
func (b *bench) round() error {
	var failed error
	keep := func(err error) { failed = errors.Join(failed, err) }
	b.step.Time(func() { keep(b.moving.Host().Step(nil)) })
	for range 4 { // in turn, so that each finds the caches as the other left them
		b.copy.Time(func() { keep(b.spot.Host().CopyFrom(b.moving)) })
		b.memory.Time(func() { copy(b.to, b.from) })
	}
	b.own.Time(func() { march(b.spot) })
	for range 4 {
		b.rest.Time(func() { keep(b.still.Host().Step(nil)) })
	}
	b.hash.Time(func() { b.moving.Hash() })
	b.save.Time(func() { b.saved = b.moving.Host().Save(b.saved[:0]) })
	b.load.Time(func() {
		_, err := b.moving.Game().Load(b.saved)
		keep(err)
	})
	return failed
}

// allocations counts those of a tick. The runtime has some of its own now and then, so the least of
// several times is the world's.
func (b *bench) allocations() (float64, error) {
	const ticks = 10
	var failed error
	least := lab.Allocations(5, func() {
		for range ticks {
			failed = errors.Join(failed, b.moving.Host().Step(nil))
		}
	})
	return float64(least) / ticks, failed
}

func (b *bench) verify() error {
	if err := b.spot.Host().CopyFrom(b.moving); err != nil {
		return err
	}
	loaded, err := b.moving.Game().Load(b.moving.Host().Save(nil))
	if err != nil {
		return err
	}
	for range 3 {
		for _, w := range []*world.World{b.spot, loaded} {
			if d := world.Differ(b.moving, w); d != nil {
				return errors.New(d.String())
			}
		}
		if err := errors.Join(b.moving.Host().Step(nil), b.spot.Host().Step(nil),
			loaded.Host().Step(nil)); err != nil {
			return err
		}
	}
	return nil
}
