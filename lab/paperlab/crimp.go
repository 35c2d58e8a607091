package paperlab

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/bandwidthlab"
	"github.com/coeval-dev/coeval/lab/crimplab"
)

// crimpTable is Table 4.1, with the sizes of messages that real mirrors sent.
func crimpTable(ctx context.Context, o *Options, p lab.Progress) (*Finding, error) {
	f := &Finding{Seeds: o.seeds()}
	sizes, err := captured(ctx, o, f)
	if err != nil {
		return nil, err
	}
	ways := []string{"paper", "adaptive", "adaptive+fec"}
	packets := 2000
	if o.Quick {
		packets = 300
	}
	type cell struct{ mean, lost, requests, repairs []float64 }
	cells := map[string]*cell{}
	key := func(loss float64, way string) string { return fmt.Sprint(loss, way) }
	for i, seed := range f.Seeds {
		share := 1 / float64(len(f.Seeds))
		r, err := crimplab.Run(ctx, crimplab.Options{Members: []int{4}, Ways: ways, Shared: true,
			Packets: packets, Sizes: sizes, Seed: seed, NoCost: true,
			Progress: p.Within(float64(i)*share, share)})
		if err != nil {
			return nil, err
		}
		for _, g := range r.Groups {
			k := key(g.Loss, g.Way)
			if cells[k] == nil {
				cells[k] = new(cell)
			}
			c := cells[k]
			c.mean = append(c.mean, g.Mean)
			c.lost = append(c.lost, float64(g.GivenUp+g.Undelivered))
			c.requests = append(c.requests, float64(g.DuplicateRequests))
			c.repairs = append(c.repairs, float64(g.DuplicateRepairs))
			f.expect(g.Twice == 0, "%d packets came twice or altered at %.0f %%, seed %d",
				g.Twice, 100*g.Loss, seed)
		}
	}
	t := Table{Title: fmt.Sprintf("Table 4.1: four members, two on each side of a path of 25 ms "+
		"that loses for all behind it; %d packets from each, one in 30 ms. The delay is above "+
		"that of the row without loss", packets), Keys: 2,
		Heads: []string{"loss", "recovery", "delay, ms", "lost for good", "duplicate requests",
			"duplicate repairs"}}
	for _, row := range crimplab.PaperTable() {
		loss := fmt.Sprintf("%.0f %%", 100*row.Loss)
		t.add(loss, "published", fmt.Sprintf("+%.0f", row.RTT-crimplab.PaperTable()[0].RTT),
			fmt.Sprint(row.Lost), fmt.Sprint(row.Requests), fmt.Sprint(row.Repairs))
		for _, way := range ways {
			if c := cells[key(row.Loss, way)]; c != nil {
				t.add(loss, named[way], "+"+interval(c.mean, 2), interval(c.lost, 1),
					interval(c.requests, 0), interval(c.repairs, 0))
			}
		}
	}
	f.Tables = append(f.Tables, t)
	f.differs("The paper does not say how many members it had, nor after how many packets out of " +
		"order one was taken for lost. Here four and three.")
	f.differs("The paper's delays grow much faster with loss, with the same constants. Its members " +
		"shared two machines and waited for their processors and timers; here a machine takes no " +
		"time. Which of its pieces made the difference cannot be told from the paper.")
	f.differs("Duplicates are counted as the paper does: every request or repair of a packet " +
		"beyond the first. Ours are fewer, as who asks waits for a time that depends on how many " +
		"others may ask, and a repair under way holds back others.")
	f.differs("With forward error correction most losses need nobody's repair, for about half as " +
		"many bytes again; the paper names it as future work.")
	return f, nil
}

var named = map[string]string{"paper": "here, the paper's constants", "adaptive": "here, adaptive",
	"adaptive+fec": "here, with forward error correction"}

// captured has two real mirrors play, and takes the sizes of what they send each other for a model
// of traffic, as the paper did with Figure 4.2.
func captured(ctx context.Context, o *Options, f *Finding) (sizes []int, err error) {
	const clients = 6
	s, err := lab.NewSubject(o.Title, o.Level, clients)
	if err != nil {
		return nil, err
	}
	f.Game = s.Name()
	length := 30 * time.Second
	if o.Quick {
		length = 3 * time.Second
	}
	r, err := bandwidthlab.PlayMirrors(ctx, bandwidthlab.MirrorsOptions{Title: s, Clients: clients,
		Mirrors: 2, Seed: o.Seed, Warm: 2 * time.Second, Time: length})
	if err != nil {
		return nil, err
	}
	all, outliers := 0, 0
	for _, size := range slices.Sorted(maps.Keys(r.Sizes)) {
		n := r.Sizes[size]
		if all += n; size > mostModel {
			outliers += n
			continue
		}
		for range n {
			sizes = append(sizes, size)
		}
	}
	if len(sizes) == 0 {
		return nil, fmt.Errorf("two mirrors of %s sent each other nothing", s.Name())
	}
	at := func(q float64) string { return fmt.Sprint(sizes[int(q*float64(len(sizes)-1))]) }
	t := Table{Title: "Figure 4.2: messages that two real mirrors of three clients each send, " +
		"bytes without headers; the traffic of the next table", Keys: 1,
		Heads: []string{"", "least", "p5", "median", "p95", "most", "left out",
			"messages a second"}}
	t.add("published", "–", "–", "nearly constant, below 100", "–", "100", "those above 100", "–")
	t.add("here", at(0), at(0.05), at(0.5), at(0.95), at(1),
		fmt.Sprintf("%.2f %%", 100*lab.Per(outliers, all)),
		fmt.Sprintf("%.0f", float64(all)/length.Seconds()))
	f.Tables = append(f.Tables, t)
	return sizes, nil
}

// mostModel is the size beyond which the paper left packets out of its model.
const mostModel = 100
