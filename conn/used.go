package conn

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/coeval-dev/coeval/conn/token"
)

// Used are the tokens and tickets that have let someone in, so that each does so once. Servers of
// one program that are one to their players share it, such as one for each link; they are driven by
// one goroutine. A program that is started again gives it what the one before had written down.
//
// Of each client so many are remembered, whatever it does, and of all clients together. Those that
// expire first are forgotten first, and then whatever expires no later is refused as used too: a
// client comes with the last ticket that it was given, which expires later than all before. What
// was forgotten because it had expired stays refused as well, should the clock be set back.
type Used struct {
	journal  Journal
	clients  map[uint64]*[2]usedList
	count    [2]int   // of tokens, and of tickets
	floors   [2]int64 // whosever it is, what expires by then counts as used
	most     int      // of each kind
	entering map[[token.IDSize]byte]entering
}

// A Journal writes down which tokens were used. Its methods do not wait.
type Journal interface {
	// Mark begins to write down that a token was used and gives that a number; numbers grow. It
	// reports false if too many wait to be written.
	Mark(m token.Mark) (number uint64, ok bool)
	// Marked is up to which number they are durable: no crash takes them any more.
	Marked() uint64
}

// NewUsed makes a memory of used tokens. With a journal, which may be nil, a client is told that it
// is in when it is durable that its token was used.
func NewUsed(j Journal) *Used {
	return &Used{journal: j, clients: map[uint64]*[2]usedList{}, most: MostUsed,
		entering: map[[token.IDSize]byte]entering{}}
}

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

// entering is a token that is about to let someone in, or could not: then it has a mark and counts
// as unused as long as the program lives.
type entering struct {
	by      *Server // nil if it could not
	mark    uint64
	expires int64
	refused [nonceSize]byte // the attempt that was told so
}

const (
	// mostUsed is how many of one list are remembered.
	mostUsed = 64
	// MostUsed is how many tokens are remembered in all, and as many tickets.
	MostUsed = 1 << 17
	// mostEntering is how many tokens may be about to let someone in, or could not.
	mostEntering = 4 * entrantsMost
)

// kind is 0 for a token and 1 for a ticket.
func kind(resumed bool) int {
	if resumed {
		return 1
	}
	return 0
}

func (u *Used) of(g *token.Grant) *usedList {
	if both := u.clients[g.Client]; both != nil {
		return &both[kind(g.Resumed)]
	}
	return nil
}

// find gives what is remembered of a token, or nil.
func (u *Used) find(g *token.Grant) *usedToken {
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
func (u *Used) has(g *token.Grant) bool {
	if g.Expires <= u.floors[kind(g.Resumed)] || u.entering[g.ID].by != nil {
		return true
	}
	l := u.of(g)
	return l != nil && (g.Expires <= l.floor || u.find(g) != nil)
}

// enter has a token be about to let someone in. It reports false if it cannot be just now.
func (u *Used) enter(g *token.Grant, s *Server) bool {
	e, known := u.entering[g.ID]
	if !known && len(u.entering) >= mostEntering {
		return false
	}
	if u.journal != nil && !g.Resumed && e.mark == 0 {
		n, ok := u.journal.Mark(g.Mark())
		if !ok {
			return false
		}
		e.mark = n
	}
	e.by, e.expires = s, g.Expires
	u.entering[g.ID] = e
	return true
}

// durable says that a token that is about to let someone in may do so.
func (u *Used) durable(g *token.Grant) bool {
	return u.journal == nil || u.entering[g.ID].mark <= u.journal.Marked()
}

// fail has a token that was about to let someone in not do so.
func (u *Used) fail(g *token.Grant) {
	e := u.entering[g.ID]
	if e.by = nil; e.mark == 0 {
		delete(u.entering, g.ID)
		return
	}
	u.entering[g.ID] = e
}

// turnAway is fail for an attempt whose client is told that the server is not ready.
func (u *Used) turnAway(g *token.Grant, nonce [nonceSize]byte) {
	u.fail(g)
	if e, ok := u.entering[g.ID]; ok {
		e.refused = nonce
		u.entering[g.ID] = e
	}
}

// turnedAway says whether that attempt is over. What is left of it on the network must not use the
// token up: its client has given up, and would find the token used when it comes again.
func (u *Used) turnedAway(g *token.Grant, nonce [nonceSize]byte) bool {
	e := u.entering[g.ID]
	return e.mark != 0 && e.by == nil && e.refused == nonce
}

// add remembers a token that made a connection.
func (u *Used) add(g *token.Grant, c *Conn) {
	delete(u.entering, g.ID)
	if u.clients[g.Client] == nil {
		u.clients[g.Client] = new([2]usedList)
	}
	l, k := u.of(g), kind(g.Resumed)
	l.list = append(l.list, usedToken{g.ID, g.Expires, c})
	if u.count[k]++; u.count[k] > u.most {
		u.trim(k)
	}
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
	u.count[k]--
}

// Kept takes in what a journal has from the last time: marks, in the order in which they were
// written, and up to when tokens and tickets that expire count as used.
func (u *Used) Kept(marks []token.Mark, tokens, tickets int64) {
	u.floors = [2]int64{max(u.floors[0], tokens), max(u.floors[1], tickets)}
	for i := range marks {
		m := &marks[i]
		g := token.Grant{ID: m.ID, Client: m.Client, Expires: m.Expires, Resumed: m.Resumed}
		if u.find(&g) == nil {
			u.add(&g, nil)
		}
	}
}

// Marks lists what is remembered, for another server that goes on with the same players, and up to
// when tokens and tickets that expire count as used: its Kept takes them. A ticket is left out
// while its client may have no other.
func (u *Used) Marks() (marks []token.Mark, tokens, tickets int64) {
	for client, both := range u.clients {
		for k := range both {
			for i := range both[k].list {
				if t := &both[k].list[i]; k == 0 || t.conn == nil || t.conn.ticket == nil {
					marks = append(marks, token.Mark{ID: t.id, Client: client, Expires: t.expires,
						Resumed: k == 1})
				}
			}
		}
	}
	slices.SortFunc(marks, func(a, b token.Mark) int {
		return cmp.Or(cmp.Compare(a.Expires, b.Expires), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return marks, u.floors[0], u.floors[1]
}

// markTicket has it be written down that a connection came by a ticket. That begins when the client
// has the next one: until then a crash would leave it with none. No one waits for it.
func (u *Used) markTicket(c *Conn) {
	if u.journal == nil || c.grant == nil || !c.grant.Resumed || c.marked {
		return
	}
	_, c.marked = u.journal.Mark(c.grant.Mark())
}

// trim forgets an eighth of one kind, those that expire first.
func (u *Used) trim(k int) {
	var ends []int64
	for _, both := range u.clients {
		for i := range both[k].list {
			if t := &both[k].list[i]; t.conn == nil {
				ends = append(ends, t.expires)
			}
		}
	}
	if len(ends) == 0 {
		return
	}
	slices.Sort(ends)
	u.forget(k, ends[len(ends)/8])
}

// prune forgets what has expired by now.
func (u *Used) prune(now int64) {
	u.forget(0, now)
	u.forget(1, now)
	maps.DeleteFunc(u.clients, func(_ uint64, both *[2]usedList) bool {
		for i := range both {
			if len(both[i].list) > 0 || both[i].floor > now {
				return false
			}
			u.floors[i] = max(u.floors[i], both[i].floor)
		}
		return true
	})
	maps.DeleteFunc(u.entering, func(_ [token.IDSize]byte, e entering) bool {
		return e.by == nil && e.expires <= now
	})
}

// forget forgets those of one kind that expire by then and have no connection.
func (u *Used) forget(k int, by int64) {
	for _, both := range u.clients {
		l := &both[k]
		was := len(l.list)
		l.list = slices.DeleteFunc(l.list, func(t usedToken) bool {
			gone := t.expires <= by && t.conn == nil
			if gone {
				u.floors[k] = max(u.floors[k], t.expires)
			}
			return gone
		})
		u.count[k] -= was - len(l.list)
		if len(l.list) == 0 {
			l.list = nil
		}
	}
}
