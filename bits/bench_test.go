package bits

import (
	"testing"

	"github.com/coeval-dev/coeval/det"
)

// fighter has 20 fields, as many and as wide as a player's of a first-person shooter: 233 bits.
type fighter struct {
	Pos, Vel                   det.Vec3
	Yaw, Pitch, Roll           det.Angle
	Legs, Torso, Health, Armor uint8
	Weapon                     uint8
	Flags                      uint16
	Event, Param               uint8
	Ground                     int
	Model                      uint8
	Owner                      int
}

func (f *fighter) Sync(s *Sync) {
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
	s.Int(&f.Ground, 0, 4095)
	s.Uint8(&f.Model, 0, 255)
	s.Int(&f.Owner, 0, 4095)
}

// plain has 20 fields that take a call each, half of them floats.
type plain struct {
	F [10]float64
	I [10]int
}

func (p *plain) Sync(s *Sync) {
	s.Float(&p.F[0], -100, 100, 0.01)
	s.Float(&p.F[1], -100, 100, 0.01)
	s.Float(&p.F[2], -100, 100, 0.01)
	s.Float(&p.F[3], -100, 100, 0.01)
	s.Float(&p.F[4], -100, 100, 0.01)
	s.Float(&p.F[5], -100, 100, 0.01)
	s.Float(&p.F[6], -100, 100, 0.01)
	s.Float(&p.F[7], -100, 100, 0.01)
	s.Float(&p.F[8], -100, 100, 0.01)
	s.Float(&p.F[9], -100, 100, 0.01)
	s.Int(&p.I[0], 0, 1000)
	s.Int(&p.I[1], 0, 1000)
	s.Int(&p.I[2], 0, 1000)
	s.Int(&p.I[3], 0, 1000)
	s.Int(&p.I[4], 0, 1000)
	s.Int(&p.I[5], 0, 1000)
	s.Int(&p.I[6], 0, 1000)
	s.Int(&p.I[7], 0, 1000)
	s.Int(&p.I[8], 0, 1000)
	s.Int(&p.I[9], 0, 1000)
}

func newFighter() *fighter {
	return &fighter{
		Pos: det.Vec3{X: 1000.5, Y: 8000.25, Z: 120.125}, Vel: det.Vec3{X: -320, Y: 17, Z: 3},
		Yaw: 1.2, Pitch: -0.3, Roll: 0.01,
		Legs: 22, Torso: 7, Health: 100, Armor: 40, Weapon: 5, Flags: 0x8001, Event: 3, Param: 9,
		Ground: 1022, Model: 4, Owner: 77}
}

func newPlain() *plain {
	p := new(plain)
	for i := range 10 {
		p.F[i] = float64(i*17) - 70.3
		p.I[i] = i * 97
	}
	return p
}

func benchmarkSync[T any, P interface {
	*T
	Syncer
}](b *testing.B, v P) {
	l, err := NewLayout(v)
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 256)
	image := make([]int32, l.Len())
	var s Sync
	var w Writer
	w.Reset(buf)
	s.StartWrite(&w)
	v.Sync(&s)
	data := append([]byte(nil), w.Bytes()...)
	into := P(new(T))
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w.Reset(buf)
			s.StartWrite(&w)
			v.Sync(&s)
		}
		b.ReportMetric(float64(w.Len()), "bits")
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		var r Reader
		for b.Loop() {
			r.Reset(data)
			s.StartRead(&r)
			into.Sync(&s)
		}
		if s.Err() != nil {
			b.Fatal(s.Err())
		}
	})
	run := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("pack", func() error { return l.Pack(&s, v, image) })
	run("quantise into", func() error { return l.QuantiseInto(&s, v, image) })
	run("unpack", func() error { return l.Unpack(&s, into, image) })
	run("quantise", func() error { return l.Quantise(&s, v) })
}

// BenchmarkFighter is the 20-field entity of the project's targets: under 150 ns to write or to
// read.
func BenchmarkFighter(b *testing.B) { benchmarkSync(b, newFighter()) }

func BenchmarkPlain(b *testing.B) { benchmarkSync(b, newPlain()) }

func BenchmarkWriteBits(b *testing.B) {
	b.ReportAllocs()
	buf := make([]byte, 1024)
	w := NewWriter(buf)
	for b.Loop() {
		w.WriteBits(0x155, 11)
		if w.Room() < 11 {
			w.Reset(buf)
		}
	}
}

func BenchmarkReadBits(b *testing.B) {
	b.ReportAllocs()
	buf := make([]byte, 1024)
	r := NewReader(buf)
	for b.Loop() {
		r.ReadBits(11)
		if r.Left() < 11 {
			r.Reset(buf)
		}
	}
}
