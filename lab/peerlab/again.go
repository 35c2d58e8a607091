package peerlab

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/world"
)

// Again is what it takes to compute some ticks of a title again, because a command turned out to be
// another than was guessed.
type Again struct {
	Ticks   int     `json:"ticks" head:"ticks"`
	Players int     `json:"players" head:"players"`
	Micros  float64 `json:"us" head:"µs" as:"?%.0f"`
	Allocs  float64 `json:"allocs" head:"allocations" as:"%.3g"`
	Wrong   string  `json:"wrong,omitempty"`
}

// A Rewinder has a title computed again and again from some ticks ago, each time with another
// command there.
type Rewinder struct {
	copy  *turns.Copy
	match *lab.Match
	past  []*world.Inputs // what was commanded, by tick
	late  world.Tick      // the first of which the last player's command is not known
	// what the last player may have commanded in that tick, other than what was
	player world.Player
	other  []int32
	turn   bool // it is taken for that
}

// NewRewinder plays a title for a second, and then for some ticks more of which the last player's
// commands are not known.
func NewRewinder(s *lab.Subject, players, ticks int, seed uint64) (*Rewinder, error) {
	m, err := lab.NewMatch(s, players, seed)
	if err != nil {
		return nil, err
	}
	r := &Rewinder{match: m, past: []*world.Inputs{nil}, player: world.Player(players)}
	w := m.World.Host().Clone()
	warm := s.Game.Rate()
	for range warm + ticks {
		if err := m.Prepare(); err != nil {
			return nil, err
		}
		in := s.Game.NewInputs()
		if err := in.CopyFrom(m.In); err != nil {
			return nil, err
		}
		r.past = append(r.past, in)
		if err := m.World.Host().Step(m.In); err != nil {
			return nil, err
		}
	}
	r.late = world.Tick(warm + 1)
	if err := r.differ(s.Game); err != nil {
		return nil, err
	}
	r.copy, err = turns.NewCopy(w, r, turns.Options{Depth: ticks, Every: warm + ticks})
	if err != nil {
		return nil, err
	}
	for range warm + ticks {
		if went, err := r.copy.Advance(); err != nil || !went {
			return nil, fmt.Errorf("tick %d cannot be computed: %w", r.copy.Shown()+1, err)
		}
	}
	return r, nil
}

// differ finds another command than the one that was given.
func (r *Rewinder) differ(g *world.Game) error {
	slots := g.Commands().Slots
	given, in := make([]int32, len(slots)), g.NewInputs()
	r.past[r.late].Image(r.player, given)
	for i := range slots {
		for _, v := range []int32{slots[i].Min, slots[i].Max} {
			r.other = append(r.other[:0], given...)
			if r.other[i] = v; v != given[i] && in.GiveImage(r.player, r.other) == nil {
				return nil
			}
		}
	}
	return fmt.Errorf("title %s has one command only: there is nothing to guess", g.Name())
}

// Turn is what goes into a tick; see turns.Source. Of the last ticks one player's commands are
// guessed: as they were given, or as if nothing was.
func (r *Rewinder) Turn(t world.Tick, in *world.Inputs) bool {
	if err := in.CopyFrom(r.past[t]); err != nil {
		return false
	}
	if t < r.late {
		return true
	}
	if r.turn && t == r.late {
		_ = in.GiveImage(r.player, r.other)
	}
	return false
}

// Again has the first of the ticks that are not known be another than before, and computes them
// again.
func (r *Rewinder) Again() error {
	r.turn = !r.turn
	r.copy.Learn(r.late)
	return r.copy.Repair()
}

// Check computes the ticks again as they were given, and is an error if that is not the world that
// bots have played.
func (r *Rewinder) Check() error {
	for range 2 {
		if err := r.Again(); err != nil {
			return err
		}
		if !r.turn && r.copy.World().Hash() != r.match.World.Hash() {
			return fmt.Errorf("computed again, tick %d is another: %v", r.copy.Shown(),
				world.Differ(r.match.World, r.copy.World()))
		}
	}
	return nil
}

// again measures it.
func again(o *Options) (*Again, error) {
	const ticks, rounds = 8, 50
	a := &Again{Ticks: ticks, Players: o.Players}
	r, err := NewRewinder(o.subject, o.Players, ticks, o.Seed)
	if err != nil {
		return nil, err
	}
	if err := r.Check(); err != nil {
		a.Wrong = err.Error()
		return a, nil
	}
	before := r.copy.Stats()
	least := time.Duration(0)
	for i := range rounds {
		from := time.Duration(0)
		if o.Clock != nil {
			from = o.Clock()
		}
		if err := r.Again(); err != nil {
			return nil, err
		}
		if o.Clock != nil {
			if d := o.Clock() - from; i == 0 || d < least {
				least = d
			}
		}
	}
	if got := r.copy.Stats().Again - before.Again; got != rounds*ticks {
		a.Wrong = fmt.Sprintf("%d ticks were computed again, and should have been %d", got,
			rounds*ticks)
	}
	a.Micros = 1000 * lab.Millis(least)
	a.Allocs = float64(lab.Allocations(5, func() {
		for range 10 {
			_ = r.Again()
		}
	})) / 10
	return a, nil
}
