package lbrm

import (
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/link"
)

// Log keeps what a source has said, for who has missed it. The primary log is asked by the others
// and asks the source; a secondary log serves the receivers of its site and asks the primary one.
type Log struct {
	voice
	o      Options
	source netip.AddrPort // where it speaks from, once known
	up     netip.AddrPort // whom we ask
	site   netip.AddrPort // where all receivers of the site hear, if there is such an address
	g      gaps
	kept   []entry // each in the place of its number
	count  int
	asked  []request
	ack    uint32 // the epoch in which we acknowledge
	acks   bool
	told   uint64 // up to where the source knows that it is safe
	tell   time.Duration
}

// entry is a packet that was said.
type entry struct {
	seq  uint64
	data []byte
}

// request is a packet that was asked for and is not here yet.
type request struct {
	seq uint64
	by  []netip.AddrPort
}

// maxRequests bounds who waits for what is not here.
const (
	maxRequests = 1024
	maxAskers   = 256
	// siteMany is for how many askers a repair goes to all of a site.
	siteMany = 3
)

// NewPrimary makes the primary log. The id must be a fresh random number in each run.
func NewPrimary(o Options, id uint32) (*Log, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	return &Log{voice: newVoice(o.Key, id), o: o, kept: make([]entry, o.Keep)}, nil
}

// NewLog makes a secondary log. Site is a multicast address that all receivers of the site hear and
// nobody else, or none.
func NewLog(o Options, id uint32, site netip.AddrPort) (*Log, error) {
	l, err := NewPrimary(o, id)
	if err == nil {
		l.up, l.site = o.Primary, site
	}
	return l, err
}

func (l *Log) primary() bool { return !l.up.IsValid() }

// Receive takes in what came.
func (l *Log) Receive(now time.Duration, batch []link.Datagram) {
	var p packet
	for _, d := range batch {
		if !l.hear(d.Data, &p) {
			continue
		}
		switch p.kind {
		case kindData, kindHeart, kindCall:
			if !l.g.begun || l.g.session != p.session {
				if l.g.begun && p.kind == kindCall {
					continue
				}
				l.begin(p.session, p.seq)
			}
			l.source = d.Addr
		}
		if !l.g.begun || p.session != l.g.session {
			continue
		}
		l.take(now, d.Addr, &p)
	}
}

// begin is for a source that speaks for the first time, or anew.
func (l *Log) begin(session uint32, seq uint64) {
	l.g.begin(session, seq, uint64(l.o.Keep))
	clear(l.kept)
	l.asked, l.acks, l.told, l.count = nil, false, 0, 0
}

func (l *Log) take(now time.Duration, from netip.AddrPort, p *packet) {
	switch p.kind {
	case kindData, kindRepair:
		l.keep(now, p)
		if l.acks && p.kind == kindData && p.epoch == l.ack {
			l.say(l.source, &packet{kind: kindAck, session: p.session, epoch: p.epoch,
				seq: p.seq})
		}
		if l.primary() {
			l.tell = now // that it is safe
		}
	case kindHeart:
		l.g.upTo(p.seq, now)
	case kindCall:
		if l.primary() {
			return
		}
		draw := det.Draw(uint64(l.id), uint64(p.epoch), uint64(p.session), 0)
		l.acks, l.ack = uint16(draw) <= p.chance, p.epoch
		if l.acks {
			l.say(from, &packet{kind: kindVolunteer, session: p.session, epoch: p.epoch})
		}
	case kindAsk:
		for _, seq := range p.asked {
			l.give(now, from, seq)
		}
	}
}

// keep logs a packet, and gives it to those who wait for it.
func (l *Log) keep(now time.Duration, p *packet) {
	if !l.g.take(p.seq, now) {
		l.Counters.Doubles++
		return
	}
	if e := &l.kept[p.seq%uint64(len(l.kept))]; e.seq < p.seq {
		if e.seq == 0 {
			l.count++
		}
		*e = entry{p.seq, slices.Clone(p.data)}
	}
	for i, r := range l.asked {
		if r.seq == p.seq {
			l.asked = slices.Delete(l.asked, i, i+1)
			again := &packet{kind: kindRepair, session: p.session, seq: p.seq, data: p.data}
			l.Counters.Answered += uint64(len(r.by))
			if len(r.by) >= siteMany && l.site.IsValid() {
				l.say(l.site, again)
				return
			}
			for _, to := range r.by {
				l.say(to, again)
			}
			return
		}
	}
}

// give answers who asks, now or when we have it.
func (l *Log) give(now time.Duration, to netip.AddrPort, seq uint64) {
	if e := &l.kept[seq%uint64(len(l.kept))]; e.seq == seq && seq > 0 {
		l.Counters.Answered++
		l.say(to, &packet{kind: kindRepair, session: l.g.session, seq: seq, data: e.data})
		return
	}
	if seq > l.g.top+maxMissing || seq == 0 || seq <= l.g.low {
		return
	}
	l.g.upTo(seq, now) // whoever asks knows that it was said
	for i := range l.asked {
		if r := &l.asked[i]; r.seq == seq {
			if len(r.by) < maxAskers && !slices.Contains(r.by, to) {
				r.by = append(r.by, to)
			}
			return
		}
	}
	if len(l.asked) < maxRequests {
		l.asked = append(l.asked, request{seq, []netip.AddrPort{to}})
	}
}

// logTries is how often a log asks for a packet; each time it waits for longer.
const logTries = 12

// Tick lets time pass.
func (l *Log) Tick(now time.Duration) {
	if !l.g.begun {
		return
	}
	up := l.up
	if l.primary() {
		up = l.source
		if safe := l.g.safe(); safe > l.told || l.tell > 0 {
			l.told, l.tell = safe, 0
			l.say(l.source, &packet{kind: kindLogged, session: l.g.session, seq: safe})
		}
	}
	gone := l.g.ask(now, l.o.Wait, logTries, func(int) netip.AddrPort { return up },
		func(to netip.AddrPort, list []uint64) {
			l.Counters.Asked += uint64(len(list))
			l.say(to, &packet{kind: kindAsk, session: l.g.session, asked: list})
		})
	l.Counters.Skipped += uint64(len(gone))
	for _, seq := range gone {
		l.asked = slices.DeleteFunc(l.asked, func(r request) bool { return r.seq == seq })
	}
}

// Kept is how many packets the log has.
func (l *Log) Kept() int { return l.count }
