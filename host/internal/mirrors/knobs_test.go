package mirrors

import (
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/topology/server"
)

// TestTune: knobs set the delays of a timeline, and a copy that would not be behind is left out.
func TestTune(t *testing.T) {
	made := func(kind string, values knob.Values) (mirror.Options, error) {
		o := mirror.Options{Timeline: kind, Server: server.Options{Title: arena.Title}}
		return o, Tune(&o, values)
	}
	o, err := made("trailing", knob.Values{"lead": "40ms", "trail": "200ms", "window": "800ms",
		"repair": "trails", "snapshots": "12", "commands": "3"})
	if err != nil {
		t.Fatal(err)
	}
	if d := o.Delays; d.Lead != 40*time.Millisecond || len(d.Trails) != 1 ||
		d.Trails[0] != 200*time.Millisecond || d.Window != 800*time.Millisecond ||
		o.Repair != kinds.ByTrails || o.Server.SnapshotRate != 12 {
		t.Errorf("%+v", o.Delays)
	}
	if o, err = made("trailing", knob.Values{"lead": "120ms"}); err != nil ||
		len(o.Delays.Trails) != 0 || o.Delays.Window != time.Second {
		t.Errorf("%+v, %v", o.Delays, err)
	}
	if o, err = made("lockstep", knob.Values{"lead": "120ms"}); err != nil ||
		o.Delays.Lead != 120*time.Millisecond {
		t.Errorf("%+v, %v", o.Delays, err)
	}
	if o, err = made("ruled", knob.Values{"judge": "0s"}); err != nil || o.Delays.Judge != -1 {
		t.Errorf("%+v, %v", o.Delays, err)
	}
	if _, err = made("lockstep", knob.Values{"trail": "1s"}); err == nil ||
		!strings.Contains(err.Error(), `mirrors-lockstep has no knob "trail"`) {
		t.Error(err)
	}
	for _, kind := range kinds.Names() {
		if back, ok := TimelineOf(Architecture(kind)); !ok || back != kind {
			t.Errorf("%s is %s", kind, back)
		}
		if err := knob.Check(Knobs(kind)); err != nil {
			t.Error(err)
		}
	}
	if _, ok := TimelineOf("lockstep"); ok {
		t.Error("lock step of peers is taken for that of mirrors")
	}
}
