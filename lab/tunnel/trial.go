package tunnel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/world"
)

// A Setup says what one run is: who plays what, how, and where.
type Setup struct {
	Subject *lab.Subject
	Arch    *Architecture
	Field   *Field
	Players int
	Seed    uint64
	// Warm passes before Time is measured.
	Warm, Time time.Duration
	// Cut is for how long one player is cut off after that, to see who suffers; below zero, nobody
	// is.
	Cut time.Duration
	// Tape, if it is set, says what players do in place of bots.
	Tape *Tape
	// Clock, if it is set, is the processor time of the thread.
	Clock func() time.Duration
	// Exact holds the whole world against the oracle's at each tick, from when measuring begins
	// and without ever setting it right.
	Exact bool
	// Values are what knobs of the architecture and of the title are set to; see
	// Architecture.Knobs.
	Values knob.Values
	// Sights also finds out what players should be shown, by the title as it was written, and are
	// not.
	Sights bool
	// Worst is how many incidents of each kind are kept. Default: 3.
	Worst int
	// First has the others come when the first player is there, who is then the first in any
	// architecture.
	First bool
	// Film, if it is set, is shown what is true, and what each player is shown, from when all play.
	// It changes nothing of what happens.
	Film Film
}

// A Trial is one run. What an Architecture may use is exported.
type Trial struct {
	Setup
	Net    *netsim.Net
	Random lab.Random
	Seats  []*Seat

	match   Match
	players map[world.Player]*Seat
	err     error

	on    bool
	since time.Duration
	until time.Duration // what is shown after is not measured
	body  int           // class of players' bodies, or -1

	truth truth
	sight *sight // nil where that is not asked for
	lines []line
	spent [Roles]time.Duration
	// thought is the processor time of what is no machine's work: bots, and what is measured
	thought time.Duration
	filming bool
	zero    time.Duration // when measuring begins, or will
	worst   worst
	steps   int // of the series that are over
	fault   fault
}

// A Role is what machines are for.
type Role uint8

// The roles.
const (
	OfPlayer Role = iota // a player's machine
	OfServer             // a server, towards players
	OfGroup              // a server, towards other servers
	Roles
)

var roleNames = [Roles]string{"client", "server", "between servers"}

func (r Role) String() string { return roleNames[r] }

// Endpoint makes a machine on the network. What it sends and receives is booked for its role.
func (t *Trial) Endpoint(name string, role Role) *netsim.Endpoint {
	e := t.Net.Endpoint(name)
	if role != OfPlayer {
		e.SetInbox(1 << 16)
	}
	t.lines = append(t.lines, line{end: e, role: role})
	return e
}

// Fail ends the trial with an error. The first counts.
func (t *Trial) Fail(err error) {
	if t.err == nil && err != nil {
		t.err = fmt.Errorf("%s, %s, seed %d, at %v: %w", t.Arch.Name, t.Field.Name, t.Seed,
			t.Net.Now(), err)
	}
}

// Of finds the seat of a player, or nil.
func (t *Trial) Of(p world.Player) *Seat { return t.players[p] }

// Spend does something, and books the processor time for a role.
func (t *Trial) Spend(r Role, do func()) {
	if t.Clock == nil || !t.on {
		do()
		return
	}
	began, thought := t.Clock(), t.thought
	do()
	t.spent[r] += t.Clock() - began - (t.thought - thought)
}

// think does something that is no machine's work: bots, and what is measured.
func (t *Trial) think(do func()) {
	if t.Clock == nil || !t.on {
		do()
		return
	}
	began := t.Clock()
	do()
	t.thought += t.Clock() - began
}

// World is what the match begins with: the same for all architectures.
func (t *Trial) World() (*world.World, error) {
	settings, err := t.Subject.Settings(t.Subject.On(t.Seed))
	if err != nil {
		return nil, err
	}
	return t.Subject.Game.New(settings)
}

// Seed32 makes a seed for a piece of the trial.
func (t *Trial) Seed32() [32]byte { return t.Random.Seed() }

const (
	joinTime = 30 * time.Second
	// drain is how long time goes on after what is measured, so that all of it settles.
	drain = 3 * time.Second
	step  = 100 * time.Millisecond
)

// Play runs a trial. The same setup gives the same sample, but for processor times.
func Play(ctx context.Context, s Setup, p lab.Progress) (*Sample, error) {
	if err := s.Arch.Check(s.Subject, s.Players); err != nil {
		return nil, err
	}
	t, err := newTrial(s)
	if err != nil {
		return nil, err
	}
	if t.match, err = s.Arch.Start(t); err != nil {
		return nil, errors.Join(err, t.err)
	}
	defer t.match.Close()
	if err := t.pass(ctx, joinTime, nil, t.match.Playing); err != nil {
		return nil, err
	}
	if !t.match.Playing() {
		t.Fail(fmt.Errorf("not all play after %v", joinTime))
		return nil, t.err
	}
	t.roll()
	all := s.Warm + s.Time
	share := float64(s.Warm) / float64(max(all, 1))
	if err := t.pass(ctx, s.Warm, p.Within(0, share), nil); err != nil {
		return nil, err
	}
	t.begin()
	if err := t.pass(ctx, s.Time, p.Within(share, 1-share), nil); err != nil {
		return nil, err
	}
	t.end()
	if s.Cut > 0 {
		err = t.faulty(ctx)
	} else {
		err = t.pass(ctx, drain, nil, nil)
	}
	if err != nil {
		return nil, err
	}
	return t.sample(), nil
}

func newTrial(s Setup) (*Trial, error) {
	written, err := s.tune()
	if err != nil {
		return nil, err
	}
	t := &Trial{Setup: s, Net: netsim.New(netsim.Options{Seed: s.Seed}), body: -1,
		players: map[world.Player]*Seat{}}
	t.Random = lab.Random{Rand: t.Net.Rand()}
	t.worst = worst{most: cmp.Or(s.Worst, usualWorst), of: map[IncidentKind][]Incident{}}
	if s.Subject.Embodied("") == nil {
		t.body = s.Subject.BodyClass()
	}
	for i := range s.Players {
		t.Seats = append(t.Seats, newSeat(t, i))
	}
	t.truth.init(t)
	if s.Sights {
		t.sight = newSight(written.Title, len(t.Seats))
	}
	return t, nil
}

// tune looks at the values of knobs, and sets those of the title. It gives the subject as it was.
func (s *Setup) tune() (*lab.Subject, error) {
	written := s.Subject
	if len(s.Values) == 0 {
		return written, nil
	}
	list := s.Arch.KnobsOn(Course{s.Subject, []*Field{s.Field}, s.Players})
	values, err := knob.Read(s.Arch.Name, list, s.Values)
	if err != nil {
		return nil, err
	}
	s.Values = values
	s.Subject, err = s.Subject.With(values)
	return written, err
}

// pass lets time go by, until something is so if that is asked for.
func (t *Trial) pass(ctx context.Context, d time.Duration, p lab.Progress,
	done func() bool) error {
	begin := t.Net.Now()
	err := session.Advance(ctx, t.Net, d, step, func() bool {
		p.Tell(float64(t.Net.Now()-begin)/float64(max(d, 1)), t.Arch.Name+" on "+t.Field.Name)
		return t.err != nil || done != nil && done()
	})
	t.Fail(err)
	return t.err
}

// begin starts to measure.
func (t *Trial) begin() {
	t.on, t.since, t.until = true, t.Net.Now(), t.Net.Now()+t.Time
	for i := range t.lines {
		t.lines[i].before = t.lines[i].end.Counters()
	}
	for _, s := range t.Seats {
		s.changed = t.Net.Now()
	}
	t.beginSeries()
}

// end stops measuring what is commanded and sent. What was shown is still held against the truth,
// which comes later.
func (t *Trial) end() {
	t.endStep()
	t.on = false
	for i := range t.lines {
		l := &t.lines[i]
		l.sum = lab.Less(l.end.Counters(), l.before)
	}
	for _, s := range t.Seats {
		s.wait(t.Net.Now())
		s.changed = t.Net.Now()
	}
}

// measured says whether a moment is within what is measured.
func (t *Trial) measured(at time.Duration) bool {
	return t.since > 0 && at >= t.since && at < t.until
}
