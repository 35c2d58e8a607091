package entropy

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	mathbits "math/bits"
	"slices"

	"github.com/coeval-dev/coeval/bits"
)

// maxCode is the longest code of a Huffman table, in bits. Symbols that never occurred in training
// then take up less than one hundredth of the code space, however many they are.
const maxCode = 15

// fastCode is the length up to which codes are decoded by one look-up.
const fastCode = 10

// A Huffman is a static Huffman code over bytes, for messages whose statistics are known
// beforehand: Quake III's way. Train one with NewHuffman on recorded traffic, ship it with the
// game, and load it with ParseHuffman. It is only read, and any number of coders may share it.
// Every byte has a code, so that it codes any message.
type Huffman struct {
	code   [256]uint16 // lowest bit first
	length [256]uint8
	// symbol and length<<8, by the next bits; 0 for codes that are longer
	fast  [1 << fastCode]uint16
	first [maxCode + 2]uint32 // by length: the first code, highest bit first
	start [maxCode + 2]uint16 // by length: where its symbols begin in order
	order [256]uint8          // symbols by length, then by value
}

// NewHuffman makes the best code of at most 15 bits for bytes that occur as often as counts says.
// Bytes that were never seen are taken to occur once.
func NewHuffman(counts *[256]uint32) *Huffman {
	var lengths [256]uint8
	limitedLengths(&lengths, counts)
	h, err := huffmanOf(&lengths)
	if err != nil {
		panic("entropy: package-merge made an incomplete code: " + err.Error())
	}
	return h
}

// limitedLengths finds the lengths of the best length-limited code by package-merge: Larmore and
// Hirschberg, "A fast algorithm for optimal length-limited Huffman codes" (1990).
func limitedLengths(lengths *[256]uint8, counts *[256]uint32) {
	const n = 256
	var order [n]uint8
	for i := range order {
		order[i] = uint8(i)
	}
	weight := func(s uint8) uint64 { return uint64(max(counts[s], 1)) }
	slices.SortStableFunc(order[:],
		func(a, b uint8) int { return cmp.Compare(weight(a), weight(b)) })
	// Each level is the merge, by weight, of all symbols and of the pairs of the level before. Only
	// which items are symbols is kept.
	var symbol [maxCode][2 * n]bool
	var last []uint64
	for level := range symbol {
		items := make([]uint64, 0, 2*n)
		leaf, pair := 0, 0
		for leaf < n || pair+1 < len(last) {
			if pair+1 >= len(last) || leaf < n && weight(order[leaf]) <= last[pair]+last[pair+1] {
				symbol[level][len(items)] = true
				items = append(items, weight(order[leaf]))
				leaf++
			} else {
				items = append(items, last[pair]+last[pair+1])
				pair += 2
			}
		}
		last = items
	}
	// The cheapest 2n-2 items of the last level are taken; a symbol's length is the number of
	// levels where it is among them.
	take := 2*n - 2
	for level := maxCode - 1; level >= 0; level-- {
		leaves := 0
		for i := range take {
			if symbol[level][i] {
				lengths[order[leaves]]++
				leaves++
			}
		}
		take = 2 * (take - leaves)
	}
}

// huffmanOf makes the canonical code with these lengths, if there is one.
func huffmanOf(lengths *[256]uint8) (*Huffman, error) {
	h := &Huffman{length: *lengths}
	var count [maxCode + 1]uint32
	space := uint32(0)
	for s, l := range lengths {
		if l < 1 || l > maxCode {
			return nil, fmt.Errorf("entropy: Huffman code of byte %d has %d bits, not 1 to %d", s,
				l, maxCode)
		}
		count[l]++
		space += 1 << (maxCode - l)
	}
	if space != 1<<maxCode {
		return nil, errors.New("entropy: Huffman code is ambiguous or incomplete")
	}
	for l := range maxCode {
		h.first[l+1] = (h.first[l] + count[l]) << 1
		h.start[l+1] = h.start[l] + uint16(count[l])
	}
	h.start[maxCode+1] = 256
	next, place := h.first, h.start
	for s, l := range lengths {
		code := uint16(next[l])
		next[l]++
		h.order[place[l]] = uint8(s)
		place[l]++
		// The stream has its first bit lowest.
		h.code[s] = mathbits.Reverse16(code) >> (16 - l)
		if l <= fastCode {
			for i := uint32(h.code[s]); i < 1<<fastCode; i += 1 << l {
				h.fast[i] = uint16(s) | uint16(l)<<8
			}
		}
	}
	return h, nil
}

// Len is the number of bits that byte b takes, to compute costs from.
func (h *Huffman) Len(b byte) int { return int(h.length[b]) }

// WriteByteTo codes one byte into w, between other things.
func (h *Huffman) WriteByteTo(w *bits.Writer, b byte) {
	w.WriteBits(uint64(h.code[b]), int(h.length[b]))
}

// ReadByteFrom is the other side of WriteByteTo. It is 0 at the end of the data, and r then has an
// error.
func (h *Huffman) ReadByteFrom(r *bits.Reader) byte {
	ahead := *r
	next := ahead.ReadBits(min(maxCode, r.Left()))
	e := h.fast[next&(1<<fastCode-1)]
	if e == 0 {
		e = h.long(next)
	}
	r.ReadBits(int(e >> 8))
	if r.Err() != nil {
		return 0
	}
	return byte(e)
}

// Encode appends the coded form of src to dst.
func (h *Huffman) Encode(dst, src []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(src)))
	size := 0
	for _, b := range src {
		size += int(h.length[b])
	}
	dst, space := room(dst, (size+7)/8)
	var w bits.Writer
	w.Reset(space)
	for _, b := range src {
		h.WriteByteTo(&w, b)
	}
	return dst[:len(dst)+len(w.Bytes())]
}

// Decode appends to dst what src was made of.
func (h *Huffman) Decode(dst, src []byte, limit int) ([]byte, error) {
	n, src, err := cutLength(src, limit)
	if err != nil {
		return dst, err
	}
	if n > len(src)*8 { // every byte takes at least one bit
		return dst, fmt.Errorf("%w: %d bytes cannot hold %d", ErrCorrupt, len(src), n)
	}
	dst, space := room(dst, n)
	var next uint64 // bits to decode, of which the lowest have are from src and the others zero
	have, pos := 0, 0
	for i := range space {
		for have <= 56 && pos < len(src) {
			next |= uint64(src[pos]) << have
			have += 8
			pos++
		}
		e := h.fast[next&(1<<fastCode-1)]
		if e == 0 {
			e = h.long(next)
		}
		l := int(e >> 8)
		if l > have {
			return dst, fmt.Errorf("%w: it ends after %d of %d bytes", ErrCorrupt, i, n)
		}
		space[i] = byte(e)
		next >>= l
		have -= l
	}
	if pos < len(src) || have >= 8 || next != 0 {
		return dst, fmt.Errorf("%w: data left over after the last byte", ErrCorrupt)
	}
	return dst[:len(dst)+n], nil
}

// long decodes a code that is too long for the table: its symbol, and its length<<8.
func (h *Huffman) long(next uint64) uint16 {
	code := uint32(0)
	for l := 1; l < maxCode; l++ {
		code = code<<1 | uint32(next&1)
		next >>= 1
		if i := code - h.first[l]; code >= h.first[l] && i < uint32(h.start[l+1]-h.start[l]) {
			return uint16(h.order[h.start[l]+uint16(i)]) | uint16(l)<<8
		}
	}
	// A complete code leaves nothing else.
	i := code<<1 | uint32(next&1) - h.first[maxCode]
	return uint16(h.order[(h.start[maxCode]+uint16(i))&255]) | maxCode<<8
}

// AppendBinary appends the code to b in the form that ParseHuffman reads: 128 bytes, the lengths of
// the codes, 4 bits each.
func (h *Huffman) AppendBinary(b []byte) []byte {
	for i := 0; i < 256; i += 2 {
		b = append(b, h.length[i]|h.length[i+1]<<4)
	}
	return b
}

// ParseHuffman reads a code that AppendBinary wrote. Data of another size, and lengths of which no
// code can be made, are errors.
func ParseHuffman(b []byte) (*Huffman, error) {
	if len(b) != 128 {
		return nil, fmt.Errorf("entropy: a Huffman code takes 128 bytes, not %d", len(b))
	}
	var lengths [256]uint8
	for i, v := range b {
		lengths[2*i], lengths[2*i+1] = v&15, v>>4
	}
	return huffmanOf(&lengths)
}
