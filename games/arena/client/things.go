//go:build (js && wasm) || desktop

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
func (p *painter) things(s *scene.Scene, v *session.View, l *lens) {
	for _, o := range world.All[arena.Pickup](v.World) {
		if l.shows(o.Pos, 1) {
			p.pickup(o, o.There(v.World), s.Time, l)
		}
	}
	for i := range s.Bodies {
		if b := &s.Bodies[i]; l.shows(b.Pos, 1.5) {
			p.body(b, l)
		}
	}
	for id, o := range world.All[arena.Shot](v.World) {
		if o.Weapon == arena.Launcher && l.shows(o.Pos, 1) {
			p.b.lay(l, sprite.Rocket, shotAt(v, id, o), 0.72, 0.36, float64(o.Vel.Angle()),
				ink(scene.Paper, 1))
		}
	}
	for i := range s.Particles.All() {
		if o := &s.Particles.All()[i]; !o.Adds {
			p.particle(o, l)
		}
	}
	p.b.flush(p.thingsLayer, blendOver)
}

// shotAt is where a shot is at present.
func shotAt(v *session.View, id world.ID, o *arena.Shot) det.Vec2 {
	lead := v.Others
	if v.World.Owner(id) == v.Me {
		lead = v.Lead
	}
	return o.Pos.MulAdd(o.Vel, lead)
}

func (p *painter) pickup(o *arena.Pickup, there bool, t float64, l *lens) {
	c := scene.KindColor(o.Kind)
	if !there {
		p.b.lay(l, sprite.Pad, o.Pos, 1.05, 1.05, 0, ink(c.Mul(0.35), 0.5))
		return
	}
	p.b.lay(l, sprite.Pad, o.Pos, 1.05, 1.05, 0, ink(c.Mul(0.8), 0.6))
	below := o.Pos.Add(det.Vec2{X: 0.06, Y: 0.1})
	p.b.lay(l, sprite.Shadow, below, 0.8, 0.7, 0, ink(scene.Color{}, 0.6))
	bob := o.Pos.Sub(det.Vec2{Y: math.Sin(t*2.4+o.Pos.X*1.3+o.Pos.Y) * 0.05})
	look := pickups[o.Kind]
	angle := 0.0
	if look.turns {
		angle = t * 1.1
	}
	p.b.lay(l, look.shape, bob, look.size, look.size, angle, ink(c.Mix(scene.Paper, 0.25), 1))
}

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
func (p *painter) body(b *scene.Body, l *lens) {
	x, y := l.at(b.Pos)
	u := l.scale
	aim := float64(b.Aim)
	sin, cos := math.Sincos(aim)
	p.b.sprite(sprite.Shadow, x+0.1*u, y+0.16*u, 1.5*u, 1.4*u, 0, ink(scene.Color{}, 0.75))
	if speed := b.Vel.Len(); speed > 0.5 {
		dir := b.Vel.Mul(1 / speed)
		swing := math.Sin(b.Stride*3.2) * 0.26 * min(1, speed/4)
		for i := -1.0; i <= 1; i += 2 {
			fx, fy := x+(dir.X*swing*i-dir.Y*0.17*i)*u, y+(dir.Y*swing*i+dir.X*0.17*i)*u
			p.b.sprite(sprite.Foot, fx, fy, 0.36*u, 0.24*u, float64(dir.Angle()),
				ink(b.Color.Mul(0.7), 1))
		}
	}
	armour := b.Color.Mix(scene.Color{R: 1, G: 1, B: 1}, float32(0.12+0.88*b.Flash))
	p.b.sprite(sprite.Torso, x, y, 1.06*u, 1.06*u, aim, ink(armour, 1))
	back := 0.1 * b.Kick
	shape, length, c := sprite.Blaster, 0.72, scene.Steel
	switch b.Weapon {
	case arena.Launcher:
		shape, length = sprite.Launcher, 0.92
	case arena.Rail:
		shape, length = sprite.RailGun, 1.05
	}
	c = c.Mix(scene.WeaponColor(b.Weapon), 0.35)
	out := 0.42 + length*0.2 - back
	// The right hand holds it.
	p.b.sprite(shape, x+(cos*out-sin*0.14)*u, y+(sin*out+cos*0.14)*u, length*u, length*u, aim,
		ink(c, 1))
	p.b.sprite(sprite.Helmet, x-cos*0.02*u, y-sin*0.02*u, 0.46*u, 0.46*u, aim,
		ink(armour.Mix(scene.Paper, 0.25), 1))
	p.b.sprite(sprite.Visor, x, y, 0.42*u, 0.42*u, aim,
		ink(scene.Color{R: 0.08, G: 0.1, B: 0.14}, 1))
}

func (p *painter) particle(o *scene.Particle, l *lens) {
	size, c, alpha := o.Now()
	if !l.shows(o.Pos, size) {
		return
	}
	long := size * max(1, o.Stretch)
	t := ink(c, alpha)
	if o.Adds {
		t[3] = 0
	}
	p.b.lay(l, o.Shape, o.Pos, long, size, o.Angle, t)
}

// shining draws what gives light of its own: bolts, beams, flames, visors.
func (p *painter) shining(s *scene.Scene, v *session.View, l *lens) {
	add := func(shape sprite.Shape, at det.Vec2, w, h, angle float64, c scene.Color, k float64) {
		t := ink(c, k)
		t[3] = 0
		p.b.lay(l, shape, at, w, h, angle, t)
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
		p.ray(&s.Rays[i], l)
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
			p.particle(o, l)
		}
	}
	p.b.flush(p.glowLayer, blendAdd)
}

// ray draws the trace of a rail gun: a thin core in a wide glow, both fading.
func (p *painter) ray(r *scene.Ray, l *lens) {
	k := 1 - r.Done()
	a, c := l.point(r.From), l.point(r.To)
	for _, x := range [...]struct {
		width, strength float64
		color           scene.Color
	}{{0.5 * k, 0.18 * k, r.Color}, {0.22, 0.5 * k, r.Color}, {0.07, k * k, scene.Paper}} {
		t := ink(x.color, x.strength)
		t[3] = 0
		p.b.line(a, c, float32(x.width*l.scale), t)
	}
}
