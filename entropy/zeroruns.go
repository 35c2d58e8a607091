package entropy

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/bits"
)

// ZeroRuns is the run-length code of DOOM III's snapshots, for bits that are mostly zero, such as
// differences where few fields changed. It reads words of a few bits. A word that is not zero is
// copied. For a row of zero words it writes one, and then in one more word how many there were,
// less one. The best it can do is to make 2 words of 1<<Word; with 3 bits, 4:1.
type ZeroRuns struct {
	// Word is the number of bits of a word, 1 to MaxWord. It is 3 where zero.
	Word int
}

// MaxWord is the longest word of ZeroRuns.
const MaxWord = 16

func (z ZeroRuns) word() int {
	if z.Word == 0 {
		return 3
	}
	return min(max(z.Word, 1), MaxWord)
}

// EncodeBits codes the first n bits of src, lowest bits first, into w. The number n is the caller's
// to convey.
func (z ZeroRuns) EncodeBits(w *bits.Writer, src []byte, n int) {
	k := z.word()
	var r bits.Reader
	r.Reset(src)
	run := uint64(0) // zero words not yet written
	for at := 0; at < n; at += k {
		v := r.ReadBits(min(k, n-at))
		if v == 0 {
			if run++; run < 1<<k {
				continue
			}
		}
		if run != 0 {
			w.WriteBits((run-1)<<k, 2*k)
			run = 0
		}
		if v != 0 {
			w.WriteBits(v, k)
		}
	}
	if run != 0 {
		w.WriteBits((run-1)<<k, 2*k)
	}
}

// DecodeBits is the other side of EncodeBits: it fills the first n bits of dst, and clears what
// remains of the last byte. dst must have room for them. The error is about what was read; r keeps
// its own.
func (z ZeroRuns) DecodeBits(r *bits.Reader, dst []byte, n int) error {
	k := z.word()
	var w bits.Writer
	w.Reset(dst[:(n+7)/8])
	for at := 0; at < n; {
		v := r.ReadBits(k)
		if v != 0 {
			width := min(k, n-at)
			if v>>width != 0 {
				return errors.New("bits are set beyond the end")
			}
			w.WriteBits(v, width)
			at += k
			continue
		}
		run := int(r.ReadBits(k)) + 1
		if r.Err() != nil {
			return r.Err()
		}
		if at+(run-1)*k >= n {
			return errors.New("a run of zeros goes beyond the end")
		}
		for left := min(run*k, n-at); left > 0; left -= 64 {
			w.WriteBits(0, min(left, 64))
		}
		at += run * k
	}
	w.Bytes() // completes the last bytes of dst
	return r.Err()
}

// Encode appends the coded form of src to dst.
func (z ZeroRuns) Encode(dst, src []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(src)))
	k := z.word()
	// At worst every other word is zero, and three words are made of two; a lone zero word makes
	// two.
	words := (len(src)*8 + k - 1) / k
	dst, space := room(dst, ((words*3/2+1)*k+7)/8)
	var w bits.Writer
	w.Reset(space)
	z.EncodeBits(&w, src, len(src)*8)
	return dst[:len(dst)+len(w.Bytes())]
}

// Decode appends to dst what src was made of.
func (z ZeroRuns) Decode(dst, src []byte, limit int) ([]byte, error) {
	n, src, err := cutLength(src, limit)
	if err != nil {
		return dst, err
	}
	// Two words of the source make at most this many bits, so a lie about the length costs no
	// memory.
	k := z.word()
	if most := uint64(len(src)*8/k+1) / 2 * uint64(k) << k; uint64(n)*8 > most {
		return dst, fmt.Errorf("%w: %d bytes cannot hold %d", ErrCorrupt, len(src), n)
	}
	var r bits.Reader
	r.Reset(src)
	dst, space := room(dst, n)
	if err := z.DecodeBits(&r, space, n*8); err != nil {
		return dst, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if err := finish(&r); err != nil {
		return dst, err
	}
	return dst[:len(dst)+n], nil
}
