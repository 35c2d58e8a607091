package timeline

import (
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// A Timeline keeps one mirror's copies of a world consistent with those of other mirrors. It is given what is commanded anywhere, in whatever order it arrives,
// and the time; it computes the worlds. It belongs to one goroutine at a time, and has neither clock nor network.
//
// Submit what has arrived before each Advance, own commands as well as those of others.
type Timeline interface {
	// Stamp is the tick that a mirror gives to what its clients command now. Call it once a tick. It never goes back; where it has not grown since
	// the last time, what came in meanwhile has to wait.
	Stamp(now time.Duration) world.Tick
	// Submit takes a stamped command in. An error means that the command makes no sense: it was refused, and nothing happened.
	Submit(now time.Duration, c Command) (Fate, error)
	// Advance computes what is due. An error ends the timeline's use; it is a *DesyncError where the game itself is to blame.
	Advance(now time.Duration) error
	// Next is when Advance has something to do again, if nothing is submitted before: for how long a program may sleep.
	Next() time.Duration
	// Leading is the newest world, which players are shown. It is provisional until it is settled. It is good until the next Advance.
	Leading() *world.World
	// Settled is the world at the last tick about which nothing will change any more. It is good until the next Advance.
	Settled() *world.World
	// Notices are what the last Advance found out about events.
	Notices() []Notice
	// Pending goes through what is known for ticks that are not settled, in order of tick. With the settled world it is all that a mirror needs which joins; see
	// Options.Pending. A command's image is good until yield returns, and nothing may be submitted meanwhile.
	Pending(yield func(Command) bool)
	// Hold allows ticks up to one to be settled that was made with Options.Held: nothing is settled that was
	// not allowed. Timelines that wait, and Bucket, take no notice.
	Hold(until world.Tick)
	// Waits says that it waits for mirrors: it must be submitted their promises, and be told by SetMirrors
	// whom to wait for.
	Waits() bool
	// SetMirrors changes who is waited for; see Membership for what it takes. An error means that nothing was
	// changed. Where nobody is waited for, it does nothing.
	SetMirrors(now time.Duration, list []Membership) error
	// Members lists who is waited for, and what came of each: for a mirror that joins.
	Members() []Membership
	// Stats say what it has cost so far.
	Stats() Stats
	// Exact says whether settled worlds are promised to be those that one machine would have computed which had every command in time.
	Exact() bool
}

// Options are what all timelines have in common. The zero value is good.
type Options struct {
	// Margins say which fields of entities and weak events are compared, and how much they may differ; see Margin.
	Margins []Margin
	// Settled, if set, is called with the world at every tick that is settled, one after the other, and with what came in: for recording, and for comparing
	// hashes between mirrors. Both are good until it returns, and to be left as they are.
	Settled func(w *world.World, in *world.Inputs)
	// Ahead is how far ahead of the leading world commands may be stamped, as clocks differ. Default: 1 s.
	Ahead time.Duration
	// Memory is how many bytes the copies of the world may take, counted when the timeline is made. Default: 1 GiB.
	Memory int
	// Held starts with nothing allowed to be settled beyond the start: Hold says from then on what may be. It is for Trailing, Auto, TimeWarp and Ruled; those that
	// wait have promises for it, and Bucket settles as it goes.
	Held bool
	// Slack is how far behind its window the last copy may be held until the leading world stops as well and waits. Memory is reserved for it. Without Held it means
	// nothing. Default: 3 s.
	Slack time.Duration
	// Pending is what the mirror that the world comes from had in its book for later ticks, as its Pending lists it: for a mirror that joins. What is for the
	// world's own tick or an earlier one is passed over.
	Pending []Command
	// HashEvery is after how many ticks copies that were told the same are compared by their hashes, to find a game that is not deterministic. Default: 64.
	// Below 0, they never are.
	HashEvery int
	// Clock, if set, is asked for the time before and after each step and copy of a world, for Stats. A pure package has no clock of its own.
	Clock func() time.Duration
}

// Stats say what a timeline did and what it cost.
type Stats struct {
	Commands   int // taken in, on time or late, joins and leaves included
	Late       int // of those, for ticks that the leading world had passed
	TooLate    int // not taken in: their ticks were settled
	Duplicates int
	Superseded int // gave way to another command of the same player and tick
	Conflicts  int // had the stamp of another that was different: their mirror is broken
	Refused    int // made no sense

	Rulings int // made or taken in, with Ruled

	Executions int // commands executed, each as often as a world was given it
	Steps      int // ticks computed, of whatever world
	Settled    int // ticks settled

	Rollbacks   int // times that a world was taken back and computed again
	Seen        int // of those, how many reached the leading world
	Refreshes   int // of those, how many only served to take away differences that no one had seen
	Corrections int // times that places were corrected instead
	Depth       int // ticks gone back, all rollbacks together
	Deepest     int // ticks gone back in one

	Copies      int // of whole worlds, to save or to restore
	CopiedBytes int64
	Held        int // bytes of all copies of the world, now
	MostHeld    int

	Jump  float64 // the furthest that a field with a margin, such as a player's place, moved in the leading world by being repaired
	Jumps int     // how often one moved by more than its margin
	Moved float64 // how far those moved, together

	Waited time.Duration // for how long the leading world was behind its time, waiting for others
	Behind int           // the most ticks it was behind

	StepTime, CopyTime time.Duration // if there is a Clock

	GameErrors int   // ticks in which the game reported an error
	GameError  error // the first of those
}

// RollbacksPerThousand is how many rollbacks there were for 1000 commands.
func (s *Stats) RollbacksPerThousand() float64 {
	return 1000 * float64(s.Rollbacks) / float64(max(s.Commands, 1))
}

// Again is how many times as many ticks were computed as if none had been computed twice.
func (s *Stats) Again() float64 { return float64(s.Steps) / float64(max(s.Steps-s.Depth, 1)) }

// ErrAhead says that a command is stamped for a tick too far ahead: its mirror's clock is wrong, or this mirror has not advanced. Use errors.Is.
var ErrAhead = errors.New("stamped too far ahead")

// ErrMirror says that a command came from a mirror that the timeline does not know, or that broke a promise. Use errors.Is.
var ErrMirror = errors.New("mirror not to be believed")

// ErrMemory says that the copies of the world that were asked for do not fit into the memory that was allowed. Use errors.Is.
var ErrMemory = errors.New("not enough memory")

var errNoWorld = errors.New("timeline: there is no world to start from")

// A core is what all timelines are made of: what came in, what became of it, and what was told about that.
type core struct {
	clock
	hold
	game    *world.Game
	options Options
	start   world.Tick
	now     time.Duration
	book    *book
	watch   *watcher
	notices notices
	stats   Stats
	err     error // ended it
}

// open makes a core for worlds that go on from start, that settles at most window ticks after they lead, and remembers some more.
// With keep, what a mirror said can be struck out of the book again.
func (c *core) open(start *world.World, o Options, window, more int, keep bool) error {
	if start == nil {
		return errNoWorld
	}
	if start.Host().Settings().Partial {
		return errors.New("timeline: a partial world cannot be kept consistent, as it does not know everything; start from a whole one")
	}
	g := start.Game()
	c.clock, c.game, c.options, c.start = newClock(g), g, o, start.Tick()
	if c.options.Ahead == 0 {
		c.options.Ahead = time.Second
	}
	if c.options.Ahead < 0 {
		return fmt.Errorf("timeline: commands may be %v ahead; give 0 or more", o.Ahead)
	}
	if c.options.Memory == 0 {
		c.options.Memory = 1 << 30
	}
	if c.options.HashEvery == 0 {
		c.options.HashEvery = 64
	}
	var err error
	if c.watch, err = newWatcher(g, o.Margins); err != nil {
		return err
	}
	c.now = c.time(c.start)
	c.held, c.until = o.Held, c.start
	c.book = newBook(g, c.start, window+more+c.ticks(c.options.Ahead)+2)
	c.book.keep = keep
	c.options.Pending = nil
	for i := range o.Pending {
		if err := c.restore(&o.Pending[i]); err != nil {
			return err
		}
	}
	return nil
}

// restore takes in what another mirror had in its book, whoever it came from and whatever its number: that mirror has seen to it.
func (c *core) restore(cmd *Command) error {
	if cmd.Kind == Promise {
		return nil
	}
	if f, err := c.take(cmd, cmd.Tick, c.start); err != nil {
		return fmt.Errorf("what another mirror had in its book: %w", err)
	} else if f == TooLate {
		c.stats.TooLate--
	}
	return nil
}

// afford refuses more worlds than there is memory for.
func (c *core) afford(start *world.World, worlds int, what string) error {
	size := start.Host().Size()
	if need := size * worlds; need > c.options.Memory || worlds > 1<<20 {
		return fmt.Errorf("timeline: %w: %s take %d worlds of %d bytes, %.1f MiB, and Options.Memory allows %.1f MiB; ask for fewer, or allow more",
			ErrMemory, what, worlds, size, float64(need)/(1<<20), float64(c.options.Memory)/(1<<20))
	}
	return nil
}

// take is what Submit has in common: a command is put down for a tick that is mostly its own. One that is to be executed comes back as OnTime.
func (c *core) take(cmd *Command, tick, settled world.Tick) (Fate, error) {
	refuse := func(err error) (Fate, error) {
		c.stats.Refused++
		return Superseded, err
	}
	if err := c.book.valid(cmd); err != nil {
		return refuse(err)
	}
	if tick <= settled {
		c.stats.TooLate++
		return TooLate, nil
	}
	if tick > c.book.end() {
		return refuse(fmt.Errorf("timeline: tick %d of mirror %d: %w: there is room up to tick %d; see to the clocks, or raise Options.Ahead", tick, cmd.Origin, ErrAhead, c.book.end()))
	}
	f, conflict, err := c.book.put(cmd, tick)
	if err != nil {
		return refuse(err)
	}
	if conflict {
		c.stats.Conflicts++
	}
	c.count(f)
	return f, nil
}

func (c *core) count(f Fate) {
	switch f {
	case OnTime:
		c.stats.Commands++
	case Duplicate:
		c.stats.Duplicates++
	case Superseded:
		c.stats.Superseded++
	}
}

// step computes a tick of a world.
func (c *core) step(w *world.World, in *world.Inputs) {
	var began time.Duration
	if c.options.Clock != nil {
		began = c.options.Clock()
	}
	if err := w.Host().TryStep(in); err != nil {
		var p *world.Panic
		if errors.As(err, &p) {
			panic(p) // with who was stepping, for a host that recovers
		}
		if c.stats.GameErrors++; c.stats.GameError == nil {
			c.stats.GameError = err
		}
	}
	if c.options.Clock != nil {
		c.stats.StepTime += c.options.Clock() - began
	}
	c.stats.Steps++
	c.stats.Executions += len(in.Players())
}

// copy makes one world the same as another.
func (c *core) copy(to, from *world.World) {
	var began time.Duration
	if c.options.Clock != nil {
		began = c.options.Clock()
	}
	if err := to.Host().CopyFrom(from); err != nil {
		panic(err) // they are of one game
	}
	if c.options.Clock != nil {
		c.stats.CopyTime += c.options.Clock() - began
	}
	c.stats.Copies++
	c.stats.CopiedBytes += int64(from.Host().Size())
}

// tomorrow is when the next tick is due that is not yet.
func (c *core) tomorrow() time.Duration { return c.time(c.due(c.now) + 1) }

// wait counts how long the leading world is behind.
func (c *core) wait(led world.Tick, due world.Tick, passed time.Duration) {
	if led < due {
		c.stats.Waited += passed
		c.stats.Behind = max(c.stats.Behind, int(due-led))
	}
}

// jumped counts what players saw move that was repaired.
func (c *core) jumped(before, after *record) {
	c.watch.jump(before, after, &c.stats)
}

// Waits is false: most timelines wait for nobody.
func (c *core) Waits() bool { return false }

// SetMirrors does nothing: nobody is waited for.
func (c *core) SetMirrors(time.Duration, []Membership) error { return nil }

// Members is empty: nobody is waited for.
func (c *core) Members() []Membership { return nil }

// Notices are what the last Advance found out about events; see the type. They are good until the next Advance.
func (c *core) Notices() []Notice { return c.notices.list }

// seconds is for messages.
func seconds(d time.Duration) string { return d.Round(time.Microsecond).String() }
