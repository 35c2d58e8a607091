package bandwidthlab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/lab/bandwidthlab"
)

func options() bandwidthlab.Options {
	cities, err := bandwidthlab.Cities().Choose([]string{"London", "Virginia", "Tokyo", "Sydney"})
	if err != nil {
		panic(err)
	}
	return bandwidthlab.Options{
		Title: arena.Title, Level: "foundry", Clients: []int{4, 1, 2, 9}, PerMirror: 3,
		Time: 3 * time.Second, Warm: 3 * time.Second, Exchange: time.Second,
		Latency: 2 * time.Second, Cities: cities, Mirrors: 2, Seed: 5,
	}
}

func measure(t *testing.T, o bandwidthlab.Options) *bandwidthlab.Result {
	t.Helper()
	r, err := bandwidthlab.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func close(a, b, share float64) bool { return math.Abs(a-b) <= share*max(math.Abs(a), math.Abs(b)) }

// TestRun: what is measured hangs together.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	o := options()
	last := 0.0
	o.Progress = func(done float64, what string) {
		if done < last || done > 1.0001 || what == "" {
			t.Errorf("progress goes from %v to %v, %q", last, done, what)
		}
		last = done
	}
	r := measure(t, o)
	if last < 0.999 {
		t.Errorf("at the end %v of the work is done", last)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	for i, s := range r.Served {
		n := []int{1, 2, 4, 9}[i]
		if s.Clients != n || s.Command <= 0 || s.UpdateLeast > s.Update || s.UpdateMost < s.Update {
			t.Errorf("%+v", s)
		}
		// The two ends of the network count alike, but for what is on its way, and the ledger has
		// it all.
		if !close(s.Update*float64(n), s.ServerOut, 0.02) ||
			!close(s.Command*float64(n), s.ServerIn, 0.02) ||
			!close((s.C+s.DPart+s.EPart)*float64(n), s.ServerOut, 1e-9) {
			t.Errorf("%d clients: %v to each, the server sent %v, the ledger has %v, %v and %v", n,
				s.Update, s.ServerOut, s.C, s.DPart, s.EPart)
		}
		if bodies := 1 + s.Alpha*float64(n-1); n > 1 &&
			(s.Alpha <= 0 || s.Alpha > s.InView || s.InView > 1 ||
				s.E*bodies < s.EPart*(1-1e-9)) {
			t.Errorf("%d clients: alpha %v, in view %v, e %v of %v", n, s.Alpha, s.InView, s.E,
				s.EPart)
		}
		if s.Late > 0.05 {
			t.Errorf("%d clients: %v of the commands came late", n, s.Late)
		}
	}
	if r.Line.Slope <= 0 || r.Variables.DE != r.Line.Slope || r.Variables.C != r.Line.Intercept {
		t.Errorf("%+v, %+v", r.Line, r.Variables)
	}
	if r.Command.Packet < 20 || r.Command.Each < 3 || r.Command.B(8, 2, 60) >= r.Variables.B {
		t.Errorf("%+v", r.Command)
	}
	mirrors := map[int]int{}
	for _, c := range r.Compared {
		if c.Architecture == bandwidthlab.Mirrored {
			mirrors[c.Clients] = c.Mirrors
		}
		checkSums(t, &c)
	}
	if want := map[int]int{1: 1, 2: 2, 4: 2, 9: 3}; !maps.Equal(mirrors, want) {
		t.Errorf("mirrors by clients: %v, want %v", mirrors, want)
	}
	checkLatencies(t, r)
	checkPlot(t, r.Plot().SVG())
}

// checkSums: what single machines carry adds up to what all do.
func checkSums(t *testing.T, c *bandwidthlab.Comparison) {
	n, m, r := float64(c.Clients), float64(c.Mirrors), &c.Measured
	same := func(what string, a, b float64) {
		if !close(a, b, 0.02) || c.Clients > 1 && a <= 0 {
			t.Errorf("%s, %d clients, %s: %v and %v", c.Architecture, c.Clients, what, a, b)
		}
	}
	switch c.Architecture {
	case bandwidthlab.ClientServer:
		same("clients and server", r.TotalClient*n, r.TotalServer)
	case bandwidthlab.PeerToPeer:
		same("sent by peers", r.ClientOut*n, r.Public)
		same("received by peers", r.ClientIn*n, r.Public)
	case bandwidthlab.Mirrored:
		same("sent by mirrors", r.MirrorOut*m, r.Private)
		same("received by mirrors", r.MirrorIn*m, r.Private)
		same("clients and mirrors", (r.ServerIn+r.ServerOut)*m, r.Public)
		same("all of a mirror", r.TotalServer*m, r.Public+2*r.Private)
	}
}

// checkLatencies: what is measured is what was computed, to a tick; and the paper's expectations of
// Figure 2.5 are met.
func checkLatencies(t *testing.T, r *bandwidthlab.Result) {
	mean := map[string]float64{}
	for _, x := range r.Topologies {
		mean[x.Topology+" "+string(x.Architecture)] = x.Measured.Mean
		if x.Measured.Samples == 0 || x.Path.Mean >= x.Computed.Mean ||
			math.Abs(x.Measured.Mean-x.Computed.Mean) > 1000.0/60 {
			t.Errorf("%s, %s: the path takes %.1f ms, computed %.1f, measured %.1f from %d commands", x.Topology, x.Architecture, x.Path.Mean, x.Computed.Mean, x.Measured.Mean, x.Measured.Samples)
		}
		if (x.Architecture == bandwidthlab.Mirrored) != (len(x.Servers) == 2) {
			t.Errorf("%s, %s: servers at %v", x.Topology, x.Architecture, x.Servers)
		}
	}
	if len(mean) != 12 {
		t.Errorf("%d rows", len(mean))
	}
	for _, name := range []string{"distant server", "two clusters"} {
		if p, m, s := mean[name+" peer-to-peer"], mean[name+" mirrored"],
			mean[name+" client-server"]; !(p < m && m < s) {
			t.Errorf("%s: peers %.1f ms, mirrors %.1f, a server %.1f", name, p, m, s)
		}
	}
	for _, x := range r.Topologies {
		if want := map[bandwidthlab.Architecture]float64{
			bandwidthlab.ClientServer: 200,
			bandwidthlab.Mirrored:     20 * 10.0 / 12}; x.Topology == "distant server" &&
			math.Abs(x.Home-want[x.Architecture]) > 1e-9 {
			t.Errorf("distant server, %s: %v ms to the own server and back", x.Architecture, x.Home)
		}
	}
}

func checkPlot(t *testing.T, svg []byte) {
	d := xml.NewDecoder(bytes.NewReader(svg))
	shapes := map[string]int{}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := tok.(xml.StartElement); ok {
			shapes[e.Name.Local]++
		}
	}
	if shapes["circle"] != 4+3*4 || shapes["rect"] != 1+12 {
		t.Errorf("the plot has %v", shapes)
	}
	if bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) {
		t.Error("the plot has places that are nowhere")
	}
}

// TestRepeats: the same seed gives the same figures to the last digit, another gives others; and
// the JSON has the names that scripts know.
func TestRepeats(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	if testing.Short() {
		t.Skip("three runs take their time")
	}
	o := options()
	o.Clients = []int{1, 3}
	text := func(o bandwidthlab.Options) string {
		b, err := json.Marshal(measure(t, o))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first := text(o)
	if again := text(o); again != first {
		t.Errorf("a second run went differently:\n%s\n%s", first, again)
	}
	o.Seed, o.BytesOnly = o.Seed+1, true
	if other := text(o); strings.Contains(other, "topologies") ||
		other[:strings.Index(other, "architectures")] == first[:strings.Index(first,
			"architectures")] {
		t.Errorf("with another seed, and without topologies:\n%s", other)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(first), &got); err != nil {
		t.Fatal(err)
	}
	if names, want := slices.Sorted(maps.Keys(flat("", got))),
		strings.Fields(jsonNames); !slices.Equal(names, want) {
		t.Errorf("the JSON has\n%s\nwant\n%s", strings.Join(names, "\n"), strings.Join(want, "\n"))
	}
}

// flat names all values of a JSON object; those of lists by their first element.
func flat(prefix string, v any) map[string]bool {
	out := map[string]bool{}
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			maps.Copy(out, flat(strings.TrimPrefix(prefix+"."+k, "."), x))
		}
	case []any:
		if _, object := first(v).(map[string]any); object {
			for _, x := range v {
				maps.Copy(out, flat(prefix+"[]", x))
			}
			return out
		}
		out[prefix+"[]"] = true
	default:
		out[prefix] = true
	}
	return out
}

func first(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func TestOptions(t *testing.T) {
	set := func(f func(o *bandwidthlab.Options)) bandwidthlab.Options {
		o := options()
		f(&o)
		return o
	}
	for _, x := range []struct {
		o    bandwidthlab.Options
		says string
	}{
		{set(func(o *bandwidthlab.Options) { o.Clients = []int{1, 65} }),
			"clients has 65: choose 1 to 64"},
		{set(func(o *bandwidthlab.Options) { o.Clients = []int{0, 2} }), "clients has 0"},
		{set(func(o *bandwidthlab.Options) { o.Clients = []int{4, 4} }),
			"two different numbers of clients"},
		{set(func(o *bandwidthlab.Options) { o.PerMirror = -1 }), "per-mirror is -1"},
		{set(func(o *bandwidthlab.Options) { o.Mirrors = 5 }), "mirrors is 5: choose 1 to 4"},
		{set(func(o *bandwidthlab.Options) { o.Time = time.Millisecond }), "time is 1ms"},
		{set(func(o *bandwidthlab.Options) { o.Cities.Way = o.Cities.Way[1:] }), "not square"},
		{set(func(o *bandwidthlab.Options) { o.Title = nil }), "no title to play"},
		{set(func(o *bandwidthlab.Options) { o.Title, o.Level = stack.Title, "" }),
			"title stack has no body"},
		{set(func(o *bandwidthlab.Options) { o.Level = "nowhere" }), `level "nowhere"`},
	} {
		if _, err := bandwidthlab.Run(t.Context(), x.o); err == nil ||
			!strings.Contains(err.Error(), x.says) {
			t.Errorf("%v, want something with %q", err, x.says)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := bandwidthlab.Run(ctx, options()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestInterest: with less in view, less is in updates, and they are smaller.
func TestInterest(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	o := options()
	o.Clients, o.BytesOnly = []int{2, 8}, true
	title := arena.Title.Clone()
	title.Sight = game.Sight{Reach: arena.ViewReach}
	o.Title = title
	wide := measure(t, o).Served[1]
	title = title.Clone()
	title.Sight.Reach = 4
	o.Title = title
	narrow := measure(t, o).Served[1]
	o.Everything = true
	if all := measure(t, o).Served[1]; all.InView != 1 || all.Update <= wide.Update {
		t.Errorf("with everything in view, %v of the others are; updates %v and %v", all.InView,
			all.Update, wide.Update)
	}
	if narrow.Alpha >= wide.Alpha || narrow.Update >= wide.Update {
		t.Errorf("alpha %v and %v, updates %v and %v", narrow.Alpha, wide.Alpha, narrow.Update,
			wide.Update)
	}
}

// TestCheck: traffic that is not as the model says is an error.
func TestCheck(t *testing.T) {
	r := &bandwidthlab.Result{Compared: []bandwidthlab.Comparison{
		{Architecture: bandwidthlab.ClientServer, Clients: 2, Ratio: bandwidthlab.Rates{Public: 9}},
		{Architecture: bandwidthlab.Mirrored, Clients: 2, Commands: 119,
			Counted: bandwidthlab.Rates{Private: 100}},
	}}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	r.Compared[1].Commands = 121
	if err := r.Check(); err == nil ||
		!strings.Contains(err.Error(), "between mirrors is 1.21 times") {
		t.Error(err)
	}
}
