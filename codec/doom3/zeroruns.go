package doom3

import "github.com/coeval-dev/coeval/bits"

// The code is that of entropy.ZeroRuns with words of three bits. That one works on a whole message,
// and this one as the message grows, because how much of it fits into a packet is only known after
// it was shortened.

const (
	word    = 3
	longest = 1 << word // zero words in one run
	// words that are shortened at a time; even if every other one is zero they fit into 64 bits
	block = 10
)

// A shortener writes bits into a packet and shortens the runs of zeros.
type shortener struct {
	w   bits.Writer
	acc uint64 // the last bits, fewer than a block
	n   int
	run uint64 // zero words before those, not yet written; fewer than longest
}

func (z *shortener) reset(buf []byte) {
	z.w.Reset(buf)
	z.acc, z.n, z.run = 0, 0, 0
}

// write appends up to 33 bits.
func (z *shortener) write(v uint64, width int) {
	z.acc |= v << z.n
	z.n += width
	if z.n >= block*word {
		z.shorten(block)
	}
	if z.n >= block*word {
		z.shorten(block)
	}
}

// zeros appends n zeros.
func (z *shortener) zeros(n int) {
	for ; n > 33; n -= 33 {
		z.write(0, 33)
	}
	z.write(0, n)
}

// shorten takes up to a block of words.
func (z *shortener) shorten(words int) {
	out, n := uint64(0), 0
	acc, run := z.acc, z.run
	for range words {
		v := acc & (1<<word - 1)
		acc >>= word
		if v == 0 {
			if run++; run < longest {
				continue
			}
			out |= (run - 1) << word << n
			n += 2 * word
			run = 0
			continue
		}
		if run != 0 {
			out |= (run - 1) << word << n
			n += 2 * word
			run = 0
		}
		out |= v << n
		n += word
	}
	z.acc, z.run = acc, run
	z.n -= words * word
	z.w.WriteBits(out, n)
}

// flush writes what is left, the last word filled up with zeros.
func (z *shortener) flush() {
	if words := (z.n + word - 1) / word; words > 0 {
		z.n = words * word
		z.shorten(words)
	}
	if z.run != 0 {
		z.w.WriteBits((z.run-1)<<word, 2*word)
		z.run = 0
	}
}

// fits says whether the packet could be finished.
func (z *shortener) fits() bool {
	if z.w.Err() != nil {
		return false
	}
	if z.w.Room() >= 2*block*word+2*word {
		return true
	}
	try := *z
	try.flush()
	return try.w.Err() == nil
}

func (z *shortener) finish() ([]byte, error) {
	z.flush()
	return z.w.Bytes(), z.w.Err()
}

// A mark is a place to go back to.
type mark struct {
	w   bits.Mark
	acc uint64
	n   int
	run uint64
}

func (z *shortener) mark() mark { return mark{z.w.Mark(), z.acc, z.n, z.run} }

func (z *shortener) rewind(m mark) {
	z.w.Rewind(m.w)
	z.acc, z.n, z.run = m.acc, m.n, m.run
}

// expanded is a packet before its runs were shortened: at most four times as long, in a buffer that
// is used again.
type expanded struct {
	buf    []byte
	size   int // in bits
	packet []byte
	last   int // where in the packet the last word or run starts, and
	end    int // where it ends, in bits
}

func (x *expanded) fill(packet []byte) {
	if most := len(packet)*longest/2 + 8; cap(x.buf) < most {
		x.buf = make([]byte, most)
	}
	var r bits.Reader
	var w bits.Writer
	r.Reset(packet)
	w.Reset(x.buf[:cap(x.buf)])
	x.packet, x.last, x.end = packet, 0, 0
	for r.Left() >= word {
		if v := r.ReadBits(word); v != 0 {
			w.WriteBits(v, word)
		} else if r.Left() >= word {
			w.WriteBits(0, word*(int(r.ReadBits(word))+1))
		} else {
			break // it only fills up the last byte
		}
		x.last, x.end = x.end, r.Len()
	}
	x.size = w.Len()
	x.buf = w.Bytes()
}

// endsAt says whether a packet from which so many bits were read was read to its end. Zeros that
// fill up its last byte can look like a run of one word.
func (x *expanded) endsAt(at int) bool {
	left := x.size - at
	end := x.end
	if left >= word {
		left -= word
		end = x.last
	}
	return left < word && zeros(x.buf, at, x.size) && len(x.packet)*8-end < 8 &&
		zeros(x.packet, end, len(x.packet)*8)
}

// zeros says whether no bit is set between two places.
func zeros(data []byte, from, to int) bool {
	for ; from < to; from++ {
		if data[from>>3]>>(from&7)&1 != 0 {
			return false
		}
	}
	return true
}
