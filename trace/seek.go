package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// A Seeker gives the world of a trace at any tick: for tools that show a run forwards, backwards
// and from anywhere. It keeps whole worlds every so often, its key frames, and computes what lies
// between them.
//
// It belongs to one goroutine at a time. What it takes is bounded: the reader's Limits hold for the
// trace, and Budget for the key frames.
type Seeker struct {
	game   *world.Game
	source io.ReaderAt
	size   int64
	limits Limits
	header *Header
	last   world.Tick
	damage error

	states []place // where a reading can begin
	keys   keyFrames
	cursor *replica // the world that was asked for last, and where the reading stands
	in     *world.Inputs
	given  bool // the cursor has read the state that was given at its tick

	// Of a branch: what it does to inputs, from which tick on. Worlds that the trace holds after
	// that are not its own.
	from   world.Tick
	change func(t world.Tick, in *world.Inputs) error
}

// SeekOptions say what a Seeker may take. The zero value will do.
type SeekOptions struct {
	// Every is how many ticks apart key frames are. Default: five seconds. They come to stand
	// further apart where they would exceed the budget.
	Every world.Tick
	// Budget is how many bytes key frames may take. Default: 64 MiB.
	Budget int
	// Limits bound what the trace may take.
	Limits Limits
}

// A place is a state in a file, from which reading can begin.
type place struct {
	tick  world.Tick
	at    int64
	crc   uint32
	given bool
}

// NewSeeker looks through a trace, which must fit the game, and computes nothing yet. One that is
// damaged or cut can be seen up to there; Damage says where that is.
func NewSeeker(g *world.Game, in io.ReaderAt, size int64, o SeekOptions) (*Seeker, error) {
	s := &Seeker{game: g, source: in, size: size, limits: o.Limits, in: g.NewInputs(),
		from: math.MaxUint64}
	r, err := s.Open()
	if err != nil {
		return nil, err
	}
	s.header = r.Header()
	if err := s.header.Fits(g); err != nil {
		return nil, err
	}
	s.states, s.last, s.damage = r.places()
	if len(s.states) == 0 {
		return nil, cmp.Or(s.damage, errors.New("trace: it holds no state to begin with"))
	}
	every := cmp.Or(o.Every, world.Tick(5*s.header.Rate))
	s.keys = keyFrames{every: max(1, every), budget: cmp.Or(o.Budget, 64<<20)}
	return s, nil
}

// Open begins a reading of the whole trace beside the Seeker's own, such as for Replay.
func (s *Seeker) Open() (*Reader, error) {
	return OpenWithin(io.NewSectionReader(s.source, 0, s.size), s.limits)
}

// places lists where reading can begin, and the last tick that can be read.
func (r *Reader) places() (list []place, last world.Tick, damage error) {
	last = r.header.First
	at, crc := r.blocks.at, r.blocks.crc
	for follows := false; ; {
		if !follows { // an attachment belongs to what follows it
			at, crc = r.blocks.at, r.blocks.crc
		}
		kind, payload, err := r.next()
		if err != nil || kind == blockEnd {
			if err == io.EOF {
				err = fmt.Errorf("%w: it has no end, so its writer was stopped or is still at it",
					ErrCut)
			}
			if err != nil {
				r.tick = last
				err = r.damage(err)
			}
			return list, last, err
		}
		p := &parser{data: payload}
		switch kind {
		case blockState:
			t, _, s, err := parseState(payload, &r.packer)
			if err != nil {
				r.tick = last
				return list, last, r.damage(fmt.Errorf("%w: %w", ErrDamaged, err))
			}
			list, last = append(list, place{t, at, crc, s.given}), max(last, t)
		case blockInputs:
			first, n := world.Tick(p.uvarint()), p.below(maxTicks+1)
			if p.err == nil && n > 0 && first == last+1 {
				last = first + world.Tick(n) - 1
			}
		}
		follows = kind == blockAttached
	}
}

// Header says what the trace is a recording of.
func (s *Seeker) Header() *Header { return s.header }

// First is the first tick that can be seen.
func (s *Seeker) First() world.Tick { return s.states[0].tick }

// Last is the last tick that can be seen, as far as reading has shown.
func (s *Seeker) Last() world.Tick { return s.last }

// Damage says why the trace ends where it does, or is nil; it wraps ErrDamaged or ErrCut.
func (s *Seeker) Damage() error { return s.damage }

// Branch is what would have been had other commands come in: a run that is the same up to a tick,
// and from there on takes in what change makes of the inputs of each tick. Recorded inputs of the
// others are taken as they are, as far as the trace goes.
func (s *Seeker) Branch(from world.Tick,
	change func(t world.Tick, in *world.Inputs) error) *Seeker {
	b := *s
	b.from, b.change, b.cursor = max(from, s.First()+1), change, nil
	b.in = s.game.NewInputs()
	b.keys = s.keys.before(b.from)
	for _, p := range s.states {
		if p.given && p.tick >= b.from {
			b.last = min(b.last, max(b.from, p.tick)-1)
		}
	}
	return &b
}

// At gives the world at a tick, which is good until the next call and must not be changed. Ticks
// outside of what the trace holds are its first and last. Where the run went on from a later state
// it is the first there is. An error says why there is no such world: the game panicked before it,
// or the trace is damaged; those before it can still be asked for.
func (s *Seeker) At(t world.Tick) (*world.World, error) {
	t = min(max(t, s.First()), s.last)
	if c := s.cursor; c == nil || t < c.world.Tick() || t > c.world.Tick()+s.keys.every {
		if err := s.jump(t); err != nil {
			return nil, err
		}
	}
	for s.cursor.world.Tick() < t || !s.given && s.gives(t) {
		if err := s.step(); err != nil {
			at := s.cursor.world.Tick()
			s.cursor = nil
			var p *world.Panic
			if incomplete(err) || errors.As(err, &p) {
				s.last, s.damage = min(s.last, at), cmp.Or(s.damage, err)
			}
			return nil, err
		}
	}
	return s.cursor.world, nil
}

// gives says whether a state was given at the tick that the run stands at, which is t.
func (s *Seeker) gives(t world.Tick) bool {
	i, ok := slices.BinarySearchFunc(s.states, t,
		func(p place, t world.Tick) int { return cmp.Compare(p.tick, t) })
	return ok && i > 0 && s.states[i].given && t < s.from && s.cursor.world.Tick() == t
}

// step computes a tick, or goes on from a given state.
func (s *Seeker) step() error {
	c := s.cursor
	for {
		rec, err := c.r.Next()
		if err != nil {
			return err
		}
		s.given = rec.IsState()
		if !rec.IsState() {
			if err := s.apply(rec); err != nil {
				return err
			}
			s.Key(c.world)
			return nil
		}
		if rec.Given() && rec.Tick < s.from {
			c.world, err = c.load(rec)
			return err
		}
	}
}

// apply computes a tick.
func (s *Seeker) apply(rec *Record) error {
	if err := rec.Inputs(s.in); err != nil {
		return err
	}
	if s.change != nil && rec.Tick >= s.from {
		if err := s.change(rec.Tick, s.in); err != nil {
			return err
		}
	}
	err := s.cursor.world.Host().TryStep(s.in)
	var p *world.Panic
	if errors.As(err, &p) {
		return p
	}
	return nil // what the game itself reports is in Replay's result
}

// Key keeps a world as a key frame if there is none near it. It must be that of the trace at its
// tick: whoever replays all of the trace beside the Seeker hands the worlds in, so that the Seeker
// is quick everywhere.
func (s *Seeker) Key(w *world.World) { s.keys.add(w) }

// KeyFrames says how many key frames there are, and the bytes that they take.
func (s *Seeker) KeyFrames() (n, bytes int) { return len(s.keys.list), s.keys.bytes }

// jump sets the cursor to the last world at or before a tick that is known.
func (s *Seeker) jump(t world.Tick) error {
	begin := s.before(min(t, s.from-1))
	key := s.keys.find(t)
	if key == nil || key.tick <= begin.tick {
		return s.start(begin, nil)
	}
	return s.start(s.before(key.tick), key)
}

// before is the last state at or before a tick.
func (s *Seeker) before(t world.Tick) place {
	p := s.states[0]
	for _, q := range s.states {
		if q.tick <= t {
			p = q
		}
	}
	return p
}

// start has the cursor read from a state, and stand at a key frame if one is given.
func (s *Seeker) start(begin place, key *keyFrame) error {
	s.cursor = nil
	r, err := s.Open()
	if err != nil {
		return err
	}
	if err := r.begin(begin); err != nil {
		return err
	}
	rec, err := r.Next()
	if err != nil {
		return err
	}
	c := &replica{game: s.game, in: s.in, r: r}
	if key == nil {
		c.world, err = c.load(rec)
	} else {
		c.world, err = s.keys.load(s.game, key)
	}
	if err != nil {
		return err
	}
	for key != nil && rec.Tick < key.tick {
		if rec, err = r.Next(); err != nil {
			return err
		}
	}
	s.cursor, s.given = c, rec.IsState()
	return nil
}

// begin has the next record be a state whose place is known.
func (r *Reader) begin(p place) error {
	source := r.blocks.in.(io.ReadSeeker)
	if _, err := source.Seek(r.base+p.at, io.SeekStart); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	r.blocks.reset(source, p.at, p.crc)
	r.tick, r.started = p.tick, p.tick > r.header.First
	return nil
}

// Cut writes the part of the run from one tick to another as a trace of its own, with what this
// program computes of it: for a test that is to come to the same. Of a branch that is what would
// have been.
func (s *Seeker) Cut(out io.Writer, from, to world.Tick, o Options) error {
	w, err := s.At(from)
	if err != nil {
		return err
	}
	tw, err := NewWriter(out, w, o)
	if err != nil {
		return err
	}
	for t := w.Tick() + 1; t <= min(to, s.last); t = s.cursor.world.Tick() + 1 {
		if w, err = s.At(t); err != nil {
			return err
		}
		if s.given {
			err = tw.State(w)
		} else {
			err = tw.Tick(s.in, w)
		}
		if err != nil {
			return err
		}
	}
	return tw.Close()
}
