package server

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// OnPanic says what a server does when its game panics in a tick. The world has stopped in the
// middle of that tick and is not used any more, either way.
type OnPanic uint8

// What to do when a game panics.
const (
	// End ends the match: players are told so, and when they have heard, Tick and Run return an
	// error with all that is known.
	End OnPanic = iota
	// Restart begins the level anew. Everyone stays connected. A game that panics again and again
	// ends.
	Restart
)

// A server begins a level anew up to mostRestarts times within restartTime.
const (
	mostRestarts = 3
	restartTime  = time.Minute
)

// ErrGamePanicked says that the game panicked and the match is over. Use errors.Is; the error wraps
// the *world.Panic, too.
var ErrGamePanicked = errors.New("server: the match is over, as the game panicked")

// A failure is a server's game that has panicked for good. The zero value is one that has not.
type failure struct {
	err  error         // what Tick returns once people know, or nil
	by   time.Duration // when it does at the latest
	past []time.Duration
}

// panicOf is the panic that an error wraps, or nil.
func panicOf(err error) *world.Panic {
	if err == nil {
		return nil // as for most ticks, which must not allocate
	}
	var p *world.Panic
	errors.As(err, &p)
	return p
}

// panicked deals with a game that panicked in a tick.
func (s *Server) panicked(p *world.Panic, done Progress) error {
	flight := done.Flight
	if flight != nil {
		flight.Exact = true
	}
	s.tell(News{Kind: GamePanicked, Err: p, Inputs: done.Inputs, Flight: flight})
	if s.opt.OnPanic == Restart && s.traits.Levels && s.mayRestart() {
		err := s.changeNow(s.scene.level)
		if err == nil {
			s.Notice("the game has failed; the level begins anew")
			return nil
		}
		s.Fail(fmt.Errorf("%w: %w; the level could not begin anew: %w", ErrGamePanicked, p, err))
		return nil
	}
	s.Fail(fmt.Errorf("%w: %w", ErrGamePanicked, p))
	return nil
}

// mayRestart counts a restart, unless there were too many lately.
func (s *Server) mayRestart() bool {
	s.failed.past = slices.DeleteFunc(s.failed.past, func(t time.Duration) bool {
		return s.now-t > restartTime
	})
	s.failed.past = append(s.failed.past, s.now)
	return len(s.failed.past) <= mostRestarts
}

// Fail ends the match because the world cannot be used any more: everyone is told that the game has
// failed, and when they have heard, Tick returns the error. Neither the world nor the engine is
// asked for anything from now on.
func (s *Server) Fail(err error) {
	s.failed.err, s.failed.by = err, s.now+closeTime
	s.Shutdown("the game has failed, and the match is over")
}

// Failed is why the match ended, or nil. The world of a server that has failed must not be used.
func (s *Server) Failed() error { return s.failed.err }

// over gives the error that the server ends with, once people know.
func (f *failure) over(now time.Duration, told bool) error {
	if f.err != nil && (told || now > f.by) {
		return f.err
	}
	return nil
}
