package mirror

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/world"
)

// This file is how a group of mirrors hands its game to another group, such as one of a newer
// build. It halts: nothing counts after an agreed tick. Whoever wants the game fetches the world of
// that tick. Then the group either cedes the game, and ends, or goes on with it. Which of the two
// is decided by the überserver alone, in the order of all that it decides, so that there is one
// answer whoever dies; and it counts once every mirror has it.

// A halt is how far that is.
type halt struct {
	at    world.Tick    // the last tick that counts, or 0
	until time.Duration // steady: when the überserver has the game go on, if nobody takes it
	ceded world.Tick    // the tick of the decision to cede, or 0
	to    []netip.AddrPort
	marks bool          // that it was ceded cannot be forgotten here any more
	told  bool          // players were sent to the others
	since time.Duration // steady: when
}

// over says that the game is another group's, as far as this mirror has heard.
func (h *halt) over() bool { return h.ceded != 0 }

// last is the last tick that counts, of a world that began at a tick of the group.
func (h *halt) last(base world.Tick) world.Tick { return max(h.at, base) - base }

// closed says whether nothing counts for a tick any more.
func (h *halt) closed(t world.Tick) bool { return h.at != 0 && t > h.at }

// What an item says of a halt.
const (
	haltAsk     byte = iota + 1 // somebody wants the group to halt
	haltAt                      // the überserver says after which tick
	haltOnAsk                   // somebody wants it to go on
	haltOn                      // the überserver says that it does
	haltCedeAsk                 // somebody has the world, and wants the game
	haltCede                    // the überserver gives it away
	haltKinds
)

const (
	// haltAhead is how far ahead the agreed tick is: time for all mirrors to hear of it, so that
	// none shows a later one.
	haltAhead = 250 * time.Millisecond
	// For how long a group may stand still for another to take its game.
	leastHalt = 100 * time.Millisecond
	mostHalt  = 30 * time.Second
	// farewells is how long a mirror is there after it has left, and cedesAtLeast how long before
	// that: so that all others hear that it knows.
	farewells, cedesAtLeast = time.Second, time.Second
	// maxServers bounds where players are sent, as text.
	maxServers = 1 << 10
)

// ErrCeded says that the game is another group's now. Use errors.Is.
var ErrCeded = errors.New("mirror: another group has taken over the game")

// ErrCannotHalt says that mirrors with this timeline cannot hand their game over while it is
// played. Use errors.Is.
var ErrCannotHalt = errors.New("mirrors with this timeline cannot hand their game over while it " +
	"is played: stop them, and start the new ones with a folder that they have kept it in")

// Halt asks that the group halts at an agreed tick, for so long at most: if nobody takes the game
// by then it goes on. Ask again until Halting says that it does; it makes no difference how often.
func (m *Mirror) Halt(limit time.Duration) error {
	if err := m.canHalt(); err != nil {
		return err
	}
	limit = min(max(limit, leastHalt), mostHalt)
	switch {
	case m.pause.on():
		return ErrPaused
	case m.halt.at == 0: // not while a level comes to its end, which is over soon
		m.queue(item{kind: itemHalt, what: haltAsk, load: uint32(limit / time.Millisecond)})
	}
	return nil
}

// GoOn asks that a group that halts goes on.
func (m *Mirror) GoOn() {
	if m.halt.at != 0 && !m.halt.over() {
		m.queue(item{kind: itemHalt, what: haltOnAsk})
	}
}

// Cede asks that a group that halts after a tick gives its game away, and sends its players to
// servers of the group that has it. Ask again until Halting says what came of it. If the group has
// gone on since, or halts after another tick, nothing is done: the world of whoever asks is old.
func (m *Mirror) Cede(t world.Tick, to []netip.AddrPort) error {
	if err := m.canHalt(); err != nil {
		return err
	}
	list := make([]string, len(to))
	for i, a := range to {
		list[i] = a.String()
	}
	text := strings.Join(list, ",")
	if len(to) == 0 || len(text) > maxServers {
		return fmt.Errorf("mirror: %d servers to send players to: name one, and not more than fit "+
			"into %d bytes", len(to), maxServers)
	}
	t += m.levels.base
	if m.halt.at == t && !m.halt.over() {
		m.queue(item{kind: itemHalt, what: haltCedeAsk, tick: t, text: text})
	}
	return nil
}

func (m *Mirror) canHalt() error {
	switch {
	case !m.goesOn() || m.life.phase != Serving && !m.halt.over():
		return errIdle
	case m.line.Waits() || m.ruled.line != nil || !kinds.HasWindow(m.opt.Timeline):
		return fmt.Errorf("mirror: %s: %w", m.opt.Timeline, ErrCannotHalt)
	}
	return nil
}

// Halting says how far a group is with giving its game away.
type Halting struct {
	// Tick is the last of the world that counts, or 0 if the group does not halt.
	Tick world.Tick
	// Final says that all mirrors hold everything up to there, so that Final gives the world.
	Final bool
	// Ceded says that the game is the other group's, whatever happens to the mirrors of this one,
	// and To where players reach that group: once it is decided, which is before that.
	Ceded bool
	To    []netip.AddrPort
	// Still is for how long the world has stood still at Tick, by the group's time.
	Still time.Duration
}

// Halting says how far this group is with giving its game away.
func (m *Mirror) Halting() Halting {
	h := &m.halt
	if h.at == 0 || !m.goesOn() || m.levels.next != 0 { // it halts in a level that is to begin here
		return Halting{}
	}
	return Halting{Tick: h.last(m.levels.base), Final: m.settle.bound() >= h.at,
		Ceded: h.over() && h.marks && m.settle.held >= h.ceded, To: slices.Clone(h.to),
		Still: max(m.clock.now()-m.pause.shift-timeline.NewClock(m.line.Settled()).Time(h.at), 0)}
}

// Final is the game as it is after the last tick that counts, once Halting says so.
func (m *Mirror) Final() (*keep.Snapshot, error) {
	h := m.Halting()
	if !h.Final {
		return nil, errors.New("mirror: the group does not halt, or not all of it is known yet")
	}
	// With all that counts in its book, a timeline that was never late computes what all settle.
	o := kinds.Options{Delays: kinds.Delays{Delays: timeline.Delays{Window: m.game.TickLength()}}}
	o.Ahead = m.opt.window() + m.slack() + mostHalt
	o.HashEvery = -1
	for c := range m.line.Pending {
		if c.Tick -= m.levels.base; c.Tick <= h.Tick {
			c.Image, c.Data = append([]int32(nil), c.Image...), append([]byte(nil), c.Data...)
			o.Pending = append(o.Pending, c)
		}
	}
	line, err := kinds.Open("timewarp", m.line.Settled(), o)
	if err == nil {
		err = line.Advance(timeline.NewClock(m.line.Settled()).Time(h.Tick))
	}
	if err != nil {
		return nil, fmt.Errorf("mirror: the last world: %w", err)
	}
	w := line.Leading()
	if w.Tick() != h.Tick {
		return nil, fmt.Errorf("mirror: the last world is of tick %d, want %d", w.Tick(), h.Tick)
	}
	return m.snapshot(w), nil
}

// Present is the settled game, for whoever wants to try whether it could take it.
func (m *Mirror) Present() (*keep.Snapshot, error) {
	if !m.goesOn() {
		return nil, errIdle
	}
	return m.snapshot(m.line.Settled()), nil
}

// snapshot is the game as it is with a world.
func (m *Mirror) snapshot(w *world.World) *keep.Snapshot {
	m.keeping.version = 0 // who sits there is found for this tick, and again for what is settled
	s := &keep.Snapshot{World: w.Host().Clone(), Level: m.show.level, Base: m.levels.base}
	s.Seats = append(s.Seats, m.seatsAt(m.at(w))...)
	m.keeping.version = 0
	return s
}

// worldTime is the group's time as the world goes by it: without what was paused, and ending with
// the last tick that counts, or the last of the level.
func (m *Mirror) worldTime() time.Duration {
	c := timeline.NewClock(m.line.Settled())
	now := m.pause.now(m.clock.now(), c)
	if m.halt.at != 0 {
		now = min(now, c.Time(m.halt.at))
	}
	if m.levels.next != 0 {
		now = min(now, c.Time(m.levels.next))
	}
	return now
}

// hearHalt takes what is said of a halt, by another mirror or this one.
func (m *Mirror) hearHalt(from member.ID, it *item) {
	h := &m.halt
	switch it.what {
	case haltAsk:
		if m.leads() && h.at == 0 && !m.pause.on() && m.levels.next == 0 {
			m.decideHalt(haltAt, m.decidable()+m.ticks(haltAhead), it.load, "")
		}
	case haltOnAsk:
		if m.leads() && h.at != 0 && !h.over() {
			m.decideHalt(haltOn, m.decidable(), 0, "")
		}
	case haltCedeAsk:
		if m.leads() && h.at != 0 && h.at == it.tick && !h.over() && m.clock.steady < h.until {
			m.decideHalt(haltCede, m.decidable(), 0, it.text)
		}
	default:
		if m.believes(from, it, "it halts the group and is not überserver") {
			m.decidedHalt(it)
		}
	}
}

// decideHalt is the überserver's word.
func (m *Mirror) decideHalt(what byte, t world.Tick, limit uint32, text string) {
	m.queue(item{kind: itemHalt, what: what, tick: t, epoch: m.roll.epoch, load: limit, text: text})
}

// decidedHalt does what the überserver says. All mirrors hear all that überservers say in one
// order, so what makes no sense by what was said before makes none anywhere.
func (m *Mirror) decidedHalt(it *item) {
	h := &m.halt
	switch {
	case it.what == haltAt && h.at == 0:
		limit := min(max(time.Duration(it.load)*time.Millisecond, leastHalt), mostHalt)
		*h = halt{at: it.tick, until: m.clock.steady + haltAhead + limit}
		m.tell(News{Kind: Halts, Tick: it.tick})
	case it.what == haltOn && h.at != 0 && !h.over():
		at := h.at
		*h = halt{}
		m.tell(News{Kind: GoesOn, Tick: at})
	case it.what == haltCede && h.at != 0 && !h.over():
		h.ceded = it.tick
		for _, s := range strings.Split(it.text, ",") {
			if a, err := netip.ParseAddrPort(s); err == nil {
				h.to = append(h.to, a)
			}
		}
	}
}

// halts does what is due while the group halts. The error is the end: whoever knows that all others
// know needs nobody's leave to go.
func (m *Mirror) halts() error {
	h := &m.halt
	switch {
	case h.at == 0:
	case h.told && m.clock.steady >= m.life.leaveBy+farewells:
		return m.end(fmt.Errorf("%w: %w", ErrEnded, ErrCeded))
	case h.over():
		if !h.marks {
			h.marks = m.opt.Handover.Ceded == nil ||
				m.opt.Handover.Ceded(h.last(m.levels.base), h.to)
		}
		if !h.told && m.Halting().Ceded {
			h.told, h.since = true, m.clock.steady
			m.tell(News{Kind: Ceded, Tick: h.at, Text: fmt.Sprint(h.to)})
			m.cedePlayers()
		}
	case m.leads() && m.clock.steady >= h.until:
		m.decideHalt(haltOn, m.decidable(), 0, "")
	}
	return nil
}

// cedePlayers sends everyone to the group that has the game, and has this mirror leave.
func (m *Mirror) cedePlayers() {
	if m.life.leaveBy == 0 {
		m.life.leaveBy = m.clock.steady + m.opt.LeaveTime
	}
	if m.show.server != nil {
		m.show.server.Drain(m.halt.to...)
	}
}

// vouches is up to which tick this mirror may say that it holds everything: not beyond a decision
// to give the game away that it could still forget.
func (h *halt) vouches(t world.Tick) world.Tick {
	if h.over() && !h.marks {
		return min(t, h.ceded-1)
	}
	return t
}
