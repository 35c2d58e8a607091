package trace

import (
	"errors"
	"fmt"
	"io"

	"github.com/coeval-dev/coeval/world"
)

// A Cause says why two runs came apart.
type Cause string

// The causes that Desync can tell apart.
const (
	CauseNone   Cause = ""       // they did not
	CauseStart  Cause = "start"  // they did not begin with the same world
	CauseInputs Cause = "inputs" // other things came in
	// from the same world and the same inputs the machines computed different things
	CauseRules Cause = "rules"
	// one of the runs went on from a state that was not computed but given
	CauseState Cause = "state"

	CauseUnknown Cause = "unknown" // two states alone do not tell
)

// A Report is what Desync finds out about two runs that should be the same.
type Report struct {
	Game  string `json:"game"`
	Cause Cause  `json:"cause,omitempty"`
	// Tick is the first at which the worlds differ. With CauseRules it is known as exactly as the
	// traces have hashes: the worlds were the same at LastGood.
	Tick     world.Tick `json:"tick"`
	LastGood world.Tick `json:"last_good"`
	// Input is the first difference in what came in, whether or not it made a difference to the
	// world.
	Input *InputDifference `json:"input,omitempty"`
	// World is the first entity and field that differ, A's and B's value. It is nil if the traces
	// hold no state from which it can be seen. Its own tick is later than Tick if there was none
	// before, or if at first only the players' commands differed.
	World *world.Difference `json:"-"`
	// A and B are the two runs.
	A Side `json:"a"`
	B Side `json:"b"`
	// First and Last are the ticks that were compared.
	First world.Tick `json:"first"`
	Last  world.Tick `json:"last"`
	// Around is what players commanded in the last ticks before the difference.
	Around []Moment `json:"around,omitempty"`

	game           *world.Game
	a, b           source
	worldA, worldB []byte // at World.Tick
}

// A source is where one of the two traces begins, to be read again. Two states have none.
type source struct {
	io.ReadSeeker
	at     int64
	limits Limits
}

func (s source) open() (*Reader, error) {
	if _, err := s.Seek(s.at, io.SeekStart); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	return OpenWithin(s, s.limits)
}

// A Side is one of the two runs that Desync compares.
type Side struct {
	Build  string `json:"build,omitempty"`
	Note   string `json:"note,omitempty"`
	Damage string `json:"damage,omitempty"` // where the trace is damaged, if it is
	// Apart is the tick from which on the trace is not what this program computes from the same
	// inputs, or 0.
	Apart world.Tick `json:"apart,omitempty"`
}

// A Moment is what one player commanded at one tick, in words; B's only where it differs.
type Moment struct {
	Tick   world.Tick   `json:"tick"`
	Player world.Player `json:"player"`
	A      string       `json:"a"`
	B      string       `json:"b,omitempty"`
}

// Desync finds the first tick, entity and field at which two recorded runs of a game differ, and
// why. Both are computed again, side by side, and compared with each other and with what was
// recorded.
//
// If other things came in, that is the reason, and the entity and field are exact. If the same came
// in, at least one of the machines computed something else than this one does; its worlds are then
// known only where its trace holds states. Record with StateEvery: 1, or replay each trace on its
// own machine with coeval trace replay --record --states 1, to see the first tick itself.
//
// The report reads a and b again when it makes a bundle, so keep them open until then.
func Desync(g *world.Game, a, b io.ReadSeeker) (*Report, error) {
	return DesyncWithin(g, a, b, Limits{})
}

// DesyncWithin is Desync with limits of the caller's own, for each of the two.
func DesyncWithin(g *world.Game, a, b io.ReadSeeker, l Limits) (*Report, error) {
	rep := &Report{Game: g.Name(), game: g}
	rep.a.limits, rep.b.limits = l, l
	x, err := rep.replica(a, &rep.a, &rep.A)
	if err != nil {
		return nil, fmt.Errorf("first trace: %w", err)
	}
	y, err := rep.replica(b, &rep.b, &rep.B)
	if err != nil {
		return nil, fmt.Errorf("second trace: %w", err)
	}
	s := &search{Report: rep, x: x, y: y}
	if err := s.run(); err != nil {
		return nil, err
	}
	if x.mismatch != nil {
		rep.A.Apart = x.mismatch.Tick
	}
	if y.mismatch != nil {
		rep.B.Apart = y.mismatch.Tick
	}
	if rep.Cause != CauseNone {
		err = rep.lookAround()
	}
	return rep, err
}

// replica begins to compute one of the two runs.
func (r *Report) replica(in io.ReadSeeker, from *source, side *Side) (*replica, error) {
	at, err := in.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	t, err := OpenWithin(in, from.limits)
	if err != nil {
		return nil, err
	}
	from.ReadSeeker, from.at = in, at
	*side = Side{Build: t.Header().Build.String(), Note: t.Header().Note}
	return newReplica(r.game, t, 0)
}

// A search goes through two traces in step.
type search struct {
	*Report
	x, y   *replica
	agreed world.Tick // the last tick at which both traces have the same hash
	given  bool       // one of the worlds was replaced by one that was not computed
	done   bool
}

func (s *search) run() error {
	if err := s.align(); err != nil {
		return err
	}
	at := s.x.world.Tick()
	s.First, s.Last, s.agreed = at, at, at
	if d := world.Differ(s.x.world, s.y.world); d != nil {
		s.Cause, s.Tick = CauseStart, at
		s.found(d, s.x.world, s.y.world)
		return nil
	}
	for {
		p, more := s.read(s.x, &s.A)
		q, both := s.read(s.y, &s.B)
		if err := errors.Join(s.x.failed, s.y.failed); err != nil {
			return err
		}
		if s.judge(); s.done || !more || !both {
			return nil
		}
		if p.Tick != q.Tick {
			return fmt.Errorf(
				"trace: after tick %d one of the two jumps to tick %d and the other does not",
				s.Last, max(p.Tick, q.Tick))
		}
		if s.Input == nil {
			s.Input = differentInputs(p, q, s.x.r.history.schema)
		}
		if err := errors.Join(s.x.apply(p), s.y.apply(q)); err != nil {
			return err
		}
		s.Last = p.Tick
		s.compare(p, q)
	}
}

// align takes the one that began earlier to where the other begins.
func (s *search) align() error {
	for s.x.world.Tick() != s.y.world.Tick() {
		c := s.x
		if s.x.world.Tick() > s.y.world.Tick() {
			c = s.y
		}
		if _, err := c.next(); err != nil {
			return fmt.Errorf(
				"trace: the two have no tick in common: one can be read to tick %d, and the "+
					"other begins at %d: %w",
				c.world.Tick(), max(s.x.r.Header().First, s.y.r.Header().First), err)
		}
	}
	return nil
}

// read takes a trace past the states of the tick it is at, to the inputs of the next, if there is
// one.
func (s *search) read(c *replica, side *Side) (rec *Record, more bool) {
	for {
		rec, err := c.r.Next()
		switch {
		case err == io.EOF:
			return nil, false
		case incomplete(err):
			side.Damage = err.Error()
			return nil, false
		case err != nil:
			c.failed = err
			return nil, false
		case !rec.IsState():
			return rec, true
		}
		s.given = s.given || rec.Given()
		if c.failed = c.state(rec); c.failed != nil {
			return nil, false
		}
	}
}

// compare looks at what both traces say of the tick that was just computed, and at what came out
// here.
func (s *search) compare(p, q *Record) {
	if s.Cause != CauseNone {
		return
	}
	m, n := s.x.mismatch, s.y.mismatch
	known := p.HashBits > 0 && q.HashBits > 0
	same := sameHash(p.Hash, p.HashBits, q.Hash, q.HashBits)
	switch {
	case known && same:
		s.agreed = p.Tick
		return
	case known && s.Input == nil:
		s.Tick = p.Tick
	// One of them has no hash for the tick, but where it has one again it is right and the other
	// was wrong before.
	case m != nil && n == nil && s.y.good >= m.Tick && s.Input == nil:
		s.Tick = m.Tick
	case n != nil && m == nil && s.x.good >= n.Tick && s.Input == nil:
		s.Tick = n.Tick
	default:
		return
	}
	s.Cause, s.LastGood = CauseRules, s.lastGood()
}

// lastGood is the last tick at which the two are known to have agreed, with each other or with what
// is computed here.
func (s *search) lastGood() world.Tick { return max(s.agreed, min(s.x.lastGood(), s.y.lastGood())) }

func (c *replica) lastGood() world.Tick {
	if c.mismatch != nil {
		return c.mismatch.LastGood
	}
	return c.good
}

// judge compares the worlds, as far as they are known.
func (s *search) judge() {
	a, b := s.x.actual(), s.y.actual()
	if a == nil || b == nil {
		if s.Cause == CauseRules {
			return
		}
		a, b = s.x.world, s.y.world // they still tell what different inputs do
	}
	d := world.Differ(a, b)
	if d == nil {
		return
	}
	if s.Cause == CauseNone {
		s.Tick, s.LastGood = a.Tick(), a.Tick()-1
		switch {
		case s.given:
			s.Cause, s.LastGood = CauseState, a.Tick()
		case s.Input != nil:
			s.Cause = CauseInputs
		default:
			s.Cause, s.LastGood = CauseRules, s.lastGood()
		}
	}
	// Commands are part of a world, so it may take some ticks until an entity shows what came of
	// them.
	if s.done = d.Class != ""; s.done || s.World == nil {
		s.found(d, a, b)
	}
}

// actual is the world that the recording machine had, or nil if that is not known.
func (c *replica) actual() *world.World {
	switch {
	case c.recorded != nil:
		return c.recorded
	case c.mismatch == nil:
		return c.world
	}
	return nil
}

func (r *Report) found(d *world.Difference, a, b *world.World) {
	r.World = d
	r.worldA, r.worldB = a.Host().Save(nil), b.Host().Save(nil)
}

// DesyncStates finds the first entity and field in which two saved worlds of a game differ.
func DesyncStates(g *world.Game, a, b []byte) (*Report, error) {
	return DesyncStatesWithin(g, a, b, world.LoadLimits{})
}

// DesyncStatesWithin is DesyncStates with limits of the caller's own.
func DesyncStatesWithin(g *world.Game, a, b []byte, l world.LoadLimits) (*Report, error) {
	x, err := g.LoadWithin(a, l)
	if err != nil {
		return nil, fmt.Errorf("first state: %w", err)
	}
	y, err := g.LoadWithin(b, l)
	if err != nil {
		return nil, fmt.Errorf("second state: %w", err)
	}
	rep := &Report{Game: g.Name(), game: g, First: x.Tick(), Last: y.Tick()}
	if d := world.Differ(x, y); d != nil {
		rep.Cause, rep.Tick = CauseUnknown, x.Tick()
		rep.found(d, x, y)
	}
	return rep, nil
}
