package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// TrailingOptions say which title is run on mirrors, and how long. Title has no default.
type TrailingOptions struct {
	// Title is what is played, on Level, by the title's bots. Default: the level that the title has for
	// so many players.
	Title *game.Title
	Level string
	// Trace is a recorded run to use in place of bots.
	Trace []byte
	// Players is how many there are, shared evenly between two mirrors: the first half plays on the first. Default: 6.
	Players int
	// Ticks is how long to record. Default: 3099, which makes as many commands of 6 players as the paper had.
	Ticks int
	// Margins are what is compared apart from strict events. Default: the title's, or those of Margins by
	// half a unit.
	Margins []timeline.Margin
	// Seed is the random seed of the match and of the simulated network.
	Seed uint64
	// Network is what lies between the mirrors for ExplainTrailing, and for the rivals. Default: 40 ms, and up to 10 more.
	Network netsim.Profile
	// AtTick lets all commands come in, and be sent on, at the very time of their tick, rather than at any time before it. Then with a leading delay of 0 every
	// command of the other mirror is late, however short the way.
	AtTick bool
	// Quick leaves out the sweep over networks.
	Quick bool
	// Progress, if set, is told how much of the work is done, from 0 to 1, and what is being done.
	Progress func(done float64, what string)
}

// TrailingResult is what Trailing measures. The JSON names are for scripts and stay.
type TrailingResult struct {
	Game       string `json:"game"`
	Players    int    `json:"players"`
	Mirrors    int    `json:"mirrors"`
	Ticks      int    `json:"ticks"`
	Commands   int    `json:"commands"`
	TraceBytes int    `json:"trace_bytes"`
	WorldBytes int    `json:"world_bytes"`

	LAN    []TrailingRow `json:"paper_lan"` // the paper's seven sets of delays, on a local network
	WAN    []TrailingRow `json:"paper_wan"` // and between cities
	Rivals []TrailingRow `json:"rivals"`    // all timelines, on Network
	Sweep  []TrailingRow `json:"sweep,omitempty"`

	Targets []TrailingTarget `json:"targets"`
	Plan    string           `json:"plan"` // how Auto came to its delays on Network, in words
}

// TrailingRow is one run of one timeline, as seen by the first mirror.
type TrailingRow struct {
	Name    string  `json:"name"`
	Network string  `json:"network"`
	Latency float64 `json:"latency_ms"`
	Jitter  float64 `json:"jitter_ms"`

	Commands   int     `json:"commands"`
	Late       int     `json:"late"`
	TooLate    int     `json:"too_late"`
	Executed   int     `json:"executed"`
	Steps      int     `json:"steps"`
	PerTick    float64 `json:"steps_per_tick"`
	Rollbacks  int     `json:"rollbacks"`
	PerCommand float64 `json:"rollbacks_per_1000_commands"`
	Seen       int     `json:"rollbacks_seen"`
	Corrected  int     `json:"corrections"`
	Deepest    int     `json:"deepest_ticks"`
	Copies     int     `json:"copies"`

	StepMillis     float64 `json:"step_ms"`
	CopyMillis     float64 `json:"copy_ms"`
	TotalMillis    float64 `json:"total_ms"`
	CommandMicros  float64 `json:"command_us"`  // time of steps by commands executed
	RollbackMicros float64 `json:"rollback_us"` // time of copies by rollbacks, where copies are for nothing else

	Memory   int     `json:"memory_bytes"`
	Jump     float64 `json:"largest_jump"` // of a player's place, by being repaired; who reappears elsewhere counts too
	MeanJump float64 `json:"mean_jump"`    // of those that are beyond the margin
	Jumps    int     `json:"jumps"`
	Waited   float64 `json:"waited_ms"` // the leading world stood still for this long, waiting
	Delay    float64 `json:"delay_ms"`  // on average, from a player's command to the leading world that has it, on the player's own mirror
	Promise  bool    `json:"exact_promised"`

	Settled  int     `json:"settled_ticks"` // of both mirrors
	Differ   int     `json:"ticks_unlike_oracle"`
	Apart    float64 `json:"largest_divergence"`   // of a player's place, from the oracle's
	Mirrors  int     `json:"ticks_unlike_mirrors"` // settled ticks that differ between the two mirrors
	Delays   []int   `json:"delays_ms,omitempty"`  // of trailing states, at the end
	Verified bool    `json:"verified"`             // it kept its promise
	Plan     string  `json:"plan,omitempty"`       // how Auto came to its delays
}

// TrailingTarget is something the timelines should reach, and what they did.
type TrailingTarget struct {
	What    string  `json:"what"`
	Want    string  `json:"want"`
	Got     float64 `json:"got"`
	Reached bool    `json:"reached"`
}

// Check is an error where a timeline broke its promise or a target was missed.
func (r *TrailingResult) Check() error {
	var wrong []error
	for _, rows := range [][]TrailingRow{r.LAN, r.WAN, r.Rivals, r.Sweep} {
		for _, row := range rows {
			if !row.Verified {
				wrong = append(wrong, fmt.Errorf("%s on %s: %d of %d settled ticks differ from the oracle's, %d between mirrors", row.Name, row.Network, row.Differ, row.Settled, row.Mirrors))
			}
		}
	}
	for _, t := range r.Targets {
		if !t.Reached {
			wrong = append(wrong, fmt.Errorf("%s: %.3g, which should be %s", t.What, t.Got, t.Want))
		}
	}
	return errors.Join(wrong...)
}

// Trailing runs a game on two simulated mirrors under trailing state synchronization and all its rivals, on one recorded trace, over the same networks, and compares
// each world that they settle with that of one machine which had every command in time.
func Trailing(ctx context.Context, o TrailingOptions) (*TrailingResult, error) {
	b, r, err := newTrailingBench(o)
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	o = b.o
	var jobs []trailingJob
	add := func(to *[]TrailingRow, network netsim.Profile, ticks int, cases ...trailingCase) {
		for _, c := range cases {
			jobs = append(jobs, trailingJob{to, c, network, ticks})
		}
	}
	var targets []TrailingRow
	add(&r.LAN, lanPath, b.ticks, b.paper()...)
	add(&r.WAN, wanPath, b.ticks, b.paper()...)
	add(&r.Rivals, o.Network, b.ticks, b.rivals(o.Network)...)
	add(&targets, lanPath, b.ticks, b.trailing("two states on a LAN", 5, 100))
	add(&targets, netsim.Profile{Latency: 50 * time.Millisecond}, b.ticks, b.trailing("covered", 50, 150, 1000))
	if !o.Quick {
		part := min(b.ticks, 900)
		for _, ms := range []int{0, 25, 50, 100, 150, 200} {
			n := netsim.Profile{Latency: time.Duration(ms) * time.Millisecond}
			add(&r.Sweep, n, part, b.sweep(n)...)
		}
		for _, ms := range []int{5, 10, 20, 50, 100} {
			n := netsim.Profile{Latency: 50 * time.Millisecond, Jitter: netsim.Jitter{Amount: time.Duration(ms) * time.Millisecond}}
			add(&r.Sweep, n, part, b.sweep(n)...)
		}
	}
	for i, j := range jobs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if o.Progress != nil {
			o.Progress(float64(i)/float64(len(jobs)), j.name+" on "+pathName(j.network))
		}
		row, err := b.run(j)
		if err != nil {
			return nil, fmt.Errorf("%s on %s: %w", j.name, pathName(j.network), err)
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
	r.Targets = trailingTargets(r, targets, b, speed)
	return r, nil
}

// ExplainTrailing runs only Auto, and tells how it came to its delays.
func ExplainTrailing(o TrailingOptions) (string, error) {
	b, _, err := newTrailingBench(o)
	if err != nil {
		return "", err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	row, err := b.run(trailingJob{nil, b.auto(), b.o.Network, b.ticks})
	if err != nil {
		return "", err
	}
	if !row.Verified {
		return "", fmt.Errorf("%d of %d settled ticks differ from the oracle's", row.Differ, row.Settled)
	}
	return row.Plan, nil
}

// A trailingBench is a recorded run, to be played to mirrors again and again.
type trailingBench struct {
	o     TrailingOptions
	title *Subject
	start *world.World
	ticks int
	input []trailingInput // by tick, from 1
	large *world.World    // the world at its largest
}

// A trailingInput is what came into the recorded world at a tick.
type trailingInput struct {
	joins, leaves, players []world.Player
	images                 [][]int32 // of players
}

// A trailingJob is one run to do.
type trailingJob struct {
	to *[]TrailingRow
	trailingCase
	network netsim.Profile
	ticks   int
}

func newTrailingBench(o TrailingOptions) (*trailingBench, *TrailingResult, error) {
	if o.Players == 0 {
		o.Players = 6
	}
	if o.Ticks == 0 {
		o.Ticks = 3099
	}
	if o.Network.String() == "" {
		o.Network = wanPath
	}
	if o.Players < 2 || o.Players > 1000 || o.Ticks < 120 || o.Ticks > 1<<20 {
		return nil, nil, fmt.Errorf("%d players and %d ticks: there must be at least 2 players, one on each mirror, and 120 ticks", o.Players, o.Ticks)
	}
	title, err := NewSubject(o.Title, o.Level, o.Players)
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
		if o.Margins, err = Margins(o.Title, 0.5); err != nil {
			return nil, nil, err
		}
	}
	settings, err := title.Settings(title.On(o.Seed))
	if err != nil {
		return nil, nil, err
	}
	if err := timeline.Try(title.Game, world.CheckOptions{Settings: settings, Ticks: 120, Players: o.Players}); err != nil {
		return nil, nil, err
	}
	b := &trailingBench{o: o, title: title}
	data := o.Trace
	if data == nil {
		if data, err = b.record(); err != nil {
			return nil, nil, err
		}
	}
	if err := b.read(data); err != nil {
		return nil, nil, err
	}
	r := &TrailingResult{Game: title.Name(), Players: o.Players, Mirrors: 2, Ticks: b.ticks, TraceBytes: len(data), WorldBytes: b.large.Host().Size()}
	for _, in := range b.input {
		r.Commands += len(in.players)
	}
	return b, r, nil
}

// record plays the game on one machine and keeps a trace of it.
func (b *trailingBench) record() ([]byte, error) {
	m, err := newMatch(b.title, b.o.Players, b.o.Seed)
	if err != nil {
		return nil, err
	}
	m.early = true
	var out bytes.Buffer
	tw, err := trace.NewWriter(&out, m.world, trace.Options{Note: "recorded for the lab", HashEvery: 60})
	if err != nil {
		return nil, err
	}
	for range b.o.Ticks {
		if err := m.step(); err != nil {
			return nil, err
		}
		if err := tw.Tick(m.in, m.world); err != nil {
			return nil, err
		}
	}
	err = tw.Close()
	return out.Bytes(), err
}

// read takes a trace apart.
func (b *trailingBench) read(data []byte) error {
	r, err := trace.Open(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if err := r.Header().Fits(b.title.Game); err != nil {
		return err
	}
	b.input = make([]trailingInput, 1)
	res, err := trace.Replay(b.title.Game, r, trace.ReplayOptions{Each: func(w *world.World, rec *trace.Record) error {
		if b.start == nil {
			b.start, b.large = w.Host().Clone(), w.Host().Clone()
			if w.Tick() != 0 {
				return fmt.Errorf("the trace begins at tick %d; cut one that begins with the game", w.Tick())
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
		in := trailingInput{joins: append([]world.Player(nil), rec.Joins...), leaves: append([]world.Player(nil), rec.Leaves...), players: append([]world.Player(nil), rec.Players...)}
		for i := range rec.Players {
			in.images = append(in.images, append([]int32(nil), rec.Command(i)...))
		}
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
		return fmt.Errorf("the trace does not repeat, so nothing could be compared with it: %v", res.Mismatch)
	}
	if b.ticks = len(b.input) - 1; b.ticks < 120 {
		return fmt.Errorf("the trace has %d ticks; 120 are the least", b.ticks)
	}
	return nil
}
