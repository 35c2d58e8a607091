package crimp

import (
	"bytes"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// Receive takes datagrams that have come. They are decrypted in place, and messages
// point into them.
func (g *Group) Receive(now time.Duration, batch []link.Datagram) {
	g.advance(now)
	for i := range batch {
		g.receive(batch[i].Data)
	}
}

// receive takes one datagram as it came from the network.
func (g *Group) receive(b []byte) {
	if len(b) > 0 && isWhisper(b[0]) {
		g.takeWhisper(b)
		return
	}
	if g.self == nil {
		return
	}
	how := First
	if len(b) > repairPrefix && b[0] == kindRepair {
		by := be.Uint16(b[1:])
		how, b = Repaired, b[repairPrefix:]
		if b[0] != kindData {
			g.stats.Malformed++
			return
		}
		if by == shownBy {
			g.takeShown(b)
			return
		}
	}
	g.take(b, how)
}

// take deals with a datagram as its maker made it.
func (g *Group) take(b []byte, how How) {
	h, ok := readHeader(b)
	if !ok {
		g.stats.Malformed++
		return
	}
	if h.group != g.tag {
		g.stats.OtherGroup++
		return
	}
	e := g.epoch(h.epoch)
	if e == nil {
		g.stats.OldKey++
		return
	}
	if h.member == g.self.id {
		g.mirrored(e, &h, b)
		return
	}
	at, ok := slices.BinarySearchFunc(e.members, h.member, peerID)
	if !ok {
		g.stats.Strangers++
		return
	}
	p := e.members[at]
	if g.repeated(p, &h, b, how) {
		if h.kind == kindData && how == Repaired {
			g.shown(e, p, &h, b)
		}
		return
	}
	// What may be passed on is kept as it came, for it is decrypted in place.
	var datagram []byte
	if h.kind == kindData || g.bridge {
		datagram = append(g.buffers.Get(len(b))[:0], b...)
	}
	body, ok := g.open(e, &h, b)
	if !ok {
		g.stats.Forged++
	} else if ok = g.proven(e, at, b, body); !ok {
		g.stats.Unproven++
		if h.kind == kindData && g.doubt(p, Sequence(h.number), datagram, body) {
			return
		}
	}
	if !ok {
		g.buffers.Put(datagram)
		return
	}
	g.takeGenuine(e, p, &h, datagram, body, how)
}

// repeated deals with a datagram that has come before, before it costs a decryption.
func (g *Group) repeated(p *peer, h *header, b []byte, how How) bool {
	switch h.kind {
	case kindData:
		return g.known(p, Sequence(h.number), b, how)
	case kindControl:
		if !p.window.fresh(h.number) {
			g.stats.Replayed++
			return true
		}
	case kindLossy:
		if !p.lossy.fresh(h.number) {
			g.stats.Duplicates++
			return true
		}
	case kindDigest:
		if !p.signed.fresh(h.number) {
			g.stats.Replayed++
			return true
		}
	case kindBeacon:
		if !p.cast.beacons.fresh(h.number) {
			g.stats.Replayed++
			return true
		}
	}
	return false
}

// takeGenuine deals with what a member made. The datagram is kept only if it is a data packet.
func (g *Group) takeGenuine(e *epoch, p *peer, h *header, datagram, body []byte, how How) {
	// A repair of what was known to exist is no sign of life: others send it when the
	// member is long gone.
	if h.kind != kindData || how == First || Sequence(h.number) >= p.next {
		p.heard = g.now
	}
	// What may have come by multicast says nothing of the line.
	if how == First && h.kind != kindBeacon && !p.cast.said {
		g.heardDirectly(p.id)
	}
	if h.kind == kindData {
		g.takeData(e, p, Sequence(h.number), datagram, body, how)
		return
	}
	g.relay(p, datagram, First)
	g.buffers.Put(datagram)
	switch h.kind {
	case kindControl:
		p.window.note(h.number)
		g.takeControl(e, p, body)
	case kindParity:
		g.takeParity(p, body)
	case kindDigest:
		p.signed.note(h.number)
		g.takeDigests(p, body)
	case kindLossy:
		p.lossy.note(h.number)
		g.takeLossy(p, Sequence(h.number), body)
	case kindBeacon:
		p.cast.beacons.note(h.number)
		g.takeBeacon(p, body)
	}
}

// epoch finds the epoch whose low bits are given, the newest first.
func (g *Group) epoch(low byte) *epoch {
	for i := len(g.epochs) - 1; i >= 0; i-- {
		if byte(g.epochs[i].number) == low {
			return g.epochs[i]
		}
	}
	return nil
}

// mirrored deals with a datagram that names us as its maker: mostly one of ours that
// multicast or a repair brings back. One that we have not sent yet was made by someone
// else who has our identity.
func (g *Group) mirrored(e *epoch, h *header, b []byte) {
	last := g.counters[h.kind-kindData]
	if h.kind == kindData {
		last = uint32(g.Last())
	}
	if h.number <= last {
		if h.kind == kindData && g.self.holds(Sequence(h.number)) {
			if s := g.self.at(Sequence(h.number)); bytes.Equal(s.datagram, b) {
				g.sawRepair(s)
			}
		}
		return
	}
	body, ok := g.open(e, h, b)
	if !ok {
		g.stats.Forged++
		return
	}
	if !g.provenOwn(e, b, body) {
		g.stats.Unproven++ // another member has put our name on it
		return
	}
	g.stats.Clashes++
	if !g.clashed {
		g.clashed = true
		g.emit(Event{Kind: Clash, Member: g.self.id})
	}
}

// known deals with a data packet that is here already, or too old, before it costs a
// decryption.
func (g *Group) known(p *peer, s Sequence, b []byte, how How) bool {
	if p.started && s < p.base {
		g.stats.TooOld++
		return true
	}
	if s >= maxSequence {
		g.stats.TooNew++
		return true
	}
	if limit, capped := p.limit(); capped && s > limit {
		g.stats.Uncounted++
		return true
	}
	if !p.holds(s) {
		return false
	}
	slot := p.at(s)
	switch slot.state {
	case slotHave:
		if slot.via != 0 && slot.datagram == nil {
			return false // came inside of another; its own datagram may carry more, and can repair
		}
		g.stats.Duplicates++
		if slot.datagram != nil && bytes.Equal(slot.datagram, b) {
			if how == Repaired {
				g.sawRepair(slot)
			} else if slot.how != First {
				g.tooHasty(p) // it was only late
			}
		}
		return true
	case slotGone:
		g.stats.TooOld++
		return true
	}
	return false
}

// takeData takes a data packet that its maker made, and keeps its datagram.
func (g *Group) takeData(e *epoch, p *peer, s Sequence, datagram, body []byte, how How) {
	d := &g.data
	if !readData(body, d) {
		g.buffers.Put(datagram)
		g.stats.Malformed++
		return
	}
	g.pace.saw(len(datagram))
	g.begin(p, s)
	g.turned(e, p, s)
	fresh := s > p.anchor
	g.arrived(p, s, d, how)
	g.noticeUpTo(p, s-1, false)
	g.extend(p, s+1)
	if !p.holds(s) {
		g.buffers.Put(datagram)
		return
	}
	*p.sum(s) = g.lastSum()
	slot := p.at(s)
	here := slot.state == slotHave // inside of another
	g.resolve(p, s, how)
	slot.state, slot.datagram, slot.via = slotHave, datagram, 0
	if how == Repaired {
		g.sawRepair(slot)
	}
	g.relay(p, datagram, how)
	if !here {
		slot.how = how
		g.accept(p, s, d.content, how)
	}
	// The farthest first, so that order is kept as far as it can be.
	for i := d.depth - 1; i >= 0; i-- {
		if before := s - 1 - Sequence(i); before >= 1 && before < s {
			g.takeCarried(p, before, uint8(i+1), d.before[i])
		}
	}
	if how == First {
		g.passed(p, s, fresh)
	}
	g.tryParity(p, s)
	g.pump()
}

// takeCarried takes what a later packet carried of an earlier one.
func (g *Group) takeCarried(p *peer, s Sequence, via uint8, content []byte) {
	if !p.holds(s) || p.at(s).state != slotMissing {
		return
	}
	slot := p.at(s)
	g.resolve(p, s, Forwarded)
	slot.state, slot.how, slot.via = slotHave, Forwarded, via
	g.accept(p, s, content, Forwarded)
}

// accept passes a packet on to the application, or to the order.
func (g *Group) accept(p *peer, s Sequence, content []byte, how How) {
	if g.opt.Order != Immediate || g.holding {
		g.enqueueContent(p, s, content, how)
		return
	}
	g.handOver(Event{Kind: Delivered, Member: p.id, Seq: s, How: how, Data: content})
}

// handOver hands a message to the application.
func (g *Group) handOver(e Event) {
	g.stats.Delivered++
	switch e.How {
	case Repaired:
		g.stats.Repaired++
	case Forwarded:
		g.stats.Forwarded++
	}
	g.emit(e)
}

// begin finds out where a member's packets begin for us.
func (g *Group) begin(p *peer, s Sequence) {
	if p.started {
		return
	}
	// Earlier ones that come late shall have a place.
	p.started = true
	p.base = 1
	if s > ringFirst/2 {
		p.base = s - ringFirst/2
	}
	p.next, p.deliver = p.base, p.base
	g.extend(p, s)
}

// arrived learns what a packet tells of its source besides its message.
func (g *Group) arrived(p *peer, s Sequence, d *dataBody, how How) {
	if how != First {
		return
	}
	p.delay.stamp(g.now, d.clock)
	p.cast.cameByCast(g.now, g.castAge())
	if s >= p.anchor {
		p.anchor, p.anchorAt = s, g.now
		p.repeat, p.packets, p.parity = d.depth, d.packets, d.parity
	}
}
