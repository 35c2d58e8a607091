package netsim

import (
	"cmp"
	"math"
	"time"
)

// Path decides what happens to each datagram in one direction between two
// machines. A [Net] makes one for each pair of endpoints; on its own it serves
// to impair real traffic, as the proxy does.
type Path struct {
	profile Profile
	seed    uint64
	exact   bool                // draw nothing, do only what script lists
	script  map[uint64]decision // by datagram number
	note    func(number uint64, d decision)

	number uint64        // datagrams offered so far
	burst  bool          // in the bad state
	busy   time.Duration // when the last queued datagram will have left
	last   time.Duration // latest arrival that later ones may not overtake
	cuts   int           // how many faults hold the path cut

	stats Stats

	loss, enter, leave, burstLoss, duplicate, reorder, corrupt chance
	holdBack, queueTime                                        time.Duration
}

// Stats counts the fates of the datagrams offered to a path. A datagram counts
// as delivered from the moment it is on its way; if it then meets a cut or nobody
// at its end, it moves there. So at any moment Offered + Duplicated equals
// Delivered + Lost + Overflowed + TooLarge + Cut + Unrouted.
type Stats struct {
	Offered, OfferedBytes     uint64
	Delivered, DeliveredBytes uint64 // copies included
	Duplicated                uint64 // arrived a second time
	HeldBack                  uint64 // let others overtake
	Corrupted                 uint64 // arrived with a bit flipped
	Lost                      uint64 // by Loss or Burst
	Overflowed                uint64 // found the queue full
	TooLarge                  uint64 // larger than MaxDatagram
	Cut                       uint64 // met a partition
	// addressed to nobody, an old address, a machine that is down, or a full inbox
	Unrouted uint64
}

// Add sums statistics over paths.
func (s Stats) Add(t Stats) Stats {
	s.Offered += t.Offered
	s.OfferedBytes += t.OfferedBytes
	s.Delivered += t.Delivered
	s.DeliveredBytes += t.DeliveredBytes
	s.Duplicated += t.Duplicated
	s.HeldBack += t.HeldBack
	s.Corrupted += t.Corrupted
	s.Lost += t.Lost
	s.Overflowed += t.Overflowed
	s.TooLarge += t.TooLarge
	s.Cut += t.Cut
	s.Unrouted += t.Unrouted
	return s
}

// Fate is what becomes of one datagram.
type Fate struct {
	Copies int              // how often it arrives: none, once or twice
	At     [2]time.Duration // when each copy arrives
	Flip   int              // which bit of the first copy is flipped, or -1
}

// decision is what chance, or a script, does to one datagram.
type decision struct {
	drop, copied, held, flipped bool
	delay                       time.Duration // jitter, and HoldBack when held
	copyBy                      time.Duration
	bit                         uint32
}

// NewPath makes a path for traffic of one's own; the same seed and the same
// traffic give the same fates.
func NewPath(p Profile, seed uint64) *Path {
	path := &Path{seed: seed}
	path.SetProfile(p)
	return path
}

// SetProfile changes what the path does from the next datagram on. What waits
// in the queue keeps its place.
func (p *Path) SetProfile(profile Profile) {
	p.profile = profile
	p.loss = chanceOf(profile.Loss)
	p.enter = chanceOf(profile.Burst.Enter)
	p.leave = chanceOf(profile.Burst.Leave)
	p.burstLoss = chanceOf(cmp.Or(profile.Burst.Loss, 1))
	p.duplicate = chanceOf(profile.Duplicate)
	p.reorder = chanceOf(profile.Reorder)
	p.corrupt = chanceOf(profile.Corrupt)
	p.holdBack = cmp.Or(profile.HoldBack, defaultHoldBack)
	p.queueTime = airtime(cmp.Or(profile.Queue, defaultQueue), profile.Rate)
	if p.enter == 0 {
		p.burst = false
	}
}

// Profile returns what the path does now.
func (p *Path) Profile() Profile { return p.profile }

// Stats returns the counts so far.
func (p *Path) Stats() Stats { return p.stats }

// Cut stops all traffic until Heal is called as often as Cut was.
func (p *Path) Cut() { p.cuts++ }

// Heal takes back one Cut.
func (p *Path) Heal() {
	if p.cuts > 0 {
		p.cuts--
	}
}

// Waiting is how long a datagram offered now would queue before it leaves.
func (p *Path) Waiting(now time.Duration) time.Duration { return max(0, p.busy-now) }

// Pass offers a datagram of so many bytes and says what becomes of it.
func (p *Path) Pass(now time.Duration, size int) Fate {
	p.number++
	p.stats.Offered++
	p.stats.OfferedBytes += uint64(size)
	var d decision
	if !p.exact {
		d = p.decide(size)
		if p.note != nil && d != (decision{}) {
			p.note(p.number, d)
		}
	}
	if p.script != nil {
		d = d.and(p.script[p.number])
	}
	return p.carry(now, size, d)
}

// and adds to what chance does what a script does.
func (d decision) and(s decision) decision {
	d.drop = d.drop || s.drop
	d.held = d.held || s.held
	d.delay = later(d.delay, s.delay)
	if s.copied {
		d.copied, d.copyBy = true, s.copyBy
	}
	if s.flipped {
		d.flipped, d.bit = true, s.bit
	}
	return d
}

// decide draws what chance does to the datagram with the current number.
func (p *Path) decide(size int) (d decision) {
	r := drawsFor(p.seed, p.number)
	if p.enter != 0 {
		if p.burst {
			p.burst = !p.leave.hit(r.at(drawBurst))
		} else {
			p.burst = p.enter.hit(r.at(drawBurst))
		}
	}
	loss := p.loss
	if p.burst {
		loss = p.burstLoss
	}
	if loss != 0 && loss.hit(r.at(drawLoss)) {
		return decision{drop: true}
	}
	d.delay = p.profile.Jitter.sample(r, p.number)
	if p.reorder != 0 && p.reorder.hit(r.at(drawReorder)) {
		d.held = true
		d.delay += p.holdBack
	}
	if p.duplicate != 0 && p.duplicate.hit(r.at(drawDuplicate)) {
		d.copied = true
		d.copyBy = time.Duration(below(r.at(drawCopyBy), uint64(copySpread)))
	}
	if p.corrupt != 0 && p.corrupt.hit(r.at(drawCorrupt)) {
		d.flipped = true
		d.bit = uint32(below(r.at(drawBit), max(1, uint64(size)*8)))
	}
	return d
}

// carry applies a decision and all that follows from the traffic itself: size
// limit, partition, queue and order.
func (p *Path) carry(now time.Duration, size int, d decision) Fate {
	none := Fate{Flip: -1}
	switch {
	case p.profile.MaxDatagram > 0 && size > p.profile.MaxDatagram:
		p.stats.TooLarge++
		return none
	case p.cuts > 0:
		p.stats.Cut++
		return none
	}
	at := now
	if p.profile.Rate > 0 {
		wait, air := p.Waiting(now), airtime(size+headerBytes, p.profile.Rate)
		// A datagram that finds the line idle is always carried, however small the queue.
		if wait > 0 && wait+air > p.queueTime {
			p.stats.Overflowed++
			return none
		}
		p.busy = later(now, wait+air)
		at = p.busy
	}
	// It is lost on the far side of the queue, as on a radio link: it used up its airtime.
	if d.drop {
		p.stats.Lost++
		return none
	}
	at = later(at, max(0, later(p.profile.Latency, d.delay)))
	if d.held {
		p.stats.HeldBack++
	} else {
		at = max(at, p.last)
		p.last = at
	}
	fate := Fate{Copies: 1, Flip: -1}
	fate.At[0] = at
	if d.flipped && size > 0 {
		p.stats.Corrupted++
		fate.Flip = int(uint64(d.bit) % (uint64(size) * 8))
	}
	if d.copied {
		p.stats.Duplicated++
		fate.Copies = 2
		fate.At[1] = later(at, max(0, d.copyBy))
	}
	p.stats.Delivered += uint64(fate.Copies)
	p.stats.DeliveredBytes += uint64(fate.Copies * size)
	return fate
}

// later adds durations and stays at the end of time instead of wrapping round.
func later(a, b time.Duration) time.Duration {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
