package timeline_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/rivals"
	"github.com/coeval-dev/coeval/world"
)

// What makes no sense is refused, with a reason.
func TestRefused(t *testing.T) {
	start := begin(t)
	ms := time.Millisecond
	trailing := func(o timeline.TrailingOptions) error {
		_, err := timeline.NewTrailing(start, o)
		return err
	}
	partial, err := game.New(world.Settings{Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	many := make([]time.Duration, 40)
	for i := range many {
		many[i] = time.Duration(i) * ms
	}
	two := []member.ID{1, 2}
	cases := []struct {
		name string
		make func() error
		want string
	}{
		{"equal", func() error {
			return trailing(timeline.TrailingOptions{Delays: timeline.DelaysOf(0, 50*ms, 50*ms)})
		}, "delays must increase, and 50ms comes after 50ms"},
		{"falling", func() error {
			return trailing(timeline.TrailingOptions{Delays: timeline.DelaysOf(0, 50*ms, 20*ms)})
		}, "delays must increase, and 20ms comes after 50ms"},
		{"negative",
			func() error {
				return trailing(timeline.TrailingOptions{Delays: timeline.DelaysOf(-1, 50*ms)})
			}, "a delay of -1ns"},
		{"endless", func() error {
			return trailing(timeline.TrailingOptions{Delays: timeline.DelaysOf(0, 100*time.Hour)})
		}, "a delay of 100h"},
		{"many", func() error {
			return trailing(timeline.TrailingOptions{Delays: timeline.DelaysOf(many...)})
		}, "40 trailing states; 32 are allowed"},
		{"memory", func() error {
			return trailing(timeline.TrailingOptions{
				Options: timeline.Options{Memory: 2 * start.Host().Size()},
				Delays:  timeline.DelaysOf(0, 50*ms, 100*ms)})
		}, "3 trailing states take 3 worlds"},
		{"nothing", func() error {
			_, err := timeline.NewTrailing(nil, timeline.TrailingOptions{})
			return err
		}, "no world"},
		{"partial", func() error {
			_,
				err := timeline.NewTrailing(partial, timeline.TrailingOptions{})
			return err
		}, "partial world"},
		{"ahead", func() error {
			return trailing(timeline.TrailingOptions{Options: timeline.Options{Ahead: -1}})
		}, "ahead"},
		{"margin of nobody", func() error {
			return trailing(timeline.TrailingOptions{
				Options: timeline.Options{
					Margins: []timeline.Margin{{Class: "tank", Field: "Pos", By: 1}}}})
		}, "no such class or event"},
		{"margin of nothing", func() error {
			return trailing(timeline.TrailingOptions{
				Options: timeline.Options{
					Margins: []timeline.Margin{{Class: "runner", Field: "Place", By: 1}}}})
		}, "it has Pos.X, Pos.Y, Aim"},
		{"margin of a strict event", func() error {
			return trailing(timeline.TrailingOptions{
				Options: timeline.Options{
					Margins: []timeline.Margin{{Class: "fired", Field: "At", By: 1}}}})
		}, "event fired is strict"},
		{"negative margin", func() error {
			return trailing(timeline.TrailingOptions{
				Options: timeline.Options{
					Margins: []timeline.Margin{{Class: "runner", Field: "Pos", By: -1}}}})
		}, "give 0 or more"},
		{"several margins", func() error {
			return trailing(timeline.TrailingOptions{
				Options: timeline.Options{Margins: []timeline.Margin{
					{Class: "tank", Field: "Pos", By: 1}, {Class: "runner", Field: "Pos", By: 1},
					{Class: "runner", Field: "Place", By: 1}, {
						Class: "runner", Field: "Aim", By: -1},
				}}})
		}, "timeline: there is a margin for tank.Pos, but game \"crates\" has no such class or " +
			"event\n" +
			"timeline: there is a margin for runner.Place, but no such field; it has Pos.X, " +
			"Pos.Y, Aim"},
		{"the last of several margins", func() error {
			return trailing(timeline.TrailingOptions{
				Options: timeline.Options{Margins: []timeline.Margin{
					{Class: "tank", Field: "Pos", By: 1}, {Class: "runner", Field: "Aim", By: -1},
				}}})
		}, "\ntimeline: the margin of runner.Aim is -1"},
		{"warp memory", func() error {
			_, err := rivals.NewTimeWarp(start,
				rivals.TimeWarpOptions{Options: timeline.Options{Memory: 20 * start.Host().Size()}})
			return err
		}, "snapshots for 1s every 1 ticks take"},
		{"warp window", func() error {
			_, err := rivals.NewTimeWarp(start, rivals.TimeWarpOptions{Delay: time.Second})
			return err
		}, "must be larger than the delay"},
		{"rollback window", func() error {
			_, err := rivals.NewRollback(start, rivals.RollbackOptions{Mirrors: two, Window: -1})
			return err
		}, "window of -1"},
		{"no mirrors",
			func() error {
				_, err := rivals.NewRollback(start, rivals.RollbackOptions{})
				return err
			}, "nobody to wait for"},
		{"twice", func() error {
			_, err := rivals.NewLockstep(start, rivals.LockstepOptions{Mirrors: []member.ID{1, 1}})
			return err
		}, "listed twice"},
		{"lockstep", func() error {
			_, err := rivals.NewLockstep(start,
				rivals.LockstepOptions{Mirrors: two, Delay: 8, Most: 4})
			return err
		}, "commands 8 ticks ahead"},
		{"conservative", func() error {
			_, err := rivals.NewConservative(start,
				rivals.ConservativeOptions{Mirrors: two, LookAhead: -1})
			return err
		}, "look-ahead of -1ns"},
		{"bucket", func() error {
			_, err := rivals.NewBucket(start, rivals.BucketOptions{Width: -1})
			return err
		}, "buckets of -1 ticks"},
		{"auto", func() error {
			_, err := timeline.NewAuto(start, timeline.AutoOptions{})
			return err
		}, "not known what a step and a copy take"},
	}
	for _, c := range cases {
		if err := c.make(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		} else if strings.Contains(c.name, "memory") && !errors.Is(err, timeline.ErrMemory) {
			t.Errorf("%s: %v is not ErrMemory", c.name, err)
		}
	}
}

// Commands that no mirror of good will sends are refused, and change nothing.
func TestRefusedCommands(t *testing.T) {
	for _, m := range makers() {
		line, err := m.make(begin(t), timeline.Options{}, []member.ID{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for _, c := range []struct {
			timeline.Command
			err  error
			want string
		}{
			{timeline.Command{Kind: 9, Tick: 1, Origin: 1, Seq: 1, Player: 1}, nil,
				"unknown kind 9"},
			{timeline.Command{Tick: 1, Origin: 1, Seq: 1, Image: image(act{})}, nil, "nobody"},
			{timeline.Command{Tick: 1, Origin: 1, Seq: 1, Player: 1}, nil,
				"player 1 from mirror 1"},
			{timeline.Command{Tick: 1, Origin: 1, Seq: 1, Player: 1, Image: []int32{9, 9, 9, 9, 9}},
				nil, "player 1 from mirror 1"},
			{timeline.Command{Tick: 1 << 40, Origin: 1, Seq: 1, Player: 1, Image: image(act{})},
				timeline.ErrAhead, "room up to tick"},
		} {
			refused++
			if _, err := line.Submit(0, c.Command); err == nil ||
				!strings.Contains(err.Error(), c.want) || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("%s: %v: got %v, want %q", m.name, &c.Command, err, c.want)
			}
		}
		if m.waits {
			for _, c := range []timeline.Command{
				{Kind: timeline.Join, Tick: 1, Origin: 7, Seq: 1, Player: 1}, // a stranger
				{Kind: timeline.Join, Tick: 1, Origin: 1, Player: 1},         // without number
				// with a million missing
				{Kind: timeline.Join, Tick: 1, Origin: 1, Seq: 1e6, Player: 1},
				{Kind: timeline.Promise, Tick: 1, Origin: 1, Seq: 1e6},
			} {
				refused++
				if _, err := line.Submit(0, c); !errors.Is(err, timeline.ErrMirror) {
					t.Errorf("%s: %v: %v", m.name, &c, err)
				}
			}
			if _, err := line.Submit(0,
				timeline.Command{Kind: timeline.Promise, Tick: 5, Origin: 1}); err != nil {
				t.Error(err)
			}
			refused++
			if _, err := line.Submit(0,
				timeline.Command{
					Kind: timeline.Join, Tick: 5, Origin: 1, Seq: 1, Player: 1}); !errors.Is(err,
				timeline.ErrMirror) {
				t.Errorf("%s: a broken promise: %v", m.name, err)
			}
		}
		if s := line.Stats(); s.Refused != refused || s.Commands != 0 {
			t.Errorf("%s: %+v", m.name, s)
		}
	}
}

// What comes after its tick was settled is reported and not applied; two different commands with
// one stamp are told apart alike everywhere.
func TestTooLateAndConflict(t *testing.T) {
	start := begin(t)
	hashes := map[uint64]bool{}
	for _, turned := range []bool{false, true} {
		line, err := timeline.NewTrailing(start,
			timeline.TrailingOptions{Delays: timeline.DelaysOf(0, 100*time.Millisecond)})
		if err != nil {
			t.Fatal(err)
		}
		submit := func(now time.Duration, c timeline.Command) timeline.Fate {
			f, err := line.Submit(now, c)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		submit(0, timeline.Command{Kind: timeline.Join, Tick: 1, Player: 1})
		a := timeline.Command{Tick: 3, Origin: 1, Seq: 1, Player: 1, Image: image(act{X: 1})}
		b := timeline.Command{Tick: 3, Origin: 1, Seq: 1, Player: 1, Image: image(act{X: -1})}
		if turned {
			a, b = b, a
		}
		submit(0, a)
		submit(0, b)
		if f := submit(0, a); f != timeline.Duplicate && f != timeline.Superseded {
			t.Errorf("the third time it is %v", f)
		}
		if err := line.Advance(at(20)); err != nil {
			t.Fatal(err)
		}
		before := line.Settled().Hash()
		if f := submit(at(20),
			timeline.Command{
				Tick: line.Settled().Tick(), Origin: 2, Seq: 1, Player: 1,
				Image: image(act{Grab: true})}); f != timeline.TooLate {
			t.Errorf("a command for a settled tick is %v", f)
		}
		if f := submit(at(20),
			timeline.Command{
				Tick: line.Settled().Tick() + 1, Origin: 2, Seq: 2, Player: 1,
				Image: image(act{Grab: true})}); f != timeline.Late {
			t.Errorf("a command for the tick after is %v", f)
		}
		if err := line.Advance(at(20)); err != nil {
			t.Fatal(err)
		}
		if line.Settled().Hash() != before {
			t.Error("it was applied all the same")
		}
		s := line.Stats()
		if s.Conflicts == 0 || s.TooLate != 1 || s.Late != 1 {
			t.Errorf("%+v", s)
		}
		hashes[before] = true
	}
	if len(hashes) != 1 {
		t.Error("of two commands with one stamp, different mirrors took different ones")
	}
}

// A game that keeps state outside of its world is found out, while it runs and before, and the
// report names the field.
func TestNotDeterministic(t *testing.T) {
	broken = true
	defer func() { broken = false }()
	k := talk{ticks: 200, mirrors: 2, players: 2, do: busy}
	for _, m := range makers() {
		if m.waits || m.name == "trailing 1" || strings.Contains(m.name, "sparse") {
			continue // they have nothing to compare with
		}
		_, err := play(begin(t), m, nil, k.script(), 150, nil)
		var d *timeline.DesyncError
		if !errors.As(err, &d) || d.Difference.Class != "runner" ||
			d.Difference.Field != "Health" || !strings.Contains(err.Error(), "not deterministic") {
			t.Errorf("%s: %v", m.name, err)
		}
	}
	var d *timeline.DesyncError
	if err := timeline.Try(game, world.CheckOptions{Ticks: 60}); !errors.As(err, &d) ||
		d.Difference.Field != "Health" {
		t.Errorf("Try: %v", err)
	}
	broken = false
	if err := timeline.Try(game, world.CheckOptions{Ticks: 60}); err != nil {
		t.Errorf("Try: %v", err)
	}
}
