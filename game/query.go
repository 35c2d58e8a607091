package game

import (
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/query"
	"github.com/coeval-dev/coeval/world"
)

// A Query is something that a server of the game tells anyone who asks for it by name, without
// joining: a score, a list of rounds, the time that is left. It takes one line in a title:
//
//	Queries: []game.Query{{Name: "score", Answer: score}},
//
// and is asked for by "ask ADDRESS score", over HTTP at /query/score, or by a query.Asker.
type Query struct {
	// Name has at most query.MaxOwn bytes, and is none of the kinds that every server answers.
	Name string
	// Answer appends what is told, up to query.MaxBody bytes: text if people are to read it, or
	// whatever else. It is called between ticks, and must not change the world.
	Answer func(w *world.World, to []byte) []byte
	// Every is how old an answer may be: however many ask, it is made no more often. Default: 1 s.
	Every time.Duration
}

// checkQueries says what is wrong with them.
func (t *Title) checkQueries() (wrong []error) {
	if n := len(t.Queries); n > query.MaxQueries {
		wrong = append(wrong, fmt.Errorf("there are %d Queries; a title may have %d", n,
			query.MaxQueries))
	}
	seen := map[string]bool{}
	for _, q := range t.Queries {
		if _, kind := query.ParseKind(q.Name); kind || q.Name == "" ||
			query.Clean(q.Name, query.MaxOwn) != q.Name || seen[q.Name] {
			wrong = append(wrong, fmt.Errorf("a query is called %.40q; choose a name of 1 to %d "+
				"bytes that no other has, none of %v", q.Name, query.MaxOwn, query.AllKinds))
		}
		if seen[q.Name] = true; q.Answer == nil {
			wrong = append(wrong, fmt.Errorf("query %.40q has no Answer; set it to a function "+
				"that appends what is told", q.Name))
		}
		if q.Every < 0 {
			wrong = append(wrong, errors.New("Query.Every is below zero; give how old an answer "+
				"may be, or 0 for a second"))
		}
	}
	return wrong
}
