package timeline

import (
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// A past is the leading world as it was after each of its last ticks, to go back to when commands
// were late. Copies trail the leading world to prove it right or wrong; a past only saves the time
// until one of them gets there, for as far back as it reaches.
type past struct {
	kept  []moment   // a ring by tick; empty where the leading world never goes back
	sum   int        // bytes of them all
	dirty world.Tick // the first tick that has to be computed again, or 0
}

// A moment is the leading world after a tick, and what came too late to be in its place even so,
// and was executed at the next tick.
type moment struct {
	w    *world.World
	size int
	late Overdue
}

// mostBack bounds how far the leading world goes back, and with it what one tick can cost.
const mostBack = 64

// room is how many ticks a duration reaches back.
func (o *TrailingOptions) room(c Clock) (int, error) {
	if o.Back < 0 || o.Back > time.Hour {
		return 0, fmt.Errorf("timeline: the leading world goes back by %v; give 0 or more", o.Back)
	}
	return min(c.Ticks(o.Back), mostBack), nil
}

func newPast(start *world.World, ticks int) past {
	if ticks == 0 {
		return past{}
	}
	p := past{kept: make([]moment, ticks+1)}
	for i := range p.kept {
		p.kept[i].w, p.kept[i].size = start.Host().Clone(), start.Host().Size()
		p.sum += p.kept[i].size
	}
	return p
}

// at is where the moment after a tick is kept, or will be.
func (p *past) at(n world.Tick) *moment { return &p.kept[int(n%world.Tick(len(p.kept)))] }

// reaches says that the leading world, which is at a tick and has gone on from another, can be
// taken back to before a third.
func (p *past) reaches(s *trail, n world.Tick) bool {
	return n > s.since && n <= s.w.Tick() && p.has(n-1)
}

// has says that the moment after a tick is kept.
func (p *past) has(n world.Tick) bool { return len(p.kept) > 0 && p.at(n).w.Tick() == n }

// spoil says that a tick has to be computed again.
func (p *past) spoil(n world.Tick) {
	if p.dirty == 0 || n < p.dirty {
		p.dirty = n
	}
}

// remember keeps the leading world as it is after a tick.
func (t *Trailing) remember() {
	if len(t.past.kept) == 0 {
		return
	}
	m := t.past.at(t.Leading().Tick())
	t.Copy(m.w, t.Leading())
	m.late.Reset()
	t.past.sum -= m.size
	m.size = m.w.Host().Size()
	t.past.sum += m.size
}

// belated notes a command that came late for the leading world. Where the past reaches, the world
// will go back to the command's own tick, once for all that came since the last tick; a command
// that was guessed right changes nothing. It says whether that is all there is to do.
func (t *Trailing) belated(c *Command, image []int32) bool {
	lead := t.trails[0]
	if !t.past.reaches(lead, c.Tick) {
		return false
	}
	if !lead.foresaw(c, image, t.asks) {
		t.Counts.Spoiled++
		t.past.spoil(c.Tick)
	}
	return true
}

// back takes the leading world back to before the first tick that was told something else than the
// book says now, and computes it again up to where it was.
func (t *Trailing) back() {
	p, lead := &t.past, t.trails[0]
	if p.dirty == 0 {
		return
	}
	n, goal := p.dirty-1, lead.w.Tick()
	p.dirty = 0
	t.Counts.Returns++
	t.Counts.Returned += int(goal - n)
	t.before.copyFrom(lead.history.slot(goal))
	for k := n; k < goal; k++ {
		if m := p.at(k); !m.late.Empty() {
			lead.late.addAll(&m.late)
		}
	}
	t.Copy(lead.w, p.at(n).w)
	lead.backTo(n)
	for t.Err == nil && lead.w.Tick() < goal {
		t.execute(0)
	}
	t.watch.jump(&t.before, lead.history.slot(goal), &t.Counts)
}

// foresaw says that the copy guessed a command right that came late, so that nothing is wrong
// unless the game asks World.Repeated.
func (s *trail) foresaw(c *Command, image []int32, asks bool) bool {
	if c.Kind != Give || c.Tick < s.since || asks || c.Shown {
		return false
	}
	r := s.history.At(c.Tick)
	if r == nil || !slices.Equal(r.Command(c.Player), image) {
		return false
	}
	widen(&s.guessFrom, &s.guessLast, c.Tick)
	return true
}

// backTo forgets what is known of ticks after one, which will be computed again.
func (s *trail) backTo(n world.Tick) {
	shorten(&s.from, &s.last, n)
	shorten(&s.guessFrom, &s.guessLast, n)
}

// shorten takes all ticks after one out of a range.
func shorten(from, last *world.Tick, n world.Tick) {
	if *from > n {
		*from, *last = 0, 0
	}
	*last = min(*last, n)
}
