package server

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// Tell gives the world inputs of the kinds that the game has declared beside commands: a knob that
// is set, new content, an answer, a message from another server. The function fills in what there
// is, by world.SetKnob and its like:
//
//	err := s.Tell(func(in *world.Inputs) error { return world.SetKnob(in, Gravity{Pull: 3}) })
//
// It all comes in with the next tick that is open, here and on all mirrors of the game, and is part
// of recordings. While Run runs, call it by Do. What else the function puts in is left out. After
// an error of its own nothing is told.
func (s *Server) Tell(fill func(in *world.Inputs) error) error {
	in := s.game.NewInputs()
	if err := fill(in); err != nil {
		return err
	}
	for t, data := range in.Tellings {
		if err := s.engine.Tell(t, data); err != nil {
			return err
		}
	}
	return nil
}

// asks tells Options.Asked what the game has asked of the outside in a tick, once it is certain.
func (s *Server) asks(w *world.World, done *Progress) {
	if s.opt.Asked == nil || !done.Asks {
		return
	}
	kinds := s.game.Events()
	if !s.traits.Leading {
		for e, q := range w.Host().Happened {
			if kinds[e.Kind].Delivery() == world.Outside {
				s.opt.Asked(e, q)
			}
		}
		return
	}
	var sync bits.Sync
	for i := range done.Events {
		h := &done.Events[i]
		if h.What != replica.Confirmed || kinds[h.Event.Kind].Delivery() != world.Outside {
			continue
		}
		q := kinds[h.Event.Kind].New()
		if kinds[h.Event.Kind].Layout().Unpack(&sync, q, h.Image) == nil {
			s.opt.Asked(h.Event, q)
		}
	}
}
