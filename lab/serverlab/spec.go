package serverlab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/link"

	// servers are compared with how others make snapshots
	_ "github.com/coeval-dev/coeval/topology/architecture/all"
	"github.com/coeval-dev/coeval/topology/server"
)

// Roles of the workers.
const (
	roleHost = "host"
	roleBots = "bots"
)

// Kinds of measurements that both take part in.
const (
	kindPlay  = "play"  // everyone plays
	kindQuiet = "quiet" // the bots keep still, so that the server has all cores for itself
)

// spec is what both workers are to play.
type spec struct {
	Level                     string
	Players, Procs, Snapshots int
	Seed                      uint64
	Strategy                  string
	Relay                     bool
	lab.Meeting
}

func (s *spec) check(role string) error {
	switch {
	case s.Players < 1, s.Players > MostPlayers, s.Procs < 1:
		return errors.New("an order to open without what to play")
	case role == roleBots && len(s.Tokens) != s.Players:
		return fmt.Errorf("%d tokens for %d bots", len(s.Tokens), s.Players)
	}
	return nil
}

// Work is what the processes run that Run starts: it plays the title in one of the roles, takes
// orders on in and answers on out, until in ends.
func Work(ctx context.Context, t *game.Title, role string, in io.Reader, out io.Writer) error {
	if t == nil {
		return errors.New("no title to play")
	}
	as := func(work func(*lab.Subject, *lab.Desk, *spec) error) func(*lab.Desk, *spec) error {
		return func(d *lab.Desk, s *spec) error {
			title, err := s.subject(t)
			if err != nil {
				return err
			}
			return work(title, d, s)
		}
	}
	return lab.Work(ctx, role, lab.Roles[spec]{roleHost: as(runHost), roleBots: as(runBots)},
		(*spec).check, in, out)
}

// subject is the title as it is sent in this run, the same on both sides. Trained tables are of one
// schema, which relaying does not change.
func (s *spec) subject(t *game.Title) (*lab.Subject, error) {
	if t.NoRelay == s.Relay {
		t = t.Clone()
		t.NoRelay = !s.Relay
	}
	return lab.NewSubject(t, s.Level, s.Players)
}

// joinTime is how long the bots may take to come in: all come at once, and a tick lets in so many.
func (s *spec) joinTime() time.Duration {
	return lab.JoinTime + time.Duration(s.Players)*10*time.Millisecond
}

// connOptions let loopback have what it can take, so that nobody has to find out.
func (s *spec) connOptions() conn.Options {
	const plenty = 16 << 20
	return conn.Options{Rate: plenty, MinRate: plenty, MaxRate: plenty}
}

// hostTotals are what grows from the beginning of the server's process on.
type hostTotals struct {
	Stats  server.Stats
	Ledger conn.Ledger
	Link   link.Counters
	Used   lab.Usage
}

// hostSample is what the server measured of itself in a window.
type hostSample struct {
	hostTotals
	Wall time.Duration
	// TickCPU is the processor time of all ticks together, without what the process does between
	// them; Ticks are of single ticks.
	TickCPU time.Duration
	Ticks   middle[time.Duration]
	// what interest and encoding took in the quickest tenth of ticks, by the clock
	Encode time.Duration

	Sent     map[string]uint64  // bytes by purpose
	Purposes map[string]float64 // bits of snapshots, by what they were for
}

// botsSample is what the bots counted in a window.
type botsSample struct {
	Wall, CPU        time.Duration
	Bad              uint64 // packets, or messages, that could not be used
	Sizes            middle[int]
	Others, Entities float64 // in view, on average
}
