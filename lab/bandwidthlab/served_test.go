package bandwidthlab

import (
	"math"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/world"
)

// ArenaGame is the arena with what is within reach in view.
func ArenaGame(reach float64) *Game {
	return &Game{
		Gameplay: lab.Gameplay{
			Game: arena.Game,
			Settings: func(_ int, seed uint64) world.Settings {
				s, _ := arena.Settings("foundry", arena.Options{Seed: seed, Secret: seed + 1, Kills: -1, Time: -1}) // it is always there
				return s
			},
			Interest: clientserver.Interest{
				Rules: &interest.Rules{Sources: []interest.Source{&interest.Owned{Weight: 4}, &interest.Always{Weight: 0.5}, &interest.Radius{Enter: reach}}},
				Parts: arena.Traits(),
				Observe: func(w *world.World, p world.Player, o *interest.Observer) {
					for id, f := range world.All[arena.Fighter](w) {
						if w.Owner(id) == p {
							o.Pos = det.Vec3{X: f.Pos.X, Y: f.Pos.Y}
						}
					}
				},
			},
			Bot: func(seed uint64) lab.Bot {
				b := arena.NewBot(seed)
				return func(w *world.World, p world.Player, in *world.Inputs) error {
					if w == nil {
						return nil
					}
					return world.Give(in, p, b.Think(w, p))
				}
			},
		},
		Everyone: []string{"Sheet"}, Near: []string{"Fighter", "Shot"}, Body: "Fighter",
	}
}

// TestLate: when a way becomes longer all at once, commands come late until the client's clock has followed, and that is counted much as the server counts it, for which also those are missing that a clock which jumps leaves out.
func TestLate(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	way := func(int) time.Duration { return 20 * time.Millisecond }
	r, err := newServed(servedOptions{game: ArenaGame(arena.ViewReach), players: 2, seed: 3, up: way, down: way})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	r.net.Run(3 * time.Second)
	r.begin()
	before := r.server.Stats().Commands.Repeated
	r.net.SetPath(r.guests[0].end, r.end, netsim.Profile{Latency: 120 * time.Millisecond})
	r.net.Run(5 * time.Second)
	if r.err != nil {
		t.Fatal(r.err)
	}
	repeated := int(r.server.Stats().Commands.Repeated - before)
	if repeated == 0 || math.Abs(float64(r.late-repeated)) > 0.3*float64(repeated) || r.made < 2*290 {
		t.Errorf("%d of %d commands counted as late, the server had to make up %d", r.late, r.made, repeated)
	}
}

// TestHome: every mirror has its share of the clients.
func TestHome(t *testing.T) {
	for n := 1; n <= MaxClients; n++ {
		for m := 1; m <= n; m++ {
			count := make([]int, m)
			for c := range n {
				count[home(c, n, m)]++
			}
			for _, k := range count {
				if k < n/m || k > (n+m-1)/m {
					t.Fatalf("%d clients on %d mirrors: %v", n, m, count)
				}
			}
		}
	}
}
