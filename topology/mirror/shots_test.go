package mirror

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// A hare runs to and fro, a quarter of a unit a tick, and guns hit what is within half a unit of
// where they aim.
type hare struct {
	Pos  det.Vec2
	Back bool
}

func (h *hare) Sync(s *bits.Sync) {
	s.Vec2(&h.Pos, -64, 63, 1.0/64)
	s.Bool(&h.Back)
}

func (h *hare) Rewind(r *world.Rewinding) { r.Place(&h.Pos) }

func (h *hare) Step(*world.World, world.ID) {
	step := 0.25
	if h.Back {
		step = -step
	}
	if h.Pos.X += step; det.Abs(h.Pos.X) > 40 {
		h.Back = h.Pos.X > 0
	}
}

type gun struct{ Shots, Hits int }

func (g *gun) Sync(s *bits.Sync) {
	s.Int(&g.Shots, 0, 1<<20)
	s.Int(&g.Hits, 0, 1<<20)
}

func (g *gun) Step(w *world.World, me world.ID) {
	c := world.Command[aim](w, me)
	if !c.Fire {
		return
	}
	g.Shots++
	shot := world.Shot{By: w.Owner(me), From: det.Vec3{Y: -10}}
	for id := range world.All[hare](w) {
		if at, _ := w.Sees(shot, id); det.Abs(at.X-c.X) < 0.5 {
			g.Hits++
			w.Strike(shot, id)
		}
	}
}

type aim struct {
	X    float64
	Fire bool `world:"edge"`
}

func (c *aim) Sync(s *bits.Sync) {
	s.Float(&c.X, -64, 63, 1.0/64)
	s.Bool(&c.Fire)
}

var hunt = &game.Title{Game: world.Define("hunt", world.Class[hare](), world.Class[gun](),
	world.Commands[aim](),
	world.OnStart(func(w *world.World) { world.Spawn(w, hare{}) }),
	world.OnJoin(func(w *world.World, p world.Player) { w.SetOwner(world.Spawn(w, gun{}), p) }))}

// hunter makes a client of a machine that fires at what it is shown.
func (f *fleet) hunter(id uint64, at *machine, style predict.Style) error {
	end := f.net.Endpoint(fmt.Sprintf("h%d", id))
	f.net.Connect(end, at.public, netsim.WiFi)
	t, err := token.Issue(f.key, token.Grant{Protocol: token.ProtocolID("hunt"), Client: id,
		Expires: wall + 3600, Servers: []netip.AddrPort{at.public.PublicAddr()}},
		&countingBytes{s: f.seed(3, int(id))})
	if err != nil {
		return err
	}
	o := client.Options{Title: hunt, Style: style, Link: end, Token: t}
	o.Conn.Seed, o.Conn.Wall = f.seed(4, int(id)), wall
	c, err := client.New(o)
	if err != nil {
		return err
	}
	end.Every(hunt.Game.TickLength(), func() {
		c.Frame(f.net.Now(), func(tick world.Tick, me world.Player, shown *world.World,
			in *world.Inputs) {
			for _, h := range world.All[hare](shown) {
				_ = world.Give(in, me, aim{X: h.Pos.X, Fire: tick%16 == 0})
			}
		})
	})
	return nil
}

// TestMirrorsJudgeShots: mirrors have lag compensation. Who aims at what their client shows hits
// it, whichever mirror they play on and however it shows others, and all mirrors settle the same.
func TestMirrorsJudgeShots(t *testing.T) {
	for _, style := range []predict.Style{predict.HalfLife, predict.Doom3} {
		simtest.Alone(t, 1, func(n *netsim.Net) error {
			o := Options{}
			o.Server.Title = hunt
			f := newFleet(n, o)
			defer f.close()
			for i := range 3 {
				f.launch(fmt.Sprint(i+1), road)
				n.Run(100 * time.Millisecond)
			}
			f.until(10*time.Second, "all serve", f.whole)
			for i, s := range f.machines {
				if err := f.hunter(uint64(i+1), s, style); err != nil {
					return err
				}
			}
			n.Run(20 * time.Second)
			f.settles(10 * time.Second)
			if f.err != nil {
				return f.err
			}
			w := f.machines[1].mirror.line.Settled()
			guns := 0
			for id, g := range world.All[gun](w) {
				guns++
				t.Logf("%v: player %d hit with %d of %d shots", style, w.Owner(id), g.Hits, g.Shots)
				if g.Shots < 40 || g.Shots-g.Hits > 2 {
					return fmt.Errorf("%v: player %d hit with %d of %d shots", style, w.Owner(id),
						g.Hits, g.Shots)
				}
			}
			if guns != 3 {
				return fmt.Errorf("%d players", guns)
			}
			return nil
		})
	}
}
