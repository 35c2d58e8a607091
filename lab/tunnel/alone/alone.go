// Package alone has titles played by everybody at one machine, for the wind tunnel: there is no
// network, so it is what all others are held against.
//
//	lab/tunnel              what is measured
//	lab/tunnel/alone        one machine      <- here
//	topology/solo
package alone

import (
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/topology/solo"
	"github.com/coeval-dev/coeval/world"
)

const here = "github.com/coeval-dev/coeval/lab/tunnel/alone"

func init() {
	tunnel.Register(tunnel.Architecture{
		Name: "solo", About: "everybody at one machine, without a network: nothing is ever wrong",
		Family: tunnel.Alone, Packages: []string{here}, Start: start, Command: "play {game}",
	})
}

// A match is one world, and all players in front of it.
type match struct {
	*tunnel.Trial
	world *world.World
	run   *solo.Run
	ended bool
}

func start(t *tunnel.Trial) (_ tunnel.Match, err error) {
	m := &match{Trial: t}
	if m.world, err = t.World(); err != nil {
		return nil, err
	}
	if m.run, err = solo.From(m.world, solo.Options{Inputs: m.inputs, After: m.after}); err != nil {
		return nil, err
	}
	t.Net.Every(t.Subject.Game.TickLength(), func() {
		if !m.ended {
			t.Spend(tunnel.OfPlayer, func() { t.Fail(m.run.Step()) })
		}
	})
	return m, nil
}

// inputs lets everybody in at the first tick. From then on they command, by what the one screen
// shows.
func (m *match) inputs(tick world.Tick, in *world.Inputs) {
	for i, s := range m.Seats {
		me := world.Player(i + 1)
		if tick == 1 {
			in.Join(me)
			s.Enter(me)
			continue
		}
		s.Command(tick, me, m.world, in)
		s.Came(tick)
	}
}

// after shows everybody what has happened, which is true.
func (m *match) after(w *world.World, in *world.Inputs) {
	for _, s := range m.Seats {
		s.Computed(w, in, false)
	}
	m.Truth(w, in)
}

// Playing says whether the first tick is over.
func (m *match) Playing() bool { return m.world.Tick() > 0 }

// Close ends the match.
func (m *match) Close() { m.ended = true }
