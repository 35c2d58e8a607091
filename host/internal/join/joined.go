//go:build !js

package join

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/host/internal/terminal"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// Joined is what came of playing. The JSON names are for scripts and stay.
type Joined struct {
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
	// of those, of its own accord as the other was much nearer
	Nearer uint64 `json:"moves_nearer"`
	// Server is where it played last, and Places what it measured of all servers of the game, the
	// best first.
	Server string  `json:"server"`
	Places []Place `json:"places,omitempty"`
	// how often it went on at a server that was started anew
	Servers uint64 `json:"entered,omitempty"`

	// Sent is what became of the files that were sent.
	Sent []Sent `json:"sent,omitempty"`

	// What prediction made of it; all of these are zero without.
	Style string `json:"style"`
	// of the newest snapshot; below zero for who watches what is past
	Ahead float64 `json:"ahead_ticks"`
	// things whose prediction was compared with what the server said
	Predicted   int     `json:"predicted"`
	Wrong       int     `json:"predicted_wrong"`
	Corrections int     `json:"corrections"` // things that had been shown elsewhere
	Furthest    float64 `json:"furthest_correction"`
	Redundancy  int     `json:"commands_per_packet"`
}

// Sent is something that was sent in one piece, and why the server did not take it, if so.
type Sent struct {
	Name  string `json:"name"`
	Error string `json:"error,omitempty"`
}

// sent notes what became of files.
func (r *Joined) sent(v *client.View) {
	for _, u := range v.Uploads {
		s := Sent{Name: u.Name}
		if u.Err != nil {
			s.Error = u.Err.Error()
		}
		r.Sent = append(r.Sent, s)
	}
}

// A Place is a server of the game, as far as it was measured.
type Place struct {
	Server   string  `json:"server"`
	Name     string  `json:"name,omitempty"`
	TripMS   float64 `json:"round_trip_ms"` // the median
	JitterMS float64 `json:"jitter_ms"`
	Loss     float64 `json:"loss"`
	Players  int     `json:"players"`
	Here     bool    `json:"here,omitempty"`
}

func (r *Joined) survey(s *client.Session) {
	r.Server, r.Places = s.Place(), r.Places[:0]
	for _, p := range s.Places() {
		r.Places = append(r.Places, Place{p.Addr.String(), p.Name, p.Trip.Seconds() * 1000,
			p.Jitter.Seconds() * 1000, p.Loss, int(p.Load), p.Here})
	}
}

// watch plays with a bot, and says what came of it.
func (p *visit) watch(ctx context.Context) (*Joined, error) {
	bot := p.Bot(p.title)
	began, r := time.Duration(-1), &p.joined
	command := func(t world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
		_ = bot(shown, me, t, in) // its commands are of the game's type
	}
	err := p.drive(ctx, command, func(now time.Duration, v *client.View) error {
		switch {
		case v.World == nil:
		case began < 0:
			began = now
		case p.For > 0 && now-began >= p.For && len(r.Sent) >= len(p.Send):
			return terminal.ErrQuit
		}
		if p.Each != nil && v.World != nil {
			return p.Each(p.title, now, v)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case r.Snapshots == 0 && began < 0 && ctx.Err() != nil:
		// It was interrupted before there was anything to tell.
		return nil, context.Cause(ctx)
	case r.Snapshots == 0:
		return nil, fmt.Errorf(
			"no snapshot came within %v: check the address, the firewall and the network", p.For)
	}
	r.Seconds = p.For.Seconds()
	return r, nil
}

// read looks at how it goes.
func (r *Joined) read(s *client.Session, v *client.View) {
	c, n := s.Client(), s.Numbers()
	if c == nil || v.Truth == nil {
		return
	}
	st := c.Stats()
	r.Game, r.Level, r.Player = v.Truth.Game().Name(), c.Level().Name, int(c.Player())
	r.Snapshots, r.Bytes, r.Moves, r.Nearer = st.Snapshots, st.Bytes, st.Moves, st.Nearer
	r.survey(s)
	r.Commands, r.Repeated = st.Commands, st.Repeated
	r.Tick, r.Entities = uint64(v.Truth.Tick()), 0
	for range v.Truth.Entities() {
		r.Entities++
	}
	r.TripMS, r.Loss = n.RoundTrip.Seconds()*1000, n.LossIn
	r.Style = s.Style().String()
	p := c.Predict()
	if p == nil || s.Style() == predict.None {
		return
	}
	r.Style = p.Style().String() // who watches has another than was asked for
	r.Ahead, r.Corrections, r.Furthest = ahead(c), int(n.Corrections), n.Furthest
	r.Redundancy = c.Redundancy()
	r.Predicted, r.Wrong = 0, 0
	for _, x := range p.Report() {
		r.Predicted, r.Wrong = r.Predicted+x.Compared, r.Wrong+x.Wrong
	}
}

// ahead is by how many ticks what is shown is past the newest snapshot; below zero, by how many it
// is behind.
func ahead(c *client.Client) float64 {
	switch p := c.Predict(); {
	case p == nil || !p.Started():
		return 0
	case c.Watching():
		return -p.Behind()
	default:
		return p.Ahead()
	}
}

// String is what people are told.
func (r *Joined) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s, level %q, player %d: tick %d, %d entities in view; "+
		"%d snapshots of %.0f bytes, %d commands of which %d were missing, "+
		"round trip %.1f ms, loss %.1f %%\n",
		r.Game, r.Level, r.Player, r.Tick, r.Entities,
		r.Snapshots, float64(r.Bytes)/float64(max(r.Snapshots, 1)), r.Commands, r.Repeated,
		r.TripMS, 100*r.Loss)
	if r.Style != predict.None.String() {
		fmt.Fprintf(&out, "%s: shown %.1f ticks ahead of the newest snapshot; "+
			"%d of %d not as predicted, %d corrections, the furthest by %.2f\n",
			r.Style, r.Ahead, r.Wrong, r.Predicted, r.Corrections, r.Furthest)
	}
	if len(r.Places) > 1 || r.Moves > 0 {
		fmt.Fprintf(&out, "at %s, after %d moves, %d of them to a nearer server\n", r.Server,
			r.Moves, r.Nearer)
	}
	for _, x := range r.Sent {
		if x.Error != "" {
			fmt.Fprintf(&out, "%s was not sent: %s\n", x.Name, x.Error)
		} else {
			fmt.Fprintf(&out, "%s was sent\n", x.Name)
		}
	}
	for _, p := range r.Places {
		here := ""
		if p.Here {
			here = ", here"
		}
		fmt.Fprintf(&out, "  %-21s %-12s %5.1f ms ± %.1f, loss %.0f %%, %d players%s\n", p.Server,
			p.Name, p.TripMS, p.JitterMS, 100*p.Loss, p.Players, here)
	}
	return out.String()
}
