package codec

import "math"

// Default makes a model from a schema alone, for games that never trained one.
// It expects things to move on as they did, to be off by about as much as
// their motion changed lately, and errors to have a heavy-tailed distribution.
// Every product is rounded on its own, so that all platforms make the same.
func Default(s *Schema) (*Model, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	m := newModel(s)
	for i := range m.classes {
		m.classes[i].guess()
	}
	return m.seal()
}

// guess fills in what is true of most games.
func (m *classModel) guess() {
	m.allot()
	m.changed.context = context{size: 1}
	m.changed.add(factMoved1, 2)
	m.changed.add(factMoved2, 2)
	m.changed.tables = []table{
		chances(0.98, 0.02), chances(0.1, 0.9), chances(0.7, 0.3), chances(0.05, 0.95)}
	m.quiet.context = context{size: 1}
	m.quiet.tables = []table{chances(0.85, 0.15)}
	m.anyFrozen.tables = []table{chances(0.5, 0.5)}
	sizes := new(errorTables)
	for b := range bins {
		for p := range int(binInfo[b].parts) {
			sizes[int(binInfo[b].table)+p] = makeTable(expectedErrors(b, p), residualSymbols)
		}
	}
	for _, e := range m.errors {
		*e = *sizes
	}
	for i := range m.rare {
		d := &m.rare[i]
		d.symbols = []int32{0, 1, -1}
		d.context = context{size: 1}
		d.decision.tables = []table{chances(0.7, 0.1, 0.05, 0.15)}
		d.escapeBin = binFor(m.fields[d.field].span() / 16)
	}
	for i := range m.numbers {
		n := &m.numbers[i]
		n.choose = context{size: 1}
		p := predictor{n: 1, logN: 3}
		p.terms[0] = term{uint16(m.numberFeature(i, rate1)), weightOne}
		p.logs[0] = term{uint16(m.numberLog(i, logAcceleration)), weightOne * 7 / 8}
		p.logs[1] = term{uint16(m.numberLog(i, logRate)), weightOne / 16}
		p.logs[2] = term{logGap, weightOne / 2}
		p.logBias = 0
		// the game knows better, and how its motion changed says little about where it errs
		if m.reckon != nil {
			p.terms[0].slot = uint16(m.numberFeature(i, reckoned))
			p.logs[0].weight = weightOne / 4
			p.logBias = -24 * weightOne
		}
		n.sets = []predictor{p}
	}
	for i := range m.rotations {
		r := &m.rotations[i]
		r.choose = context{size: 1}
		p := predictor{n: 1}
		p.terms[0] = term{turn1, weightOne * 7 / 8}
		r.sets = []predictor{p}
		for k := range r.parts {
			p := predictor{logN: 2}
			p.logs[0] = term{uint16(m.rotationLog(i, logTurnChange)), weightOne * 5 / 8}
			p.logs[1] = term{uint16(m.rotationLog(i, logTurn)), weightOne / 8}
			p.logBias = -40 * weightOne
			r.parts[k] = []predictor{p}
		}
		for j := range r.largest {
			margin := float64(j/4) / 16
			r.largest[j] = chances(0.6+float64(0.39*margin), 0.3-float64(0.29*margin), 0.07, 0.03)
		}
	}
}

// binFor is the bin of a typical size.
func binFor(size int64) int { return binOf(logOf(max(size, 1)<<8) << weightBits) }

// chances is a distribution by its probabilities.
func chances(p ...float64) table {
	var k [tableSize]float64
	copy(k[:], p)
	return makeTable(k, len(p))
}

// expectedErrors is how residuals fall into cells where errors follow Student's
// distribution with two degrees of freedom, which has a tail about as heavy as that
// of the errors of games, and a cumulative function that needs no more than a square root.
func expectedErrors(bin, part int) (k [tableSize]float64) {
	// The bin's middle as a size: an octave is eight steps, by repeated square roots.
	size := 1.0 / 16
	eighth := math.Sqrt(math.Sqrt(math.Sqrt(2)))
	for range bin*binWidth + binWidth/2 {
		size *= eighth
	}
	below := func(x float64) float64 {
		x /= size
		return x / math.Sqrt(2+float64(x*x))
	}
	frac := 0.0
	if n := int(binInfo[bin].parts); n > 1 {
		frac = (float64(part) + 0.5) / float64(2*n)
	}
	unit := float64(int(1) << binInfo[bin].shift)
	for cell := range cells {
		lo := float64(cellStart[cell])*unit - float64(unit/2)
		hi := math.Inf(1)
		if cell+1 < cells {
			hi = float64(cellStart[cell+1])*unit - float64(unit/2)
		}
		if cell == 0 {
			k[0] = below(hi-frac) - below(-hi-frac)
			continue
		}
		top, bottom := 1.0, -1.0
		if cell+1 < cells {
			top, bottom = below(hi-frac), below(-hi-frac)
		}
		k[2*cell-1] = top - below(lo-frac)
		k[2*cell] = below(-lo-frac) - bottom
	}
	return k
}
