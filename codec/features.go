package codec

// A number is predicted from features: amounts, in 1/256 of a unit, that are
// known to both sides when the number's turn comes. Every number of a class
// offers the same few, at a fixed place, so that a predictor is a list of
// places and weights.
const (
	featureOne    = iota // always 64
	featureGap           // 64 times the age of the base in ticks
	featureSquare        // 64 times its square: what gravity does
	firstFeature
)

// Features of each number, from firstFeature + index*numberFeatures on.
const (
	rate1     = iota // change between the two newest images, carried on to now
	rate2            // the same one image earlier
	rate3            // and another one earlier
	baseRate         // value at the base times the gap: what a velocity moves in that time
	nowRate          // value now times the gap
	baseValue        // value at the base
	change           // how far it moved since the base
	miss             // by how much its prediction failed
	turnCos          // of a velocity: what turning by the heading's change takes from it
	turnSin          // and adds to it from the other axis
	facing           // of a velocity: the heading now, as a unit vector of 128
	reckoned         // how far the game itself says that it moved
	numberFeatures
)

// Features of each position in space, three axes each, after those of the
// numbers.
const (
	carried       = iota // where rigid motion with the reference entity takes it
	slip                 // its recent motion relative to such rigid motion
	toward               // the way to the reference entity, times the square of the gap
	pull                 // the same with the way's length made one
	pointFeatures        // on each of three axes
)

// Logarithms of features, in eighths of an octave: a linear function of them
// is the expected size of an error.
const (
	logGap = iota
	firstLog
)

// Logarithms of each number, from firstLog + index*numberLogs on.
const (
	logAcceleration = iota // of rate1 - rate2
	logRate                // of rate1
	logMiss                // of how wrong the prediction was
	numberLogs
)

// Logarithms of each position in space, after those of the numbers.
const (
	logSlip = iota
	logCarried
	pointLogs
)

// Logarithms of each rotation, after those of the positions.
const (
	logTurnChange = iota
	logTurn
	logTurnSlip
	logTurnMiss
	rotationLogs
)

// Powers of two, so that an index needs no check.
const (
	maxFeatures = 1024
	maxLogs     = 512
)

const _ uint = maxFeatures - (firstFeature + MaxFields*numberFeatures + MaxFields/3*pointFeatures*3)
const _ uint = maxLogs - (firstLog + MaxFields*numberLogs + MaxFields/3*pointLogs +
	MaxFields/4*rotationLogs)

const (
	maxFeature = 1 << 38 // bounds the sum of weighted features
	narrowSpan = 1 << 22 // numbers of a smaller range cannot have features beyond that
)

func (m *classModel) numberFeature(number, feature int) int {
	return firstFeature + number*numberFeatures + feature
}

func (m *classModel) pointFeature(point, axis, feature int) int {
	return firstFeature + len(m.numbers)*numberFeatures + (point*3+axis)*pointFeatures + feature
}

func (m *classModel) numberLog(number, log int) int { return firstLog + number*numberLogs + log }

func (m *classModel) pointLog(point, log int) int {
	return firstLog + len(m.numbers)*numberLogs + point*pointLogs + log
}

func (m *classModel) rotationLog(rotation, log int) int {
	return firstLog + len(m.numbers)*numberLogs + len(m.points)*pointLogs + rotation*rotationLogs +
		log
}

// clampFeature keeps sums of weighted features within 64 bits.
func clampFeature(x int64) int64 { return min(max(x, -maxFeature), maxFeature) }

// difference is a - b; around the circle the short way if the number wraps.
func (n *numberModel) difference(a, b int32) int64 {
	d := int64(a) - int64(b)
	if n.wraps {
		return wrap(d, n.span)
	}
	return d
}

// wrap brings a difference of two values below span into -span/2 .. span/2.
func wrap(d, span int64) int64 {
	if d > (span-1)/2 {
		d -= span
	} else if d < -span/2 {
		d += span
	}
	return d
}

// rates fills in the features and logarithms that a number's own history gives.
func (c *coder) rates(n *numberModel, h *History, s *[numberFeatures]int64) {
	if h.Len < 2 {
		s[rate1], s[rate2], s[rate3] = 0, 0, 0
	} else {
		v0, v1 := h.Images[0][n.field], h.Images[1][n.field]
		r1 := n.difference(v0, v1) * c.ratios[0]
		r2, r3 := r1, r1
		if n.usesRates > 1 && h.Len > 2 {
			v2 := h.Images[2][n.field]
			r2 = n.difference(v1, v2) * c.ratios[1]
			if r3 = r2; n.usesRates > 2 && h.Len > 3 {
				r3 = n.difference(v2, h.Images[3][n.field]) * c.ratios[2]
			}
		}
		if n.wide {
			r1, r2, r3 = clampFeature(r1), clampFeature(r2), clampFeature(r3)
		}
		s[rate1], s[rate2], s[rate3] = r1, r2, r3
	}
	if n.usesLogs {
		l := (*[numberLogs]int64)(c.logs[n.logs:])
		l[logRate] = logOf(s[rate1])
		l[logAcceleration] = logOf(s[rate1] - s[rate2])
	}
}

// setGaps works out what depends on the ages of a history alone. Most entities
// of a packet have the same ages.
func (c *coder) setGaps(h *History) {
	if h.Len == c.agesLen && h.Ages == c.ages {
		return
	}
	c.ages, c.agesLen = h.Ages, h.Len
	gap, between := h.gaps()
	c.gap = gap
	for i, b := range between {
		c.ratios[i] = 0
		if b > 0 {
			c.ratios[i] = gap << 8 / b
		}
	}
	c.features[featureOne] = 64 << 8
	c.features[featureGap] = gap * 64 << 8
	c.features[featureSquare] = gap * gap * 64 << 8
	c.logs[logGap] = logOf(gap << 8)
}

// reckon asks the game where the numbers of an entity should be.
func (c *coder) reckon(m *classModel, h *History) {
	base := h.Images[0]
	now := c.guess[:copy(c.guess[:], base)]
	m.reckon(h, now)
	for i := range m.numbers {
		n := &m.numbers[i]
		c.features[n.features+reckoned] = clampFeature(n.difference(now[n.field],
			base[n.field]) << 8)
	}
}
