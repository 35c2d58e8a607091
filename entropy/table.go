package entropy

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// TableBits is the resolution of a Table: its frequencies sum to 1<<TableBits.
const TableBits = 15

// MaxSymbols is the largest alphabet of a Table.
const MaxSymbols = 64

// findBits selects how many equal parts of the slots have their own entry point for the search of a
// symbol.
const findBits = 6

// A Table is a static distribution over a small alphabet, for symbols whose statistics were learned
// beforehand, on recordings. Coding a symbol of it takes one step of the range coder, however many
// bits that symbol costs. Make one with NewTable or ParseTable; it is then only read, and any
// number of coders may share it.
type Table struct {
	cum  [MaxSymbols + 1]uint16 // slots before each symbol; the total from entry n on
	find [1 << findBits]uint8   // the symbol that owns the first slot of each part
	n    uint8
}

// NewTable makes the distribution that codes symbols in proportion to their counts. A symbol that
// was never seen still gets the smallest share, so that it can be coded, at TableBits bits. There
// may be 1 to MaxSymbols counts.
func NewTable(counts []uint32) (*Table, error) {
	if err := checkAlphabet(len(counts)); err != nil {
		return nil, err
	}
	freqs := make([]uint16, len(counts))
	normalise(freqs, counts)
	return tableOf(freqs)
}

func checkAlphabet(n int) error {
	if n < 1 || n > MaxSymbols {
		return fmt.Errorf("entropy: a table has 1 to %d symbols, not %d", MaxSymbols, n)
	}
	return nil
}

// normalise scales counts to frequencies of at least 1 that sum to the total. What rounding leaves
// over is given to, or taken from, the symbol where it changes the expected cost least.
func normalise(freqs []uint16, counts []uint32) {
	const total = 1 << TableBits
	var sum uint64
	for _, c := range counts {
		sum += uint64(c)
	}
	left := total
	for i, c := range counts {
		f := uint64(1)
		if sum != 0 {
			f = max(uint64(c)*total/sum, 1)
		}
		freqs[i] = uint16(f)
		left -= int(f)
	}
	for left != 0 {
		best, step := 0, 1
		if left < 0 {
			step = -1
		}
		for i := range counts {
			if better(counts[i], freqs[i], counts[best], freqs[best], step) {
				best = i
			}
		}
		// Without any counts the shares are even, so whole rounds of them can be given at once.
		if sum == 0 && left >= len(counts) {
			for i := range freqs {
				freqs[i] += uint16(left / len(counts))
			}
			left %= len(counts)
			continue
		}
		freqs[best] = uint16(int(freqs[best]) + step)
		left -= step
	}
}

// better says whether changing frequency fa of a symbol with count ca by step is better than doing
// so with symbol b. The gain of one more slot is about count/freq, compared here in integers so
// that every machine makes the same table.
func better(ca uint32, fa uint16, cb uint32, fb uint16, step int) bool {
	if step > 0 {
		return uint64(ca)*uint64(fb) > uint64(cb)*uint64(fa)
	}
	if fa == 1 || fb == 1 { // the last slot cannot be taken
		return fa > fb
	}
	return uint64(ca)*uint64(fb) < uint64(cb)*uint64(fa)
}

func tableOf(freqs []uint16) (*Table, error) {
	if err := checkAlphabet(len(freqs)); err != nil {
		return nil, err
	}
	t := &Table{n: uint8(len(freqs))}
	sum := uint32(0)
	for i, f := range freqs {
		t.cum[i] = uint16(sum)
		sum += uint32(f)
		if f == 0 || sum > 1<<TableBits {
			return nil, fmt.Errorf(
				"entropy: symbol %d of a table has frequency %d after a sum of %d; each must be "+
					"at least 1, all together %d",
				i, f, t.cum[i], 1<<TableBits)
		}
	}
	if sum != 1<<TableBits {
		return nil, fmt.Errorf("entropy: frequencies of a table sum to %d, not %d", sum,
			1<<TableBits)
	}
	for i := len(freqs); i <= MaxSymbols; i++ {
		t.cum[i] = 1 << TableBits
	}
	s := 0
	for i := range t.find {
		for i<<(TableBits-findBits) >= int(t.cum[s+1]) {
			s++
		}
		t.find[i] = uint8(s)
	}
	return t, nil
}

// Len is the size of the alphabet.
func (t *Table) Len() int { return int(t.n) }

// Freq is the share of a symbol, in 1<<TableBits-ths, to compute costs from. It is zero for symbols
// the table does not have.
func (t *Table) Freq(sym uint) uint32 {
	if sym >= uint(t.n) {
		return 0
	}
	return uint32(t.cum[sym+1] - t.cum[sym])
}

// Symbol is the symbol that owns a slot, the result of DecodeFreq(TableBits).
func (t *Table) Symbol(slot uint32) uint {
	s := t.find[slot>>(TableBits-findBits)&(1<<findBits-1)] & (MaxSymbols - 1)
	for slot >= uint32(t.cum[s+1]) && s < MaxSymbols-1 {
		s++
	}
	return uint(s)
}

// EncodeSymbol codes a symbol below t.Len().
func (e *Encoder) EncodeSymbol(t *Table, sym uint) {
	s := sym & (MaxSymbols - 1)
	e.EncodeFreq(uint32(t.cum[s]), uint32(t.cum[s+1]-t.cum[s]), TableBits)
}

// DecodeSymbol is the other side of EncodeSymbol; its result is always below t.Len().
func (d *Decoder) DecodeSymbol(t *Table) uint {
	s := t.Symbol(d.DecodeFreq(TableBits))
	d.Advance(uint32(t.cum[s]), uint32(t.cum[s+1]-t.cum[s]))
	return s
}

// AppendBinary appends the table to b in the form that ParseTable reads: the number of symbols,
// then the frequencies.
func (t *Table) AppendBinary(b []byte) []byte {
	b = append(b, t.n)
	for i := range t.n {
		b = binary.AppendUvarint(b, uint64(t.cum[i+1]-t.cum[i]))
	}
	return b
}

// ParseTable reads a table from the start of b, and says how many bytes it took. A table with gaps,
// with too many symbols or with another sum is an error.
func ParseTable(b []byte) (t *Table, size int, err error) {
	if len(b) == 0 {
		return nil, 0, fmt.Errorf("%w: no table", ErrCorrupt)
	}
	n := int(b[0])
	if err := checkAlphabet(n); err != nil {
		return nil, 0, err
	}
	freqs := make([]uint16, n)
	size = 1
	for i := range freqs {
		f, k := binary.Uvarint(b[size:])
		if k <= 0 || f > 1<<TableBits || k != uvarintLen(f) {
			return nil, 0, fmt.Errorf("%w: frequency of symbol %d of a table", ErrCorrupt, i)
		}
		freqs[i] = uint16(f)
		size += k
	}
	t, err = tableOf(freqs)
	return t, size, err
}

func uvarintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }
