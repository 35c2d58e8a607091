package mirrored

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/world"
)

// An execution is what a mirror's leading world has executed, and when: a snapshot of a tick has in
// it only those commands that were executed when the tick was shown.
type execution struct {
	tick   world.Tick // the newest that was looked at
	newest map[world.Player]world.Tick
	done   session.Rings[executed]
	reach  session.Ring[time.Duration] // when the leading world got to a tick
	image  []int32
}

// executed says of a command at which tick and when that was.
type executed struct {
	in world.Tick
	at time.Duration
}

// exact says whether the leading world is always computed again at once when a command was late, so
// that what is known is executed.
func (s *machine) exact() bool {
	return s.kind == "timewarp" || s.kind == "rollback" || s.batched()
}

// batched says whether that is done once a tick, for all that was late.
func (s *machine) batched() bool { return kinds.Trails(s.kind) }

// watch looks at the leading world after each poll.
func (s *machine) watch(st timeline.Stats) {
	l, w := &s.log, s.mirror.Timeline().Leading()
	if l.newest == nil {
		l.newest, l.done = map[world.Player]world.Tick{}, session.Rings[executed]{}
		l.image = make([]int32, len(w.Game().Commands().Slots))
	}
	next := w.Tick() != l.tick
	if s.exact() && (next || st.Commands != s.before.Commands && !s.batched()) {
		s.mirror.Timeline().Pending(func(c timeline.Command) bool {
			if c.Kind == timeline.Give && c.Tick <= w.Tick() && c.Tick > l.newest[c.Player] {
				s.did(c.Player, c.Tick, w.Tick())
			}
			return c.Tick <= w.Tick()
		})
	}
	if !next {
		return
	}
	l.tick = w.Tick()
	*l.reach.Put(w.Tick()) = s.match.Net.Now()
	for p := range w.Players {
		if !s.exact() && !w.Repeated(p) && w.Host().CommandImage(p, l.image) {
			s.executed(p, w.Tick())
		}
	}
}

// executed finds out which command of a player the leading world has just executed at a tick. It
// need not be the one for that tick: one that came late is executed next.
func (s *machine) executed(p world.Player, now world.Tick) {
	l, seat := &s.log, s.match.Of(p)
	if seat == nil {
		return
	}
	for t := now; t > l.newest[p] && now-t < session.Remember/2; t-- {
		if seat.HasCome(t) && slices.Equal(seat.Given(t), l.image) {
			s.did(p, t, now)
			return
		}
	}
	if seat.HasCome(now) && now > l.newest[p] {
		s.did(p, now, now) // edges of a late one were put into it
	}
}

// did books that the leading world has executed a player's commands up to that for a tick.
func (s *machine) did(p world.Player, at, now world.Tick) {
	l := &s.log
	from := max(l.newest[p]+1, at-min(at, session.Remember/2))
	l.newest[p] = at
	for t := from; t <= at; t++ {
		*l.done.Of(p).Put(t) = executed{now, s.match.Net.Now()}
	}
}

// has says which commands a snapshot has in it.
func (s *machine) has(known world.Tick) func(o *tunnel.Seat, t world.Tick) bool {
	reach := s.log.reach.At(known)
	return func(o *tunnel.Seat, t world.Tick) bool {
		d := s.log.done.Of(o.Me).At(t)
		return reach != nil && d != nil && d.in <= known && d.at <= *reach
	}
}
