package reckon

import (
	"time"

	"github.com/coeval-dev/coeval/det"
)

// Course is how a body will move, as a sender tells it once and receivers work out from then on: a
// predictive contract. After gives the body some seconds after it was told, with velocity and
// acceleration in the axes of the world. Flight, Route, Arc and Wing are courses; a title may have
// its own.
type Course interface {
	After(seconds float64) Body
}

// Rules are what senders of bodies keep to.
type Rules struct {
	Bounds Bounds
	Beats  Beats

	// Release is the part of the bounds within which what is shown must be again before an update,
	// once due, is due no longer. The zero value means a half. Where Tell is called at once it
	// does not matter.
	Release float64

	// Slow is the speed in metres a second, and in radians a second, up to which a body counts as
	// standing still.
	Slow float64
}

// Pledge is what a sender has promised about one body: that receivers, who reckon by the course it
// told, are never further off than the rules allow without an update being due. The zero value has
// told nothing.
type Pledge[C Course] struct {
	// Seed spreads the beats of bodies that began together; the body's number will do.
	Seed uint64

	told    C
	at      time.Duration
	beat    time.Duration // when the next is due; zero if never
	number  uint64
	any     bool
	overdue bool
}

// Check says whether an update is due at a time, where truth is the body as it is. Call Tell with a
// new course if one then goes out.
func (p *Pledge[C]) Check(r *Rules, now time.Duration, truth *Body) Reason {
	if !p.any {
		return Unsent
	}
	part := 1.0
	if p.overdue {
		part = 0.5
		if r.Release > 0 {
			part = min(r.Release, 1)
		}
	}
	shown := p.At(now)
	p.overdue = !r.Bounds.within(part, truth, &shown)
	switch {
	case p.overdue:
		return Drifted
	case p.beat > 0 && now >= p.beat:
		return Heartbeat
	}
	return Kept
}

// Tell notes that receivers were told a course at a time.
func (p *Pledge[C]) Tell(r *Rules, now time.Duration, course C) {
	p.told, p.at, p.any, p.overdue = course, now, true, false
	p.number++
	p.beat = 0
	b := course.After(0)
	still := b.Vel.Len() <= r.Slow && b.Spin.Len() <= r.Slow
	if next := r.Beats.Next(still, p.Seed, p.number); next > 0 {
		p.beat = now + next
	}
}

// At is the body as receivers reckon it at a time. Before anything was told it is none.
func (p *Pledge[C]) At(now time.Duration) Body {
	if !p.any {
		return Body{Facing: det.Identity}
	}
	return p.told.After((now - p.at).Seconds())
}
