package entropy

// A Bit is an adaptive model of one yes-or-no decision in one context. It remembers how often it
// was used, n, and moves by 1/(n+1.5) of its error, so it learns fast at first and is steady later.
// The zero value is an even chance that has seen nothing. Limit bounds n, so that old experience
// fades: it is DefaultLimit where zero, and at most MaxLimit.
type Bit struct {
	p     uint32 // chance of a 1 in 1<<22ths, with the top bit flipped so that zero is one half
	n     uint16
	Limit uint16
}

// DefaultLimit is how slow a Bit becomes when it does not say: one part in 256.
const DefaultLimit = 255

// MaxLimit is the slowest a Bit can become.
const MaxLimit = 1023

const (
	bitScale = 22
	bitFlip  = 1 << (bitScale - 1)
)

// steps holds 65536/(n+1.5), the rate of a Bit that has seen n decisions.
var steps = func() (t [MaxLimit + 1]uint16) {
	for n := range t {
		t[n] = uint16(65536 * 2 / (2*n + 3))
	}
	return t
}()

// Chance is the probability of a 1, in 65536ths, at least 1 and at most 65535.
func (m *Bit) Chance() uint32 {
	return min(max((m.p^bitFlip)>>(bitScale-16), 1), 1<<16-1)
}

// Update teaches the model one outcome.
func (m *Bit) Update(bit bool) {
	p := m.p ^ bitFlip
	n := m.n & MaxLimit
	// A bit of p is worth more than the rate's precision: the product needs 38 bits.
	if bit {
		p += uint32(uint64(1<<bitScale-1-p) * uint64(steps[n]) >> 16)
	} else {
		p -= uint32(uint64(p) * uint64(steps[n]) >> 16)
	}
	m.p = p ^ bitFlip
	limit := m.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	if m.n < min(limit, MaxLimit) {
		m.n++
	}
}

// EncodeBit codes a decision and teaches m.
func (e *Encoder) EncodeBit(m *Bit, bit bool) {
	e.EncodeChance(bit, m.Chance())
	m.Update(bit)
}

// DecodeBit is the other side of EncodeBit.
func (d *Decoder) DecodeBit(m *Bit) bool {
	bit := d.DecodeChance(m.Chance())
	m.Update(bit)
	return bit
}
