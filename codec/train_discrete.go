package codec

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// discreteFields learns dictionaries, contexts, and which fields are rare.
func (t *trainer) discreteFields(m *classModel, samples []sample) {
	all := m.rare
	m.rare, m.frequent, m.frozen = nil, nil, nil
	if len(all) == 0 || len(samples) == 0 {
		m.quiet.size = 1
		m.rare = all
		return
	}
	for _, d := range all {
		values := map[int32]int{}
		for j := range samples {
			values[samples[j].now()[d.field]]++
		}
		d.values = commonest(values, likelyValues)
		m.defaults[d.field] = d.values[0]
		switch n := changes(samples, d.field); {
		case n*4 > len(samples):
			m.frequent = append(m.frequent, d)
		case n*10000 < len(samples):
			m.frozen = append(m.frozen, d)
		default:
			m.rare = append(m.rare, d)
		}
	}
	order := m.discrete()
	for _, d := range order {
		d.learnSymbols(&m.fields[d.field], samples)
	}
	t.contexts(m, order, samples)
}

// changes counts the samples in which a field differs from its base.
func changes(samples []sample, field int) (n int) {
	for j := range samples {
		if s := &samples[j]; s.now()[field] != s.base()[field] {
			n++
		}
	}
	return n
}

// learnSymbols lists the differences that a field mostly has, and how large the others tend to be.
func (d *discreteModel) learnSymbols(f *Field, samples []sample) {
	diffs := map[int32]int{}
	for j := range samples {
		s := &samples[j]
		diffs[int32(uint32(s.now()[d.field])-uint32(s.base()[d.field]))]++
	}
	least := max(3, len(samples)/20000)
	maps.DeleteFunc(diffs, func(v int32, n int) bool { return n < least && v != 0 })
	diffs[0] += len(samples) // first, and always there
	d.symbols = commonest(diffs, tableSize-2)
	sum, n := 0.0, 0
	for j := range samples {
		s := &samples[j]
		diff := int64(s.now()[d.field]) - int64(s.base()[d.field])
		if !slices.Contains(d.symbols, int32(diff)) {
			sum += math.Log2(float64(abs(diff)))
			n++
		}
	}
	if n > 0 {
		sum /= float64(n)
	} else {
		sum = math.Log2(float64(f.span())) - 2
	}
	d.escapeBin = binOf(int64(max(sum, 0) * 8 * weightOne))
}

// contexts chooses what the symbols of discrete fields depend on.
func (t *trainer) contexts(m *classModel, order []*discreteModel, samples []sample) {
	// The facts of every sample after all discrete fields are coded.
	table := factTable{width: firstFact + len(order)*discreteFacts}
	symbols := make([][]uint8, len(order))
	quiet := make([]uint8, len(samples))
	var loud []int // samples in which some rare field changed
	var h History
	c := &t.coder
	for j := range samples {
		s := &samples[j]
		t.pause(j)
		t.prepare(m, s, &h)
		c.entityFacts(m, &h)
		c.facts[factBefore] = 0
		now, base := s.now(), h.Images[0]
		for k, d := range order {
			c.discretePast(d, &h)
			sym := d.symbolOf(base[d.field], now[d.field])
			symbols[k] = append(symbols[k], uint8(sym))
			c.discreteNow(d, base[d.field], now[d.field], sym)
			if k >= len(m.frequent) && now[d.field] != base[d.field] {
				quiet[j] = 1
			}
		}
		if quiet[j] == 1 {
			loud = append(loud, j)
		}
		table.data = append(table.data, c.facts[:table.width]...)
	}
	candidates := []int{factGap, factMoved1, factMoved2, factMoved3}
	for k := range order { // the past of any field may matter
		i := firstFact + k*discreteFacts
		candidates = append(candidates, i+factChanged, i+factBase, i+factPhase)
	}
	who := everyIndex(len(samples))
	for k, d := range order {
		if k == len(m.frequent) {
			m.quiet.context = m.symbolContext(&table, who, quiet, 2, candidates)
			who = loud
		}
		d.context = m.symbolContext(&table, who, symbols[k], len(d.symbols)+1, candidates)
		i := firstFact + d.index*discreteFacts
		candidates = append(candidates, i+factSymbol, i+factValue)
	}
}

// commonest lists the keys with the highest counts, most frequent first.
func commonest(counts map[int32]int, most int) []int32 {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b int32) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return keys[:min(len(keys), most)]
}

// factTable holds the facts of many samples.
type factTable struct {
	data  []uint8
	width int
}

func (t *factTable) at(sample, fact int) int32 { return int32(t.data[sample*t.width+fact]) }

// symbolContext picks the facts that make the symbols cheapest to code, the
// cost of learning their distributions included.
func (m *classModel) symbolContext(t *factTable, who []int, symbols []uint8, alphabet int,
	candidates []int) context {
	c, _ := m.chooseContext(t, who, candidates, maxContextSize,
		func(best float64) float64 { return best*0.995 - 8 },
		func(set []int32, sets int) float64 { return learnCost(set, sets, who, symbols, alphabet) })
	return c
}

// chooseContext picks facts, one after the other, as long as one makes the
// samples in who cheaper than enough says, and sorts all samples into the sets that
// they tell apart, most at most. cost estimates the bits of samples that are sorted so.
func (m *classModel) chooseContext(t *factTable, who, candidates []int, most int32,
	enough func(best float64) float64,
	cost func(set []int32, sets int) float64) (c context, set []int32) {
	c = context{size: 1}
	set = make([]int32, len(t.data)/t.width)
	if len(who) == 0 {
		return c, set
	}
	best := cost(set, 1)
	trial := make([]int32, len(set))
	for c.n < maxContext {
		pick, least := -1, enough(best)
		for _, f := range candidates {
			card := m.cardinality(f)
			if c.size*card > most {
				continue
			}
			for _, j := range who {
				trial[j] = set[j] + t.at(j, f)*c.size
			}
			if x := cost(trial, int(c.size*card)); x < least {
				pick, least = f, x
			}
		}
		if pick < 0 {
			break
		}
		best = least
		for j := range set {
			set[j] += t.at(j, pick) * c.size
		}
		c.add(pick, m.cardinality(pick))
	}
	return c, set
}

// learnCost is the bits that an adaptive coder would spend (Krichevsky and Trofimov).
func learnCost(set []int32, sets int, who []int, symbols []uint8, alphabet int) float64 {
	counts := make([]int, sets*alphabet)
	for _, j := range who {
		counts[int(set[j])*alphabet+int(symbols[j])]++
	}
	cost := 0.0
	for x := range sets {
		n := 0
		for _, k := range counts[x*alphabet : (x+1)*alphabet] {
			n += k
			cost -= lgamma(float64(k)+0.1) - lgamma(0.1)
		}
		if n > 0 {
			cost += lgamma(float64(n)+0.1*float64(alphabet)) - lgamma(0.1*float64(alphabet))
		}
	}
	return cost / math.Ln2
}

func lgamma(x float64) float64 {
	y, _ := math.Lgamma(x)
	return y
}

// learnChange learns what tells whether an entity of a class changed.
func (t *trainer) learnChange(ci int, m *classModel) {
	discrete := m.discrete()
	table := factTable{width: m.numberFact(0, 0)}
	var symbols []uint8
	c := &t.coder
	t.from.each(t, ci, 1+t.from.size()/1_500_000, func(s *sample, h *History, now []int32) {
		c.entityFacts(m, h)
		changed := uint8(1)
		if slices.Equal(now, h.Images[0]) {
			changed = 0
		}
		symbols = append(symbols, changed)
		for _, d := range discrete {
			c.discretePast(d, h)
		}
		table.data = append(table.data, c.facts[:table.width]...)
		c.facts[factBefore] = c.facts[factBefore]<<1&2 | changed
	})
	candidates := []int{factGap, factMoved1, factMoved2, factMoved3, factBefore}
	m.changed.context = m.symbolContext(&table, everyIndex(len(symbols)), symbols, 2, candidates)
}
