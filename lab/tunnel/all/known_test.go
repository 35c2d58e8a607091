package all_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/tunnel"
	_ "github.com/coeval-dev/coeval/lab/tunnel/all"
)

// play runs a trial of a few seconds.
func play(t *testing.T, title *game.Title, arch, field string, players int,
	change func(*tunnel.Setup)) *tunnel.Sample {
	t.Helper()
	s, err := lab.NewSubject(title, "", players)
	if err != nil {
		t.Fatal(err)
	}
	a, err := tunnel.Lookup(arch)
	if err != nil {
		t.Fatal(err)
	}
	f, err := tunnel.ParseField(field)
	if err != nil {
		t.Fatal(err)
	}
	setup := tunnel.Setup{Subject: s, Arch: a, Field: f, Players: players, Seed: 1,
		Warm: time.Second, Time: 4 * time.Second}
	if change != nil {
		change(&setup)
	}
	r, err := tunnel.Play(context.Background(), setup, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Ticks < 100 {
		t.Fatalf("%s on %s: only %d ticks were compared", arch, field, r.Ticks)
	}
	return r
}

// TestPerfect: on a perfect network every architecture agrees with the oracle, in the whole world
// at each tick, and shows what is true; but for those that show others as they were.
func TestPerfect(t *testing.T) {
	late := []string{"quake", "quakeworld", "quake2", "quake3", "halflife"}
	for _, a := range tunnel.Architectures() {
		t.Run(a.Name, func(t *testing.T) {
			if a.Name == "halflife" {
				return // nothing in pong can be rewound
			}
			r := play(t, pong.Title, a.Name, "perfect", 2, func(s *tunnel.Setup) {
				s.Exact, s.Warm = true, 6*time.Second
			})
			if slices.Contains(late, a.Name) {
				return
			}
			if r.Apart > 0 {
				t.Errorf("in %d of %d ticks the world is another", r.Apart, r.Ticks)
			}
			if v := r.Figures["commands_late"]; v > 0 {
				t.Errorf("%.2f %% of commands are late", v)
			}
		})
	}
}

// TestLockstepAgrees: lock step shows nothing but the truth, whatever the network.
func TestLockstepAgrees(t *testing.T) {
	for _, field := range []string{"wifi", "lte loss=5%"} {
		r := play(t, arena.Title, "lockstep", field, 3, nil)
		for _, key := range []string{"off_others_max", "off_own_mean", "events_taken",
			"events_wrong", "commands_late", "corrections", "rollbacks"} {
			if v := r.Figures[key]; v != 0 {
				t.Errorf("%s: %s is %v", field, key, v)
			}
		}
	}
}

// TestPeersGrowWithTheSquare: what all peers send grows with how many pairs there are, and what a
// server receives with how many players.
func TestPeersGrowWithTheSquare(t *testing.T) {
	sent := func(arch string, players int) float64 {
		return float64(players) * play(t, arena.Title, arch, "cable", players,
			nil).Figures["client_up"]
	}
	if ratio, want := sent("lockstep", 6)/sent("lockstep", 2), 15.0; math.Abs(ratio/want-1) > 0.15 {
		t.Errorf("of 2 and 6 peers, who are 1 and 15 pairs, the second send %.1f times as much",
			ratio)
	}
	if ratio, want := sent("coeval", 6)/sent("coeval", 2), 3.0; math.Abs(ratio/want-1) > 0.15 {
		t.Errorf("of 2 and 6 clients the second send %.1f times as much", ratio)
	}
}

// TestSameSeed: the same seed gives the same sample.
func TestSameSeed(t *testing.T) {
	for _, arch := range []string{"coeval", "rollback", "mirrors-auto"} {
		a, b := play(t, pong.Title, arch, "wifi@atlantic", 2, nil),
			play(t, pong.Title, arch, "wifi@atlantic", 2, nil)
		if a.Digest != b.Digest || !equal(a.Figures, b.Figures) {
			t.Errorf("%s: two runs of one seed differ: %v and %v", arch, a.Figures, b.Figures)
		}
	}
}

func equal(a, b map[string]float64) bool {
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return len(a) == len(b)
}

// TestRecovers: who was cut off for two seconds soon sees the truth again, and nobody else has to
// wait for it where there are servers. A client's clock must not take what was late meanwhile, or
// how long it took to reach another server, for the length of the way.
func TestRecovers(t *testing.T) {
	for arch, field := range map[string]string{"coeval": "atlantic", "mirrors-trailing": "cable"} {
		r := play(t, arena.Title, arch, field, 3, func(s *tunnel.Setup) { s.Cut = tunnel.Cut })
		if ms := r.Figures["fault_ms"]; ms > 1500 {
			t.Errorf("%s on %s: it takes %.0f ms", arch, field, ms)
		}
		if ms := r.Figures["fault_others_ms"]; ms > 50 {
			t.Errorf("%s on %s: others stand still for %.0f ms", arch, field, ms)
		}
	}
}
