package trace

import (
	"errors"
	"fmt"
	"io"

	"github.com/coeval-dev/coeval/world"
)

// ReplayOptions say how far to replay, and who looks on. The zero value replays everything.
type ReplayOptions struct {
	// From leaves out the ticks before it: Each is not called for them, and if the source can seek
	// they are computed only from the last state on.
	From world.Tick
	// Until is the last tick to replay. Default: the last of the trace.
	Until world.Tick
	// Each is called with the first world and with the world after each tick, and with what the
	// trace says of it. Both are good until it returns; an error ends the replay. From the tick on
	// at which the replay comes apart, it is not called any more, but for GoOn.
	Each func(w *world.World, r *Record) error
	// GoOn replays to the end though it came apart before, and shows Each what is computed here.
	GoOn bool
}

// A Replayed is how a replay went.
type Replayed struct {
	// from the state that it began with to the last tick that was computed, or without GoOn to
	// where it came apart
	First, Last world.Tick
	Hash        uint64       // of the world as computed here at Last
	Compared    int          // how many hashes were compared with the trace's
	Mismatch    *Mismatch    // where the replay came apart, or nil
	Damage      error        // wraps ErrDamaged or ErrCut where the trace is not whole, or nil
	GameErrors  int          // in how many ticks the game reported an error
	GameError   error        // the first of those
	Panic       *world.Panic // that the game panicked, in the tick after Last, or nil
}

// A Mismatch is where a replay came apart from what was recorded.
type Mismatch struct {
	Tick     world.Tick // the first at which the hashes differ
	Recorded uint64     // the hash in the trace, its lowest Bits bits
	Computed uint64     // the hash here
	Bits     int
	LastGood world.Tick // the last tick at which hashes were compared and agreed
	// Different is the first entity and field in which the world here and the one in the trace
	// differ, at the first state after Tick that the trace has; or nil.
	Different *world.Difference
}

func (m *Mismatch) String() string {
	mask := ^uint64(0) >> (64 - m.Bits)
	text := fmt.Sprintf("tick %d: hash %0*x here, %0*x in the trace", m.Tick, m.Bits/4,
		m.Computed&mask, m.Bits/4, m.Recorded)
	if m.Different != nil {
		text += fmt.Sprintf("; at %s", m.Different)
	}
	return text
}

// Replay computes the run of a trace again, from its first state and its inputs, and compares
// hashes wherever the trace has them. An error is one of the trace not fitting the game, of
// reading, or of Each. That hashes differ, or that the file is damaged further on, is part of the
// result.
//
// After a mismatch it goes on at least to the next state in the trace, if there is one, to find the
// entity and field in which the two differ there.
func Replay(g *world.Game, r *Reader, o ReplayOptions) (*Replayed, error) {
	c, err := newReplica(g, r, o.From)
	if err != nil {
		return nil, err
	}
	out := &Replayed{First: c.world.Tick()}
	for rec, news := c.first, true; ; {
		if news && (c.mismatch == nil || o.GoOn) && o.Each != nil && rec.Tick >= o.From {
			if err := o.Each(c.world, rec); err != nil {
				return out, err
			}
		}
		if c.done(o) {
			break
		}
		if rec, err = c.next(); err != nil {
			break
		}
		news = !rec.IsState() || rec.Given()
	}
	out.Last, out.Compared, out.GameErrors, out.GameError = c.world.Tick(), c.compared,
		c.gameErrors, c.gameError
	if errors.As(err, &out.Panic) {
		out.Last, out.Mismatch = out.Panic.Tick-1, c.mismatch
		return out, nil
	}
	if out.Mismatch = c.mismatch; c.mismatch != nil && !o.GoOn {
		out.Last, out.Hash = c.mismatch.Tick, c.mismatch.Computed
	} else {
		out.Hash = c.world.Hash()
	}
	switch {
	case err == nil || err == io.EOF:
		return out, nil
	case incomplete(err):
		out.Damage = err
		return out, nil
	}
	return out, err
}

// done says whether a replay has seen enough.
func (c *replica) done(o ReplayOptions) bool {
	if c.mismatch != nil && !o.GoOn {
		return c.mismatch.Different != nil
	}
	return o.Until > 0 && c.world.Tick() >= o.Until
}

// A replica is a world that is computed from a trace, beside what the trace says of it.
type replica struct {
	game  *world.Game
	in    *world.Inputs
	r     *Reader
	world *world.World
	first *Record

	// what the trace holds for the same tick, if it is a state and another one than what was
	// computed
	recorded   *world.World
	mismatch   *Mismatch
	good       world.Tick
	compared   int
	gameErrors int
	gameError  error
	failed     error // reading, for who looks at it later
}

// newReplica begins with the last state of a trace at or before a tick, as far as that can be found
// without reading all.
func newReplica(g *world.Game, r *Reader, from world.Tick) (*replica, error) {
	if err := r.Header().Fits(g); err != nil {
		return nil, err
	}
	if err := r.SkipTo(from); err != nil {
		return nil, err
	}
	c := &replica{game: g, in: g.NewInputs(), r: r}
	rec, err := r.Next()
	switch {
	case err == io.EOF:
		return nil, errors.New("trace: it holds no state to begin with")
	case err != nil:
		return nil, err
	}
	if c.world, err = c.load(rec); err != nil {
		return nil, err
	}
	c.first, c.good, c.compared = rec, rec.Tick, 1
	return c, nil
}

func (c *replica) load(rec *Record) (*world.World, error) {
	data, err := rec.State()
	if err != nil {
		return nil, err
	}
	w, err := c.game.LoadWithin(data, c.r.limits.World)
	if err == nil && (w.Tick() != rec.Tick || w.Hash() != rec.Hash) {
		err = fmt.Errorf("trace: %w: the state of tick %d is not what its block says", ErrDamaged,
			rec.Tick)
	}
	return w, err
}

// next takes the world through the next record of the trace.
func (c *replica) next() (*Record, error) {
	rec, err := c.r.Next()
	if err != nil {
		return nil, err
	}
	if rec.IsState() {
		return rec, c.state(rec)
	}
	return rec, c.apply(rec)
}

// apply computes a tick.
func (c *replica) apply(rec *Record) error {
	c.recorded = nil
	if err := rec.Inputs(c.in); err != nil {
		return err
	}
	if err := c.world.Host().TryStep(c.in); err != nil {
		var p *world.Panic
		if errors.As(err, &p) {
			return p
		}
		c.gameErrors++
		if c.gameError == nil {
			c.gameError = err
		}
	}
	c.compare(rec)
	return nil
}

func (c *replica) compare(rec *Record) {
	if rec.HashBits == 0 || c.mismatch != nil {
		return
	}
	c.compared++
	hash := c.world.Hash()
	if sameHash(rec.Hash, rec.HashBits, hash, 64) {
		c.good = rec.Tick
		return
	}
	c.mismatch = &Mismatch{
		Tick: rec.Tick, Recorded: rec.Hash, Computed: hash, Bits: rec.HashBits, LastGood: c.good}
}

// state compares the world with one in the trace, or goes on from there.
func (c *replica) state(rec *Record) error {
	if !rec.Given() {
		c.compare(rec)
		if c.mismatch == nil {
			return nil
		}
	}
	w, err := c.load(rec)
	switch {
	case err != nil:
		return err
	case rec.Given():
		c.world = w
		return nil
	}
	c.recorded = w
	if c.mismatch.Different == nil {
		c.mismatch.Different = world.Differ(c.world, w)
	}
	return nil
}
