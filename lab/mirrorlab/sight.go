package mirrorlab

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/world"
)

// followed is a command of a player for a tick, and when it was where.
type followed struct {
	given   time.Duration // at the client
	entered time.Duration // at its mirror; 0 if it has not
	at      int           // which mirror
	image   []int32
}

// find is the command of a player for a tick, if it has come in at a mirror.
func (f *cluster) find(p world.Player, t world.Tick) *followed {
	if x := f.commands.Of(p).At(t); x != nil && x.entered > 0 {
		return x
	}
	return nil
}

// given is told when a client makes a command.
func (f *cluster) given(u *guest, t world.Tick, image []int32) {
	x := f.commands.Of(u.Me).Put(t)
	x.given, x.entered, x.at = f.Net.Now(), 0, u.home
	x.image = append(x.image[:0], image...)
}

// entered is told of each command that is in time at a mirror, each time that it comes.
func (s *machine) entered(_ *world.World, p world.Player, t world.Tick, image []int32) error {
	x := s.commands.Of(p).At(t)
	if x == nil || x.entered > 0 {
		return nil
	}
	x.entered, x.at = s.Net.Now(), s.index
	x.image = append(x.image[:0], image...)
	if s.On {
		// Its tick is closed when the group's time gets there.
		s.r.Sight.Early.add(
			time.Duration(t)*time.Second/time.Duration(s.Title.Game.Rate()) - s.group())
	}
	return nil
}

// group is the group's time as this mirror has it now, also between two polls.
func (s *machine) group() time.Duration { return s.mirror.Now() + s.Net.Now() - s.polled }

// An execution is what a mirror's leading world has executed, and when.
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

func (l *execution) begin(slots int) {
	l.newest, l.done, l.image = map[world.Player]world.Tick{}, session.Rings[executed]{},
		make([]int32, slots)
}

// watch looks at the leading world after each poll.
func (s *machine) watch(before timeline.Stats) {
	w := s.mirror.Timeline().Leading()
	st := s.mirror.TimelineStats()
	s.sees.On = s.On
	s.sees.Hear(s.Net.Now(), s.mirror.Timeline().Notices())
	if st.Seen != before.Seen || st.Returns != before.Returns ||
		st.Corrections != before.Corrections {
		s.repaired(w)
	}
	next := w.Tick() != s.log.tick
	if s.exact() && (next || st.Commands != before.Commands && !s.batched()) {
		s.known(w.Tick())
	}
	if !next {
		return
	}
	s.remember(w)
	s.sees.Show(w)
	s.log.tick = w.Tick()
	*s.log.reach.Put(w.Tick()) = s.Net.Now()
	for p := range w.Players {
		if !s.exact() && !w.Repeated(p) && w.Host().CommandImage(p, s.log.image) {
			s.executed(p, w.Tick())
		}
	}
	s.Witness(w, func(u *session.Guest) bool { return s.of[u].home == s.index })
}

// exact says whether the leading world is always computed again at once when a command was late, so
// that what is known is executed.
func (s *machine) exact() bool {
	return s.o.Timeline == "timewarp" || s.o.Timeline == "rollback" || s.batched()
}

// batched says whether that is done once a tick, for all that was late.
func (s *machine) batched() bool {
	return kinds.Trails(s.o.Timeline) && (s.o.Repair == "" || s.o.Repair == kinds.AtOnce)
}

// known finds out which commands are in an exact leading world.
func (s *machine) known(now world.Tick) {
	s.mirror.Timeline().Pending(func(c timeline.Command) bool {
		if c.Kind == timeline.Give && c.Tick <= now && c.Tick > s.log.newest[c.Player] {
			s.did(c.Player, c.Tick, now)
		}
		return c.Tick <= now
	})
}

// executed finds out which command of a player the leading world has just executed at a tick. It
// need not be the one for that tick: one that came late is executed next.
func (s *machine) executed(p world.Player, now world.Tick) {
	l := &s.log
	newest := l.newest[p]
	at := world.Tick(0)
	for t := now; t > newest && now-t < session.Remember/2; t-- {
		if x := s.find(p, t); x != nil && slices.Equal(x.image, l.image) {
			at = t
			break
		}
	}
	if at == 0 && s.find(p, now) != nil {
		at = now // the mirror put edges of a late one into it
	}
	if at > 0 {
		s.did(p, at, now)
	}
}

// did books that the leading world has executed a player's commands up to that for a tick.
func (s *machine) did(p world.Player, at, now world.Tick) {
	l := &s.log
	newest := l.newest[p]
	if newest == 0 {
		newest = at - 1
	}
	l.newest[p] = at
	if u := s.Of[p]; u != nil {
		s.obeyed(s.of[u], s.commands.Of(p).At(at), now)
	}
	for t := max(newest+1, at-min(at, session.Remember/2)); t <= at; t++ {
		*l.done.Of(p).Put(t) = executed{now, s.Net.Now()}
		x := s.find(p, t)
		if x == nil || !s.On || x.at == s.index {
			continue
		}
		s.r.Sight.Executed.add(s.Net.Now() - x.entered)
		s.counted++
		if t != at {
			s.passed++
		}
	}
}

// shownTo is told of each packet of a snapshot that a client is given: which commands of others are
// in it that were in none before?
func (f *cluster) shownTo(u *guest, n *replica.Snapshot) {
	s := f.machines[u.home]
	reach := s.log.reach.At(n.Tick)
	if reach == nil {
		return
	}
	for p, done := range s.log.done {
		if p == u.Me {
			continue
		}
		last := u.seen[p]
		told := func(t world.Tick) bool {
			d := done.At(t)
			return d != nil && d.in <= n.Tick && d.at <= *reach
		}
		if last == 0 || n.Tick-min(n.Tick, last) > session.Remember/2 {
			// it begins with the newest, however late that was
			for t := n.Tick; t > 0 && n.Tick-t < session.Remember/2; t-- {
				if told(t) {
					u.seen[p] = t
					break
				}
			}
			continue
		}
		inView, looked := false, false
		for t := last + 1; t <= n.Tick && told(t); t++ {
			u.seen[p] = t
			x := f.find(p, t)
			if x == nil || !f.On {
				continue
			}
			if !looked {
				inView, looked = u.sees(p), true
			}
			switch {
			case x.at == s.index:
				f.r.Sight.HomeSent.add(*reach - x.entered)
				if inView {
					f.r.Sight.Home.add(f.Net.Now() - x.given)
				}
			default:
				f.r.Sight.Sent.add(*reach - x.entered)
				if inView {
					f.r.Sight.Taken.add(f.Net.Now() - x.entered)
					f.r.Sight.Whole.add(f.Net.Now() - x.given)
				}
			}
		}
	}
}

// sees says whether a player's body is in the client's view.
func (u *guest) sees(p world.Player) bool {
	view := u.Client.Truth()
	for id := range view.Host().Of(u.Body) {
		if view.Owner(id) == p {
			return true
		}
	}
	return false
}
