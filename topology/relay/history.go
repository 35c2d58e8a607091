package relay

// history keeps the last rows of a match, those from first up to next. They lie in a ring of bytes
// one after the other, each in one piece; when the ring is as large as it may be, the oldest give
// way.
type history struct {
	first, next uint32
	index       []entry // ring; its size is a power of two
	data        []byte
	head        int // where the next row goes
	most        int // how large data may become
}

// entry is where a row lies, and which seats play before its changes.
type entry struct {
	at   uint32
	size uint16
	mask uint16
}

// oldest is the first row that someone can still be given: once rows are forgotten, those that are
// next to be are left out, so that the others have time to arrive.
func (h *history) oldest() uint32 {
	if h.first == 0 {
		return 0
	}
	return h.first + (h.next-h.first)/4
}

func (h *history) entry(n uint32) *entry { return &h.index[n&uint32(len(h.index)-1)] }

// row is a row that is kept, and which seats play before its changes.
func (h *history) row(n uint32) (flat []byte, mask uint16) {
	e := h.entry(n)
	return h.data[e.at : e.at+uint32(e.size)], e.mask
}

// put adds a row, and keeps no more than so many.
func (h *history) put(flat []byte, mask uint16, keep uint32) {
	for h.next-h.first >= keep {
		h.first++
	}
	if h.next-h.first == uint32(len(h.index)) {
		h.grow()
	}
	at := h.room(len(flat))
	for at < 0 {
		if len(h.data) < h.most {
			h.enlarge(len(flat))
		} else {
			h.first++
		}
		at = h.room(len(flat))
	}
	copy(h.data[at:], flat)
	h.head = at + len(flat)
	*h.entry(h.next) = entry{uint32(at), uint16(len(flat)), mask}
	h.next++
}

// grow doubles the index.
func (h *history) grow() {
	index := make([]entry, max(64, 2*len(h.index)))
	for n := h.first; n != h.next; n++ {
		index[n&uint32(len(index)-1)] = *h.entry(n)
	}
	h.index = index
}

// room finds where so many bytes fit, or -1.
func (h *history) room(n int) int {
	if h.first == h.next {
		h.head = 0
		if n <= len(h.data) {
			return 0
		}
		return -1
	}
	tail := int(h.entry(h.first).at)
	if h.head > tail {
		if len(h.data)-h.head >= n {
			return h.head
		}
		if tail > n {
			return 0
		}
		return -1
	}
	if tail-h.head > n {
		return h.head
	}
	return -1
}

// enlarge doubles the ring, or makes it as large as it may be.
func (h *history) enlarge(n int) {
	data := make([]byte, min(max(1024, 2*len(h.data), n), max(h.most, n)))
	at := 0
	for i := h.first; i != h.next; i++ {
		flat, _ := h.row(i)
		copy(data[at:], flat)
		h.entry(i).at = uint32(at)
		at += len(flat)
	}
	h.data, h.head = data, at
}
