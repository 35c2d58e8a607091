package paperlab

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/bandwidthlab"
)

// quakeAlpha is Table 2.5 of the paper, in percent.
var quakeAlpha = map[int]float64{2: 66.7, 3: 13.2, 4: 28.5, 5: 16.7}

// bandwidth is Tables 2.2 to 2.5: variables, the three architectures and who is in an update.
func bandwidth(ctx context.Context, o *Options, p lab.Progress) (*Finding, error) {
	few, many := []int{1, 2, 3, 4, 5}, []int{8, 16, 32}
	length := time.Minute
	if o.Quick {
		many, length = []int{8}, 4*time.Second
	}
	f := &Finding{Seeds: o.seeds()}
	// one level for all, so that they can be compared
	s, err := lab.NewSubject(o.Title, o.Level, many[len(many)-1])
	if err != nil {
		return nil, err
	}
	alpha, inView := map[int][]float64{}, map[int][]float64{}
	var rows, large []*bandwidthlab.Result
	for i, seed := range f.Seeds {
		for k, clients := range [][]int{few, append([]int{1}, many...)} {
			share := 1 / float64(2*len(f.Seeds))
			b := bandwidthlab.Options{Title: o.Title, Level: s.Level, Clients: clients,
				Time: length, Exchange: min(length, 10*time.Second), BytesOnly: true, Seed: seed,
				Progress: p.Within(float64(2*i+k)*share, share)}
			if k == 1 {
				b.Time = min(length, 10*time.Second)
			}
			r, err := bandwidthlab.Run(ctx, b)
			if err != nil {
				return nil, err
			}
			f.Game = fmt.Sprintf("%s, level %q", r.Game, s.Level)
			if k == 1 {
				large = append(large, r)
			} else {
				rows = append(rows, r)
			}
			for _, s := range r.Served {
				if s.Clients > 1 {
					alpha[s.Clients] = append(alpha[s.Clients], 100*s.Alpha)
					inView[s.Clients] = append(inView[s.Clients], 100*s.InView)
				}
			}
		}
	}
	f.Tables = append(f.Tables, quakeVariables(rows))
	for _, list := range [][]*bandwidthlab.Result{rows, large} {
		f.Tables = append(f.Tables, quakeArchitectures(list)...)
	}
	f.Tables = append(f.Tables, quakeUpdates(append(few[1:], many...), alpha, inView))
	f.Tables = joined(f.Tables)
	bandwidthDiffers(f, alpha)
	return f, nil
}

// joined puts tables of one title into one.
func joined(list []Table) (out []Table) {
	for _, t := range list {
		found := false
		for i := range out {
			if out[i].Title == t.Title {
				out[i].Rows, found = append(out[i].Rows, t.Rows...), true
			}
		}
		if !found {
			out = append(out, t)
		}
	}
	return out
}

// quakeVariables is Table 2.3.
func quakeVariables(list []*bandwidthlab.Result) Table {
	t := Table{Title: "Table 2.3: variables for one to five clients, kbit/s", Keys: 1,
		Heads: []string{"variable", "what", "Quake, published", "here"}}
	of := func(pick func(r *bandwidthlab.Result) float64, digits int) string {
		var values []float64
		for _, r := range list {
			values = append(values, pick(r))
		}
		return interval(values, digits)
	}
	type result = bandwidthlab.Result
	t.add("a", "a client's commands to its server", "5.68",
		of(func(r *result) float64 { return r.Variables.A }, 2))
	t.add("b", "the same to one other mirror, one client's in a packet", "10.6",
		of(func(r *result) float64 { return r.Variables.B }, 2))
	t.add("c", "state updates with no clients, by regression", "1.16",
		of(func(r *result) float64 { return r.Variables.C }, 2))
	t.add("d + e", "and for each client more", "5.36",
		of(func(r *result) float64 { return r.Variables.DE }, 2))
	t.add("correlation", "of the regression", "0.8682",
		of(func(r *result) float64 { return r.Line.Correlation }, 4))
	return t
}

// quakeArchitectures are Tables 2.2 and 2.4: published is the paper's formula with the paper's
// figures, counted is every message counted with ours.
func quakeArchitectures(list []*bandwidthlab.Result) []Table {
	heads := []string{"clients", "mirrors", "Quake, published", "here, by the same formula",
		"here, every message counted", "here, measured"}
	about := map[bandwidthlab.Architecture]string{
		bandwidthlab.ClientServer: "Tables 2.2 and 2.4: all that a server sends and receives, " +
			"kbit/s",
		bandwidthlab.PeerToPeer: "Tables 2.2 and 2.4: all that a peer sends and receives, kbit/s",
		bandwidthlab.Mirrored: "Tables 2.2 and 2.4: all that a real mirror sends and receives, " +
			"kbit/s",
	}
	var tables []Table
	for _, a := range bandwidthlab.Architectures() {
		t := Table{Title: about[a], Keys: 2, Heads: heads}
		if a != bandwidthlab.Mirrored {
			t.Heads = append([]string{heads[0]}, heads[2:]...)
			t.Keys = 1
		}
		for i, c := range list[0].Compared {
			if c.Architecture != a || c.Clients < 2 {
				continue
			}
			total := func(r *bandwidthlab.Rates) float64 {
				if a == bandwidthlab.PeerToPeer {
					return r.TotalClient
				}
				return r.TotalServer
			}
			paper := bandwidthlab.PaperVariables.Paper(a, float64(c.Clients),
				max(float64(c.Mirrors), 1))
			row := []string{fmt.Sprint(c.Clients), fmt.Sprint(c.Mirrors),
				fmt.Sprintf("%.0f", total(&paper))}
			if a != bandwidthlab.Mirrored {
				row = append(row[:1], row[2:]...)
			}
			for _, pick := range []func(c *bandwidthlab.Comparison) *bandwidthlab.Rates{
				func(c *bandwidthlab.Comparison) *bandwidthlab.Rates { return &c.Paper },
				func(c *bandwidthlab.Comparison) *bandwidthlab.Rates { return &c.Counted },
				func(c *bandwidthlab.Comparison) *bandwidthlab.Rates { return &c.Measured },
			} {
				var values []float64
				for _, r := range list {
					values = append(values, total(pick(&r.Compared[i])))
				}
				row = append(row, interval(values, 0))
			}
			t.Rows = append(t.Rows, row)
		}
		tables = append(tables, t)
	}
	return append(tables, betweenMirrors(list))
}

// betweenMirrors is the private network of Table 2.4.
func betweenMirrors(list []*bandwidthlab.Result) Table {
	t := Table{Title: "Table 2.4, private network: what all real mirrors send each other, kbit/s",
		Keys: 2, Heads: []string{"clients", "mirrors", "Quake, published",
			"here, commands counted", "here, for commands", "to agree beside", "here, in all"}}
	for i, c := range list[0].Compared {
		if c.Architecture != bandwidthlab.Mirrored || c.Clients < 2 {
			continue
		}
		var counted, commands, rest, all []float64
		for _, r := range list {
			x := &r.Compared[i]
			counted = append(counted, x.Counted.Private)
			commands = append(commands, x.Commands)
			rest = append(rest, x.Measured.Private-x.Commands)
			all = append(all, x.Measured.Private)
		}
		paper := bandwidthlab.PaperVariables.Paper(c.Architecture, float64(c.Clients),
			float64(c.Mirrors))
		t.add(fmt.Sprint(c.Clients), fmt.Sprint(c.Mirrors), fmt.Sprintf("%.0f", paper.Private),
			interval(counted, 0), interval(commands, 0), interval(rest, 0), interval(all, 0))
	}
	return t
}

// quakeUpdates is Table 2.5.
func quakeUpdates(clients []int, alpha, inView map[int][]float64) Table {
	t := Table{Title: "Table 2.5: α, the share of the other clients in a state update, %", Keys: 1,
		Heads: []string{"clients", "Quake, published", "here", "here, least and most",
			"in view here"}}
	for _, n := range clients {
		list := alpha[n]
		if len(list) == 0 {
			continue
		}
		least, most := list[0], list[0]
		for _, v := range list {
			least, most = min(least, v), max(most, v)
		}
		published := "–"
		if v, ok := quakeAlpha[n]; ok {
			published = fmt.Sprintf("%.1f", v)
		}
		t.add(fmt.Sprint(n), published, interval(list, 1),
			fmt.Sprintf("%.1f to %.1f", least, most), interval(inView[n], 1))
	}
	return t
}

func bandwidthDiffers(f *Finding, alpha map[int][]float64) {
	f.differs("Commands cost more here: a packet goes out at each of 60 ticks a second, " +
		"encrypted and authenticated, with the last four commands in it. Quake's rate is not " +
		"said; its packets have three.")
	f.differs("State updates cost less for each client: they are differences from what is known " +
		"to have arrived, range coded, and what has not changed is not sent.")
	f.differs("Mirrors are real: topology/mirror over reliable multicast with their own clients. " +
		"What they need beside commands (who has what, who is there, how far apart they are, " +
		"signatures) is in no formula; it is most of the difference for few clients.")
	f.differs("The published private network counts as if each client were a mirror (b n²); here " +
		"m mirrors exchange b n (m-1), and several clients share a packet.")
	two := alpha[2]
	f.differs("α is not steady. With few players it depends on who meets whom: with two clients "+
		"it is %.0f to %.0f %% from seed to seed. It falls as more of them spread over the level. "+
		"The published figures are of one game each. It depends on the level as much: on one that "+
		"is made for few players nearly everybody is in view (--map).",
		slices.Min(two), slices.Max(two))
}
