package stack

import (
	"cmp"
	"slices"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// work is what Physics thinks with.
type work struct {
	bodies   []body
	order    []int32 // bodies from left to right
	contacts []contact
}

// A body is a box, with what is worked out of it once a tick.
type body struct {
	*Box
	id       world.ID
	half     float64
	radius   float64  // of a circle around it
	x, y     det.Vec2 // its own axes
	invMass  float64
	invTurn  float64 // of the moment of inertia
	touching bool
}

// A contact is one point where two bodies, or a body and the yard, meet.
type contact struct {
	a, b   int32 // b is -1 for the yard
	at     det.Vec2
	normal det.Vec2 // from a to b
	depth  float64
	first  bool // of the points of its pair

	ra, rb                   det.Vec2
	massNormal, massTangent  float64
	bias, impulse, impulseAt float64
}

func (k *work) gather(w *world.World) {
	k.bodies = k.bodies[:0]
	for id, b := range world.All[Box](w) {
		half := b.Half()
		x := b.Turn.Vec()
		o := body{Box: b, id: id, half: half, radius: float64(half * 1.4143), x: x, y: x.Perp()}
		if b.Rest < restful {
			mass := float64(4 * half * half)
			o.invMass = 1 / mass
			o.invTurn = 1 / float64(mass*float64(half*half)*(2.0/3))
		}
		k.bodies = append(k.bodies, o)
	}
}

// collide lists the contacts. The bodies are gone through from left to right, so that only those
// near each other are compared; the order is complete, by place and then by number, so it is the
// same whatever it was before.
func (k *work) collide() {
	k.contacts = k.contacts[:0]
	k.order = k.order[:0]
	for i := range k.bodies {
		k.order = append(k.order, int32(i))
	}
	slices.SortFunc(k.order, func(i, j int32) int {
		return cmp.Or(cmp.Compare(k.bodies[i].left(), k.bodies[j].left()), int(i-j))
	})
	for n, i := range k.order {
		a := &k.bodies[i]
		k.yard(i)
		right := a.Pos.X + a.radius
		for _, j := range k.order[n+1:] {
			b := &k.bodies[j]
			if b.left() > right {
				break
			}
			if a.invMass == 0 && b.invMass == 0 || det.Abs(a.Pos.Y-b.Pos.Y) > a.radius+b.radius {
				continue
			}
			k.pair(min(i, j), max(i, j))
		}
	}
}

func (b *body) left() float64 { return b.Pos.X - b.radius }

// yard lets a body touch the ground and the walls, with its corners.
func (k *work) yard(i int32) {
	b := &k.bodies[i]
	if b.invMass == 0 || b.Pos.Y > b.radius && b.Pos.X > b.radius && b.Pos.X < Width-b.radius {
		return
	}
	for n := range 4 {
		p := b.corner(n)
		if p.Y < 0 {
			k.touch(contact{a: i, b: -1, at: p, normal: det.Vec2{Y: -1}, depth: -p.Y})
		}
		if p.X < 0 {
			k.touch(contact{a: i, b: -1, at: p, normal: det.Vec2{X: -1}, depth: -p.X})
		}
		if p.X > Width {
			k.touch(contact{a: i, b: -1, at: p, normal: det.Vec2{X: 1}, depth: p.X - Width})
		}
	}
}

// corner is one of four, counterclockwise.
func (b *body) corner(n int) det.Vec2 {
	sx, sy := b.half, b.half
	if n == 1 || n == 2 {
		sx = -sx
	}
	if n >= 2 {
		sy = -sy
	}
	return b.Pos.MulAdd(b.x, sx).MulAdd(b.y, sy)
}

func (k *work) touch(c contact) {
	a := &k.bodies[c.a]
	a.touching = true
	c.ra = c.at.Sub(a.Pos)
	if c.b >= 0 {
		k.bodies[c.b].touching = true
		c.rb = c.at.Sub(k.bodies[c.b].Pos)
	}
	k.contacts = append(k.contacts, c)
}

// pair finds where two boxes meet. Two convex shapes are apart if some side of one has all of the
// other before it; if none has, they meet at the side that is least deep in the other, along as
// much of it as the other's nearest side covers.
func (k *work) pair(i, j int32) {
	a, b := &k.bodies[i], &k.bodies[j]
	d := b.Pos.Sub(a.Pos)
	best, least := -1, det.Inf(1)
	for n, axis := range [4]det.Vec2{a.x, a.y, b.x, b.y} {
		reach := a.half + b.extent(axis)
		if n >= 2 {
			reach = b.half + a.extent(axis)
		}
		deep := reach - det.Abs(d.Dot(axis))
		if deep < 0 {
			return
		}
		// The first of sides that are nearly as good, so that a resting box does not change its
		// mind.
		if deep < float64(least*0.98)-0.001 {
			best, least = n, deep
		}
	}
	// The side belongs to face, the other body is other, and the normal leads from face to other.
	face, other, flip := a, b, false
	if best >= 2 {
		face, other, flip = b, a, true
		d = d.Neg()
	}
	normal, along := face.x, face.y
	if best%2 == 1 {
		normal, along = face.y, face.x
	}
	if d.Dot(normal) < 0 {
		normal = normal.Neg()
	}
	p, q := other.side(normal)
	lo, hi := -face.half, face.half
	p, q, ok := clip(p, q, face.Pos, along, lo, hi)
	if !ok {
		return
	}
	first := true
	for _, at := range [2]det.Vec2{p, q} {
		depth := face.half - at.Sub(face.Pos).Dot(normal)
		if depth < 0 {
			continue
		}
		c := contact{a: i, b: j, at: at, normal: normal, depth: depth, first: first}
		if flip {
			c.normal = normal.Neg()
		}
		k.touch(c)
		first = false
	}
}

// extent is how far a box reaches along an axis.
func (b *body) extent(axis det.Vec2) float64 {
	return float64(b.half * (det.Abs(b.x.Dot(axis)) + det.Abs(b.y.Dot(axis))))
}

// side is the side of a box that faces a normal most: its two ends.
func (b *body) side(normal det.Vec2) (p, q det.Vec2) {
	dx, dy := b.x.Dot(normal), b.y.Dot(normal)
	out, along := b.x, b.y
	if det.Abs(dy) > det.Abs(dx) {
		out, along, dx = b.y, b.x, dy
	}
	if dx > 0 {
		out = out.Neg()
	}
	m := b.Pos.MulAdd(out, b.half)
	return m.MulAdd(along, b.half), m.MulAdd(along, -b.half)
}

// clip shortens a line to what lies from lo to hi along an axis.
func clip(p, q, origin, along det.Vec2, lo, hi float64) (det.Vec2, det.Vec2, bool) {
	s, t := p.Sub(origin).Dot(along), q.Sub(origin).Dot(along)
	if s > t {
		p, q, s, t = q, p, t, s
	}
	if t < lo || s > hi {
		return p, q, false
	}
	from, to := p, q
	if s < lo {
		from = p.Lerp(q, (lo-s)/(t-s))
	}
	if t > hi {
		to = p.Lerp(q, (hi-s)/(t-s))
	}
	return from, to, true
}
