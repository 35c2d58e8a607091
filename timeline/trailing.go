package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// Trailing is trailing state synchronization, after chapter 3 of Cronin, Filstrup and Kurc, "A
// Distributed Multiplayer Game Server System" (2001). It keeps a few copies of the world, each a
// fixed delay behind the time. The leading one is shown to players and may be wrong. Each of the
// others computes a tick when more of its commands have come, and compares what they did with what
// they did in the copy ahead; where that differs, it is copied over the one ahead, which computes
// the ticks since then again, and so on up to the leading one. The last has waited so long that it
// is right. No past worlds are kept, so memory is one world for each delay, and time is spent on
// copying only when something did go wrong.
//
// What differs from the paper: ticks are executed as a whole, a command that came late is executed
// by the leading world at its next tick only if the player has none there, copies that were told
// the same are not compared, and places can be corrected alone, which the paper proposes.
type Trailing struct {
	Core
	o      TrailingOptions
	trails []*trail // from the leading to the last
	idle   []*trail // to be used again
	in     *world.Inputs
	shown  time.Duration // the leading world's delay, on its way to what it is to be
	size   int           // of histories
	image  []int32
	deltas []int32
	spread *Spread
	past   past // of the leading world
	asks   bool // the game has been found to ask World.Repeated, so that a guess is never right
}

// TrailingOptions say how many copies trail, and when they interfere.
type TrailingOptions struct {
	Options
	// Delays are those of the copies. Default: the leading world waits for nothing, one copy trails
	// it by 100 ms, and the window is 1 s.
	Delays Delays
	// Back is how far the leading world is taken back at once for what came late, to the command's
	// own tick; it costs a copy at every tick, and as many steps a tick as commands are late. What
	// is later than that, or everything where it is 0, is done as in the paper: the leading world
	// executes it next, out of its order, and a copy behind repairs what came of it. At most 64
	// ticks.
	Back time.Duration
	// Everything repairs whatever is different, even if nothing came of it that anyone could see.
	// Then the leading world is exact whenever it was repaired, as with time warp, and more is
	// repaired.
	Everything bool
	// Correct moves things to their right places where only fields with margins differ, rather than
	// to compute the ticks since then again.
	Correct bool
	// Calm is how long the network has to have been in time until hidden differences, too small to
	// be repaired before, are taken away. Default: 500 ms. Below 0, they stay.
	Calm time.Duration
}

// NewTrailing makes a timeline that goes on from a world. The world is copied.
func NewTrailing(start *world.World, o TrailingOptions) (*Trailing, error) {
	if o.Delays.IsZero() {
		o.Delays = Delays{Trails: []time.Duration{100 * time.Millisecond}, Window: time.Second}
	}
	o.Calm = cmp.Or(o.Calm, 500*time.Millisecond)
	if err := o.Delays.check(); err != nil {
		return nil, err
	}
	t := &Trailing{o: o, shown: o.Delays.Lead, spread: new(Spread)}
	slack, err := o.Behind()
	if err != nil {
		return nil, err
	}
	list, window := o.Delays.List(), NewClock(start).Ticks(o.Delays.Window+slack)
	kept, err := o.room(NewClock(start))
	if err != nil {
		return nil, err
	}
	if err := t.Open(start, o.Options,
		Room{window + 2, len(list) + kept, statesText(len(list), kept)}); err != nil {
		return nil, err
	}
	t.past = newPast(start, kept)
	t.in, t.size = t.Game.NewInputs(), window+4
	for _, d := range list {
		t.trails = append(t.trails,
			&trail{w: start.Host().Clone(), delay: d, history: NewHistory(t.size)})
	}
	return t, t.Restore(nil)
}

// statesText says what the worlds of a timeline are for.
func statesText(states, kept int) string {
	if kept == 0 {
		return fmt.Sprintf("%d trailing states", states)
	}
	return fmt.Sprintf("%d trailing states, and %d ticks to go back to,", states, kept)
}

// Stamp is the tick that is due next, and never one that the leading world has computed. While the
// leading world waits for the last one, so do commands.
func (t *Trailing) Stamp(now time.Duration) world.Tick {
	n := max(t.Clock.Upcoming(now), t.Leading().Tick()+1)
	if !t.Held() {
		return n
	}
	return t.Stamped(min(n, t.limit(0)+1+world.Tick(t.Clock.Ticks(t.shown))))
}

// Next is when one of the copies takes its next tick.
func (t *Trailing) Next() time.Duration {
	next := Never
	for i, s := range t.trails {
		if n := s.w.Tick() + 1; n <= t.limit(i) {
			next = min(next, t.Clock.Time(n)+t.delay(i))
		}
	}
	if next == Never {
		return t.Tomorrow()
	}
	return next
}

// delay is that of a copy at present.
func (t *Trailing) delay(i int) time.Duration {
	if i == 0 {
		return t.shown
	}
	return t.trails[i].delay
}

// limit is the last tick that a copy may compute whatever the time: none is ever ahead of the one
// before it, the last settles only what is allowed, and the leading one leaves that no further
// behind than there are outcomes of.
func (t *Trailing) limit(i int) world.Tick {
	limit := t.final().w.Tick() + world.Tick(t.size) - 2
	if i > 0 {
		limit = t.trails[i-1].w.Tick()
	}
	if i == len(t.trails)-1 {
		limit = min(limit, t.Settles())
	}
	return limit
}

// Leading is the world with the least delay.
func (t *Trailing) Leading() *world.World { return t.trails[0].w }

// Settled is the world with the largest delay.
func (t *Trailing) Settled() *world.World { return t.final().w }

func (t *Trailing) final() *trail { return t.trails[len(t.trails)-1] }

// Delays are those of the copies, as they are to be.
func (t *Trailing) Delays() Delays {
	var out []time.Duration
	for _, s := range t.trails {
		out = append(out, s.delay)
	}
	return DelaysOf(out...)
}

// Submit takes a command in. Copies that have passed its tick execute it next, out of its order,
// and are repaired later if that made a difference.
func (t *Trailing) Submit(now time.Duration, c Command) (Fate, error) {
	if c.Kind == Promise {
		return OnTime, nil
	}
	f, err := t.Take(&c, c.Tick)
	if err != nil || f == Duplicate || f == Superseded {
		return f, err
	}
	t.spread.Add(now - t.Clock.Time(c.Tick))
	if f == TooLate {
		return f, nil
	}
	if c.Tick > t.Leading().Tick() {
		return f, nil
	}
	t.Counts.Late++
	behind := t.trails
	if t.belated(&c, t.Book.image) {
		behind = behind[1:]
	}
	newer := t.Book.newer(&c, t.Leading().Tick())
	for _, s := range behind {
		if s.w.Tick() < c.Tick {
			break // and those behind it too
		}
		s.miss(&c, t.Book.image, newer, t.asks)
	}
	return Late, nil
}

// Advance computes what is due in each copy. Long pauses are made up for tick by tick, so that
// copies keep their distances.
func (t *Trailing) Advance(now time.Duration) error {
	err := t.Each(now, func(passed time.Duration) {
		t.shown = Slew(t.shown, t.trails[0].delay, passed)
		t.catchUp()
		t.Waited(t.Leading().Tick(), t.Clock.Due(t.Now-t.shown), passed)
	})
	t.weigh()
	return err
}

// catchUp brings all copies to where they should be. Where the last was held for so long that the
// leading one had to stop, they move on by turns.
func (t *Trailing) catchUp() {
	for {
		settled := t.final().w.Tick()
		for i := range t.trails {
			t.run(i)
		}
		if t.Err != nil || t.final().w.Tick() == settled ||
			t.Leading().Tick() >= t.Clock.Due(t.Now-t.shown) {
			return
		}
	}
}

// run brings a copy to where it should be.
func (t *Trailing) run(i int) {
	s := t.trails[i]
	due := t.Clock.Due(t.Now - t.delay(i))
	if i == 0 && s.w.Tick() < due { // once a tick, for all that came late since the last
		t.back()
	}
	due = min(due, t.limit(i))
	for t.Err == nil && s.w.Tick() < due {
		t.execute(i)
	}
}

// execute computes the next tick of a copy and sees what follows from it.
func (t *Trailing) execute(i int) {
	s := t.trails[i]
	n := s.w.Tick() + 1
	told := t.Book.At(n)
	in := told
	if !s.late.Empty() {
		if i == 0 && t.past.has(n-1) {
			t.past.at(n - 1).late.copyFrom(&s.late)
		}
		if s.late.Merge(t.in, told) {
			in = t.in
			s.doubt(n)
		}
	}
	t.Step(s.w, in)
	did := t.Observe(s.w, in)
	t.Hash(did, s.w)
	t.note(i, did)
	if i == len(t.trails)-1 {
		t.Settle(t.trails[0].history.At(n), s.history.At(n), told, t.Settled)
	}
}

// note puts down what a copy did at the tick where it is, and compares it with the copy ahead. The
// leading one has nobody ahead but the players.
func (t *Trailing) note(i int, did *Outcome) {
	if i == 0 {
		t.Tell(&t.trails[0].history, did)
		t.remember()
		return
	}
	t.keep(&t.trails[i].history, did)
	t.check(i)
}

// check compares what a copy did at the tick where it is with what the copy ahead did then.
func (t *Trailing) check(i int) {
	s, lead := t.trails[i], t.trails[i-1]
	n := s.w.Tick()
	if i == 1 && t.past.dirty != 0 && t.past.dirty <= n {
		t.back() // it is known to be wrong, and is repaired before it is compared
	}
	mine, its := s.history.At(n), lead.history.At(n)
	if its != nil && n >= lead.since && mine.hashed && its.hashed && s.sure(n) {
		switch {
		case mine.hash == its.hash:
			lead.clear(n)
		case lead.sure(n) && (lead.guessed(n) || s.guessed(n)):
			t.asks = true
			t.Counts.Refreshes++
			t.recover(i)
			return
		case lead.sure(n):
			t.Err = t.Desync(s.w, mine.hash, its.hash)
			return
		case t.o.Calm > 0 && n > lead.last+world.Tick(t.Clock.Ticks(t.o.Calm)):
			t.Counts.Refreshes++
			t.recover(i)
			return
		}
	}
	if lead.sure(n) {
		return
	}
	v := t.watch.compare(mine, its, t.o.Everything)
	if t.o.Everything && n < lead.since {
		v = strictly
	}
	switch {
	case v == alike:
		lead.corrections = 0
	case v == weakly && t.o.Correct && t.correct(i):
	default:
		t.recover(i)
	}
}

// recover copies a world over the one ahead of it and computes that one's ticks again. As
// everything that has come by now is executed in its place, whatever else would have been found in
// these ticks is repaired with it.
func (t *Trailing) recover(i int) {
	s, lead := t.trails[i], t.trails[i-1]
	n, goal := s.w.Tick(), lead.w.Tick()
	if i == 1 {
		t.past.dirty = 0 // that is repaired with it
	}
	t.Rewind(&lead.history, n, goal, i == 1, func() {
		t.Copy(lead.w, s.w)
		lead.goOnFrom(s)
		t.note(i-1, s.history.At(n))
		for t.Err == nil && lead.w.Tick() < goal {
			t.execute(i - 1)
		}
	})
}

// weigh counts the memory. Where the worlds have grown beyond what is allowed, copies in between
// are given up: nothing but speed of repair is lost by that.
func (t *Trailing) weigh() {
	for {
		held := t.past.sum
		for _, s := range t.trails {
			held += s.w.Host().Size()
		}
		if held > t.Options.Memory && len(t.trails) > 2 {
			t.trails = slices.Delete(t.trails, len(t.trails)/2, len(t.trails)/2+1)
			t.idle = nil
			continue
		}
		if held > t.Options.Memory && len(t.past.kept) > 0 {
			t.back()
			t.past = past{}
			continue
		}
		for _, s := range t.idle {
			held += s.w.Host().Size()
		}
		t.Holds(held)
		return
	}
}

// Spread is the distribution of how late commands arrive, for Plan.
func (t *Trailing) Spread() *Spread { return t.spread }
