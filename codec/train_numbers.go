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
	facts    []uint8
	factW    int
	n        int
}

// numbers learns sets, weights and expected sizes for the numbers and rotations of a class.
func (t *trainer) numbers(m *classModel, samples []sample) {
	x := &numberTrainer{m: m, n: len(samples)}
	x.width = m.pointFeature(len(m.points), 0, 0)
	x.logWidth = m.rotationLog(len(m.rotations), 0)
	x.factW = m.numberFact(len(m.numbers), 0)
	x.features = make([]float32, x.n*x.width)
	x.logs = make([]float32, x.n*x.logWidth)
	x.facts = make([]uint8, x.n*x.factW)
	var h History
	c := &t.coder
	discrete := m.discrete()
	for j := range samples {
		s := &samples[j]
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
		copy(x.facts[j*x.factW:], c.facts[:x.factW])
	}
	for i := range m.numbers {
		m.numbers[i].choose = x.choose(m.numberFact(i, 0), 0.01,
			func(set []int32, sets int, who []int) float64 {
				return x.numberCost(i, set, sets, who)
			})
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
	cands := x.m.candidates(i)
	y := make([]float64, x.n)
	for j := range y {
		y[j] = float64(x.features[j*x.width+target])
	}
	n.sets = make([]predictor, n.choose.size)
	all := everyIndex(x.n)
	whole := x.fit(cands, y, all)
	bySet := x.bySet()
	errs := make([]float64, x.n)
	for s := range n.sets {
		p := whole
		if s < len(bySet) && len(bySet[s]) >= fewSamples {
			p = x.fit(cands, y, bySet[s])
		}
		n.sets[s] = p
		if s >= len(bySet) {
			continue
		}
		for _, j := range bySet[s] {
			errs[j] = y[j] - x.apply(&p, j)
			x.features[j*x.width+x.m.numberFeature(i, miss)] = float32(errs[j])
			lm := logOf(int64(errs[j] * 256))
			x.logs[j*x.logWidth+x.m.numberLog(i, logMiss)] = float32(lm)
			x.facts[j*x.factW+x.m.numberFact(i, factMiss)] = missStep(lm)
		}
	}
	x.sizes(n.sets, x.m.logCandidates(i), errs, bySet)
}

// sizes learns the expected size of the errors of the predictors of all sets.
func (x *numberTrainer) sizes(sets []predictor, cands []int, errs []float64, bySet [][]int) {
	var whole predictor
	x.fitSize(&whole, cands, errs, everyIndex(x.n))
	for s := range sets {
		p := &sets[s]
		p.logN, p.logs, p.logBias = whole.logN, whole.logs, whole.logBias
		if s < len(bySet) && len(bySet[s]) >= fewSamples {
			x.fitSize(p, cands, errs, bySet[s])
		}
	}
}

func (x *numberTrainer) bySet() [][]int {
	if len(x.set) == 0 {
		return nil // of this class nothing was recorded that could be learned from
	}
	by := make([][]int, slices.Max(x.set)+1)
	for j, s := range x.set {
		by[s] = append(by[s], j)
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

// fit finds the weights that make the errors of some samples cheap to code. The cost of an error is
// about its logarithm, so large errors must not dominate: least squares is repeated with each
// sample weighted by how well it was predicted.
func (x *numberTrainer) fit(cands []int, y []float64, who []int) predictor {
	rows := func(j int) []float32 { return x.features[j*x.width : (j+1)*x.width] }
	return fitWeights(cands, who, rows, func(j int) float64 { return y[j] }, 0.25)
}

// fitWeights is a reweighted least squares with forward selection.
func fitWeights(cands []int, who []int, row func(int) []float32, y func(int) float64,
	floor float64) predictor {
	k := len(cands)
	var sel []int
	w := make([]float64, k)
	errs := make([]float64, len(who))
	for i, j := range who {
		errs[i] = y(j)
	}
	const rounds = 7
	for round := range rounds {
		g := newGram(k)
		spread := max(medianAbs(errs), floor)
		v := make([]float64, k)
		for i, j := range who {
			r := row(j)
			for a, f := range cands {
				v[a] = float64(r[f])
			}
			weight := 1.0
			switch {
			case round == 0:
			case round < 3:
				weight = 1 / (math.Abs(errs[i]) + spread)
			default:
				weight = 1 / (errs[i]*errs[i] + spread*spread)
			}
			g.add(v, y(j), weight)
		}
		if round < 3 {
			sel = everyIndex(k)
		} else if round == 3 || round == 5 {
			sel = g.selectForward(maxWeights)
		}
		w = g.solve(sel)
		for i, j := range who {
			r := row(j)
			sum := 0.0
			for a, f := range cands {
				if w[a] != 0 {
					sum += w[a] * float64(r[f])
				}
			}
			errs[i] = y(j) - sum
		}
	}
	var p predictor
	for a, f := range cands {
		if q := int32(math.Round(min(max(w[a], -64), 64) * weightOne)); q != 0 {
			p.terms[p.n] = term{uint16(f), q}
			p.n++
		}
	}
	return p
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
	sel := g.selectForwardFrom([]int{len(cands)}, maxLogWeights+1)
	w := g.solve(sel)
	p.logN, p.logs = 0, [maxLogWeights]term{}
	p.logBias = int64(min(max(w[len(cands)], -1000), 1000) * weightOne)
	for a, l := range cands {
		if q := int32(math.Round(min(max(w[a], -8), 8) * weightOne)); q != 0 {
			p.logs[p.logN] = term{uint16(l), q}
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
// the samples into sets. cost estimates the bits that a number costs with the samples sorted in a
// given way; a fact must gain worth bits a sample.
func (x *numberTrainer) choose(limit int, worth float64,
	cost func(set []int32, sets int, who []int) float64) context {
	m := x.m
	chosen := context{size: 1}
	x.set = make([]int32, x.n)
	if x.n == 0 {
		return chosen
	}
	step := max(1, x.n/30000)
	var who []int
	for j := 0; j < x.n; j += step {
		who = append(who, j)
	}
	var cands []int
	for f := factGap; f < limit; f++ {
		if f == factBefore || x.constant(f, who) {
			continue
		}
		if f >= firstFact && f < m.numberFact(0, 0) &&
			((f-firstFact)%discreteFacts == factPhase || (f-firstFact)%discreteFacts == factBase) {
			continue
		}
		cands = append(cands, f)
	}
	set := make([]int32, x.n)
	best := cost(set, 1, who)
	for chosen.n < maxContext {
		pick, least := -1, best-worth*float64(len(who))
		for _, f := range cands {
			card := m.cardinality(f)
			if chosen.size*card > maxSets {
				continue
			}
			for _, j := range who {
				set[j] = x.set[j] + int32(x.facts[j*x.factW+f])*chosen.size
			}
			if c := cost(set, int(chosen.size*card), who); c < least {
				pick, least = f, c
			}
		}
		if pick < 0 {
			break
		}
		best = least
		for j := range x.n {
			x.set[j] += int32(x.facts[j*x.factW+pick]) * chosen.size
		}
		chosen.add(pick, m.cardinality(pick))
	}
	return chosen
}

// constant tells whether a fact is the same for all samples, and so tells nothing.
func (x *numberTrainer) constant(f int, who []int) bool {
	for _, j := range who {
		if x.facts[j*x.factW+f] != x.facts[who[0]*x.factW+f] {
			return false
		}
	}
	return true
}

// numberCost estimates the bits that a number costs if each set has its own weights.
func (x *numberTrainer) numberCost(i int, set []int32, sets int, who []int) float64 {
	by := make([][]int, sets)
	for _, j := range who {
		by[set[j]] = append(by[set[j]], j)
	}
	cands := x.m.candidates(i)
	target := x.m.numberFeature(i, change)
	row := func(j int) []float32 { return x.features[j*x.width : (j+1)*x.width] }
	y := func(j int) float64 { return float64(x.features[j*x.width+target]) }
	total := 0.0
	for _, group := range by {
		if len(group) > 0 {
			total += fitCost(cands, group, row, y)
		}
	}
	return total
}

// fitCost estimates the bits that some samples cost with weights of their own, the cost of learning
// these included.
func fitCost(cands, who []int, row func(int) []float32, y func(int) float64) float64 {
	errs := make([]float64, len(who))
	v := make([]float64, len(cands))
	for range 3 {
		g := newGram(len(cands))
		spread := max(medianAbs(errs), 0.25)
		for a, j := range who {
			r := row(j)
			for b, f := range cands {
				v[b] = float64(r[f])
			}
			g.add(v, y(j), 1/(math.Abs(errs[a])+spread))
		}
		w := g.solve(everyIndex(len(cands)))
		for a, j := range who {
			r := row(j)
			sum := 0.0
			for b, f := range cands {
				sum += w[b] * float64(r[f])
			}
			errs[a] = y(j) - sum
		}
	}
	total := float64(len(cands)) * 6
	for _, e := range errs {
		total += math.Log2(math.Abs(e) + 0.3)
	}
	return total
}
