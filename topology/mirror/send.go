package mirror

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// queue keeps an item to be sent with the next packet. What this mirror says counts here as well, and at once: it has the place in its own stream that the others will find.
func (m *Mirror) queue(it item, image []int32) {
	if m.line == nil || m.broken {
		return
	}
	p := pendingItem{item: it, at: len(m.images), n: len(image)}
	m.images = append(m.images, image...)
	m.pending = append(m.pending, p)
	if it.stamped() {
		m.stamped++
	}
	switch it.kind {
	case itemGive:
		c := timeline.Command{Kind: timeline.Give, Tick: it.tick, Origin: m.self, Seq: m.stamped, Player: it.player, Image: image}
		if m.registry.speaks(m.self, it.player, it.tick) {
			m.submit(c)
		} else {
			m.park(c)
		}
	case itemClaim, itemRelease, itemAssign, itemDeny, itemStart:
		m.item(m.self, &it, m.stamped)
	}
}

// send makes packets of what waits: at the latest once a tick, so that others know what to expect of this mirror, and sooner if there are commands.
func (m *Mirror) send() {
	if m.line == nil || m.self == 0 || m.broken || !m.node.Group().Begun() {
		return
	}
	since := m.machine - m.sentAt
	if since < m.opt.SendEvery || len(m.pending) == 0 && since < m.game.TickLength() {
		return
	}
	m.sendNow()
}

// sendNow sends what waits, and if nothing does, what others have to know anyway.
func (m *Mirror) sendNow() {
	m.sentAt = m.machine
	for first := true; !m.broken && (first || len(m.pending) > 0); first = false {
		if !m.sendOne(first) {
			return
		}
	}
	m.pending, m.images = m.pending[:0], m.images[:0]
}

// sendOne sends a packet with as many items as it holds.
func (m *Mirror) sendOne(first bool) bool {
	p := packet{waiting: !m.started, promise: m.closed()}
	for i := range m.pending {
		if it := &m.pending[i]; it.kind == itemGive || it.kind == itemAssign || it.kind == itemStart {
			p.promise = min(p.promise, it.tick-1)
		}
	}
	p.promise = max(p.promise, m.promised)
	m.promised = p.promise
	if p.have = m.have(); p.have > p.promise { // what is ruled may be further than what is stamped
		p.have = p.promise
	}
	p.count = m.count
	if first {
		m.tellClock(&p)
		m.tellHash(&p)
	}
	room := m.node.Group().MaxMessage()
	b := p.append(m.buf[:0])
	n := 0
	for n < len(m.pending) {
		it := &m.pending[n]
		it.image = m.images[it.at : it.at+it.n]
		more, err := m.codec.append(b, p.promise, &it.item)
		if err == nil && len(more) > room && n > 0 {
			break
		}
		if err != nil || len(more) > room {
			// It counts here and could not be told to the others.
			m.again(fmt.Sprintf("a command could not be sent to the others: %d bytes, there is room for %d", len(more), room))
			return false
		}
		b = more
		n++
		if it.stamped() {
			m.count++
		}
	}
	m.buf = b[:0]
	seq, err := m.node.Send(m.machine, b)
	if err != nil {
		if n > 0 {
			m.again(err.Error())
		}
		return false
	}
	m.sent = seq
	m.pending = m.pending[n:]
	m.stats.Sent++
	m.stats.SentBytes += uint64(len(b))
	m.promise(m.self, &p)
	return true
}

// closed is the newest tick for which this mirror stamps nothing more.
func (m *Mirror) closed() world.Tick {
	if !m.started {
		return m.have()
	}
	return max(m.stamp, m.from+1) - 1
}

// tellClock puts clocks into a packet, ten times a second, with an echo for one of the others in turn.
func (m *Mirror) tellClock(p *packet) {
	if len(m.order) == 0 || m.machine-m.clockAt < clockTold/time.Duration(len(m.order)) {
		return
	}
	m.clockAt = m.machine
	p.clock, p.unsure, p.group, p.raw = true, m.clock.unsure, m.clock.telling(), m.clock.raw()
	p.group += m.lie
	m.echoTurn = (m.echoTurn + 1) % len(m.order)
	id := m.order[m.echoTurn]
	if d := m.clock.peers[id]; d != nil && d.heard {
		p.echoed, p.echoRaw, p.held = id, d.raw, m.clock.local-d.came
	}
}

// clockTold is how often each of the others is told the time.
const clockTold = 100 * time.Millisecond
