package codec

import "math"

// reference is the motion of the entity that others may be carried by, from
// the times of an entity's images to now. It is the same for all entities of a
// packet that have the same ages, and so worked out once.
type reference struct {
	model *classModel
	now   []int32
	past  *History

	usable  bool // its history matches that of the entity in turn
	ages    [2]int32
	known   bool
	at      [3]vector // its position now, at the base, and at the image before
	turn    quaternion
	before  quaternion
	turnNow vector
	turn1   vector
}

// set makes an entity the reference of those coded after it.
func (r *reference) set(m *classModel, h *History, now []int32) {
	*r = reference{}
	if len(m.points) > 0 && len(m.rotations) > 0 {
		r.model, r.past, r.now = m, h, now
	}
}

// match prepares the motion between the times of an entity's two newest images and now.
func (r *reference) match(h *History, ratio int64) {
	r.usable = false
	if r.model == nil || h.Len < 2 || r.past.Len < 2 || h.Ages[0] != r.past.Ages[0] ||
		h.Ages[1] != r.past.Ages[1] {
		return
	}
	r.usable = true
	if r.known && r.ages == [2]int32{h.Ages[0], h.Ages[1]} {
		return
	}
	r.known, r.ages = true, [2]int32{h.Ages[0], h.Ages[1]}
	m := r.model
	images := [3][]int32{r.now, r.past.Images[0], r.past.Images[1]}
	var q [3]quaternion
	for i, im := range images {
		r.at[i] = m.point(0, im)
		q[i] = m.rotations[0].unpack(im)
	}
	r.turn = q[0].since(q[1])
	r.before = q[1].since(q[2])
	r.turnNow = r.turn.turn()
	r.turn1 = r.before.turn().scaled(ratio)
}

// point is a position in space.
func (m *classModel) point(index int, image []int32) vector {
	p := m.points[index]
	return vector{
		int64(image[m.numbers[p[0]].field]),
		int64(image[m.numbers[p[1]].field]),
		int64(image[m.numbers[p[2]].field]),
	}
}

// points fills in the features and facts that relate positions to the reference.
func (c *coder) points(m *classModel, h *History) {
	c.facts[factCarried] = notCarried
	c.ref.usable = false
	if !m.reference {
		return
	}
	c.ref.match(h, c.ratios[0])
	for i := range m.points {
		axes := &m.points[i]
		s := c.features[m.pointFeature(i, 0, 0):][:3*pointFeatures]
		l := c.logs[m.pointLog(i, 0):][:pointLogs]
		if !c.ref.usable {
			clear(s)
			clear(l)
			continue
		}
		p0, p1 := m.point(i, h.Images[0]), m.point(i, h.Images[1])
		way := p0.minus(c.ref.at[1])
		drift := c.ref.turn.rotate(way).minus(p0.minus(c.ref.at[0]))
		before := c.ref.before.rotate(p1.minus(c.ref.at[2]))
		slipped := vector{way.x - before.x, way.y - before.y, way.z - before.z}
		k := c.ratios[0]
		slipped = vector{slipped.x * k, slipped.y * k, slipped.z * k}.clamped(maxFeature)
		drift = vector{drift.x << 8, drift.y << 8, drift.z << 8}.clamped(maxFeature)
		k = -c.gap * c.gap << 5
		far := vector{way.x * k, way.y * k, way.z * k}.clamped(maxFeature)
		length := int64(math.Sqrt(float64(way.x*way.x + way.y*way.y + way.z*way.z)))
		k = -c.gap * c.gap << 16 / max(length, 1)
		near := vector{way.x * k >> 8, way.y * k >> 8, way.z * k >> 8}.clamped(maxFeature)
		s[carried], s[slip], s[toward], s[pull] = drift.x, slipped.x, far.x, near.x
		s = s[pointFeatures:]
		s[carried], s[slip], s[toward], s[pull] = drift.y, slipped.y, far.y, near.y
		s = s[pointFeatures:]
		s[carried], s[slip], s[toward], s[pull] = drift.z, slipped.z, far.z, near.z

		acceleration := int64(0)
		for _, a := range axes {
			n := &m.numbers[a]
			r := (*[numberFeatures]int64)(c.features[n.features:])
			c.rates(n, h, r)
			acceleration += abs(r[rate1] - r[rate2])
		}
		l[logSlip] = logOf(slipped.size())
		l[logCarried] = logOf(drift.size())
		c.facts[factCarried] = uint8(min(max((l[logSlip]-logOf(acceleration)+20)>>3, 0),
			notCarried-1))
	}
}
