package tunnel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWorst: the worst stay, whatever the order in which they come; what belongs together is one;
// and no more are kept than asked for.
func TestWorst(t *testing.T) {
	var all []Incident
	for i := range 40 {
		all = append(all, Incident{Kind: ShownOff, Player: 1 + i%2, Other: 3, At: float64(i),
			Bad: float64(i % 20)})
	}
	// These belong to the worst of the first player, and are less bad.
	all = append(all, Incident{Kind: ShownOff, Player: 2, Other: 3, At: 19.2, Bad: 18.5},
		Incident{Kind: ShownOff, Player: 2, Other: 3, At: 18.8, Bad: 18.6},
		Incident{Kind: HitDenied, Player: 2, Other: 3, At: 19.1, Bad: 2})
	const seed = 5
	r := rand.New(rand.NewPCG(seed, seed))
	for range 20 {
		x := worst{most: 3, of: map[IncidentKind][]Incident{}}
		r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		for _, i := range all {
			x.add(i)
		}
		got := x.all()
		var at []float64
		for _, i := range got {
			at = append(at, i.At)
		}
		if want := []float64{19, 39, 18, 19.1}; !slices.Equal(at, want) {
			t.Fatalf("seed %d: kept are those at %v, want %v", seed, at, want)
		}
	}
}

// TestWorstCommands: for each architecture there is the worst of each kind, of any network and
// seed, with a command that a shell takes.
func TestWorstCommands(t *testing.T) {
	r := made()
	r.Warm, r.Open, r.Seed = 5, true, 1
	r.Game, r.Cells[3].Field = "it's", "latency=40ms loss=1%"
	r.Cells[0].Samples[1].Incidents = []Incident{{Kind: ShownOff, Player: 1, Bad: 2, At: 3.25}}
	r.Cells[3].Samples[2].Incidents = []Incident{{Kind: ShownOff, Player: 2, Other: 4, Bad: 4},
		{Kind: StoodStill, Player: 2, Bad: 100}}
	list := r.Worst("coeval")
	if len(list) != 2 || list[0].Bad != 4 || list[0].Arch != "server" || list[0].Seed != 2 {
		t.Fatalf("%+v", list)
	}
	want := `coeval lab incident --game 'it'\''s' --map one --architecture server --network ` +
		`'latency=40ms loss=1%' --players 4 --seed 2 --time 20s --warm 5s --open --recorded 1 ` +
		`--kind off --out off.html`
	if list[0].Command != want {
		t.Errorf("the command is\n%s, want\n%s", list[0].Command, want)
	}
}
