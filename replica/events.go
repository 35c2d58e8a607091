package replica

import (
	"cmp"
	"encoding/binary"
	"reflect"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// eventsLast is for how many publications events wait for senders to take them.
const eventsLast = 240

// maxEventBits is the most that the fields of one event may take.
const maxEventBits = 8 << 10

// eventLog is what happened lately, in order, written once for all clients.
type eventLog struct {
	pub   *Publisher
	kinds []eventKind
	first uint64 // number of list[0]
	list  []loggedEvent
	data  []byte
	from  uint64 // where data[0] lies since the beginning

	saved     []loggedEvent // what late joiners are told, in order
	savedData []byte
	serial    uint64             // of the last one of a saved kind
	about     map[world.ID][]int // which of those saved are about an entity

	leading bool           // the world may be taken back
	settled world.Tick     // nothing changes up to here
	pending []pendingEvent // announced, and neither confirmed nor retracted

	sync    bits.Sync
	writer  bits.Writer
	scratch []byte
	large   int // events that were left out because they were too large
}

type eventKind struct {
	info     *world.EventInfo
	delivery world.Delivery
	blank    bits.Syncer // to read images into
}

// loggedEvent is an event and where its fields are written; or the word that an earlier one did not
// happen.
type loggedEvent struct {
	world.Emitted
	delivery world.Delivery
	standing Standing
	retracts bool            // it takes back an earlier one
	of       uint64          // the number of that
	count    uint64          // the publication that brought it
	to       world.Addressed // who alone is told, or nil
	at       uint64
	bits     int
	missing  world.Tick // of a saved one: since when the entity that it is about was not seen
	serial   uint64     // of a saved one: its number among these

	// Of the entity that it is about: whether all see it, or where it stands while it is there; and
	// the publication that first found it, and if it is no more, what spawned it. Who was never
	// shown it, because it came and went between two snapshots, hears of it by what they see of
	// that.
	all     bool
	slot    int32
	unique  uint32 // of the slot; 0 if it was not there
	born    uint64
	spawner world.ID
}

func (l *eventLog) init(p *Protocol, b *Publisher) {
	l.pub, l.about = b, map[world.ID][]int{}
	for _, e := range p.game.Events() {
		l.kinds = append(l.kinds, eventKind{info: e, delivery: e.Delivery()})
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

// log adds an event, as good until the next one is added.
func (l *eventLog) log(e world.Emitted, v bits.Syncer, standing Standing,
	count uint64) (*loggedEvent, bool) {
	if l.kinds[e.Kind].delivery == world.Outside {
		return nil, false // it is no player's business
	}
	data, n, ok := l.write(l.data, v)
	if !ok {
		return nil, false
	}
	l.list = append(l.list, loggedEvent{
		Emitted: e, delivery: l.kinds[e.Kind].delivery, standing: standing, to: addressees(v),
		count: count, at: l.from + uint64(len(l.data)), bits: n,
	})
	l.data = data
	le := &l.list[len(l.list)-1]
	if le.delivery == world.Saved {
		l.serial++
		le.serial = l.serial
	}
	l.subject(le)
	return le, true
}

// addressees keeps who alone is told of an event: a copy of its own, as the event's memory is used
// again. Events are plain values.
func addressees(v bits.Syncer) world.Addressed {
	if _, some := v.(world.Addressed); !some {
		return nil
	}
	own := reflect.New(reflect.TypeOf(v).Elem())
	own.Elem().Set(reflect.ValueOf(v).Elem())
	return own.Interface().(world.Addressed)
}

// isFor says whether an event is for a client, as far as the event itself says.
func (e *loggedEvent) isFor(p world.Player) bool { return e.to == nil || e.to.For(p) }

// subject finds out about the entity that an event is about what is known only now.
func (l *eventLog) subject(e *loggedEvent) {
	if e.all = e.About == world.None || e.delivery == world.Everyone ||
		l.pub.state(e.About); e.all {
		return
	}
	if at := l.pub.lookup(e.About); at >= 0 {
		e.slot, e.unique, e.born = at, l.pub.slots[at].unique, l.pub.slots[at].born
		return
	}
	for i := range l.pub.removed {
		if r := &l.pub.removed[i]; r.id == e.About {
			e.born, e.spawner = r.born, r.by
			return
		}
	}
	if e.By != e.About { // it was never published
		e.born, e.spawner = e.count, e.By
	}
}

// take adds what happened in the world's last tick.
func (l *eventLog) take(w *world.World, count uint64) {
	for e, v := range w.Host().Happened {
		if le, ok := l.log(e, v, Confirmed, count); ok && le.delivery == world.Saved {
			l.save(*le, l.fields(le))
		}
	}
}

// tidy lets what is older than eventsLast go, some at a time.
func (l *eventLog) tidy(w *world.World, count uint64) {
	old := 0
	for old < len(l.list) && l.list[old].count+eventsLast < count {
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
	if count%64 == 0 {
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
	for e, v := range w.Host().SavedHappened {
		all = append(all, both{e, v})
	}
	slices.SortStableFunc(all, func(a, b both) int { return int(int64(a.e.Tick - b.e.Tick)) })
	for _, e := range all {
		if data, n, ok := l.write(nil, e.v); ok {
			l.serial++
			l.save(loggedEvent{Emitted: e.e, delivery: world.Saved, standing: Confirmed, bits: n,
				serial: l.serial, to: addressees(e.v)}, data)
		}
	}
}

func (l *eventLog) save(e loggedEvent, fields []byte) {
	e.at = uint64(len(l.savedData))
	l.savedData = append(l.savedData, fields...)
	l.saved = append(l.saved, e)
	if e.About != world.None {
		l.about[e.About] = append(l.about[e.About], len(l.saved)-1)
	}
}

// savedFields gives the written fields of a saved event.
func (l *eventLog) savedFields(e *loggedEvent) []byte {
	return l.savedData[e.at : e.at+uint64(e.bits+7)/8]
}

// prune forgets what is saved about entities that are no more. In a world that may be taken back
// one that is missing may be there again, as long as that is not settled.
func (l *eventLog) prune(w *world.World) {
	any := false
	for i := range l.saved {
		e := &l.saved[i]
		switch {
		case e.About == world.None || w.Has(e.About):
			e.missing = 0
		case e.missing == 0:
			e.missing = max(w.Tick(), 1)
		}
		any = any || l.gone(e)
	}
	if !any {
		return
	}
	old, data := l.saved, l.savedData
	l.saved, l.savedData = nil, nil
	clear(l.about)
	for i := range old {
		if e := &old[i]; !l.gone(e) {
			l.save(*e, data[e.at:e.at+uint64(e.bits+7)/8])
		}
	}
}

func (l *eventLog) gone(e *loggedEvent) bool {
	return e.missing != 0 && (!l.leading || l.settled > e.missing+recent)
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
	messageLeading
)

// messageSize is how large a message with events gets before the next begins: small enough to ride
// along with other packets until it has arrived. Where there is a lot to tell the others are
// larger, so that the count of messages, of which packets carry the lowest bits, stays clear.
const (
	messageSize  = 200
	messageBurst = 1000
)

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

// telling is how far a client has been told of what happened. Events before next are in messages,
// or were not for it; unreliable ones of the present snapshot wait for a packet.
type telling struct {
	next       uint64 // in the publisher's log
	looked     uint64 // the publication when the client was last told
	unreliable []uint64
	doubtful   []uint64        // numbers of those that it was told and that may be retracted
	saved      map[uint64]bool // serials of the saved ones that it was told

	said    world.Tick // the settled tick that the client was told
	saidAt  uint64     // in which publication
	due     world.Tick // it waits to hear that this one is settled; 0 if it waits for nothing
	doubted world.Tick // the last tick of which it was told something that may be retracted
}

// tellSaved queues what is kept for those who come later, and is about an entity: what is certain,
// and what may still be retracted. About None is what everyone is told who joins.
func (s *Sender) tellSaved(about world.ID) {
	l := &s.pub.events
	if about != world.None {
		for _, i := range l.about[about] {
			s.tellOneSaved(&l.saved[i], l.savedFields(&l.saved[i]))
		}
	} else {
		for i := range l.saved {
			if e := &l.saved[i]; e.About == world.None {
				s.tellOneSaved(e, l.savedFields(e))
			}
		}
	}
	for i := range l.pending {
		p := &l.pending[i]
		if p.delivery == world.Saved && p.About == about && s.tellOneSaved(&p.loggedEvent,
			p.fields) {
			s.doubts(p.Tick, p.number)
		}
	}
}

// tellOneSaved queues a saved event, unless the client was told of it.
func (s *Sender) tellOneSaved(e *loggedEvent, fields []byte) bool {
	if s.events.saved[e.serial] || !e.isFor(s.options.Player) {
		return false
	}
	if s.events.saved == nil {
		s.events.saved = map[uint64]bool{}
	}
	s.events.saved[e.serial] = true
	s.tidySaved()
	s.messages.event(e, fields, s.pub.events.leading)
	return true
}

// tidySaved forgets that the client was told of what is kept no more.
func (s *Sender) tidySaved() {
	l := &s.pub.events
	if len(s.events.saved) <= 2*(len(l.saved)+len(l.pending))+64 {
		return
	}
	kept := make(map[uint64]bool, len(l.saved))
	for i := range l.saved {
		if n := l.saved[i].serial; s.events.saved[n] {
			kept[n] = true
		}
	}
	for i := range l.pending {
		if n := l.pending[i].serial; s.events.saved[n] {
			kept[n] = true
		}
	}
	s.events.saved = kept
}

// room gives the message that was begun last, if it is of the right kind and has room for so many
// bytes more, or a new one.
func (q *messageQueue) room(kind byte, n int) *[]byte {
	if q.n > 0 {
		size := messageSize
		if q.n > 1 {
			size = messageBurst
		}
		if last := &q.list[q.n-1]; (*last)[0] == kind && len(*last)+n < size {
			return last
		}
	}
	m := q.open()
	*m = append(*m, kind)
	q.sent++
	return m
}

// event adds an event. Where the world may be taken back, messages say how much it is to be
// believed.
func (q *messageQueue) event(e *loggedEvent, fields []byte, leading bool) {
	kind, head := byte(messageEvents), uint64(e.Kind)
	if leading {
		kind, head = messageLeading, head<<2|uint64(e.standing)
	}
	m := q.room(kind, len(fields))
	c := bits.CursorTo(*m)
	c.Uvarint(&head, 0)
	eventName(&c, &e.Emitted)
	if *m = c.Data(); !e.retracts {
		*m = append(binary.AppendUvarint(*m, uint64(e.bits)), fields...)
	}
}

// settled adds how far everything is certain.
func (q *messageQueue) settled(t world.Tick) {
	m := q.room(messageLeading, 0)
	*m = binary.AppendUvarint(append(*m, byte(settling)), uint64(t))
}

// eventName reads or writes what an event is known by, but for its kind.
func eventName(c *bits.Cursor, e *world.Emitted) {
	bits.Number(c, &e.Tick, 1<<62-1)
	bits.Number(c, &e.Ordinal, 1<<16-1)
	identifier(c, &e.About)
	identifier(c, &e.By)
}

// identifier reads or writes an identifier in its parts, since each is small.
func identifier(c *bits.Cursor, id *world.ID) {
	generation, class, allocator, index := uint64(id.Generation()), uint64(id.Class()),
		uint64(id.Allocator()), uint64(id.Index())
	c.Uvarint(&generation, 1<<24-1)
	made := world.None
	if generation != 0 {
		c.Uvarint(&class, 254)
		c.Uvarint(&allocator, 1<<12-1)
		c.Uvarint(&index, 1<<20-1)
		made = world.MakeID(int(class), int(allocator), int(index), int(generation))
	}
	if c.Reading() {
		*id = made
	}
}

// gather takes what happened since the last snapshot, and is for this client: what is reliable
// becomes messages, what is not waits for the next packet.
func (s *Sender) gather() {
	l := &s.pub.events
	if s.events.next < l.first {
		s.ledger.Missed += l.first - s.events.next
		s.events.next = l.first
	}
	s.events.unreliable = s.events.unreliable[:0]
	for end := l.end(); s.events.next < end; s.events.next++ {
		e := &l.list[s.events.next-l.first]
		switch {
		case e.retracts:
			// What it was not told of, it is not told to be wrong either.
			if i := slices.Index(s.events.doubtful, e.of); i >= 0 {
				s.events.doubtful = slices.Delete(s.events.doubtful, i, i+1)
				s.messages.event(e, nil, true)
			}
		case e.standing == Retracted || !s.concerns(e):
		case e.delivery == world.Unreliable:
			s.events.unreliable = append(s.events.unreliable, s.events.next)
		case e.delivery == world.Saved && !s.tellOneSaved(e, l.fields(e)):
		default:
			if e.delivery != world.Saved {
				s.messages.event(e, l.fields(e), l.leading)
			}
			if e.standing == Provisional {
				s.doubts(e.Tick, s.events.next)
			}
		}
	}
	for _, id := range s.view.came {
		s.tellSaved(id)
	}
	s.view.came, s.view.went = s.view.came[:0], s.view.went[:0]
	s.events.looked = s.pub.count
	if l.leading {
		s.tellSettled()
	}
}

// concerns says whether an event is for this client: whether what it is about is in view. What is
// no more counts by the view before: there those saw it who saw its end. What came and went in
// between was in nobody's view; those hear of it who see what spawned it. Whatever left the view
// and is still there has gone where this client does not see it, and may have done so at once.
func (s *Sender) concerns(e *loggedEvent) bool {
	if !e.isFor(s.options.Player) {
		return false
	}
	if e.all {
		return true
	}
	if e.unique != 0 && s.pub.slots[e.slot].unique == e.unique && s.view.jumps == s.pub.jumps {
		return s.shows(e.slot, e.unique)
	}
	if s.sees(e.About) {
		return true
	}
	return e.spawner != world.None && e.born > s.events.looked && s.sees(e.spawner)
}

// shows says whether what stands in a slot is in view.
func (s *Sender) shows(slot int32, unique uint32) bool {
	if int(slot) >= len(s.handles.bySlot) || s.handles.bySlot[slot] < 0 {
		return false
	}
	r := s.at(s.handles.bySlot[slot])
	return r.unique == unique && r.want == Held
}

// sees says whether an entity is in view, or is no more and was when the client was last told
// something.
func (s *Sender) sees(id world.ID) bool {
	if s.pub.state(id) {
		return true
	}
	_, found := slices.BinarySearchFunc(s.view.list[s.view.states:s.view.things], id,
		func(v viewed, id world.ID) int { return cmp.Compare(v.id, id) })
	return found || slices.Contains(s.view.went, id) && s.pub.lookup(id) < 0
}

// unreliableBits is about how many bits the waiting unreliable events take.
func (s *Sender) unreliableBits() float64 {
	n := 0.0
	l := &s.pub.events
	for _, i := range s.events.unreliable {
		n += float64(l.list[i-l.first].bits + 40)
	}
	return n
}

// putUnreliable adds the unreliable events as far as there is room for them.
func (s *Sender) putUnreliable(w *Worker, limit float64) {
	l := &s.pub.events
	enc := w.enc
	before := enc.Spent()
	for _, i := range s.events.unreliable {
		e := &l.list[i-l.first]
		enc.Mark()
		enc.Flag(true, chanceEvent)
		name, fields := e.Emitted, l.fields(e)
		s.pub.protocol.event(wire{enc: enc}, s.pub.tick, &name, uint32(e.bits))
		for n := e.bits; n > 0; n -= 8 {
			enc.Bits(uint32(fields[0])&(1<<min(n, 8)-1), uint(min(n, 8)))
			fields = fields[1:]
		}
		if enc.Full() || enc.Spent() > limit {
			enc.Rewind()
			s.ledger.NoRoom++
		}
	}
	s.events.unreliable = s.events.unreliable[:0]
	enc.Flag(false, chanceEvent)
	s.ledger.Events += enc.Spent() - before
}
