package codec

import "unsafe"

// Facts are small things known about an entity when a decision is coded. A
// decision looks at a few of them to choose its distribution.
const (
	factNone    = iota
	factGap     // age of the base, in steps
	factMoved1  // whether the two newest images differ
	factMoved2  // whether the next two do
	factMoved3  // and the oldest
	factBefore  // whether the last two entities of the packet changed
	factCarried // how well rigid motion with the reference explains the past
	firstFact
)

// Facts of each discrete field, from firstFact + index*discreteFacts on.
const (
	factSymbol  = iota // what its decision was: 0 unchanged
	factValue          // which of its likeliest values it has now
	factChanged        // whether its two newest images differ
	factBase           // which of its likeliest values it had at the base
	factPhase          // the lowest bits of its value at the base
	discreteFacts
)

// Facts of each number, after those of the discrete fields.
const (
	factMiss = iota // how far off its prediction was
	numberFacts
)

// notCarried is the value of factCarried where there is no reference.
const notCarried = 5

// maxFacts is a power of two, so that an index needs no check.
const maxFacts = 512

const _ uint = maxFacts - (firstFact + MaxFields*discreteFacts + MaxFields*numberFacts)

func (m *classModel) numberFact(number, fact int) int {
	return firstFact + m.discretes*discreteFacts + number*numberFacts + fact
}

// missStep sorts the logarithms of misses.
func missStep(log int64) uint8 { return uint8(min(max((log-4)>>4, 0), 3)) }

// cardinality is how many values a fact can have.
func (m *classModel) cardinality(fact int) int32 {
	if fact >= m.numberFact(0, 0) {
		return 4
	}
	switch fact {
	case factNone:
		return 1
	case factGap:
		return 8
	case factMoved1, factMoved2, factMoved3:
		return 2
	case factBefore:
		return 4
	case factCarried:
		return notCarried + 1
	}
	switch (fact - firstFact) % discreteFacts {
	case factChanged:
		return 2
	case factPhase:
		return 16
	}
	return 8
}

// likelyValues is how many values of a discrete field contexts tell apart;
// one more stands for the rest.
const likelyValues = 7

// gapStep sorts ages of the base.
func gapStep(gap int64) uint8 {
	switch {
	case gap <= 4:
		return uint8(gap - 1)
	case gap <= 6:
		return 4
	case gap <= 8:
		return 5
	case gap <= 12:
		return 6
	}
	return 7
}

// entityFacts gathers what the history says about the entity as a whole. It is
// all that is needed to code that an entity did not change, and so the only
// work that a resting entity costs.
func (c *coder) entityFacts(m *classModel, h *History) {
	c.facts[factGap] = gapStep(int64(min(max(h.Ages[0], 1), maxAge)))
	if m.changed.looks[0] {
		c.facts[factMoved1] = moved(h, 0)
	}
	if m.changed.looks[1] {
		c.facts[factMoved2] = moved(h, 1)
	}
	if m.changed.looks[2] {
		c.facts[factMoved3] = moved(h, 2)
	}
}

// laterFacts gathers the rest of what the history says, once the entity is known to have changed.
func (c *coder) laterFacts(m *classModel, h *History) {
	for i, used := range m.moved {
		if used && !m.changed.looks[i] {
			c.facts[factMoved1+i] = moved(h, i)
		}
	}
}

// moved tells whether an image differs from the next older one.
func moved(h *History, i int) uint8 {
	if i+1 < h.Len && !same(h.Images[i], h.Images[i+1]) {
		return 1
	}
	return 0
}

// same tells whether two images are equal. It is asked several times for each
// entity, changed or not, so it compares memory rather than fields.
func same(a, b []int32) bool {
	if len(a) != len(b) || len(a) == 0 {
		return len(a) == len(b)
	}
	p, q := unsafe.SliceData(a), unsafe.SliceData(b)
	return p == q ||
		unsafe.String((*byte)(unsafe.Pointer(p)),
			len(a)*4) == unsafe.String((*byte)(unsafe.Pointer(q)), len(b)*4)
}

// valueStep is the place of v among the likeliest values of a field.
func valueStep(values []int32, v int32) uint8 {
	for i, w := range values {
		if v == w {
			return uint8(i)
		}
	}
	return likelyValues
}

// discretePast gathers the facts that the history gives about a discrete field.
func (c *coder) discretePast(d *discreteModel, h *History) {
	s := c.facts[firstFact+d.index*discreteFacts:][:discreteFacts]
	v := h.Images[0][d.field]
	s[factChanged] = 0
	if h.Len > 1 && v != h.Images[1][d.field] {
		s[factChanged] = 1
	}
	if d.uses[factBase] {
		s[factBase] = valueStep(d.values, v)
	}
	s[factPhase] = uint8(v & 15)
}

// discreteNow gathers the facts that a field gives once it is coded.
func (c *coder) discreteNow(d *discreteModel, base, v int32, symbol int) {
	s := c.facts[firstFact+d.index*discreteFacts:][:discreteFacts]
	s[factSymbol] = 0
	if v != base {
		s[factSymbol] = uint8(min(1+symbol, 7))
	}
	if d.uses[factValue] {
		s[factValue] = valueStep(d.values, v)
	}
}
