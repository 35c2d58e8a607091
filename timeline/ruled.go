package timeline

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// Ruled is the event-based protocol of section 3.3.4 of Cronin, Filstrup and Kurc, "A Distributed Multiplayer Game Server System" (2001), which its authors thought better than
// their own and did not build. One mirror, the judge, decides. Commands go to everyone unreliably, and each mirror's leading world executes them as they come. The judge executes what
// came in by the time it has waited for, what came later at its next tick, and tells the others by a Ruling for each tick, reliably. On every mirror a trail executes
// rulings and nothing else, so it is the judge's world; where what strictly happened in the leading world is something else, or things are in other places, the leading
// world is taken back to the trail and goes on from there by rulings, and by commands where there are none yet.
//
// What differs from the paper: as worlds are deterministic, a ruling holds what was executed instead of what came of it, and a digest to prove that the same did; nothing has to
// reach the judge reliably but joins and leaves, because what was lost was not executed anywhere.
//
// Send joins and leaves reliably, commands as you like, and what Rulings lists reliably to all:
//
//	line.Submit(now, c)        // commands of all mirrors
//	line.Rule(now, ruling)     // rulings of the judge, in any order
//	err = line.Advance(now)
//	for r := range line.Rulings {
//		send(r.Append(nil)) // there are some on the judge alone
//	}
type Ruled struct {
	core
	o     RuledOptions
	room  world.Tick    // how far the leading world may be ahead of the settled one
	shown time.Duration // the leading world's delay, on its way to what it is to be
	given world.Tick    // the last Stamp
	newest

	lead    *world.World
	history history
	late    lateness
	ruled   world.Tick // up to here the leading world is known to be the judge's
	// Between these ticks the leading world was told something else than was ruled, and it did not matter so far; 0 if it was not.
	doubtFrom, doubtLast world.Tick

	trail   *world.World
	mine    record // of the trail's last tick
	final   *world.World
	settled world.Tick

	rulings rulings
	terms   terms
	made    world.Tick // the first tick that was ruled in the last Advance, or 0

	merged, led, in *world.Inputs // of the book and what is late, of the leading world by rulings, and of what trails
	image           []int32
	changes         []Change
	before          record // what players saw before a repair
}

// RuledOptions say how long the judge waits, and who it is in the beginning.
type RuledOptions struct {
	Options
	// Judge says that this mirror is the judge; exactly one must be.
	Judge bool
	// Term is the judge's: 0 in the beginning, and for a mirror that joins what Terms says where it gets the world.
	Term uint32
	// Delay is that of the leading world where the judge is not: what players wait for what they do.
	Delay time.Duration
	// Wait is the delay of the leading world where the judge is. Commands of other mirrors that come within it are executed at the ticks they were meant for; so it should cover the
	// way from them. Default: 100 ms. Below 0, it does not wait.
	Wait time.Duration
	// Window is how far the leading world may be ahead of the rulings before it stops and waits, and how late a command may be to be executed at all.
	// Default: 1 s.
	Window time.Duration
	// Calm is how long what mirrors executed must have been what was ruled until hidden differences, too small to be repaired before, are taken away. Default: 500 ms. Below 0, they stay.
	Calm time.Duration
}

// NewRuled makes a timeline that goes on from a world. The world is copied.
func NewRuled(start *world.World, o RuledOptions) (*Ruled, error) {
	if o.Wait == 0 {
		o.Wait = 100 * time.Millisecond
	}
	o.Wait = max(o.Wait, 0)
	if o.Window == 0 {
		o.Window = time.Second
	}
	if o.Calm == 0 {
		o.Calm = 500 * time.Millisecond
	}
	if o.Delay < 0 || o.Window <= max(o.Delay, o.Wait) || o.Window > time.Hour {
		return nil, fmt.Errorf("timeline: a delay of %v, %v for the judge, and a window of %v; the window must be larger than both and at most an hour", o.Delay, o.Wait, o.Window)
	}
	slack, err := o.slack()
	if err != nil {
		return nil, err
	}
	if start == nil {
		return nil, errNoWorld
	}
	room := newClock(start.Game()).ticks(o.Window+slack) + 1
	t := &Ruled{o: o, room: world.Tick(room), newest: newNewest(), ruled: start.Tick(), settled: start.Tick()}
	pending := o.Pending
	o.Options.Pending = nil // what is newest of each player is for Submit to say
	if err := t.open(start, o.Options, room, 2, false); err != nil {
		return nil, err
	}
	worlds := 2
	if o.Held {
		worlds = 3
	}
	if err := t.afford(start, worlds, "the leading world and what trails it"); err != nil {
		return nil, err
	}
	t.watch.repeats = true
	t.lead, t.trail = start.Host().Clone(), start.Host().Clone()
	t.final = t.trail
	if o.Held {
		t.final = start.Host().Clone()
	}
	t.history = newHistory(room + 4)
	t.rulings = newRulings(room + t.ticks(t.options.Ahead) + 2)
	t.terms = terms{term: o.Term, from: t.start, self: o.Judge}
	t.shown = t.target()
	t.merged, t.led, t.in = t.game.NewInputs(), t.game.NewInputs(), t.game.NewInputs()
	t.image = make([]int32, t.watch.command)
	for _, c := range pending {
		if c.Tick <= t.start {
			continue
		}
		if _, err := t.Submit(t.now, c); err != nil {
			return nil, fmt.Errorf("what another mirror had in its book: %w", err)
		}
	}
	return t, nil
}

// target is the delay that the leading world is to have.
func (t *Ruled) target() time.Duration {
	if t.terms.self {
		return t.o.Wait
	}
	return t.o.Delay
}

// limit is the last tick that the leading world may compute whatever the time. The rulings that an Advance makes must stay until the next.
func (t *Ruled) limit() world.Tick {
	limit := t.settled + t.room
	if t.made > 0 {
		limit = min(limit, t.made+world.Tick(len(t.rulings.ring))-2)
	}
	return limit
}

// Stamp is the tick that is due next, and never one that the leading world has computed. While that waits for rulings, so do commands.
func (t *Ruled) Stamp(now time.Duration) world.Tick {
	n := max(t.next(now), t.lead.Tick()+1)
	t.given = max(t.given, min(n, t.settled+t.room+1+world.Tick(t.ticks(t.shown))))
	return t.given
}

// Next is when the leading world takes its next tick.
func (t *Ruled) Next() time.Duration {
	if t.lead.Tick() < t.settled+t.room {
		return t.time(t.lead.Tick()+1) + t.shown
	}
	return t.tomorrow()
}

// Submit takes a command in. One that is late is executed at the next tick, if none newer of the same player is known. A join or leave is never too late.
func (t *Ruled) Submit(_ time.Duration, c Command) (Fate, error) {
	if c.Kind == Promise {
		return OnTime, t.book.valid(&c)
	}
	if c.Kind == Give && c.Tick+world.Tick(t.ticks(t.o.Window)) < t.lead.Tick() {
		if err := t.book.valid(&c); err != nil {
			t.stats.Refused++
			return Superseded, err
		}
		t.stats.TooLate++
		return TooLate, nil
	}
	if c.Tick > t.settled {
		f, err := t.take(&c, c.Tick, t.settled)
		if err != nil || f != OnTime {
			return f, err
		}
		if c.Tick > t.lead.Tick() {
			t.note(&c)
			return OnTime, nil
		}
		t.stats.Late++
		if _, old := t.old(&c); old {
			return Late, nil // it is in the book, for when the leading world is taken back
		}
	} else {
		if err := t.book.valid(&c); err != nil {
			t.stats.Refused++
			return Superseded, err
		}
		if f, old := t.old(&c); old {
			t.count(f)
			return f, nil
		}
		t.stats.Commands++
		t.stats.Late++
	}
	t.note(&c)
	if !t.judged(&c) {
		t.late.add(&c, t.book.image)
	}
	return Late, nil
}

// judged says that a late command came after the ruling about it, or about a newer one of the same player.
func (t *Ruled) judged(c *Command) bool {
	if c.Kind != Give || t.terms.active {
		return false
	}
	for n := max(c.Tick, 1); n <= t.trail.Tick(); n++ {
		if r := t.rulings.at(n); r != nil && r.executed(c.Player) {
			return true
		}
	}
	return false
}

// Advance computes what is due, and what was ruled.
func (t *Ruled) Advance(now time.Duration) error {
	t.made = 0
	err := t.each(now, func(passed time.Duration) {
		t.shown += min(max(t.target()-t.shown, -passed/16), passed/16)
		due := t.due(t.now - t.shown)
		for {
			settled := t.settled
			t.follow()
			t.preside()
			for t.err == nil && t.lead.Tick() < min(due, t.limit()) {
				t.execute()
			}
			t.follow()
			t.settle()
			if t.err != nil || t.settled == settled || t.lead.Tick() >= due {
				break
			}
		}
		t.wait(t.lead.Tick(), due, passed)
	})
	t.stats.Held = t.lead.Host().Size() + t.trail.Host().Size()
	if t.held {
		t.stats.Held += t.final.Host().Size()
	}
	t.stats.MostHeld = max(t.stats.MostHeld, t.stats.Held)
	return err
}

// execute computes the leading world's next tick: as it rules if this is the judge, as it was ruled if that is known, or else by what has come.
func (t *Ruled) execute() {
	n := t.lead.Tick() + 1
	page := t.book.at(n)
	in, r := page.in, t.rulings.at(n)
	switch {
	case t.terms.active:
		t.late.merge(t.merged, page.in)
		r = t.rule(n, t.merged)
		fallthrough
	case r != nil && t.ruled == n-1:
		if in = t.led; !t.resolve(in, r, t.lead) {
			return
		}
		t.ruled = n
		t.late.reset() // the judge knows of it or will
	case !t.late.empty():
		t.late.merge(t.merged, page.in)
		in = t.merged
	}
	t.step(t.lead, in)
	did := &t.watch.spare
	t.watch.record(did, t.lead, in)
	if every := t.options.HashEvery; every > 0 && n%world.Tick(every) == 0 {
		did.hash, did.hashed = t.lead.Hash(), true
	}
	if t.terms.active {
		r.Digest = t.watch.digest(did)
	}
	t.tell(did)
}

// tell announces what the leading world did at a tick, as far as it is something else than was announced before, and puts it down.
func (t *Ruled) tell(did *record) {
	before := t.history.place(did.tick)
	if before.tick == did.tick {
		t.watch.announce(&t.notices, before, did)
	} else {
		t.watch.announce(&t.notices, nil, did)
	}
	if did == &t.watch.spare {
		*before, t.watch.spare = *did, *before
	} else {
		before.copyFrom(did)
	}
}

// Leading is the world that players are shown: on the judge as it was ruled, elsewhere a little ahead of that.
func (t *Ruled) Leading() *world.World { return t.lead }

// Settled is the world at the last tick for which all rulings have come, or to which Hold allows it to be settled.
func (t *Ruled) Settled() *world.World { return t.final }

// Exact is true: settled worlds are the same on all mirrors, and those that a machine computes which has every command at the tick at which the judge executed it.
func (t *Ruled) Exact() bool { return true }

// Pending goes through what is known for ticks that are not settled. A mirror that joins needs PendingRulings and Terms as well.
func (t *Ruled) Pending(yield func(Command) bool) { t.pending(t.settled, yield) }

// Stats say what it has cost so far.
func (t *Ruled) Stats() Stats { return t.stats }
