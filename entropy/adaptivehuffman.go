package entropy

import (
	"encoding/binary"
	"fmt"

	"github.com/coeval-dev/coeval/bits"
)

// An AdaptiveHuffman learns its code from the message itself, one byte after another, on both sides
// alike: Quake III's and Gamenet's way for messages whose statistics are not known beforehand. It
// is the algorithm of Faller, Gallager and Knuth (Knuth, "Dynamic Huffman coding", 1985). As a
// Coder it starts anew with each message; with WriteByteTo and ReadByteFrom, Reset is the caller's
// to call. It is for one goroutine at a time. The zero value is ready.
type AdaptiveHuffman struct {
	// Nodes in order of falling weight, each inner node before its children, siblings side by side:
	// the sibling property that makes this a Huffman tree. Node 0 is the root. The leaf for "not
	// yet seen", of weight 0, is always the last.
	weight [treeSize]uint32
	parent [treeSize]uint16
	child  [treeSize]uint16 // the first of two siblings; for a leaf, leafBit and its symbol
	leaf   [256]uint16      // the node of a symbol, 0 if not yet seen
	n      int              // nodes in use; 0 is the same as 1
}

const (
	treeSize = 2*256 + 1
	leafBit  = 1 << 15
	unseen   = leafBit | 256
)

// Reset forgets everything learned.
func (h *AdaptiveHuffman) Reset() { *h = AdaptiveHuffman{} }

func (h *AdaptiveHuffman) begin() {
	if h.n == 0 {
		h.n = 1
		h.child[0] = unseen
	}
}

// WriteByteTo codes one byte into w, and learns it.
func (h *AdaptiveHuffman) WriteByteTo(w *bits.Writer, b byte) {
	h.begin()
	node := int(h.leaf[b])
	if node == 0 {
		h.writePath(w, h.n-1)
		w.WriteBits(uint64(b), 8)
	} else {
		h.writePath(w, node)
	}
	h.learn(b)
}

// writePath codes the way from the root to a node. Weights of 32 bits keep every way below 64
// steps.
func (h *AdaptiveHuffman) writePath(w *bits.Writer, node int) {
	path, n := uint64(0), 0
	for node != 0 {
		up := int(h.parent[node])
		path = path<<1 | uint64(node-int(h.child[up]))
		n++
		node = up
	}
	w.WriteBits(path, n)
}

// ReadByteFrom is the other side of WriteByteTo. It is 0 at the end of the data, and r then has an
// error.
func (h *AdaptiveHuffman) ReadByteFrom(r *bits.Reader) byte {
	h.begin()
	c := h.child[0]
	for c&leafBit == 0 {
		c = h.child[c+uint16(r.ReadBits(1))]
	}
	b := byte(c)
	if c == unseen {
		b = byte(r.ReadBits(8))
		if r.Err() == nil && h.leaf[b] != 0 {
			// No encoder names a byte anew, and learning it twice would break the tree. Make r fail
			// by reading beyond its end.
			for r.Err() == nil {
				r.ReadBits(64)
			}
		}
	}
	if r.Err() != nil {
		return 0
	}
	h.learn(b)
	return b
}

// learn counts one more of b and brings the tree into order.
func (h *AdaptiveHuffman) learn(b byte) {
	node := int(h.leaf[b])
	if node == 0 {
		node = h.grow(b)
	}
	for {
		// Change places with the first node of equal weight, so that one more keeps the order; with
		// the next where that is the parent, which cannot move below its child.
		first := h.firstLike(node)
		if first == int(h.parent[node]) && node != 0 {
			first++
		}
		if first != node {
			h.swap(first, node)
			node = first
		}
		h.weight[node]++
		if node == 0 {
			return
		}
		node = int(h.parent[node])
	}
}

// grow splits the leaf for "not yet seen" in two, one of them for b, and returns that one.
func (h *AdaptiveHuffman) grow(b byte) int {
	old := h.n - 1
	h.child[old] = uint16(h.n)
	for i := h.n; i < h.n+2; i++ {
		h.parent[i] = uint16(old)
		h.weight[i] = 0
	}
	h.child[h.n] = leafBit | uint16(b)
	h.leaf[b] = uint16(h.n)
	h.child[h.n+1] = unseen
	h.n += 2
	return h.n - 2
}

// firstLike finds the first node with the weight of this one, by bisection. A node of weight 0 that
// has just grown stays where it is.
func (h *AdaptiveHuffman) firstLike(node int) int {
	w := h.weight[node]
	if w == 0 {
		return node
	}
	lo, hi := 0, node
	for lo < hi {
		if mid := (lo + hi) / 2; h.weight[mid] > w {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// swap exchanges two nodes of equal weight with all that is below them.
func (h *AdaptiveHuffman) swap(a, b int) {
	h.child[a], h.child[b] = h.child[b], h.child[a]
	for _, i := range [2]int{a, b} {
		if c := h.child[i]; c&leafBit != 0 {
			h.leaf[c&255] = uint16(i)
		} else {
			h.parent[c], h.parent[c+1] = uint16(i), uint16(i)
		}
	}
}

// Encode appends the coded form of src to dst.
func (h *AdaptiveHuffman) Encode(dst, src []byte) []byte {
	h.Reset()
	dst = binary.AppendUvarint(dst, uint64(len(src)))
	// Enough for nearly every message. Where bytes become frequent and then rare it may not be.
	size := len(src)*2 + 64
	for {
		dst, space := room(dst, size)
		var w bits.Writer
		w.Reset(space)
		for _, b := range src {
			h.WriteByteTo(&w, b)
		}
		if w.Err() == nil {
			return dst[:len(dst)+len(w.Bytes())]
		}
		h.Reset()
		size *= 2
	}
}

// Decode appends to dst what src was made of.
func (h *AdaptiveHuffman) Decode(dst, src []byte, limit int) ([]byte, error) {
	h.Reset()
	n, src, err := cutLength(src, limit)
	if err != nil {
		return dst, err
	}
	if n > len(src)*8 { // every byte takes at least one bit
		return dst, fmt.Errorf("%w: %d bytes cannot hold %d", ErrCorrupt, len(src), n)
	}
	dst, space := room(dst, n)
	var r bits.Reader
	r.Reset(src)
	for i := range space {
		space[i] = h.ReadByteFrom(&r)
	}
	if err := finish(&r); err != nil {
		return dst, err
	}
	return dst[:len(dst)+n], nil
}
