package serverlab

import (
	"context"
	"fmt"
	"strings"
)

// Limit is how many players a server can serve.
type Limit struct {
	// Most is the largest number tried at which 99 of 100 ticks took no more processor time than a
	// tick has, and Above the smallest at which they did not, or zero if there was none.
	Most  int `json:"most_players"`
	Above int `json:"too_many_players,omitempty"`
	// By says what it was that kept more from being tried: "server", or "bots" if these took all
	// that was left of the machine.
	By string `json:"limited_by"`
	// Tried are all numbers that were tried.
	Tried []LimitStep `json:"tried"`
}

// LimitStep is one number of players that was tried.
type LimitStep struct {
	Players   int     `json:"players"`
	Tick99    float64 `json:"ms_tick_p99"`
	PerPlayer float64 `json:"us_per_player_and_tick"`
	Fits      bool    `json:"fits"`
}

func (l *Limit) String() string {
	var b strings.Builder
	fmt.Fprint(&b, l.Most)
	if l.Above > 0 {
		fmt.Fprintf(&b, " (%d are too many)", l.Above)
	}
	fmt.Fprintf(&b, ", limited by the %s; tried:", l.By)
	for _, t := range l.Tried {
		fmt.Fprintf(&b, " %d (p99 %.1f ms)", t.Players, t.Tick99)
	}
	return b.String()
}

// limitFine is how near the two ends come before the search stops, as a part of the number.
const limitFine = 0.06

// findLimit looks for the most players that a tick has time for.
func (r *run) findLimit(ctx context.Context) (*Result, error) {
	progress, tries := r.progress, 0
	r.progress = func(done float64, what string) {
		progress(min((float64(tries)+done)/10, 1), what)
	}
	return findLimit(ctx, max(r.o.Players/2, 1), func(n int) (*Result, error) {
		x, err := r.play(ctx, n)
		tries++
		return x, err
	})
}

// findLimit goes up by half as much again or down by half, and then between the last that fitted
// and the first that did not.
func findLimit(ctx context.Context, n int, try func(players int) (*Result, error)) (*Result,
	error) {
	var best *Result
	limit := &Limit{By: "server"}
	for n > 0 && limit.By == "server" {
		r, err := try(n)
		if err != nil && (best == nil || ctx.Err() != nil) {
			return nil, err
		}
		if err != nil {
			limit.By = "bots" // they could not even join, or were lost
			break
		}
		ok := r.Tick99 <= r.Budget
		limit.Tried = append(limit.Tried,
			LimitStep{Players: n, Tick99: r.Tick99, PerPlayer: r.PerPlayer, Fits: ok})
		switch {
		case ok && r.Commands < 0.9:
			limit.By = "bots"
			if best == nil {
				return nil, fmt.Errorf(
					"only %.0f %% of the commands of %d bots came in time: this machine is too "+
						"busy to find a limit", 100*r.Commands, n)
			}
		case ok:
			limit.Most, best = n, r
		default:
			limit.Above = n
			if best == nil {
				best = r
			}
		}
		switch gap := limit.Above - limit.Most; {
		case limit.Above == 0 && n == MostPlayers:
			limit.By = "bots"
		case limit.Above == 0:
			n = min(n*3/2+1, MostPlayers)
		case limit.Most == 0:
			n /= 2
		case float64(gap) <= limitFine*float64(limit.Above) || gap < 2:
			n = 0 // near enough
		default:
			n = (limit.Most + limit.Above) / 2
		}
	}
	best.Limit = limit
	return best, nil
}
