package all_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/lab/tunnel/between"
	"github.com/coeval-dev/coeval/world"
)

// live brings a match to where a person may play.
func live(t *testing.T, a *tunnel.Architecture, players int, seed uint64) *tunnel.Live {
	t.Helper()
	s, err := lab.NewSubject(pong.Title, "", players)
	if err != nil {
		t.Fatal(err)
	}
	f, err := tunnel.ParseField("cable")
	if err != nil {
		t.Fatal(err)
	}
	l, err := tunnel.NewLive(tunnel.Setup{Subject: s, Arch: a, Field: f, Players: players,
		Seed: seed, Warm: 4 * time.Second, Time: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for !l.Ready() {
		if err := l.Pass(20 * time.Millisecond); err != nil || l.Passed() > 30*time.Second {
			t.Fatalf("%s, seed %d: nobody plays after %v: %v", a.Name, seed, l.Passed(), err)
		}
	}
	return l
}

// A person is the first player of any architecture, in a game that is as old as that of any other;
// is shown each tick as it comes and asked for a command for it; and what is measured is theirs.
func TestLive(t *testing.T) {
	list := []string{"coeval", "quake", "lockstep", "packetserver", "mirrors-trailing"}
	if os.Getenv("COEVAL_SOAK") != "" {
		list = nil
		for _, a := range tunnel.Architectures() {
			list = append(list, a.Name)
		}
		list = slices.DeleteFunc(list, func(name string) bool { return name == "halflife" })
	}
	for _, name := range list {
		t.Run(name, func(t *testing.T) {
			a, err := tunnel.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			l := live(t, a, 3, 9)
			defer l.Close()
			if l.Me() != 1 {
				t.Errorf("the person is player %d", l.Me())
			}
			asked, bot := 0, pong.Title.NewBot(1)
			l.Take(func(w *world.World, me world.Player, at world.Tick, in *world.Inputs) error {
				asked++
				return bot(w, me, at, in)
			})
			var f game.Frame
			var first, last world.Tick
			for i := range 120 {
				if err := l.Pass(time.Second / 60); err != nil {
					t.Fatal(err)
				}
				if !l.Frame(&f) {
					t.Fatal("nothing is shown")
				}
				if last = f.World.Tick(); i == 0 {
					first = last
				}
			}
			if rate := world.Tick(pong.Title.Game.Rate()); first < 4*rate || first > 4*rate+rate/2 {
				t.Errorf("it is shown from tick %d on", first)
			}
			if last < first+100 || asked < 100 {
				t.Errorf("ticks %d to %d were shown, and %d commands asked for", first, last, asked)
			}
			figures, err := l.Leave()
			if err != nil || figures["own_ms"] > 150 || figures["others_ms"] < 20 {
				t.Errorf("%v: %v", err, figures)
			}
		})
	}
}

// The rates of rollbacks are those that were asked for, and each goes back as far.
func TestRate(t *testing.T) {
	for _, want := range []float64{0, 2} {
		a, err := between.AtRate(want, 100*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		rate, deepest := 0.0, 0.0
		for seed := range uint64(2) {
			l := live(t, &a, 4, seed)
			l.Take(pong.Title.NewBot(seed))
			var f game.Frame
			for range 120 {
				if err := l.Pass(time.Second / 60); err != nil {
					t.Fatal(err)
				}
				l.Frame(&f)
			}
			figures, err := l.Leave()
			if err != nil {
				t.Fatal(err)
			}
			rate += figures["rollbacks"] / 2
			deepest = max(deepest, figures["rollback_deepest"])
			l.Close()
		}
		t.Logf("asked for %v, %v rollbacks a second, by up to %v ticks", want, rate, deepest)
		if rate < 0.7*want || rate > 1.4*want || want > 0 && (deepest < 5 || deepest > 8) {
			t.Errorf("asked for %v, %v rollbacks a second, by up to %v ticks", want, rate, deepest)
		}
	}
}
