package lobby

import (
	"slices"
	"strconv"
	"time"
)

// An Order is a match for which a server is to be found. Whoever runs the lobby takes it from
// Orders, and then calls Fulfil or Fail.
type Order struct {
	ID                           uint64
	Game, Version, Level, Region string
	// Room is the code of a room, or nothing for a match of a queue.
	Room    string
	Players []Player
}

// A Start is where somebody goes to play.
type Start struct {
	Match string `json:"match"`
	Game  string `json:"game"`
	// Entry is the server's in the directory, Name what it is called, and UDP, WS and WT where it
	// is reached.
	Entry string `json:"entry"`
	Name  string `json:"name"`
	UDP   string `json:"udp,omitempty"`
	WS    string `json:"ws,omitempty"`
	WT    string `json:"wt,omitempty"`
	// Token lets this player in, until Expires (Unix time in seconds). Where there is none, Door
	// is the URL of a server that gives one to anybody.
	Token   string `json:"token,omitempty"`
	Expires int64  `json:"expires,omitempty"`
	Door    string `json:"door,omitempty"`
	// Page is the server's page, for those who play in a browser.
	Page string `json:"page,omitempty"`
	// Why is why this player is not let in, if so.
	Why string `json:"why,omitempty"`
}

type order struct {
	Order
	room  *room
	units []*unit
	since time.Duration
}

const (
	// orderTime is how long it may take to find a server before it is given up: longer than a
	// command that starts one may take.
	orderTime = 5 * time.Minute
	// startTime is for how long somebody can still ask where to go.
	startTime = time.Minute
	// retryAfter is how long those who wait are left alone after no server had room.
	retryAfter = 5 * time.Second
)

func (l *Lobby) newOrder(now time.Duration, k queueKey, level string) *order {
	id := l.opt.Random() | 1
	for l.orders[id] != nil {
		id = l.opt.Random() | 1
	}
	o := &order{since: now,
		Order: Order{ID: id, Game: k.game, Version: k.version, Level: level}}
	l.orders[id] = o
	return o
}

// give hands an order out.
func (l *Lobby) give(o *order) { l.given = append(l.given, o.Order) }

// Orders hands out matches for which servers are to be found, each once.
func (l *Lobby) Orders() []Order {
	out := l.given
	l.given = nil
	return out
}

// Match is what a match is called.
func (o *Order) Match() string { return strconv.FormatUint(o.ID, 16) }

// Start begins the match of a room, if its host says so and all others are ready, or anyway.
func (l *Lobby) Start(now time.Duration, w Who, code string, anyway bool) (*Room, error) {
	r, host, err := l.asHost(now, w, code)
	if err != nil {
		return nil, err
	}
	if r.state() != Open {
		return nil, errBusy
	}
	for _, m := range r.members {
		if !m.ready && m != host && !anyway {
			return nil, refuse("not_ready", "not everyone is ready: wait, or start anyway")
		}
	}
	o := l.newOrder(now, queueKey{r.Game, r.Version}, r.Level)
	o.Room, o.room = r.code, r
	for _, m := range r.members {
		o.Players = append(o.Players, m.Player)
	}
	r.order, r.why = o.ID, ""
	l.give(o)
	return l.changed(r), nil
}

// Fulfil hands everybody of an order what they need to play. Those who have left meanwhile are not
// told.
func (l *Lobby) Fulfil(now time.Duration, id uint64, starts map[uint64]*Start) {
	o := l.orders[id]
	if o == nil {
		return
	}
	delete(l.orders, id)
	l.counts.Started++
	give := func(p *person) {
		if s := starts[p.Client]; s != nil {
			p.start, p.until = s, now+startTime
			l.tell([]uint64{p.Client}, *s)
		}
	}
	for _, u := range o.units {
		if !l.waits(u, id) {
			continue
		}
		l.remove(u)
		for _, p := range u.people {
			give(p)
		}
		if u.room != nil {
			l.again(u.room)
		}
	}
	if r := o.room; r != nil && r.order == id {
		r.order = 0
		for _, m := range r.members {
			give(m.person)
		}
		if len(r.members) > 0 {
			l.again(r)
		}
	}
}

// again has a room be open for the next match.
func (l *Lobby) again(r *room) {
	r.why = ""
	for _, m := range r.members {
		m.ready = false
	}
	l.changed(r)
}

// waits says whether a unit still waits for an order.
func (l *Lobby) waits(u *unit, id uint64) bool {
	q := l.queues[u.key]
	return u.order == id && q != nil && slices.Contains(q.units, u)
}

// Fail says that no server was found. A room is open again, and those who wait go on waiting, where
// they were.
func (l *Lobby) Fail(now time.Duration, id uint64, why string) {
	o := l.orders[id]
	if o == nil {
		return
	}
	delete(l.orders, id)
	l.counts.Failed++
	for _, u := range o.units {
		if l.waits(u, id) {
			u.order, u.after, u.why = 0, now+retryAfter, why
			l.tell(u.everyone(), *u.view(now))
		}
	}
	if r := o.room; r != nil && r.order == id {
		r.order, r.why = 0, why
		if len(r.members) > 0 {
			l.changed(r)
		}
	}
}

// late gives up orders that nobody fulfils.
func (l *Lobby) late(now time.Duration) {
	var ids []uint64
	for id, o := range l.orders {
		if now-o.since >= orderTime {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		l.Fail(now, id, "it took too long to find a server: try again")
	}
}
