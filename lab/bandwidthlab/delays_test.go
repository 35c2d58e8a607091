package bandwidthlab

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const threeCities = "# by ping\nfrom,London,Paris,Oslo\nLondon,0,8,24\nParis,8,,29.5\nOslo,24,29.5,0\n"

func TestReadDelays(t *testing.T) {
	d, err := ReadDelays(strings.NewReader(threeCities))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(d.Places) != "[London Paris Oslo]" || d.Way[0][2] != 12*time.Millisecond ||
		d.Way[2][1] != 14750*time.Microsecond || d.Way[1][1] != 0 {
		t.Errorf("%+v", d)
	}
	if w := d.Warnings(); len(w) != 0 {
		t.Errorf("warned: %v", w)
	}
}

func TestBadDelays(t *testing.T) {
	for _, x := range []struct{ name, text, says string }{
		{"empty", "", "the file is empty"},
		{"one place", "from,London\nLondon,0\n", "there must be 2 to 64"},
		{"too many", "from" + strings.Repeat(",x", 65), "there must be 2 to 64"},
		{"no name", "from,London,\n", "has no name"},
		{"twice", "from,London,london\n", "name of its own"},
		{"line missing", "from,A,B\nA,0,1\n", "not square: 1 lines for 2 places"},
		{"line too many", "from,A,B\nA,0,1\nB,1,0\nC,1,1\n", "not square: there are more lines"},
		{"cell missing", "from,A,B\nA,0\nB,1,0\n", "not square: A has 1 delays"},
		{"order", "from,A,B\nB,1,0\nA,0,1\n", "keep the order"},
		{"words", "from,A,B\nA,0,far\nB,1,0\n", "is no number"},
		{"hole", "from,A,B\nA,0,\nB,1,0\n", "is no number"},
		{"nan", "from,A,B\nA,0,NaN\nB,1,0\n", "is no number"},
		{"negative", "from,A,B\nA,0,-3\nB,1,0\n", "nothing arrives before it is sent"},
		{"for ever", "from,A,B\nA,0,Inf\nB,1,0\n", "microseconds"},
		{"from itself", "from,A,B\nA,4,1\nB,1,0\n", "put 0 on the diagonal"},
		{"quotes", "from,A,\"B\nA,0,1\n", "write CSV"},
	} {
		_, err := ReadDelays(strings.NewReader(x.text))
		if !errors.Is(err, ErrDelays) || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v, want something with %q", x.name, err, x.says)
		}
	}
	bad := &Delays{Places: []string{"A", "B"}, Way: [][]time.Duration{{0, -1}, {0, 0}}}
	if err := bad.Check(); !errors.Is(err, ErrDelays) {
		t.Errorf("below zero: %v", err)
	}
}

func TestDetour(t *testing.T) {
	d, err := ReadDelays(strings.NewReader("from,A,B,C\nA,0,200,20\nB,30,0,30\nC,20,30,0\n"))
	if err != nil {
		t.Fatal(err)
	}
	w := d.Warnings()
	if len(w) != 1 ||
		!strings.Contains(w[0], "from A to B takes 100.0 ms one way, and over C only 25.0 ms") {
		t.Errorf("warned: %q", w)
	}
	if w := Cities().Warnings(); len(w) != 0 {
		t.Errorf("of the cities: %q", w)
	}
}

func TestCities(t *testing.T) {
	d := Cities()
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
	for i := range d.Places {
		for j := range d.Places {
			if d.Way[i][j] != d.Way[j][i] || i != j && d.Way[i][j] < 5*time.Millisecond {
				t.Errorf("%s to %s takes %v and back %v", d.Places[i], d.Places[j], d.Way[i][j],
					d.Way[j][i])
			}
		}
	}
	c, err := d.Choose([]string{"tokyo", "sao paulo", "Virginia"})
	if err != nil || c.Places[1] != "São Paulo" || c.Way[0][1] != 135*time.Millisecond ||
		c.Way[2][1] != 60*time.Millisecond {
		t.Errorf("%+v, %v", c, err)
	}
	for _, x := range []struct{ names, says string }{
		{"London,Atlantis", `no city "Atlantis"; there are California`}, {"London", "name two"}, {
			"London,london", "name of its own"}} {
		if _, err := d.Choose(strings.Split(x.names, ",")); err == nil ||
			!strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v", x.names, err)
		}
	}
}

// drawDelays makes any possible set of delays.
func drawDelays(t *rapid.T, most int) *Delays {
	n := rapid.IntRange(2, most).Draw(t, "places")
	return shapeOf(n, func(i, j int) time.Duration {
		return time.Duration(rapid.IntRange(0, 300).Draw(t, "way")) * time.Millisecond
	})
}

func shapeOf(n int, way func(i, j int) time.Duration) *Delays {
	d := shape(n, func(int, int) int { return 0 }, func(i int) string { return fmt.Sprint("p", i) })
	for i := range n {
		for j := range n {
			if i != j {
				d.Way[i][j] = way(i, j)
			}
		}
	}
	return d
}

// TestMedoids: no choice is better, and exchanging, for sets too large to try all, is never far off
// and cannot be improved by one exchange.
func TestMedoids(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDelays(t, 8)
		all := upTo(len(d.Places))
		k := rapid.IntRange(1, len(all)).Draw(t, "k")
		best := d.Medoids(all, all, k)
		if len(best) != k {
			t.Fatalf("%d of %d", len(best), k)
		}
		least := d.spread(all, best)
		for set := range 1 << len(all) {
			var list []int
			for i := range all {
				if set>>i&1 == 1 {
					list = append(list, i)
				}
			}
			if len(list) == k && d.spread(all, list) < least {
				t.Fatalf("%v costs %v, %v only %v", best, least, list, d.spread(all, list))
			}
		}
		quick := d.exchange(all, all, k)
		if len(quick) != k || d.spread(all, quick) < least {
			t.Fatalf("exchanged: %v", quick)
		}
		for out := range quick {
			for _, in := range all {
				try := append([]int(nil), quick...)
				try[out] = in
				if d.spread(all, try) < d.spread(all, quick) {
					t.Fatalf("%v is better than %v", try, quick)
				}
			}
		}
	})
	many := shapeOf(40,
		func(i, j int) time.Duration { return time.Duration((i-j)*(i-j)) * time.Millisecond })
	if c := choices(40, 12); c <= 200_000 {
		t.Fatalf("%d choices", c)
	}
	if got := many.Medoids(upTo(40), upTo(40), 12); len(got) != 12 {
		t.Errorf("%v", got)
	}
}

// TestPathsByHand: the topologies of the paper's Figure 2.5.
func TestPathsByHand(t *testing.T) {
	const tick = 16 * time.Millisecond
	list := Topologies(Cities(), 0)
	if len(list) != 4 {
		t.Fatalf("%d topologies", len(list))
	}
	star, far, two := &list[0], &list[1], &list[2]
	for i := range star.Players {
		for j := range star.Players {
			// What the paper says of a star: server and peers are alike.
			if i != j && star.Path(ClientServer, i, j) != star.Path(PeerToPeer, i, j) {
				t.Errorf("star, %d to %d: %v and %v", i, j, star.Path(ClientServer, i, j),
					star.Path(PeerToPeer, i, j))
			}
		}
	}
	for _, x := range []struct {
		what      string
		got, want time.Duration
	}{
		{"star, 1 to 2", star.Path(ClientServer, 0, 1), (10 + 13) * time.Millisecond},
		{"star, 1 to 2, computed", star.Computed(ClientServer, 0, 1, tick),
			(23 + 48) * time.Millisecond},
		{"star, 1 to 2, peers computed", star.Computed(PeerToPeer, 0, 1, tick),
			(23 + 8) * time.Millisecond},
		{"distant, server", far.Path(ClientServer, 0, 1), 200 * time.Millisecond},
		{"distant, peers", far.Path(PeerToPeer, 0, 1), 10 * time.Millisecond},
		// Mirrors stand at homes 1 to 3; the rest go to the first.
		{"distant, both at mirrors", far.Path(Mirrored, 0, 1), 10 * time.Millisecond},
		{"distant, neither at a mirror", far.Path(Mirrored, 3, 4), 20 * time.Millisecond},
		{"distant, within a tick", far.Computed(Mirrored, 0, 1, tick), 48 * time.Millisecond},
		{"clusters, server", two.Path(ClientServer, 7, 8), 120 * time.Millisecond},
		{"clusters, mirrored, same side", two.Path(Mirrored, 7, 8), 10 * time.Millisecond},
		{"clusters, mirrored, across", two.Path(Mirrored, 1, 7), 70 * time.Millisecond},
		// 60 ms begin four ticks, three of them beyond the one that commands are early.
		{"clusters, mirrored, across, computed", two.Computed(Mirrored, 1, 7, tick),
			(10 + 48 + 48) * time.Millisecond},
	} {
		if x.got != x.want {
			t.Errorf("%s: %v, want %v", x.what, x.got, x.want)
		}
	}
}

func TestLatencySummary(t *testing.T) {
	p := newPairs(3)
	for k, ms := range []int{10, 20, 30, 40, 50, 60} {
		i, j := k/2, (k/2+1+k%2)%3
		p.add(i, j, time.Duration(ms-5)*time.Millisecond)
		p.add(i, j, time.Duration(ms+5)*time.Millisecond)
	}
	l := p.latency(func(i int) string { return string(rune('A' + i)) })
	if l.Mean != 35 || l.Median != 35 || l.P95 != 60 || l.Worst != 60 || l.From != "C" ||
		l.To != "B" || l.Samples != 12 || l.SampleP95 != 65 {
		t.Errorf("%+v", l)
	}
}

func FuzzReadDelays(f *testing.F) {
	f.Add(threeCities)
	f.Add("from,A,B\nA,0,200\nB,1e3,0\n")
	f.Add("from,A,B\nA,0\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ReadDelays(strings.NewReader(text))
		if err != nil {
			if !errors.Is(err, ErrDelays) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		if err := d.Check(); err != nil {
			t.Fatal(err)
		}
		d.Warnings()
		for _, x := range Topologies(d, 2) {
			if len(x.Mirrors) != 2 || x.Path(Mirrored, 0, 1) < 0 {
				t.Fatalf("mirrors at %v", x.Mirrors)
			}
		}
	})
}
