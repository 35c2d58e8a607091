package transportlab

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/lab"
)

// Roles of the workers.
const (
	roleServer  = "server"
	roleClients = "clients"
)

// spec is the traffic that both workers are to make.
type spec struct {
	Clients, Rate, Size int
	Saturate            bool
	Listen              string // of the server
	lab.Meeting
}

// check says what is wrong with the traffic, before anything is made of it.
func (s *spec) check(role string) error {
	switch {
	case s.Clients < 1, s.Clients > mostClients, s.Rate < 1, s.Rate > mostRate, s.Size < stampSize,
		s.Size > mostSize:
		return errors.New("an order to open without the traffic to make")
	case role == roleClients && len(s.Tokens) != s.Clients:
		return fmt.Errorf("%d tokens for %d clients", len(s.Tokens), s.Clients)
	}
	return nil
}

// every is the time between two ticks.
func (s *spec) every() time.Duration { return time.Second / time.Duration(s.Rate) }

// options are those of both ends. The rate controller need not find out what loopback can take, nor
// mistake a machine that is busy with other things for a slow network.
func (s *spec) options(clock *lab.Clock) conn.Options {
	const plenty = 64 << 20
	o := conn.Options{
		Protocol: protocol, Version: 1, Wall: clock.Wall(), Rate: plenty, MinRate: plenty,
		MaxRate: plenty}
	_, _ = crand.Read(o.Seed[:]) // it never fails
	return o
}

// channels are those on which kinds of messages go, in a connection that says nothing else.
var channels = map[string]uint8{kindUnreliable: 0, kindReliable: 2}

// protocol is the game that is played.
var protocol = token.ProtocolID("coeval bench transport")

// serverSample is what the server measured of itself in a window.
type serverSample struct {
	Used lab.Usage
	Wall time.Duration
	tally
}

// tally is what was echoed and sent.
type tally struct{ Messages, Packets, Bytes uint64 }

// crowdSample is what the clients counted.
type crowdSample struct{ Offered, Delivered uint64 }

// Work is what the processes run that Run starts: it takes orders on in and answers on out, until
// in ends.
func Work(ctx context.Context, role string, in io.Reader, out io.Writer) error {
	return lab.Work(ctx, role, lab.Roles[spec]{roleServer: runServer, roleClients: runCrowd},
		(*spec).check, in, out)
}
