package codec

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/coeval-dev/coeval/entropy"
)

// A compact tables file holds the same as a plain one, in the same order, in about a tenth of the
// bytes, so that a server can send it while a game runs. Its magic is compactMagic. Three things
// make it small: weights and distributions are quantised, which costs the packets less than a
// hundredth; a distribution is a difference from a broader one, and most often there is none; and
// the body is range coded with models that learn from the file itself.
const compactMagic = "coeval tables 2\n"

// Numbers of the file are coded by a model for each purpose.
const (
	forFlag    = iota // which of a few cases
	forCount          // how many follow
	forFact           // what a decision looks at
	forValue          // of a field
	forFeature        // what a predictor looks at,
	forWeight         // how much it counts,
	forShift          // and to what that is rounded
	forLog            // the same of logarithms
	forLogWeight
	forLogShift
	forBias
	forBiasShift
	forBin
	purposes
)

// packer codes the values of a compact file. Exactly one of enc and dec is set.
type packer struct {
	enc     *entropy.Encoder
	dec     *entropy.Decoder
	numbers [purposes]entropy.Integer

	counts    map[*table]*[tableSize]float64 // of what is written, if they are known
	typical   [residualTables]table          // of all classes, when written
	universal [residualTables]levels
	broader   *levels // what the next distribution is a difference from
	same      [3]entropy.Bit
	sames     int // how many of the last two were none
	last      levels
	levels    [contexts]levelModel
	total     int // distributions and predictors so far
}

// levels are the logarithms of a distribution's frequencies, in quarters of an octave.
type levels [tableSize]int8

const mostLevel = 4 * tableBits

// levelModel codes by how many levels a frequency differs from the broader distribution's.
type levelModel struct {
	zero, sign entropy.Bit
	size       [2 * mostLevel]entropy.Bit
}

const contexts = 9

// octave holds the powers of two in quarters, in 1/4096.
var octave = [4]uint64{4096, 4871, 5793, 6889}

// levelOf is the logarithm of a frequency.
func levelOf(freq uint32) int8 {
	n := bits.Len32(max(freq, 1)) - 1
	m := uint64(freq) << 12 >> n
	q := 0
	// halfway between two quarters
	for _, bound := range [4]uint64{4467, 5312, 6317, 7512} {
		if m >= bound {
			q++
		}
	}
	return int8(min(4*n+q, mostLevel))
}

// spread makes the distribution of levels.
func (l *levels) spread(t *table, alphabet int) {
	var weight [tableSize]uint64
	sum, top := uint64(0), 0
	for s := range alphabet {
		weight[s] = octave[l[s]&3] << (l[s] >> 2)
		sum += weight[s]
		if l[s] > l[top] {
			top = s
		}
	}
	left := uint64(1 << tableBits)
	for s := range alphabet {
		weight[s] = 1 + weight[s]*uint64(1<<tableBits-alphabet)/sum
		left -= weight[s]
	}
	weight[top] += left
	at := uint64(0)
	for s := range tableSize {
		t.cum[s] = uint16(at)
		if s < alphabet {
			at += weight[s]
		}
	}
	t.cum[tableSize] = 1 << tableBits
}

// of takes the levels of a distribution.
func (l *levels) of(t *table, alphabet int) {
	for s := range alphabet {
		l[s] = levelOf(uint32(t.cum[s+1]) - uint32(t.cum[s]))
	}
}

// number codes a number for a purpose.
func (k *packer) number(purpose int, v int64) int64 {
	if k.dec != nil {
		return k.dec.DecodeInt(&k.numbers[purpose])
	}
	k.enc.EncodeInt(&k.numbers[purpose], v)
	return v
}

func (k *packer) bit(m *entropy.Bit, v bool) bool {
	if k.dec != nil {
		return k.dec.DecodeBit(m)
	}
	k.enc.EncodeBit(m, v)
	return v
}

// leastGain is what a distribution of its own must save of what it was learned from, in bits.
const leastGain = 60

// table codes a distribution as a difference from the broader one.
func (k *packer) table(t *table, alphabet int) {
	now := *k.broader
	if k.enc != nil {
		k.choose(&now, t, alphabet)
	}
	same := true
	for s := range alphabet {
		same = same && now[s] == k.broader[s]
	}
	if k.bit(&k.same[k.sames], same) {
		k.sames = min(k.sames+1, 2)
		k.last = levels{}
		now = *k.broader
		now.spread(t, alphabet)
		return
	}
	k.sames = max(k.sames-1, 0)
	var diffs levels
	for s := range alphabet {
		near := 0 // what a symbol differed by that is like this one
		if s > 0 {
			near = int(diffs[max(s-2+s&1, 0)])
			if s&1 == 0 {
				near = int(diffs[s-1])
			}
		}
		m := &k.levels[third(near)*3+third(int(k.last[s]))]
		d := m.code(k, int(now[s])-int(k.broader[s]))
		now[s] = int8(min(max(int(k.broader[s])+d, 0), mostLevel))
		diffs[s] = int8(d)
	}
	k.last = diffs
	now.spread(t, alphabet)
}

// third is 0, 1 or 2 for what is below, about or above zero.
func third(d int) int { return 1 + min(max(d, -1), 1) }

// code codes a difference of levels.
func (m *levelModel) code(k *packer, d int) int {
	if k.bit(&m.zero, d == 0) {
		return 0
	}
	negative := k.bit(&m.sign, d < 0)
	size := d
	if d < 0 {
		size = -d
	}
	n := 1
	for n < mostLevel && k.bit(&m.size[min(n, 7)], size > n) {
		n++
	}
	if negative {
		return -n
	}
	return n
}

// choose finds the levels that are worth their bytes: as far as a frequency differs from the
// broader distribution's by more than chance.
func (k *packer) choose(now *levels, t *table, alphabet int) {
	count := func(s int) float64 { // as if much had been seen
		return float64(t.cum[s+1]-t.cum[s]) / 8
	}
	if k.counts != nil {
		c := k.counts[t]
		if c == nil {
			return
		}
		count = func(s int) float64 { return c[s] }
	}
	var broad table
	k.broader.spread(&broad, alphabet)
	n := 0.0
	for s := range alphabet {
		n += count(s)
	}
	for s := range alphabet {
		here, there := float64(t.cum[s+1]-t.cum[s]), float64(broad.cum[s+1]-broad.cum[s])
		d := 4 * math.Log2(here/there)
		seen := max(count(s), n*there/(1<<tableBits))
		if chance := 5.8 / math.Sqrt(seen+0.5); math.Abs(d) > max(chance, 0.5) {
			now[s] = int8(min(max(int(k.broader[s])+int(math.Round(d)), 0), mostLevel))
		}
	}
	var fine table
	now.spread(&fine, alphabet)
	gain := 0.0
	for s := range alphabet {
		gain += count(s) * math.Log2(float64(fine.cum[s+1]-fine.cum[s])/
			float64(broad.cum[s+1]-broad.cum[s]))
	}
	if gain < leastGain {
		*now = *k.broader
	}
}

// begin codes what the distributions of errors of all classes are differences from.
func (k *packer) begin() {
	var expected levels
	for b := range bins {
		for p := range int(binInfo[b].parts) {
			i := int(binInfo[b].table) + p
			t := makeTable(expectedErrors(b, p), residualSymbols)
			expected.of(&t, residualSymbols)
			k.broader = &expected
			k.table(&k.typical[i], residualSymbols)
			k.universal[i].of(&k.typical[i], residualSymbols)
		}
	}
	k.last, k.sames = levels{}, 0
}

// errors codes the distributions of errors of some fields.
func (k *packer) errors(e *errorTables) {
	k.last, k.sames = levels{}, 0
	for i := range e {
		k.broader = &k.universal[i]
		k.table(&e[i], residualSymbols)
	}
}

// tables codes the distributions of a decision: what they have in common as a difference from
// nothing, and each as a difference from that.
func (k *packer) tables(list []table, alphabet int) {
	k.last, k.sames = levels{}, 0
	var all table
	var common levels
	if k.enc != nil {
		k.sum(&all, list, alphabet)
	}
	for s := range alphabet {
		common[s] = levelOf(uint32(1 << tableBits / alphabet))
	}
	k.broader = &common
	k.table(&all, alphabet)
	var l levels
	l.of(&all, alphabet)
	k.broader = &l
	k.last, k.sames = levels{}, 0
	if len(list) == 1 {
		list[0] = all
		return
	}
	for i := range list {
		k.table(&list[i], alphabet)
	}
}

// sum is the distribution of all that some distributions were learned from.
func (k *packer) sum(all *table, list []table, alphabet int) {
	var sum [tableSize]float64
	for i := range list {
		for s := range alphabet {
			if k.counts == nil {
				sum[s] += float64(list[i].cum[s+1] - list[i].cum[s])
			} else if c := k.counts[&list[i]]; c != nil {
				sum[s] += c[s]
			}
		}
	}
	for s := range alphabet {
		sum[s] += 0.05
	}
	*all = makeTable(sum, alphabet)
	if k.counts != nil {
		k.counts[all] = &sum
	}
}

// compact writes the model's tables in the compact form, and leaves in the model what a reader of
// them gets. counts are what the distributions were learned from, or nil where that is not known.
func (m *Model) compact(counts map[*table]*[tableSize]float64) []byte {
	buf := make([]byte, 1<<16)
	for {
		k := &packer{enc: new(entropy.Encoder), counts: counts}
		k.enc.Reset(buf)
		k.sumErrors(m)
		f := &tablesFile{pack: k}
		k.begin()
		for i := range m.classes {
			f.class(&m.classes[i])
		}
		body, err := k.enc.Finish()
		if err != nil {
			buf = make([]byte, 2*len(buf)) // what was quantised stays as it is
			continue
		}
		h := m.schema.Hash()
		data := append([]byte(compactMagic), h[:]...)
		data = binary.AppendUvarint(data, uint64(len(body)))
		data = append(data, body...)
		sum := sha256.Sum256(data)
		return append(data, sum[:8]...)
	}
}

// sumErrors works out what all classes have in common.
func (k *packer) sumErrors(m *Model) {
	for i := range k.typical {
		var list []table
		var sum [tableSize]float64
		for c := range m.classes {
			for _, e := range m.classes[c].errors {
				if k.counts == nil {
					list = append(list, e[i])
				} else if x := k.counts[&e[i]]; x != nil {
					for s, v := range x {
						sum[s] += v
					}
				}
			}
		}
		if k.counts == nil {
			k.sum(&k.typical[i], list, residualSymbols)
			continue
		}
		k.counts[&k.typical[i]] = &sum
		for s := range residualSymbols {
			sum[s] += 0.02
		}
		k.typical[i] = makeTable(sum, residualSymbols)
	}
}

// Compact gives the model's tables in the compact form, as LoadTables reads them. They are rounded,
// so the model that they make is another, with a hash of its own.
func (m *Model) Compact() ([]byte, error) {
	same, err := m.seal()
	if err != nil {
		return nil, err
	}
	same.quantise()
	return same.compact(nil), nil
}

// quantise rounds the weights to what the compact form holds.
func (m *Model) quantise() {
	for i := range m.classes {
		c := &m.classes[i]
		for j := range c.numbers {
			quantisePredictors(c.numbers[j].sets)
		}
		for j := range c.rotations {
			quantisePredictors(c.rotations[j].sets)
			for k := range c.rotations[j].parts {
				quantisePredictors(c.rotations[j].parts[k])
			}
		}
	}
}

func quantisePredictors(list []predictor) {
	for i := range list {
		p := &list[i]
		for k := range p.terms[:p.n] {
			p.terms[k].weight = int32(significant(int64(p.terms[k].weight)))
		}
		for k := range p.logs[:p.logN] {
			p.logs[k].weight = int32(significant(int64(p.logs[k].weight)))
		}
		p.logBias = significant(p.logBias)
	}
}

// significant rounds to eight bits, for weights of which it is not known how exact they must be.
func significant(v int64) int64 {
	return roundTo(v, 1<<max(bits.Len64(uint64(abs(v)))-8, 0))
}

// exactness is how much worse a prediction may be for one weight that is rounded.
const exactness = 0.002

// stepFor is to what a weight may be rounded, in 1/weightOne: the mean square of what it is
// multiplied with and the error that is left say how exact it must be.
func stepFor(square, left float64) int64 {
	if square <= 0 {
		return weightOne
	}
	step := math.Sqrt(12*exactness*left/square) * weightOne
	return 1 << min(max(bits.Len64(uint64(min(step, 1<<30)))-1, 0), weightBits)
}

func roundTo(v, step int64) int64 {
	half := step / 2
	if v < 0 {
		half = -half
	}
	return (v + half) / step * step
}
