package conn

import (
	"maps"
	"slices"

	"github.com/coeval-dev/coeval/conn/token"
)

// used are the tokens and tickets that have let someone in, by client, so that each does so once.
// Of each client so many are remembered, whatever it does. Those that expire first are forgotten
// first, and then whatever expires no later is refused as used too: a client comes with the last
// ticket that it was given, which expires later than all before.
type used map[uint64]*[2]usedList

// usedList is of one client; there is one of tokens and one of tickets, which live longer.
type usedList struct {
	list  []usedToken
	floor int64 // what expires by then counts as used
}

// usedToken is remembered until it would be refused as expired anyway.
type usedToken struct {
	id      [token.IDSize]byte
	expires int64
	conn    *Conn // that it made, while it lasts
}

// mostUsed is how many of one list are remembered.
const mostUsed = 64

func (u used) of(g *token.Grant) *usedList {
	both := u[g.Client]
	switch {
	case both == nil:
		return nil
	case g.Resumed:
		return &both[1]
	}
	return &both[0]
}

// find gives what is remembered of a token, or nil.
func (u used) find(g *token.Grant) *usedToken {
	l := u.of(g)
	if l == nil {
		return nil
	}
	i := slices.IndexFunc(l.list, func(t usedToken) bool { return t.id == g.ID })
	if i < 0 {
		return nil
	}
	return &l.list[i]
}

// has says whether a token counts as used.
func (u used) has(g *token.Grant) bool {
	l := u.of(g)
	return l != nil && (g.Expires <= l.floor || u.find(g) != nil)
}

// add remembers a token that made a connection.
func (u used) add(g *token.Grant, c *Conn) {
	if u[g.Client] == nil {
		u[g.Client] = new([2]usedList)
	}
	l := u.of(g)
	l.list = append(l.list, usedToken{g.ID, g.Expires, c})
	if len(l.list) <= mostUsed {
		return
	}
	first := 0 // the one that was just added lives, and so do those that have a connection
	for i := range l.list[:len(l.list)-1] {
		if t, f := &l.list[i], &l.list[first]; f.conn != nil && t.conn == nil ||
			(f.conn == nil) == (t.conn == nil) && t.expires < f.expires {
			first = i
		}
	}
	l.floor = max(l.floor, l.list[first].expires)
	l.list = slices.Delete(l.list, first, first+1)
}

// prune forgets what has expired by now.
func (u used) prune(now int64) {
	maps.DeleteFunc(u, func(_ uint64, both *[2]usedList) bool {
		left := false
		for i := range both {
			l := &both[i]
			l.list = slices.DeleteFunc(l.list, func(t usedToken) bool {
				return t.expires <= now && t.conn == nil
			})
			if len(l.list) == 0 {
				l.list = nil
			}
			left = left || len(l.list) > 0 || l.floor > now
		}
		return !left
	})
}
