package scene

import (
	"math"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena/client/sprite"
)

// A Particle is something small that flies and fades: a spark, a puff, a splinter.
type Particle struct {
	Shape    sprite.Shape
	Pos, Vel det.Vec2
	Drag     float64 // part of its speed that it loses in a second, above 1 for quickly
	Age      float64
	Life     float64 // seconds
	Size     [2]float64
	Color    [2]Color
	Alpha    float64
	Angle    float64
	Spin     float64
	Stretch  float64 // how much longer than wide it is; it points where it flies if above 1
	Adds     bool    // it shines, rather than covers
}

// Done is how much of its life is over, from 0 to 1.
func (p *Particle) Done() float64 { return min(1, p.Age/p.Life) }

// Now gives its size, color and cover at present.
func (p *Particle) Now() (size float64, c Color, alpha float64) {
	t := p.Done()
	return p.Size[0] + (p.Size[1]-p.Size[0])*math.Sqrt(t), p.Color[0].Mix(p.Color[1], float32(t)),
		p.Alpha * (1 - t*t)
}

// Particles are those that are there. The zero value is ready. When there are too many, the oldest
// give way.
type Particles struct {
	list []Particle
	next int
	dice dice
}

// maxParticles bounds what a frame costs.
const maxParticles = 1500

// Add lets one more fly.
func (ps *Particles) Add(p Particle) {
	if p.Life <= 0 {
		return
	}
	if len(ps.list) < maxParticles {
		ps.list = append(ps.list, p)
		return
	}
	ps.next = (ps.next + 1) % maxParticles
	ps.list[ps.next] = p
}

// All gives those that are there. They are good until the next Add or Update.
func (ps *Particles) All() []Particle { return ps.list }

// Update lets time pass.
func (ps *Particles) Update(dt float64) {
	kept := ps.list[:0]
	for _, p := range ps.list {
		p.Age += dt
		if p.Age >= p.Life {
			continue
		}
		p.Pos = p.Pos.MulAdd(p.Vel, dt)
		p.Vel = p.Vel.Mul(math.Exp(-p.Drag * dt))
		p.Angle += p.Spin * dt
		if p.Stretch > 1 {
			p.Angle = float64(p.Vel.Angle())
		}
		kept = append(kept, p)
	}
	ps.list = kept
}

// Clear takes all away.
func (ps *Particles) Clear() { ps.list = ps.list[:0] }

// dice are for looks alone, and so need be neither fair nor the same everywhere.
type dice uint32

func (d *dice) float() float64 {
	x := uint32(*d)*1664525 + 1013904223
	*d = dice(x)
	return float64(x>>8) / (1 << 24)
}

func (d *dice) between(a, b float64) float64 { return a + (b-a)*d.float() }

func (d *dice) direction() det.Vec2 { return det.Angle(d.between(0, 2*math.Pi)).Vec() }
