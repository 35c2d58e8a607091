package all_test

import (
	"context"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/knob"
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
	if r.Ticks < 40 {
		t.Fatalf("%s on %s: only %d ticks were compared", arch, field, r.Ticks)
	}
	return r
}

// soak says whether to try all there is.
func soak() bool { return os.Getenv("COEVAL_SOAK") != "" }

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

// TestSolo: at one machine everything is true at once, whatever the network would be.
func TestSolo(t *testing.T) {
	for _, title := range []*game.Title{pong.Title, arena.Title} {
		r := play(t, title, "solo", "awful", 2, func(s *tunnel.Setup) { s.Exact = true })
		if r.Apart > 0 {
			t.Errorf("%s: in %d of %d ticks the world is another", title.Name(), r.Apart, r.Ticks)
		}
		for _, key := range []string{"off_others_max", "off_own_mean", "truth_off_mean",
			"events_taken", "events_wrong", "commands_late", "corrections", "rollbacks", "own_ms",
			"others_ms", "server_ms", "still", "hits_denied", "hits_unseen"} {
			if v := r.Figures[key]; v != 0 {
				t.Errorf("%s: %s is %v", title.Name(), key, v)
			}
		}
		if _, measured := r.Figures["own_ms"]; !measured {
			t.Errorf("%s: nobody commanded anything", title.Name())
		}
	}
}

// TestTrailing: trailing state synchronization whose leading world waits for longer than the
// longest path takes, with all of its jitter, never has to roll back. With less it does.
func TestTrailing(t *testing.T) {
	const field, players = "cable@atlantic", 3
	f, err := tunnel.ParseField(field)
	if err != nil {
		t.Fatal(err)
	}
	var far time.Duration
	mirrors := f.Servers(3, players)
	for _, a := range mirrors {
		for _, b := range mirrors {
			p := f.Path(a, b).Up
			far = max(far, p.Latency+3*p.Jitter.Amount) // of a normal distribution, nearly all
		}
	}
	// A command waits for up to half a tick before it is passed on, and mirrors agree on the time
	// within some milliseconds.
	tick := arena.Title.Game.TickLength()
	repairs := []string{"at-once"}
	if soak() {
		repairs = append(repairs, "trails", "everything", "places")
	}
	for _, repair := range repairs {
		rolled := func(lead time.Duration) float64 {
			r := play(t, arena.Title, "mirrors-trailing", field, players, func(s *tunnel.Setup) {
				s.Time = 2 * time.Second
				s.Values = knob.Values{"lead": lead.Round(time.Millisecond).String(),
					"trail": "300ms", "window": "800ms", "repair": repair}
			})
			n := r.Figures["rollbacks"]
			t.Logf("%s, a lead of %v where the longest path takes %v: %.2f rollbacks a second, up "+
				"to %.0f ticks", repair, lead, far, n, r.Figures["rollback_deepest"])
			return n
		}
		if n := rolled(far + 2*tick); n != 0 {
			t.Errorf("%s: with a lead beyond the longest path there are rollbacks", repair)
		}
		if n := rolled(far / 2); n == 0 {
			t.Errorf("%s: with a lead of half the longest path there is no rollback", repair)
		}
	}
}

// TestDefaults: a knob that is set to its default changes nothing, of any architecture; and of each
// there are some that can be declared so.
func TestDefaults(t *testing.T) {
	played := []string{"halflife", "rollback", "packetserver", "mirrors-lockstep"}
	for _, a := range tunnel.Architectures() {
		t.Run(a.Name, func(t *testing.T) {
			s, err := lab.NewSubject(arena.Title, "", 2)
			if err != nil {
				t.Fatal(err)
			}
			f, err := tunnel.ParseField("wifi@atlantic")
			if err != nil {
				t.Fatal(err)
			}
			list := a.KnobsOn(tunnel.Course{Subject: s, Fields: []*tunnel.Field{f}, Players: 2})
			if err := knob.Check(list); err != nil {
				t.Error(err)
			}
			if a.Knobs == nil || !slices.Contains(played, a.Name) && !soak() {
				return
			}
			short := func(v knob.Values) *tunnel.Sample {
				return play(t, arena.Title, a.Name, "wifi@atlantic", 2, func(s *tunnel.Setup) {
					s.Values, s.Time = v, time.Second
				})
			}
			if x, y := short(nil), short(knob.Defaults(list)); x.Digest != y.Digest ||
				!equal(x.Figures, y.Figures) {
				t.Errorf("%v is not the default", knob.Defaults(list))
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

// TestSeries: what is told step by step adds up to what is told of the whole, for all and for each
// player.
func TestSeries(t *testing.T) {
	r := play(t, arena.Title, "coeval", "lte", 3, nil)
	mean := func(list []float64) (sum float64) {
		for _, v := range list {
			sum += v / float64(len(list))
		}
		return sum
	}
	if r.Series.Step != 1 || len(r.Series.Players) != 3 {
		t.Fatalf("steps of %v s for %d players", r.Series.Step, len(r.Series.Players))
	}
	for _, key := range []string{"client_down", "corrections", "still", "rollbacks"} {
		got, want := mean(r.Series.All[key]), r.Figures[key]
		if len(r.Series.All[key]) != 4 || math.Abs(got-want) > 0.001*math.Abs(want)+1e-3 {
			t.Errorf("%s: %v come to %v, and the whole is %v", key, r.Series.All[key], got, want)
		}
		sum := 0.0
		for _, p := range r.Series.Players {
			sum += mean(p[key]) / 3
		}
		if math.Abs(sum-got) > 0.001*math.Abs(got)+1e-3 {
			t.Errorf("%s: players come to %v, and all to %v", key, sum, got)
		}
	}
	// As many bodies are seen in each step, about.
	if got, want := mean(r.Series.All["off_others_mean"]),
		r.Figures["off_others_mean"]; want == 0 || math.Abs(got/want-1) > 0.1 {
		t.Errorf("others are off by %v step by step, and by %v in all", got, want)
	}
}

// TestIncidents: each axis that counts something has its incidents, at instants that were measured.
func TestIncidents(t *testing.T) {
	r := play(t, arena.Title, "quake3", "lte", 4, func(s *tunnel.Setup) { s.Time *= 2 })
	of := map[tunnel.IncidentKind]int{}
	for _, i := range r.Incidents {
		of[i.Kind]++
		if i.At < 0 || i.At >= r.Seconds || i.Player < 1 || i.Player > 4 || i.Other == i.Player ||
			i.Other > 4 || i.Bad < 0 {
			t.Errorf("%+v", i)
		}
		if i.Kind == tunnel.ShownOff && i.Bad > r.Figures["off_others_max"]+1e-6 {
			t.Errorf("%+v, and others were off by %v at most", i, r.Figures["off_others_max"])
		}
	}
	for kind, key := range map[tunnel.IncidentKind]string{tunnel.ShownOff: "off_others_max",
		tunnel.HitDenied: "hits_denied", tunnel.HitUnseen: "hits_unseen",
		tunnel.DeathCovered: "deaths_covered", tunnel.EventTaken: "events_taken",
		tunnel.Corrected: "corrections"} {
		if (of[kind] > 0) != (r.Figures[key] > 0) || of[kind] > 3 {
			t.Errorf("there are %d of %s, and %s is %v", of[kind], kind, key, r.Figures[key])
		}
	}
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
