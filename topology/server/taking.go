package server

import (
	"errors"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// A Taking is how a server takes commands.
type Taking uint8

const (
	// ByTick executes each command at the tick for which it was made. Clients are ahead of the
	// server by enough that it is there by then.
	ByTick Taking = iota
	// Newest executes, at each tick, the newest that has come. What came before it and was not
	// executed is left out, but for its edges; if none has come, what the player held down goes on.
	// So Quake did.
	Newest
	// Each executes every command as it comes, in the order in which they were made: the player's
	// body makes a step for each, several in a tick or none. So QuakeWorld did.
	Each
)

var takingNames = [...]string{"tick", "newest", "each"}

func (t Taking) String() string {
	if int(t) < len(takingNames) {
		return takingNames[t]
	}
	return fmt.Sprintf("Taking(%d)", uint8(t))
}

// ParseTaking finds a way to take commands by its name, for command lines.
func ParseTaking(name string) (Taking, error) {
	i := slices.Index(takingNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("unknown way to take commands %q: there are tick, newest and each",
			name)
	}
	return Taking(i), nil
}

// arrivals are the commands of one player that have come and were not executed, by rising ticks.
// Their memory is bounded: a tick that is further in the future than a queue reaches is not taken.
type arrivals struct {
	list  []arrival  // what lies behind is memory for more
	acted world.Tick // the newest command that was executed, or passed over; 0 before the first
}

// arrival is a command that waits.
type arrival struct {
	tick  world.Tick
	image []int32
	sight world.Sight
}

const (
	// mostWaiting is how many commands of a player wait at most, and mostTurns how many of them are
	// executed in one tick.
	mostWaiting = 128
	mostTurns   = 8
)

func (l *arrivals) reset() { l.list, l.acted = l.list[:0], 0 }

// put takes a command for tick t of a world that is at tick now, which reaches so far.
func (l *arrivals) put(now, t, reach world.Tick, image []int32) verdict {
	switch {
	case t <= l.acted:
		return again // or overtaken by those that it was to come before
	case t > now+reach:
		return future
	}
	at, found := slices.BinarySearchFunc(l.list, t, func(c arrival, t world.Tick) int {
		return int(int64(c.tick) - int64(t))
	})
	if found {
		if !slices.Equal(l.list[at].image, image) {
			return differed
		}
		return again
	}
	if len(l.list) == mostWaiting {
		return late
	}
	n := len(l.list)
	if n < cap(l.list) {
		l.list = l.list[:n+1]
	} else {
		l.list = append(l.list, arrival{})
	}
	c := l.list[n]
	copy(l.list[at+1:], l.list[at:n])
	c.tick, c.image, c.sight = t, append(c.image[:0], image...), world.Sight{}
	l.list[at] = c
	return taken
}

// note says what the client showed when it made the command for a tick, which has been put.
func (l *arrivals) note(t world.Tick, s world.Sight) {
	for i := range l.list {
		if l.list[i].tick == t {
			l.list[i].sight = s
		}
	}
}

// drop takes the first few off. Their memory serves others.
func (l *arrivals) drop(n int) {
	l.acted = l.list[n-1].tick
	slices.Reverse(l.list[:n]) // to the end, with what they hold
	slices.Reverse(l.list[n:])
	slices.Reverse(l.list)
	l.list = l.list[:len(l.list)-n]
}

// at is what a client showed with a command, of which the tick is not the one that it is executed
// at.
func (c *arrival) at(t world.Tick) world.Sight {
	s, by := c.sight, int64(c.tick)-int64(t)
	if s.Ago > 0 {
		s.Ago = uint16(min(max(int64(s.Ago)-16*by, 1), 1<<16-1))
	}
	s.Base = uint16(min(max(int64(s.Base)-by, 0), 1<<16-1))
	return s
}

// takesAs checks that commands can be taken so.
func (o *Options) takesAs() error {
	switch {
	case int(o.Take) >= len(takingNames):
		return fmt.Errorf("server: unknown way to take commands %v", o.Take)
	case o.Take == ByTick:
		return nil
	case o.Engine != nil:
		return errors.New("server: Options.Engine takes commands by their ticks; leave Take empty")
	}
	if _, _, ok := o.Title.Body(); o.Take == Each && !ok {
		return fmt.Errorf("server: to execute each command as it comes, title %q has to say what "+
			"players move about in: call h.Body in the Hints of that class", o.Title.Name())
	}
	return nil
}

// arrive takes a command that is executed as it comes.
func (s *Server) arrive(p *peer, t world.Tick, image []int32, said *world.Sight) {
	if !s.allows(p, t, image) {
		return
	}
	v := p.come.put(s.closed(), t, world.Tick(len(p.queue.ticks)), image)
	switch v {
	case taken:
		p.counts.Taken++
		s.stats.Commands.Taken++
		p.come.note(t, s.shows(p, t, said))
	case again:
		p.counts.Again++
		s.stats.Commands.Again++
	case late:
		p.counts.Late++
		s.stats.Commands.Late++
	case future:
		p.counts.Future++
		s.stats.Commands.Future++
		s.offend(p, FutureTick)
	case differed:
		p.counts.Differed++
		s.stats.Commands.Differed++
		s.offend(p, SecondMind)
	}
}

// giveCome gives the engine what has come of one player, for the tick that is about to be computed.
// It says whether that is all there is to say of the player.
func (s *Server) giveCome(seat *Seat, t world.Tick) bool {
	p := seat.peer
	if p == nil || p.resting && len(p.come.list) == 0 {
		if p != nil && p.come.acted > 0 { // what is not sent does nothing
			p.come.acted = min(p.come.acted+1, max(p.newest, p.come.acted))
		}
		return false
	}
	l := &p.come
	if len(l.list) == 0 {
		// What is held down goes on, or nothing moves.
		return s.opt.Take == Newest || s.own.next().Still(seat.Player, s.body) == nil
	}
	n := len(l.list)
	if s.opt.Take == Each {
		n = min(n, mostTurns)
	}
	for i := range l.list[:n-1] {
		c := &l.list[i]
		if s.opt.Take == Newest {
			if s.finder != nil {
				p.edges.add(s.finder, c.tick, c.image)
			}
		} else if s.own.next().Move(seat.Player, s.body, c.image) != nil {
			s.offend(p, BadCommand)
		}
	}
	c := &l.list[n-1]
	err := s.engine.Give(seat.Player, t, s.merge(p, c.tick, c.image), c.at(t))
	if l.drop(n); err != nil {
		s.offend(p, BadCommand)
		return false
	}
	seat.repeated = 0
	return true
}
