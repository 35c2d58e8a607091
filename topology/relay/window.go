package relay

// A window knows which of the numbered things that one end sends have arrived at the other: the
// rows that go to a member, or the items of a member's stream. All before base have arrived, those
// from next on have never been sent. Of each in between, mark is the number of the last packet
// that carried it, or one of the two below.
//
// Things are sent in packets of conn that were composed, of which each gets one verdict. What is
// lost goes again with the next packet; and each goes in some packets more than one from the
// beginning, as many as loss makes advisable, because a verdict takes a round trip.
type window struct {
	base, next uint32
	lost       int      // how many are marked so
	marks      []uint32 // ring; its size is a power of two
	flights    []flight // those without a verdict, in the order in which they were sent
	fresh      [8]uint32
	sent       uint32 // packets so far
	repeat     int    // in how many packets more than one each goes
}

const (
	markLost    = 0 // or never sent at all, though it comes before next
	markArrived = ^uint32(0)

	// windowMost is how many may be under way: the receiver keeps as many that came out of order.
	windowMost = 1024
	// catchUp is how many may wait to be sent before nothing goes twice without need.
	catchUp = 32
	// mostRuns is how many ranges of things one packet carries.
	mostRuns = 4
)

// A flight is a packet without a verdict.
type flight struct {
	packet uint32
	runs   [mostRuns]span
	n      uint8
}

// span is a range of numbers.
type span struct{ from, to uint32 }

// startAt begins anew with the number of the first thing to send.
func (w *window) startAt(n uint32) {
	*w = window{base: n, next: n, marks: w.marks, flights: w.flights[:0], repeat: w.repeat}
	for i := range w.fresh {
		w.fresh[i] = n
	}
}

func (w *window) mark(n uint32) *uint32 { return &w.marks[n&uint32(len(w.marks)-1)] }

// reach makes room for marks up to a number, without it.
func (w *window) reach(to uint32) {
	need := to - w.base
	if need <= uint32(len(w.marks)) {
		return
	}
	size := uint32(64)
	for size < need {
		size *= 2
	}
	marks := make([]uint32, size)
	for n := w.base; n != w.next; n++ {
		marks[n&(size-1)] = *w.mark(n)
	}
	w.marks = marks
}

// end is up to where may be sent, if there are things up to there: no more are under way than the
// other end keeps.
func (w *window) end(to uint32) uint32 {
	if to-w.base > windowMost {
		return w.base + windowMost
	}
	return to
}

// recent is from where on things go again although they are not known to be lost.
func (w *window) recent() uint32 {
	if w.sent == 0 {
		return w.next
	}
	from := w.fresh[(w.sent-uint32(min(w.repeat, int(w.sent), len(w.fresh))))%uint32(len(w.fresh))]
	if w.repeat == 0 {
		from = w.next
	}
	if int32(from-w.base) < 0 {
		from = w.base
	}
	for from != w.next && *w.mark(from) == markArrived {
		from++
	}
	return from
}

// choose appends the ranges that a packet should carry, in rising order, if there are things up to
// end. There are at most mostRuns.
func (w *window) choose(to uint32, runs []span) []span {
	to = w.end(to)
	recent := w.recent()
	if int32(to-w.next) > catchUp {
		recent = w.next // so much waits that nothing is to spare for what may have arrived
	}
	if w.lost > 0 {
		for n := w.base; n != recent && len(runs) < mostRuns-1; {
			if *w.mark(n) != markLost {
				n++
				continue
			}
			from := n
			for n != recent && *w.mark(n) == markLost {
				n++
			}
			runs = append(runs, span{from, n})
		}
	}
	if int32(to-recent) > 0 {
		if k := len(runs); k > 0 && runs[k-1].to == recent {
			runs[k-1].to = to
		} else {
			runs = append(runs, span{recent, to})
		}
	}
	return runs
}

// carried notes that a packet went, with what of the chosen ranges fitted.
func (w *window) carried(packet uint32, runs []span) {
	f := flight{packet: packet}
	before := w.next
	for _, r := range runs {
		if r.from == r.to {
			continue
		}
		f.runs[f.n] = r
		f.n++
		if int32(r.to-w.next) > 0 {
			w.reach(r.to)
			for ; w.next != r.to; w.next++ {
				*w.mark(w.next) = markLost
				w.lost++
			}
		}
		for n := r.from; n != r.to; n++ {
			switch m := w.mark(n); *m {
			case markArrived:
			case markLost:
				w.lost--
				*m = packet
			default:
				*m = packet
			}
		}
	}
	w.fresh[w.sent%uint32(len(w.fresh))] = before
	w.sent++
	if f.n > 0 {
		w.flights = append(w.flights, f)
	}
}

// take removes a flight that has got its verdict.
func (w *window) take(packet uint32) (f flight, ok bool) {
	for i := range w.flights {
		if w.flights[i].packet == packet {
			f = w.flights[i]
			w.flights = w.flights[:i+copy(w.flights[i:], w.flights[i+1:])]
			return f, true
		}
	}
	return f, false
}

// arrived takes the verdict that a packet has arrived.
func (w *window) arrived(packet uint32) {
	f, ok := w.take(packet)
	if !ok {
		return
	}
	for _, r := range f.runs[:f.n] {
		if int32(r.from-w.base) < 0 {
			r.from = w.base
		}
		for n := r.from; int32(r.to-n) > 0; n++ {
			m := w.mark(n)
			if *m == markLost {
				w.lost--
			}
			*m = markArrived
		}
	}
	for w.base != w.next && *w.mark(w.base) == markArrived {
		w.base++
	}
}

// dropped takes the verdict that a packet was lost.
func (w *window) dropped(packet uint32) {
	f, ok := w.take(packet)
	if !ok {
		return
	}
	for _, r := range f.runs[:f.n] {
		if int32(r.from-w.base) < 0 {
			r.from = w.base
		}
		for n := r.from; int32(r.to-n) > 0; n++ {
			if m := w.mark(n); *m == packet {
				*m = markLost
				w.lost++
			}
		}
	}
}

// adapt chooses in how many packets each thing goes, by the share of packets that are lost, so that
// hardly one in a thousand has to wait for a verdict.
func (w *window) adapt(loss float64) {
	switch {
	case loss < 0.01:
		w.repeat = 1
	case loss < 0.05:
		w.repeat = 2
	case loss < 0.12:
		w.repeat = 3
	default:
		w.repeat = 4
	}
}

// settle takes it that all before a number have arrived.
func (w *window) settle(to uint32) {
	for ; int32(to-w.base) > 0 && w.base != w.next; w.base++ {
		if *w.mark(w.base) == markLost {
			w.lost--
		}
	}
}
