package paths

import (
	"hash"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// peer is another member, and all that is known of the paths to it.
type peer struct {
	id     member.ID
	addr   netip.AddrPort // made up
	key    [32]byte
	mac    hash.Hash
	digest []byte
	window window // of the asks and carried datagrams that it made for us

	paths   []*path
	over    *path // the one of them by the relay
	current *path // in use, or nil
	reach   int   // how many steps it takes to a near one, for those whom we could carry to it

	hearing
	vector   []entry // whom it says that it reaches
	vectorAt time.Duration
	carry    bucket // what we carry for it
}

// hearing is when a member was heard, and whether its silence means anything.
type hearing struct {
	heard   time.Duration // anything at all
	data    time.Duration // a datagram for a connection
	gap     time.Duration // the longest time between two of those, of late
	count   int           // of those, up to expectAfter
	known   bool          // it was heard once
	expects bool          // it sends all the time
	silent  bool          // nothing at all comes any more
	outage  bool          // and the path in use has not shown that it passes
	late    bool          // we were late to look
	alarms  int           // silences in a row without a datagram in between
	alarmed time.Duration // when the last of them was noticed, or when silence began to count anew
}

// hear notes that something of a member came.
func (p *Paths) hear(q *peer) {
	q.heard, q.known, q.silent = p.now, true, false
}

// hearData notes that a datagram for a connection came.
func (p *Paths) hearData(q *peer) {
	d := p.now - q.data
	if q.outage {
		d = 0 // the network was silent, not the member
	}
	if d >= q.gap {
		q.gap = min(d, maxSilence)
	} else {
		// Half of it is forgotten in about three seconds.
		q.gap -= time.Duration(float64(q.gap) * min(d.Seconds()/4, 1))
	}
	if q.count < expectAfter {
		if q.count++; q.count == 1 {
			q.gap = 0
		}
	} else {
		q.expects = true
	}
	q.data, q.outage, q.late, q.alarms, q.alarmed = p.now, false, false, 0, p.now
	p.hear(q)
}

// silenceDue is when silence of a member becomes a sign. Probes are no part of it: they come by
// paths that are not in use, too.
func (p *Paths) silenceDue(q *peer) time.Duration {
	d := max(p.opt.Silence, 2*q.gap) << q.alarms
	return q.alarmed + min(d, max(maxSilence, p.opt.Silence))
}

// checkSilence tries other paths when a member that sends all the time has fallen silent, and asks
// with the remark that we do not hear it: what we lack may be cut in its direction only.
func (p *Paths) checkSilence(q *peer) {
	if !q.expects {
		return
	}
	due := p.silenceDue(q)
	if p.now < due {
		return
	}
	if p.now-due > lateBy && !q.late {
		// We were held up ourselves. What came meanwhile may still wait to be received.
		q.late = true
		q.alarmed += p.now - due + lateMore
		return
	}
	if q.alarms >= maxAlarms {
		q.expects, q.count = false, 0 // paths answer, the member has nothing to say
		return
	}
	q.silent, q.outage, q.alarmed = true, true, p.now
	q.alarms++
	p.stats.Silences++
	if q.current != nil {
		p.doubt(q.current)
	}
	p.hurry(q)
}

// deaf handles the word of a member that it hears nothing of us, by an ask. It is old news if the
// path in use came into use, or was answered, just now.
func (p *Paths) deaf(q *peer) {
	x := q.current
	if x == nil || p.now-max(x.since, x.proved) < p.opt.Silence {
		return
	}
	p.stats.Deaf++
	p.doubt(x)
	p.hurry(q)
}

// hurry asks at once by all paths that have passed before, or that others vouch for. Addresses that
// have never answered keep their pace, lest a member that names a stranger's has us ask that for
// ever.
func (p *Paths) hurry(q *peer) {
	for _, x := range q.paths {
		if x.kind != Direct || x.proved != never {
			x.tries, x.next = 0, p.now
		}
	}
}

// near reports whether a member is one step away, or over the relay: such members carry for us.
// Others are carried to themselves.
func (q *peer) near() bool {
	return q.current != nil && q.current.kind != Over && !q.current.doubted
}

// source is where a datagram of ours came from.
type source struct {
	kind Kind
	addr netip.AddrPort
	via  member.ID // who handed it over: the member itself where the relay carried it
}

// reply sends a datagram of our own back to where something came from.
func (p *Paths) reply(q *peer, s source, data []byte) {
	var d link.Datagram
	ok := false
	switch s.kind {
	case Direct:
		d, ok = link.Datagram{Addr: s.addr, Data: data}, true
	case Relay:
		p.toRelay(q, data)
	case Over:
		if hop := p.byID[s.via]; hop != nil && hop.near() {
			d, ok = p.over(hop.current, p.wrap(hop, p.opt.Self, q.id, maxCarriers, data))
		}
	}
	if ok {
		p.out.add(d)
	}
}
