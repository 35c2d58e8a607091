package paths

import (
	"time"

	"github.com/coeval-dev/coeval/link"
)

// wanted reports whether a path is asked at all. Direct ones always are, so that they are there
// when needed. Those over others are asked while they are used or while nothing else is good.
func (p *Paths) wanted(x *path) bool {
	q := x.peer
	if x.kind == Direct {
		return true
	}
	if _, ok := p.rank(x); !ok {
		return false
	}
	return x == q.current || q.silent || q.current == nil || !q.current.good()
}

// askAgain asks by a path whose turn it is. One that has not answered a few times is doubted; later
// if datagrams keep coming, since then the member would tell us if it heard nothing.
func (p *Paths) askAgain(x *path) {
	q := x.peer
	trusted := !x.doubted && (x.kind != Direct || x.good())
	most := doubtAfter
	if x.good() && x == q.current && p.now-q.data < p.opt.Silence {
		most = doubtLate
	}
	if x.tries >= most && trusted {
		p.doubt(x)
	}
	p.ask(x)
}

// ask sends an ask by a path.
func (p *Paths) ask(x *path) {
	q := x.peer
	if !p.budget.take(p.now, p.opt.ProbeRate, ProbeSize+headers) {
		p.stats.Withheld++
		x.next = p.now + askSoon/4
		return
	}
	p.number++
	h := head{kind: kindProbe, from: p.opt.Self, to: q.id, number: p.number}
	if q.silent {
		h.second = flagDeaf
	}
	x.asks[x.turn%len(x.asks)] = ask{h.number, p.now}
	x.turn++
	x.tries++
	p.stats.Asks++
	if d, ok := p.over(x, p.probe(q, h)); ok {
		p.out.add(d)
	}
	wait := pace(x.tries)
	if x.good() {
		wait = max(askSoon, 2*x.trip)
	}
	// A little more or less each time, so that two machines do not keep meeting in one router's
	// bad moment.
	wait += time.Duration(float64(wait) * (p.random.Unit() - 0.5) / 5)
	x.next = p.now + wait
}

// probe makes a probe, in memory that lasts until the call after the next.
func (p *Paths) probe(q *peer, h head) []byte {
	m := &p.out.memory[p.out.turn]
	first := len(*m)
	*m = q.prove(h.append(*m), first, nil)
	p.stats.ProbeBytes += ProbeSize
	return (*m)[first:len(*m):len(*m)]
}

// take handles a datagram of ours. It returns true for one that carried one for a connection.
func (p *Paths) take(b []byte, s source, waited time.Duration) (link.Datagram, bool) {
	h, ok := readHead(b)
	if !ok {
		p.stats.Malformed++
		return link.Datagram{}, false
	}
	q := p.byID[h.from]
	if q == nil || h.to != p.opt.Self || s.kind == Relay && s.via != h.from {
		p.stats.Strangers++
		return link.Datagram{}, false
	}
	at := probeProof
	if h.kind == kindCarry {
		at = carryProof
	}
	if !q.proven(b, at) {
		p.stats.Forged++
		return link.Datagram{}, false
	}
	if h.kind == kindProbe && h.second&flagAnswer != 0 {
		p.takeAnswer(q, h, s, waited)
		return link.Datagram{}, false
	}
	if !q.window.take(h.number) {
		p.stats.Replayed++
		return link.Datagram{}, false
	}
	if h.kind == kindCarry {
		return p.takeCarry(q, h, b)
	}
	p.takeAsk(q, h, s)
	return link.Datagram{}, false
}

// takeAsk answers an ask to where it came from, which is then a path to try.
func (p *Paths) takeAsk(q *peer, h head, s source) {
	x := p.learn(q, s)
	if !q.known {
		for _, x := range q.paths {
			x.tries, x.next = 0, p.now // it has just begun: now both can open their routers
		}
	}
	p.hear(q)
	if p.out.full() {
		p.stats.Withheld++
		return
	}
	p.stats.Answers++
	p.reply(q, s, p.probe(q, head{kind: kindProbe, second: flagAnswer, from: p.opt.Self, to: q.id,
		number: h.number}))
	if x != nil {
		x.heard = p.now
		p.mark(x)
		if last := x.asks[(x.turn+len(x.asks)-1)%len(x.asks)]; !x.good() &&
			(x.tries == 0 || p.now-last.at >= askSoon) {
			x.next = p.now
		}
	}
	if h.second&flagDeaf != 0 {
		p.deaf(q)
	}
}

// takeAnswer proves the path by which the ask went and the answer came.
func (p *Paths) takeAnswer(q *peer, h head, s source, waited time.Duration) {
	for _, x := range q.paths {
		for _, a := range x.asks {
			if a.number != h.number {
				continue
			}
			if !x.is(s) {
				p.stats.Astray++
				return
			}
			p.hear(q)
			p.answered(x, p.now-waited-a.at)
			return
		}
	}
	p.stats.Replayed++ // or so late that the ask is forgotten
}
