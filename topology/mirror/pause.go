package mirror

import (
	"errors"
	"math"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// This file is how all mirrors let the world stand still, and go on. What counts does not depend on
// it: commands are for ticks, and which ticks there are does not change. Only when a tick is due
// does. The group's time goes on, so that clocks are kept with each other; the world's time is that
// less what was paused, and ends with a tick while it stands still. A mirror that hears of a pause
// late is a few ticks further than the others, and the others reach those when it is over. Nothing
// is settled that is not promised, and nobody promises ticks that are not due.

// A pause is what the group has agreed on.
type pause struct {
	at    world.Tick    // the world stands still after this tick, or 0
	shift time.Duration // for how long it has stood still in all
	// changes is how often it was decided to stand still or to go on. Whoever asks says how many
	// they know of, so that what was asked before somebody else decided comes to nothing.
	changes uint32
	why     string // of the last of them

	passed time.Duration // the world's time, which does not go back
}

// What an item says of a pause.
const (
	pauseAsk   byte = iota + 1 // somebody wants the world to stand still
	pauseAt                    // the überserver says after which tick
	resumeAsk                  // somebody wants it to go on
	resumeFrom                 // the überserver says from when on
	pauseKinds
)

// maxShift bounds for how long a world may have stood still, so that times do not overflow.
const maxShift = 30 * 365 * 24 * time.Hour

// ErrHalts says that a group cannot pause while it halts for another one. ErrPaused says that it
// cannot halt while it is paused. Use errors.Is.
var (
	ErrHalts = errors.New("mirror: the group stands still for another that wants its game; try " +
		"again when that is over")
	ErrPaused = errors.New("mirror: the game is paused: resume it first")
)

// SetPaused asks that the world stands still on all mirrors after an agreed tick, or goes on. It
// goes on where it stood: what was paused is not caught up with. Ask again until Paused says that
// it is so; it makes no difference how often. The text says who wants it or why, and is shown to
// players.
func (m *Mirror) SetPaused(on bool, why string) error {
	switch {
	case !m.goesOn() || m.life.phase != Serving:
		return errIdle
	case m.halt.at != 0:
		return ErrHalts
	case m.pause.on() == on:
		return nil
	}
	it := item{kind: itemPause, what: resumeAsk, load: m.pause.changes}
	it.text = wire.Clip(why, maxText)
	if on {
		it.what = pauseAsk
	}
	m.queue(it)
	return nil
}

// Paused says whether the world stands still here as somebody has paused it, or is about to.
func (m *Mirror) Paused() bool { return m.goesOn() && m.pause.on() }

// on says whether it is decided that the world stands still.
func (p *pause) on() bool { return p.at != 0 }

// now is the world's time by that of the group: less what was paused, and no later than the tick
// after which it stands still.
func (p *pause) now(group time.Duration, c timeline.Clock) time.Duration {
	now := group - p.shift
	if p.on() {
		now = min(now, c.Time(p.at))
	}
	p.passed = max(p.passed, now)
	return p.passed
}

// hearPause takes what is said of a pause, by another mirror or this one. While the group halts,
// which ticks are promised goes by the group's time, so the two exclude each other.
func (m *Mirror) hearPause(from member.ID, it *item) {
	p := &m.pause
	switch {
	case it.decides():
		if m.believes(from, it, "it pauses the world and is not überserver") {
			m.decidedPause(it)
		}
	case !m.leads() || it.load != p.changes || m.halt.at != 0 || m.levels.next != 0:
	case it.what == pauseAsk && !p.on():
		m.queue(item{kind: itemPause, what: pauseAt, epoch: m.roll.epoch, text: it.text,
			tick: m.decidable() + m.ticks(haltAhead)})
	case it.what == resumeAsk && p.on():
		// The tick after which it stood still is due again a little later, everywhere at once.
		shift := m.clock.now() + haltAhead - timeline.NewClock(m.line.Settled()).Time(p.at)
		m.queue(item{kind: itemPause, what: resumeFrom, epoch: m.roll.epoch, text: it.text,
			tick: m.decidable(), shift: max(shift, p.shift).Truncate(time.Microsecond)})
	}
}

// decidedPause does what the überserver says. All mirrors hear all that überservers say in one
// order.
func (m *Mirror) decidedPause(it *item) {
	p := &m.pause
	switch {
	case it.what == pauseAt && !p.on():
		p.at = it.tick
	case it.what == resumeFrom && p.on():
		p.at, p.shift = 0, it.shift
	default:
		return
	}
	p.changes++
	p.why = it.text
}

// pauses tells clients that the world stands still, when it does, or that it goes on.
func (m *Mirror) pauses() {
	p, now := &m.pause, m.worldTime()
	still := m.clock.now()-p.shift < now // it is to go on in a moment
	if p.on() {
		still = now >= timeline.NewClock(m.line.Settled()).Time(p.at)
	}
	if s := m.show.server; s == nil || s.Paused() == still {
		return
	}
	d := server.Decision{Kind: server.Resume, Text: p.why}
	if still {
		d.Kind = server.Pause
	}
	m.decides(d)
}

// fields reads or writes what a newcomer has to know of it.
func (p *pause) fields(c *bits.Cursor) {
	tick(c, &p.at)
	span(c, &p.shift)
	c.U32(&p.changes)
	text(c, &p.why, maxText)
}

// span reads or writes for how long a world has stood still.
func span(c *bits.Cursor, d *time.Duration) {
	micros(c, d)
	c.Check(*d <= maxShift)
}

// pause is what an item says of a pause.
func (it *item) pause(c *bits.Cursor, promise world.Tick) {
	c.U8(&it.what)
	c.Check(it.what > 0 && it.what < pauseKinds)
	if it.decides() {
		after(c, promise, &it.tick)
		c.U32(&it.epoch)
	} else {
		bits.Number(c, &it.load, math.MaxUint32)
	}
	if it.what == resumeFrom {
		span(c, &it.shift)
	}
	text(c, &it.text, maxText)
}
