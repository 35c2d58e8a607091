package lab

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/replica"
)

// ServerOptions say what Server measures. Title and Command have no default.
type ServerOptions struct {
	// Title is what is played, on Level. Default: the level that the title has for so many players.
	Title *game.Title
	Level string
	// Players is how many play, Snapshots how many snapshots a second each is sent. Zeros mean 1000 and 20.
	Players, Snapshots int
	// Window is how long each measurement lasts. Zero means 10 seconds.
	Window time.Duration
	// Procs are over how many cores the server may spread its work, one run for each. None means one.
	Procs []int
	// Strategies are how snapshots are made, one run for each. None means coeval.
	Strategies []string
	// Relay also sends the commands of others in view, which clients need that predict.
	Relay bool
	// FindLimit looks for the most players for which a tick stays within its time, instead of playing with Players.
	FindLimit bool
	// Pace is how fast time goes, up to 1. Zero lets it go as fast as the bots can keep up with: on a machine with few cores they take more than the server leaves,
	// and what a tick costs does not depend on it.
	Pace float64
	// Seed is what chance hangs on. Zero means 1.
	Seed uint64
	// Profile, if not empty, is a file for a CPU profile of the server.
	Profile string
	// Command makes a process that calls ServerPart with the same title and its own standard input and output, in the role given. The processes end when Server
	// does, and when the process that called it dies.
	Command func(role string) *exec.Cmd
	// Progress, if set, is told how much is done, from 0 to 1, and what is done next.
	Progress func(done float64, what string)
}

// MostServerPlayers is how many bots Server can drive.
const MostServerPlayers = 8192

// Fill replaces zeros by defaults, and says what is wrong with the rest.
func (o *ServerOptions) Fill() error {
	for _, d := range []struct {
		v   *int
		def int
	}{{&o.Players, 1000}, {&o.Snapshots, 20}} {
		if *d.v == 0 {
			*d.v = d.def
		}
	}
	if o.Window == 0 {
		o.Window = 10 * time.Second
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	if len(o.Procs) == 0 {
		o.Procs = []int{1}
	}
	if len(o.Strategies) == 0 {
		o.Strategies = []string{replica.Coeval.String()}
	}
	s, err := NewSubject(o.Title, o.Level, min(max(o.Players, 1), MostServerPlayers))
	if err != nil {
		return err
	}
	switch rate := s.Game.Rate(); {
	case o.Players < 1 || o.Players > MostServerPlayers:
		return fmt.Errorf("%d players: there can be 1 to %d", o.Players, MostServerPlayers)
	case o.Snapshots < 1 || o.Snapshots > rate:
		return fmt.Errorf("%d snapshots a second: there can be 1 to %d, as there are %d ticks", o.Snapshots, rate, rate)
	case o.Window < 500*time.Millisecond || o.Window > time.Hour:
		return fmt.Errorf("measuring for %v: it can be half a second to an hour", o.Window)
	case !(o.Pace >= 0 && o.Pace <= 1):
		return fmt.Errorf("a pace of %v: it can be up to 1", o.Pace)
	case o.Command == nil:
		return errors.New("no way to start processes, set ServerOptions.Command")
	case slices.ContainsFunc(o.Procs, func(n int) bool { return n < 1 || n > 256 }):
		return fmt.Errorf("%v cores: there can be 1 to 256", o.Procs)
	}
	for _, s := range o.Strategies {
		if _, err := replica.ParseStrategy(s); err != nil {
			return err
		}
	}
	return checkDescriptors(o.Players)
}

// Server measures what serving a game costs, over real sockets on this machine's loopback, encryption on. The server and the bots are processes of their own; the
// bots send commands at every tick and decode every snapshot.
func Server(ctx context.Context, o ServerOptions) ([]ServerResult, error) {
	if err := o.Fill(); err != nil {
		return nil, err
	}
	var results []ServerResult
	all := len(o.Procs) * len(o.Strategies)
	for i := range all {
		run := serverRun{o: &o, strategy: o.Strategies[i/len(o.Procs)], procs: o.Procs[i%len(o.Procs)]}
		run.progress = func(done float64, what string) {
			if o.Progress != nil {
				o.Progress((float64(i)+done)/float64(all), fmt.Sprintf("%s, %d cores: %s", run.strategy, run.procs, what))
			}
		}
		var r *ServerResult
		var err error
		if o.FindLimit {
			r, err = run.findLimit(ctx)
		} else {
			r, err = run.play(ctx, o.Players)
		}
		if err != nil {
			return results, either(ctx, err)
		}
		results = append(results, *r)
	}
	compareRuns(results)
	return results, nil
}

// serverRun is one strategy on so many cores.
type serverRun struct {
	o        *ServerOptions
	strategy string
	procs    int
	progress func(done float64, what string)
}

// Quiet moments are for measuring how encoding scales: a machine with few cores has none to spare while the bots play. There are as many as fit a quarter of
// the time of the rest, but some.
const (
	quietMoments = 5
	quietWindow  = 400 * time.Millisecond
	quietPause   = 800 * time.Millisecond
)

func (s *serverRun) quietMoments() int {
	if len(s.o.Procs) < 2 {
		return 0 // there is nothing to compare with
	}
	return min(max(int(s.o.Window/(4*quietWindow)), 1), quietMoments)
}

// play lets so many players play, and measures.
func (s *serverRun) play(ctx context.Context, players int) (*ServerResult, error) {
	o := s.o
	key, err := token.NewKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	s.progress(0, fmt.Sprintf("%d players join", players))
	host, err := startPart(ctx, o.Command, roleHost)
	if err != nil {
		return nil, err
	}
	defer host.stop()
	bots, err := startPart(ctx, o.Command, roleBots)
	if err != nil {
		return nil, err
	}
	defer bots.stop()
	spec := hostSpec{Level: o.Level, Players: players, Procs: s.procs, Snapshots: o.Snapshots, Seed: o.Seed, Strategy: s.strategy, Relay: o.Relay}
	serve := spec
	serve.Key, serve.Profile = key.Text(), o.Profile
	var at opened
	if err := host.ask(order{Do: doOpen, Host: &serve}, &at); err != nil {
		return nil, err
	}
	join := spec
	join.Server = at.Server
	grant := token.Grant{Protocol: token.ProtocolID(o.Title.Game.Name()), Expires: time.Now().Add(10 * time.Minute).Unix(), Servers: []netip.AddrPort{at.Server}}
	for i := range players {
		grant.Client = uint64(i + 1)
		tok, err := token.Issue(key, grant, rand.Reader)
		if err != nil {
			return nil, err
		}
		join.Tokens = append(join.Tokens, tok.Text())
	}
	if err := bots.ask(order{Do: doOpen, Host: &join}, nil); err != nil {
		return nil, err
	}
	t := &table{host: host, bots: bots}
	if err := t.findPace(s, players, o.Pace); err != nil {
		return nil, err
	}
	s.progress(0.3, "measuring")
	h, b, err := t.measure(kindPlay, o.Window)
	if err != nil {
		return nil, err
	}
	r := s.result(players, &h, &b)
	r.Pace = t.pace
	var quiet []time.Duration
	for range s.quietMoments() {
		s.progress(0.8, "measuring the encoding alone")
		q, _, err := t.measure(kindQuiet, quietWindow)
		if err != nil {
			return nil, err
		}
		quiet = append(quiet, q.Encode)
		select {
		case <-time.After(time.Duration(float64(quietPause) / t.pace)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if len(quiet) > 0 {
		r.EncodeAlone = milliseconds(slices.Min(quiet)) // the others were less alone
	}
	// The bots leave first, so that nothing is sent to ports that are closed.
	if err := bots.ask(order{Do: doClose}, nil); err != nil {
		return nil, err
	}
	return r, host.ask(order{Do: doClose}, nil)
}

// table is where a game is played.
type table struct {
	host, bots *part
	pace       float64
}

// measure lets both sides measure at the same time, each by its own clock.
func (t *table) measure(kind string, window time.Duration) (h hostSample, b botsSample, err error) {
	m := order{Do: doMeasure, Kind: kind, Window: window}
	if err := errors.Join(t.host.tell(m), t.bots.tell(m)); err != nil {
		return h, b, err
	}
	return h, b, errors.Join(t.host.hear(&h), t.bots.hear(&b))
}

// Rehearsals let buffers grow, and show whether everyone keeps up.
const (
	serverRehearsal = 1500 * time.Millisecond
	keepsUp         = 0.98 // of commands in time, and of ticks
	leastPace       = 1.0 / 16
	paceNotice      = 100 * time.Millisecond
)

// findPace sets the pace, or finds one at which the bots keep up with the server and the server with the time.
func (t *table) findPace(s *serverRun, players int, wanted float64) error {
	t.pace = 1
	set := func(pace float64) error {
		t.pace = pace
		o := order{Do: doPace, Pace: pace, From: time.Now().Add(paceNotice)}
		if err := errors.Join(t.host.tell(o), t.bots.tell(o)); err != nil {
			return err
		}
		return errors.Join(t.host.hear(nil), t.bots.hear(nil))
	}
	if wanted > 0 {
		if err := set(wanted); err != nil {
			return err
		}
	}
	for {
		s.progress(0.2, "rehearsing")
		window := min(serverRehearsal, s.o.Window)
		h, b, err := t.measure(kindPlay, window)
		if err != nil {
			return err
		}
		ticks := h.Wall.Seconds() * float64(s.o.Title.Game.Rate())
		r := s.result(players, &h, &b)
		if wanted > 0 || t.pace <= leastPace || r.Commands >= keepsUp && float64(h.Ticks) >= keepsUp*ticks-1 {
			return nil
		}
		if err := set(t.pace / 2); err != nil {
			return err
		}
		// What was late before settles.
		if _, _, err := t.measure(kindPlay, window); err != nil {
			return err
		}
	}
}
