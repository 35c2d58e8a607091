package timeline

import (
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// Trailing is trailing state synchronization, after chapter 3 of Cronin, Filstrup and Kurc, "A Distributed Multiplayer Game Server System" (2001). It keeps a few
// copies of the world, each a fixed delay behind the time. The leading one is shown to players and may be wrong. Each of the others computes a tick when
// more of its commands have come, and compares what they did with what they did in the copy ahead; where that differs, it is copied over the one ahead,
// which computes the ticks since then again, and so on up to the leading one. The last has waited so long that it is right. No past worlds are kept, so
// memory is one world for each delay, and time is spent on copying only when something did go wrong.
//
// What differs from the paper: ticks are executed as a whole, a command that came late is executed by the leading world at its next tick only if the player has
// none there, copies that were told the same are not compared, and places can be corrected alone, which the paper proposes.
type Trailing struct {
	core
	o      TrailingOptions
	states []*state // from the leading to the last
	idle   []*state // to be used again
	in     *world.Inputs
	shown  time.Duration // the leading world's delay, on its way to what it is to be
	size   int           // of histories
	given  world.Tick    // the last Stamp, where ticks may be held
	before record        // what players saw before a repair
	image  []int32
	deltas []int32
	spread *Spread
	asks   bool // the game has been found to ask World.Repeated, so that a guess is never right
}

// TrailingOptions say how many copies trail, and when they interfere.
type TrailingOptions struct {
	Options
	// Delays are those of the copies, each larger than the one before. The first is the leading world's: what players wait for what they do. The last is the window: a
	// command that is later than that is lost, so all mirrors must have the same. Default: 0, 100 ms, 1 s.
	Delays []time.Duration
	// Everything repairs whatever is different, even if nothing came of it that anyone could see. Then the leading world is exact whenever it was repaired, as
	// with time warp, and more is repaired.
	Everything bool
	// Correct moves things to their right places where only fields with margins differ, rather than to compute the ticks since then again.
	Correct bool
	// Calm is how long the network has to have been in time until hidden differences, too small to be repaired before, are taken away. Default: 500 ms. Below 0, they stay.
	Calm time.Duration
}

// maxStates is more than is of any use, as each costs as much as the game itself.
const maxStates = 32

// NewTrailing makes a timeline that goes on from a world. The world is copied.
func NewTrailing(start *world.World, o TrailingOptions) (*Trailing, error) {
	if len(o.Delays) == 0 {
		o.Delays = []time.Duration{0, 100 * time.Millisecond, time.Second}
	}
	if o.Calm == 0 {
		o.Calm = 500 * time.Millisecond
	}
	if err := checkDelays(o.Delays); err != nil {
		return nil, err
	}
	if start == nil {
		return nil, errNoWorld
	}
	t := &Trailing{o: o, shown: o.Delays[0], spread: new(Spread)}
	slack, err := o.slack()
	if err != nil {
		return nil, err
	}
	window := newClock(start.Game()).ticks(o.Delays[len(o.Delays)-1] + slack)
	if err := t.open(start, o.Options, window, 2, false); err != nil {
		return nil, err
	}
	if err := t.afford(start, len(o.Delays), fmt.Sprintf("%d trailing states", len(o.Delays))); err != nil {
		return nil, err
	}
	t.in, t.size = t.game.NewInputs(), window+4
	for _, d := range o.Delays {
		t.states = append(t.states, &state{w: start.Host().Clone(), delay: d, history: newHistory(t.size)})
	}
	return t, nil
}

func checkDelays(delays []time.Duration) error {
	if len(delays) > maxStates {
		return fmt.Errorf("timeline: %d trailing states; %d are allowed, and more than 5 are hardly ever of use", len(delays), maxStates)
	}
	for i, d := range delays {
		if d < 0 || d > time.Hour {
			return fmt.Errorf("timeline: a delay of %v; give 0 to an hour", d)
		}
		if i > 0 && d <= delays[i-1] {
			return fmt.Errorf("timeline: delays must increase, and %v comes after %v; give them from the leading world's to the last", d, delays[i-1])
		}
	}
	return nil
}

// Stamp is the tick that is due next, and never one that the leading world has computed. While the leading world waits for the last one, so do commands.
func (t *Trailing) Stamp(now time.Duration) world.Tick {
	n := max(t.next(now), t.Leading().Tick()+1)
	if !t.held {
		return n
	}
	t.given = max(t.given, min(n, t.limit(0)+1+world.Tick(t.ticks(t.shown))))
	return t.given
}

// Next is when one of the copies takes its next tick.
func (t *Trailing) Next() time.Duration {
	next := never
	for i, s := range t.states {
		if n := s.w.Tick() + 1; n <= t.limit(i) {
			next = min(next, t.time(n)+t.delay(i))
		}
	}
	if next == never {
		return t.tomorrow()
	}
	return next
}

// delay is that of a copy at present.
func (t *Trailing) delay(i int) time.Duration {
	if i == 0 {
		return t.shown
	}
	return t.states[i].delay
}

// limit is the last tick that a copy may compute whatever the time: none is ever ahead of the one before it, the last settles only what is allowed, and
// the leading one leaves that no further behind than there are records of.
func (t *Trailing) limit(i int) world.Tick {
	limit := t.final().w.Tick() + world.Tick(t.size) - 2
	if i > 0 {
		limit = t.states[i-1].w.Tick()
	}
	if i == len(t.states)-1 {
		limit = min(limit, t.Settles())
	}
	return limit
}

// Leading is the world with the least delay.
func (t *Trailing) Leading() *world.World { return t.states[0].w }

// Settled is the world with the largest delay.
func (t *Trailing) Settled() *world.World { return t.final().w }

// Exact is true.
func (t *Trailing) Exact() bool { return true }

func (t *Trailing) final() *state { return t.states[len(t.states)-1] }

// Delays lists the delays of the copies, from the leading to the last.
func (t *Trailing) Delays() []time.Duration {
	var out []time.Duration
	for _, s := range t.states {
		out = append(out, s.delay)
	}
	return out
}

// Submit takes a command in. Copies that have passed its tick execute it next, out of its order, and are repaired later if that made a difference.
func (t *Trailing) Submit(now time.Duration, c Command) (Fate, error) {
	if c.Kind == Promise {
		return OnTime, t.book.valid(&c)
	}
	f, err := t.take(&c, c.Tick, t.final().w.Tick())
	if err != nil || f == Duplicate || f == Superseded {
		return f, err
	}
	t.spread.Add(now - t.time(c.Tick))
	if f == TooLate {
		return f, nil
	}
	if c.Tick > t.Leading().Tick() {
		return f, nil
	}
	t.stats.Late++
	newer := t.book.newer(&c, t.Leading().Tick())
	for _, s := range t.states {
		if s.w.Tick() < c.Tick {
			break // and those behind it too
		}
		s.miss(&c, t.book.image, newer, t.asks)
	}
	return Late, nil
}

// Advance computes what is due in each copy. Long pauses are made up for tick by tick, so that copies keep their distances.
func (t *Trailing) Advance(now time.Duration) error {
	t.notices.reset()
	for t.err == nil {
		passed := max(min(now-t.now, t.length()), 0)
		t.now += passed
		t.slew(passed)
		t.catchUp()
		t.wait(t.Leading().Tick(), t.due(t.now-t.shown), passed)
		if t.now >= now {
			break
		}
	}
	t.weigh()
	return t.err
}

// catchUp brings all copies to where they should be. Where the last was held for so long that the leading one had to stop, they move on by turns.
func (t *Trailing) catchUp() {
	for {
		settled := t.final().w.Tick()
		for i := range t.states {
			t.run(i)
		}
		if t.err != nil || t.final().w.Tick() == settled || t.Leading().Tick() >= t.due(t.now-t.shown) {
			return
		}
	}
}

// slew moves the leading world's delay to where it is to be without a jump that players would feel: time goes a sixteenth faster or slower.
func (t *Trailing) slew(passed time.Duration) {
	most := passed / 16
	t.shown += min(max(t.states[0].delay-t.shown, -most), most)
}

// run brings a copy to where it should be.
func (t *Trailing) run(i int) {
	s := t.states[i]
	due := min(t.due(t.now-t.delay(i)), t.limit(i))
	for t.err == nil && s.w.Tick() < due {
		t.execute(i)
	}
}

// execute computes the next tick of a copy and sees what follows from it.
func (t *Trailing) execute(i int) {
	s := t.states[i]
	n := s.w.Tick() + 1
	page := t.book.at(n)
	in := page.in
	if !s.late.empty() && s.late.merge(t.in, page.in) {
		in = t.in
		s.doubt(n)
	}
	t.step(s.w, in)
	r := &t.watch.spare
	t.watch.record(r, s.w, in)
	if every := t.options.HashEvery; every > 0 && n%world.Tick(every) == 0 {
		r.hash, r.hashed = s.w.Hash(), true
	}
	t.done(i, r)
	if i == len(t.states)-1 {
		t.settle(n, page.in)
	}
}

// done puts down what a copy did at the tick where it is, and compares it with the copy ahead. The leading one has nobody ahead but the players.
func (t *Trailing) done(i int, r *record) {
	s := t.states[i]
	before := s.history.place(r.tick)
	if i == 0 {
		if before.tick == r.tick {
			t.watch.announce(&t.notices, before, r)
		} else {
			t.watch.announce(&t.notices, nil, r)
		}
	}
	if r == &t.watch.spare {
		*before, t.watch.spare = *r, *before
	} else {
		before.copyFrom(r)
	}
	if i > 0 {
		t.check(i)
	}
}

// check compares what a copy did at the tick where it is with what the copy ahead did then.
func (t *Trailing) check(i int) {
	s, lead := t.states[i], t.states[i-1]
	n := s.w.Tick()
	mine, its := s.history.at(n), lead.history.at(n)
	if its != nil && n >= lead.since && mine.hashed && its.hashed && s.sure(n) {
		switch {
		case mine.hash == its.hash:
			lead.clear(n)
		case lead.sure(n) && (lead.guessed(n) || s.guessed(n)):
			t.asks = true
			t.stats.Refreshes++
			t.recover(i)
			return
		case lead.sure(n):
			t.err = t.desync(s.w, mine.hash, its.hash)
			return
		case t.o.Calm > 0 && n > lead.last+world.Tick(t.ticks(t.o.Calm)):
			t.stats.Refreshes++
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

// recover copies a world over the one ahead of it and computes that one's ticks again. As everything that has come by now is executed in its place, whatever
// else would have been found in these ticks is repaired with it.
func (t *Trailing) recover(i int) {
	s, lead := t.states[i], t.states[i-1]
	n, goal := s.w.Tick(), lead.w.Tick()
	t.stats.Rollbacks++
	t.stats.Depth += int(goal - n)
	t.stats.Deepest = max(t.stats.Deepest, int(goal-n))
	if i == 1 {
		t.stats.Seen++
		t.before.copyFrom(lead.history.place(goal))
	}
	t.copy(lead.w, s.w)
	lead.late.copyFrom(&s.late)
	lead.from, lead.last, lead.since, lead.corrections = s.from, s.last, n, 0
	lead.guessFrom, lead.guessLast = s.guessFrom, s.guessLast
	t.done(i-1, s.history.at(n))
	for t.err == nil && lead.w.Tick() < goal {
		t.execute(i - 1)
	}
	if i == 1 {
		t.jumped(&t.before, lead.history.place(goal))
	}
}

// settle ends a tick for good.
func (t *Trailing) settle(n world.Tick, in *world.Inputs) {
	s := t.final()
	t.watch.confirm(&t.notices, t.states[0].history.at(n), s.history.at(n))
	t.stats.Settled++
	t.book.trim(n)
	if t.options.Settled != nil {
		t.options.Settled(s.w, in)
	}
}

// weigh counts the memory. Where the worlds have grown beyond what is allowed, copies in between are given up: nothing but speed of repair is lost by that.
func (t *Trailing) weigh() {
	for {
		held := 0
		for _, s := range t.states {
			held += s.w.Host().Size()
		}
		if held > t.options.Memory && len(t.states) > 2 {
			t.states = slices.Delete(t.states, len(t.states)/2, len(t.states)/2+1)
			t.idle = nil
			continue
		}
		for _, s := range t.idle {
			held += s.w.Host().Size()
		}
		t.stats.Held = held
		t.stats.MostHeld = max(t.stats.MostHeld, held)
		return
	}
}

// Pending goes through what is known for ticks that are not settled.
func (t *Trailing) Pending(yield func(Command) bool) { t.pending(t.final().w.Tick(), yield) }

// Stats say what it has cost so far.
func (t *Trailing) Stats() Stats { return t.stats }

// Spread is the distribution of how late commands arrive, for Plan.
func (t *Trailing) Spread() *Spread { return t.spread }
