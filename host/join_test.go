package host

import (
	"context"
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/proxy"
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/world"
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

func joinWith(t *testing.T, args ...string) joined {
	t.Helper()
	code, stdout, stderr := try(append([]string{"join", "--headless", "--json"}, args...)...)
	var j joined
	if err := json.Unmarshal([]byte(stdout), &j); err != nil || code != 0 {
		t.Fatalf("%v: exit code %d: %v\n%s%s", args, code, err, stdout, stderr)
	}
	return j
}

// TestJoinPredicts: through a proxy with a delay, with the token from the server itself, each style shows what it should: the present, or what has come.
func TestJoinPredicts(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	s := serveIn(t, "pong")
	late, err := netsim.ParseConditions("perfect latency=50ms")
	if err != nil {
		t.Fatal(err)
	}
	at := behind(t, s.UDP, late)
	for _, style := range []string{"doom3", "quake3", "halflife"} {
		j := joinWith(t, at, "--http", s.HTTP, "--seconds", "2", "--style", style)
		if j.TripMS < 100 {
			t.Errorf("%s: a round trip of %.0f ms did not go through the proxy", style, j.TripMS)
		}
		if j.Style != style || j.Ahead <= 0 || j.Predicted == 0 || j.Wrong > j.Predicted || j.Commands == 0 || j.Entities != 3 || j.Redundancy < 4 {
			t.Errorf("%s: %+v", style, j)
		}
	}
	if j := joinWith(t, at, "--http", s.HTTP, "--seconds", "1", "--style", "none"); j.Style != "none" || j.Ahead != 0 || j.Predicted != 0 || j.Commands == 0 {
		t.Errorf("%+v", j)
	}
	if j := joinWith(t, at, "--http", s.HTTP, "--seconds", "1", "--spectate"); j.Player != 0 || j.Style != "quake3" || j.Commands != 0 || j.Entities != 3 {
		t.Errorf("%+v", j)
	}
	// Every game can be predicted that can be joined.
	for _, game := range bundled().names() {
		if game == "pong" {
			continue
		}
		s := serveIn(t, game)
		if j := joinWith(t, s.HTTP, "--seconds", "1"); j.Game != game || j.Predicted == 0 || j.Ahead <= 0 {
			t.Errorf("%+v", j)
		}
	}
	code, stdout, stderr := try("join", s.HTTP, "--headless", "--seconds", "1")
	if code != 0 || !strings.Contains(stdout, "doom3: shown ") || !strings.Contains(stdout, " corrections") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if code, _, stderr := try("join", s.HTTP, "--headless", "--style", "guess"); code != exitUsage || !strings.Contains(stderr, "doom3, quake3, halflife or none") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// seerIn lets a seer play pong on a simulated network for a while.
func seerIn(t *testing.T, c netsim.Conditions, style string, o clientserver.ClientOptions, d time.Duration, each func(s *seer, w *world.World, up bool)) *seer {
	t.Helper()
	net := netsim.New(netsim.Options{Seed: 1, Conditions: c})
	end, here := net.Endpoint("server"), net.Endpoint("player")
	server, err := clientserver.NewServer(clientserver.Options{Title: pong.Title, Links: []link.Link{end}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	end.Every(pong.Game.TickLength(), func() { _ = server.Tick(net.Now()) })
	up := false
	s, err := newSeer(pong.Title, style, func(_ world.Tick, me world.Player, _ *world.World, in *world.Inputs) {
		_ = world.Give(in, me, pong.Keys(up, !up))
	})
	if err != nil {
		t.Fatal(err)
	}
	o.Game, o.Link, o.Servers = pong.Game, here, []netip.AddrPort{end.PublicAddr()}
	if o.Token, err = server.Token(1, nil, time.Minute); err != nil {
		t.Fatal(err)
	}
	s.hook(&o)
	client, err := clientserver.NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	s.attach(client)
	ticks := 0
	here.Every(pong.Game.TickLength(), func() {
		ticks++
		up = ticks/40%2 == 0
		if err := client.Tick(net.Now()); err != nil {
			t.Error(err)
		}
		w, err := s.show(net.Now())
		if err != nil {
			t.Error(err)
		}
		if w != nil && net.Now() > d/2 {
			each(s, w, up)
		}
	})
	net.Run(d)
	return s
}

// TestWhatIsPressedIsSeen: on a phone's network one's own paddle goes up in the very tick in which the key is pressed, in each style that predicts, and long after it in
// the one that does not.
func TestWhatIsPressedIsSeen(t *testing.T) {
	for style, atOnce := range map[string]bool{"doom3": true, "quake3": true, "halflife": true, "none": false} {
		right, wrong, last := 0, 0, -1.0
		s := seerIn(t, netsim.LTE, style, clientserver.ClientOptions{}, 20*time.Second, func(s *seer, w *world.World, up bool) {
			for id, p := range world.All[pong.Paddle](w) {
				if w.Owner(id) != s.client.Player() {
					continue
				}
				if way := p.Y - last; last >= 0 && way > 0 == up && way != 0 {
					right++
				} else if last >= 0 {
					wrong++
				}
				last = p.Y
			}
		})
		if right+wrong < 400 || (wrong*50 < right) != atOnce {
			t.Errorf("%s: the paddle went as told in %d ticks, and in %d not", style, right, wrong)
		}
		if compared, _ := s.predicted(); (compared > 100) != atOnce || (s.ahead() > 4) != atOnce {
			t.Errorf("%s: %d things were predicted, %.1f ticks ahead", style, compared, s.ahead())
		}
	}
}

// TestWhoWatchesSeesThePast: a spectator is not ahead of what has come, and time does not stand still.
func TestWhoWatchesSeesThePast(t *testing.T) {
	least, most := world.Tick(1<<60), world.Tick(0)
	s := seerIn(t, netsim.Cable, "doom3", clientserver.ClientOptions{Spectate: true}, 10*time.Second, func(s *seer, w *world.World, _ bool) {
		least, most = min(least, w.Tick()), max(most, w.Tick())
		balls := 0
		for range world.All[pong.Ball](w) {
			balls++
		}
		if balls != 1 {
			t.Errorf("tick %d: %d balls", w.Tick(), balls)
		}
	})
	if s.ahead() >= 0 || s.ahead() < -20 || most-least < 200 || s.corrected > 0 {
		t.Errorf("%.1f ticks ahead, from tick %d to %d, %d corrections", s.ahead(), least, most, s.corrected)
	}
}

// TestCommandsAreRepeatedWhereTheyAreLost: the more is lost, the more commands are in a packet.
func TestCommandsAreRepeatedWhereTheyAreLost(t *testing.T) {
	lossy, err := netsim.ParseConditions("cable loss=40%")
	if err != nil {
		t.Fatal(err)
	}
	none := func(*seer, *world.World, bool) {}
	good := seerIn(t, netsim.Cable, "doom3", clientserver.ClientOptions{}, 10*time.Second, none).Repeats()
	bad := seerIn(t, lossy, "doom3", clientserver.ClientOptions{}, 20*time.Second, none).Repeats()
	if good != 4 || bad <= 5 {
		t.Errorf("%d commands in a packet on a good network, and %d on a bad one", good, bad)
	}
}
