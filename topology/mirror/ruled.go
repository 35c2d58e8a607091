package mirror

import (
	"errors"
	"slices"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/ruled"
	"github.com/coeval-dev/coeval/world"
)

// This file is the event-based protocol: the überserver alone decides what happened, and tells it
// reliably. Commands go to all without promise, each several times in case a packet is lost, and
// are shown at once; where the überserver came to something else, that is taken back. See package
// timeline/ruled.

// rulings are what this mirror knows of the judge's word. All up to a tick have come; those for
// which the timeline has no room yet wait, in order.
type rulings struct {
	line    *ruled.Timeline // nil with any other timeline
	to      world.Tick      // the last tick whose ruling has come, or was sent
	unheard []*ruled.Ruling
}

// repeats is for how many ticks a command goes into each packet.
const repeats = 4

// giveLossy stamps a command that nobody waits for.
func (m *Mirror) giveLossy(it item) {
	if !m.roll.registry.speaks(m.roll.self, it.player, it.tick) {
		m.stats.Dropped++
		return
	}
	it.image = slices.Clone(it.image)
	m.in.moves = append(m.in.moves, it)
	m.in.moved = true
	m.submit(it.give(m.roll.self, uint32(it.tick)))
	m.giveExact(it)
}

// sendLossy passes on what came in lately, the newest first.
func (m *Mirror) sendLossy() {
	in := &m.in
	keep := in.stamp - min(in.stamp, repeats)
	in.moves = slices.DeleteFunc(in.moves, func(it item) bool { return it.tick < keep })
	g := m.group.node.Group()
	if !in.moved || m.clock.steady-in.movedAt < m.sendEvery() || !g.Begun() {
		return
	}
	in.moved, in.movedAt = false, m.clock.steady
	h := header{promise: keep - min(keep, 1)}
	h.have = h.promise
	list := slices.Clone(in.moves)
	slices.Reverse(list)
	for first := true; first || len(list) > 0; first = false {
		b, n, err := in.pack(m.codec, &h, list, g.MaxMessage())
		if err != nil {
			return
		}
		if _, err := g.SendLossy(m.clock.steady, b); err == nil {
			m.countSent(b)
		}
		list = list[n:]
	}
	if m.opt.Exact {
		in.moves = in.moves[:0] // once is all
	}
}

// lossy takes commands that were sent without promise.
func (m *Mirror) lossy(id member.ID, data []byte) {
	if m.peers.of(id) == nil || m.ruled.line == nil {
		return
	}
	m.stats.Packets++
	m.stats.Bytes += uint64(len(data))
	k := m.codec.parse(data)
	for i := range k.items {
		if it := &k.items[i]; it.kind == itemGive &&
			m.roll.registry.speaks(id, it.player, it.tick) {
			m.submit(it.give(id, uint32(it.tick)))
		}
	}
	if k.err != nil {
		m.refuse(id, k.err)
	}
	m.codec.done(k)
}

// judged sends what the timeline has ruled, on the judge.
func (m *Mirror) judged() {
	if m.ruled.line == nil || !m.ruled.line.Judge() {
		return
	}
	for r := range m.ruled.line.Rulings {
		m.queue(item{kind: itemRuling, data: r.Append(nil)})
		m.ruled.to = r.Tick
	}
}

// ruling takes what the judge decided, in order.
func (m *Mirror) ruling(from member.ID, data []byte) {
	if m.ruled.line == nil || !m.roll.leaders[from] {
		m.refuse(from, errors.New("it rules and is not überserver"))
		return
	}
	r, err := ruled.ParseRuling(m.game, data)
	if err != nil {
		m.refuse(from, err)
		m.again("a ruling could not be understood")
		return
	}
	m.hear(r)
}

// hear gives a ruling to the timeline, now or when there is room for it.
func (m *Mirror) hear(r *ruled.Ruling) {
	m.ruled.to = max(m.ruled.to, r.Tick)
	_, err := m.ruled.line.Rule(m.worldTime(), r)
	switch {
	case errors.Is(err, timeline.ErrAhead):
		m.ruled.unheard = append(m.ruled.unheard, r)
	case err != nil:
		m.refuse(m.roll.uber, err)
		m.again("a ruling was refused: " + err.Error())
	}
}

// hearAgain tries what there was no room for.
func (m *Mirror) hearAgain() {
	list := m.ruled.unheard
	m.ruled.unheard = nil
	for _, r := range list {
		m.hear(r)
	}
}

// setJudge lets the next überserver rule, after the last tick that the one before ruled. Every
// mirror has all of those rulings when it learns that their maker is gone.
func (m *Mirror) setJudge() {
	if m.ruled.line == nil {
		return
	}
	if err := m.ruled.line.SetJudge(m.worldTime(), m.roll.uber == m.roll.self,
		m.ruled.to); err != nil {
		m.again(err.Error())
	}
}
