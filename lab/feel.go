package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
)

// FeelOptions say how a title is tried out. Title has no default. It needs a body (see game.Hints); hits
// are counted if it tells of them, and all are alive if it has no lives.
type FeelOptions struct {
	// Title is what is played, on Level. Default: the level that the title has for so many players.
	Title *game.Title
	Level string
	// Conditions are the network of all players.
	Conditions netsim.Conditions
	// Players is how many there are. Default: 16.
	Players int
	// Styles are tried one after the other, each with the same seed. Default: all three, or the two
	// that need no rewinding if the title has no Shots to judge.
	Styles []predict.Style
	// Time is how long each is measured, after Warm. Defaults: 60 s and 10 s.
	Time, Warm time.Duration
	// Seed is the random seed of the network and the bots.
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
func Feel(ctx context.Context, o FeelOptions) ([]*FeelResult, error) {
	if o.Players == 0 {
		o.Players = 16
	}
	if o.Time == 0 {
		o.Time = time.Minute
	}
	if o.Warm == 0 {
		o.Warm = 10 * time.Second
	}
	if o.Players < 2 || o.Players > 1000 {
		return nil, fmt.Errorf("%d players; choose 2 to 1000", o.Players)
	}
	g, err := NewSubject(o.Title, o.Level, o.Players)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(g.Embodied("what players see cannot be compared"), g.Commanded("there is nothing to predict")); err != nil {
		return nil, err
	}
	if len(o.Styles) == 0 {
		o.Styles = FeelStyles(o.Title)
	}
	var results []*FeelResult
	for i, style := range o.Styles {
		if style == predict.HalfLife && g.Shots.Judge == nil {
			return nil, fmt.Errorf("title %s has no Shots, so the halflife style cannot be tried: set Shots.Judge, and call h.Rewind in the Hints of what is shot at", g.Name())
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

// FeelStyles are the styles that a title can be tried in.
func FeelStyles(t *game.Title) []predict.Style {
	styles := []predict.Style{predict.Doom3, predict.Quake3}
	if t.Shots.Judge != nil {
		styles = append(styles, predict.HalfLife)
	}
	return styles
}
