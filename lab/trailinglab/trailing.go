// Package trailinglab runs a game on two simulated mirrors under trailing state synchronization and
// all that rivals it: Table 3.1 of Cronin, Filstrup and Kurc, "A Distributed Multiplayer Game
// Server System" (2001), and further.
//
//	host/tools/lab    {program} lab trailing
//	lab/trailinglab   the experiment           <- here
//	timeline          what is compared
package trailinglab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// Options say which title is run on mirrors, and how long. Title has no default.
type Options struct {
	// Title is what is played, on Level, by the title's bots. Default: the level that the title has
	// for so many players.
	Title *game.Title
	Level string
	// Trace is a recorded run to use in place of bots.
	Trace []byte
	// Players are shared evenly between two mirrors: the first half plays on the first.
	Players int
	// Ticks is how long to record. The default makes as many commands of 6 players as the paper
	// had.
	Ticks int
	// Margins are what is compared apart from strict events. Default: the title's, or those of
	// lab.Margins by half a unit.
	Margins []timeline.Margin
	Seed    uint64
	// Network is what lies between the mirrors for Explain, and for the rivals.
	Network netsim.Profile
	// AtTick lets all commands come in, and be sent on, at the very time of their tick, rather than
	// at any time before it. Then with a leading delay of 0 every command of the other mirror is
	// late, however short the way.
	AtTick bool
	// Quick leaves out the sweep over networks.
	Quick    bool
	Progress lab.Progress
}

// List describes the options.
func (o *Options) List() []*lab.Option {
	latency := lab.Number(&o.Network.Latency, "latency", 0, 0, time.Second,
		"how far the mirrors are apart, for the rivals and --explain")
	jitter := lab.Number(&o.Network.Jitter.Amount, "jitter", 0, 0, time.Second,
		"and how much that varies")
	latency.Default, jitter.Default = wanPath.Latency.String(), wanPath.Jitter.Amount.String()
	return []*lab.Option{
		lab.Number(&o.Ticks, "ticks", 3099, 120, 1<<20,
			"how long the match is, in 60ths of a second"),
		lab.Number(&o.Players, "players", 6, 2, 1000,
			"how many bots play, half of them on each mirror"),
		lab.Seed(&o.Seed, "the match and the network"),
		lab.Level(&o.Level),
		latency, jitter,
		lab.Number(&o.Network.Loss, "loss", 0, 0, 0.5, "and the share of datagrams that is lost"),
		lab.Switch(&o.AtTick, "at-tick",
			"let mirrors send commands on only when their tick comes, so that more are late"),
		lab.Switch(&o.Quick, "quick", "leave out the sweep over networks"),
	}
}

// Result is what Run measures. The JSON names are for scripts and stay.
type Result struct {
	Game       string `json:"game"`
	Players    int    `json:"players"`
	Mirrors    int    `json:"mirrors"`
	Ticks      int    `json:"ticks"`
	Commands   int    `json:"commands"`
	TraceBytes int    `json:"trace_bytes"`
	WorldBytes int    `json:"world_bytes"`

	LAN    []Row `json:"paper_lan"` // the paper's seven sets of delays, on a local network
	WAN    []Row `json:"paper_wan"` // and between cities
	Rivals []Row `json:"rivals"`    // all timelines, on Network
	Sweep  []Row `json:"sweep,omitempty"`

	Targets []lab.Target `json:"targets"`
	Plan    string       `json:"plan"` // how Auto came to its delays on Network, in words
}

// Row is one run of one timeline, as seen by the first mirror.
type Row struct {
	Name    string  `json:"name" head:"timeline"`
	Network string  `json:"network" head:"network"`
	Latency float64 `json:"latency_ms"`
	Jitter  float64 `json:"jitter_ms"`
	Counts
	Times
	Feel
	lab.Shown
	Judged
	Plan string `json:"plan,omitempty"` // how Auto came to its delays
}

// Counts are what the timeline did.
type Counts struct {
	Commands   int     `json:"commands"`
	Late       int     `json:"late"`
	TooLate    int     `json:"too_late" head:"too late"`
	Executed   int     `json:"executed" head:"executed"`
	Steps      int     `json:"steps"`
	PerTick    float64 `json:"steps_per_tick" head:"steps a tick" as:"%.3f"`
	Rollbacks  int     `json:"rollbacks" head:"rollbacks"`
	PerCommand float64 `json:"rollbacks_per_1000_commands" head:"for 1000" as:"%.1f"`
	Seen       int     `json:"rollbacks_seen"`
	// times that the leading world was taken back at once to a late command's own tick, which are
	// no rollbacks
	Returns   int `json:"returns" head:"returns"`
	Corrected int `json:"corrections"`
	Deepest   int `json:"deepest_ticks" head:"deepest"`
	Copies    int `json:"copies" head:"copies"`
}

// Times are those of the first mirror's thread.
type Times struct {
	StepMillis  float64 `json:"step_ms" head:"steps ms" as:"%.0f"`
	CopyMillis  float64 `json:"copy_ms" head:"copies ms" as:"%.2f"`
	TotalMillis float64 `json:"total_ms" head:"total ms" as:"%.0f"`
	// time of steps by commands executed
	CommandMicros float64 `json:"command_us" head:"command µs" as:"%.2f"`
	// time of copies by rollbacks, where copies are for nothing else
	RollbackMicros float64 `json:"rollback_us" head:"rollback µs" as:"%.2f"`
	Memory         memory  `json:"memory_bytes" head:"memory"`
}

// Feel is what players notice.
type Feel struct {
	// of a player's place, by being repaired; who reappears elsewhere counts too
	Jump float64 `json:"largest_jump" head:"largest" as:"%.1f"`
	// of those that are beyond the margin
	MeanJump float64 `json:"mean_jump" head:"jump" as:"%.2f"`
	Jumps    int     `json:"jumps" head:"jumps"`
	// the leading world stood still for this long, waiting
	Waited float64 `json:"waited_ms" head:"behind ms" as:"%.0f"`
	// on average, from a player's command to the leading world that has it, on the player's own
	// mirror
	Delay   float64 `json:"delay_ms" head:"delay ms" as:"%.0f"`
	Promise bool    `json:"exact_promised"`
}

// Judged is how settled worlds differ from those of an oracle.
type Judged struct {
	Settled int    `json:"settled_ticks"` // of both mirrors
	Differ  int    `json:"ticks_unlike_oracle"`
	Unlike  string `json:"-" head:"unlike oracle"`
	// of a player's place, from the oracle's
	Apart float64 `json:"largest_divergence" head:"apart" as:"%.1f"`
	// settled ticks that differ between the two mirrors
	Mirrors int `json:"ticks_unlike_mirrors"`
	// of trailing states, at the end
	Delays   []int `json:"delays_ms,omitempty"`
	Verified bool  `json:"verified"` // it kept its promise
}

// memory is so many bytes.
type memory int

func (n memory) String() string { return fmt.Sprintf("%d KiB", (n+512)>>10) }

// Check is an error where a timeline broke its promise or a target was missed.
func (r *Result) Check() error {
	var wrong []error
	for _, row := range slices.Concat(r.LAN, r.WAN, r.Rivals, r.Sweep) {
		if !row.Verified {
			wrong = append(wrong,
				fmt.Errorf("%s on %s: %d of %d settled ticks differ from the oracle's, %d "+
					"between mirrors", row.Name, row.Network, row.Differ, row.Settled, row.Mirrors))
		}
	}
	return errors.Join(append(wrong, lab.Missed(r.Targets))...)
}

// Report sets our figures beside those of Table 3.1, and then all timelines beside each other.
func (r *Result) Report(p *lab.Report) {
	p.Say("%s, %d players on %d mirrors, %d ticks, %d commands; the trace has %d bytes, the "+
		"world %d", r.Game, r.Players, r.Mirrors, r.Ticks, r.Commands, r.TraceBytes, r.WorldBytes)
	for _, x := range []struct {
		rows []Row
		what string
	}{{r.LAN, "as in one laboratory"}, {r.WAN, "as between cities"}} {
		p.Say("Table 3.1 again, with %s between the mirrors, %s; the paper's figures to the right",
			x.rows[0].Network, x.what)
		p.Table(besidePaper(x.rows),
			"Name: delays ms | Executed, ACommand, PerTick, StepMillis: time ms, Rollbacks, "+
				"PerCommand, CopyMillis: time ms, TotalMillis, "+
				"CommandMicros, RollbackMicros, MeanJump, Memory, PaperCommand, PaperRollbacks, "+
				"PaperCommandMicros, PaperRollbackMicros")
	}
	p.Say("All timelines, on %s", r.Rivals[0].Network)
	p.Table(r.Rivals,
		"Name | Delay, PerTick, Rollbacks, PerCommand, Deepest, Returns, Copies, "+
			"StepMillis, CopyMillis, TotalMillis, Memory, "+
			"Jumps, MeanJump, Jump, Waited, Unlike, Apart")
	p.Say("What the players of both mirrors are shown there, against what is settled: bodies " +
		"when their tick is first shown, distances in the world's units; and events that were shown " +
		"and taken back, and for how long they were believed")
	p.Table(r.Rivals, "Name | Delay, Bodies, Wrong, OffSome, OffFar, OffMean, OffP95, OffP99, "+
		"Events, Taken, TakenShare, BelievedP50, BelievedP95")
	if len(r.Sweep) > 0 {
		p.Say("Mirrors further and further apart, then 50 ms with more and more jitter")
		for network, rows := range lab.Groups(r.Sweep, func(r *Row) string { return r.Network }) {
			p.Say("%s", network)
			p.Table(rows,
				"Name | Delay, PerTick, PerCommand, Deepest, TotalMillis, MeanJump, Waited, "+
					"TooLate, OffSome, OffFar, TakenShare, Unlike")
		}
	}
	p.Say("How the delays of \"trailing, auto\" came about")
	p.Say("%s", lab.Indent(r.Plan))
	p.Table(r.Targets, "What | Got, Want, Reached")
}

// Run runs a game on two simulated mirrors under trailing state synchronization and all its rivals,
// on one recorded trace, over the same networks, and compares each world that they settle with that
// of one machine which had every command in time.
func Run(ctx context.Context, o Options) (*Result, error) {
	b, r, err := newBench(o)
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	o = b.o
	var jobs []job
	add := func(to *[]Row, network netsim.Profile, ticks int, cases ...contender) {
		for _, c := range cases {
			jobs = append(jobs, job{to, c, network, ticks})
		}
	}
	var targets []Row
	add(&r.LAN, lanPath, b.ticks, paper()...)
	add(&r.WAN, wanPath, b.ticks, paper()...)
	add(&r.Rivals, o.Network, b.ticks, all(o.Network)...)
	add(&targets, lanPath, b.ticks,
		trailing("two states on a LAN", timeline.TrailingOptions{}, 5, 100))
	add(&targets, netsim.Profile{Latency: 50 * time.Millisecond}, b.ticks,
		trailing("covered", timeline.TrailingOptions{}, 50, 150, 1000))
	if !o.Quick {
		some := min(b.ticks, 900)
		for _, ms := range []time.Duration{0, 25, 50, 100, 150, 200} {
			add(&r.Sweep, netsim.Profile{Latency: ms * time.Millisecond}, some, sweep()...)
		}
		for _, ms := range []time.Duration{5, 10, 20, 50, 100} {
			add(&r.Sweep,
				netsim.Profile{
					Latency: 50 * time.Millisecond, Jitter: netsim.Jitter{
						Amount: ms * time.Millisecond}}, some, sweep()...)
		}
	}
	for i, j := range jobs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		what := j.name + " on " + pathName(j.network)
		o.Progress.Tell(float64(i)/float64(len(jobs)), what)
		row, err := b.run(j)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		*j.to = append(*j.to, *row)
	}
	for _, row := range r.Rivals {
		if row.Plan != "" {
			r.Plan = row.Plan
		}
	}
	speed, err := b.copySpeed()
	if err != nil {
		return nil, err
	}
	r.reach(targets, speed)
	return r, nil
}

// Explain runs only Auto, and tells how it came to its delays.
func Explain(o Options) (string, error) {
	b, _, err := newBench(o)
	if err != nil {
		return "", err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	row, err := b.run(job{nil, auto(), b.o.Network, b.ticks})
	if err != nil {
		return "", err
	}
	if !row.Verified {
		return "", fmt.Errorf("%d of %d settled ticks differ from the oracle's", row.Differ,
			row.Settled)
	}
	return row.Plan, nil
}

// A bench is a recorded run, to be played to mirrors again and again.
type bench struct {
	o     Options
	title *lab.Subject
	start *world.World
	ticks int
	given int                  // commands
	input [][]timeline.Command // what came into the recorded world, by tick, from 1
	large *world.World         // the world at its largest
}

// A job is one run to do.
type job struct {
	to *[]Row
	contender
	network netsim.Profile
	ticks   int
}

func newBench(o Options) (*bench, *Result, error) {
	if err := lab.Fill(o.List()); err != nil {
		return nil, nil, err
	}
	if o.Network.String() == "" {
		o.Network = wanPath
	}
	title, err := lab.NewSubject(o.Title, o.Level, o.Players)
	if err != nil {
		return nil, nil, err
	}
	if err := title.Commanded("there is nothing for mirrors to tell each other"); err != nil {
		return nil, nil, err
	}
	if o.Margins == nil {
		o.Margins = o.Title.Margins()
	}
	if o.Margins == nil {
		if o.Margins, err = lab.Margins(o.Title, 0.5); err != nil {
			return nil, nil, err
		}
	}
	settings, err := title.Settings(title.On(o.Seed))
	if err != nil {
		return nil, nil, err
	}
	if err := timeline.Try(title.Game,
		world.CheckOptions{Settings: settings, Ticks: 120, Players: o.Players}); err != nil {
		return nil, nil, err
	}
	b := &bench{o: o, title: title}
	data := o.Trace
	if data == nil {
		if data, err = b.record(); err != nil {
			return nil, nil, err
		}
	}
	if err := b.read(data); err != nil {
		return nil, nil, err
	}
	r := &Result{
		Game: title.Name(), Players: o.Players, Mirrors: 2, Ticks: b.ticks, TraceBytes: len(data),
		WorldBytes: b.large.Host().Size(), Commands: b.given}
	return b, r, nil
}

// record plays the game on one machine and keeps a trace of it.
func (b *bench) record() ([]byte, error) {
	m, err := lab.NewMatch(b.title, b.o.Players, b.o.Seed)
	if err != nil {
		return nil, err
	}
	m.Early = true
	var out bytes.Buffer
	tw, err := trace.NewWriter(&out, m.World,
		trace.Options{Note: "recorded for the lab", HashEvery: 60})
	if err != nil {
		return nil, err
	}
	for range b.o.Ticks {
		if err := m.Step(); err != nil {
			return nil, err
		}
		if err := tw.Tick(m.In, m.World); err != nil {
			return nil, err
		}
	}
	err = tw.Close()
	return out.Bytes(), err
}

// read takes a trace apart.
func (b *bench) read(data []byte) error {
	r, err := trace.Open(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if err := r.Header().Fits(b.title.Game); err != nil {
		return err
	}
	b.input = make([][]timeline.Command, 1)
	res, err := trace.Replay(b.title.Game, r,
		trace.ReplayOptions{Each: func(w *world.World, rec *trace.Record) error {
			if b.start == nil {
				b.start, b.large = w.Host().Clone(), w.Host().Clone()
				if w.Tick() != 0 {
					return fmt.Errorf(
						"the trace begins at tick %d; cut one that begins with the game",
						w.Tick())
				}
				return nil
			}
			if rec.IsState() {
				return nil
			}
			if w.Host().Size() > b.large.Host().Size() {
				if err := b.large.Host().CopyFrom(w); err != nil {
					return err
				}
			}
			var in []timeline.Command
			for _, p := range rec.Leaves {
				in = append(in, timeline.Command{Kind: timeline.Leave, Player: p})
			}
			for _, p := range rec.Joins {
				in = append(in, timeline.Command{Kind: timeline.Join, Player: p})
			}
			for i, p := range rec.Players {
				in = append(in, timeline.Command{Player: p, Image: slices.Clone(rec.Command(i))})
			}
			b.given += len(rec.Players)
			b.input = append(b.input, in)
			return nil
		}})
	if err != nil {
		return err
	}
	if res.Damage != nil && !errors.Is(res.Damage, trace.ErrCut) {
		return res.Damage
	}
	if res.Mismatch != nil {
		return fmt.Errorf("the trace does not repeat, so nothing could be compared with it: %v",
			res.Mismatch)
	}
	if b.ticks = len(b.input) - 1; b.ticks < 120 {
		return fmt.Errorf("the trace has %d ticks; 120 are the least", b.ticks)
	}
	return nil
}
