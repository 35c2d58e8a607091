package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// A Mirror is the number of a server that holds a copy of the world and stamps what its own clients command.
type Mirror uint16

// A Kind says what a Command is.
type Kind uint8

const (
	// Give is what a player commands for a tick.
	Give Kind = iota
	// Join lets a player in.
	Join
	// Leave lets a player go.
	Leave
	// Promise says that its mirror will stamp nothing more for its tick or an earlier one. Timelines that wait live by promises; the others do without.
	Promise
)

func (k Kind) String() string {
	switch k {
	case Give:
		return "give"
	case Join:
		return "join"
	case Leave:
		return "leave"
	case Promise:
		return "promise"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// A Command is something that comes into the world from outside, with the stamp that the mirror gave it where it came in. By the stamp it has the same place
// in the order of execution on every mirror, whenever it arrives there: first by Tick; within a tick leaves come before joins and those before commands, in
// order of player; and if one player has two commands in a tick, the one with the higher Origin, then the higher Seq, counts.
type Command struct {
	Kind   Kind
	Tick   world.Tick // when it is to happen
	Origin Mirror     // where it came in
	// Seq counts what a mirror stamps, from 1 and without gaps. A Promise has that of the last thing stamped before it, or 0. Timelines that wait for each
	// other tell by it that nothing is missing.
	Seq    uint32
	Player world.Player
	Image  []int32 // of a Give, as Game.Commands describes it; Submit copies it
	// Sent is when a Promise was made, by the clock that mirrors share, or 0 if it does not say. Lockstep learns by it how long the way is.
	Sent time.Duration
}

func (c *Command) String() string {
	return fmt.Sprintf("%v tick %d mirror %d seq %d player %d %v", c.Kind, c.Tick, c.Origin, c.Seq, c.Player, c.Image)
}

// A Fate says what became of a command that was submitted.
type Fate uint8

const (
	// OnTime: every copy of the world executes it in its place.
	OnTime Fate = iota
	// Late: the leading world had passed its tick. It will be repaired if that matters; with a timeline that repairs nothing, it happens later than it was meant to.
	Late
	// TooLate: its tick is settled. It was not and will not be executed, and whoever runs the game has to know.
	TooLate
	// Duplicate: it was there already.
	Duplicate
	// Superseded: another command of the same player and tick goes before it.
	Superseded
)

func (f Fate) String() string {
	names := [...]string{"on time", "late", "too late", "duplicate", "superseded"}
	if int(f) < len(names) {
		return names[f]
	}
	return fmt.Sprintf("fate %d", uint8(f))
}

// A mark is what decides between two commands of a player for one tick.
type mark struct {
	tick   world.Tick
	player world.Player
	origin Mirror
	seq    uint32
}

// compare orders marks by what is executed last.
func (m mark) compare(o mark) int {
	return cmp.Or(cmp.Compare(m.tick, o.tick), cmp.Compare(m.origin, o.origin), cmp.Compare(m.seq, o.seq))
}

func (c *Command) mark() mark { return mark{c.Tick, c.Player, c.Origin, c.Seq} }

// A book holds what came in, by tick, from the first tick that may have to be executed again to the last that may be stamped by now.
type book struct {
	game    *world.Game
	base    world.Tick // ticks up to this one are gone
	pages   []bookPage // the tick after base and those that follow, in a ring
	check   *world.Inputs
	image   []int32
	present []int32 // the image of the command that is there
}

type bookPage struct {
	tick  world.Tick
	in    *world.Inputs
	marks []mark // of in.Players, in the same order
}

func newBook(g *world.Game, base world.Tick, ticks int) *book {
	b := &book{game: g, base: base, pages: make([]bookPage, ticks), check: g.NewInputs()}
	for i := range b.pages {
		b.pages[i].in = g.NewInputs()
	}
	if s := g.Commands(); s != nil {
		b.image, b.present = make([]int32, len(s.Slots)), make([]int32, len(s.Slots))
	}
	return b
}

// end is the last tick that the book has room for.
func (b *book) end() world.Tick { return b.base + world.Tick(len(b.pages)) }

// trim gives up all ticks up to one.
func (b *book) trim(base world.Tick) { b.base = max(b.base, base) }

// at gives the page of a tick, after base and up to end.
func (b *book) at(t world.Tick) *bookPage {
	p := &b.pages[int(t%world.Tick(len(b.pages)))]
	if p.tick != t {
		p.tick = t
		p.in.Reset()
		p.marks = p.marks[:0]
	}
	return p
}

// valid tries whether a command is one of the game's, and brings its image into the form that every mirror gives it; b.image is good until the next call.
func (b *book) valid(c *Command) error {
	if c.Kind > Promise {
		return fmt.Errorf("timeline: command of unknown %v", c.Kind)
	}
	if c.Kind == Promise {
		return nil
	}
	if c.Player == world.Nobody {
		return fmt.Errorf("timeline: %v by player 0, who is nobody; players count from 1", c.Kind)
	}
	if c.Kind != Give {
		return nil
	}
	b.check.Reset()
	if err := b.check.GiveImage(c.Player, c.Image); err != nil {
		return fmt.Errorf("timeline: command of player %d from mirror %d for tick %d: %w", c.Player, c.Origin, c.Tick, err)
	}
	if !b.check.Image(c.Player, b.image) {
		return fmt.Errorf("timeline: command of player %d from mirror %d for tick %d cannot be packed again", c.Player, c.Origin, c.Tick)
	}
	return nil
}

// put takes a valid command in, to be executed at a tick that is mostly its own. It says what became of it, without regard to time, and whether two different ones had the same stamp; those are told apart by
// their images, so that even then all mirrors choose the same.
func (b *book) put(c *Command, tick world.Tick) (f Fate, conflict bool, err error) {
	p := b.at(tick)
	switch c.Kind {
	case Join:
		return once(p.in.Joins(), c.Player, p.in.Join), false, nil
	case Leave:
		return once(p.in.Leaves(), c.Player, p.in.Leave), false, nil
	}
	m := c.mark()
	i, found := slices.BinarySearch(p.in.Players(), c.Player)
	if found {
		order := m.compare(p.marks[i])
		if order == 0 {
			p.in.Image(c.Player, b.present)
			if order = slices.Compare(b.image, b.present); order == 0 {
				return Duplicate, false, nil
			}
			conflict = true
		}
		if order < 0 {
			return Superseded, conflict, nil
		}
		p.marks[i] = m
	} else {
		p.marks = slices.Insert(p.marks, i, m)
	}
	return OnTime, conflict, p.in.GiveImage(c.Player, b.image)
}

// newer is the first tick after a command's own, and not after another, for which there is a command of the same player; or 0.
func (b *book) newer(c *Command, until world.Tick) world.Tick {
	if c.Kind != Give {
		return 0
	}
	for n := c.Tick + 1; n <= until; n++ {
		if p := b.at(n); listed(p.in.Players(), c.Player) {
			return n
		}
	}
	return 0
}

func once(list []world.Player, p world.Player, add func(world.Player)) Fate {
	if _, found := slices.BinarySearch(list, p); found {
		return Duplicate
	}
	add(p)
	return OnTime
}
