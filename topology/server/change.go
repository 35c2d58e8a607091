package server

import (
	"fmt"
	"sync"

	"github.com/coeval-dev/coeval/world"
)

// This file is how another level begins. To fill its world, and to work out what can be seen from
// where on its map, may take far longer than a tick; so that is done beside the ticks.

// A Prepared level can begin at once.
type Prepared struct{ scene *scene }

// Level is what it starts from.
func (p *Prepared) Level() Level { return p.scene.level }

// World is what it starts with, until it begins: to be looked at or copied, and left as it is.
func (p *Prepared) World() *world.World {
	if p.scene == nil {
		return nil
	}
	return p.scene.world
}

// Prepare makes the world of a level and all that belongs to it, as long as that takes. It may be
// called by any goroutine at any time. Begin begins the level.
func (s *Server) Prepare(l Level) (*Prepared, error) {
	g, err := s.newScene(l)
	if err != nil {
		return nil, err
	}
	return &Prepared{g}, nil
}

// Begin begins a level that was prepared, once. Everyone stays connected, is told of it, and comes
// into the new world when ready for it: those who do not have its data are sent it first. A server
// whose engine begins its levels itself refuses.
func (s *Server) Begin(p *Prepared) error {
	if !s.traits.Levels {
		return errEngine
	}
	return s.Follow(p)
}

// Follow is Begin for a server whose engine begins its levels itself, and has just begun this one:
// everyone comes into its world.
func (s *Server) Follow(p *Prepared) error {
	if p.scene == nil {
		return fmt.Errorf("server: a level that was prepared begins once")
	}
	g := p.scene
	p.scene = nil
	s.changing.wanted = nil
	if err := s.start(g); err != nil {
		return err
	}
	s.scene = g
	s.lastErr = ""
	for _, seat := range s.seats {
		seat.inside, seat.repeated = false, 0
	}
	s.begun()
	for _, p := range s.order {
		if p.seat == nil {
			continue
		}
		if p.queue != nil { // its ticks were those of the world before
			p.queue.reset()
			p.come.reset()
			p.edges.reset()
		}
		s.show(p)
	}
	return nil
}

// Change begins another level, as Prepare and Begin do. Where Run drives the server the level is
// prepared beside the ticks, which go on with the old one until then; News tells when it begins, or
// why it cannot. An error that is returned says what is wrong with the level itself. Where
// something else drives it, Change takes as long as the game needs; have another goroutine call
// Prepare if that is too long. Of several levels that are on their way the last one begins.
func (s *Server) Change(l Level) error {
	if !s.traits.Levels {
		return errEngine
	}
	if !s.receiving.running {
		return s.changeNow(l)
	}
	if err := l.Check(); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	if _, err := s.opt.Title.Settings(l); err != nil {
		return err
	}
	c := &change{level: l, done: make(chan struct{})}
	s.changing.wanted = c
	s.changing.alive.Go(func() {
		c.made, c.err = s.Prepare(l)
		close(c.done)
	})
	return nil
}

func (s *Server) changeNow(l Level) error {
	p, err := s.Prepare(l)
	if err != nil {
		return err
	}
	return s.Begin(p)
}

// changing is which level is wanted, while it is being prepared.
type changing struct {
	wanted *change
	alive  sync.WaitGroup
}

type change struct {
	level Level
	made  *Prepared
	err   error
	done  chan struct{}
}

// changed begins the level that is wanted, if it is prepared by now.
func (s *Server) changed() {
	c := s.changing.wanted
	if c == nil {
		return
	}
	select {
	case <-c.done:
	default:
		return
	}
	s.changing.wanted = nil
	if c.err == nil {
		c.err = s.Begin(c.made)
	}
	if c.err != nil {
		s.gameError(fmt.Errorf("server: level %q does not begin: %w", c.level.Name, c.err))
	}
}
