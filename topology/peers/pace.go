package peers

import (
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

const second = time.Second

// pace is when this peer computes a tick and when it sends. Nobody's clock is the right one: each
// goes a little slower while it is ahead of the others, by as much as they say that they are
// behind.
type pace struct {
	style  Style
	due    time.Duration // when the next tick is
	begun  bool
	late   bool          // it is, because something is missing
	since  time.Duration // since when
	every  time.Duration
	sendAt time.Duration
	spoke  bool // in this poll
	delay  int  // of our commands, in ticks
	chosen bool // the delay was, by what was measured
	setAt  time.Duration
	lead   float64 // by how many ticks we are ahead of the others, smoothed
	w      bits.Writer
	buf    []byte
}

func (c *pace) sent(now time.Duration) {
	c.sendAt += c.every
	if c.sendAt < now {
		c.sendAt = now + c.every
	}
}

// play computes the ticks that are due.
func (p *Peer) play() error {
	if p.copy == nil {
		return nil
	}
	p.pace.every = second / time.Duration(p.opt.Packets)
	if p.match.Doom {
		p.pace.every = p.game.TickLength()
	}
	if p.phase < Playing {
		return p.follow()
	}
	length := p.game.TickLength()
	if !p.pace.begun {
		if p.charter.playing() < p.match.Start && p.copy.Shown() == 0 {
			return nil
		}
		p.pace.begun, p.pace.due = true, p.now
	}
	p.adapt()
	for n := 0; p.now >= p.pace.due && n < 8; n++ {
		went, err := p.tick()
		if err != nil || !went {
			return err
		}
		p.pace.due += time.Duration(float64(length) * p.slack())
		// Time that is lost is given up, but for as much as all who have waited catch up with.
		p.pace.due = max(p.pace.due, p.now-4*length)
	}
	return nil
}

// tick stamps a command and shows one tick more, unless something is missing.
func (p *Peer) tick() (bool, error) {
	if err := p.stamp(); err != nil {
		return false, err
	}
	if err := p.mend(); err != nil {
		return false, err
	}
	p.settle()
	went, err := p.copy.Advance()
	if err != nil {
		return false, err
	}
	if went {
		if p.pace.late {
			p.stats.Waited += p.now - p.pace.since
			p.pace.late = false
		}
		return true, nil
	}
	if !p.pace.late {
		p.pace.late, p.pace.since = true, p.now
		p.stats.Waits++
	}
	return false, nil
}

// mend computes again what was guessed wrong. If that is not possible, what is here is not what
// the others have, and is asked for.
func (p *Peer) mend() error {
	err := p.copy.Repair()
	if err == nil {
		return nil
	}
	p.tell(News{Kind: Differs, Err: err})
	p.marks.wrong = true
	return nil
}

// stamp makes the commands that are due: one, or more after the delay has grown.
func (p *Peer) stamp() error {
	target := p.copy.Shown() + 1 + world.Tick(p.pace.delay)
	own := p.stream(p.self)
	for first := true; p.own.next <= target; first = false {
		in := p.own.in
		in.Reset()
		if first && p.opt.Input != nil {
			p.opt.Input(p.copy.World(), p.own.player, p.own.next, in)
		}
		if !first || !in.Image(p.own.player, p.image) {
			copy(p.image, p.own.last)
			p.coder.Repeat(p.image)
		}
		item, err := p.coder.Append(p.own.item[:0], p.own.last, p.image)
		if err != nil {
			return err
		}
		p.own.item = item
		copy(p.own.last, p.image)
		if _, err := own.Put(uint64(p.own.next), item); err != nil {
			return err
		}
		p.copy.Learn(p.own.next)
		p.own.next++
	}
	return nil
}

// adapt chooses the delay of our commands, a few times a second.
func (p *Peer) adapt() {
	c := &p.pace
	if c.style.Delay >= 0 {
		c.delay = c.style.Delay
		return
	}
	if p.now < c.setAt {
		return
	}
	c.setAt = p.now + second/4
	worst := time.Duration(0)
	for _, q := range p.pairs {
		if q.open() && p.charter.span(q.id) != nil {
			worst = max(worst, p.way(q))
		}
	}
	want := int((worst+p.game.TickLength()-1)/p.game.TickLength()) - c.style.Depth
	want = min(max(want, 0), MaxDelay)
	switch {
	case want > c.delay && !c.chosen:
		c.delay = want
	case want > c.delay:
		c.delay++
	case want < c.delay-1:
		c.delay--
	}
	c.chosen = c.chosen || worst > 0
}

// way is how long a command takes to another. Where all commit first that is there and back with
// what commits to it, and there once more. Each time it waits for the next packet, of which the
// round trip knows one; and where packets are further apart than ticks, it counts that one of them
// may be lost.
func (p *Peer) way(q *pair) time.Duration {
	u := q.conn.Quality()
	more := max(p.pace.every-p.game.TickLength(), 0)
	way := u.RoundTrip/2 + 2*u.Jitter + p.pace.every + more
	if p.match.Commit {
		way += u.RoundTrip + 2*more
		if len(p.pairs) > 1 {
			way += p.game.TickLength() // the last of several to commit is later than one
		}
	}
	if u.LossOut > 0.01 {
		way += p.pace.every * time.Duration(spares(q.conn)-2)
	}
	return way
}

// ahead is by how many ticks what is shown here is ahead of what another was heard to show.
func (p *Peer) ahead(q *pair) int {
	if !q.said {
		return 0
	}
	passed := float64(p.now-q.shownA) / float64(p.game.TickLength())
	return int(min(max(float64(p.copy.Shown())-float64(q.shown)-passed, -100), 100))
}

// slack is how long a tick lasts, as a share of its length: more than one for who is ahead. What
// counts is the difference between by how much each of two sees itself ahead: how long packets
// take is in both.
func (p *Peer) slack() float64 {
	sum, n := 0.0, 0
	for _, q := range p.pairs {
		if q.open() && q.said && q.aheadN && p.charter.span(q.id) != nil {
			sum += float64(p.ahead(q)-q.ahead) / 2
			n++
		}
	}
	if n == 0 {
		return 1
	}
	p.pace.lead += (sum/float64(n) - p.pace.lead) / 16
	return 1 + min(max(p.pace.lead*0.02, -0.04), 0.04)
}

// follow computes ticks for one who does not play: as many as are known, but for those that it
// wants to be behind.
func (p *Peer) follow() error {
	length := p.game.TickLength()
	if !p.pace.begun {
		p.pace.begun, p.pace.due = true, p.now
	}
	if err := p.mend(); err != nil {
		return err
	}
	p.settle()
	behind := world.Tick(0)
	if p.opt.Watch {
		behind = world.Tick(p.opt.Behind / length)
	}
	p.copy.SetDepth(0)
	for n := 0; n < catchUp; n++ {
		gap := int64(p.held()) - int64(p.copy.Shown()) - int64(behind)
		if gap <= 0 || gap <= followGap && p.now < p.pace.due {
			break
		}
		went, err := p.copy.Advance()
		if err != nil {
			return err
		}
		if !went {
			break
		}
		p.pace.due = max(p.pace.due+length, p.now)
	}
	if p.council == nil {
		p.copy.Settle(min(p.copy.Known(), p.door.settled))
	}
	return nil
}

const (
	catchUp   = 16 // ticks in a poll
	followGap = 6  // ticks that may wait before it hurries
)

// SetStyle changes how this peer deals with commands that are not there yet, from now on.
func (p *Peer) SetStyle(s Style) error {
	if err := s.check(); err != nil {
		return err
	}
	p.pace.style = s
	if p.copy != nil {
		p.copy.SetDepth(s.Depth)
	}
	return nil
}
