package mirrors

import (
	"reflect"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/mirror"
)

// TestMirrorThatStandsStill: a mirror that should serve and computes nothing is not well; one that
// waits for others is.
func TestMirrorThatStandsStill(t *testing.T) {
	var h host
	now := time.UnixMilli(1_800_000_000_000)
	h.moved.Store(now.Add(-serve.WellWithin).UnixMilli())
	for _, x := range []struct {
		phase mirror.Phase
		later time.Duration
		want  bool
	}{
		{mirror.Serving, 0, false},
		{mirror.Serving, time.Second, true},
		{mirror.Joining, time.Hour, false},
		{mirror.Suspended, time.Hour, false},
	} {
		if got := h.stuck(x.phase, now.Add(x.later)); got != x.want {
			t.Errorf("%v after %v: %v", x.phase, serve.WellWithin+x.later, got)
		}
	}
}

func TestMirrorDelays(t *testing.T) {
	const ms = time.Millisecond
	trails := func(list ...time.Duration) kinds.Delays {
		return kinds.Delays{Delays: timeline.DelaysOf(list...)}
	}
	for _, x := range []struct {
		kind   string
		delays []string
		window time.Duration
		want   kinds.Delays
	}{
		{"auto", nil, 0, kinds.Delays{}},
		{"auto", []string{"0", " 100ms", "1s"}, 0, trails(0, 100*ms, 1000*ms)},
		{"auto", []string{"0", "100ms"}, time.Second, trails(0, 100*ms, 1000*ms)},
		{"trailing", []string{"20ms", "1s"}, time.Second, trails(20*ms, 1000*ms)},
		{"auto", nil, 2 * time.Second, trails(0, 100*ms, 2000*ms)},
		{"auto", nil, 80 * ms, trails(0, 80*ms)},
		{"timewarp", nil, time.Second, kinds.Delays{Delays: timeline.Delays{Window: 1000 * ms}}},
		{"ruled", []string{"10ms"}, time.Second,
			kinds.Delays{Delays: timeline.Delays{Lead: 10 * ms, Window: 1000 * ms}}},
		{"ruled", []string{"10ms", "0"}, time.Second,
			kinds.Delays{Delays: timeline.Delays{Lead: 10 * ms, Window: 1000 * ms}, Judge: -1}},
		{"lockstep", []string{"50ms", "90ms"}, 0,
			kinds.Delays{Delays: timeline.Delays{Lead: 50 * ms}, Most: 90 * ms}},
	} {
		got, err := Delays(x.kind, x.delays, x.window)
		if err != nil || !reflect.DeepEqual(got, x.want) {
			t.Errorf("%s %v, window %v: %v, %v, want %v", x.kind, x.delays, x.window, got, err,
				x.want)
			continue
		}
		if err := TryDelays(arena.Title, x.kind, got); err != nil {
			t.Errorf("%s %v: %v", x.kind, got, err)
		}
	}
}
