package world

import (
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
)

// fighter has 20 fields, as many and as wide as a player's of a first-person shooter.
type fighter struct {
	Pos, Vel                   det.Vec3
	Yaw, Pitch, Roll           det.Angle
	Legs, Torso, Health, Armor uint8
	Weapon                     uint8
	Flags                      uint16
	Event, Param               uint8
	Ground, Owner              uint16
	Model                      uint8
}

func (f *fighter) Sync(s *bits.Sync) {
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

func (f *fighter) Step(w *World, me ID) {
	f.Pos.X += 1
	f.Yaw += 0.01
	if f.Pos.X > 16000 {
		f.Pos.X = 0
	}
}

// statue is a fighter that does nothing.
type statue fighter

func (f *statue) Sync(s *bits.Sync)    { (*fighter)(f).Sync(s) }
func (f *statue) Step(w *World, me ID) {}

const crowd = 10000

func benchWorld(b *testing.B, part Declaration, spawn func(w *World, i int)) *World {
	g := Define("bench", part, OnStart(func(w *World) {
		for i := range crowd {
			spawn(w, i)
		}
	}))
	w, err := g.New(Settings{Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	for range 3 {
		if err := w.Host().Step(nil); err != nil {
			b.Fatal(err)
		}
	}
	return w
}

func fighters(b *testing.B) *World {
	return benchWorld(b, Class[fighter](),
		func(w *World, i int) { Spawn(w, fighter{Pos: det.Vec3{X: float64(i)}, Health: 100}) })
}

func per(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/crowd, "ns/entity")
}

func BenchmarkStepChanging(b *testing.B) {
	w := fighters(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Host().Step(nil); err != nil {
			b.Fatal(err)
		}
	}
	per(b)
}

func BenchmarkStepStill(b *testing.B) {
	w := benchWorld(b, Class[statue](), func(w *World, i int) { Spawn(w, statue{Health: 100}) })
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Host().Step(nil); err != nil {
			b.Fatal(err)
		}
	}
	per(b)
}

func BenchmarkQuantiseStill(b *testing.B) {
	w := fighters(b)
	b.ReportAllocs()
	for b.Loop() {
		w.tables[0].quantise(w)
	}
	per(b)
}

func BenchmarkCopy(b *testing.B) {
	w := fighters(b)
	c := w.Host().Clone()
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Host().CopyFrom(w); err != nil {
			b.Fatal(err)
		}
	}
	per(b)
}

func BenchmarkHash(b *testing.B) {
	w := fighters(b)
	b.ReportAllocs()
	for b.Loop() {
		w.Hash()
	}
	per(b)
}

func BenchmarkSave(b *testing.B) {
	w := fighters(b)
	var saved []byte
	b.ReportAllocs()
	for b.Loop() {
		saved = w.Host().Save(saved[:0])
	}
	per(b)
}

func BenchmarkGet(b *testing.B) {
	w := fighters(b)
	var ids []ID
	for id := range w.Entities() {
		ids = append(ids, id)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if Get[fighter](w, ids[i%1000]) == nil {
			b.Fatal("gone")
		}
		i++
	}
}

func BenchmarkAll(b *testing.B) {
	w := fighters(b)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, f := range All[fighter](w) {
			n += int(f.Health)
		}
		if n == 0 {
			b.Fatal("no one")
		}
	}
	per(b)
}

func BenchmarkSpawnRemove(b *testing.B) {
	w := fighters(b)
	b.ReportAllocs()
	for b.Loop() {
		w.busy = true
		w.Remove(Spawn(w, fighter{}))
		w.tables[0].bury(w)
	}
}

// BenchmarkRepeat is what finding the levels of a command from its image costs.
func BenchmarkRepeat(b *testing.B) {
	in := arena.NewInputs()
	image := make([]int32, len(arena.Commands().Slots))
	if err := Give(in, 1, steer{Aim: 1, Thrust: 9, Fire: true}); err != nil || !in.Image(1, image) {
		b.Fatal(err)
	}
	levels := make([]int32, len(image))
	b.ReportAllocs()
	for b.Loop() {
		in.Reset()
		if in.GiveImage(1, image) != nil || !in.Repeat(1) || !in.Image(1, levels) {
			b.Fatal("there is no command")
		}
	}
}
