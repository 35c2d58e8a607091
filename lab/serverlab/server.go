package serverlab

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/replica"
)

// Options say what Run measures. Title and Command have no default.
type Options struct {
	// Title is what is played, on Level. Default: the level that the title has for so many players.
	Title *game.Title
	Level string

	Players, Snapshots int
	Window             time.Duration
	Procs              []int
	Strategies         []string
	// Relay also sends the commands of others in view, which clients need that predict.
	Relay bool
	// FindLimit looks for the most players for which a tick stays within its time, instead of
	// playing with Players.
	FindLimit bool
	// Pace is how fast time goes. Zero lets it go as fast as the bots can keep up with: on a
	// machine with few cores they take more than the server leaves, and what a tick costs does not
	// depend on it.
	Pace float64
	Seed uint64
	// Profile, if not empty, is a file for a CPU profile of the server.
	Profile string
	// Command makes a process that calls Work with the same title and its own standard input and
	// output, in the role given. The processes end when Run does, and when this one dies.
	Command  func(role string) *exec.Cmd
	Progress lab.Progress
}

// MostPlayers is how many bots can be driven.
const MostPlayers = 8192

var strategies = replica.Strategies()

// List describes the options.
func (o *Options) List() []*lab.Option {
	return []*lab.Option{
		lab.Number(&o.Players, "players", 1000, 1, MostPlayers, "how many play"),
		lab.Span(&o.Window, "seconds", time.Second, 10*time.Second, 500*time.Millisecond, time.Hour,
			"how long each measurement lasts"),
		lab.Number(&o.Snapshots, "snapshots", 20, 1, 1000, "snapshots a second of each player"),
		lab.Numbers(&o.Procs, "procs", []int{1}, 1, 256,
			"cores of the server, a run for each number"),
		lab.Words(&o.Strategies, "strategy", strategies[:1], strategies,
			"how snapshots are made, a run for each: "+strings.Join(strategies, ", ")),
		lab.Switch(&o.Relay, "relay",
			"also send the commands of others in view, for clients that predict"),
		lab.Switch(&o.FindLimit, "find-limit",
			"find the most players for which a tick stays within its time"),
		lab.Number(&o.Pace, "pace", 0, 0, 1,
			"how fast time goes, up to 1 (default: as fast as this machine's bots can keep up with)"),
		lab.Seed(&o.Seed, "the bots"),
	}
}

// Check replaces zeros by defaults, and says what is wrong with the rest.
func (o *Options) Check() error {
	if err := lab.Fill(o.List()); err != nil {
		return err
	}
	s, err := lab.NewSubject(o.Title, o.Level, o.Players)
	if err != nil {
		return err
	}
	if rate := s.Game.Rate(); o.Snapshots > rate {
		return fmt.Errorf("snapshots is %d: choose 1 to %d, as there are so many ticks a second",
			o.Snapshots, rate)
	}
	if o.Command == nil {
		return errors.New("no way to start processes, set Options.Command")
	}
	return lab.CheckDescriptors(o.Players)
}

// Run measures what serving a game costs, over real sockets on this machine's loopback, encryption
// on. The bots send commands at every tick and decode every snapshot.
func Run(ctx context.Context, o Options) (Results, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	var results Results
	all := len(o.Procs) * len(o.Strategies)
	for i := range all {
		r := run{o: &o, strategy: o.Strategies[i/len(o.Procs)], procs: o.Procs[i%len(o.Procs)]}
		r.progress = func(done float64, what string) {
			o.Progress.Nth(i, all).Tell(done,
				fmt.Sprintf("%s, %d cores: %s", r.strategy, r.procs, what))
		}
		measure := r.findLimit
		if !o.FindLimit {
			measure = func(ctx context.Context) (*Result, error) { return r.play(ctx, o.Players) }
		}
		result, err := measure(ctx)
		if err != nil {
			return results, lab.Blame(ctx, err)
		}
		results = append(results, *result)
	}
	results.compare()
	return results, nil
}

// run is one strategy on so many cores.
type run struct {
	o        *Options
	strategy string
	procs    int
	progress lab.Progress
}

// Quiet moments are for measuring how encoding scales: a machine with few cores has none to spare
// while the bots play. There are as many as fit a quarter of the time of the rest, but some.
const (
	quietMoments = 5
	quietWindow  = 400 * time.Millisecond
	quietPause   = 800 * time.Millisecond
)

func (r *run) quietMoments() int {
	if len(r.o.Procs) < 2 {
		return 0 // there is nothing to compare with
	}
	return min(max(int(r.o.Window/(4*quietWindow)), 1), quietMoments)
}

// play lets so many players play, and measures.
func (r *run) play(ctx context.Context, players int) (*Result, error) {
	r.progress(0, fmt.Sprintf("%d players join", players))
	t, err := r.open(ctx, players)
	if err != nil {
		return nil, err
	}
	defer t.Stop()
	if err := t.findPace(r, players, r.o.Pace); err != nil {
		return nil, err
	}
	r.progress(0.3, "measuring")
	h, b, err := t.measure(kindPlay, r.o.Window)
	if err != nil {
		return nil, err
	}
	result := r.result(players, &h, &b)
	result.Pace = t.pace
	var quiet []time.Duration
	for range r.quietMoments() {
		r.progress(0.8, "measuring the encoding alone")
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
		result.EncodeAlone = lab.Millis(slices.Min(quiet)) // the others were less alone
	}
	return result, t.Close()
}

// table is where a game is played.
type table struct {
	*lab.Pair
	pace float64
}

// open starts the server, and lets the bots join.
func (r *run) open(ctx context.Context, players int) (*table, error) {
	o := r.o
	pair, err := lab.Start(ctx, o.Command, roleHost, roleBots)
	if err != nil {
		return nil, err
	}
	s := spec{Level: o.Level, Players: players, Procs: r.procs, Snapshots: o.Snapshots,
		Seed: max(o.Seed, 1), Strategy: r.strategy, Relay: o.Relay}
	s.Profile = o.Profile
	if err := pair.Meet(&s, &s.Meeting, token.ProtocolID(o.Title.Game.Name()),
		players); err != nil {
		pair.Stop()
		return nil, err
	}
	return &table{Pair: pair, pace: 1}, nil
}

// measure lets both sides measure at the same time, each by its own clock.
func (t *table) measure(kind string, window time.Duration) (h hostSample, b botsSample, err error) {
	err = t.Both(lab.Order{Do: lab.Measure, Kind: kind, Window: window}, &h, &b)
	return h, b, err
}

// Rehearsals let buffers grow, and show whether everyone keeps up.
const (
	rehearsal  = 1500 * time.Millisecond
	keepsUp    = 0.98 // of commands in time, and of ticks
	leastPace  = 1.0 / 16
	paceNotice = 100 * time.Millisecond
)

func (t *table) setPace(pace float64) error {
	t.pace = pace
	return t.Both(lab.Order{Do: lab.SetPace, Pace: pace, From: time.Now().Add(paceNotice)}, nil,
		nil)
}

// findPace sets the pace, or finds one at which the bots keep up with the server and the server
// with the time.
func (t *table) findPace(r *run, players int, wanted float64) error {
	if wanted > 0 {
		if err := t.setPace(wanted); err != nil {
			return err
		}
	}
	for {
		r.progress(0.2, "rehearsing")
		window := min(rehearsal, r.o.Window)
		h, b, err := t.measure(kindPlay, window)
		if err != nil {
			return err
		}
		ticks := h.Wall.Seconds() * float64(r.o.Title.Game.Rate())
		commands := r.result(players, &h, &b).Commands
		if wanted > 0 || t.pace <= leastPace || commands >= keepsUp &&
			float64(h.Stats.Ticks) >= keepsUp*ticks-1 {
			return nil
		}
		if err := t.setPace(t.pace / 2); err != nil {
			return err
		}
		// What was late before is over then.
		if _, _, err := t.measure(kindPlay, window); err != nil {
			return err
		}
	}
}
