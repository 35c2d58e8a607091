package server

import (
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// TestFarAhead: a client whose clock is far ahead of the server's, because it was starved, its path
// has become much shorter, or the server itself stood still, is not thrown out for it: commands
// wait until the server takes them. What the player does is answered all the while, and soon
// everything is as before.
func TestFarAhead(t *testing.T) {
	for _, c := range []struct {
		name           string
		before, after  netsim.Conditions
		starve, stand  time.Duration // of the client, and of the server
		every, choking time.Duration // between frames of a starved client, for how long
	}{
		{name: "a shorter path", before: netsim.Satellite, after: netsim.Perfect},
		{name: "a shorter path, starved", before: netsim.Satellite, after: netsim.Perfect,
			starve: 3 * time.Second},
		{name: "a shorter path, few frames", before: netsim.Satellite, after: netsim.Perfect,
			every: 900 * time.Millisecond, choking: 8 * time.Second},
		{name: "few frames", before: netsim.Cable, after: netsim.Cable,
			every: 700 * time.Millisecond, choking: 10 * time.Second},
		{name: "a server that stands still", before: netsim.Cable, after: netsim.Cable,
			stand: 1500 * time.Millisecond},
		{name: "for long", before: netsim.WiFi, after: netsim.WiFi, stand: 4 * time.Second},
		{name: "both stand still", before: netsim.Satellite, after: netsim.Perfect,
			starve: 2 * time.Second, stand: 1800 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			simtest.Run(t, 1, func(n *netsim.Net) error {
				s, err := newSim(n, Options{})
				if err != nil {
					return err
				}
				defer s.close()
				b := s.predicts("b", c.before)
				n.Run(6 * time.Second)
				if b.Phase() != client.Playing {
					s.fail("not playing: %v", b.Phase())
				}
				n.Connect(b.end, s.end, c.after)
				pause(n, s.end, c.stand)
				pause(n, b.end, c.starve)
				if c.every > 0 {
					b.every = c.every
					n.After(c.choking, func() { b.every = 0 })
				}
				n.Run(14 * time.Second)
				return b.fine(s)
			})
		})
	}
}

func pause(n *netsim.Net, e *netsim.Endpoint, d time.Duration) {
	if d > 0 {
		e.Pause()
		n.After(d, e.Resume)
	}
}

// A foreteller is a client that predicts, and walks.
type foreteller struct {
	*client.Client
	end   *netsim.Endpoint
	every time.Duration // between two frames, or zero for a tick
	last  time.Duration
	view  client.View
}

func (s *sim) predicts(name string, c netsim.Conditions) *foreteller {
	b := &foreteller{end: s.net.Endpoint(name)}
	s.net.Connect(b.end, s.end, c)
	o := client.Options{Title: s.title, Link: b.end, Token: s.token(77), Name: name,
		Predict: predict.Options{Keep: 128}}
	o.Conn.Seed = seedOf(s.net.Seed(), 3)
	var err error
	if b.Client, err = client.New(o); err != nil {
		s.fail("%v", err)
	}
	b.end.Every(yard.TickLength(), func() {
		if now := s.net.Now(); now-b.last >= b.every && !b.view.Ended {
			b.last, b.view = now, b.Frame(now, b.walk)
		}
	})
	return b
}

// walk goes to and fro: there is something to say at each tick.
func (b *foreteller) walk(t world.Tick, p world.Player, _ *world.World, in *world.Inputs) {
	_ = world.Give(in, p, walk{X: int8(t/16%2)*2 - 1}) // it is of the game's type
}

// fine says what is wrong with a client after all that it went through.
func (b *foreteller) fine(s *sim) error {
	if b.view.Ended {
		return fmt.Errorf("thrown out: %v, %v", b.view.Err, s.server.Stats().Offences)
	}
	refused := s.server.Stats().Offences[FutureTick]
	before := s.server.Seat(77).Commands()
	s.net.Run(2 * time.Second)
	now := s.server.Seat(77).Commands()
	if taken := now.Taken - before.Taken; taken < 110 {
		s.fail("%d commands are taken in two seconds, %d late", taken, now.Late-before.Late)
	}
	if more := s.server.Stats().Offences[FutureTick] - refused; more > 0 {
		s.fail("%d more commands are refused", more)
	}
	if early := float64(now.Early) / 4; early < 0 || early > 12 {
		s.fail("commands come %.1f ticks early", early)
	}
	if s.server.Stats().Offences[FutureTick] > 60 {
		s.fail("%d commands were refused", refused)
	}
	return s.err
}
