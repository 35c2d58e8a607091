package host

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/proxy"
)

// behind puts a network before a server, and gives the address to go to.
func behind(t *testing.T, server string, c netsim.Conditions) string {
	t.Helper()
	p, err := proxy.New(proxy.Options{Listen: "127.0.0.1:0", To: server, Conditions: c, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return p.Addr().String()
}

func joinWith(t *testing.T, args ...string) Joined {
	t.Helper()
	code, stdout, stderr := try(append([]string{"join", "--headless", "--json"}, args...)...)
	var j Joined
	if err := json.Unmarshal([]byte(stdout), &j); err != nil || code != 0 {
		t.Fatalf("%v: exit code %d: %v\n%s%s", args, code, err, stdout, stderr)
	}
	return j
}

// TestJoinPredicts: through a proxy with a delay, with the token from the server itself, each style
// shows what it should: the present, or what has come.
func TestJoinPredicts(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it takes its time")
	}
	s := serveIn(t, "pong")
	late, err := netsim.ParseConditions("perfect latency=50ms")
	if err != nil {
		t.Fatal(err)
	}
	far := func(t *testing.T) []string { // a server of its own, as pong has two paddles
		s := serveIn(t, "pong")
		return []string{behind(t, s.UDP, late), "--http", s.HTTP}
	}
	for _, style := range []string{"doom3", "quake3", "halflife"} {
		t.Run(style, func(t *testing.T) {
			t.Parallel()
			j := joinWith(t, append(far(t), "--seconds", "2", "--style", style)...)
			if j.TripMS < 100 {
				t.Errorf("a round trip of %.0f ms did not go through the proxy", j.TripMS)
			}
			if j.Style != style || j.Ahead <= 0 || j.Predicted == 0 || j.Wrong > j.Predicted ||
				j.Commands == 0 || j.Entities != 3 || j.Redundancy < 4 {
				t.Errorf("%+v", j)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		if j := joinWith(t,
			append(far(t), "--seconds", "1", "--style", "none")...); j.Style != "none" ||
			j.Ahead != 0 || j.Predicted != 0 || j.Commands == 0 {
			t.Errorf("%+v", j)
		}
	})
	t.Run("spectate", func(t *testing.T) {
		t.Parallel()
		if j := joinWith(t, append(far(t), "--seconds", "1", "--spectate")...); j.Player != 0 ||
			j.Style != "quake3" || j.Commands != 0 || j.Entities != 3 {
			t.Errorf("%+v", j)
		}
	})
	// Every game can be predicted that can be joined.
	for _, game := range bundled.Each() {
		if game == "pong" {
			continue
		}
		t.Run(game, func(t *testing.T) {
			t.Parallel()
			s := serveIn(t, game)
			if j := joinWith(t, s.HTTP, "--seconds", "1"); j.Game != game || j.Predicted == 0 ||
				j.Ahead <= 0 {
				t.Errorf("%+v", j)
			}
		})
	}
	t.Run("words", func(t *testing.T) {
		t.Parallel()
		code, stdout, stderr := try("join", s.HTTP, "--headless", "--seconds", "1")
		if code != 0 || !strings.Contains(stdout, "doom3: shown ") ||
			!strings.Contains(stdout, " corrections") {
			t.Errorf("exit code %d: %s%s", code, stdout, stderr)
		}
	})
	if code, _, stderr := try("join", s.HTTP, "--headless", "--style",
		"guess"); code != cli.ExitUsage ||
		!strings.Contains(stderr, "doom3, quake3, halflife, none, quake or quakeworld") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
