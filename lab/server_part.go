package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/topology/server"
)

// Roles of the processes that Server starts.
const (
	roleHost = "host"
	roleBots = "bots"
)

// Kinds of measurements that both take part in.
const (
	kindPlay  = "play"  // everyone plays
	kindQuiet = "quiet" // the bots keep still, so that the server has all cores for itself
)

// hostSpec is what both parts are to play.
type hostSpec struct {
	Level                     string
	Players, Procs, Snapshots int
	Seed                      uint64
	Strategy                  string
	Relay                     bool

	// The server's:
	Key, Profile string
	// The bots':
	Server netip.AddrPort
	Tokens []string
}

func (s *hostSpec) check(role string) error {
	switch {
	case s == nil, s.Players < 1, s.Players > MostServerPlayers, s.Procs < 1:
		return errors.New("an order to open without what to play")
	case role == roleBots && len(s.Tokens) != s.Players:
		return fmt.Errorf("%d tokens for %d bots", len(s.Tokens), s.Players)
	}
	return nil
}

// ServerPart is what the processes run that Server starts: it plays the title in one of the roles, takes
// orders on in and answers on out, until in ends.
func ServerPart(ctx context.Context, t *game.Title, role string, in io.Reader, out io.Writer) error {
	if t == nil {
		return errors.New("no title to play")
	}
	var work func(*Subject, *desk, *hostSpec) error
	switch role {
	case roleHost:
		work = runHost
	case roleBots:
		work = runBots
	default:
		return fmt.Errorf("there is no part called %q", role)
	}
	return takeOrders(ctx, in, out, func(d *desk, o *order) error {
		if err := o.Host.check(role); err != nil {
			return err
		}
		s, err := o.Host.subject(t)
		if err != nil {
			return err
		}
		return work(s, d, o.Host)
	})
}

// subject is the title as it is sent in this run, the same on both sides. Trained tables are of one
// schema, which relaying does not change.
func (s *hostSpec) subject(t *game.Title) (*Subject, error) {
	if t.NoRelay == s.Relay {
		t = t.Clone()
		t.NoRelay = !s.Relay
	}
	return NewSubject(t, s.Level, s.Players)
}

// connOptions let loopback have what it can take, so that nobody has to find out.
func (s *hostSpec) connOptions() conn.Options {
	const plenty = 16 << 20
	return conn.Options{Rate: plenty, MinRate: plenty, MaxRate: plenty}
}

// hostSample is what the server measured of itself in a window.
type hostSample struct {
	Ticks     uint64
	Wall, CPU time.Duration
	Stages    server.Times // by the clock
	// TickCPU is the processor time of all ticks together, without what the process does between them; the others are of single ticks.
	TickCPU, TickMedian, TickMost99, TickMost time.Duration
	Encode                                    time.Duration // what interest and encoding took in the quickest tenth of ticks, by the clock
	Allocs                                    uint64

	Sent                       map[string]uint64 // bytes by purpose
	SentBytes, SentPackets     uint64            // as the link counts them
	ReceivedBytes, ReceivedPks uint64
	Snapshots, Packets         uint64
	SnapshotBytes              uint64
	Purposes                   map[string]float64 // bits of snapshots, by what they were for
	Commands, Repeated         uint64
	Starved, Dropped, Offences uint64
}

// botsSample is what the bots counted in a window.
type botsSample struct {
	Wall, CPU        time.Duration
	Commands         uint64
	Snapshots, Bytes uint64 // packets of them
	Bad              uint64 // of them, or of messages, that could not be used
	Sizes            sizes
	Others, Entities float64 // in view, on average
}

// sizes says how large snapshots were, in bytes.
type sizes struct {
	Median int `json:"median"`
	Most99 int `json:"p99"`
	Most   int `json:"most"`
}
