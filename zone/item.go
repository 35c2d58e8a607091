package zone

// itemKind says what an item of a stream is.
type itemKind uint8

const (
	handOver itemKind = 1
	action   itemKind = 2

	itemMore = 1 << 7
)

// What leaves a zone for another in one tick is taken in by that in one tick, up to so much of it.
const (
	maxTogether    = 448
	maxTogetherLen = 96 << 10
)

// origin names an action for ever: the stream into which it was put first, and its number there.
type origin struct {
	from, to ID
	number   uint64
}

// item is one of the numbered stream from one zone to another.
type item struct {
	kind   itemKind
	hops   uint8
	more   bool // the next one in the stream left in the same tick: both are taken in one
	entity uint64
	tick   Tick // the last that was computed of the entity, or that in which the action was done
	origin origin
	data   []byte
}

// append writes an item; from, to and number are those of the stream that it is in.
func (i *item) append(b []byte, from, to ID, number uint64) []byte {
	kind := byte(i.kind)
	if i.more {
		kind |= itemMore
	}
	b = append(b, kind)
	b = appendUint(b, i.entity)
	b = appendUint(b, uint64(i.tick))
	if i.kind == action {
		b = append(b, i.hops)
		if i.hops > 0 {
			b = appendUint(b, uint64(i.origin.from))
			b = appendUint(b, uint64(i.origin.to))
			b = appendUint(b, i.origin.number)
		}
	}
	return appendBytes(b, i.data)
}

// readItem reads an item whose bytes are part of what is read.
func (r *reader) item(from, to ID, number uint64) item {
	kind := r.byte()
	i := item{kind: itemKind(kind &^ itemMore), more: kind&itemMore != 0,
		origin: origin{from, to, number}}
	if i.kind != handOver && i.kind != action {
		r.fail()
	}
	i.entity = r.uint()
	i.tick = Tick(r.uint())
	if i.kind == action {
		if i.hops = r.byte(); i.hops > 0 {
			i.origin = origin{r.id(), r.id(), r.uint()}
		}
	}
	i.data = r.bytes(MaxItem)
	return i
}

// size is at most how many bytes append writes.
func (i *item) size() int { return 48 + len(i.data) }

// queue holds the items of a stream from one number on. Its places are used again.
type queue struct {
	ring  []item
	first uint64 // the number of the first that is held
	n     int
}

func (q *queue) len() int { return q.n }

// end is the number behind the last that is held.
func (q *queue) end() uint64 { return q.first + uint64(q.n) }

func (q *queue) at(number uint64) *item {
	return &q.ring[number%uint64(len(q.ring))]
}

// push copies an item behind the last.
func (q *queue) push(i *item) {
	if q.n == len(q.ring) {
		q.grow()
	}
	to := q.at(q.end())
	data := append(to.data[:0], i.data...)
	*to = *i
	to.data = data
	q.n++
}

func (q *queue) grow() {
	ring := make([]item, max(16, 2*len(q.ring)))
	for n := q.first; n < q.end(); n++ {
		ring[n%uint64(len(ring))] = *q.at(n)
	}
	q.ring = ring
}

// drop gives up all before a number.
func (q *queue) drop(before uint64) {
	if before <= q.first {
		return
	}
	gone := min(before-q.first, uint64(q.n))
	q.first += gone
	q.n -= int(gone)
}

// restart empties the queue; the next item that is pushed has that number.
func (q *queue) restart(first uint64) { q.first, q.n = first, 0 }
