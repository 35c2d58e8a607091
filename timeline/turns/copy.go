package turns

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// A Source tells what goes into each tick.
type Source interface {
	// Turn fills in what goes into a tick. Known says that it is all there and will not change;
	// otherwise some of it is guessed. If a tick is not known, none after it is.
	Turn(t world.Tick, in *world.Inputs) (known bool)
}

// Options are for NewCopy.
type Options struct {
	// Depth is how many ticks may be shown beyond what is known. Zero is lock step.
	Depth int
	// Every is how many ticks apart marks are. Default: 60.
	Every int
	// Marks is how many of them are kept, at least 4. The copy waits rather than forget one that
	// is not settled and the only one to go back to. Default: 6.
	Marks int
	// Chain is the digest of all turns before, where the world is not at its first tick; see Mark.
	Chain uint64
	// After, if set, is called after each tick that was computed. Again says that this tick was
	// computed before, with something guessed wrong.
	After func(w *world.World, in *world.Inputs, again bool)
}

// MaxDepth is the most that Depth can be.
const MaxDepth = 64

// A Mark is the world after a tick up to which everything was known.
type Mark struct {
	Tick  world.Tick
	Hash  uint64 // of the world
	Turns uint64 // of all turns up to there
	World *world.World
}

// Stats count what a copy did.
type Stats struct {
	Shown    uint64 // ticks that were shown
	Waits    uint64 // times that Advance could not show one more
	Returns  uint64 // times that it went back
	Again    uint64 // ticks that were computed again
	Deepest  int    // the most ticks that were computed again at once
	Copies   uint64 // of the world
	Far      uint64 // times that it went back to a mark
	Replaced uint64
}

// A Copy is a world that executes turns. It belongs to one goroutine.
type Copy struct {
	opt    Options
	source Source
	world  *world.World
	shown  world.Tick
	known  world.Tick // all up to here was known when it was computed
	least  world.Tick // the first tick of which something new is known; 0 for none
	kept   []kept     // worlds as they were before something was guessed, by tick
	marks  []Mark     // by rising tick
	spare  []*world.World
	turns  []turn // what was executed, by tick

	locals  *world.Locals // what only this machine shows
	settled world.Tick
	in      *world.Inputs
	sync    bits.Sync
	w       bits.Writer
	buf     []byte
	stats   Stats
}

type kept struct {
	tick  world.Tick
	valid bool
	world *world.World
}

type turn struct {
	tick  world.Tick
	sum   uint64 // of what went in
	chain uint64 // of all up to it, once it is known
}

// NewCopy makes a copy of a world, at whose tick everything is settled. The copy owns it from now
// on.
func NewCopy(w *world.World, s Source, o Options) (*Copy, error) {
	if o.Every == 0 {
		o.Every = 60
	}
	if o.Marks == 0 {
		o.Marks = 6
	}
	if o.Depth < 0 || o.Depth > MaxDepth || o.Every < 1 || o.Every > 1000 || o.Marks < 4 {
		return nil, fmt.Errorf(
			"turns: a depth of %d, a mark every %d ticks, %d of them; give 0 to %d, "+
				"1 to 1000 and 4 or more", o.Depth, o.Every, o.Marks, MaxDepth)
	}
	c := &Copy{opt: o, source: s, in: w.Game().NewInputs(), buf: make([]byte, 4096),
		locals: w.Game().NewLocals()}
	c.kept = make([]kept, MaxDepth+2)
	c.turns = make([]turn, o.Every*(o.Marks+1)+MaxDepth+2)
	c.begin(w, o.Chain)
	return c, nil
}

// begin starts from a world at which all is settled.
func (c *Copy) begin(w *world.World, chain uint64) {
	t := w.Tick()
	c.world, c.shown, c.known, c.settled, c.least = w, t, t, t, 0
	_ = w.Host().SetLocals(c.locals) // it is of the same game
	for i := range c.kept {
		c.kept[i].valid = false
	}
	for i := range c.turns {
		c.turns[i] = turn{}
	}
	*c.at(t) = turn{tick: t, chain: chain}
	for _, m := range c.marks {
		c.spare = append(c.spare, m.World)
	}
	c.marks = c.marks[:0]
	c.mark()
}

func (c *Copy) at(t world.Tick) *turn { return &c.turns[t%world.Tick(len(c.turns))] }

// World is the world that is shown, with the local entities that were spawned when its ticks were
// computed for the first time. It is for looking at.
func (c *Copy) World() *world.World { return c.world }

// Shown is its tick.
func (c *Copy) Shown() world.Tick { return c.shown }

// Known is the tick up to which nothing in it was guessed.
func (c *Copy) Known() world.Tick { return c.known }

// Settled is the tick up to which nothing can change any more, as far as it was told.
func (c *Copy) Settled() world.Tick { return c.settled }

// Depth is how many ticks may be shown beyond what is known.
func (c *Copy) Depth() int { return c.opt.Depth }

// Stats count what the copy did.
func (c *Copy) Stats() Stats { return c.stats }

// SetDepth changes how many ticks may be shown beyond what is known. What is shown already stays.
func (c *Copy) SetDepth(n int) { c.opt.Depth = min(max(n, 0), MaxDepth) }

// Learn tells that more is known of a tick than before, or something else. What follows from it is
// computed by the next Repair.
func (c *Copy) Learn(t world.Tick) {
	if c.least == 0 || t < c.least {
		c.least = t
	}
}

// Settle tells that everything up to a tick is known everywhere and cannot change.
func (c *Copy) Settle(t world.Tick) { c.settled = max(c.settled, min(t, c.known)) }

// Marks lists the marks that are kept, the oldest first. They are good until the next Advance.
func (c *Copy) Marks() []Mark { return c.marks }

// ErrGone says that something changed in a tick to which there is no way back.
var ErrGone = errors.New("turns: what changed is before the oldest world that is kept")

// Repair computes again what was computed with something guessed wrong.
func (c *Copy) Repair() error {
	if c.least == 0 {
		return nil
	}
	from := c.least
	c.least = 0
	if from > c.shown {
		return nil
	}
	for t := from; t <= c.shown; t++ {
		known, sum := c.look(t)
		if c.at(t).tick != t || c.at(t).sum != sum {
			return c.again(t)
		}
		if t == c.known+1 && known {
			c.learnt(t)
		} else if t <= c.known && !known {
			c.known = t - 1 // somebody else takes part in it, of whom nothing has come
		}
	}
	return nil
}

// look asks what goes into a tick, and gives a digest of it.
func (c *Copy) look(t world.Tick) (known bool, sum uint64) {
	c.in.Reset()
	known = c.source.Turn(t, c.in)
	for {
		c.w.Reset(c.buf)
		c.sync.StartWrite(&c.w)
		c.in.Sync(&c.sync)
		if c.w.Err() == nil && c.sync.Err() == nil || len(c.buf) > 1<<22 {
			break
		}
		c.buf = make([]byte, 2*len(c.buf))
	}
	return known, digest(uint64(t), c.w.Bytes())
}

// digest is FNV-1a over words, with a finish: it tells turns apart, and proves nothing.
func digest(seed uint64, b []byte) uint64 {
	const prime = 0x100000001b3
	h := seed ^ 0xcbf29ce484222325
	h *= prime
	for len(b) >= 8 {
		h = (h ^ binary.LittleEndian.Uint64(b)) * prime
		h ^= h >> 29
		b = b[8:]
	}
	for _, x := range b {
		h = (h ^ uint64(x)) * prime
	}
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}

// learnt notes that a tick that was computed with a guess was computed right.
func (c *Copy) learnt(t world.Tick) {
	c.known = t
	e := c.at(t)
	e.chain = chain(c.at(t-1).chain, e.sum)
	if c.marked(t) {
		if k := &c.kept[int(t)%len(c.kept)]; k.valid && k.tick == t {
			c.keep(k.world)
		} else if t == c.shown {
			c.keep(c.world)
		}
	}
}

func chain(before, sum uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], sum)
	return digest(before, b[:])
}

func (c *Copy) marked(t world.Tick) bool { return t%world.Tick(c.opt.Every) == 0 }

// again goes back to before a tick and computes from there to what is shown.
func (c *Copy) again(t world.Tick) error {
	if t <= c.settled {
		return fmt.Errorf("turns: tick %d changed, and %d is settled", t, c.settled)
	}
	to := c.shown
	if k := &c.kept[int(t-1)%len(c.kept)]; k.valid && k.tick == t-1 {
		if err := c.world.Host().CopyFrom(k.world); err != nil {
			return err
		}
		c.shown, c.known = t-1, min(c.known, t-1)
		c.dropMarks(t - 1)
	} else if err := c.far(t - 1); err != nil {
		return err
	}
	c.stats.Returns++
	c.stats.Deepest = max(c.stats.Deepest, int(to-c.shown))
	for i := range c.kept {
		if c.kept[i].tick > c.shown {
			c.kept[i].valid = false
		}
	}
	for c.shown < to {
		c.stats.Again++
		if err := c.step(true); err != nil {
			return err
		}
	}
	return nil
}

// far goes back to the last mark that is not after a tick.
func (c *Copy) far(t world.Tick) error {
	c.dropMarks(t)
	if len(c.marks) == 0 {
		return ErrGone
	}
	m := &c.marks[len(c.marks)-1]
	c.stats.Far++
	c.shown, c.known = m.Tick, m.Tick
	return c.world.Host().CopyFrom(m.World)
}

func (c *Copy) dropMarks(after world.Tick) {
	for n := len(c.marks); n > 0 && c.marks[n-1].Tick > after; n-- {
		c.spare = append(c.spare, c.marks[n-1].World)
		c.marks = c.marks[:n-1]
	}
}

// Advance shows one tick more. It does not where that would be further beyond what is known than
// Depth allows, or than there are worlds to go back to. Call Repair before.
func (c *Copy) Advance() (bool, error) {
	if !c.may() {
		c.stats.Waits++
		return false, nil
	}
	c.stats.Shown++
	return true, c.step(false)
}

// may says whether the next tick may be computed.
func (c *Copy) may() bool {
	next := c.shown + 1
	if c.marked(next) && len(c.marks) >= c.opt.Marks && c.marks[1].Tick > c.settled {
		return false // the oldest mark is still needed
	}
	if c.known == c.shown {
		c.in.Reset()
		if c.source.Turn(next, c.in) {
			return true
		}
	}
	return int(next-c.known) <= c.opt.Depth
}

// step computes the tick after the one that is shown.
func (c *Copy) step(again bool) error {
	t := c.shown + 1
	known, sum := c.look(t)
	known = known && c.known == c.shown
	if !known {
		if err := c.save(); err != nil {
			return err
		}
	}
	if err := c.compute(again); err != nil {
		return err
	}
	c.shown = t
	*c.at(t) = turn{tick: t, sum: sum}
	if known {
		c.known = t
		c.at(t).chain = chain(c.at(t-1).chain, sum)
		if c.marked(t) {
			c.mark()
		}
	}
	if c.opt.After != nil {
		c.opt.After(c.world, c.in, again)
	}
	// what a game reports of its own mistakes is the same everywhere, and no reason to stop
	return nil
}

// compute has the world go one tick on. What that spawns of local classes is there once, however
// often a tick is computed.
func (c *Copy) compute(again bool) error {
	if again {
		_ = c.world.Host().SetLocals(nil)
	}
	err := c.world.Host().TryStep(c.in)
	_ = c.world.Host().SetLocals(c.locals)
	if !again {
		_ = c.locals.Step(c.world) // a mistake of theirs changes nothing
	}
	if err != nil {
		var panicked *world.Panic
		if errors.As(err, &panicked) {
			return err
		}
	}
	return nil
}

// save keeps the world as it is before something is guessed.
func (c *Copy) save() error {
	k := &c.kept[int(c.shown)%len(c.kept)]
	if k.valid && k.tick == c.shown {
		return nil
	}
	c.stats.Copies++
	k.tick, k.valid = c.shown, true
	if k.world == nil {
		k.world = c.world.Host().Clone()
		return nil
	}
	return k.world.Host().CopyFrom(c.world)
}

func (c *Copy) mark() { c.keep(c.world) }

// fewest marks stay for a while after they are settled, for whoever finds that they differ.
const fewest = 3

// keep makes a mark of a world.
func (c *Copy) keep(w *world.World) {
	for len(c.marks) > fewest && c.marks[1].Tick <= c.settled || len(c.marks) >= c.opt.Marks {
		c.spare = append(c.spare, c.marks[0].World)
		c.marks = append(c.marks[:0], c.marks[1:]...)
	}
	var copied *world.World
	c.stats.Copies++
	if n := len(c.spare); n > 0 {
		copied, c.spare = c.spare[n-1], c.spare[:n-1]
		if copied.Host().CopyFrom(w) != nil {
			copied = w.Host().Clone()
		}
	} else {
		copied = w.Host().Clone()
	}
	c.marks = append(c.marks, Mark{Tick: copied.Tick(), Hash: copied.Hash(),
		Turns: c.at(copied.Tick()).chain, World: copied})
}

// Replace goes on from another world, at which everything is settled and whose turns have a digest:
// that of a machine which is right. What was shown beyond it is computed again.
func (c *Copy) Replace(w *world.World, turns uint64) error {
	to := c.shown
	c.stats.Replaced++
	c.begin(w, turns)
	for c.shown < to && c.may() {
		c.stats.Again++
		if err := c.step(true); err != nil {
			return err
		}
	}
	return nil
}
