package host

import (
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// yard is a map with nothing in the way, for tests in which players must meet.
const yard = `name  yard
title The Yard
by    coeval

map
###############
#.............#
#.s.........s.#
#.............#
#......h......#
###############
`

// A duel is the arena as coeval serve has it, on a simulated network, with one who runs to and fro
// and one who aims a rail gun at where they see the other.
type duel struct {
	t      *testing.T
	net    *netsim.Net
	end    *netsim.Endpoint
	server *server.Server
	key    token.Key

	shots, hits int
}

// counting is randomness for tests.
type counting struct{ r *netsim.Rand }

func (c counting) Read(b []byte) (int, error) {
	c.r.Fill(b)
	return len(b), nil
}

func newDuel(t *testing.T, seed uint64) *duel {
	t.Helper()
	d := &duel{t: t, net: netsim.New(netsim.Options{Seed: seed})}
	d.end = d.net.Endpoint("server")
	d.net.Rand().Fill(d.key[:])
	level, err := arena.Title.Bring([]byte(yard))
	if err != nil {
		t.Fatal(err)
	}
	level.Seed = 3
	o := (&ServeOptions{Players: 2, Level: level, Snapshots: 20, Workers: 1,
		MaxRate: 1 << 20}).inside(arena.Title)
	if err := serve.Fill(&o); err != nil {
		t.Fatal(err)
	}
	o.Links, o.Keys = []link.Link{d.end}, []token.Key{d.key}
	d.net.Rand().Fill(o.Conn.Seed[:])
	o.Conn.Wall = 1_700_000_000
	o.After = func(w *world.World, _ *world.Inputs) {
		for range world.Events[arena.Damaged](w) {
			d.hits++
		}
		for _, f := range world.Events[arena.Fired](w) {
			if f.Weapon == arena.Rail {
				d.shots++
			}
		}
	}
	if d.server, err = server.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.server.Close() })
	d.end.Every(arena.Game.TickLength(), func() {
		if err := d.server.Tick(d.net.Now()); err != nil {
			t.Fatal(err)
		}
		// they have all they need, and no one dies
		for _, f := range world.All[arena.Fighter](d.server.World()) {
			f.Health, f.Slugs = arena.Healthy, 10
		}
	})
	return d
}

// join lets someone play in a style.
func (d *duel) join(name string, number uint64, style predict.Style,
	play func(t world.Tick, w *world.World, me world.Player) arena.Command) {
	d.t.Helper()
	end := d.net.Endpoint(name)
	d.net.Connect(end, d.end, netsim.Transatlantic)
	pass, err := token.Issue(d.key, token.Grant{
		Protocol: token.ProtocolID("arena"), Client: number, Expires: 1_700_003_600,
		Servers: []netip.AddrPort{d.end.PublicAddr()},
	}, counting{d.net.Rand()})
	if err != nil {
		d.t.Fatal(err)
	}
	o := client.Options{Title: arena.Title, Style: style, Link: end, Token: pass, Name: name}
	d.net.Rand().Fill(o.Conn.Seed[:])
	c, err := client.New(o)
	if err != nil {
		d.t.Fatal(err)
	}
	end.Every(arena.Game.TickLength(), func() {
		v := c.Frame(d.net.Now(),
			func(tick world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
				if err := world.Give(in, me, play(tick, shown, me)); err != nil {
					d.t.Fatal(err)
				}
			})
		if v.Ended {
			d.t.Fatal(v.Err)
		}
	})
}

// TestServeJudgesByWhatWasSeen fires beams at where a target is seen to be. It runs to and fro
// across an ocean, so it is not there any more; a server that goes back in time for players in the
// halflife style gives nearly all of these hits, and for those in the quake3 style, who do not ask
// for it, few.
func TestServeJudgesByWhatWasSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulated network is one goroutine")
	}
	t.Parallel() // it mostly waits
	share := map[predict.Style]float64{}
	for _, style := range []predict.Style{predict.HalfLife, predict.Quake3} {
		d := newDuel(t, 7)
		d.join("target", 1, predict.Doom3,
			func(tick world.Tick, w *world.World, me world.Player) arena.Command {
				// Up and down by two units, mostly at full speed.
				c := arena.Command{Y: arena.Push}
				if tick/14%2 == 0 {
					c.Y = -arena.Push
				}
				return c
			})
		d.join("shooter", 2, style,
			func(tick world.Tick, w *world.World, me world.Player) arena.Command {
				c := arena.Command{Weapon: arena.Rail}
				from, ok := placeOf(w, me)
				for id, f := range world.All[arena.Fighter](w) {
					if ok && w.Owner(id) != me {
						c.Aim, c.Fire = f.Pos.Sub(from).Angle(), true
					}
				}
				return c
			})
		d.net.Run(5 * time.Second)
		for id, f := range world.All[arena.Fighter](d.server.World()) {
			f.Pos = det.Vec2{X: 3, Y: 3}
			if d.server.SeatOf(d.server.World().Owner(id)).Name == "target" {
				f.Pos.X = 12
			}
		}
		d.shots, d.hits = 0, 0
		d.net.Run(60 * time.Second)
		t.Logf("%-8v %d of %d beams hit", style, d.hits, d.shots)
		if d.shots < 30 {
			t.Fatalf("%d shots", d.shots)
		}
		share[style] = float64(d.hits) / float64(d.shots)
	}
	if share[predict.HalfLife] < 0.85 || share[predict.Quake3] > 0.5 {
		t.Errorf("hits: %v", share)
	}
}

func placeOf(w *world.World, p world.Player) (det.Vec2, bool) {
	for id, f := range world.All[arena.Fighter](w) {
		if w.Owner(id) == p {
			return f.Pos, true
		}
	}
	return det.Vec2{}, false
}
