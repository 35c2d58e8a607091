package mirrorlab_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/mirrorlab"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline/kinds"
)

// small is a run that takes little time.
func small() mirrorlab.Options {
	return mirrorlab.Options{
		Title: arena.Title, Level: "duel", Mirrors: 2, Players: 2, Warm: 3 * time.Second,
		Time: 4 * time.Second, Seed: 3, Alone: true}
}

// apart is a network between mirrors.
func apart(latency, jitter time.Duration, loss float64) netsim.Conditions {
	return netsim.Both(netsim.Profile{Latency: latency, Jitter: netsim.Jitter{Amount: jitter},
		Loss: loss})
}

func measure(t *testing.T, o mirrorlab.Options) *mirrorlab.Result {
	t.Helper()
	r, err := mirrorlab.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRun looks whether figures hang together as they must.
func TestRun(t *testing.T) {
	passOver(t)
	o := small()
	o.Alone, o.Clock = testing.Short(), lab.ThreadTime
	r := measure(t, o)
	if x := r.Shown; x.Bodies < 1000 || x.Wrong == 0 || x.Wrong > 0.5 || x.OffSome > x.Wrong ||
		x.OffFar > x.OffSome || x.Events == 0 || x.TakenShare > 0.2 {
		t.Errorf("%+v", x)
	}
	if p := r.Processor; p == nil || p.Mirror <= 0 || p.Step <= 0 ||
		(p.Plain > 0 && p.Few > 0 && p.Ratio > 0) == o.Alone {
		t.Errorf("%+v", p)
	}
	s := r.Sight
	if s.Executed.N == 0 || s.Executed.Median < 40 || s.Executed.Median > 120 {
		t.Errorf("mirrors are 40 ms apart, and commands are executed by the other after %+v",
			s.Executed)
	}
	if s.Sent.N < s.Executed.N || s.Sent.Mean < s.Executed.Mean || s.Sent.Mean > s.Executed.Mean+
		40 {
		t.Errorf("executed %+v, and sent after %+v: a snapshot is due every 50 ms", s.Executed,
			s.Sent)
	}
	if s.HomeSent.N == 0 || s.HomeSent.Median >= s.Sent.Median || s.Home.Mean < s.HomeSent.Mean {
		t.Errorf("players of one mirror wait for others': %+v", s)
	}
	if s.Taken.N == 0 || s.Whole.Mean < s.Taken.Mean+8 || s.Home.N == 0 || s.Home.Mean < 16 ||
		s.Early.Mean <= 0 {
		t.Errorf("players are 8 ms from their mirrors: %+v", s)
	}
	if want := 42.5 + 2*1000.0/60; s.Asked < want-0.1 || s.Asked > want+0.1 {
		t.Errorf("asked is %v, want %v", s.Asked, want)
	}
	b := r.Rollbacks
	if want := 2 * 4 * 60 * 4; b.Commands < want*9/10 || b.Commands > want*11/10 ||
		b.Rollbacks > b.Commands/20 || b.StepsATick < 2 {
		t.Errorf("two mirrors each execute about %d commands, or there is something odd about %+v",
			want/2, b)
	}
	if r.Settled.Ticks < 4*60 || r.Settled.Compared < r.Settled.Ticks || r.Settled.Different != 0 ||
		r.Settled.Delay.Median < 900 {
		t.Errorf("%+v", r.Settled)
	}
	if c := r.Clock; c.Error.Most > c.Bound.Most || c.Beyond > 0 || c.Error.Most == 0 {
		t.Errorf("%+v", c)
	}
	if x := r.Traffic; x.KBits < 10 || x.KBits-x.Sockets > 1e-9 || x.Sockets-x.KBits > 1e-9 ||
		x.Ratio < 0.8 || x.Ratio > 1.5 || x.Command < 4 || x.Command > 12 || x.Packet < 30 ||
		x.Packet > 70 {
		t.Errorf("%+v", x)
	}
	if k := r.Corrections; k.Minutes < 0.26 || k.Minutes > 0.27 || k.Snapshots < 28 ||
		k.Snapshots > 32 || k.Ahead < 1 || k.Late > 0.05 {
		t.Errorf("%+v", k)
	}
	if !testing.Short() {
		if k := r.Corrections; k.Plain == nil || k.Distant == nil || k.Plain.TakenBack != 0 ||
			k.Plain.Snapshots < 28 || k.Distant.Ahead < k.Plain.Ahead+3 {
			t.Errorf("%+v, %+v", k.Plain, k.Distant)
		}
	}
	if len(r.Targets) < 10 || len(r.Each) != 2 || len(r.Series) < 6 || r.Check() != nil {
		t.Errorf("%+v, %+v, %d moments, %v", r.Targets, r.Each, len(r.Series), r.Check())
	}
}

// TestRepeats: the same options give the same figures, other seeds others; and all of them get into
// the JSON.
func TestRepeats(t *testing.T) {
	passOver(t)
	o := small()
	o.Time = time.Second
	text := func() string {
		b, err := json.Marshal(measure(t, o))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first := text()
	if again := text(); again != first {
		t.Errorf("a second run with the same seed went differently:\n%s\n%s", first, again)
	}
	o.Seed++
	if other := text(); other == first {
		t.Error("another seed made no difference")
	}
	var r mirrorlab.Result
	if err := json.Unmarshal([]byte(first), &r); err != nil {
		t.Fatal(err)
	}
	empty := func(v any, names ...string) {
		t.Helper()
		for _, name := range names {
			if f := reflect.ValueOf(v).FieldByName(name); f.IsZero() {
				t.Errorf("there is nothing for %s in the JSON of %T", name, v)
			}
		}
	}
	empty(r, "Game", "Seed", "Mirrors", "Players", "Timeline", "TickRate", "Warm", "Seconds",
		"Between", "Near", "Path", "Digest", "Each", "Series", "Targets")
	empty(r.Sight, "Executed", "Sent", "Taken", "Whole", "Home", "Early", "Asked")
	empty(r.Rollbacks, "Commands", "StepsATick", "Provisional", "Leading")
	empty(r.Traffic, "KBits", "Sockets", "By", "Packets", "Packet", "Command", "Proof", "P", "B",
		"Model", "Ratio")
	empty(r.Settled, "Ticks", "Compared", "Delay")
	empty(r.Clock, "DriftPPM", "Error", "Bound")
}

// TestTitles: a title that has nothing but a body can be measured, too.
func TestTitles(t *testing.T) {
	passOver(t)
	for _, title := range []*game.Title{crowd.Title, pong.Title} {
		o := small()
		o.Title, o.Level, o.Players, o.Time = title, "", 1, 2*time.Second
		r := measure(t, o)
		if r.Game != title.Name() || r.Sight.Executed.N == 0 || r.Settled.Compared == 0 ||
			r.Settled.Different != 0 || r.Corrections.Struck != 0 {
			t.Errorf("%s: %+v, %+v, %+v", title.Name(), r.Sight.Executed, r.Settled, r.Corrections)
		}
	}
}

// TestCovered: where the leading worlds wait for longer than the path takes, and there is neither
// jitter nor loss, nothing is ever repaired. Where they do not wait, commands are late, and seen
// sooner.
func TestCovered(t *testing.T) {
	passOver(t)
	if testing.Short() {
		t.Skip("it plays twice")
	}
	o := small()
	o.Between, o.Timeline = apart(40*time.Millisecond, 0, 0), "trailing"
	o.Delays = []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, time.Second}
	covered := measure(t, o)
	if b := covered.Rollbacks; b.Rollbacks != 0 || b.Late != 0 || b.Retracted != 0 ||
		covered.Corrections.TakenBack != 0 || covered.Corrections.Repaired != 0 {
		t.Errorf("the delay covers the path: %+v, %+v", b, covered.Corrections)
	}
	o.Delays[0] = 0
	bare := measure(t, o)
	if bare.Rollbacks.Late < bare.Rollbacks.Commands/4 ||
		bare.Sight.Executed.Median > covered.Sight.Executed.Median-20 {
		t.Errorf("nobody waits: %+v, seen after %+v, and %+v with a delay", bare.Rollbacks,
			bare.Sight.Executed, covered.Sight.Executed)
	}
	if bare.Settled.Different != 0 {
		t.Error(bare.Check())
	}
}

// TestTimelines: every kind can be measured.
func TestTimelines(t *testing.T) {
	passOver(t)
	if testing.Short() {
		t.Skip("there are many")
	}
	list := []string{"timewarp", "lockstep", "ruled"} // one of a sort: other tests run trailing
	if os.Getenv("COEVAL_SOAK") != "" {
		list = kinds.Names()
	}
	for _, kind := range list {
		t.Run(kind, func(t *testing.T) {
			o := small()
			// a small game: what is tried is the timeline
			o.Title, o.Level = pong.Title, ""
			o.Players, o.Time, o.Timeline = 1, 2*time.Second, kind
			if kind == "bucket" { // which cannot wait for what was lost
				o.Between = apart(40*time.Millisecond, 5*time.Millisecond, 0)
			}
			r := measure(t, o)
			if r.Sight.Executed.N == 0 || r.Settled.Ticks == 0 || r.Settled.Different != 0 {
				t.Errorf("%+v, %+v", r.Sight.Executed, r.Settled)
			}
		})
	}
}

// TestFaults: what happens to players is seen.
func TestFaults(t *testing.T) {
	passOver(t)
	if testing.Short() {
		t.Skip("players have to wait")
	}
	for _, fault := range []mirrorlab.Fault{
		mirrorlab.KillMirror, mirrorlab.KillUber, mirrorlab.JoinLate} {
		t.Run(fault.String(), func(t *testing.T) {
			o := small()
			o.Mirrors, o.Players, o.Fault, o.Times = 3, 1, fault, 1
			r := measure(t, o)
			q, players := r.Fault, 3
			if fault == mirrorlab.JoinLate {
				players = 2 // who joins has none
			}
			if q == nil || q.Fault != fault.String() || len(q.Runs) != 1 || q.Still.N != players ||
				r.Settled.Compared == 0 || r.Check() != nil {
				t.Fatalf("%+v, %+v", q, r.Settled)
			}
			if fault == mirrorlab.JoinLate {
				if q.Serving.N != 1 || q.Serving.Most <= 80 || q.Again.N != 0 ||
					len(r.Targets) != 3 {
					t.Errorf("%+v", q)
				}
				return
			}
			if q.Again.N+q.Lost != 1 || q.Again.N == 1 && q.Again.Most < 100 ||
				q.Still.Most < 100 || q.StillOthers.N != 2 ||
				q.Runs[0].Moved != (fault == mirrorlab.KillUber) {
				t.Errorf("%+v", q)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, x := range []struct {
		says   string
		change func(o *mirrorlab.Options)
	}{
		{"mirrors is 1: choose 2 to 16", func(o *mirrorlab.Options) { o.Mirrors = 1 }},
		{"64 players", func(o *mirrorlab.Options) { o.Mirrors, o.Players = 5, 20 }},
		{`no timeline "magic"; choose one of auto`,
			func(o *mirrorlab.Options) { o.Timeline = "magic" }},
		{"choose 0.0166", func(o *mirrorlab.Options) { o.Time = time.Millisecond }},
		{"drift is 1e+06", func(o *mirrorlab.Options) { o.Drift = 1e6 }},
		{"times is -1: choose 1 to 1000", func(o *mirrorlab.Options) { o.Times = -1 }},
		{"no fault", func(o *mirrorlab.Options) { o.Fault = 200 }},
		{"snapshots is -1", func(o *mirrorlab.Options) { o.SnapshotRate = -1 }},
		{"no title to play", func(o *mirrorlab.Options) { o.Title = nil }},
		{"title stack has no body",
			func(o *mirrorlab.Options) { o.Title, o.Level = stack.Title, "" }},
		{`level "nowhere"`, func(o *mirrorlab.Options) { o.Level = "nowhere" }},
		{"each must be longer",
			func(o *mirrorlab.Options) {
				o.Delays = []time.Duration{time.Second, time.Millisecond}
			}},
	} {
		o := small()
		x.change(&o)
		if r, err := mirrorlab.Run(t.Context(), o); err == nil || r != nil ||
			!strings.Contains(err.Error(), x.says) {
			t.Errorf("want an error with %q, got %v", x.says, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := mirrorlab.Run(ctx, small()); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that was called off ends with %v", err)
	}
	if _, err := mirrorlab.ParseFault("fire"); err == nil ||
		!strings.Contains(err.Error(), "mirror, uber, join") {
		t.Error(err)
	}
	for _, f := range []mirrorlab.Fault{
		mirrorlab.NoFault, mirrorlab.KillMirror, mirrorlab.KillUber, mirrorlab.JoinLate} {
		if got, err := mirrorlab.ParseFault(f.String()); got != f || err != nil {
			t.Errorf("%v is read as %v, %v", f, got, err)
		}
	}
}

// TestPlot: it is an SVG, with or without anything to draw.
func TestPlot(t *testing.T) {
	r := &mirrorlab.Result{Setting: mirrorlab.Setting{Seconds: 2}}
	for i := range 5 {
		r.Series = append(r.Series,
			mirrorlab.Moment{Second: float64(i + 1), Rollbacks: i, Settled: 1000, KBits: 100})
	}
	for _, r := range []*mirrorlab.Result{
		{}, r, {Series: r.Series,
			Fault: &mirrorlab.FaultResult{
				Fault: "<uber>", Runs: []mirrorlab.FaultRun{{At: 2500}}}}} {
		svg := string(r.Plot().SVG())
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			_, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%v in %s", err, svg)
			}
		}
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("it has numbers that cannot be drawn: %s", svg)
		}
	}
}

// passOver leaves out of short runs what takes its time; nothing here has goroutines.
func passOver(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
}
