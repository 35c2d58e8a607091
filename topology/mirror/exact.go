package mirror

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
)

// This file is the event-based protocol in the form that section 3.3.4 of the paper gives it, for
// study (Options.Exact). Three classes of events have a channel each: moves go to all without
// promise, once, and to the überserver alone reliably; strict events, fires as well as their
// consequences, go from the überserver to all reliably, each by itself with all of its fields; and
// moves are never compared. What differs from the paper is said at Options.Exact.

// exactForm is what this mirror keeps for it.
type exactForm struct {
	moves []item        // of own clients, that the überserver is not known to have, in order
	first uint32        // the number of the first of them
	sent  int           // how many of them were sent at all
	at    time.Duration // steady: when the oldest was last sent
	uber  member.ID     // who they were for
	// got is, on the überserver, how many moves of each mirror have come, in order.
	got map[member.ID]uint32
	// told are events that the überserver told of and that were not confirmed here yet.
	told map[string]int
}

const (
	// moveRetry is after how long a move that was not acknowledged is sent again.
	moveRetry = 200 * time.Millisecond
	// mostTold bounds the events that are remembered, and mostMoves the moves that wait for the
	// überserver: one more has gone to all without promise, and only so.
	mostTold, mostMoves = 1 << 14, 1 << 13
)

// giveExact keeps a move until the überserver has it.
func (m *Mirror) giveExact(it item) {
	if m.opt.Exact && m.roll.uber != m.roll.self && len(m.exact.moves) < mostMoves {
		m.exact.moves = append(m.exact.moves, it)
	}
}

// sendExact sends the überserver what it is not known to have: what is new, or all of it after a
// while.
func (m *Mirror) sendExact() {
	x, g := &m.exact, m.group.node.Group()
	if x.uber != m.roll.uber { // the next one knows nothing of numbers
		x.uber, x.first, x.got = m.roll.uber, x.first+uint32(len(x.moves)), nil
		x.moves, x.sent = x.moves[:0], 0
	}
	if len(x.moves) == 0 || !g.Begun() || x.uber == m.roll.self {
		return
	}
	if x.sent > 0 && m.clock.steady-x.at >= moveRetry {
		x.sent = 0
	}
	for x.sent < len(x.moves) {
		list := x.moves[x.sent:]
		lowest := list[0].tick
		for i := range list {
			lowest = min(lowest, list[i].tick)
		}
		h := header{promise: lowest - 1, have: lowest - 1, count: x.first + uint32(x.sent)}
		b, n, err := m.in.pack(m.codec, &h, list, g.MaxWhisper())
		if err != nil || g.Whisper(m.clock.steady, x.uber, b) != nil {
			return
		}
		if x.sent == 0 {
			x.at = m.clock.steady
		}
		m.countSent(b)
		x.sent += n
	}
}

// whispered takes moves, on the überserver, and elsewhere that it has them.
func (m *Mirror) whispered(from member.ID, data []byte) {
	if !m.opt.Exact || m.ruled.line == nil || m.peers.of(from) == nil {
		return
	}
	m.stats.Packets++
	m.stats.Bytes += uint64(len(data))
	k := m.codec.parse(data)
	defer m.codec.done(k)
	if k.err != nil {
		m.refuse(from, k.err)
		return
	}
	if m.roll.uber == m.roll.self {
		m.takeMoves(from, k)
	} else if from == m.roll.uber {
		m.exact.acknowledged(k.count)
	}
}

// takeMoves takes those that are next, and says how many have come.
func (m *Mirror) takeMoves(from member.ID, k *packet) {
	x := &m.exact
	if x.got == nil {
		x.got = map[member.ID]uint32{}
	}
	next, known := x.got[from]
	if !known {
		next = k.count
	}
	for i := range k.items {
		it, number := &k.items[i], k.count+uint32(i)
		if number != next || it.kind != itemGive {
			continue // it has come before, or one before it has not
		}
		next++
		if m.roll.registry.speaks(from, it.player, it.tick) {
			m.submit(it.give(from, uint32(it.tick)))
		}
	}
	x.got[from] = next
	h := header{count: next}
	b := h.append(nil)
	if m.group.node.Group().Whisper(m.clock.steady, from, b) == nil {
		m.countSent(b)
	}
}

// acknowledged forgets the moves that the überserver has.
func (x *exactForm) acknowledged(next uint32) {
	n := int(next - x.first)
	if n <= 0 || n > len(x.moves) {
		return
	}
	x.moves = slices.Delete(x.moves, 0, n)
	x.first, x.sent = next, max(x.sent-n, 0)
}

// tellEvents has the überserver tell of what strictly happened, each event by itself; elsewhere it
// is compared with what came of the rulings.
func (m *Mirror) tellEvents(n *timeline.Notice) {
	if !m.opt.Exact || m.game.Events()[n.Event.Kind].Weak() {
		return
	}
	switch {
	case m.ruled.line.Judge():
		if n.What == timeline.Provisional {
			m.queue(item{kind: itemEvent, data: eventBytes(n)})
		}
	case n.What == timeline.Confirmed:
		key := string(eventBytes(n))
		if m.exact.told[key] == 0 {
			m.stats.Untold++
			return
		}
		if m.exact.told[key]--; m.exact.told[key] == 0 {
			delete(m.exact.told, key)
		}
	}
}

// heardEvent takes what the überserver tells of an event.
func (m *Mirror) heardEvent(from member.ID, data []byte) {
	if !m.opt.Exact || !m.roll.leaders[from] {
		m.refuse(from, errors.New("it tells of events and is not überserver"))
		return
	}
	m.stats.Told++
	x := &m.exact
	if x.told == nil || len(x.told) >= mostTold {
		x.told = map[string]int{}
	}
	x.told[string(data)]++
}

// eventBytes are all that there is of an event.
func eventBytes(n *timeline.Notice) []byte {
	b := binary.AppendUvarint(nil, uint64(n.Event.Kind))
	b = binary.AppendUvarint(b, uint64(n.Event.Tick))
	b = binary.AppendUvarint(b, uint64(n.Event.About))
	for _, v := range n.Image {
		b = binary.AppendVarint(b, int64(v))
	}
	return b
}
