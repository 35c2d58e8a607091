package ruled

import (
	"cmp"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// A Timeline is the event-based protocol of section 3.3.4 of Cronin, Filstrup and Kurc, "A
// Distributed Multiplayer Game Server System" (2001), which its authors thought better than their
// own and did not build. One mirror, the judge, decides. Commands go to everyone unreliably, and
// each mirror's leading world executes them as they come. The judge executes what came in by the
// time it has waited for, what came later at its next tick, and tells the others by a Ruling for
// each tick, reliably. On every mirror a trail executes rulings and nothing else, so it is the
// judge's world; where what strictly happened in the leading world is something else, or things are
// in other places, the leading world is taken back to the trail and goes on from there by rulings,
// and by commands where there are none yet.
//
// What differs from the paper: as worlds are deterministic, a ruling holds what was executed
// instead of what came of it, and a digest to prove that the same did; nothing has to reach the
// judge reliably but joins and leaves, because what was lost was not executed anywhere.
//
// Send joins and leaves reliably, commands as you like, and what Rulings lists reliably to all:
//
//	line.Submit(now, c)        // commands of all mirrors
//	line.Rule(now, ruling)     // rulings of the judge, in any order
//	err = line.Advance(now)
//	for r := range line.Rulings {
//		send(r.Append(nil)) // there are some on the judge alone
//	}
type Timeline struct {
	timeline.Core
	o     Options
	room  world.Tick    // how far the leading world may be ahead of the settled one
	shown time.Duration // the leading world's delay, on its way to what it is to be
	known timeline.Newest

	lead    *world.World
	history timeline.History
	late    timeline.Overdue
	ruled   world.Tick // up to here the leading world is known to be the judge's
	// Between these ticks the leading world was told something else than was ruled, and it did not
	// matter so far; 0 if it was not.
	doubtFrom, doubtLast world.Tick

	trail *world.World
	mine  timeline.Outcome // of the trail's last tick
	final *world.World

	rulings rulings
	terms   terms
	made    world.Tick // the first tick that was ruled in the last Advance, or 0

	// of the book and what is late, of the leading world by rulings, and of what trails
	merged, led, in *world.Inputs
	image           []int32
	changes         []Change
}

// Options say how long the judge waits, and who it is in the beginning.
type Options struct {
	timeline.Options
	// Judge says that this mirror is the judge; exactly one must be.
	Judge bool
	// Term is the judge's: 0 in the beginning, and for a mirror that joins what Terms says where it
	// gets the world.
	Term uint32
	// Delay is that of the leading world where the judge is not: what players wait for what they
	// do.
	Delay time.Duration
	// Wait is the delay of the leading world where the judge is. Commands of other mirrors that
	// come within it are executed at the ticks they were meant for; so it should cover the way from
	// them. Default: 100 ms. Below 0, it does not wait.
	Wait time.Duration
	// Window is how far the leading world may be ahead of the rulings before it stops and waits,
	// and how late a command may be to be executed at all. Default: 1 s.
	Window time.Duration
	// Calm is how long what mirrors executed must have been what was ruled until hidden
	// differences, too small to be repaired before, are taken away. Default: 500 ms. Below 0, they
	// stay.
	Calm time.Duration
}

// New makes a timeline that goes on from a world. The world is copied.
func New(start *world.World, o Options) (*Timeline, error) {
	o.Wait = cmp.Or(o.Wait, 100*time.Millisecond)
	o.Wait = max(o.Wait, 0)
	o.Window = cmp.Or(o.Window, time.Second)
	o.Calm = cmp.Or(o.Calm, 500*time.Millisecond)
	if o.Delay < 0 || o.Window <= max(o.Delay, o.Wait) || o.Window > time.Hour {
		return nil, fmt.Errorf(
			"timeline: a delay of %v, %v for the judge, and a window of %v; the window must be "+
				"larger than both and at most an hour", o.Delay, o.Wait, o.Window)
	}
	slack, err := o.Behind()
	if err != nil {
		return nil, err
	}
	room := timeline.NewClock(start).Ticks(o.Window+slack) + 1
	t := &Timeline{o: o, room: world.Tick(room), known: timeline.NewNewest()}
	worlds := 2
	if o.Held {
		worlds = 3
	}
	if err := t.Open(start, o.Options,
		timeline.Room{
			Ticks: room + 2, Worlds: worlds,
			What: "the leading world and what trails it"}); err != nil {
		return nil, err
	}
	t.WatchRepeats()
	t.ruled = t.Start
	t.lead, t.trail = start.Host().Clone(), start.Host().Clone()
	t.final = t.trail
	if o.Held {
		t.final = start.Host().Clone()
	}
	t.history = timeline.NewHistory(room + 4)
	t.rulings = newRulings(room + t.Clock.Ticks(t.Options.Ahead) + 2)
	t.terms = terms{term: o.Term, from: t.Start, self: o.Judge}
	t.shown = t.target()
	t.merged, t.led, t.in = t.Game.NewInputs(), t.Game.NewInputs(), t.Game.NewInputs()
	t.image = make([]int32, len(t.Book.Image()))
	return t, t.Restore(t.Submit) // which says what is newest of each player
}

// target is the delay that the leading world is to have.
func (t *Timeline) target() time.Duration {
	if t.terms.self {
		return t.o.Wait
	}
	return t.o.Delay
}

// limit is the last tick that the leading world may compute whatever the time. The rulings that an
// Advance makes must stay until the next.
func (t *Timeline) limit() world.Tick {
	limit := t.Done() + t.room
	if t.made > 0 {
		limit = min(limit, t.made+world.Tick(len(t.rulings.ring))-2)
	}
	return limit
}

// Stamp is the tick that is due next, and never one that the leading world has computed. While that
// waits for rulings, so do commands.
func (t *Timeline) Stamp(now time.Duration) world.Tick {
	n := max(t.Clock.Upcoming(now), t.lead.Tick()+1)
	return t.Stamped(min(n, t.Done()+t.room+1+world.Tick(t.Clock.Ticks(t.shown))))
}

// Next is when the leading world takes its next tick.
func (t *Timeline) Next() time.Duration {
	if t.lead.Tick() < t.Done()+t.room {
		return t.Clock.Time(t.lead.Tick()+1) + t.shown
	}
	return t.Tomorrow()
}

// Submit takes a command in. One that is late is executed at the next tick, if none newer of the
// same player is known. A join or leave is never too late.
func (t *Timeline) Submit(_ time.Duration, c timeline.Command) (timeline.Fate, error) {
	if c.Kind == timeline.Promise {
		return timeline.OnTime, nil
	}
	if c.Kind == timeline.Give && c.Tick+world.Tick(t.Clock.Ticks(t.o.Window)) < t.lead.Tick() {
		if err := t.Check(&c); err != nil {
			return timeline.Superseded, err
		}
		t.Counts.TooLate++
		return timeline.TooLate, nil
	}
	if c.Tick > t.Done() {
		f, err := t.Take(&c, c.Tick)
		if err != nil || f != timeline.OnTime {
			return f, err
		}
		if c.Tick > t.lead.Tick() {
			t.known.Note(&c)
			return timeline.OnTime, nil
		}
		t.Counts.Late++
		if _, old := t.known.Old(&c); old {
			return timeline.Late, nil // it is in the book, for when the leading world is taken back
		}
	} else {
		if err := t.Check(&c); err != nil {
			return timeline.Superseded, err
		}
		if f, old := t.known.Old(&c); old {
			t.Count(f)
			return f, nil
		}
		t.Counts.Commands++
		t.Counts.Late++
	}
	t.known.Note(&c)
	if !t.judged(&c) {
		t.late.Add(&c, t.Book.Image())
	}
	return timeline.Late, nil
}

// judged says that a late command came after the ruling about it, or about a newer one of the same
// player.
func (t *Timeline) judged(c *timeline.Command) bool {
	if c.Kind != timeline.Give || t.terms.active {
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
func (t *Timeline) Advance(now time.Duration) error {
	t.made = 0
	err := t.Each(now, func(passed time.Duration) {
		t.shown = timeline.Slew(t.shown, t.target(), passed)
		due := t.Clock.Due(t.Now - t.shown)
		for {
			settled := t.Done()
			t.follow()
			t.preside()
			for t.Err == nil && t.lead.Tick() < min(due, t.limit()) {
				t.execute()
			}
			t.follow()
			t.settle()
			if t.Err != nil || t.Done() == settled || t.lead.Tick() >= due {
				break
			}
		}
		t.Waited(t.lead.Tick(), due, passed)
	})
	bytes := t.lead.Host().Size() + t.trail.Host().Size()
	if t.Held() {
		bytes += t.final.Host().Size()
	}
	t.Holds(bytes)
	return err
}

// execute computes the leading world's next tick: as it rules if this is the judge, as it was ruled
// if that is known, or else by what has come.
func (t *Timeline) execute() {
	n := t.lead.Tick() + 1
	told := t.Book.At(n)
	in, r := told, t.rulings.at(n)
	switch {
	case t.terms.active:
		t.late.Merge(t.merged, told)
		r = t.rule(n, t.merged)
		fallthrough
	case r != nil && t.ruled == n-1:
		if in = t.led; !t.resolve(in, r, t.lead) {
			return
		}
		t.ruled = n
		t.late.Reset() // the judge knows of it or will
	case !t.late.Empty():
		t.late.Merge(t.merged, told)
		in = t.merged
	}
	t.Step(t.lead, in)
	did := t.Observe(t.lead, in)
	t.Hash(did, t.lead)
	if t.terms.active {
		r.Digest = t.Digest(did)
	}
	t.Tell(&t.history, did)
}

// Leading is the world that players are shown: on the judge as it was ruled, elsewhere a little
// ahead of that.
func (t *Timeline) Leading() *world.World { return t.lead }

// Settled is the world at the last tick for which all rulings have come, or to which Hold allows it
// to be settled.
func (t *Timeline) Settled() *world.World { return t.final }
