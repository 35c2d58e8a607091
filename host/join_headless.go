//go:build !js

package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/world"
)

// joined is what came of playing without a view. The JSON names are for scripts and stay.
type joined struct {
	Game      string  `json:"game"`
	Level     string  `json:"level"`
	Player    int     `json:"player"`
	Seconds   float64 `json:"seconds"`
	Tick      uint64  `json:"tick"`
	Entities  int     `json:"entities_in_view"`
	Snapshots uint64  `json:"snapshots"`
	Bytes     uint64  `json:"snapshot_bytes"`
	Commands  uint64  `json:"commands"`
	Repeated  uint64  `json:"commands_missing"`
	TripMS    float64 `json:"round_trip_ms"`
	Loss      float64 `json:"loss"`
	Moves     uint64  `json:"moves"` // how often it went on at another server

	// What prediction made of it; all of these are zero without.
	Style       string  `json:"style"`
	Ahead       float64 `json:"ahead_ticks"` // of the newest snapshot; below zero for who watches what is past
	Predicted   int     `json:"predicted"`   // things whose prediction was compared with what the server said
	Wrong       int     `json:"predicted_wrong"`
	Corrections int     `json:"corrections"` // things that had been shown elsewhere
	Furthest    float64 `json:"furthest_correction"`
	Redundancy  int     `json:"commands_per_packet"`
}

// watch plays with a bot, and says what came of it.
func (j *join) watch(ctx context.Context, out io.Writer, t *game.Title, e *entry) error {
	bot := t.NewBot(draw())
	s, err := newSeer(t, j.style, func(tick world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
		_ = bot(shown, me, tick, in)
	})
	if err != nil {
		return err
	}
	c, err := j.client(ctx, t, e, s, clientserver.ClientOptions{})
	if err != nil {
		return err
	}
	defer c.Close()
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := joined{Game: t.Name(), Seconds: j.seconds, Style: j.style}
	began := time.Duration(-1)
	err = drive(running, c, t.Game.TickLength(), nil, func(now time.Duration) {
		if running.Err() != nil {
			return
		}
		if _, err := s.show(now); err != nil {
			stop(err)
		}
		switch {
		case c.View() == nil:
		case began < 0:
			began = now
		default:
			r.read(c, s)
			if (now - began).Seconds() >= j.seconds {
				stop(errQuit)
			}
		}
	})
	switch cause := context.Cause(running); {
	case err != nil:
		return err
	case began < 0 || ctx.Err() == nil && !errors.Is(cause, errQuit): // it was interrupted before there was anything to tell, or cannot be predicted
		return cause
	case r.Snapshots == 0:
		return fmt.Errorf("no snapshot came within %v seconds: check the address, the firewall and the network", j.seconds)
	case j.json:
		return json.NewEncoder(out).Encode(r)
	}
	return r.print(out)
}

// read looks at how it goes.
func (r *joined) read(c *clientserver.Client, s *seer) {
	st := c.Stats()
	r.Level, r.Player, r.Snapshots, r.Bytes, r.Commands, r.Repeated = c.Level().Name, int(c.Player()), st.Snapshots, st.Bytes, st.Commands, st.Repeated
	r.Moves = st.Moves
	r.Tick, r.Entities = uint64(c.View().Tick()), 0
	for range c.View().Entities() {
		r.Entities++
	}
	if cn := c.Conn(); cn != nil {
		q := cn.Quality()
		r.TripMS, r.Loss = q.RoundTrip.Seconds()*1000, q.LossIn
	}
	if s.off {
		return
	}
	r.Ahead, r.Corrections, r.Furthest, r.Redundancy = s.ahead(), s.corrected, s.furthest, s.Repeats()
	r.Predicted, r.Wrong = s.predicted()
	if p := s.Client(); p != nil {
		r.Style = p.Style().String() // who watches has another than was asked for
	}
}

func (r *joined) print(out io.Writer) error {
	_, err := fmt.Fprintf(out, "%s, level %q, player %d: tick %d, %d entities in view; %d snapshots of %.0f bytes, %d commands of which %d were missing, round trip %.1f ms, loss %.1f %%\n",
		r.Game, r.Level, r.Player, r.Tick, r.Entities, r.Snapshots, float64(r.Bytes)/float64(max(r.Snapshots, 1)), r.Commands, r.Repeated, r.TripMS, 100*r.Loss)
	if err != nil || r.Style == asItCame {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: shown %.1f ticks ahead of the newest snapshot; %d of %d not as predicted, %d corrections, the furthest by %.2f\n",
		r.Style, r.Ahead, r.Wrong, r.Predicted, r.Corrections, r.Furthest)
	return err
}
