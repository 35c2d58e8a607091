package lobby

import (
	"fmt"
	"slices"
	"time"
)

// A queueKey names a queue: only those of one version of a game can play together.
type queueKey struct{ game, version string }

// A queue is who waits for one game, those who wait longest first.
type queue struct{ units []*unit }

// A unit is who stays together: one person, or a room.
type unit struct {
	key    queueKey
	level  string
	people []*person
	since  time.Duration
	room   *room // or nil
	order  uint64
	after  time.Duration // before which it is not matched again, as no server had room
	why    string
}

// Queued is how somebody waits.
type Queued struct {
	Game string `json:"game"`
	// Waited is for how many seconds, and Matched that a server is being found.
	Waited  int  `json:"waited"`
	Matched bool `json:"matched"`
	// Why is why the last match came to nothing, if one did.
	Why string `json:"why,omitempty"`
	// Gone says that they wait no more, and are not playing either.
	Gone bool `json:"gone,omitempty"`
}

func (u *unit) view(now time.Duration) *Queued {
	return &Queued{Game: u.key.game, Waited: int((now - u.since) / time.Second),
		Matched: u.order != 0, Why: u.why}
}

func (u *unit) everyone() (out []uint64) {
	for _, p := range u.people {
		out = append(out, p.Client)
	}
	return out
}

// Enqueue has somebody wait for others to play with.
func (l *Lobby) Enqueue(
	now time.Duration, w Who, game, version string, me Profile,
) (*Queued, error) {
	if err := l.queueable(game); err != nil {
		return nil, err
	}
	p, err := l.enter(now, w)
	if err != nil {
		return nil, err
	}
	switch {
	case p.room != nil:
		return nil, errInRoom
	case p.unit != nil && p.unit.key != (queueKey{game, version}):
		return nil, errInQueue
	}
	p.Profile = me
	if p.unit == nil {
		l.wait(now, &unit{key: queueKey{game, version}, people: []*person{p}, since: now})
	}
	return p.unit.view(now), nil
}

func (l *Lobby) queueable(game string) error {
	if l.opt.Rule(game) == nil {
		return refuse("no_queue", fmt.Sprintf("there is no queue for %.64q here: its operator "+
			"starts the directory with --queue GAME=SIZE; make a room instead", game))
	}
	return nil
}

// EnqueueRoom has a whole room wait for others, as one party.
func (l *Lobby) EnqueueRoom(now time.Duration, w Who, code string) (*Room, error) {
	r, _, err := l.asHost(now, w, code)
	if err != nil {
		return nil, err
	}
	if err := l.queueable(r.Game); err != nil {
		return nil, err
	}
	if r.state() != Open {
		return nil, errBusy
	}
	u := &unit{key: queueKey{r.Game, r.Version}, level: r.Level, since: now, room: r}
	for _, m := range r.members {
		u.people = append(u.people, m.person)
	}
	r.unit = u
	l.wait(now, u)
	return l.changed(r), nil
}

func (l *Lobby) wait(now time.Duration, u *unit) {
	q := l.queues[u.key]
	if q == nil {
		q = &queue{}
		l.queues[u.key] = q
	}
	for _, p := range u.people {
		p.unit = u
	}
	q.units = append(q.units, u)
	l.counts.Queued += uint64(len(u.people))
	l.tell(u.everyone(), *u.view(now))
}

// Dequeue has somebody wait no more; with them their room.
func (l *Lobby) Dequeue(now time.Duration, w Who) error {
	p := l.people[w.Client]
	if p == nil || p.unit == nil {
		return refuse("not_waiting", "you do not wait in a queue")
	}
	p.heard = now
	l.unqueue(now, p)
	return nil
}

// unqueue takes somebody out of their queue, with all who wait with them. A match that was found
// for them goes on without them.
func (l *Lobby) unqueue(now time.Duration, p *person) {
	u := p.unit
	if u == nil {
		return
	}
	v := u.view(now)
	v.Gone, v.Matched = true, false
	l.tell(u.everyone(), *v)
	l.remove(u)
	if r := u.room; r != nil && len(r.members) > 0 {
		l.changed(r)
	}
}

// remove takes a unit out of its queue.
func (l *Lobby) remove(u *unit) {
	q := l.queues[u.key]
	q.units = slices.DeleteFunc(q.units, func(x *unit) bool { return x == u })
	if len(q.units) == 0 {
		delete(l.queues, u.key)
	}
	for _, p := range u.people {
		p.unit = nil
	}
	if u.room != nil {
		u.room.unit = nil
	}
}

// match has the rules group those who wait.
func (l *Lobby) match(now time.Duration) {
	keys := make([]queueKey, 0, len(l.queues))
	for k := range l.queues {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b queueKey) int {
		return slices.Compare([]string{a.game, a.version}, []string{b.game, b.version})
	})
	for _, k := range keys {
		rule := l.opt.Rule(k.game)
		if rule == nil {
			continue
		}
		var units []*unit
		var list []Unit
		for _, u := range l.queues[k].units {
			if u.order == 0 && now >= u.after {
				units, list = append(units, u), append(list, u.shown(now))
			}
		}
		if len(list) == 0 {
			continue
		}
		groups, ok := ask(rule, list, l.opt.Regions(k.game, k.version))
		if !ok {
			l.counts.BadGroups++
		}
		for _, g := range groups {
			l.group(now, units, g)
		}
	}
}

func (u *unit) shown(now time.Duration) Unit {
	s := Unit{Waited: now - u.since, Players: make([]Player, len(u.people))}
	for i, p := range u.people {
		s.Players[i] = p.Player
	}
	return s
}

// ask asks an author's rule. It must not end the directory if it panics.
func ask(rule Matcher, list []Unit, regions []string) (groups []Group, ok bool) {
	defer func() {
		if recover() != nil {
			groups, ok = nil, false
		}
	}()
	return rule.Match(list, regions), true
}

// group has a match be made for a group, if it can be one: nobody is in it twice or in another.
func (l *Lobby) group(now time.Duration, units []*unit, g Group) {
	var in []*unit
	for _, i := range g.Units {
		if i < 0 || i >= len(units) || units[i].order != 0 || slices.Contains(in, units[i]) {
			l.counts.BadGroups++
			return
		}
		in = append(in, units[i])
	}
	if len(in) == 0 {
		l.counts.BadGroups++
		return
	}
	o := l.newOrder(now, in[0].key, in[0].level)
	o.Region, o.units = g.Region, in
	for _, u := range in {
		u.order = o.ID
		for _, p := range u.people {
			o.Players = append(o.Players, p.Player)
		}
		l.tell(u.everyone(), *u.view(now))
	}
	l.counts.Matched += uint64(len(o.Players))
	l.give(o)
}
