package codec

import "slices"

// counter counts the symbols that each distribution is used for.
type counter struct {
	counts map[*table]*[tableSize]float64
	bits   float64
	weight float64 // of what is counted
}

func newCounter() *counter {
	return &counter{counts: map[*table]*[tableSize]float64{}, weight: 1}
}

func (c *counter) add(t *table, s int) {
	k := c.counts[t]
	if k == nil {
		k = new([tableSize]float64)
		c.counts[t] = k
	}
	k[s] += c.weight
}

// tables counts how often each symbol occurs under each distribution, and makes the distributions.
func (t *trainer) tables() {
	for i := range t.model.classes {
		t.model.classes[i].allot()
	}
	c := &t.coder
	now := make([]int32, MaxFields)
	for ci := range t.model.classes {
		m := &t.model.classes[ci]
		m.findUses()
		t.from.each(t, ci, 1, func(s *sample, h *History, image []int32) {
			if c.change(m, h, !slices.Equal(image, h.Images[0])) {
				c.entity(m, h, now[:copy(now, image)])
			}
		})
		t.step(1)
	}
	t.model.smooth(c.count)
}

// allot makes room for the distributions of a class.
func (m *classModel) allot() {
	m.changed.tables = make([]table, max(m.changed.size, 1))
	m.quiet.tables = make([]table, max(m.quiet.size, 1))
	m.anyFrozen.tables = make([]table, 1)
	for _, d := range m.discrete() {
		d.decision.tables = make([]table, max(d.size, 1))
	}
	for i := range m.rotations {
		m.rotations[i].largest = make([]table, largestTables)
	}
}

// smooth turns counts into distributions. Where little was seen, a distribution leans on a broader
// one: a decision on itself without context, a residual on that of all fields with the same
// expected size.
func (m *Model) smooth(c *counter) {
	get := func(t *table) *[tableSize]float64 {
		if k := c.counts[t]; k != nil {
			return k
		}
		return new([tableSize]float64)
	}
	var universal [residualTables][tableSize]float64
	for i := range m.classes {
		for _, e := range m.classes[i].errors {
			for t := range e {
				k := get(&e[t])
				n := 0.0
				for _, x := range k {
					n += x
				}
				for s, x := range k {
					universal[t][s] += x / (1 + n/5000)
				}
			}
		}
	}
	for i := range universal {
		for s := range residualSymbols {
			universal[i][s] += 0.02
		}
		normalise(&universal[i], 30)
	}
	for i := range m.classes {
		for _, e := range m.classes[i].errors {
			for t := range e {
				k := *get(&e[t])
				for s := range k {
					k[s] += universal[t][s]
				}
				e[t] = makeTable(k, residualSymbols)
			}
		}
	}
	decide := func(d *decision, alphabet int) {
		var all [tableSize]float64
		for i := range d.tables {
			for s, x := range get(&d.tables[i]) {
				all[s] += x
			}
		}
		for s := range alphabet {
			all[s] += 0.05
		}
		normalise(&all, 1)
		for i := range d.tables {
			k := *get(&d.tables[i])
			for s := range alphabet {
				k[s] += all[s]
			}
			d.tables[i] = makeTable(k, alphabet)
		}
	}
	for i := range m.classes {
		k := &m.classes[i]
		decide(&k.changed.decision, 2)
		decide(&k.quiet, 2)
		decide(&k.anyFrozen, 2)
		for _, d := range k.discrete() {
			decide(&d.decision, len(d.symbols)+1)
		}
		for j := range k.rotations {
			d := decision{tables: k.rotations[j].largest}
			decide(&d, 4)
		}
	}
}

func normalise(k *[tableSize]float64, to float64) {
	n := 0.0
	for _, x := range k {
		n += x
	}
	for i := range k {
		k[i] *= to / n
	}
}

// makeTable rounds a distribution so that every symbol of the alphabet can occur.
func makeTable(k [tableSize]float64, alphabet int) table {
	n := 0.0
	for _, x := range k[:alphabet] {
		n += x
	}
	const total = 1 << tableBits
	var freq [tableSize]int
	sum, top := 0, 0
	for s := range alphabet {
		freq[s] = 1 + int(k[s]/n*float64(total-alphabet))
		sum += freq[s]
		if freq[s] > freq[top] {
			top = s
		}
	}
	freq[top] += total - sum
	var t table
	at := 0
	for s := range tableSize {
		t.cum[s] = uint16(at)
		at += freq[s]
	}
	t.cum[tableSize] = total
	return t
}
