package scene

import (
	"cmp"
	"slices"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/world"
)

// A Row is one player on the score board.
type Row struct {
	Player        world.Player
	Name          string
	Color         Color
	Team          int
	Kills, Deaths int
	Mine          bool
}

// Board appends the score board to rows, best first; where there are teams, the better team first.
func (s *Scene) Board(w *world.World, rows []Row) []Row {
	if w == nil {
		return rows
	}
	var score [3]int
	from := len(rows)
	for id, sh := range world.All[arena.Sheet](w) {
		p := w.Owner(id)
		score[sh.Team%3] += sh.Kills
		rows = append(rows,
			Row{Player: p, Name: s.NameOf(p), Color: s.ColorOf(p), Team: sh.Team, Kills: sh.Kills,
				Deaths: sh.Deaths, Mine: p == s.me && p != world.Nobody})
	}
	slices.SortStableFunc(rows[from:], func(a, b Row) int {
		return cmp.Or(score[b.Team%3]-score[a.Team%3], a.Team-b.Team,
			b.Kills-a.Kills, a.Deaths-b.Deaths, int(a.Player)-int(b.Player))
	})
	return rows
}

// Rank is a player's place on a sorted board, from 1, and how many kills the best of the others
// has; 0 if the player is not on it.
func Rank(rows []Row) (rank, best int) {
	for i := range rows {
		switch {
		case rows[i].Mine:
			rank = i + 1
		case rows[i].Kills > best:
			best = rows[i].Kills
		}
	}
	return rank, best
}
