package codec

// change codes whether an entity differs from its base, and gathers the facts
// that this and the rest of the entity need.
func (c *coder) change(m *classModel, h *History, changed bool) bool {
	c.entityFacts(m, h)
	s := 0
	if changed {
		s = 1
	}
	d := &m.changed
	s = c.symbol(&d.tables[d.index(&c.facts)], s)
	c.facts[factBefore] = c.facts[factBefore]<<1&2 | uint8(s)
	return s == 1
}

// entity codes an entity that changed. To encode, now is its image; to decode,
// now is where the image goes.
func (c *coder) entity(m *classModel, h *History, now []int32) {
	base := h.Images[0]
	c.laterFacts(m, h)
	c.setGaps(h)
	c.points(m, h)
	if m.reckon != nil {
		c.reckon(m, h)
	}

	for _, d := range m.lists.past {
		c.discretePast(d, h)
	}
	for i := range m.frequent {
		c.discrete(m, &m.frequent[i], base, now)
	}
	if len(m.lists.rare) > 0 {
		c.rareFields(m, base, now)
	}
	for i := range m.numbers {
		c.number(&m.numbers[i], h, now)
		if i == m.heading.angle && m.heading.used {
			c.turnHeading(m, base, now)
		}
	}
	for i := range m.rotations {
		c.rotation(m, i, m.rotations[i].choose.index(&c.facts), h, now)
	}
}

// rareFields codes the fields that hardly ever change: most often one decision
// says that none of them did.
func (c *coder) rareFields(m *classModel, base, now []int32) {
	if c.symbol(&m.quiet.tables[m.quiet.index(&c.facts)],
		c.anyChanged(m.lists.rare, base, now)) == 0 {
		c.keep(m.lists.rare, base, now)
		for _, d := range m.lists.now {
			c.discreteNow(d, base[d.field], base[d.field], 0)
		}
		return
	}
	for i := range m.rare {
		c.discrete(m, &m.rare[i], base, now)
	}
	if len(m.frozen) == 0 {
		return
	}
	if c.symbol(&m.anyFrozen.tables[0], c.anyChanged(m.lists.frozen, base, now)) == 0 {
		c.keep(m.lists.frozen, base, now)
		return
	}
	for i := range m.frozen {
		c.discrete(m, &m.frozen[i], base, now)
	}
}

// anyChanged is 1 if any of some fields changed.
func (c *coder) anyChanged(fields []int, base, now []int32) int {
	if c.dec == nil {
		for _, f := range fields {
			if now[f] != base[f] {
				return 1
			}
		}
	}
	return 0
}

// keep gives fields that did not change their value.
func (c *coder) keep(fields []int, base, now []int32) {
	if c.dec != nil {
		for _, f := range fields {
			now[f] = base[f]
		}
	}
}

// discrete codes a field that is set rather than moved.
func (c *coder) discrete(m *classModel, d *discreteModel, base, now []int32) {
	b, v := base[d.field], now[d.field]
	s := 0
	if c.dec == nil {
		s = d.symbolOf(b, v)
	}
	s = c.symbol(&d.tables[d.decision.index(&c.facts)], s)
	var r int64
	if s < len(d.symbols) {
		r = int64(d.symbols[s])
	} else {
		r = c.residual(d.escape, d.escapeBin, 0, int64(v)-int64(b))
	}
	v = clampValue(&m.fields[d.field], int64(b)+r)
	if c.dec != nil { // an image that is encoded may be others' as well
		now[d.field] = v
	}
	if d.usesNow {
		c.discreteNow(d, b, v, s)
	}
}

func (d *discreteModel) symbolOf(base, v int32) int {
	if v == base && len(d.symbols) > 0 && d.symbols[0] == 0 {
		return 0
	}
	diff := int64(v) - int64(base)
	for i, x := range d.symbols {
		if int64(x) == diff {
			return i
		}
	}
	return len(d.symbols)
}

// clampValue keeps what a corrupt stream says within the field's range.
func clampValue(f *Field, v int64) int32 {
	return int32(min(max(v, int64(f.Min)), int64(f.Max)))
}

// number codes a field that moves.
func (c *coder) number(n *numberModel, h *History, now []int32) {
	b := int64(h.Images[0][n.field])
	s := (*[numberFeatures]int64)(c.features[n.features:])
	if n.usesRates > 0 {
		c.rates(n, h, s)
	}
	if n.usesBase {
		s[baseRate] = (b - n.mid) * c.gap << 8
		s[baseValue] = (b - n.mid) << 8
		if n.wide {
			s[baseRate], s[baseValue] = clampFeature(s[baseRate]), clampFeature(s[baseValue])
		}
	}
	p := &n.sets[n.choose.index(&c.facts)]
	// Both sums are written out, because calls would be a good part of the time. Terms that are not
	// used have no weight.
	f := &c.features
	predicted := (int64(p.terms[0].weight)*f[p.terms[0].slot%maxFeatures] +
		int64(p.terms[1].weight)*f[p.terms[1].slot%maxFeatures] +
		int64(p.terms[2].weight)*f[p.terms[2].slot%maxFeatures] +
		int64(p.terms[3].weight)*f[p.terms[3].slot%maxFeatures] +
		int64(p.terms[4].weight)*f[p.terms[4].slot%maxFeatures]) >> weightBits
	l := &c.logs
	size := p.logBias + int64(p.logs[0].weight)*l[p.logs[0].slot%maxLogs] +
		int64(p.logs[1].weight)*l[p.logs[1].slot%maxLogs] +
		int64(p.logs[2].weight)*l[p.logs[2].slot%maxLogs] +
		int64(p.logs[3].weight)*l[p.logs[3].slot%maxLogs]
	if !n.wraps { // what lies outside the range cannot be
		predicted = min(max(predicted, (n.min-b)<<8), (n.max-b)<<8)
	}
	whole := (predicted + 128) >> 8
	r := int64(now[n.field]) - b - whole
	if n.wraps {
		r = wrapFar(r, n.span)
	}
	r = c.residual(n.errors, binOf(size), predicted-whole<<8, r)
	moved := whole + r
	v := int64(now[n.field])
	if c.dec != nil {
		v = b + moved
		if n.wraps {
			v = n.min + wrapUp(v-n.min, n.span)
		}
		v = min(max(v, n.min), n.max) // a corrupt stream may say anything
		now[n.field] = int32(v)
	}

	s[change] = moved << 8
	s[miss] = moved<<8 - predicted
	if n.wide {
		s[change], s[miss] = clampFeature(s[change]), clampFeature(s[miss])
	}
	if n.usesNow {
		s[nowRate] = (v - n.mid) * c.gap << 8
		if n.wide {
			s[nowRate] = clampFeature(s[nowRate])
		}
	}
	if n.usesMiss {
		l := logOf(s[miss])
		c.logs[n.logs+logMiss] = l
		c.facts[n.fact+factMiss] = missStep(l)
	}
}

// expect is the expected size of the error, as a logarithm for binOf.
func (c *coder) expect(p *predictor) int64 {
	sum := p.logBias
	for i := range p.logs {
		sum += int64(p.logs[i].weight) * c.logs[p.logs[i].slot%maxLogs]
	}
	return sum
}

// wrapFar brings any difference into -span/2 .. span/2.
func wrapFar(d, span int64) int64 {
	if d > (span-1)/2 || d < -span/2 {
		d = wrapUp(d+span/2, span) - span/2
	}
	return d
}

// wrapUp brings any number into 0 .. span-1.
func wrapUp(v, span int64) int64 {
	if v >= 0 && v < span {
		return v
	}
	v %= span
	if v < 0 {
		v += span
	}
	return v
}
