package relaylab

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/topology/relay"
)

// Roles of the workers.
const (
	roleRelay   = "relay"
	roleMembers = "members"
)

// spec is what both workers are to do.
type spec struct {
	Matches, Players, Rate, Send int
	Pace                         float64
	lab.Meeting
}

// check says what is wrong with it, before anything is made of it.
func (s *spec) check(role string) error {
	switch {
	case s.Matches < 1, s.Players < 1, s.Players > relay.MaxSeats,
		s.Matches*s.Players > 2*mostMembers, s.Rate < 1, s.Rate > mostRate, s.Send < 1,
		s.Send > s.Rate, !(s.Pace > 0 && s.Pace <= 1):
		return errors.New("an order to open without the matches to play")
	case role == roleMembers && len(s.Tokens) != s.Matches*s.Players:
		return fmt.Errorf("%d tokens for %d members", len(s.Tokens), s.Matches*s.Players)
	}
	return nil
}

var protocol = relay.Protocol

// options are those of both ends. The rate controller need not find out what loopback can take, nor
// mistake a machine that is busy with other things for a slow network.
func (s *spec) options(clock *lab.Clock) conn.Options {
	const plenty = 64 << 20
	o := conn.Options{Wall: clock.Wall(), Rate: plenty, MinRate: plenty, MaxRate: plenty}
	_, _ = crand.Read(o.Seed[:]) // it never fails
	return o
}

// relaySample is what the relay measured of itself in a window.
type relaySample struct {
	Used                 lab.Usage
	Wall                 time.Duration // by the clock that may go slower
	Rows, Late, Repeated uint64
	Received, Sent       uint64
}

// membersSample is what the members counted.
type membersSample struct{ Rows uint64 }

// Work is what the processes run that Run starts: it takes orders on in and answers on out, until
// in ends.
func Work(ctx context.Context, role string, in io.Reader, out io.Writer) error {
	return lab.Work(ctx, role, lab.Roles[spec]{roleRelay: runRelay, roleMembers: runMembers},
		(*spec).check, in, out)
}
