package crimp

import (
	"time"

	"github.com/coeval-dev/coeval/member"
)

// bucket lets so much pass in a second, and half a second's worth at once.
type bucket struct {
	left float64
	at   time.Duration
}

func (b *bucket) fill(now time.Duration, rate float64) { b.left, b.at = rate/2, now }

func (b *bucket) take(now time.Duration, rate, n float64) bool {
	b.left = min(b.left+rate*(now-b.at).Seconds(), rate/2)
	b.at = now
	if b.left < n {
		return false
	}
	b.left -= n
	return true
}

// pacing keeps recovery within bounds, whatever happens: loss mostly means that there
// is too much on the way already.
type pacing struct {
	limits  *Pace
	asks    bucket
	repairs bucket
	bytes   float64 // data that flows in the group, bytes and packets a second
	packets float64
	seen    int
	count   int
	since   time.Duration
	d1, d2  float64 // of repairs by others than the source
	doubles float64 // how many of them were sent twice
}

func (p *pacing) init(limits *Pace) {
	p.limits = limits
	p.d1, p.d2 = 2, 1
	p.asks.fill(0, p.asking())
	p.repairs.fill(0, p.repairing())
}

// saw counts a data packet, ours or another's.
func (p *pacing) saw(bytes int) {
	p.seen += bytes
	p.count++
}

// flow works out how much flows.
func (p *pacing) flow(now time.Duration) {
	span := (now - p.since).Seconds()
	if span < 0.1 {
		return
	}
	weight := min(span, 1)
	p.bytes += (float64(p.seen)/span - p.bytes) * weight
	p.packets += (float64(p.count)/span - p.packets) * weight
	p.seen, p.count, p.since = 0, 0, now
}

func (p *pacing) asking() float64 {
	if p.limits.Requests > 0 {
		return float64(p.limits.Requests)
	}
	return 2000
}

func (p *pacing) repairing() float64 {
	if p.limits.Repairs > 0 {
		return float64(p.limits.Repairs)
	}
	return max(p.bytes/2, 32<<10)
}

// each is how many repairs one member may cause in a second.
func (p *pacing) each() float64 {
	if p.limits.Each > 0 {
		return float64(p.limits.Each)
	}
	return max(p.packets/2, 200)
}

// carrying is how many bytes a second are carried for one member.
func (p *pacing) carrying() float64 {
	if p.limits.Carry > 0 {
		return float64(p.limits.Carry)
	}
	return 1 << 20
}

func (p *pacing) mayAsk(now time.Duration) bool { return p.asks.take(now, p.asking(), 1) }

func (p *pacing) mayRepair(now time.Duration, bytes int) bool {
	return p.repairs.take(now, p.repairing(), float64(bytes))
}

// doubled learns that a packet was repaired twice, single that a repair of ours was
// sent: as in SRM's adaptive timers, doubles make candidates wait longer.
func (p *pacing) doubled() {
	p.doubles += (1 - p.doubles) / 8
	if p.doubles > 0.1 {
		p.d1, p.d2 = min(p.d1+0.1, 6), min(p.d2+0.5, 12)
	}
}

func (p *pacing) single() {
	p.doubles -= p.doubles / 8
	if p.doubles < 0.05 {
		p.d1, p.d2 = max(p.d1-0.05, 1), max(p.d2-0.1, 1)
	}
}

// Quality is how the path from one member does.
type Quality struct {
	Delay  time.Duration // one way, half of the round trip
	Jitter time.Duration // how much it differs from packet to packet
	Queue  time.Duration // how much of it is waiting in queues
	Loss   float64       // share of its packets that do not come as they were sent
	Theirs float64       // share of our packets that it reports lost
	Silent time.Duration // since anything of it came
}

// Quality tells how the path from a member does; false for one that is not known.
func (g *Group) Quality(m member.ID) (Quality, bool) {
	p := g.byID[m]
	if p == nil {
		return Quality{}, false
	}
	return Quality{
		p.delay.oneWay(), p.delay.jitter, p.delay.queue, p.lossRate, float64(p.lossSeen) / 255,
		g.now - p.heard}, true
}

// Congestion is a measure of how much the group suffers from what it sends itself, from 0
// for not at all to 1. It rises with the share of our packets that members lose, and with the
// time that packets wait in queues. A game that sees it above a third or so should
// send less: fewer packets, smaller ones, or to fewer.
func (g *Group) Congestion() float64 {
	var sum, n float64
	for _, p := range g.peers {
		if !p.present {
			continue
		}
		loss := float64(p.lossSeen) / 255
		queue := float64(p.delay.queue) / float64(p.delay.queue+50*time.Millisecond)
		sum += 1 - (1-loss)*(1-queue)
		n++
	}
	if n == 0 {
		return 0
	}
	return sum / n
}
