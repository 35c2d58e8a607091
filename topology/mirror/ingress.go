package mirror

import (
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// An ingress is what this mirror says: what its own clients command, stamped, on its way to the
// others in packets. Its standing is what the others know of it by the packets that were sent. No
// item is stamped at or before what was promised: a promise is kept below all that waits.
type ingress struct {
	standing
	stamp   world.Tick // the first tick that is open, by the clock
	pending []item     // to be sent
	images  []int32    // of those
	stamped uint32     // commands, sent or not
	sent    crimp.Sequence
	sentAt  time.Duration
	buf     []byte

	// moves are commands that are not sent at once: those for later ticks, where timelines wait;
	// or in the event-based protocol those of late, which are sent several times.
	moves   []item
	moved   bool                  // there are new ones
	said    map[world.Player]said // what was last said to be shown to players here
	movedAt time.Duration
}

// open is the first tick that this mirror has not promised.
func (in *ingress) open() world.Tick { return max(in.stamp, in.promise+1) }

// closed is the newest tick for which this mirror stamps nothing more: one that was not started
// stamps nothing, and promises what it holds.
func (in *ingress) closed(holds world.Tick) world.Tick {
	if !in.started {
		return holds
	}
	return max(in.stamp, in.from+1) - 1
}

// add puts an item last among those to be sent, and numbers it.
func (in *ingress) add(it item) *item {
	it.image = keepImage(&in.images, it.image)
	if it.stamped() {
		in.stamped++
	}
	it.seq = in.stamped
	in.pending = append(in.pending, it)
	return &in.pending[len(in.pending)-1]
}

// nextHeader makes the header of the next packet, with a promise that all that waits is later than.
func (in *ingress) nextHeader(closed world.Tick) header {
	h := header{waiting: !in.started, promise: closed, count: in.count}
	for i := range in.pending {
		if it := &in.pending[i]; it.kind == itemGive || it.kind == itemAssign ||
			it.kind == itemStart || it.kind == itemTell || it.kind == itemResign ||
			it.decides() {
			h.promise = min(h.promise, it.tick-1)
		}
	}
	in.promise = max(in.promise, h.promise)
	h.promise = in.promise
	return h
}

// pack makes a packet of as many items as there is room for, and says how many those are.
func (in *ingress) pack(k *codec, h *header, list []item, room int) (b []byte, n int, err error) {
	b = h.append(in.buf[:0])
	for ; n < len(list); n++ {
		more, err := k.append(b, h.promise, &list[n])
		if err == nil && len(more) > room && n > 0 {
			break
		}
		if err != nil || len(more) > room {
			const text = "a command could not be sent to the others: %d bytes, there is room for %d"
			return nil, n, fmt.Errorf(text, len(more), room)
		}
		b = more
	}
	in.buf = b[:0]
	return b, n, nil
}

// dropSent takes the first items from those that wait: they were sent.
func (in *ingress) dropSent(n int) {
	for _, it := range in.pending[:n] {
		if it.stamped() {
			in.count++
		}
	}
	in.pending = slices.Delete(in.pending, 0, n)
}

// queue keeps an item to be sent with the next packet. What this mirror says counts here as well,
// and at once: it has the number among its own that the others will find.
func (m *Mirror) queue(it item) {
	if !m.goesOn() {
		return
	}
	data := it.data
	it = *m.in.addLong(it, m.group.node.Group().MaxMessage())
	switch it.kind {
	case itemTell:
		it.data = data
		m.command(nil, it.tell(m.roll.self, it.seq))
	case itemGive:
		c := it.give(m.roll.self, it.seq)
		if m.roll.registry.speaks(m.roll.self, it.player, it.tick) {
			m.submit(c)
		} else {
			m.keep(c)
		}
	case itemClaim, itemRelease, itemAssign, itemDeny, itemStart, itemResign, itemHalt,
		itemPause, itemLevel:
		m.item(m.roll.self, &it)
	}
}

// give stamps a command of a client here, with what was shown with it.
func (m *Mirror) give(p world.Player, t world.Tick, image []int32, s world.Sight) {
	in := &m.in
	if m.life.phase != Serving || !in.started || t <= in.from || t < in.open() || m.line == nil ||
		m.halt.closed(t) || m.levels.closed(t) {
		m.stats.Dropped++
		return
	}
	it := item{kind: itemGive, player: p, tick: t, image: image}
	it.sight, it.shown = m.says(p, t, s)
	switch {
	case m.ruled.line != nil:
		m.giveLossy(it)
	case m.line.Waits():
		it.image = slices.Clone(image)
		in.moves = append(in.moves, it)
	default:
		m.queue(it)
	}
}

// giveInOrder passes on commands whose tick closes. Timelines that wait take a command to mean that
// no earlier one will follow.
func (m *Mirror) giveInOrder() {
	in := &m.in
	slices.SortStableFunc(in.moves, func(a, b item) int { return int(a.tick) - int(b.tick) })
	n := 0
	for ; n < len(in.moves) && in.moves[n].tick < in.stamp; n++ {
		if it := in.moves[n]; it.kind == itemTell ||
			m.roll.registry.speaks(m.roll.self, it.player, it.tick) {
			m.queue(it)
		}
	}
	in.moves = slices.Delete(in.moves, 0, n)
}

// send makes packets of what waits: at the latest once a tick, so that others know what to expect
// of this mirror, sooner if there are commands, and at once where a trade waits for this disk.
func (m *Mirror) send() {
	if !m.goesOn() || m.roll.self == 0 || !m.group.node.Group().Begun() ||
		m.life.state == cutOff { // the others would only have to ask for it all
		return
	}
	since := m.clock.steady - m.in.sentAt
	switch {
	case m.keeping.news() && m.congest.stretch <= 1 && since >= m.game.TickLength()/4:
	case since < m.sendEvery() || len(m.in.pending) == 0 && since < m.game.TickLength():
		return
	}
	m.sendNow()
}

// sendNow sends what waits, and if nothing does, what others have to know anyway.
func (m *Mirror) sendNow() {
	in := &m.in
	in.sentAt = m.clock.steady
	for first := true; !m.life.broken() && (first || len(in.pending) > 0); first = false {
		if !m.sendOne(first) {
			return
		}
	}
	in.pending, in.images = in.pending[:0], in.images[:0]
}

// sendOne sends a packet.
func (m *Mirror) sendOne(first bool) bool {
	in := &m.in
	h := in.nextHeader(in.closed(m.holds()))
	// what is ruled may be further than what is stamped
	h.have = m.halt.vouches(min(m.holds(), h.promise))
	m.sayKept(&h)
	if first {
		m.clock.tell(&h, m.peers)
		m.tellHash(&h)
	}
	b, n, err := in.pack(m.codec, &h, in.pending, m.group.node.Group().MaxMessage())
	if err != nil {
		m.again(err.Error()) // it counts here and could not be told to the others
		return false
	}
	seq, err := m.group.node.Send(m.clock.steady, b)
	if err != nil {
		if n > 0 {
			m.again(err.Error())
		}
		return false
	}
	in.sent = seq
	in.dropSent(n)
	m.countSent(b)
	m.promised(m.roll.self, in.stamped, &h)
	return true
}

// countSent counts a packet that was sent.
func (m *Mirror) countSent(b []byte) {
	m.stats.Sent++
	m.stats.SentBytes += uint64(len(b))
}

// give is an item as the command that it is.
func (it *item) give(from member.ID, seq uint32) timeline.Command {
	return timeline.Command{
		Kind: timeline.Give, Tick: it.tick, Origin: from, Seq: seq, Player: it.player,
		Image: it.image, Sight: it.sight, Shown: it.shown}
}
