package peerlab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/peerlab"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/world"
)

// bundled are all titles that come with the program.
var bundled = []*game.Title{arena.Title, crowd.Title, pong.Title, stack.Title}

func subject(t testing.TB, title *game.Title, players int) *lab.Subject {
	s, err := lab.NewSubject(title, "", players)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStyles has what is said of a match be what it should: the input of one's own after the delay,
// that of others after the path, equal worlds, and bytes that add up. The same run gives the same.
func TestStyles(t *testing.T) {
	o := peerlab.Options{Title: pong.Title, Time: 3 * time.Second, Warm: time.Second, Seed: 3,
		Styles: peerlab.Styles()}
	r, err := peerlab.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil || len(r.Rows) != len(peerlab.Styles()) {
		t.Fatalf("%v, %d styles", err, len(r.Rows))
	}
	for _, x := range r.Rows {
		if x.Compared.Compared < 3 || x.Shown < 50 || x.Own.N < 100 || x.Others.N < 20 {
			t.Errorf("%s: too little was measured: %+v", x.Style, x)
		}
		if x.Others.Median < 40 {
			t.Errorf("%s: input of others after %.1f ms, and the path takes 40", x.Style,
				x.Others.Median)
		}
		if p := x.By["paths"]; p < 0 || p > 60 {
			t.Errorf("%s: of %.1f bytes a second, %.1f are no connection's", x.Style, x.Bytes, p)
		}
		rolls := x.Style == peerlab.Rollback
		if rolls != (x.Rollbacks > 0) || rolls != (x.Wrong > 0) || rolls && x.OwnTicks > 2.05 ||
			!rolls && x.OwnTicks < 2.5 {
			t.Errorf("%+v", x)
		}
	}
	o.Styles = o.Styles[:1]
	again, err := peerlab.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(r.Rows[:1])
	if b, _ := json.Marshal(again.Rows); !bytes.Equal(a, b) {
		t.Errorf("the same options give\n%s\nand\n%s", a, b)
	}
}

// TestFewPackets plays in lock step with packets that are further apart than ticks. The delay
// accounts for that, so next to nothing is waited for.
func TestFewPackets(t *testing.T) {
	for _, players := range []int{2, 4} {
		r, err := peerlab.Run(context.Background(), peerlab.Options{Title: pong.Title,
			Players: players, Packets: 20, Time: 6 * time.Second, Warm: 2 * time.Second, Seed: 5,
			Styles: []string{peerlab.Lockstep, peerlab.Commit}})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Rows {
			if x.Still > 0.01 {
				t.Errorf("%d players, %s: %.1f %% of the time nothing moves, with a delay of %d",
					players, x.Style, 100*x.Still, x.Delay)
			}
			if most := 2300.0; x.BytesMost > most {
				t.Errorf("%d players, %s: %.0f bytes a second, want at most %.0f", players,
					x.Style, x.BytesMost, most)
			}
		}
	}
}

// TestRelay has the same be true of a match through a relay, which settles with the rows, and what
// goes out of it be counted.
func TestRelay(t *testing.T) {
	o := peerlab.Options{Title: pong.Title, Players: 3, Relay: true, Time: 3 * time.Second,
		Warm: time.Second, Seed: 3}
	r, err := peerlab.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil || len(r.Rows) != 2 {
		t.Fatalf("%v, %d styles", err, len(r.Rows))
	}
	for _, x := range r.Rows {
		if x.Compared.Compared < 5 || x.Shown < 50 || x.Own.N < 300 || x.Others.N < 30 {
			t.Errorf("%s: too little was measured: %+v", x.Style, x)
		}
		if x.Others.Median < 40 || x.Others.Most > 150 {
			t.Errorf("%s: input of others after %.1f ms, and the path takes 40: %+v", x.Style,
				x.Others.Median, x.Others)
		}
		rolls := x.Style == peerlab.Rollback
		if rolls != (x.Rollbacks > 0) || rolls != (x.Wrong > 0) || rolls && x.OwnTicks > 2.05 ||
			!rolls && (x.OwnTicks < 3 || x.Settled.Most > 34) {
			t.Errorf("%+v", x)
		}
		a := x.Relay
		if a == nil || a.In < 2.99*x.Bytes || a.In > 3.01*x.Bytes || a.Down < x.Bytes ||
			a.Out < 2.99*a.Down || a.DownMost < a.Down {
			t.Errorf("%s: %+v", x.Style, a)
		}
		sum := 0.0
		for _, n := range x.By {
			sum += n
		}
		if math.Abs(sum-x.Bytes) > 1 {
			t.Errorf("%s: %.1f bytes a second, of which %.1f are known", x.Style, x.Bytes, sum)
		}
	}
	o.Styles = []string{peerlab.Rollback}
	again, err := peerlab.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(r.Rows[:1])
	if b, _ := json.Marshal(again.Rows); !bytes.Equal(a, b) {
		t.Errorf("the same options give\n%s\nand\n%s", a, b)
	}
}

// TestRelayTakesLate has commands come late to a relay that does not wait: they are counted when
// they are to be seen, in the tick that takes them.
func TestRelayTakesLate(t *testing.T) {
	o := peerlab.Options{Title: pong.Title, Relay: true, Time: 10 * time.Second,
		Warm: 2 * time.Second, Wait: -1, Styles: []string{peerlab.Lockstep},
		Conditions: netsim.Both(netsim.Profile{Latency: 20 * time.Millisecond, Loss: 0.1})}
	r, err := peerlab.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	x := r.Rows[0]
	if err := r.Check(); err != nil || x.Relay.Repeated == 0 {
		t.Fatalf("%v: %+v", err, x.Relay)
	}
	// each of 600 commands is shown sometime, but for those that are under way at the end
	if x.Own.N < 2*590 {
		t.Errorf("of 1200 commands %d were shown", x.Own.N)
	}
	if x.Own.Most < x.Own.Median+16 {
		t.Errorf("none was shown late: %+v", x.Own)
	}
}

// TestJoin has somebody join a match whose world is sent for a while.
func TestJoin(t *testing.T) {
	const size = 30_000
	r, err := peerlab.Run(context.Background(), peerlab.Options{
		Join: true, Players: 3, Bytes: size, Warm: time.Second, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	j := r.Join
	if err := r.Check(); err != nil || j == nil || j.Seconds < 0.3 || j.Compared.Compared < 6 {
		t.Fatalf("%v: %+v", err, j)
	}
	if math.Abs(float64(j.Bytes)-size) > size/10 {
		t.Errorf("the world takes %d bytes, and should take %d", j.Bytes, size)
	}
}

// TestForced has every bundled title computed again and again: by the world's own check, and by
// turns of which commands come late.
func TestForced(t *testing.T) {
	for _, title := range bundled {
		t.Run(title.Name(), func(t *testing.T) {
			const players = 3
			ticks := 120
			if os.Getenv("COEVAL_SOAK") != "" {
				ticks = 2000
			} else if title == stack.Title {
				ticks = 24 // each takes a millisecond
			}
			s := subject(t, title, players)
			settings, err := s.Settings(s.On(1))
			if err != nil {
				t.Fatal(err)
			}
			d, err := world.CheckRollback(s.Game, world.CheckOptions{
				Settings: settings, Seed: 1, Ticks: ticks / 3, Players: players})
			if d != nil || err != nil {
				t.Fatal(d, err)
			}
			if s.Game.Commands() == nil {
				return // nothing can be late
			}
			f, err := peerlab.Force(s, players, ticks, 8, 1)
			if err != nil {
				t.Fatal(err)
			}
			if f.Deepest < 5 {
				t.Errorf("it went back by %d ticks at most", f.Deepest)
			}
		})
	}
}

// TestWrongOptions has each mistake be named.
func TestWrongOptions(t *testing.T) {
	for _, x := range []struct {
		o    peerlab.Options
		says string
	}{
		{peerlab.Options{}, "set Options.Title"},
		{peerlab.Options{Title: pong.Title, Players: 9}, "players is 9: choose 2 to 8"},
		{peerlab.Options{Title: pong.Title, Delay: "soon"}, `delay is "soon": choose 0 to 30`},
		{peerlab.Options{Title: pong.Title, Styles: []string{"hope"}}, `there is no "hope"`},
		{peerlab.Options{Title: pong.Title, Depth: 99}, "depth is 99"},
		{peerlab.Options{Title: pong.Title, Relay: true, Styles: []string{"doom"}},
			"is of a mesh"},
	} {
		_, err := peerlab.Run(context.Background(), x.o)
		if err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%q, want %q", err, x.says)
		}
	}
}

// TestCancelled has a run end with its context.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := peerlab.Run(ctx, peerlab.Options{Title: pong.Title,
		Conditions: netsim.LAN}); err == nil {
		t.Error("it ran on")
	}
}

// BenchmarkAgain computes 8 ticks again, since the first of them was guessed wrong.
func BenchmarkAgain(b *testing.B) {
	for _, title := range bundled {
		s := subject(b, title, 2)
		if s.Game.Commands() == nil {
			continue
		}
		b.Run(title.Name(), func(b *testing.B) {
			r, err := peerlab.NewRewinder(s, 2, 8, 1)
			if err != nil {
				b.Fatal(err)
			}
			if err := r.Check(); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := r.Again(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
