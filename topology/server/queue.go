package server

import (
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// A queue holds the commands of one player for ticks to come. Its memory is fixed: what is late, or
// further in the future than it reaches, is not taken.
type queue struct {
	size   int          // numbers in a command
	ticks  []world.Tick // for which tick each slot holds a command; 0 for none
	images []int32
	sights []world.Sight // by slot: what the client showed; nil if nothing is judged by it
	used   []world.Tick  // for which tick the command of each slot was taken last, in time or late
	ruled  world.Tick    // the tick for which the server has decided itself
}

// A verdict is what a queue thinks of a command.
type verdict uint8

const (
	taken    verdict = iota
	again            // it has come before, as commands are sent several times
	late             // the tick is over, and did without it
	future           // the tick is further away than any honest clock is ahead
	differed         // another command for that tick came before; a player has no second thoughts
	verdicts
)

// newQueue makes one that reaches so many ticks ahead, with room for what clients showed if shots
// are judged by that.
func newQueue(size, reach int, sights bool) *queue {
	q := &queue{
		size: size, ticks: make([]world.Tick, reach), images: make([]int32, size*reach),
		used: make([]world.Tick, reach)}
	if sights {
		q.sights = make([]world.Sight, reach)
	}
	return q
}

func (q *queue) reset() {
	clear(q.ticks)
	clear(q.used)
	q.ruled = 0
}

func (q *queue) at(t world.Tick) (int, []int32) {
	i := int(t % world.Tick(len(q.ticks)))
	return i, q.images[i*q.size : (i+1)*q.size]
}

// put takes a command for tick t of a world that is at tick now.
func (q *queue) put(now, t world.Tick, image []int32) verdict {
	switch {
	case t <= now || t == q.ruled:
		if i, _ := q.at(t); (q.used[i] == t || q.ticks[i] == t) && t > 0 { // used, or about to be
			return again
		}
		return late
	case t-now > world.Tick(len(q.ticks)):
		return future
	}
	i, room := q.at(t)
	if q.ticks[i] == t {
		if !slices.Equal(room, image) {
			return differed
		}
		return again
	}
	q.ticks[i] = t
	q.note(t, world.Sight{})
	copy(room, image)
	return taken
}

// first says whether a command that came late is one that has not been seen, and from now on it
// has.
func (q *queue) first(t world.Tick) bool {
	i, _ := q.at(t)
	if t <= q.used[i] {
		return false // something newer was there
	}
	q.used[i] = t
	return true
}

// note says what the client showed when it made the command for a tick, which has been put.
func (q *queue) note(t world.Tick, s world.Sight) {
	if i, _ := q.at(t); q.sights != nil {
		q.sights[i] = s
	}
}

// take gives the command for a tick and what was shown with it, or nil if none has come. The image
// is good until the next put.
func (q *queue) take(t world.Tick) (image []int32, s world.Sight) {
	i, image := q.at(t)
	if q.ticks[i] != t {
		return nil, s
	}
	q.ticks[i], q.used[i] = 0, t
	if q.sights != nil {
		s = q.sights[i]
	}
	return image, s
}

// shut lets the server decide for a tick, so that what still comes for it is late. It is not ok if
// something has come.
func (q *queue) shut(t world.Tick) bool {
	if i, _ := q.at(t); q.ticks[i] == t {
		return false
	}
	q.ruled = t
	return true
}
