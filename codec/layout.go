package codec

import (
	"math"
	"slices"
)

// newClassModel lays out a class with no knowledge in it: which fields are
// coded how and in which order. Of the numbers, those that are still are
// treated as discrete; nil means that none is.
func newClassModel(c *Class, still []bool) *classModel {
	if still == nil {
		still = make([]bool, len(c.Fields))
	}
	m := &classModel{
		fields: c.Fields, reference: c.Reference, reckon: c.Reckon, still: still,
		moved: [3]bool{true, true, true},
	}
	m.changed.looks = m.moved
	numbers := numbersOf(c, still)
	discrete := m.layOutOthers(c)
	index := map[int]int{}
	for i, f := range numbers {
		index[f] = i
	}
	m.layOutHeading(c, numbers)
	for i, f := range numbers {
		d := &c.Fields[f]
		n := numberModel{
			field: f, index: i, rate: -1, wraps: d.Kind == Angle, wide: d.span() > narrowSpan,
			min: int64(d.Min), max: int64(d.Max), mid: int64(d.mid()), span: d.span(),
			features: m.numberFeature(i, 0), logs: m.numberLog(i, 0),
			usesLogs: true, usesBase: true, usesNow: true, usesMiss: true, usesRates: 3,
		}
		if k, ok := index[c.Fields[f].Rate]; ok && k < i {
			n.rate = k
		}
		setAll(n.uses[:])
		setAll(n.usesLog[:])
		m.numbers = append(m.numbers, n)
	}
	for i := 0; i+2 < len(c.Fields); i++ {
		if at := func(i int) bool { return c.Fields[i].Kind == Position && !still[i] }; at(i) &&
			at(i+1) && at(i+2) {
			m.points = append(m.points, [3]int{index[i], index[i+1], index[i+2]})
			i += 2
		}
	}
	m.discretes = len(discrete)
	// A field takes a symbol, an escape's length and bits, and bits that were cut off: less than
	// nine bytes.
	m.most = 16 + 9*len(c.Fields)
	m.anyFrozen.size = 1
	for i, f := range discrete {
		d := discreteModel{field: f, index: i, symbols: []int32{0}, usesPast: true, usesNow: true}
		setAll(d.uses[:])
		m.rare = append(m.rare, d)
	}
	for i := range m.numbers {
		m.numbers[i].fact = m.numberFact(i, 0)
	}
	m.shareErrors()
	m.defaults = make([]int32, len(c.Fields))
	for i := range c.Fields {
		m.defaults[i] = min(max(0, c.Fields[i].Min), c.Fields[i].Max)
	}
	return m
}

// numbersOf lists the fields that are coded as numbers, in the order in which they are.
func numbersOf(c *Class, still []bool) (numbers []int) {
	for _, k := range []Kind{Angle, Velocity, Position, Number} {
		for i := range c.Fields {
			if c.Fields[i].Kind == k && !still[i] {
				numbers = append(numbers, i)
			}
		}
	}
	return numbers
}

// layOutOthers lays out rotations, and lists the fields that are coded as symbols.
func (m *classModel) layOutOthers(c *Class) (discrete []int) {
	for i := range c.Fields {
		switch {
		case c.Fields[i].Kind == Discrete || m.still[i]:
			discrete = append(discrete, i)
		case c.Fields[i].Kind == Quaternion:
			r := rotationModel{
				field: i, low: c.Fields[i+1].Min, top: int32(c.Fields[i+1].span() - 1)}
			r.unit = int64(math.Round(rotPart * 65536 / float64(r.top)))
			r.perUnit = int64(math.Round(math.Sqrt2 * float64(r.top) * 256))
			setAll(r.usesLog[:])
			r.usesPast = Depth - 1
			m.rotations = append(m.rotations, r)
		}
	}
	return discrete
}

// layOutHeading finds the velocity that a heading follows from.
func (m *classModel) layOutHeading(c *Class, numbers []int) {
	m.heading.angle = -1
	// the first angle is taken to be the heading
	if len(numbers) > 0 && c.Fields[numbers[0]].Kind == Angle {
		i := slices.IndexFunc(numbers, func(f int) bool { return c.Fields[f].Kind == Velocity })
		if i >= 0 && i+1 < len(numbers) && c.Fields[numbers[i+1]].Kind == Velocity {
			m.heading = heading{angle: 0, x: i, y: i + 1, span: c.Fields[numbers[0]].span()}
			m.heading.used = true
			m.heading.scale = 1 << 40 / m.heading.span
		}
	}
}

// shareErrors gives numbers of a kind the same distributions of errors, one to the escapes of all
// discrete fields, and one to each rotation. Few distributions are learned sooner, and stay in the
// cache.
func (m *classModel) shareErrors() {
	fresh := func() *errorTables {
		e := new(errorTables)
		m.errors = append(m.errors, e)
		return e
	}
	kinds := map[Kind]*errorTables{}
	for i := range m.numbers {
		n := &m.numbers[i]
		k := m.fields[n.field].Kind
		if kinds[k] == nil {
			kinds[k] = fresh()
		}
		n.errors = kinds[k]
	}
	for i := range m.rotations {
		m.rotations[i].errors = fresh()
	}
	if len(m.rare) > 0 {
		e := fresh()
		for i := range m.rare {
			m.rare[i].escape = e
		}
	}
}

// setAll marks everything as looked at, as it is in training; findUses finds out what really is.
func setAll(uses []bool) {
	for i := range uses {
		uses[i] = true
	}
}
