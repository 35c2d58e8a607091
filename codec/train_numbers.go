package codec

import (
	"math"
	"slices"
)

// fewSamples is too few to learn weights from.
const fewSamples = 300

// numberTrainer holds the features and logarithms of many samples of a class.
type numberTrainer struct {
	m        *classModel
	features []float32 // sample after sample
	logs     []float32
	width    int
	logWidth int
	set      []int32
	facts    factTable
	n        int
	compact  bool // weights are rounded as far as they may be
	yield    func()
}

// numbers learns sets, weights and expected sizes for the numbers and rotations of a class.
func (t *trainer) numbers(m *classModel, samples []sample) {
	x := &numberTrainer{m: m, n: len(samples), compact: t.opt.Compact,
		yield: t.opt.Yield}
	x.width = m.pointFeature(len(m.points), 0, 0)
	x.logWidth = m.rotationLog(len(m.rotations), 0)
	x.facts.width = m.numberFact(len(m.numbers), 0)
	x.features = make([]float32, x.n*x.width)
	x.logs = make([]float32, x.n*x.logWidth)
	var h History
	c := &t.coder
	discrete := m.discrete()
	for j := range samples {
		s := &samples[j]
		t.pause(j)
		t.prepare(m, s, &h)
		c.entityFacts(m, &h)
		base, now := h.Images[0], s.now()
		for _, d := range discrete {
			c.discretePast(d, &h)
			c.discreteNow(d, base[d.field], now[d.field], d.symbolOf(base[d.field], now[d.field]))
		}
		for i := range m.numbers {
			n := &m.numbers[i]
			f := &m.fields[n.field]
			k := c.features[m.numberFeature(i, 0):]
			k[change] = n.difference(now[n.field], base[n.field]) << 8
			k[nowRate] = (int64(now[n.field]) - int64(f.mid())) * c.gap << 8
			if i == m.heading.angle {
				c.turnHeading(m, base, now)
			}
		}
		for i, v := range c.features[:x.width] {
			x.features[j*x.width+i] = float32(v) / 256
		}
		for i := range m.rotations {
			c.turnsOf(m, i, &h)
		}
		for i, v := range c.logs[:x.logWidth] {
			x.logs[j*x.logWidth+i] = float32(v)
		}
		x.facts.data = append(x.facts.data, c.facts[:x.facts.width]...)
	}
	for i := range m.numbers {
		x.number(i)
		t.step(1)
	}
	for i := range m.rotations {
		t.rotation(x, i, samples)
		t.step(2)
	}
}

// number learns to predict one number, set by set.
func (x *numberTrainer) number(i int) {
	n := &x.m.numbers[i]
	target := x.m.numberFeature(i, change)
	of := func(who []int) fitting {
		f := fitting{cands: x.m.candidates(i), compact: x.compact, yield: x.yield}
		for _, j := range who {
			row := x.features[j*x.width : (j+1)*x.width]
			f.rows, f.y = append(f.rows, row), append(f.y, float64(row[target]))
		}
		return f
	}
	n.choose = x.choose(x.m.numberFact(i, 0), of)
	n.sets = x.fitSets(int(n.choose.size), of)
	errs := make([]float64, x.n)
	for j, s := range x.set {
		errs[j] = float64(x.features[j*x.width+target]) - x.apply(&n.sets[s], j)
		x.features[j*x.width+x.m.numberFeature(i, miss)] = float32(errs[j])
		lm := logOf(int64(errs[j] * 256))
		x.logs[j*x.logWidth+x.m.numberLog(i, logMiss)] = float32(lm)
		x.facts.data[j*x.facts.width+x.m.numberFact(i, factMiss)] = missStep(lm)
	}
	x.sizes(n.sets, x.m.logCandidates(i), errs)
}

// fitSets fits the weights of each set that has samples enough, and of the others to all samples.
func (x *numberTrainer) fitSets(n int, of func(who []int) fitting) []predictor {
	sets := make([]predictor, n)
	whole := of(everyIndex(x.n)).weights()
	bySet := grouped(x.set, n, everyIndex(x.n))
	for s := range sets {
		sets[s] = whole
		if len(bySet[s]) >= fewSamples {
			sets[s] = of(bySet[s]).weights()
		}
	}
	return sets
}

// sizes learns the expected size of the errors of the predictors of all sets.
func (x *numberTrainer) sizes(sets []predictor, cands []int, errs []float64) {
	var whole predictor
	x.fitSize(&whole, cands, errs, everyIndex(x.n))
	bySet := grouped(x.set, len(sets), everyIndex(x.n))
	for s := range sets {
		p := &sets[s]
		p.logN, p.logs, p.logBias = whole.logN, whole.logs, whole.logBias
		if len(bySet[s]) >= fewSamples {
			x.fitSize(p, cands, errs, bySet[s])
		}
	}
}

// grouped sorts samples by the set of each.
func grouped(set []int32, sets int, who []int) [][]int {
	by := make([][]int, sets)
	for _, j := range who {
		by[set[j]] = append(by[set[j]], j)
	}
	return by
}

func (x *numberTrainer) apply(p *predictor, j int) float64 {
	sum := 0.0
	for _, t := range p.terms[:p.n] {
		sum += float64(t.weight) / weightOne * float64(x.features[j*x.width+int(t.slot)])
	}
	return sum
}

// A fitting is what weights are fitted to: samples, each with a row of features of which some are
// candidates, and with what is to be predicted.
type fitting struct {
	cands   []int
	rows    [][]float32
	y       []float64
	compact bool // weights are rounded as far as they may be
	yield   func()
}

func (f *fitting) pause() {
	if f.yield != nil {
		f.yield()
	}
}

// gram sums up the samples, each with a weight by the error that was made in predicting it.
func (f *fitting) gram(errs []float64, weight func(err float64) float64) *gram {
	f.pause()
	g := newGram(len(f.cands))
	v := make([]float64, len(f.cands))
	for j, row := range f.rows {
		for a, c := range f.cands {
			v[a] = float64(row[c])
		}
		g.add(v, f.y[j], weight(errs[j]))
	}
	return g
}

// apply works out the errors of all samples with some weights.
func (f *fitting) apply(w, errs []float64) {
	for j, row := range f.rows {
		sum := 0.0
		for a, c := range f.cands {
			sum += w[a] * float64(row[c])
		}
		errs[j] = f.y[j] - sum
	}
}

// left is the sum of the squares of errors as the last round of weights has them. Errors far below
// a unit are as good as none.
func (f *fitting) left(errs []float64) (sum float64) {
	const none = 0.03
	spread := max(medianAbs(errs), leastSpread)
	for _, e := range errs {
		e2 := e*e + none*none
		sum += e2 / (e2 + spread*spread)
	}
	return sum
}

// leastSpread is the error that counts as none.
const leastSpread = 0.25

// weights finds the weights that make the errors cheap to code. The cost of an error is about its
// logarithm, so large errors must not dominate: least squares is repeated, with forward selection,
// with each sample weighted by how well it was predicted.
func (f fitting) weights() predictor {
	var sel []int
	w := make([]float64, len(f.cands))
	errs := slices.Clone(f.y)
	var last *gram
	const rounds = 7
	for round := range rounds {
		spread := max(medianAbs(errs), leastSpread)
		g := f.gram(errs, func(err float64) float64 {
			switch {
			case round == 0:
				return 1
			case round < 3:
				return 1 / (math.Abs(err) + spread)
			}
			return 1 / (err*err + spread*spread)
		})
		if round < 3 {
			sel = everyIndex(len(f.cands))
		} else if round == 3 || round == 5 {
			sel = g.selectForward(nil, maxWeights)
		}
		w, last = g.solve(sel), g
		f.apply(w, errs)
	}
	var p predictor
	left := f.left(errs)
	for a, c := range f.cands {
		q := int64(math.Round(min(max(w[a], -64), 64) * weightOne))
		if f.compact && q != 0 {
			q = roundTo(q, stepFor(last.at(a, a), left))
		}
		if q != 0 {
			p.terms[p.n] = term{uint16(c), int32(q)}
			p.n++
		}
	}
	return p
}

// cost estimates the bits that the samples cost with weights of their own, the cost of learning
// these included.
func (f fitting) cost() float64 {
	errs := make([]float64, len(f.rows))
	for range 3 {
		spread := max(medianAbs(errs), leastSpread)
		g := f.gram(errs, func(err float64) float64 { return 1 / (math.Abs(err) + spread) })
		f.apply(g.solve(everyIndex(len(f.cands))), errs)
	}
	total := float64(len(f.cands)) * 6
	for _, e := range errs {
		total += math.Log2(math.Abs(e) + 0.3)
	}
	return total
}

// fitSize finds a linear function of logarithms that gives the expected logarithm of the error.
func (x *numberTrainer) fitSize(p *predictor, cands []int, errs []float64, who []int) {
	g := newGram(len(cands) + 1)
	v := make([]float64, len(cands)+1)
	v[len(cands)] = 1
	for _, j := range who {
		for a, l := range cands {
			v[a] = float64(x.logs[j*x.logWidth+l])
		}
		g.add(v, 8*math.Log2(math.Abs(errs[j])+0.1), 1)
	}
	sel := g.selectForward([]int{len(cands)}, maxLogWeights+1)
	w := g.solve(sel)
	p.logN, p.logs = 0, [maxLogWeights]term{}
	p.logBias = int64(min(max(w[len(cands)], -1000), 1000) * weightOne)
	left := g.left(w)
	if x.compact {
		p.logBias = roundTo(p.logBias, stepFor(g.at(len(cands), len(cands)), left))
	}
	for a, l := range cands {
		q := int64(math.Round(min(max(w[a], -8), 8) * weightOne))
		if x.compact && q != 0 {
			q = roundTo(q, stepFor(g.at(a, a), left))
		}
		if q != 0 {
			p.logs[p.logN] = term{uint16(l), int32(q)}
			p.logN++
		}
	}
}

func medianAbs(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	a := make([]float64, 0, 4096)
	step := max(1, len(v)/4096)
	for i := 0; i < len(v); i += step {
		a = append(a, math.Abs(v[i]))
	}
	slices.Sort(a)
	return a[len(a)/2]
}

// choose picks the facts, of those below limit, by which sets of weights are told apart, and sorts
// the samples into sets. A fact must gain a hundredth of a bit a sample.
func (x *numberTrainer) choose(limit int, of func(who []int) fitting) context {
	var who []int
	for j := 0; j < x.n; j += max(1, x.n/30000) {
		who = append(who, j)
	}
	var cands []int
	for f := factGap; f < limit; f++ {
		if f == factBefore || x.constant(f, who) {
			continue
		}
		if f >= firstFact && f < x.m.numberFact(0, 0) &&
			((f-firstFact)%discreteFacts == factPhase || (f-firstFact)%discreteFacts == factBase) {
			continue
		}
		cands = append(cands, f)
	}
	var c context
	c, x.set = x.m.chooseContext(&x.facts, who, cands, maxSets,
		func(best float64) float64 { return best - 0.01*float64(len(who)) },
		func(set []int32, sets int) (total float64) {
			for _, group := range grouped(set, sets, who) {
				if len(group) > 0 {
					total += of(group).cost()
				}
			}
			return total
		})
	return c
}

// constant tells whether a fact is the same for all samples, and so tells nothing.
func (x *numberTrainer) constant(f int, who []int) bool {
	for _, j := range who {
		if x.facts.at(j, f) != x.facts.at(who[0], f) {
			return false
		}
	}
	return true
}
