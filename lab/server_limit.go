package lab

import (
	"context"
	"fmt"
)

// ServerLimit is how many players a server can serve.
type ServerLimit struct {
	// Most is the largest number tried at which 99 of 100 ticks took no more processor time than a tick has, and Above the smallest at which they did not, or
	// zero if there was none.
	Most  int `json:"most_players"`
	Above int `json:"too_many_players,omitempty"`
	// By says what it was that kept more from being tried: "server", or "bots" if these took all that was left of the machine.
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

// limitFine is how near the two ends come before the search stops, as a part of the number.
const limitFine = 0.06

// findLimit looks for the most players that a tick has time for. It goes up by half as much again or down by half, and then between the last that fitted and the
// first that did not.
func (s *serverRun) findLimit(ctx context.Context) (*ServerResult, error) {
	progress, tries := s.progress, 0
	s.progress = func(done float64, what string) { progress(min((float64(tries)+done)/10, 1), what) }
	return findLimit(ctx, max(s.o.Players/2, 1), func(n int) (*ServerResult, error) {
		r, err := s.play(ctx, n)
		tries++
		return r, err
	})
}

func findLimit(ctx context.Context, n int, try func(players int) (*ServerResult, error)) (*ServerResult, error) {
	var best *ServerResult
	limit := &ServerLimit{By: "server"}
	fits, over := 0, 0
	for {
		r, err := try(n)
		if err != nil {
			if best == nil || ctx.Err() != nil {
				return nil, err
			}
			limit.By = "bots" // they could not even join, or were lost
			break
		}
		ok := r.Tick99 <= r.Budget
		limit.Tried = append(limit.Tried, LimitStep{Players: n, Tick99: r.Tick99, PerPlayer: r.PerPlayer, Fits: ok})
		if ok && r.Commands < 0.9 {
			limit.By = "bots"
			if best == nil {
				return nil, fmt.Errorf("only %.0f %% of the commands of %d bots came in time: this machine is too busy to find a limit", 100*r.Commands, n)
			}
			break
		}
		if ok {
			fits, best = n, r
		} else {
			over = n
			if best == nil {
				best = r
			}
		}
		switch {
		case over == 0:
			if n == MostServerPlayers {
				limit.Most, limit.By = fits, "bots"
				best.ServerLimit = limit
				return best, nil
			}
			n = min(n*3/2+1, MostServerPlayers)
			continue
		case fits == 0:
			if n /= 2; n == 0 {
				limit.Above = over
				best.ServerLimit = limit
				return best, nil
			}
			continue
		}
		if float64(over-fits) <= limitFine*float64(over) || over-fits < 2 {
			break
		}
		n = (fits + over) / 2
	}
	limit.Most, limit.Above = fits, over
	best.ServerLimit = limit
	return best, nil
}
