//go:build !js

package serve

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// results are what a server reports of matches, to a directory at which it is listed.
type results struct {
	run   string // of this program, so that matches of another have other names
	count int
	seats []server.SavedSeat
}

// tick is told each world after its tick.
func (r *results) tick(s *Server, w *world.World) {
	over := s.title.Match.Over
	if s.listed == nil || over == nil || s.server == nil {
		return
	}
	scores, ended := over(w)
	if !ended {
		return
	}
	if r.run == "" {
		r.run = fmt.Sprintf("%016x", cli.Draw())
	}
	r.count++
	r.seats = s.server.AppendSeats(r.seats[:0])
	s.listed.Report(resultOf(fmt.Sprintf("%s-%d", r.run, r.count), scores, r.seats,
		s.title.Match.Boards))
}

// resultOf makes a result of scores: who has more is before others, and those with the same have
// drawn. Bots and others without a seat are in nobody's way: they have ranks, and are not reported.
func resultOf(
	match string, scores []game.Score, seats []server.SavedSeat, boards []game.Board,
) directory.Result {
	out := directory.Result{Match: match}
	for _, b := range boards {
		out.Boards = append(out.Boards, directory.Board(b))
	}
	scores = slices.Clone(scores)
	slices.SortStableFunc(scores, func(a, b game.Score) int {
		return cmp.Compare(b.Points, a.Points)
	})
	rank := 0
	for i, x := range scores {
		if i == 0 || scores[i-1].Points != x.Points {
			rank = i + 1
		}
		at := slices.IndexFunc(seats, func(s server.SavedSeat) bool { return s.Player == x.Player })
		if at < 0 || len(out.Players) == directory.MaxResultPlayers {
			continue
		}
		out.Players = append(out.Players, directory.ResultPlayer{Client: seats[at].Client,
			Receipt: base64.StdEncoding.EncodeToString(seats[at].UserData), Score: int64(x.Points),
			Rank: min(rank, directory.MaxResultPlayers)})
	}
	return out
}
