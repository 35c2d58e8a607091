package codec

import (
	"math/bits"

	"github.com/coeval-dev/coeval/entropy"
)

// tableSize is the most symbols that one distribution has.
const tableSize = 32

// tableBits is the precision of a distribution: its frequencies sum to
// 1<<tableBits.
const tableBits = 15

// table is a distribution: cum[s] is the sum of the frequencies below s.
type table struct {
	cum [tableSize + 1]uint16
}

// A residual is coded under the distribution that belongs to its expected
// size. Sizes come in bins of three eighths of an octave. Where the expected
// size is large the low bits of a residual are as good as random and are sent
// as they are; what remains falls into a cell: small ones have a cell each,
// larger ones share, the last one is open.
const (
	binWidth = 3   // eighths of an octave
	minLog   = -32 // eighths of an octave: a sixteenth of a unit
	bins     = 48

	cells    = 16 // magnitudes; with both signs 31 symbols
	lastCell = 136

	residualSymbols = 2*cells - 1
	residualTables  = 93 // of all bins
)

var (
	cellStart = [cells]uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 40, 72, 136}
	cellBits  = [cells]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 0}
	cellOf    [lastCell]uint8
	binInfo   [bins]binLayout
)

// binLayout says how residuals of an expected size are coded.
type binLayout struct {
	table uint16 // the first of its distributions
	parts uint8  // how many there are: the fraction of the prediction selects one
	shift uint8  // low bits that are sent as they are
	flips int64  // all ones if the sign follows that of the fraction
}

func init() {
	for c := 0; c+1 < cells; c++ {
		for v := cellStart[c]; v < cellStart[c+1]; v++ {
			cellOf[v] = uint8(c)
		}
	}
	n := 0
	for b := range bins {
		l := binLayout{table: uint16(n), parts: 1, shift: uint8(max(0, (b*binWidth+minLog)>>3-2))}
		if b*binWidth+minLog < 12 { // errors are small enough for the fraction to matter
			l.parts, l.flips = 4, -1
		}
		binInfo[b] = l
		n += int(l.parts)
	}
	if n != residualTables {
		panic("codec: residualTables is not the number of tables of all bins")
	}
}

// errorTables holds the distributions of residuals, by expected size. Fields of a
// class that are alike share them.
type errorTables [residualTables]table

// logOf is the logarithm of |x|/256 in eighths of an octave, for x in 1/256.
func logOf(x int64) int64 {
	u := uint64(x)
	if x < 0 {
		u = uint64(-x)
	}
	u |= 16
	n := bits.Len64(u)
	return int64(n-9)<<3 + int64(u>>(n-4)&7)
}

// binOf is the bin of an expected size in 1/weightOne of an eighth octave.
func binOf(log int64) int {
	x := min(max(log>>weightBits-minLog, 0), bins*binWidth-1)
	return int(uint64(x) * 171 >> 9) // a third, exact for numbers this small
}

// residual codes r, which was expected to be of the size of bin. frac is the
// part of the prediction below a unit, in 1/256, from -128 to 127: it tells
// to which side a small error falls.
func (c *coder) residual(m *errorTables, bin int, frac int64, r int64) int64 {
	l := &binInfo[bin]
	// 0 or all ones: signs are random, so there must be no branch on them
	flip := frac >> 63 & l.flips
	part := min((frac^frac>>63-frac>>63)*int64(l.parts)>>7, int64(l.parts)-1)
	t := &m[int64(l.table)+part]
	shift := uint(l.shift)
	half := int64(1) << shift >> 1
	if c.dec != nil {
		sym, mag, low := c.decodeCell(t, shift)
		u := int64(mag)
		if sym&1 == 0 {
			u = -u
		}
		r = u<<shift + int64(low) - half
		return r ^ flip - flip
	}

	x := r ^ flip - flip + half
	u := x >> shift
	low := uint32(x) & (1<<shift - 1)
	mag := uint32(u ^ u>>63 - u>>63)
	cell := uint(cells - 1)
	if mag < lastCell {
		cell = uint(cellOf[mag]) % cells
	}
	sym := 2*cell - uint(uint64(-u)>>63) // one less if u is positive
	if c.enc == nil {
		c.count.add(t, int(sym))
		return r
	}
	lo := uint32(t.cum[sym])
	freq := uint32(t.cum[sym+1]) - lo
	if cell == cells-1 {
		c.enc.EncodeFreq(lo, freq, tableBits)
		if c.tape != nil {
			c.tape.note(formFreq, lo, freq, 0, 0)
		}
		c.gamma(mag - lastCell)
		c.raw(low, shift)
		return r
	}
	// A cell's own low bits and those that were cut off go together, behind the symbol.
	n := uint(cellBits[cell]) + shift
	tail := (mag-cellStart[cell])<<shift | low
	if n <= entropy.MaxTail {
		c.enc.EncodeFreqBits(lo, freq, tableBits, tail, n)
		if c.tape != nil {
			c.tape.note(formFreqBits, lo, freq, tail, n)
		}
	} else {
		c.enc.EncodeFreq(lo, freq, tableBits)
		c.enc.EncodeBits(uint64(tail), n)
		if c.tape != nil {
			c.tape.note(formFreq, lo, freq, 0, 0)
			c.tape.note(formBits, 0, 0, tail, n)
		}
	}
	return r
}

// decodeCell reads what residual writes.
func (c *coder) decodeCell(table *table, shift uint) (sym int, mag, low uint32) {
	sym = table.find(uint16(c.dec.DecodeFreq(tableBits)))
	lo := uint32(table.cum[sym])
	freq := uint32(table.cum[sym+1]) - lo
	cell := (sym + 1) >> 1
	n := uint(cellBits[cell]) + shift
	var tail uint32
	switch {
	case n <= entropy.MaxTail && cell < cells-1:
		tail = c.dec.AdvanceBits(lo, freq, n)
	case cell < cells-1:
		c.dec.Advance(lo, freq)
		tail = uint32(c.dec.DecodeBits(n))
	default:
		c.dec.Advance(lo, freq)
		mag = lastCell + c.gamma(0)
		return sym, mag, c.raw(0, shift)
	}
	return sym, cellStart[cell] + tail>>shift, tail & (1<<shift - 1)
}
