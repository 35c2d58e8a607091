//go:build !js

package load

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/topology/client"
)

// A Report is what came of a run. The JSON names are for scripts and stay. Rates are of each bot
// that played, a second.
type Report struct {
	Game      string         `json:"game"`
	Bots      int            `json:"bots"`
	Played    int            `json:"played"` // that were shown the world at some time
	Seconds   float64        `json:"seconds"`
	Snapshots float64        `json:"snapshots_per_second"`
	Down      float64        `json:"bytes_down_per_second"`
	Up        float64        `json:"bytes_up_per_second"`
	TripP50   float64        `json:"round_trip_p50_ms"`
	TripP95   float64        `json:"round_trip_p95_ms"`
	LossIn    float64        `json:"loss_in"`
	LossOut   float64        `json:"loss_out"`
	Late      float64        `json:"commands_missing_per_second"`
	Bad       uint64         `json:"unusable"` // packets and messages that could not be used
	Ended     map[string]int `json:"ended,omitempty"`
}

// why sums up the reasons for which bots ended.
func (r *Report) why() string {
	var list []string
	for text, n := range r.Ended {
		list = append(list, fmt.Sprintf("%d: %s", n, text))
	}
	slices.Sort(list)
	if len(list) == 0 {
		return "the server did not let them in in time"
	}
	return strings.Join(list, "; ")
}

// tallies are sums over bots at one moment.
type tallies struct {
	at                             time.Duration
	playing, played                int
	snapshots, down, up, late, bad uint64
	trips                          []float64
	lossIn, lossOut                float64
	ended                          map[string]int
	notYet                         int
	clients                        int
}

// A table adds up what the bots meet, and shows it.
type table struct {
	herd  *herd
	out   io.Writer
	quiet bool
	last  tallies
	best  tallies // when the most played, for what only the living can tell
	base  tallies // when all had come
	lines int
}

// count adds up.
func (t *table) count() tallies {
	x := tallies{at: time.Since(t.herd.begin), ended: map[string]int{}}
	for _, m := range t.herd.members {
		m.mu.Lock()
		t.member(m, &x)
		m.mu.Unlock()
	}
	slices.Sort(x.trips)
	return x
}

func (t *table) member(m *bot, x *tallies) {
	if m.err != nil {
		text, _, _ := strings.Cut(m.err.Error(), "\n")
		x.ended[strings.TrimPrefix(text, "client: ")]++
	}
	c := m.client
	if c == nil {
		x.notYet++
		return
	}
	x.clients++
	st, l := c.Stats(), c.Ledger()
	x.snapshots += st.Snapshots
	x.late += st.Repeated
	x.bad += st.Bad
	x.down += m.down.total(l.Received)
	x.up += m.up.total(l.Total())
	if st.Snapshots > 0 {
		x.played++
	}
	if c.Phase() != client.Playing {
		return
	}
	x.playing++
	if cn := c.Conn(); cn != nil {
		q := cn.Quality()
		x.trips = append(x.trips, q.RoundTrip.Seconds()*1000)
		x.lossIn += q.LossIn
		x.lossOut += q.LossOut
	}
}

// watch shows a line a second until the bots have stopped.
func (t *table) watch(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-t.herd.stopped:
			return nil
		case <-ctx.Done():
			<-t.herd.stopped
			return nil
		case <-tick.C:
		}
		x := t.count()
		if x.playing >= t.best.playing {
			t.best = x
		}
		if t.base.at == 0 && x.playing == len(t.herd.members) {
			t.base = x
		}
		if err := t.show(x); err != nil {
			return err
		}
		t.last = x
	}
}

func (t *table) show(x tallies) error {
	if t.quiet {
		return nil
	}
	if t.lines%20 == 0 {
		if _, err := fmt.Fprintf(t.out, "%7s %7s %8s %9s %9s %16s %11s %6s %6s\n", "time", "play",
			"snaps/s", "down B/s", "up B/s", "trip p50/p95 ms", "loss in/out", "late/s",
			"ended"); err != nil {
			return err
		}
	}
	t.lines++
	r := rates(&t.last, &x)
	ended := 0
	for _, n := range x.ended {
		ended += n
	}
	_, err := fmt.Fprintf(t.out,
		"%6.0fs %7d %8.1f %9.0f %9.0f %8.1f/%7.1f %4.1f/%4.1f %% %6.1f %6d\n",
		x.at.Seconds(), x.playing, r.Snapshots, r.Down, r.Up, r.TripP50, r.TripP95, 100*r.LossIn,
		100*r.LossOut, r.Late, ended)
	return err
}

// rates are what happened between two moments, a bot and second.
func rates(a, b *tallies) Report {
	each := float64(max(b.playing, 1)) * max((b.at-a.at).Seconds(), 1e-9)
	r := Report{
		Snapshots: float64(b.snapshots-a.snapshots) / each, Down: float64(b.down-a.down) / each,
		Up: float64(b.up-a.up) / each, Late: float64(b.late-a.late) / each,
		LossIn:  b.lossIn / float64(max(b.playing, 1)),
		LossOut: b.lossOut / float64(max(b.playing, 1)),
	}
	if n := len(b.trips); n > 0 {
		r.TripP50, r.TripP95 = b.trips[n/2], b.trips[n*95/100]
	}
	return r
}

// report sums the run up: rates from when all had come to when the most played last.
func (t *table) report() *Report {
	end := t.count()
	from := t.base
	if from.at >= t.best.at {
		from = tallies{}
	}
	r := rates(&from, &t.best)
	r.Game, r.Bots, r.Played, r.Seconds, r.Bad, r.Ended = t.herd.title.Name(), len(t.herd.members),
		end.played, end.at.Seconds(), end.bad, end.ended
	return &r
}
