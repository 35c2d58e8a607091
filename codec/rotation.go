package codec

import "math"

// Rotations are predicted in fixed point with rotBits of fraction.
const (
	rotBits = 20
	rotOne  = 1 << rotBits
	// rotPart is the largest that a component can be that is not the largest.
	rotPart = 741455 // rotOne / sqrt(2)
)

// Structs rather than arrays: the compiler keeps their fields in registers.
type vector struct{ x, y, z int64 }

type quaternion struct{ x, y, z, w int64 }

// largestTables is how many distributions say which component is the largest: by how much the
// prediction tells the largest from the next, and how sure it is.
const largestTables = 64

// Features of a rotation are turns: rotation vectors in the world's frame.
const (
	turn1        = iota // between the two newest images, carried on to now
	turn2               // the same one image earlier
	turn3               // and another one earlier
	turnCarried         // what the reference entity turned since the base
	turnSlip            // recent turning relative to that of the reference
	turnRoll            // what rolling on the ground as far as the position moved would turn
	turnRollMiss        // the same for what the position's prediction missed
	rotationTurns
)

const maxTurns = MaxFields / 4 * rotationTurns

// unpack reads the rotation that starts at a field of an image.
func (r *rotationModel) unpack(image []int32) quaternion {
	f := image[r.field : r.field+4]
	top := int64(r.top) + 2*int64(r.low)
	a := (2*int64(f[1]) - top) * r.unit >> 16
	b := (2*int64(f[2]) - top) * r.unit >> 16
	c := (2*int64(f[3]) - top) * r.unit >> 16
	// Sqrt is correctly rounded on every platform, and its argument an integer
	// below 2^53: this is integer arithmetic, done by the quickest instruction.
	d := int64(math.Sqrt(float64(max(1<<(2*rotBits)-a*a-b*b-c*c, 0))))
	switch f[0] & 3 {
	case 0:
		return quaternion{d, a, b, c}
	case 1:
		return quaternion{a, d, b, c}
	case 2:
		return quaternion{a, b, d, c}
	}
	return quaternion{a, b, c, d}
}

// mul is the rotation b followed by a.
func (a quaternion) mul(b quaternion) quaternion {
	return quaternion{
		(a.w*b.x + a.x*b.w + a.y*b.z - a.z*b.y) >> rotBits,
		(a.w*b.y + a.y*b.w + a.z*b.x - a.x*b.z) >> rotBits,
		(a.w*b.z + a.z*b.w + a.x*b.y - a.y*b.x) >> rotBits,
		(a.w*b.w - a.x*b.x - a.y*b.y - a.z*b.z) >> rotBits,
	}
}

// since is the rotation that leads from b to a, the short way.
func (a quaternion) since(b quaternion) quaternion {
	d := a.mul(quaternion{-b.x, -b.y, -b.z, b.w})
	if d.w < 0 {
		return quaternion{-d.x, -d.y, -d.z, -d.w}
	}
	return d
}

// turn is the rotation vector of q: twice the arc sine of its vector part.
func (q quaternion) turn() vector {
	s := (q.x*q.x + q.y*q.y + q.z*q.z) >> rotBits
	s2 := s * s >> rotBits
	k := 2*rotOne + s/3 + s2*3/20 + (s2*s>>rotBits)*5/56 // asin(x)/x by its series
	return vector{q.x * k >> rotBits, q.y * k >> rotBits, q.z * k >> rotBits}
}

// exp is the rotation by a rotation vector.
func (t vector) exp() quaternion {
	x := min(max(t.x, -3*rotOne), 3*rotOne) >> 1
	y := min(max(t.y, -3*rotOne), 3*rotOne) >> 1
	z := min(max(t.z, -3*rotOne), 3*rotOne) >> 1
	s := (x*x + y*y + z*z) >> rotBits // half the angle, squared
	s2 := s * s >> rotBits
	s3 := s2 * s >> rotBits
	sin := rotOne - s/6 + s2/120 - s3/5040
	cos := rotOne - s/2 + s2/24 - s3/720
	return quaternion{x * sin >> rotBits, y * sin >> rotBits, z * sin >> rotBits, cos}
}

// rotate turns p, in any unit.
func (q quaternion) rotate(p vector) vector {
	x := (q.y*p.z - q.z*p.y + q.w*p.x) >> rotBits
	y := (q.z*p.x - q.x*p.z + q.w*p.y) >> rotBits
	z := (q.x*p.y - q.y*p.x + q.w*p.z) >> rotBits
	return vector{
		p.x + (q.y*z-q.z*y)>>(rotBits-1),
		p.y + (q.z*x-q.x*z)>>(rotBits-1),
		p.z + (q.x*y-q.y*x)>>(rotBits-1),
	}
}

func (a vector) minus(b vector) vector { return vector{a.x - b.x, a.y - b.y, a.z - b.z} }

func (a vector) scaled(k int64) vector { return vector{a.x * k >> 8, a.y * k >> 8, a.z * k >> 8} }

func (a vector) size() int64 { return abs(a.x) + abs(a.y) + abs(a.z) }

func (a vector) clamped(most int64) vector {
	return vector{
		min(max(a.x, -most), most), min(max(a.y, -most), most), min(max(a.z, -most), most)}
}

func abs(x int64) int64 { return max(x, -x) }

// turnsOf fills in the features of a rotation from its history.
func (c *coder) turnsOf(m *classModel, index int, h *History) quaternion {
	r := &m.rotations[index]
	q0 := r.unpack(h.Images[0])
	t := c.turns[index*rotationTurns:][:rotationTurns]
	newer := q0
	t[turn1] = vector{}
	for i := 1; i <= r.usesPast; i++ {
		if i < h.Len {
			older := r.unpack(h.Images[i])
			t[turn1+i-1] = newer.since(older).turn().scaled(c.ratios[i-1]).clamped(8 * rotOne)
			newer = older
		} else if i > 1 {
			t[turn1+i-1] = t[turn1+i-2]
		}
	}
	t[turnCarried], t[turnSlip] = vector{}, vector{}
	if m.reference && c.ref.usable {
		t[turnCarried] = c.ref.turnNow
		t[turnSlip] = t[turn1].minus(c.ref.turn1)
	}
	t[turnRoll], t[turnRollMiss] = vector{}, vector{}
	if len(m.points) > 0 {
		p := m.points[0]
		x := c.features[m.numberFeature(p[0], 0):][:numberFeatures]
		y := c.features[m.numberFeature(p[1], 0):][:numberFeatures]
		t[turnRoll] = vector{-y[change] << 4, x[change] << 4, 0}.clamped(8 * rotOne)
		t[turnRollMiss] = vector{-y[miss] << 4, x[miss] << 4, 0}.clamped(8 * rotOne)
	}
	l := c.logs[m.rotationLog(index, 0):][:rotationLogs]
	l[logTurnMiss] = 0
	if r.usesLog[logTurnChange] {
		l[logTurnChange] = logOf(t[turn1].minus(t[turn2]).size())
	}
	if r.usesLog[logTurn] {
		l[logTurn] = logOf(t[turn1].size())
	}
	if r.usesLog[logTurnSlip] {
		l[logTurnSlip] = logOf(t[turnSlip].size())
	}
	return q0
}

// rotation codes the four fields of a quaternion: whether the largest component is
// the predicted one, then each of the others near where the prediction has it.
func (c *coder) rotation(m *classModel, index, set int, h *History, now []int32) {
	r := &m.rotations[index]
	q := c.turnsOf(m, index, h)
	p := &r.sets[set]
	var t vector
	turns := c.turns[index*rotationTurns:][:rotationTurns]
	for i := range p.terms[:p.n] {
		w, u := int64(p.terms[i].weight), &turns[p.terms[i].slot]
		t.x += w * u.x
		t.y += w * u.y
		t.z += w * u.z
	}
	q = vector{t.x >> weightBits, t.y >> weightBits, t.z >> weightBits}.exp().mul(q)
	comp := [4]int64{q.x, q.y, q.z, q.w}
	largest := c.largest(r, &comp, set, now)

	sign := int64(1)
	if comp[largest] < 0 {
		sign = -1
	}
	// The error is a small turn that may point anywhere, so on the components it has
	// covariance 1 - q q': what the first ones missed by tells where the later ones lie.
	var seen [2]int64 // errors so far, in 1/256
	var v [2]int64
	k := 0
	for i := 0; i < 4; i++ {
		if i == largest {
			continue
		}
		x := comp[i] * sign
		predicted := (x*r.perUnit>>rotBits + int64(r.top)<<8) >> 1
		v0, v1 := v[0], v[1]
		switch k {
		case 1:
			predicted -= (v0 * x >> rotBits) * seen[0] / max((1<<rotBits)-(v0*v0>>rotBits),
				rotOne/8)
		case 2:
			rest := max((1<<rotBits)-(v0*v0>>rotBits)-(v1*v1>>rotBits), rotOne/8)
			predicted -= (v0*x>>rotBits*seen[0] + v1*x>>rotBits*seen[1]) / rest
		}
		predicted = min(max(predicted, 0), int64(r.top)<<8)
		whole := (predicted + 128) >> 8
		bin := binOf(c.expect(&r.parts[k][set]))
		f := r.field + 1 + k
		low := int64(r.low)
		e := c.residual(r.errors, bin, predicted-whole<<8, int64(now[f])-low-whole)
		part := clampValue(&m.fields[f], low+whole+e)
		if c.dec != nil { // an image that is encoded may be others' as well
			now[f] = part
		}
		miss := (int64(part)-low)<<8 - predicted
		c.watch[k] = miss
		if k < 2 {
			seen[k], v[k] = miss, x
		}
		lm := &c.logs[m.rotationLog(index, logTurnMiss)]
		if lg := logOf(miss); k == 0 {
			*lm = lg
		} else {
			*lm = max(*lm, lg)
		}
		k++
	}
}

// largest codes which component is the largest: how many were predicted to be larger.
func (c *coder) largest(r *rotationModel, comp *[4]int64, set int, now []int32) int {
	order := [4]uint8{0, 1, 2, 3} // by falling size
	for i := 1; i < 4; i++ {
		for j := i; j > 0 && abs(comp[order[j]]) > abs(comp[order[j-1]]); j-- {
			order[j], order[j-1] = order[j-1], order[j]
		}
	}
	margin := min((abs(comp[order[0]])-abs(comp[order[1]]))>>(rotBits-6), 15)
	sure := binOf(c.expect(&r.parts[0][set]))
	s := 0
	if c.dec == nil {
		for s < 3 && int32(order[s]) != now[r.field] {
			s++
		}
	}
	s = c.symbol(&r.largest[int(margin)*4+min(max(sure-12, 0)/6, 3)], s) & 3
	if c.dec != nil {
		now[r.field] = int32(order[s])
	}
	return int(order[s])
}
