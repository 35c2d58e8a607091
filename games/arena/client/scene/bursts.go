package scene

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena/client/sprite"
)

// What particles make up. Each is one look, and a place to change it.

// explosion is a rocket's end.
func (s *Scene) explosion(at det.Vec2) {
	d := &s.Particles.dice
	s.Particles.Add(Particle{Shape: sprite.Core, Pos: at, Life: 0.28, Size: [2]float64{1.6, 3.4},
		Color: [2]Color{{1, 0.95, 0.8}, Ember}, Alpha: 1, Adds: true})
	s.Particles.Add(Particle{Shape: sprite.Wave, Pos: at, Life: 0.38, Size: [2]float64{0.4, 3.1},
		Color: [2]Color{Fire, Ember}, Alpha: 0.9, Adds: true})
	for range 26 {
		v := d.direction().Mul(d.between(3, 15))
		s.Particles.Add(Particle{Shape: sprite.Streak, Pos: at, Vel: v, Drag: 4,
			Life: d.between(0.25, 0.7), Size: [2]float64{0.5, 0.15}, Stretch: 1.8,
			Color: [2]Color{{1, 0.9, 0.6}, Ember}, Alpha: 1, Adds: true})
	}
	for range 12 {
		v := d.direction().Mul(d.between(0.5, 4.5))
		s.Particles.Add(Particle{Shape: sprite.Core, Pos: at.MulAdd(v, 0.05), Vel: v, Drag: 5,
			Life: d.between(0.25, 0.55), Size: [2]float64{d.between(0.8, 1.4), 0.3},
			Color: [2]Color{Fire, {0.5, 0.08, 0.02}}, Alpha: 0.85, Adds: true})
	}
	for range 9 {
		v := d.direction().Mul(d.between(0.3, 2.2))
		s.Particles.Add(Particle{Shape: sprite.Smoke, Pos: at.MulAdd(v, 0.1), Vel: v, Drag: 2,
			Life: d.between(0.9, 1.8), Size: [2]float64{0.7, d.between(1.6, 2.4)},
			Color: [2]Color{{0.25, 0.22, 0.2}, {0.06, 0.06, 0.07}}, Alpha: 0.5,
			Angle: d.between(0, 6), Spin: d.between(-1, 1)})
	}
	s.Scorches = upTo(maxScorches, s.Scorches,
		Scorch{Pos: at, Size: d.between(1.8, 2.4), Angle: d.between(0, 6)})
	s.flash(at, 7, Fire, 0.45, 1.6)
}

// sparks fly off a wall.
func (s *Scene) sparks(at det.Vec2, out det.Angle, c Color, n int) {
	d := &s.Particles.dice
	for range n {
		v := (out + det.Angle(d.between(-1.1, 1.1))).Vec().Mul(d.between(2, 9))
		s.Particles.Add(Particle{Shape: sprite.Streak, Pos: at, Vel: v, Drag: 5,
			Life: d.between(0.12, 0.4), Size: [2]float64{0.34, 0.1}, Stretch: 1.6,
			Color: [2]Color{{1, 1, 0.9}, c}, Alpha: 1, Adds: true})
	}
	s.Particles.Add(Particle{Shape: sprite.Core, Pos: at, Life: 0.12, Size: [2]float64{0.7, 0.3},
		Color: [2]Color{c, c}, Alpha: 0.9, Adds: true})
	s.flash(at, 2.2, c, 0.12, 0.7)
}

// splinters are what is knocked off a fighter: bits of armour in the player's color.
func (s *Scene) splinters(at det.Vec2, from det.Angle, c Color, n int) {
	d := &s.Particles.dice
	for range n {
		v := (from + det.Angle(d.between(-0.9, 0.9))).Vec().Mul(-d.between(1.5, 7))
		s.Particles.Add(Particle{Shape: sprite.Disc, Pos: at, Vel: v, Drag: 4,
			Life: d.between(0.25, 0.6), Size: [2]float64{d.between(0.08, 0.16), 0.03},
			Color: [2]Color{c.Mix(Paper, 0.3), c.Mul(0.5)}, Alpha: 1})
	}
}

// wreck is a fighter's end.
func (s *Scene) wreck(at det.Vec2, c Color) {
	d := &s.Particles.dice
	s.Particles.Add(Particle{Shape: sprite.Wave, Pos: at, Life: 0.5, Size: [2]float64{0.3, 2.2},
		Color: [2]Color{c, c.Mul(0.3)}, Alpha: 0.9, Adds: true})
	for range 22 {
		v := d.direction().Mul(d.between(1, 8))
		s.Particles.Add(Particle{Shape: sprite.Disc, Pos: at, Vel: v, Drag: 3.5,
			Life: d.between(0.5, 1.3), Size: [2]float64{d.between(0.1, 0.26), 0.05},
			Color: [2]Color{c, c.Mul(0.25)}, Alpha: 1})
		s.Particles.Add(Particle{Shape: sprite.Streak, Pos: at, Vel: v.Mul(1.5), Drag: 4,
			Life: d.between(0.2, 0.6), Size: [2]float64{0.4, 0.1}, Stretch: 1.8,
			Color: [2]Color{Paper, c}, Alpha: 1, Adds: true})
	}
	for range 4 {
		s.Particles.Add(Particle{Shape: sprite.Smoke, Pos: at, Vel: d.direction(), Drag: 1.5,
			Life: d.between(0.8, 1.5), Size: [2]float64{0.5, 1.5},
			Color: [2]Color{{0.2, 0.2, 0.22}, {0.05, 0.05, 0.06}}, Alpha: 0.45,
			Angle: d.between(0, 6), Spin: d.between(-1, 1)})
	}
	s.Scorches = upTo(maxScorches, s.Scorches, Scorch{Pos: at, Size: 1.3, Angle: d.between(0, 6)})
	s.flash(at, 4, c, 0.35, 1)
}

// arrival is a fighter who appears: a column of light.
func (s *Scene) arrival(at det.Vec2, c Color) {
	d := &s.Particles.dice
	s.Particles.Add(Particle{Shape: sprite.Ring, Pos: at, Life: 0.6, Size: [2]float64{2.6, 0.5},
		Color: [2]Color{c, Paper}, Alpha: 0.9, Adds: true})
	s.Particles.Add(Particle{Shape: sprite.Core, Pos: at, Life: 0.45, Size: [2]float64{0.6, 2.6},
		Color: [2]Color{Paper, c}, Alpha: 0.8, Adds: true})
	for range 18 {
		out := d.direction()
		s.Particles.Add(Particle{Shape: sprite.Streak, Pos: at.MulAdd(out, 1.6),
			Vel: out.Mul(-d.between(2, 5)), Drag: 1, Life: d.between(0.3, 0.6), Size: [2]float64{
				0.3, 0.1}, Stretch: 1.6,
			Color: [2]Color{c, Paper}, Alpha: 0.9, Adds: true})
	}
	s.flash(at, 5, c, 0.5, 1)
}

// muzzle is the flash of a gun.
func (s *Scene) muzzle(at det.Vec2, aim det.Angle, c Color, size float64) {
	d := &s.Particles.dice
	dir := aim.Vec()
	tip := at.MulAdd(dir, 0.75)
	s.Particles.Add(Particle{Shape: sprite.Core, Pos: tip, Vel: dir.Mul(2), Life: 0.08,
		Size: [2]float64{size, size * 0.5}, Color: [2]Color{{1, 1, 0.9}, c}, Alpha: 1, Adds: true})
	for range 4 {
		v := (aim + det.Angle(d.between(-0.4, 0.4))).Vec().Mul(d.between(3, 8))
		s.Particles.Add(Particle{Shape: sprite.Streak, Pos: tip, Vel: v, Drag: 6,
			Life: d.between(0.06, 0.18), Size: [2]float64{0.35 * size, 0.1}, Stretch: 1.6,
			Color: [2]Color{Paper, c}, Alpha: 1, Adds: true})
	}
	s.flash(tip, 3+size, c, 0.1, 1)
}

// taken is a pickup that someone ran over.
func (s *Scene) taken(at det.Vec2, c Color) {
	d := &s.Particles.dice
	s.Particles.Add(Particle{Shape: sprite.Ring, Pos: at, Life: 0.4, Size: [2]float64{0.5, 1.9},
		Color: [2]Color{c, c}, Alpha: 0.9, Adds: true})
	for range 10 {
		s.Particles.Add(Particle{Shape: sprite.Core, Pos: at,
			Vel: d.direction().Mul(d.between(1, 4)), Drag: 3, Life: d.between(0.2, 0.5),
			Size: [2]float64{0.35, 0.1}, Color: [2]Color{c, c}, Alpha: 0.9, Adds: true})
	}
	s.flash(at, 3, c, 0.25, 0.8)
}

// trail is what a rocket leaves behind, for the time since the last frame.
func (s *Scene) trail(at, vel det.Vec2, dt float64) {
	d := &s.Particles.dice
	back := vel.Unit().Neg()
	for n := dt * 90; n > 0; n-- {
		if n < 1 && d.float() > n {
			break
		}
		p := at.MulAdd(back, 0.3+d.float()*vel.Len()*dt)
		s.Particles.Add(Particle{Shape: sprite.Smoke, Pos: p,
			Vel: back.Mul(1).Add(d.direction().Mul(0.3)), Drag: 1.5, Life: d.between(0.4, 0.9),
			Size:  [2]float64{0.25, 0.8},
			Color: [2]Color{{0.4, 0.36, 0.34}, {0.1, 0.1, 0.11}}, Alpha: 0.3,
			Angle: d.between(0, 6)})
		s.Particles.Add(Particle{Shape: sprite.Core, Pos: p, Vel: back.Mul(2), Drag: 2,
			Life: d.between(0.08, 0.22), Size: [2]float64{0.55, 0.1}, Color: [2]Color{
				{1, 0.8, 0.4}, Ember}, Alpha: 0.9, Adds: true})
	}
}

// coil is what a rail leaves along its beam.
func (s *Scene) coil(from, to det.Vec2) {
	d := &s.Particles.dice
	dir := to.Sub(from)
	n := int(min(60, dir.Len()*2.5))
	side := dir.Unit().Perp()
	for i := range n {
		k := float64(i) / float64(n)
		s.Particles.Add(Particle{Shape: sprite.Core, Pos: from.MulAdd(dir, k),
			Vel: side.Mul(d.between(-1.2, 1.2)), Drag: 1, Life: d.between(0.4, 0.9),
			Size:  [2]float64{0.24, 0.06},
			Color: [2]Color{{0.9, 0.75, 1}, Rail}, Alpha: 0.8, Adds: true})
	}
	s.flash(from, 4, Rail, 0.2, 1)
	s.flash(to, 3.5, Rail, 0.25, 1)
}
