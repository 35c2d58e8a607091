package join

import (
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// pongIn plays pong on a simulated network for a while, and gives the client in the end.
func pongIn(t *testing.T, c netsim.Conditions, o client.Options, d time.Duration,
	each func(c *client.Client, v *client.View, up bool)) *client.Client {
	t.Helper()
	net := netsim.New(netsim.Options{Seed: 1, Conditions: c})
	end, here := net.Endpoint("server"), net.Endpoint("player")
	srv, err := server.New(server.Options{Title: pong.Title, Links: []link.Link{end}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	end.Every(pong.Game.TickLength(), func() { _ = srv.Tick(net.Now()) })
	o.Title, o.Link, o.Servers = pong.Title, here, []netip.AddrPort{end.PublicAddr()}
	if o.Token, err = srv.Token(1, nil, time.Minute); err != nil {
		t.Fatal(err)
	}
	player, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ticks, up := 0, false
	here.Every(pong.Game.TickLength(), func() {
		ticks++
		up = ticks/40%2 == 0
		v := player.Frame(net.Now(),
			func(_ world.Tick, me world.Player, _ *world.World, in *world.Inputs) {
				_ = world.Give(in, me, pong.Keys(up, !up))
			})
		if v.Ended {
			t.Error(v.Err)
		}
		if v.World != nil && net.Now() > d/2 {
			each(player, &v, up)
		}
	})
	net.Run(d)
	return player
}

// TestWhatIsPressedIsSeen: on a phone's network one's own paddle goes up in the very tick in which
// the key is pressed, in each style that predicts, and long after it in the one that does not.
func TestWhatIsPressedIsSeen(t *testing.T) {
	for style, atOnce := range map[predict.Style]bool{
		predict.Doom3: true, predict.Quake3: true, predict.HalfLife: true, predict.None: false} {
		right, wrong, last := 0, 0, -1.0
		c := pongIn(t, netsim.LTE, client.Options{Style: style}, 20*time.Second,
			func(c *client.Client, v *client.View, up bool) {
				for id, p := range world.All[pong.Paddle](v.World) {
					if v.World.Owner(id) != v.Me {
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
			t.Errorf("%v: the paddle went as told in %d ticks, and in %d not", style, right, wrong)
		}
		compared := 0
		for _, r := range c.Predict().Report() {
			compared += r.Compared
		}
		if (compared > 100) != atOnce || atOnce && ahead(c) <= 4 {
			t.Errorf("%v: %d things were predicted, %.1f ticks ahead", style, compared, ahead(c))
		}
	}
}

// TestWhoWatchesSeesThePast: a spectator is not ahead of what has come, and time does not stand
// still.
func TestWhoWatchesSeesThePast(t *testing.T) {
	least, most := world.Tick(1<<60), world.Tick(0)
	corrected := 0
	c := pongIn(t, netsim.Cable, client.Options{Spectate: true}, 10*time.Second,
		func(c *client.Client, v *client.View, _ bool) {
			w := v.World
			corrected += len(c.Predict().Corrections())
			least, most = min(least, w.Tick()), max(most, w.Tick())
			balls := 0
			for range world.All[pong.Ball](w) {
				balls++
			}
			if balls != 1 {
				t.Errorf("tick %d: %d balls", w.Tick(), balls)
			}
		})
	if ahead(c) >= 0 || ahead(c) < -20 || most-least < 200 || corrected > 0 {
		t.Errorf("%.1f ticks ahead, from tick %d to %d, %d corrections", ahead(c), least, most,
			corrected)
	}
}

// TestCommandsAreRepeatedWhereTheyAreLost: the more is lost, the more commands are in a packet.
func TestCommandsAreRepeatedWhereTheyAreLost(t *testing.T) {
	lossy, err := netsim.ParseConditions("cable loss=40%")
	if err != nil {
		t.Fatal(err)
	}
	none := func(*client.Client, *client.View, bool) {}
	good := pongIn(t, netsim.Cable, client.Options{}, 10*time.Second, none).Redundancy()
	bad := pongIn(t, lossy, client.Options{}, 20*time.Second, none).Redundancy()
	if good != 4 || bad <= 5 {
		t.Errorf("%d commands in a packet on a good network, and %d on a bad one", good, bad)
	}
}

// TestNamesOfAll: what is drawn has the names of all players, and not only one's own.
func TestNamesOfAll(t *testing.T) {
	net := netsim.New(netsim.Options{Seed: 1})
	end := net.Endpoint("server")
	srv, err := server.New(server.Options{Title: pong.Title, Links: []link.Link{end}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	end.Every(pong.Game.TickLength(), func() { _ = srv.Tick(net.Now()) })
	got := map[string]string{}
	for i, name := range []string{"Ann", "Bob"} {
		here := net.Endpoint(name)
		token, err := srv.Token(uint64(i+1), nil, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		p := &visit{session: client.NewSession(client.SessionOptions{
			Options: client.Options{Title: pong.Title, Name: name},
		})}
		p.session.Enter(client.Entry{
			Link: here, Token: token, Servers: []netip.AddrPort{end.PublicAddr()},
		})
		here.Every(pong.Game.TickLength(), func() {
			v := p.session.Frame(net.Now(), nil)
			if f := p.frame(&v); f != nil {
				got[name] = f.Name(1) + " and " + f.Name(2)
			}
		})
	}
	net.Run(3 * time.Second)
	for _, name := range []string{"Ann", "Bob"} {
		if got[name] != "Ann and Bob" {
			t.Errorf("%s sees %q", name, got[name])
		}
	}
}
