package mirror

import (
	"errors"
	"slices"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/ruled"
	"github.com/coeval-dev/coeval/world"
)

// This file is the event-based protocol: the überserver alone decides what happened, and tells it reliably. Commands go to all without promise, each several times in
// case a packet is lost, and are shown at once; where the überserver came to something else, that is taken back. See package timeline/ruled.

// A move is a command that was sent lately.
type move struct {
	player world.Player
	tick   world.Tick
	image  []int32
}

// repeats is for how many ticks a command goes into each packet.
const repeats = 4

// gaveMove stamps a command that nobody waits for.
func (m *Mirror) gaveMove(p world.Player, t world.Tick, image []int32) {
	if !m.registry.speaks(m.self, p, t) {
		m.stats.Dropped++
		return
	}
	m.moves = append(m.moves, move{p, t, slices.Clone(image)})
	m.moved = true
	m.submit(timeline.Command{Kind: timeline.Give, Tick: t, Origin: m.self, Seq: uint32(t), Player: p, Image: image})
}

// sendMoves passes on what came in lately.
func (m *Mirror) sendMoves() {
	keep := m.stamp - min(m.stamp, repeats)
	m.moves = slices.DeleteFunc(m.moves, func(v move) bool { return v.tick < keep })
	if !m.moved || m.machine-m.movedAt < m.opt.SendEvery || !m.node.Group().Begun() {
		return
	}
	m.moved, m.movedAt = false, m.machine
	p := packet{promise: keep - min(keep, 1)}
	p.have = p.promise
	room := m.node.Group().MaxMessage()
	b := p.append(m.buf[:0])
	first := len(b)
	for i := len(m.moves) - 1; i >= 0; i-- { // the newest first, in case there is no room for all
		v := &m.moves[i]
		more, err := m.codec.append(b, p.promise, &item{kind: itemGive, player: v.player, tick: v.tick, image: v.image})
		if err != nil {
			continue
		}
		if len(more) > room && len(b) > first {
			m.lose(b)
			if more, err = m.codec.append(p.append(b[:0]), p.promise, &item{kind: itemGive, player: v.player, tick: v.tick, image: v.image}); err != nil {
				continue
			}
		}
		b = more
	}
	m.lose(b)
	m.buf = b[:0]
}

func (m *Mirror) lose(b []byte) {
	if _, err := m.node.Group().SendLossy(m.machine, b); err == nil {
		m.stats.Sent++
		m.stats.SentBytes += uint64(len(b))
	}
}

// lossy takes commands that were sent without promise.
func (m *Mirror) lossy(id member.ID, data []byte) {
	s := m.streams[id]
	if s == nil || m.ruled == nil {
		return
	}
	m.stats.Packets++
	m.stats.Bytes += uint64(len(data))
	var p packet
	rest, err := p.parse(data)
	var it item
	for err == nil && len(rest) > 0 {
		if rest, err = m.codec.next(rest, p.promise, &it); err != nil {
			break
		}
		if it.kind == itemGive && m.registry.speaks(id, it.player, it.tick) {
			m.submit(timeline.Command{Kind: timeline.Give, Tick: it.tick, Origin: id, Seq: uint32(it.tick), Player: it.player, Image: it.image})
		}
	}
	if err != nil {
		m.refuse(id, err)
	}
}

// judged sends what the timeline has ruled, on the judge.
func (m *Mirror) judged() {
	if m.ruled == nil || !m.ruled.Judge() {
		return
	}
	for r := range m.ruled.Rulings {
		m.queue(item{kind: itemRuling, data: r.Append(nil)}, nil)
		m.ruledTo = r.Tick
	}
}

// ruling takes what the judge decided, in order.
func (m *Mirror) ruling(from member.ID, data []byte) {
	if m.ruled == nil || !m.led[from] {
		m.refuse(from, errors.New("it rules and is not überserver"))
		return
	}
	r, err := ruled.ParseRuling(m.game, data)
	if err != nil {
		m.refuse(from, err)
		m.again("a ruling could not be understood")
		return
	}
	m.ruledTo = max(m.ruledTo, r.Tick)
	m.hear(r)
}

// hear gives a ruling to the timeline, now or when there is room for it.
func (m *Mirror) hear(r *ruled.Ruling) {
	_, err := m.ruled.Rule(m.clock.now(), r)
	switch {
	case errors.Is(err, timeline.ErrAhead):
		m.unheard = append(m.unheard, r)
	case err != nil:
		m.refuse(m.uber, err)
		m.again("a ruling was refused: " + err.Error())
	}
}

// hearAgain tries what there was no room for.
func (m *Mirror) hearAgain() {
	list := m.unheard
	m.unheard = nil
	for _, r := range list {
		m.hear(r)
	}
}

// setJudge lets the next überserver rule, after the last tick that the one before ruled. Every mirror has all of those rulings when it learns that their maker is gone.
func (m *Mirror) setJudge() {
	if m.ruled == nil {
		return
	}
	if err := m.ruled.SetJudge(m.clock.now(), m.uber == m.self, m.ruledTo); err != nil {
		m.again(err.Error())
	}
}
