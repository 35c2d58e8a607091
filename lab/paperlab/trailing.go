package paperlab

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/trailinglab"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/lab/tunnel/mirrored"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/mirror"
)

// The networks between two mirrors that are assumed, as the paper does not say what lay between its
// servers.
var (
	laboratory = netsim.Both(netsim.Profile{Latency: time.Millisecond,
		Jitter: netsim.Jitter{Amount: time.Millisecond}})
	betweenCities = netsim.Both(netsim.Profile{Latency: 40 * time.Millisecond,
		Jitter: netsim.Jitter{Amount: 10 * time.Millisecond}, Loss: 0.001})
)

// A mirrorRun is two mirrors of three clients each, in one form, with all seeds.
type mirrorRun struct {
	samples []*tunnel.Sample
	lines   []timeline.Stats // of the first mirror, by seed
	stats   [][]mirror.Stats // by seed and mirror
}

// playMirrors has bots play on mirrors of a form.
func playMirrors(ctx context.Context, o *Options, p lab.Progress, name string, f mirrored.Form,
	network string, players int) (*mirrorRun, error) {
	r := &mirrorRun{lines: make([]timeline.Stats, o.Seeds), stats: make([][]mirror.Stats, o.Seeds)}
	var lock sync.Mutex
	f.Watch = func(seed uint64, index int, m *mirror.Mirror) {
		lock.Lock()
		defer lock.Unlock()
		at := seed - o.Seed
		if index == 0 {
			r.lines[at] = m.TimelineStats()
		}
		r.stats[at] = append(r.stats[at], m.Stats())
	}
	a := mirrored.Architecture(name, "", f)
	var err error
	r.samples, err = tunnelFigures(ctx, o, p, trial{made: &a, network: network, players: players,
		time: 6 * time.Second})
	return r, err
}

// of is a figure of the first mirror's timeline, by seed.
func (r *mirrorRun) of(pick func(s *timeline.Stats) float64) (values []float64) {
	for i := range r.lines {
		values = append(values, pick(&r.lines[i]))
	}
	return values
}

// trailing is Table 3.1 on real mirrors over reliable multicast, and then every timeline.
func trailing(ctx context.Context, o *Options, p lab.Progress) (*Finding, error) {
	const players = 6
	s, err := lab.NewSubject(o.Title, o.Level, players)
	if err != nil {
		return nil, err
	}
	f := &Finding{Game: s.Name() + ", two mirrors of three bots each", Seeds: o.seeds()}
	table := trailinglab.PaperTable()
	if o.Quick {
		table = table[:2]
	}
	networks := []struct {
		name string
		path netsim.Conditions
	}{{"1 to 2 ms, as in one laboratory", laboratory},
		{"40 to 50 ms and 0.1 % loss, as between cities", betweenCities}}
	all := float64(len(table)*len(networks) + len(kinds.Names()) + 1)
	done, short := 0.0, false
	for _, n := range networks {
		t := Table{Title: "Table 3.1 on real mirrors, late commands repaired by trails as in the " +
			"paper; between the mirrors " + n.name, Keys: 1,
			Heads: []string{"delays, ms", "executed for each command, published", "here",
				"rollbacks for 1000, published", "here", "others off, widths, mean", "p95",
				"events taken back, %"}}
		for _, row := range table {
			var delays []time.Duration
			for _, d := range row.Delays {
				delays = append(delays, time.Duration(d)*time.Millisecond)
			}
			name := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(row.Delays)), ","), "[]")
			r, err := playMirrors(ctx, o, p.Within(done/all, 1/all), "trailing "+name,
				mirrored.Form{Kind: "trailing", Mirrors: 2, Delays: delays, Repair: kinds.ByTrails,
					Between: &n.path}, "latency=5ms", players)
			done++
			if err != nil && ctx.Err() == nil &&
				delays[len(delays)-1] <= n.path.Up.Latency+n.path.Up.Jitter.Amount {
				t.add(name, fmt.Sprintf("%.2f", row.Executed), "cannot", fmt.Sprintf("%.1f",
					1000*row.Rollbacks), "cannot", "–", "–", "–")
				short = true
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("delays %s: %w", name, err)
			}
			t.add(name, fmt.Sprintf("%.2f", row.Executed),
				interval(r.of(func(s *timeline.Stats) float64 {
					return lab.Per(s.Executions, s.Commands)
				}), 2), fmt.Sprintf("%.1f", 1000*row.Rollbacks),
				interval(r.of((*timeline.Stats).RollbacksPerThousand), 1),
				interval(pick(r.samples, "off_others_mean"), 3),
				interval(pick(r.samples, "off_others_p95"), 2),
				interval(pick(r.samples, "events_taken"), 1))
		}
		f.Tables = append(f.Tables, t)
	}
	t, err := everyTimeline(ctx, o, p.Within(done/all, 1-done/all), players)
	if err != nil {
		return nil, err
	}
	f.Tables = append(f.Tables, t)
	trailingDiffers(f, short)
	return f, nil
}

// trailingDiffers says what differs; short, that some delays could not be played.
func trailingDiffers(f *Finding, short bool) {
	if short {
		f.differs("A last delay that is no longer than the path cannot be played: real mirrors " +
			"settle nothing that another may still command, and players never come in. The " +
			"paper's would have settled what was wrong.")
	}
	f.differs("The paper's own game was not deterministic, so that two states of one server " +
		"differed now and then and were rolled back for nothing; it says so. Ours is, and rolls " +
		"back only for commands that were late.")
	f.differs("A command is executed once a tick here, and repeated in ticks for which none came; " +
		"in Quake each command is executed by itself. With k copies each command is executed k " +
		"times at least, and more for each rollback.")
	f.differs("The paper's long delays have many more rollbacks, as a late state inherits all " +
		"that differed by chance; ours have as many as there were late commands.")
	f.differs("How wrong what is shown was, and what was taken back, the paper did not measure. " +
		"Here clients are asked: each body that they show against the settled world of that tick. " +
		"Where late commands are executed next and repaired by a trail, more is wrong and for " +
		"longer than where the world goes back at once (mirrors' own way, in the last table).")
	f.differs("Processor times are not in these tables, since clients and mirrors share the " +
		"machine here; lab trailing has them for the same delays, beside the paper's.")
}

// everyTimeline is what players of real mirrors see, by timeline.
func everyTimeline(ctx context.Context, o *Options, p lab.Progress, players int) (Table, error) {
	t := Table{Title: "Every timeline on two real mirrors, 40 to 50 ms and 0.1 % loss between " +
		"them: what their players see", Keys: 1,
		Heads: []string{"timeline", "published", "others off, widths, mean", "p95",
			"events taken back, %", "events that differ, %", "commands late, %",
			"own input, ms", "others' input, ms", "rollbacks/s", "between mirrors, B/s"}}
	type form struct {
		name string
		mirrored.Form
	}
	var list []form
	for _, kind := range kinds.Names() {
		list = append(list, form{kind, mirrored.Form{Kind: kind}})
	}
	list = append(list, form{"ruled, the paper's form", mirrored.Form{Kind: "ruled", Exact: true}})
	for i, x := range list {
		share := 1 / float64(len(list))
		x.Mirrors, x.Between = 2, &betweenCities
		r, err := playMirrors(ctx, o, p.Within(float64(i)*share, share), x.name, x.Form,
			"latency=5ms", players)
		if err != nil {
			return t, fmt.Errorf("%s: %w", x.name, err)
		}
		row := []string{x.name, "–"}
		for _, key := range []struct {
			name   string
			digits int
		}{{"off_others_mean", 3}, {"off_others_p95", 2}, {"events_taken", 1}, {"events_wrong", 1},
			{"commands_late", 1}, {"own_ms", 0}, {"others_ms", 0}, {"rollbacks", 1},
			{"group_out", 0}} {
			row = append(row, interval(pick(r.samples, key.name), key.digits))
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}
