package conn

import "time"

// received knows which of the peer's packets have come. It is at once the replay
// window and the source of acknowledgements.
type received struct {
	largest   uint32
	largestAt time.Duration
	// seen has bit i set when packet largest-i has come; bit 0 of word 0 is largest
	// itself. Packets before the first count as received.
	seen [seenBits / 64]uint64
	// floor: the peer knows what we know about all packets up to this one, so bits
	// need not go further back. It sinks again when a straggler arrives below it.
	floor uint32
	// A straggler is reported only by packets of ours from a number on; until one of
	// those is acknowledged the floor must stay below it. Zero means there is none.
	straggler     uint32
	stragglerFrom uint32

	waiting   int           // packets since our last one that want an acknowledgement
	waitingAt time.Duration // when the first of them came
	unsaid    int           // packets of any kind since our last acknowledgement

	// For the loss of the peer's packets: counts since the window began.
	windowStart uint32
	windowCount uint32
}

func newReceived() received {
	const all = ^uint64(0)
	return received{seen: [seenBits / 64]uint64{all, all, all, all}}
}

type freshness uint8

const (
	freshNew freshness = iota
	freshSeen
	freshOld
)

// check tells whether a packet may be new, before anything is spent on opening it.
func (r *received) check(n uint32) freshness {
	if n > r.largest {
		return freshNew
	}
	back := r.largest - n
	if back >= seenBits {
		return freshOld
	}
	if r.seen[back/64]>>(back%64)&1 != 0 {
		return freshSeen
	}
	return freshNew
}

// note takes a packet that check let through and that proved genuine; ours is the
// number of our next packet, the first that can report it.
func (r *received) note(n uint32, now time.Duration, ours uint32) {
	r.windowCount++
	r.unsaid++
	if n <= r.largest {
		back := r.largest - n
		r.seen[back/64] |= 1 << (back % 64)
		r.floor = min(r.floor, n-1)
		if r.straggler == 0 || n < r.straggler {
			r.straggler = n
		}
		r.stragglerFrom = ours
		return
	}
	r.shift(n - r.largest)
	r.seen[0] |= 1
	r.largest = n
	r.largestAt = now
}

func (r *received) shift(by uint32) {
	if by == 1 {
		r.seen[3] = r.seen[3]<<1 | r.seen[2]>>63
		r.seen[2] = r.seen[2]<<1 | r.seen[1]>>63
		r.seen[1] = r.seen[1]<<1 | r.seen[0]>>63
		r.seen[0] <<= 1
		return
	}
	words, bits := int(by/64), by%64
	for i := len(r.seen) - 1; i >= 0; i-- {
		var v uint64
		if j := i - words; j >= 0 {
			v = r.seen[j] << bits
			if j > 0 && bits > 0 {
				v |= r.seen[j-1] >> (64 - bits)
			}
		}
		r.seen[i] = v
	}
}

// before returns 64 bits about the packets that precede largest, from the k-th word on.
func (r *received) before(k int) uint64 {
	v := r.seen[k] >> 1
	if k+1 < len(r.seen) {
		v |= r.seen[k+1] << 63
	}
	return v
}

// form chooses the shortest acknowledgement that tells the peer all it may not
// know yet, of those that fit into room.
func (r *received) form(room int) int {
	if r.largest == 0 {
		return ackNone
	}
	back := int(r.largest-r.floor) - 1 // how many before largest the peer may not know of
	if back <= 64 && r.before(0) == ^uint64(0) {
		return ackClean
	}
	form := ackBits1
	for form+1 < ackForms && 8*ackBytes[form] < back && ackFixed+ackBytes[form+1] <= room {
		form++
	}
	return form
}

// append writes the acknowledgement of a form at b.
func (r *received) append(b []byte, form int, now time.Duration) []byte {
	if form == ackNone {
		return b
	}
	b = be.AppendUint16(b, uint16(r.largest))
	b = append(b, packDelay(int64((now-r.largestAt)/time.Microsecond)))
	for i := range ackBytes[form] {
		b = append(b, byte(r.before(i/8)>>(8*(i%8))))
	}
	return b
}

// known notes that the peer has received our packet n, which told it about
// packets up to reported.
func (r *received) known(n, reported uint32) {
	reported = min(reported, r.largest)
	if r.straggler != 0 {
		if n < r.stragglerFrom {
			reported = min(reported, r.straggler-1)
		} else {
			r.straggler = 0
		}
	}
	r.floor = max(r.floor, reported)
}

// said notes that an acknowledgement goes out.
func (r *received) said() {
	r.waiting = 0
	r.unsaid = 0
}

// ack is a parsed acknowledgement.
type ack struct {
	number uint32
	form   int
	delay  byte
	bits   []byte
}

// covers reports whether the packet back places before the acknowledged one is
// said to have arrived.
func (a *ack) covers(back uint32) bool {
	switch {
	case back == 0:
		return true
	case a.form == ackClean:
		return back <= 64
	}
	back--
	return back < uint32(8*len(a.bits)) && a.bits[back/8]>>(back%8)&1 != 0
}

// parseAck splits the acknowledgement off b. Its number is still to be expanded.
func parseAck(form int, b []byte) (a ack, low uint16, rest []byte, ok bool) {
	a.form = form
	if form == ackNone {
		return a, 0, b, true
	}
	n := ackFixed + ackBytes[form]
	if len(b) < n {
		return a, 0, nil, false
	}
	a.delay = b[2]
	a.bits = b[ackFixed:n]
	return a, be.Uint16(b), b[n:], true
}
