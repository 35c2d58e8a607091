package client

import (
	"math"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
	"github.com/coeval-dev/coeval/games/arena/client/session"
	"github.com/coeval-dev/coeval/games/arena/client/sprite"
	"github.com/coeval-dev/coeval/world"
)

// things draws what stands on the floor.
func (p *painter) things(s *scene.Scene, v *session.View) {
	l := &p.lens
	for _, o := range world.All[arena.Pickup](v.World) {
		if l.shows(o.Pos, 1) {
			p.pickup(s, o, o.There(v.World))
		}
	}
	for i := range s.Bodies {
		if b := &s.Bodies[i]; l.shows(b.Pos, 1.5) {
			p.body(s, b)
		}
	}
	for id, o := range world.All[arena.Shot](v.World) {
		if o.Weapon == arena.Launcher && l.shows(o.Pos, 1) {
			p.lay(sprite.Rocket, shotAt(v, id, o), 0.72, 0.36, float64(o.Vel.Angle()),
				paint(scene.Paper, 1))
		}
	}
	for i := range s.Particles.All() {
		if o := &s.Particles.All()[i]; !o.Adds {
			p.particle(o)
		}
	}
}

// shotAt is where a shot is at present.
func shotAt(v *session.View, id world.ID, o *arena.Shot) det.Vec2 {
	lead := v.Others
	if v.World.Owner(id) == v.Me {
		lead = v.Lead
	}
	return o.Pos.MulAdd(o.Vel, lead)
}

// shade is how much of their own color things have at a place, in few steps.
func shade(s *scene.Scene, at det.Vec2) float32 {
	d := s.Eye.Sub(at).Len() / scene.SightReach
	return float32(math.Round(6*(0.55+0.45*max(0, 1-d*d)))) / 6
}

func (p *painter) pickup(s *scene.Scene, o *arena.Pickup, there bool) {
	c := scene.KindColor(o.Kind)
	if !there {
		p.lay(sprite.Pad, o.Pos, 1.05, 1.05, 0, paint(c.Mul(0.35), 0.5))
		return
	}
	p.lay(sprite.Pad, o.Pos, 1.05, 1.05, 0, paint(c.Mul(0.8), 0.6))
	below := o.Pos.Add(det.Vec2{X: 0.06, Y: 0.1})
	p.lay(sprite.Shadow, below, 0.8, 0.7, 0, ink(white, 0.6))
	bob := o.Pos.Sub(det.Vec2{Y: math.Sin(s.Time*2.4+o.Pos.X*1.3+o.Pos.Y) * 0.05})
	look := pickups[o.Kind]
	angle := 0.0
	if look.turns {
		angle = s.Time * 1.1
	}
	p.lay(look.shape, bob, look.size, look.size, angle,
		paint(c.Mix(scene.Paper, 0.25).Mul(shade(s, o.Pos)), 1))
}

// white draws an image as it is.
var white = scene.Color{R: 1, G: 1, B: 1}

// pickups are how what lies about looks.
var pickups = map[arena.Kind]struct {
	shape sprite.Shape
	size  float64
	turns bool
}{
	arena.SmallPack: {sprite.Cross, 0.6, false}, arena.LargePack: {sprite.Cross, 0.86, false},
	arena.RocketBox: {sprite.Crate, 0.66, false}, arena.RocketGun: {sprite.Launcher, 1, true},
	arena.SlugBox: {sprite.Battery, 0.66, false}, arena.RailGun: {sprite.RailGun, 1.05, true},
}

// body draws a fighter from above: shadow, feet, shoulders, weapon, head.
func (p *painter) body(s *scene.Scene, b *scene.Body) {
	at, aim := b.Pos, float64(b.Aim)
	dir := b.Aim.Vec()
	side := det.Vec2{X: -dir.Y, Y: dir.X}
	lit := shade(s, at)
	p.lay(sprite.Shadow, at.Add(det.Vec2{X: 0.1, Y: 0.16}), 1.5, 1.4, 0, ink(white, 0.75))
	if speed := b.Vel.Len(); speed > 0.5 {
		way := b.Vel.Mul(1 / speed)
		swing := math.Sin(b.Stride*3.2) * 0.26 * min(1, speed/4)
		for i := -1.0; i <= 1; i += 2 {
			foot := at.MulAdd(way, swing*i).MulAdd(det.Vec2{X: -way.Y, Y: way.X}, 0.17*i)
			p.lay(sprite.Foot, foot, 0.36, 0.24, float64(way.Angle()),
				paint(b.Color.Mul(0.7*lit), 1))
		}
	}
	flash := float32(math.Ceil(b.Flash*4) / 4)
	armour := b.Color.Mix(white, 0.12+0.88*flash).Mul(lit)
	p.lay(sprite.Torso, at, 1.06, 1.06, aim, paint(armour, 1))
	shape, length, c := sprite.Blaster, 0.72, scene.Steel
	switch b.Weapon {
	case arena.Launcher:
		shape, length = sprite.Launcher, 0.92
	case arena.Rail:
		shape, length = sprite.RailGun, 1.05
	}
	c = c.Mix(scene.WeaponColor(b.Weapon), 0.35)
	out := 0.42 + length*0.2 - 0.1*b.Kick
	// The right hand holds it.
	p.lay(shape, at.MulAdd(dir, out).MulAdd(side, 0.14), length, length, aim,
		paint(c.Mul(lit), 1))
	p.lay(sprite.Helmet, at.MulAdd(dir, -0.02), 0.46, 0.46, aim,
		paint(armour.Mix(scene.Paper.Mul(lit), 0.25), 1))
	p.lay(sprite.Visor, at, 0.42, 0.42, aim,
		paint(scene.Color{R: 0.08, G: 0.1, B: 0.14}, 1))
}

func (p *painter) particle(o *scene.Particle) {
	size, _, alpha := o.Now()
	if !p.lens.shows(o.Pos, size) {
		return
	}
	// Its color goes from one to the other in few steps.
	c := o.Color[0].Mix(o.Color[1], float32(math.Round(4*o.Done())/4))
	p.lay(o.Shape, o.Pos, size*max(1, o.Stretch), size, o.Angle, paint(c, alpha))
}

// shining draws what gives light of its own: bolts, beams, flames, visors.
func (p *painter) shining(s *scene.Scene, v *session.View) {
	l := &p.lens
	add := func(shape sprite.Shape, at det.Vec2, w, h, angle float64, c scene.Color, k float64) {
		p.lay(shape, at, w, h, angle, paint(c, k))
	}
	for id, o := range world.All[arena.Shot](v.World) {
		at := shotAt(v, id, o)
		if !l.shows(at, 2) {
			continue
		}
		turn := float64(o.Vel.Angle())
		if o.Weapon == arena.Launcher {
			tail := at.MulAdd(o.Vel.Unit(), -0.4)
			add(sprite.Core, tail, 1.5, 1.1, turn, scene.Fire, 0.9)
			add(sprite.Glow, at, 3.4, 3.4, 0, scene.Ember, 0.5)
			continue
		}
		add(sprite.Streak, at, 1.5, 0.75, turn, scene.Plasma, 1)
		add(sprite.Streak, at, 0.8, 0.4, turn, scene.Paper, 1)
		add(sprite.Glow, at, 1.7, 1.7, 0, scene.Plasma, 0.45)
	}
	for i := range s.Rays {
		p.ray(&s.Rays[i])
	}
	for i := range s.Bodies {
		b := &s.Bodies[i]
		if l.shows(b.Pos, 1) {
			add(sprite.Visor, b.Pos, 0.42, 0.42, float64(b.Aim), b.Color.Mix(scene.Paper, 0.3), 0.9)
			add(sprite.Glow, b.Pos.MulAdd(b.Aim.Vec(), 0.2), 0.9, 0.9, 0, b.Color, 0.35)
		}
	}
	for _, o := range world.All[arena.Pickup](v.World) {
		if o.There(v.World) && l.shows(o.Pos, 1) {
			add(sprite.Glow, o.Pos, 1.8, 1.8, 0, scene.KindColor(o.Kind),
				0.22+0.08*math.Sin(s.Time*3+o.Pos.X))
		}
	}
	for i := range s.Particles.All() {
		if o := &s.Particles.All()[i]; o.Adds {
			p.particle(o)
		}
	}
}

// ray draws the trace of a rail gun: a thin core in a wide glow, both fading.
func (p *painter) ray(r *scene.Ray) {
	k := 1 - r.Done()
	for _, x := range [...]struct {
		width, strength float64
		color           scene.Color
	}{{0.5 * k, 0.18 * k, r.Color}, {0.22, 0.5 * k, r.Color}, {0.07, k * k, scene.Paper}} {
		p.Line(r.From.X, r.From.Y, r.To.X, r.To.Y, x.width, ink(x.color, x.strength))
	}
}
