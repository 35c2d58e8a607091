package entropy

import (
	"errors"
	"fmt"
	"math/bits"
)

// The stream is a binary fraction. Coding a symbol narrows an interval [low, low+rng) in proportion
// to the symbol's probability, and Finish names the shortest fraction inside. See Martin, "Range
// encoding" (1979) and Witten, Neal and Cleary, "Arithmetic coding for data compression" (1987).
// Two things differ from the usual byte-wise coders: the interval is rescaled by bits after every
// symbol, which needs no unpredictable branch and keeps 31 bits of precision, and output leaves in
// words of 16 bits, held back while a carry could still change them. Nothing that was written is
// touched again, so going back to a Mark is copying a few words.

// ErrOverflow says that a stream did not fit into the bytes given to Reset: rewind to a mark, or
// give more room.
var ErrOverflow = errors.New("entropy: stream does not fit its buffer")

// ErrCorrupt says that a stream was not made by the matching encoder with the same models.
var ErrCorrupt = errors.New("entropy: corrupt stream")

// errZeroFreq is a fault of the caller, not of the input.
var errZeroFreq = errors.New(
	"entropy: a symbol of frequency zero was coded; give every symbol that can occur at least 1")

// MaxFreqBits bounds the total of a frequency table: EncodeFreq takes totals of up to
// 1<<MaxFreqBits.
const MaxFreqBits = 16

// wordBits is how much leaves the encoder, or enters the decoder, at once. The interval shrinks by
// at most this much per step, so that a window of 64 bits never overflows.
const wordBits = 16

// An Encoder turns decisions and their probabilities into bytes, at the cost their probabilities
// imply: a symbol with frequency f of t costs log2(t/f) bits, down to thousandths of a bit. Binary
// decisions with adaptive models, symbols of static tables, uniform numbers of any range and raw
// bits may follow each other freely. It writes into the caller's bytes and never allocates. Call
// Reset before use.
type Encoder struct {
	// start of the interval: a carry bit, cnt bits not yet moved out, 32 bits on the scale of rng
	low  uint64
	rng  uint32 // size of the interval, at least 1<<31 between calls
	cnt  uint32 // bits of low that are ready to leave; below wordBits between calls
	held uint32 // words held back: word, then held-1 words of all ones
	word uint32
	pos  int // bytes decided; may pass len(buf), and is then the size that would have been needed
	buf  []byte
}

// Mark is a place in an Encoder's stream to come back to.
type Mark struct {
	low                  uint64
	rng, cnt, held, word uint32
	pos                  int
}

// Reset starts a new stream that may take at most len(buf) bytes of buf.
func (e *Encoder) Reset(buf []byte) {
	*e = Encoder{rng: 1<<32 - 1, buf: buf}
}

// Mark remembers the present place, so that Rewind can take back all that is coded after it.
// Adaptive models that were used in between are the caller's to restore.
func (e *Encoder) Mark() Mark {
	return Mark{e.low, e.rng, e.cnt, e.held, e.word, e.pos}
}

// Rewind takes back everything coded since m was taken from this stream, also an overflow.
func (e *Encoder) Rewind(m Mark) {
	e.low, e.rng, e.cnt, e.held, e.word, e.pos = m.low, m.rng, m.cnt, m.held, m.word, m.pos
}

// EncodeFreq codes one symbol of a static distribution: the symbol owns the slots [cum, cum+freq)
// of 1<<totalBits. freq must not be zero, and totalBits is at most MaxFreqBits.
func (e *Encoder) EncodeFreq(cum, freq uint32, totalBits uint) {
	r := e.rng >> (totalBits & 31)
	e.narrow(r*cum, r*freq)
}

// MaxTail is how many raw bits EncodeFreqBits takes.
const MaxTail = wordBits

// minPart is the least that the interval may be reduced to in one step.
const minPart = 1 << (31 - wordBits)

// EncodeFreqBits codes a symbol as EncodeFreq does and the lowest n bits of v after it, n at most
// MaxTail. Unless the symbol is a rare one it does so in one step, which is quicker than EncodeFreq
// and EncodeBits.
func (e *Encoder) EncodeFreqBits(cum, freq uint32, totalBits uint, v uint32, n uint) {
	r := e.rng >> (totalBits & 31)
	part := r * freq >> (n & 31)
	if part < minPart {
		e.narrow(r*cum, r*freq)
		e.EncodeBits(uint64(v), n)
		return
	}
	// This is narrow, written out: the call would be a good part of the time.
	d := uint32(bits.LeadingZeros32(part))
	e.rng = part << (d & 31)
	e.low = (e.low + uint64(r*cum+part*v)) << (d & 63)
	if e.cnt += d; e.cnt >= wordBits {
		e.emit()
	}
}

// narrow reduces the interval to size rng at offset off, and scales it up again.
func (e *Encoder) narrow(off, rng uint32) {
	d := uint32(bits.LeadingZeros32(rng))
	e.rng = rng << (d & 31)
	e.low = (e.low + uint64(off)) << (d & 63)
	if e.cnt += d; e.cnt >= wordBits {
		e.emit()
	}
}

// emit moves a word out of low.
func (e *Encoder) emit() {
	s := (e.cnt + 32 - wordBits) & 63
	w := uint32(e.low >> s) // 16 bits and a carry
	e.low &= 1<<s - 1
	e.cnt -= wordBits
	if e.held != 0 {
		if w == 1<<wordBits-1 { // a later carry would run through this word
			e.held++
			return
		}
		carry := w >> wordBits
		e.put(e.word + carry)
		for ; e.held > 1; e.held-- {
			e.put(1<<wordBits - 1 + carry)
		}
	}
	e.word = w & (1<<wordBits - 1)
	e.held = 1
}

func (e *Encoder) put(w uint32) {
	if b := e.buf; e.pos+1 < len(b) {
		b[e.pos] = byte(w >> 8)
		b[e.pos+1] = byte(w)
	}
	e.pos += wordBits / 8
}

// EncodeBits codes the lowest n bits of v, n at most 64, as they are, at a cost of n bits.
func (e *Encoder) EncodeBits(v uint64, n uint) {
	for n > wordBits {
		n -= wordBits
		r := e.rng >> wordBits
		e.narrow(r*uint32(v>>(n&63)&(1<<wordBits-1)), r)
	}
	r := e.rng >> (n & 31)
	e.narrow(r*uint32(v&(1<<n-1)), r)
}

// EncodeUniform codes a number v below n, all equally likely, for log2(n) bits: ranges that are not
// a power of two waste nothing (Gamenet's arithmetic packing). n is at most 1<<32 and at least 1; v
// must be below n.
func (e *Encoder) EncodeUniform(v, n uint64) {
	shift := uniformShift(n)
	top := uint32((n-1)>>shift) + 1
	r := e.rng / top
	e.narrow(r*uint32(v>>shift), r)
	if shift != 0 {
		e.EncodeBits(v, shift)
	}
}

// uniformShift says how many low bits of a number below n are coded raw. The upper part then has at
// least 1<<15 values, so that rounding it up to whole ones costs less than 1/10000 bit.
func uniformShift(n uint64) uint {
	if n <= 1<<wordBits {
		return 0
	}
	return uint(bits.Len64(n-1)) - wordBits
}

// EncodeChance codes a decision with a fixed probability: one is the chance, in 65536ths, that bit
// is 1. It is taken to be at least 1 and at most 65535.
func (e *Encoder) EncodeChance(bit bool, one uint32) {
	one = min(max(one, 1), 1<<16-1)
	bound := e.rng >> 16 * one
	if bit {
		e.narrow(0, bound)
	} else {
		e.narrow(bound, e.rng-bound)
	}
}

// Len is the number of bytes that Finish would return now. It is exact, cheap, and goes on counting
// beyond the buffer's end.
func (e *Encoder) Len() int {
	n, _ := e.tail()
	return e.pos + int(e.held)*(wordBits/8) + n
}

// Room is how many more bytes are sure to fit: at most a few less than there are. It costs next to
// nothing, and so serves to see whether a mark is needed before something that may not fit.
func (e *Encoder) Room() int {
	const tail = 8 // what tail may add, and more
	return len(e.buf) - e.pos - int(e.held)*(wordBits/8) - tail
}

// Fits reports whether the stream, finished now, would fit its buffer.
func (e *Encoder) Fits() bool { return e.Room() >= 0 || e.Len() <= len(e.buf) }

// Bits is the amount of information coded so far, in bits, to attribute the cost of a packet to its
// parts. The sum of such differences is the size of the stream to within two bytes.
func (e *Encoder) Bits() float64 {
	// The interval's size gives the part of a bit; a line between powers of two is within 0.09 bits
	// of the logarithm.
	part := 1 - float64(e.rng-1<<31)/(1<<31)
	return float64(e.pos*8) + float64(e.held*wordBits) + float64(e.cnt) + part
}

// tail finds the fewest bytes n such that some fraction with n bytes after the held words lies in
// the interval, and that fraction. It takes at most cnt+1 bits, since the interval is at least half
// of what remains.
func (e *Encoder) tail() (n int, v uint64) {
	for s := e.cnt + 32; ; s -= 8 {
		m := uint64(1)<<s - 1
		v = (e.low + m) &^ m
		if v-e.low < uint64(e.rng) {
			return n, v
		}
		n++
	}
}

// Finish ends the stream and returns it, a part of the buffer given to Reset. The decoder takes
// bytes beyond the end as zeros, so it must be given exactly these bytes: where something follows
// them, send their number. The error is ErrOverflow where the stream did not fit. Reset, or Rewind
// to a mark taken before Finish, goes on from there.
func (e *Encoder) Finish() ([]byte, error) {
	if e.rng == 0 {
		return nil, errZeroFreq
	}
	m := e.Mark()
	size := e.Len()
	if size > len(e.buf) {
		return nil, fmt.Errorf("%w: it takes %d bytes, there are %d", ErrOverflow, size, len(e.buf))
	}
	n, v := e.tail()
	s := e.cnt + 32
	if e.held != 0 {
		carry := uint32(v >> s)
		e.put(e.word + carry)
		for ; e.held > 1; e.held-- {
			e.put(1<<wordBits - 1 + carry)
		}
	}
	for i := range n {
		s -= 8
		e.buf[e.pos+i] = byte(v >> s)
	}
	e.Rewind(m)
	return e.buf[:size], nil
}
