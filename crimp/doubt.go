package crimp

import "slices"

// doubtful is a packet that did not prove itself here.
type doubtful struct {
	seq      Sequence
	sum      contentSum
	datagram []byte
}

// judge compares a digest with the packets that are here. What was in doubt and fits is taken.
func (g *Group) judge(p *peer, d *signedDigest) {
	if p.floating || !p.started || d.first < p.base || d.last >= p.next && len(p.doubts) == 0 {
		return
	}
	if limit, capped := p.limit(); capped && d.last > limit {
		return
	}
	if d.last < p.next && g.digestOf(p, d, nil) == d.now {
		g.settleDoubts(p, d.last)
		return
	}
	var missing []Sequence
	tries := 1
	for s := d.first; s <= d.last; s++ {
		if p.holds(s) && p.at(s).state == slotHave {
			if *p.sum(s) == (contentSum{}) {
				return // it came inside of another, or with the state
			}
			continue
		}
		n := 0
		for i := range p.doubts {
			if p.doubts[i].seq == s {
				n++
			}
		}
		if tries *= n; tries == 0 || tries > maxTries {
			return // some are still to come; or there are too many to choose from
		}
		missing = append(missing, s)
	}
	if len(missing) > 0 && !d.genuine(g.group, &p.card) {
		return
	}
	for i := range tries {
		instead := p.choice(missing, i)
		if g.digestOf(p, d, instead) != d.now {
			continue
		}
		for _, s := range missing {
			g.believe(p, instead[s])
		}
		g.settleDoubts(p, d.last)
		return
	}
	if p.disputed == 0 {
		p.disputed, p.differs = d.index, d.first
		g.stats.Disputed++
		g.emit(Event{Kind: Disputed, Member: p.id, Seq: d.first, More: uint32(d.last - d.first)})
	}
	g.show(p, d)
}

// vouches reports whether a packet that came here is what its maker has signed, as far as is known.
func (t *testimony) vouches(s Sequence) bool { return t.disputed == 0 || s < t.differs }

// settleDoubts drops doubtful packets of what a digest has settled.
func (g *Group) settleDoubts(p *peer, last Sequence) {
	if len(p.doubts) == 0 {
		return
	}
	p.doubts = slices.DeleteFunc(p.doubts, func(q doubtful) bool {
		done := q.seq <= last
		if done {
			g.buffers.Put(q.datagram)
		}
		return done
	})
}

// choice is one of the ways to fill what is missing from what is doubtful.
func (p *peer) choice(missing []Sequence, which int) map[Sequence]int {
	if len(missing) == 0 {
		return nil
	}
	instead := map[Sequence]int{}
	for _, s := range missing {
		var have []int
		for i := range p.doubts {
			if p.doubts[i].seq == s {
				have = append(have, i)
			}
		}
		instead[s] = have[which%len(have)]
		which /= len(have)
	}
	return instead
}

// doubt keeps a data packet that did not prove itself here, if it is one that is missing.
func (g *Group) doubt(p *peer, s Sequence, datagram, body []byte) bool {
	d := &g.data
	if p.floating || !p.started || s < p.base || s >= p.next+ringMost ||
		p.holds(s) && p.at(s).state != slotMissing || !readData(body, d) {
		return false
	}
	q := doubtful{s, g.lastSum(), datagram}
	if len(p.doubts) >= maxDoubtful || slices.ContainsFunc(p.doubts,
		func(o doubtful) bool { return o.seq == q.seq && o.sum == q.sum }) {
		return false
	}
	p.doubts = append(p.doubts, q)
	return true
}

// believe takes a doubtful packet for which its maker has signed.
func (g *Group) believe(p *peer, at int) {
	q := p.doubts[at]
	h, ok := readHeader(q.datagram)
	e := g.epoch(h.epoch)
	if !ok || e == nil {
		return
	}
	datagram := append(g.buffers.Get(len(q.datagram))[:0], q.datagram...)
	b := append(g.buffers.Get(len(q.datagram))[:0], q.datagram...)
	g.lent = append(g.lent, b) // messages point into it
	body, ok := g.open(e, &h, b)
	if !ok {
		g.buffers.Put(datagram)
		return
	}
	g.stats.Attested++
	g.sum(b[:headerSize], body)
	g.takeData(e, p, q.seq, datagram, body, Repaired)
}

// expireDoubts drops doubtful packets that have left the history.
func (g *Group) expireDoubts(p *peer) {
	if len(p.doubts) == 0 {
		return
	}
	p.doubts = slices.DeleteFunc(p.doubts, func(q doubtful) bool {
		gone := q.seq < p.base || p.holds(q.seq) && p.at(q.seq).state != slotMissing
		if gone {
			g.buffers.Put(q.datagram)
		}
		return gone
	})
}
