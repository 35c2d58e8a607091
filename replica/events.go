package replica

import (
	"encoding/binary"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// eventsLast is for how many ticks events wait for senders to take them.
const eventsLast = 240

// maxEventBits is the most that the fields of one event may take.
const maxEventBits = 8 << 10

// eventLog is what happened lately, in order, written once for all clients.
type eventLog struct {
	delivery []world.Delivery
	first    uint64 // number of list[0]
	list     []loggedEvent
	data     []byte
	from     uint64 // where data[0] lies since the beginning

	saved     []loggedEvent // what late joiners are told, in order
	savedData []byte

	sync    bits.Sync
	writer  bits.Writer
	scratch []byte
	large   int // events that were left out because they were too large
}

// loggedEvent is an event and where its fields are written.
type loggedEvent struct {
	world.Emitted
	delivery world.Delivery
	at       uint64
	bits     int
}

func (l *eventLog) init(p *Protocol) {
	for _, e := range p.game.Events() {
		l.delivery = append(l.delivery, e.Delivery())
	}
	l.scratch = make([]byte, maxEventBits/8)
}

// end is the number that the next event will have.
func (l *eventLog) end() uint64 { return l.first + uint64(len(l.list)) }

// write appends an event's fields to data.
func (l *eventLog) write(data []byte, v bits.Syncer) ([]byte, int, bool) {
	w := &l.writer
	w.Reset(l.scratch)
	l.sync.StartWrite(w)
	v.Sync(&l.sync)
	if l.sync.Err() != nil || w.Err() != nil {
		l.large++
		return data, 0, false
	}
	return append(data, w.Bytes()...), w.Len(), true
}

// take adds what happened in the world's last tick.
func (l *eventLog) take(w *world.World, b *Publisher) {
	for e, v := range w.Happened {
		data, n, ok := l.write(l.data, v)
		if !ok {
			continue
		}
		le := loggedEvent{e, l.delivery[e.Kind], l.from + uint64(len(l.data)), n}
		l.data = data
		l.list = append(l.list, le)
		if le.delivery == world.Saved {
			l.save(le, l.fields(&le))
		}
	}
	// What is older than eventsLast goes, some at a time.
	old := 0
	for old < len(l.list) && l.list[old].Tick+eventsLast < w.Tick() {
		old++
	}
	if old > 0 && (old == len(l.list) || old >= 256) {
		l.list = append(l.list[:0], l.list[old:]...)
		l.first += uint64(old)
		end := l.from + uint64(len(l.data))
		if len(l.list) > 0 {
			end = l.list[0].at
		}
		l.data = append(l.data[:0], l.data[end-l.from:]...)
		l.from = end
	}
	if b.count%64 == 0 {
		l.prune(w)
	}
}

// keep takes over what a world that is published for the first time has saved.
func (l *eventLog) keep(w *world.World) {
	type both struct {
		e world.Emitted
		v bits.Syncer
	}
	var all []both
	for e, v := range w.SavedHappened {
		all = append(all, both{e, v})
	}
	slices.SortStableFunc(all, func(a, b both) int { return int(int64(a.e.Tick - b.e.Tick)) })
	for _, e := range all {
		if data, n, ok := l.write(nil, e.v); ok {
			l.save(loggedEvent{e.e, world.Saved, 0, n}, data)
		}
	}
}

func (l *eventLog) save(e loggedEvent, fields []byte) {
	e.at = uint64(len(l.savedData))
	l.savedData = append(l.savedData, fields...)
	l.saved = append(l.saved, e)
}

// prune forgets what is saved about entities that are no more.
func (l *eventLog) prune(w *world.World) {
	gone := func(e loggedEvent) bool { return e.About != world.None && !w.Has(e.About) }
	if !slices.ContainsFunc(l.saved, gone) {
		return
	}
	old, data := l.saved, l.savedData
	l.saved, l.savedData = nil, nil
	for _, e := range old {
		if !gone(e) {
			l.save(e, data[e.at:e.at+uint64(e.bits+7)/8])
		}
	}
}

// fields gives the written fields of an event in the log.
func (l *eventLog) fields(e *loggedEvent) []byte {
	at := e.at - l.from
	return l.data[at : at+uint64(e.bits+7)/8]
}

// Message kinds, in the first byte of a reliable message.
const (
	messageEvents = iota + 1
	messageAdvance
	messageBases
	messageReject
	messageFresh
)

// messageSize is how large a message with events gets before the next begins:
// small enough to ride along with other packets until it has arrived.
const messageSize = 200

// messageQueue is reliable messages that wait to be sent.
type messageQueue struct {
	list [][]byte
	n    int
	sent uint32 // how many messages with events there have been
}

// open gives the buffer for one more message.
func (q *messageQueue) open() *[]byte {
	if q.n == len(q.list) {
		q.list = append(q.list, nil)
	}
	q.n++
	m := &q.list[q.n-1]
	*m = (*m)[:0]
	return m
}

// saved queues what late joiners are told.
func (q *messageQueue) saved(b *Publisher) {
	l := &b.events
	for i := range l.saved {
		e := &l.saved[i]
		q.event(e, l.savedData[e.at:e.at+uint64(e.bits+7)/8])
	}
}

// event adds an event to the message that was begun last, if it is one of
// events that has room, or to a new one.
func (q *messageQueue) event(e *loggedEvent, fields []byte) {
	var m *[]byte
	if q.n > 0 {
		if last := &q.list[q.n-1]; (*last)[0] == messageEvents && len(*last)+len(fields) < messageSize {
			m = last
		}
	}
	if m == nil {
		m = q.open()
		*m = append(*m, messageEvents)
		q.sent++
	}
	*m = appendEvent(*m, e, fields)
}

// appendEvent writes an event in whole bytes.
func appendEvent(m []byte, e *loggedEvent, fields []byte) []byte {
	m = binary.AppendUvarint(m, uint64(e.Kind))
	m = binary.AppendUvarint(m, uint64(e.Tick))
	m = binary.AppendUvarint(m, uint64(e.Ordinal))
	m = appendID(m, e.About)
	m = appendID(m, e.By)
	m = binary.AppendUvarint(m, uint64(e.bits))
	return append(m, fields...)
}

// appendID writes an identifier in its parts, since each is small.
func appendID(m []byte, id world.ID) []byte {
	m = binary.AppendUvarint(m, uint64(id.Generation()))
	if id.Generation() == 0 {
		return m
	}
	m = binary.AppendUvarint(m, uint64(id.Class()))
	m = binary.AppendUvarint(m, uint64(id.Allocator()))
	return binary.AppendUvarint(m, uint64(id.Index()))
}

// gather takes what happened since the last snapshot: what is reliable becomes
// messages, what is not waits for the next packet.
func (s *Sender) gather() {
	l := &s.pub.events
	if s.events < l.first {
		s.ledger.Missed += l.first - s.events
		s.events = l.first
	}
	s.sparks = s.sparks[:0]
	for end := l.end(); s.events < end; s.events++ {
		e := &l.list[s.events-l.first]
		if e.delivery != world.Unreliable {
			s.messages.event(e, l.fields(e))
		} else if s.sees(e.About) {
			s.sparks = append(s.sparks, s.events)
		}
	}
}

// sees says whether an entity is in view, as far as unreliable events go; what
// is about no entity is in everyone's.
func (s *Sender) sees(id world.ID) bool {
	if id == world.None {
		return true
	}
	at := s.pub.lookup(id)
	if at < 0 || int(at) >= len(s.handles) || s.handles[at] < 0 {
		return false
	}
	r := &s.records[s.handles[at]]
	return r.unique == s.pub.slots[at].unique && r.want == held
}

// sparkBits is about how many bits the waiting unreliable events take.
func (s *Sender) sparkBits() float64 {
	n := 0.0
	l := &s.pub.events
	for _, i := range s.sparks {
		n += float64(l.list[i-l.first].bits + 40)
	}
	return n
}

// putSparks adds the unreliable events as far as there is room for them.
func (s *Sender) putSparks(w *Worker, limit float64) {
	l := &s.pub.events
	enc := w.enc
	before := enc.Spent()
	for _, i := range s.sparks {
		e := &l.list[i-l.first]
		enc.Mark()
		enc.Flag(true, chanceEvent)
		s.putEvent(enc, e, l.fields(e))
		if enc.Full() || enc.Spent() > limit {
			enc.Rewind()
			s.ledger.Sparks++
		}
	}
	s.sparks = s.sparks[:0]
	enc.Flag(false, chanceEvent)
	s.ledger.Events += enc.Spent() - before
}

func (s *Sender) putEvent(enc codec.PacketEncoder, e *loggedEvent, fields []byte) {
	p := s.pub.protocol
	enc.Bits(uint32(e.Kind), p.kindBits)
	putNumber(enc, uint32(s.pub.tick-e.Tick))
	putNumber(enc, uint32(e.Ordinal))
	enc.Flag(e.About != world.None, chanceBy)
	if e.About != world.None {
		p.putID(enc, e.About)
	}
	enc.Flag(e.By == e.About, chanceBy)
	if e.By != e.About {
		enc.Flag(e.By != world.None, chanceBy)
		if e.By != world.None {
			p.putID(enc, e.By)
		}
	}
	putNumber(enc, uint32(e.bits))
	for n := e.bits; n > 0; n -= 8 {
		enc.Bits(uint32(fields[0])&(1<<min(n, 8)-1), uint(min(n, 8)))
		fields = fields[1:]
	}
}
