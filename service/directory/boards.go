package directory

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strconv"
)

// A StandingsPage is a part of a leaderboard.
type StandingsPage struct {
	Standings []Standing `json:"standings"`
	// Next is what to give as after for the page that follows, if one does.
	Next string `json:"next,omitempty"`
	// Mine is the standing of the player that was asked for, if they have one.
	Mine *Standing `json:"mine,omitempty"`
}

func checkNames(q url.Values, names ...string) error {
	for name, v := range q {
		ok := false
		for _, n := range names {
			ok = ok || n == name
		}
		if !ok || len(v) > 1 {
			return fmt.Errorf("%.40q cannot be asked for here, or is given twice", name)
		}
	}
	return nil
}

func (a *API) boards(c *call) (any, error) {
	l, err := a.lobby()
	if err != nil {
		return nil, err
	}
	q := c.URL.Query()
	if err := errors.Join(checkNames(q, "game"), checkText("the game", q.Get("game"), false,
		MaxText)); err != nil {
		return nil, bad(err)
	}
	list, err := l.opt.Scorer.Boards(c.Context(), q.Get("game"))
	if err != nil {
		return nil, known(err)
	}
	if list == nil {
		list = []Board{}
	}
	return map[string][]Board{"boards": list}, nil
}

func (a *API) standings(c *call) (any, error) {
	l, err := a.lobby()
	if err != nil {
		return nil, err
	}
	q, of, err := parseStandings(c.URL.Query())
	if err != nil {
		return nil, bad(err)
	}
	limit := q.Limit
	q.Limit++ // to know whether there is more
	list, err := l.opt.Scorer.Standings(c.Context(), q)
	if err != nil {
		return nil, known(err)
	}
	page := StandingsPage{Standings: []Standing{}}
	if len(list) > limit {
		list = list[:limit]
		last := &list[limit-1]
		page.Next = base64.RawURLEncoding.EncodeToString(
			fmt.Appendf(nil, "%d %d", last.Value, last.Client))
	}
	page.Standings = append(page.Standings, list...)
	if of != 0 {
		q.Of = of
		mine, err := l.opt.Scorer.Standings(c.Context(), q)
		if err != nil {
			return nil, known(err)
		}
		if len(mine) > 0 {
			page.Mine = &mine[0]
		}
	}
	return page, nil
}

// parseStandings reads what part of a board somebody wants, and whose own line with it.
func parseStandings(v url.Values) (q BoardQuestion, of uint64, err error) {
	q.Game, q.Board = v.Get("game"), v.Get("board")
	if err := errors.Join(checkNames(v, "game", "board", "limit", "after", "client"),
		checkText("the game", q.Game, false, MaxText),
		checkText("the board", q.Board, false, MaxText)); err != nil {
		return q, 0, err
	}
	if q.Limit, err = whole(v.Get("limit"), 1, 200, 50); err != nil {
		return q, 0, err
	}
	if text := v.Get("after"); text != "" {
		var s Standing
		b, err := base64.RawURLEncoding.DecodeString(text)
		if err == nil {
			_, err = fmt.Sscanf(string(b), "%d %d", &s.Value, &s.Client)
		}
		if err != nil {
			return q, 0, errors.New("after is not what next was of the page before")
		}
		q.After = &s
	}
	if text := v.Get("client"); text != "" {
		if of, err = strconv.ParseUint(text, 10, 64); err != nil || of == 0 {
			return q, 0, errors.New("client is the number of a player")
		}
	}
	return q, of, nil
}
