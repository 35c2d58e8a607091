package timeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/world"
)

// Every kind can be opened by its name, with its defaults and with delays, and plays.
func TestOpen(t *testing.T) {
	ms := time.Millisecond
	delays := map[string][]time.Duration{
		"auto": {0, 100 * ms, 500 * ms}, "trailing": {0, 200 * ms}, "timewarp": {0, 300 * ms},
		"rollback": {20 * ms, 200 * ms}, "lockstep": {40 * ms, 100 * ms},
		"conservative": {50 * ms}, "bucket": {80 * ms}, "ruled": {0, 50 * ms, 400 * ms},
	}
	want := map[string]string{
		"auto": "*timeline.Auto", "trailing": "*timeline.Trailing", "timewarp": "*rivals.TimeWarp",
		"rollback": "*rivals.Rollback", "lockstep": "*rivals.Lockstep",
		"conservative": "*rivals.Conservative", "bucket": "*rivals.Bucket",
		"ruled": "*ruled.Timeline",
	}
	for _, kind := range kinds.Names() {
		for _, d := range [][]time.Duration{nil, delays[kind]} {
			m := maker{name: kind,
				make: func(start *world.World, o timeline.Options,
					mirrors []member.ID) (timeline.Timeline, error) {
					named, err := kinds.DelaysOf(kind, d)
					if err != nil {
						return nil, err
					}
					return kinds.Open(kind, start,
						kinds.Options{
							Options: o, Delays: named, Mirrors: mirrors, Judge: true,
							Step: 50 * time.Microsecond, Copy: 20 * time.Microsecond})
				}}
			waits := slices.Contains([]string{"rollback", "lockstep", "conservative"}, kind)
			out := mustPlay(t, m,
				talk{ticks: 100, mirrors: 2, players: 2, do: busy, waits: waits}.script(), 100)
			if got := fmt.Sprintf("%T", out.line.(kinds.Line).Timeline); got != want[kind] {
				t.Errorf("%s is %s", kind, got)
			}
		}
	}
	if len(kinds.Names()) != len(want) {
		t.Error(kinds.Names())
	}
	if line, err := open("trailing", begin(t), delays["trailing"]); err != nil ||
		!slices.Equal(line.Delays().List(), delays["trailing"]) {
		t.Error(line, err)
	}
}

// open makes a timeline with delays that are listed.
func open(kind string, start *world.World, list []time.Duration) (kinds.Line, error) {
	d, err := kinds.DelaysOf(kind, list)
	if err != nil {
		return kinds.Line{}, err
	}
	return kinds.Open(kind, start, kinds.Options{Delays: d})
}

// What cannot be opened says what could be, and is nil.
func TestOpenRefused(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []struct {
		kind   string
		delays []time.Duration
		want   string
	}{
		{"Trailing", nil,
			`no kind "Trailing"; choose one of auto, trailing, timewarp, rollback, lockstep, conservative, bucket, ruled`},
		{"", nil, "choose one of"},
		{"trailing", []time.Duration{100 * ms, 50 * ms},
			"delays must increase, and 50ms comes after 100ms"},
		{"trailing", []time.Duration{-ms}, "a delay of -1ms"},
		{"auto", []time.Duration{0, time.Second}, "not known what a step and a copy take"},
		{"timewarp", []time.Duration{time.Second, 100 * ms},
			"the window must be larger than the delay"},
		{"timewarp", []time.Duration{0, 50 * ms, 100 * ms},
			`3 delays for kind "timewarp"; give at most 2: the leading world's, the window`},
		{"conservative", []time.Duration{2 * time.Hour}, "a delay of 2h0m0s"},
		{"lockstep", nil, "nobody to wait for"},
		{"ruled", []time.Duration{0, 2 * time.Second, time.Second},
			"the window must be larger than both"},
	} {
		line, err := open(c.kind, begin(t), c.delays)
		if err == nil || line.Timeline != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q with %v: got %v, %v; want %q", c.kind, c.delays, line, err, c.want)
		}
	}
	for _, c := range []struct {
		kind   string
		repair kinds.Repair
		want   string
	}{
		{"trailing", "never", "choose one of at-once, trails, everything, places"},
		{"timewarp", kinds.AtOnce, "for the kinds auto and trailing, not for timewarp"},
	} {
		if _, err := kinds.Open(c.kind, begin(t),
			kinds.Options{Repair: c.repair}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with repair %s: %v", c.kind, c.repair, err)
		}
	}
	for _, name := range kinds.Repairs() {
		if _, err := kinds.Open("trailing", begin(t),
			kinds.Options{Repair: kinds.Repair(name)}); err != nil {
			t.Errorf("repair %s: %v", name, err)
		}
	}
	if _, err := kinds.Open("trailing", nil, kinds.Options{}); err == nil {
		t.Error("a timeline of no world")
	}
	for _, o := range []timeline.Options{
		{Slack: -1, Held: true}, {Slack: 2 * time.Hour, Held: true}, {
			Pending: []timeline.Command{{Tick: 1}}}, {
			Pending: []timeline.Command{{Tick: 1 << 40, Kind: timeline.Join, Player: 1}}}} {
		for _, kind := range []string{"trailing", "timewarp", "ruled"} {
			if _, err := kinds.Open(kind, begin(t), kinds.Options{Options: o}); err == nil {
				t.Errorf("%s with %+v", kind, o)
			}
		}
	}
	if _, err := kinds.Open("timewarp", begin(t),
		kinds.Options{
			Options: timeline.Options{
				Held: true, Memory: 100 * begin(t).Host().Size()}}); err == nil ||
		!strings.Contains(err.Error(), "snapshots for 4s") {
		t.Errorf("held, it has to have room: %v", err)
	}
}
