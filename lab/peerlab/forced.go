package peerlab

import (
	"fmt"
	"math/rand/v2"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/world"
)

// Forced is what came of playing a title with commands that come late, again and again.
type Forced struct {
	Ticks   int    `json:"ticks" head:"ticks"`
	Returns uint64 `json:"returns" head:"times that it went back"`
	Again   uint64 `json:"again" head:"ticks computed again"`
	Deepest int    `json:"deepest" head:"deepest"`
}

// late is a source whose players' commands come up to some ticks late, in items as they go over the
// wire.
type late struct {
	past    []*world.Inputs // all that goes in, by tick
	players int
	coder   *turns.Coder
	streams []*turns.Stream
	image   []int32
}

// Turn is what goes into a tick; see turns.Source.
func (l *late) Turn(t world.Tick, in *world.Inputs) (known bool) {
	known = true
	for _, p := range l.past[t].Joins() {
		in.Join(p)
	}
	for i, s := range l.streams {
		if s.Holds(uint64(t)) {
			_ = in.GiveImage(world.Player(i+1), s.Image(uint64(t)))
			continue
		}
		known = false
		s.Guess(l.image)
		_ = in.GiveImage(world.Player(i+1), l.image)
	}
	return known
}

// Force plays a title straight through, and once more with commands that come up to depth ticks
// late and are guessed until then. It is an error if a world that is known is another than the one
// that was played straight through, or if nothing was computed again.
func Force(s *lab.Subject, players, ticks, depth int, seed uint64) (Forced, error) {
	f := Forced{Ticks: ticks}
	m, err := lab.NewMatch(s, players, seed)
	if err != nil {
		return f, err
	}
	l := &late{players: players, coder: turns.NewCoder(s.Game), past: []*world.Inputs{nil}}
	l.image = make([]int32, l.coder.Len())
	w := m.World.Host().Clone()
	straight, err := l.play(m, ticks)
	if err != nil {
		return f, err
	}
	wrong := error(nil)
	// The worlds that are known are looked at as marks, one at each tick.
	c, err := turns.NewCopy(w, l, turns.Options{Depth: depth, Every: 1})
	if err != nil {
		return f, err
	}
	r := rand.New(rand.NewPCG(seed, 20))
	for c.Known() < world.Tick(ticks) {
		for i := range l.streams {
			if err := l.bring(c, i, r.IntN(depth+1), ticks); err != nil {
				return f, err
			}
		}
		if err := c.Repair(); err != nil {
			return f, err
		}
		if c.Shown() < world.Tick(ticks) {
			if _, err := c.Advance(); err != nil {
				return f, err
			}
		}
		for _, k := range c.Marks() {
			if k.Tick > c.Settled() && k.Hash != straight[k.Tick] && wrong == nil {
				wrong = fmt.Errorf("title %s, seed %d: with commands that were late, tick %d is "+
					"another", s.Name(), seed, k.Tick)
			}
		}
		c.Settle(c.Known())
	}
	if wrong == nil && c.World().Hash() != m.World.Hash() {
		wrong = fmt.Errorf("title %s, seed %d: with commands that were late, the last tick is "+
			"another: %v", s.Name(), seed, world.Differ(m.World, c.World()))
	}
	stats := c.Stats()
	f.Returns, f.Again, f.Deepest = stats.Returns, stats.Again, stats.Deepest
	if wrong == nil && f.Returns == 0 {
		wrong = fmt.Errorf("title %s, seed %d: every guess was right, so nothing was tried",
			s.Name(), seed)
	}
	return f, wrong
}

// play plays the match with bots, and remembers what they did and the hash of every tick. Bots
// command from the second tick on; before that there is nothing that they could see.
func (l *late) play(m *lab.Match, ticks int) (hashes []uint64, err error) {
	hashes = append(hashes, m.World.Hash())
	start := make([]int32, l.coder.Len())
	l.coder.Start(start)
	for range l.players {
		l.streams = append(l.streams, turns.NewStream(l.coder, 1))
	}
	for range ticks {
		if err := m.Prepare(); err != nil {
			return nil, err
		}
		for i := range l.players { // everybody commands something, as between peers
			if p := world.Player(i + 1); !m.In.Image(p, l.image) {
				if err := m.In.GiveImage(p, start); err != nil {
					return nil, err
				}
			}
		}
		in := m.World.Game().NewInputs()
		if err := in.CopyFrom(m.In); err != nil {
			return nil, err
		}
		l.past = append(l.past, in)
		if err := m.World.Host().Step(m.In); err != nil {
			return nil, err
		}
		hashes = append(hashes, m.World.Hash())
	}
	return hashes, nil
}

// bring has a player's commands come in, up to so many ticks before the next that is shown.
func (l *late) bring(c *turns.Copy, player, behind, ticks int) error {
	s := l.streams[player]
	until := min(int(c.Shown())+1-behind, ticks)
	before := make([]int32, l.coder.Len())
	for t := s.Have() + 1; int(t) <= until; t++ {
		was, _, ok := s.Before(t - 1)
		if !ok {
			return fmt.Errorf("player %d has no tick %d", player+1, t-1)
		}
		copy(before, was)
		l.past[t].Image(world.Player(player+1), l.image)
		item, err := l.coder.Append(nil, before, l.image)
		if err != nil {
			return err
		}
		if _, err := s.Put(t, item); err != nil {
			return err
		}
		c.Learn(world.Tick(t))
	}
	return nil
}
