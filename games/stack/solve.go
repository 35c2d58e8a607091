package stack

import "github.com/coeval-dev/coeval/det"

// Contacts are solved by sequential impulses, after Catto, "Iterative Dynamics with Temporal
// Coherence" (2005): each contact in turn gets the impulse that stops its bodies from approaching,
// over and over until all are nearly content. Impulses are not kept from tick to tick, as nothing
// may be kept that is not in the image; sleep takes the place of that for piles at rest.
const (
	rounds   = 12
	friction = 0.5
	slop     = 0.01 // metres that bodies may overlap, so that contacts last
	push     = 0.2  // of a deeper overlap that is undone each tick
	calm     = 0.25 // metres a second, or radians, below which a body counts as resting
	jolt     = 0.6  // the speed at which a contact wakes a sleeper
)

func (k *work) solve(dt float64) {
	k.rouse()
	for i := range k.contacts {
		k.prepare(&k.contacts[i], dt)
	}
	for range rounds {
		for i := range k.contacts {
			k.relax(&k.contacts[i])
		}
	}
}

// rouse wakes sleepers that are hit. They feel it from the next tick on.
func (k *work) rouse() {
	for i := range k.contacts {
		c := &k.contacts[i]
		if c.b < 0 {
			continue
		}
		a, b := &k.bodies[c.a], &k.bodies[c.b]
		if (a.invMass == 0) == (b.invMass == 0) {
			continue
		}
		awake, asleep := a, b
		if a.invMass == 0 {
			awake, asleep = b, a
		}
		if awake.Vel.LenSq() > jolt*jolt || det.Abs(awake.Spin) > 2*jolt {
			asleep.Rest = 0
		}
	}
}

func (k *work) prepare(c *contact, dt float64) {
	a := &k.bodies[c.a]
	tangent := c.normal.Perp()
	n := a.invMass + float64(square(c.ra.Cross(c.normal))*a.invTurn)
	t := a.invMass + float64(square(c.ra.Cross(tangent))*a.invTurn)
	if c.b >= 0 {
		b := &k.bodies[c.b]
		n += b.invMass + float64(square(c.rb.Cross(c.normal))*b.invTurn)
		t += b.invMass + float64(square(c.rb.Cross(tangent))*b.invTurn)
	}
	c.massNormal, c.massTangent = 1/n, 1/t
	c.bias = float64(push / dt * max(0, c.depth-slop))
	c.bias = min(c.bias, 4)
}

func square(x float64) float64 { return float64(x * x) }

func (k *work) relax(c *contact) {
	tangent := c.normal.Perp()
	// First what keeps them apart, then what friction allows.
	want := float64((c.bias - k.speed(c).Dot(c.normal)) * c.massNormal)
	total := max(c.impulse+want, 0)
	k.apply(c, c.normal.Mul(total-c.impulse))
	c.impulse = total

	most := float64(friction * c.impulse)
	want = float64(-k.speed(c).Dot(tangent) * c.massTangent)
	total = det.Clamp(c.impulseAt+want, -most, most)
	k.apply(c, tangent.Mul(total-c.impulseAt))
	c.impulseAt = total
}

// speed is how the bodies part at the contact.
func (k *work) speed(c *contact) det.Vec2 {
	v := k.bodies[c.a].speedAt(c.ra).Neg()
	if c.b >= 0 {
		v = v.Add(k.bodies[c.b].speedAt(c.rb))
	}
	return v
}

func (b *body) speedAt(r det.Vec2) det.Vec2 { return b.Vel.MulAdd(r.Perp(), b.Spin) }

// apply pushes the bodies apart.
func (k *work) apply(c *contact, impulse det.Vec2) {
	a := &k.bodies[c.a]
	a.Vel = a.Vel.MulAdd(impulse, -a.invMass)
	a.Spin -= float64(c.ra.Cross(impulse) * a.invTurn)
	if c.b >= 0 {
		b := &k.bodies[c.b]
		b.Vel = b.Vel.MulAdd(impulse, b.invMass)
		b.Spin += float64(c.rb.Cross(impulse) * b.invTurn)
	}
}

func (k *work) move(dt float64) {
	for i := range k.bodies {
		b := &k.bodies[i]
		if b.invMass == 0 {
			continue
		}
		// what Sync can hold, with room for a tick
		b.Vel, b.Spin = b.Vel.ClampLen(50), det.Clamp(b.Spin, -25, 25)
		b.Pos = b.Pos.MulAdd(b.Vel, dt)
		b.Turn = (b.Turn + det.Angle(float64(b.Spin*dt))).Wrap()
		if b.touching && b.Vel.LenSq() < calm*calm && det.Abs(b.Spin) < calm {
			b.Rest = min(b.Rest+1, restful)
		} else {
			b.Rest = 0
		}
	}
}
