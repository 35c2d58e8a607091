package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/world"
)

// A FeelGame is what Feel has to know of a game to judge what its players see.
type FeelGame struct {
	Game     *world.Game
	Settings clientserver.SettingsFunc
	Replica  replica.Options
	Interest clientserver.Interest
	// Classes say how clients predict; see predict.Options.
	Classes map[string]predict.Class

	// Body is the class of what a player moves about in, one for each player; Width is how wide one is, in the world's units.
	Body  string
	Width float64
	// Life tells whether a body is in play, and which of its lives it lives, so that a leap is not taken for an error.
	Life func(w *world.World, body world.ID) (life int, alive bool)
	// NewBot makes a player: a function that is shown a world as its client shows it, and gives a command.
	NewBot func(seed uint64) func(w *world.World, me world.Player, in *world.Inputs)
	// Hits goes through the hits that happened in a world's tick.
	Hits func(w *world.World, yield func(FeelHit) bool)
	// Clear says whether one can shoot from one place to another.
	Clear func(w *world.World, from, to det.Vec3) bool
	// Rewind lets a server's world judge direct hits by where past says that bodies were: for the halflife style. Without it that style is not available.
	Rewind func(w *world.World, past func(shooter world.Player, target world.ID) (det.Vec3, bool))
}

// A FeelHit is a player who was hit by another.
type FeelHit struct {
	By, Victim world.Player
	Direct     bool // by something that arrives at once, so that the shooter saw the victim in the sights
	Kill       bool
}

// FeelOptions say how a game is tried out.
type FeelOptions struct {
	// Conditions are the network of all players.
	Conditions netsim.Conditions
	// Players is how many there are. Default: 16.
	Players int
	// Styles are tried one after the other, each with the same seed. Default: all three.
	Styles []predict.Style
	// Time is how long each is measured, after Warm. Defaults: 60 s and 10 s.
	Time, Warm time.Duration
	// Seed is what the network and the bots hang on.
	Seed uint64
	// Through is for the halflife style without the look at the present; see predict.RewindOptions.
	Through bool
	// Progress, if set, is told how much is done, from 0 to 1.
	Progress func(done float64)
}

// FeelResult is what the players of one style saw. The JSON names are for scripts and stay. Distances are in the world's units, and a unit is about a metre.
type FeelResult struct {
	Style   string  `json:"style"`
	Network string  `json:"network"`
	Players int     `json:"players"`
	Seconds float64 `json:"seconds"`
	Seed    uint64  `json:"seed"`

	// How far what was shown was from what is true at that tick: where the oracle has it, to whom all commands come in time.
	Own    FeelError `json:"own"`
	Others FeelError `json:"others"`
	// How far the server's world, where commands can be late, is from the oracle's.
	Server FeelError `json:"server"`

	// Corrections of a player's own body by more than a twentieth of its width, a player and minute; and of these, those while another body was near, those
	// while being hit or killed, and the rest.
	Corrections        float64 `json:"corrections_per_minute"`
	CorrectionsContact float64 `json:"corrections_contact_per_minute"`
	CorrectionsStruck  float64 `json:"corrections_struck_per_minute"`
	CorrectionsRest    float64 `json:"corrections_rest_per_minute"`
	// InputTicks is how many ticks pass until a player sees what a command did to their own body.
	InputTicks float64 `json:"input_to_view_ticks"`

	// Direct hits that shooters saw at the moment they fired, and how many of them the server denied; and hits that the server gave and the shooter did not see.
	HitsSeen   int `json:"hits_seen"`
	HitsDenied int `json:"hits_denied"`
	HitsUnseen int `json:"hits_unseen"`
	// Direct hits, and deaths by them, of players who at that tick had cover on their own screen.
	Hits         int `json:"hits"`
	HitsCovered  int `json:"hits_behind_cover"`
	Deaths       int `json:"deaths"`
	DeathsByHit  int `json:"deaths_by_direct_hit"`
	DeathsCovers int `json:"deaths_behind_cover"`

	// Ahead is by how many ticks clients were past their newest snapshot, and Behind how many ticks before it they showed what they interpolate.
	Ahead  float64 `json:"ahead_ticks"`
	Behind float64 `json:"shown_behind_snapshot_ticks"`
	// Late is the share of commands that the server had to make up.
	Late float64 `json:"commands_late"`
	// Bytes a second and player, with the overhead of the connection and without that of UDP.
	BytesDown float64 `json:"bytes_down_per_second"`
	BytesUp   float64 `json:"bytes_up_per_second"`
	// Steps is how many ticks a client computed again for each that passed, and Exact the share of predicted images that were right.
	Steps float64 `json:"steps_again_per_tick"`
	Exact float64 `json:"predicted_exactly"`
	// Events that were foreseen and then denied, as a share.
	EventsDenied float64 `json:"events_denied"`
}

// A FeelError is a distribution of distances.
type FeelError struct {
	Mean float64 `json:"mean"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	N    int     `json:"n"`
}

func summary(x []float32) (e FeelError) {
	if e.N = len(x); e.N == 0 {
		return e
	}
	slices.Sort(x)
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
	}
	e.Mean = sum / float64(e.N)
	e.P95, e.P99 = float64(x[e.N*95/100]), float64(x[e.N*99/100])
	return e
}

// Feel lets bots play a game over a simulated network, and measures what their players would see. The loop is closed: each bot acts on what its own client
// shows it, errors and delays included. (Replaying a recording could not tell: its players do not react to what they are shown.)
func Feel(ctx context.Context, g FeelGame, o FeelOptions) ([]*FeelResult, error) {
	if o.Players == 0 {
		o.Players = 16
	}
	if o.Time == 0 {
		o.Time = time.Minute
	}
	if o.Warm == 0 {
		o.Warm = 10 * time.Second
	}
	if len(o.Styles) == 0 {
		o.Styles = []predict.Style{predict.Doom3, predict.Quake3, predict.HalfLife}
	}
	if o.Players < 2 || o.Players > 1000 {
		return nil, fmt.Errorf("%d players; choose 2 to 1000", o.Players)
	}
	if err := g.check(); err != nil {
		return nil, err
	}
	var results []*FeelResult
	for i, style := range o.Styles {
		if style == predict.HalfLife && g.Rewind == nil {
			return nil, fmt.Errorf("the game %s has no way to rewind, so the halflife style cannot be tried", g.Game.Name())
		}
		r, err := newFeelRun(g, o, style)
		if err != nil {
			return nil, err
		}
		err = r.run(ctx, func(done float64) {
			if o.Progress != nil {
				o.Progress((float64(i) + done) / float64(len(o.Styles)))
			}
		})
		r.close()
		if err != nil {
			return nil, err
		}
		results = append(results, r.result())
	}
	return results, nil
}

func (g *FeelGame) check() error {
	switch {
	case g.Game == nil || g.NewBot == nil || g.Life == nil || g.Hits == nil || g.Clear == nil:
		return errors.New("a FeelGame needs Game, NewBot, Life, Hits and Clear")
	case g.Width <= 0:
		return fmt.Errorf("a body %g wide; set FeelGame.Width", g.Width)
	case g.body() < 0:
		return fmt.Errorf("the game %s has no class %q for bodies", g.Game.Name(), g.Body)
	}
	return nil
}

func (g *FeelGame) body() int {
	return slices.IndexFunc(g.Game.Classes(), func(c *world.ClassInfo) bool { return c.Name() == g.Body })
}
