package timeline

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// A Core is what all timelines are made of: what came in, what became of it, and what was told
// about that. A timeline embeds one, opens it, and computes its worlds by it. What it has beyond
// the methods of Timeline is for those who write one.
type Core struct {
	hold
	Clock   Clock
	Game    *world.Game
	Options Options       // with its defaults
	Start   world.Tick    // that of the world it goes on from
	Now     time.Duration // what Advance has come to
	Book    *Book
	Counts  Stats
	Err     error // ended it
	// Remember is for how many ticks behind the settled one the book stays, for worlds that are
	// computed from there.
	Remember world.Tick

	done    world.Tick // every tick up to this one is settled
	stamped world.Tick // the highest that Stamp gave
	watch   *watcher
	notices notices
	spare   Outcome // the last that was observed, until it is kept
	before  Outcome // what players saw before a repair
	first   History // where bodies were when players were first shown a tick
	told    world.Tick
}

// A Room is what a timeline needs: how many ticks its book holds beside those by which commands may
// be ahead, and how many worlds it keeps, with what they are for.
type Room struct {
	Ticks  int
	Worlds int
	What   string
}

// Open makes a core for worlds that go on from start, and refuses more than there is memory for.
// What Options.Pending lists is for Restore.
func (c *Core) Open(start *world.World, o Options, room Room) error {
	if start == nil {
		return errNoWorld
	}
	if start.Host().Settings().Partial {
		return errors.New(
			"timeline: a partial world cannot be kept consistent, as it does not know " +
				"everything; start from a whole one")
	}
	g := start.Game()
	c.Clock, c.Game, c.Options, c.Start, c.done = NewClock(start), g, o, start.Tick(), start.Tick()
	c.Options.Ahead = cmp.Or(c.Options.Ahead, time.Second)
	if c.Options.Ahead < 0 {
		return fmt.Errorf("timeline: commands may be %v ahead; give 0 or more", o.Ahead)
	}
	c.Options.Memory = cmp.Or(c.Options.Memory, 1<<30)
	c.Options.HashEvery = cmp.Or(c.Options.HashEvery, 64)
	var err error
	if c.watch, err = newWatcher(g, o.Margins); err != nil {
		return err
	}
	c.Now = c.Clock.Time(c.Start)
	c.held, c.until = o.Held, c.Start
	c.told = c.Start
	if len(c.watch.listed) > 0 {
		c.first = NewHistory(room.Ticks + 2)
	}
	c.Book = newBook(g, c.Start, room.Ticks+c.Clock.Ticks(c.Options.Ahead)+2)
	return c.afford(start, room.Worlds, room.What)
}

// Restore takes in what another mirror had in its book for ticks after the start, by submit, or as
// it is where that is nil: whoever it came from and whatever its number, that mirror has seen to
// it.
func (c *Core) Restore(submit func(now time.Duration, cmd Command) (Fate, error)) error {
	for _, cmd := range c.Options.Pending {
		if cmd.Kind == Promise || cmd.Tick <= c.Start {
			continue
		}
		var err error
		if submit != nil {
			_, err = submit(c.Now, cmd)
		} else {
			_, err = c.Take(&cmd, cmd.Tick)
		}
		if err != nil {
			return fmt.Errorf("what another mirror had in its book: %w", err)
		}
	}
	c.Options.Pending = nil
	return nil
}

// afford refuses more worlds than there is memory for.
func (c *Core) afford(start *world.World, worlds int, what string) error {
	size := start.Host().Size()
	if need := size * worlds; need > c.Options.Memory || worlds > 1<<20 {
		return fmt.Errorf(
			"timeline: %w: %s take %d worlds of %d bytes, %.1f MiB, and Options.Memory allows "+
				"%.1f MiB; ask for fewer, or allow more",
			ErrMemory, what, worlds, size, float64(need)/(1<<20), float64(c.Options.Memory)/(1<<20))
	}
	return nil
}

// Check says what is wrong with a command, whatever its tick. What is wrong is counted as refused.
func (c *Core) Check(cmd *Command) error {
	err := c.Book.valid(cmd)
	if err != nil {
		c.Counts.Refused++
	}
	return err
}

// Refuse counts a command that is not to be believed.
func (c *Core) Refuse(err error) (Fate, error) {
	c.Counts.Refused++
	return Superseded, err
}

// Take puts a command down for a tick that is mostly its own. One that is to be executed comes back
// as OnTime.
func (c *Core) Take(cmd *Command, tick world.Tick) (Fate, error) {
	if err := c.Check(cmd); err != nil {
		return Superseded, err
	}
	if tick <= c.done {
		c.Counts.TooLate++
		return TooLate, nil
	}
	if tick > c.Book.End() {
		return c.Refuse(
			fmt.Errorf("timeline: tick %d of mirror %d: %w: there is room up to tick %d; see to "+
				"the clocks, or raise Options.Ahead", tick, cmd.Origin, ErrAhead, c.Book.End()))
	}
	f, conflict, err := c.Book.put(cmd, tick)
	if err != nil {
		return c.Refuse(err)
	}
	if conflict {
		c.Counts.Conflicts++
	}
	c.Count(f)
	return f, nil
}

// Count counts what became of a command.
func (c *Core) Count(f Fate) {
	switch f {
	case OnTime:
		c.Counts.Commands++
	case Duplicate:
		c.Counts.Duplicates++
	case Superseded:
		c.Counts.Superseded++
	}
}

// Stamped is the tick that Stamp gives: this one, or a later one that it gave before.
func (c *Core) Stamped(t world.Tick) world.Tick {
	c.stamped = max(c.stamped, t)
	return c.stamped
}

// Each makes time pass until now, a tick at a time.
func (c *Core) Each(now time.Duration, do func(passed time.Duration)) error {
	c.notices.reset()
	for c.Err == nil {
		passed := max(min(now-c.Now, c.Clock.Length()), 0)
		c.Now += passed
		do(passed)
		if c.Now >= now {
			break
		}
	}
	return c.Err
}

// took gives how long something took, for Stats.
func (c *Core) took(sum *time.Duration, do func()) {
	if c.Options.Clock == nil {
		do()
		return
	}
	began := c.Options.Clock()
	do()
	*sum += c.Options.Clock() - began
}

// Step computes a tick of a world.
func (c *Core) Step(w *world.World, in *world.Inputs) {
	c.took(&c.Counts.StepTime, func() {
		err := w.Host().TryStep(in)
		if err == nil {
			return
		}
		var p *world.Panic
		if errors.As(err, &p) {
			panic(p) // with who was stepping, for a host that recovers
		}
		if c.Counts.GameErrors++; c.Counts.GameError == nil {
			c.Counts.GameError = err
		}
	})
	c.Counts.Steps++
	c.Counts.Executions += len(in.Players())
}

// Copy makes one world the same as another.
func (c *Core) Copy(to, from *world.World) {
	c.took(&c.Counts.CopyTime, func() {
		if err := to.Host().CopyFrom(from); err != nil {
			panic(err) // they are of one game
		}
	})
	c.Counts.Copies++
	c.Counts.CopiedBytes += int64(from.Host().Size())
}

// Observe notes what the last tick of a world did. It is good until the next call, unless Tell
// keeps it.
func (c *Core) Observe(w *world.World, in *world.Inputs) *Outcome {
	c.watch.observe(&c.spare, w, in)
	return &c.spare
}

// Hash adds the world's hash to what its last tick did, where it is due.
func (c *Core) Hash(did *Outcome, w *world.World) {
	if every := c.Options.HashEvery; every > 0 && did.tick%world.Tick(every) == 0 {
		did.hash, did.hashed = w.Hash(), true
	}
}

// WatchRepeats lets SameTold see also whose commands were repeated.
func (c *Core) WatchRepeats() { c.watch.repeats = true }

// Differ says that what a tick did differs between two copies by more than is allowed.
func (c *Core) Differ(a, b *Outcome) bool { return c.watch.compare(a, b, false) != alike }

// keep puts down in the history of a copy what a tick of it did.
func (c *Core) keep(h *History, did *Outcome) {
	slot := h.slot(did.tick)
	if did == &c.spare {
		*slot, c.spare = *did, *slot
	} else {
		slot.copyFrom(did)
	}
}

// Tell announces how what the leading world did differs from what was announced of its tick before,
// if anything was, and keeps it.
func (c *Core) Tell(h *History, did *Outcome) {
	if did.tick > c.told {
		if c.told = did.tick; len(c.first.ring) > 0 {
			c.first.slot(did.tick).bodiesFrom(did)
		}
	}
	c.watch.announce(&c.notices, h.At(did.tick), did)
	c.Counts.Events, c.Counts.Taken = c.notices.announced, c.notices.retracted
	c.keep(h, did)
}

// compareShown counts how wrong the bodies were that players were first shown of a tick which is
// settled now.
func (c *Core) compareShown(did *Outcome) {
	if len(c.first.ring) == 0 {
		return
	}
	if shown := c.first.At(did.tick); shown != nil {
		c.watch.offBy(shown, did, &c.Counts)
	}
}

// Rewind counts that a copy is taken back from where it is to an earlier tick, and lets again do
// that and compute it anew. Where players see it, it counts how far things jump.
func (c *Core) Rewind(h *History, from, goal world.Tick, seen bool, again func()) {
	c.Counts.Rollbacks++
	c.Counts.Depth += int(goal - from)
	c.Counts.Deepest = max(c.Counts.Deepest, int(goal-from))
	if !seen {
		again()
		return
	}
	c.Counts.Seen++
	c.before.copyFrom(h.slot(goal))
	again()
	c.watch.jump(&c.before, h.slot(goal), &c.Counts)
}

// Settle ends a tick for good: what was announced of it, and what it did and was told. Settled
// gives its world.
func (c *Core) Settle(announced, did *Outcome, in *world.Inputs, settled func() *world.World) {
	c.watch.confirm(&c.notices, announced, did)
	c.Counts.Events, c.Counts.Taken = c.notices.announced, c.notices.retracted
	c.compareShown(did)
	c.done = did.tick
	c.Counts.Settled++
	if c.done >= c.Start+c.Remember {
		c.Book.trim(c.done - c.Remember)
	}
	if c.Options.Settled != nil {
		c.Options.Settled(settled(), in)
	}
}

// Done is the last tick that is settled.
func (c *Core) Done() world.Tick { return c.done }

// Holds counts the bytes that all copies of the world take.
func (c *Core) Holds(bytes int) {
	c.Counts.Held = bytes
	c.Counts.MostHeld = max(c.Counts.MostHeld, bytes)
}

// Tomorrow is when the next tick is due that is not yet.
func (c *Core) Tomorrow() time.Duration { return c.Clock.Time(c.Clock.Due(c.Now) + 1) }

// Waited counts how long the leading world is behind.
func (c *Core) Waited(led, due world.Tick, passed time.Duration) {
	if led < due {
		c.Counts.Waited += passed
		c.Counts.Behind = max(c.Counts.Behind, int(due-led))
	}
}

// Slew is a delay on its way to another, without a jump that players would feel: time goes a
// sixteenth faster or slower.
func Slew(shown, goal, passed time.Duration) time.Duration {
	most := passed / 16
	return shown + min(max(goal-shown, -most), most)
}

// Notices are what the last Advance found out about events; see the type. They are good until the
// next Advance.
func (c *Core) Notices() []Notice { return c.notices.list }

// Pending goes through what is known for ticks that are not settled.
func (c *Core) Pending(yield func(Command) bool) { c.Book.list(c.done, yield) }

// Stats say what it has cost so far.
func (c *Core) Stats() Stats { return c.Counts }

// Exact is true: it is for those that promise nothing to say so.
func (c *Core) Exact() bool { return true }

// Delays are zero: most timelines keep no copies at fixed delays.
func (c *Core) Delays() Delays { return Delays{} }

// Waits is false: most timelines wait for nobody.
func (c *Core) Waits() bool { return false }

// SetMirrors does nothing: nobody is waited for.
func (c *Core) SetMirrors(time.Duration, []Membership) error { return nil }

// Members is empty: nobody is waited for.
func (c *Core) Members() []Membership { return nil }
