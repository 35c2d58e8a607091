package lab

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// WorldOptions say how package world is measured. The zero value is a world of 10,000 entities.
type WorldOptions struct {
	// Entities is how many there are. Default: 10000.
	Entities int
	// Rounds is how often everything is timed; the quickest counts. Default: 30.
	Rounds int
	// Progress, if set, is told how much of the work is done, from 0 to 1.
	Progress func(done float64)
}

// WorldResult is what a world's operations cost, in nanoseconds an entity where nothing else is said. The JSON names are for scripts and stay.
type WorldResult struct {
	Entities int `json:"entities"`
	Fields   int `json:"fields"`
	Bytes    int `json:"bytes_per_entity"` // that a copy copies

	Step              float64 `json:"step_ns"`               // a tick in which every entity moves, all in
	QuantiseChanged   float64 `json:"quantise_changed_ns"`   // of that, what is not the game's own doing
	QuantiseUnchanged float64 `json:"quantise_unchanged_ns"` // a tick in which nothing happens
	Copy              float64 `json:"copy_ns"`
	MemoryCopy        float64 `json:"memory_copy_ns"` // the same bytes in one piece
	CopySpeed         float64 `json:"copy_speed"`     // of memory copy's; 1 is as fast
	Hash              float64 `json:"hash_ns"`
	HashMillis        float64 `json:"hash_ms"` // of the whole world
	Save              float64 `json:"save_ns"`
	Load              float64 `json:"load_ns"`
	SavedBytes        float64 `json:"saved_bytes_per_entity"`
	AllocsPerTick     float64 `json:"allocs_per_tick"`

	// Verified says that the copy, and what was saved and loaded, had the same hash as the original, also some ticks later.
	Verified bool   `json:"verified"`
	Wrong    string `json:"wrong,omitempty"`
}

// Check is an error if the result is not verified.
func (r *WorldResult) Check() error {
	if r.Verified {
		return nil
	}
	return fmt.Errorf("the world did not come out as it went in: %s", r.Wrong)
}

// World measures stepping, quantising, copying, hashing, saving and loading a world of entities with 20 fields, as many and as wide as those of a player
// of a first-person shooter.
func World(ctx context.Context, o WorldOptions) (*WorldResult, error) {
	if o.Entities == 0 {
		o.Entities = 10000
	}
	if o.Rounds == 0 {
		o.Rounds = 30
	}
	if o.Entities < 1 || o.Entities > world.MaxEntities || o.Rounds < 1 {
		return nil, fmt.Errorf("%d entities, %d rounds: there must be 1 to %d entities and at least 1 round", o.Entities, o.Rounds, world.MaxEntities)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b, err := newWorldBench(o.Entities)
	if err != nil {
		return nil, err
	}
	r := &WorldResult{Entities: o.Entities, Fields: b.fields, Bytes: b.moving.Host().Size() / o.Entities}
	for i := range o.Rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := b.round(); err != nil {
			return nil, err
		}
		if o.Progress != nil {
			o.Progress(float64(i+1) / float64(o.Rounds))
		}
	}
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(o.Entities) }
	r.Step = each(b.step)
	r.QuantiseChanged = each(b.step - b.own)
	r.QuantiseUnchanged = each(b.rest)
	r.Copy, r.MemoryCopy = each(b.copy), each(b.memory)
	r.CopySpeed = float64(b.memory) / float64(max(b.copy, 1))
	r.Hash, r.HashMillis = each(b.hash), float64(b.hash.Nanoseconds())/1e6
	r.Save, r.Load = each(b.save), each(b.load)
	r.SavedBytes = float64(len(b.saved)) / float64(o.Entities)
	if r.AllocsPerTick, err = b.allocations(); err != nil {
		return nil, err
	}
	if err := b.verify(); err != nil {
		r.Wrong = err.Error()
	} else {
		r.Verified = true
	}
	return r, nil
}

// A soldier has 20 fields.
type soldier struct {
	Pos, Vel                   det.Vec3
	Yaw, Pitch, Roll           det.Angle
	Legs, Torso, Health, Armor uint8
	Weapon                     uint8
	Flags                      uint16
	Event, Param               uint8
	Ground, Owner              uint16
	Model                      uint8
}

func (f *soldier) Sync(s *bits.Sync) {
	s.Vec3In(&f.Pos, det.Vec3{}, det.Vec3{X: 16384 - 1.0/8, Y: 16384 - 1.0/8, Z: 2048 - 1.0/8}, 1.0/8)
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
	for _, f := range world.All[soldier](w) {
		f.Pos.X += 1.25
		if f.Pos.X > 16000 {
			f.Pos.X = 0
		}
		f.Yaw += 0.01
		f.Legs++
	}
}

type worldBench struct {
	fields              int
	moving, still, spot *world.World // spot is where copies go
	from, to, saved     []byte

	step, own, rest, copy, memory, hash, save, load time.Duration // of the quickest round
}

func newWorldBench(n int) (*worldBench, error) {
	game := func(on bool) (*world.World, error) {
		g := world.Define("bench", world.Class[soldier](world.ClassOptions{Limit: n}), world.State[drill](), world.OnStart(func(w *world.World) {
			for range n {
				r := w.Rand()
				world.Spawn(w, soldier{
					Pos: det.Vec3{X: r.Range(0, 16000), Y: r.Range(0, 16000), Z: r.Range(0, 2000)}, Vel: r.Unit3().Mul(320), Yaw: r.Angle(), Pitch: 0.1,
					Health: 100, Armor: uint8(r.IntN(100)), Weapon: uint8(r.IntN(9)), Flags: uint16(r.IntN(1 << 16)), Ground: 1022, Model: uint8(r.IntN(8)),
				})
			}
		}))
		return g.New(world.Settings{Seed: 1, States: []bits.Syncer{&drill{On: on}}})
	}
	b := new(worldBench)
	var err, err2 error
	b.moving, err = game(true)
	b.still, err2 = game(false)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	for i := range b.moving.Game().Classes()[0].Schema().Slots {
		b.fields = i + 1
	}
	b.spot = b.moving.Host().Clone()
	b.from, b.to = make([]byte, b.moving.Host().Size()), make([]byte, b.moving.Host().Size())
	for i := range b.from {
		b.from[i] = byte(i) // memory that was never written to is not there yet
	}
	for _, d := range []*time.Duration{&b.step, &b.own, &b.rest, &b.copy, &b.memory, &b.hash, &b.save, &b.load} {
		*d = 1 << 62
	}
	return b, errors.Join(b.moving.Host().Step(nil), b.still.Host().Step(nil))
}

// round times everything once. The operations take turns, so that whatever else the machine does meets all of them alike.
func (b *worldBench) round() error {
	var failed error
	timed := func(best *time.Duration, f func()) {
		start := threadTime()
		f()
		*best = min(*best, threadTime()-start)
	}
	keep := func(err error) {
		if failed == nil {
			failed = err
		}
	}
	timed(&b.step, func() { keep(b.moving.Host().Step(nil)) })
	for range 4 { // in turn, so that each finds the caches as the other left them
		timed(&b.copy, func() { keep(b.spot.Host().CopyFrom(b.moving)) })
		timed(&b.memory, func() { copy(b.to, b.from) })
	}
	timed(&b.own, func() { march(b.spot) })
	for range 4 {
		timed(&b.rest, func() { keep(b.still.Host().Step(nil)) })
	}
	timed(&b.hash, func() { b.moving.Hash() })
	timed(&b.save, func() { b.saved = b.moving.Host().Save(b.saved[:0]) })
	timed(&b.load, func() {
		_, err := b.moving.Game().Load(b.saved)
		keep(err)
	})
	return failed
}

// allocations counts those of a tick. The runtime has some of its own now and then, so the least of several times is the world's.
func (b *worldBench) allocations() (float64, error) {
	const ticks = 10
	least := uint64(1 << 62)
	for range 5 {
		before := mallocs()
		for range ticks {
			if err := b.moving.Host().Step(nil); err != nil {
				return 0, err
			}
		}
		least = min(least, mallocs()-before)
	}
	return float64(least) / ticks, nil
}

func (b *worldBench) verify() error {
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
		if err := errors.Join(b.moving.Host().Step(nil), b.spot.Host().Step(nil), loaded.Host().Step(nil)); err != nil {
			return err
		}
	}
	return nil
}
