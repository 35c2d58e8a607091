package relay

import (
	"errors"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/member"
)

// rowQueue holds the rows that have come and were not handed out. Those from give up to next are
// there; beyond, some may be.
type rowQueue struct {
	give, next uint32
	slots      []rowSlot // ring; its size is a power of two
	seats      uint8
	sits       seating
	members    [MaxSeats]member.ID // who has each seat, as of the rows handed out
	row        Row
	changes    [MaxSeats]Change
	taken      [MaxSeats]Taken
	items      []byte // own ones of the row
}

type rowSlot struct {
	tag  uint32 // the row's number and one
	mask uint16 // of seats that play before it
	data []byte
}

// mostQueued is how many rows may wait to be handed out.
const mostQueued = 16 << 10

var errQueued = errors.New("relay: too many rows wait, take them with NextRow")

func (q *rowQueue) start(w *Welcome) {
	q.give, q.next, q.seats = w.First, w.First, w.Match.Seats
	q.slots = make([]rowSlot, 64)
	q.sits = seating{own: -1, me: w.Self}
	for _, s := range w.Seats {
		q.members[s.Seat] = s.Member
		if !s.Absent {
			q.sits.mask |= 1 << s.Seat
		}
	}
}

func (q *rowQueue) slot(n uint32) *rowSlot { return &q.slots[n&uint32(len(q.slots)-1)] }

// put keeps a row that has come.
func (q *rowQueue) put(n uint32, mask uint16, flat []byte) error {
	if int32(n-q.next) < 0 {
		return nil // it has come before
	}
	if n-q.next >= windowMost {
		return errMalformed
	}
	for n-q.give >= uint32(len(q.slots)) {
		if len(q.slots) >= mostQueued {
			return errQueued
		}
		slots := make([]rowSlot, 2*len(q.slots))
		for i := range q.slots {
			if s := q.slots[i]; s.tag != 0 {
				slots[(s.tag-1)&uint32(len(slots)-1)] = s
			}
		}
		q.slots = slots
	}
	s := q.slot(n)
	if s.tag == n+1 {
		return nil
	}
	s.tag, s.mask, s.data = n+1, mask, append(s.data[:0], flat...)
	for q.slot(q.next).tag == q.next+1 {
		q.next++
	}
	return nil
}

// takeRows takes a packet of rows.
func (c *Client) takeRows(b []byte) error {
	q, r := &c.rows, &c.reader
	r.Reset(b)
	if d, ok := unpackLead(uint8(r.ReadBits(8))); ok {
		c.lead, c.leads = d, true
	}
	for first, last := true, uint32(0); ; first = false {
		n := unpackStart(r, first, q.next, last)
		s := seating{mask: uint16(r.ReadBits(int(q.seats))), own: -1, me: c.in.Self}
		if r.ReadBool() {
			if s.own = int8(r.ReadBits(4)); s.mask>>uint(s.own)&1 == 0 {
				return errMalformed
			}
		}
		for r.ReadBool() {
			mask, ok := s.mask, false
			if c.flat, ok = unpackRow(r, q.seats, &s, c.flat[:0]); !ok {
				return errMalformed
			}
			if err := q.put(n, mask, c.flat); err != nil {
				return err
			}
			n++
		}
		last = n
		if !r.ReadBool() {
			break
		}
	}
	if r.Finish() != nil {
		return errMalformed
	}
	return nil
}

// NextRow is the next row of the match, if it has come. Rows are the same for all members, come in
// order, and none is left out.
func (c *Client) NextRow() (*Row, bool) {
	if c.rows.give == c.rows.next || c.failed != nil {
		return nil, false
	}
	row, ok := c.nextRow()
	if !ok {
		c.fail(errMalformed)
	}
	return row, ok
}

// nextRow hands out a row that is there, if it makes sense after those before it.
func (c *Client) nextRow() (*Row, bool) {
	q := &c.rows
	s := q.slot(q.give)
	if s.mask != q.sits.mask {
		return nil, false
	}
	row := &q.row
	row.Tick, row.Changes, row.Seats = q.give, q.changes[:0], q.taken[:0]
	q.items = q.items[:0]
	flat := s.data
	n := int(flat[0])
	flat = flat[1:]
	for ; n > 0; n-- {
		ch := readChange(flat)
		flat = flat[changeSize:]
		before := q.members[ch.Seat]
		if q.sits.apply(ch); ch.Kind <= Returned {
			q.members[ch.Seat] = ch.Member
		} else if ch.Member = before; ch.Kind == Left {
			q.members[ch.Seat] = 0
		}
		c.own.change(ch, before, c.in.Self)
		row.Changes = append(row.Changes, ch)
	}
	for seat, mask := uint8(0), q.sits.mask; mask != 0; seat, mask = seat+1, mask>>1 {
		if mask&1 == 0 {
			continue
		}
		var t Taken
		t, flat = splitTaken(flat)
		t.Seat, t.Member = seat, q.members[seat]
		if t.Member == c.in.Self && !c.takeOwn(&t) {
			return nil, false
		}
		row.Seats = append(row.Seats, t)
	}
	if c.own.seat > 0 && q.sits.mask>>uint(c.own.seat-1)&1 == 0 {
		c.own.debt = owe(c.own.debt, 0)
	}
	q.give++
	return row, true
}

// splitTaken reads what a row takes of one seat, and gives the rest of the row.
func splitTaken(flat []byte) (t Taken, rest []byte) {
	n := int(flat[0] &^ ownItems)
	t.Count = uint8(n)
	own := flat[0]&ownItems != 0
	flat = flat[1:]
	if own {
		return t, flat
	}
	at := 0
	for range n {
		at += 1 + int(flat[at])
	}
	t.items = flat[:at]
	return t, flat[at:]
}

// takeOwn counts what a row takes of the member's own stream, and puts in the items.
func (c *Client) takeOwn(t *Taken) bool {
	o, q := &c.own, &c.rows
	if o.stream.had-o.stream.taken < uint32(t.Count) {
		return false
	}
	from := len(q.items)
	for range t.Count {
		item := o.stream.item(o.stream.taken)
		q.items = append(append(q.items, byte(len(item))), item...)
		o.stream.taken++
	}
	t.items = q.items[from:]
	o.debt = owe(o.debt, int(t.Count))
	o.window.settle(o.stream.taken)
	return true
}

// ownStream is the items of this member.
type ownStream struct {
	stream stream
	window window // of items to the relay
	next   uint32 // number of the next item
	seat   int8   // and one, while the member plays or is absent; 0: it does not
	debt   uint32
	every  uint32        // items in a packet
	pace   time.Duration // between two packets
	sent   time.Duration
	count  uint32
}

func (o *ownStream) change(ch Change, before, self member.ID) {
	switch {
	case ch.Kind <= Returned && ch.Member == self:
		if before != self {
			o.debt = 0
		}
		o.seat = int8(ch.Seat) + 1
	case ch.Kind <= Returned && o.seat == int8(ch.Seat)+1, ch.Kind == Left && before == self:
		o.seat = 0
	}
}

// Submit adds an item to the member's stream and gives its number. It may be called before Ready,
// and must keep to what the relay takes: MaxAhead more than rows have taken.
func (c *Client) Submit(item []byte) (uint32, error) {
	o := &c.own
	switch {
	case c.state != clientInside || c.in.Player == 0:
		return 0, ErrNotIn
	case len(item) > MaxItem:
		return 0, ErrTooLarge
	case o.stream.put(o.next, item) != fresh:
		return 0, ErrAhead
	}
	o.next++
	return o.next - 1, nil
}

// Ahead is how many items were submitted that no row has taken, of those that were handed out. The
// relay takes up to MaxAhead.
func (c *Client) Ahead() int { return int(c.own.next - c.own.stream.taken) }

// Owed is how many rows have gone by without an item of this member that was meant for them. If it
// is not 0, items that come are taken together until it is.
func (c *Client) Owed() int { return int(c.own.debt) }

// Lead is how long before it was due the latest item came to the relay, or the least of those since
// the last packet; less than zero if it was late. It is false before the first was measured.
func (c *Client) Lead() (time.Duration, bool) { return c.lead, c.leads }

// sendItems sends items that the relay lacks, if it is time.
func (c *Client) sendItems() {
	o := &c.own
	w := &o.window
	fresh := o.next - w.next
	if w.lost == 0 && (fresh == 0 || fresh < o.every && c.now-o.sent < o.pace) {
		return
	}
	cn := c.conn.Conn()
	if !cn.Open() {
		return
	}
	runs := w.choose(o.next, c.runs[:0])
	if len(runs) == 0 {
		return
	}
	b, err := cn.Compose(c.now, turnChannel, reserve)
	if err != nil {
		return
	}
	c.writer.Reset(b[:cap(b)])
	packItems(&c.writer, runs, o.stream.item)
	w.carried(uint32(cn.Commit(c.writer.Bytes())), runs)
	o.sent = c.now
	if o.count++; o.count%adaptEvery == 0 {
		w.adapt(lossOf(cn))
	}
}

func lossOf(c *conn.Conn) float64 { return c.Quality().LossOut }
