package game

import "github.com/coeval-dev/coeval/world"

// A Match says when a match is over and how everyone did. A server that is listed at a directory
// reports it there, for leaderboards; see docs/lobby.md.
type Match struct {
	// Over is asked after each tick: whether a match ended at this tick, and if so what everyone's
	// score is. OverAt makes one of an event.
	Over func(w *world.World) (scores []Score, over bool)
	// Boards are where results count. Default: the best score of each player on the board
	// "points", and how well they do against each other on the board "rating".
	Boards []Board
}

// A Board is a leaderboard of a game.
type Board struct {
	Name string
	// How is "best", the best score of any match, "sum", all scores together, or "rating", by whom
	// one has won against.
	How string
}

// OverAt makes Match.Over of an event at which a match may end: whether it does, and the scores of
// that moment, as a Screen has them.
//
//	Match: game.Match{Over: game.OverAt(func(g *Goal) bool { return g.Won }, scores)},
func OverAt[T any](
	ends func(e *T) bool, scores func(w *world.World) []Score,
) func(w *world.World) ([]Score, bool) {
	return func(w *world.World) ([]Score, bool) {
		for _, e := range world.Events[T](w) {
			if ends(e) {
				return scores(w), true
			}
		}
		return nil, false
	}
}
