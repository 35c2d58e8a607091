package server

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// The gallery is a shooting gallery. A mark runs to and fro along the X axis, a quarter of a unit a
// tick, and guns hit what is within half a unit of where they aim.
type mark struct {
	Pos  det.Vec2
	Back bool
}

func (m *mark) Sync(s *bits.Sync) {
	s.Vec2(&m.Pos, -64, 63, 1.0/64)
	s.Bool(&m.Back)
}

func (m *mark) Rewind(r *world.Rewinding) { r.Place(&m.Pos) }

func (m *mark) Step(*world.World, world.ID) {
	step := 0.25
	if m.Back {
		step = -step
	}
	m.Pos.X += step
	if det.Abs(m.Pos.X) > 40 {
		m.Back = m.Pos.X > 0
	}
}

type pull struct {
	X, Y float64
	Fire bool `world:"edge"`
}

func (c *pull) Sync(s *bits.Sync) {
	s.Float(&c.X, -64, 63, 1.0/64)
	s.Float(&c.Y, -64, 63, 1.0/64)
	s.Bool(&c.Fire)
}

type gun struct{ Shots, Hits int }

func (g *gun) Sync(s *bits.Sync) {
	s.Int(&g.Shots, 0, 1<<20)
	s.Int(&g.Hits, 0, 1<<20)
}

func (g *gun) Step(w *world.World, me world.ID) {
	c := world.Command[pull](w, me)
	if !c.Fire {
		return
	}
	g.Shots++
	shot := world.Shot{By: w.Owner(me), From: det.Vec3{Y: -10}}
	for id := range world.All[mark](w) {
		at, _ := w.Sees(shot, id)
		if at.Sub(det.Vec3{X: c.X, Y: c.Y}).Len() < 0.5 {
			g.Hits++
			w.Strike(shot, id)
		}
	}
}

var gallery = world.Define("gallery", world.Class[mark](), world.Class[gun](),
	world.Commands[pull](),
	world.OnStart(func(w *world.World) { world.Spawn(w, mark{}) }),
	world.OnJoin(func(w *world.World, p world.Player) { w.SetOwner(world.Spawn(w, gun{}), p) }))

// A galleryServer is a server of the gallery with one gunner.
type galleryServer struct {
	*Server
	c   *client.Client
	net *netsim.Net
}

func newGallery(n *netsim.Net, c netsim.Conditions, style predict.Style,
	command client.Command, change ...func(*client.Options)) (*galleryServer, error) {
	title, end := &game.Title{Game: gallery}, n.Endpoint("server")
	s, err := New(Options{Title: title, Links: []link.Link{end}})
	if err != nil {
		return nil, err
	}
	end.Every(gallery.TickLength(), func() { _ = s.Tick(n.Now()) })
	token, err := s.Token(1, nil, time.Hour)
	if err != nil {
		return nil, err
	}
	player := n.Endpoint("player")
	n.Connect(player, end, c)
	g := &galleryServer{Server: s, net: n}
	o := client.Options{Title: title, Style: style, Token: token, Link: player,
		Servers: []netip.AddrPort{end.PublicAddr()}}
	for _, f := range change {
		f(&o)
	}
	g.c, err = client.New(o)
	if err == nil {
		player.Every(gallery.TickLength(), func() { g.c.Frame(n.Now(), command) })
	}
	return g, err
}

// mark is where the target is, and gun what the gunner has done.
func (g *galleryServer) mark() (id world.ID, at det.Vec2, v float64) {
	for i, m := range world.All[mark](g.World()) {
		id, at, v = i, m.Pos, 0.25
		if m.Back {
			v = -v
		}
	}
	return id, at, v
}

func (g *galleryServer) gun() (id world.ID, x gun) {
	for i, f := range world.All[gun](g.World()) {
		id, x = i, *f
	}
	return id, x
}

// TestShotsAreJudgedByWhatWasSeen: whoever aims at what is shown hits it, however the client shows
// it, whatever is lost, repeated and late on the way, and in a match that is recorded.
func TestShotsAreJudgedByWhatWasSeen(t *testing.T) {
	for _, style := range []predict.Style{predict.HalfLife, predict.Doom3, predict.Quake3} {
		simtest.Run(t, 1, func(n *netsim.Net) error {
			g, err := newGallery(n, netsim.WiFi, style, aimAtShown)
			if err != nil {
				return err
			}
			defer g.Close()
			n.Run(20 * time.Second)
			_, gun := g.gun()
			t.Logf("%v: %d of %d shots hit; %+v", style, gun.Hits, gun.Shots, g.Stats().Commands)
			missed := gun.Shots - gun.Hits
			if gun.Shots < 60 || style == predict.Quake3 && gun.Hits > gun.Shots/4 ||
				style != predict.Quake3 && missed > 1 {
				t.Errorf("%v: %d of %d shots hit", style, gun.Hits, gun.Shots)
			}
			return nil
		})
	}
}

// TestRewindIsBounded: shots are judged by what was seen as far back as the server goes. Where
// clients are told to show others later than they need to, the server believes them.
func TestRewindIsBounded(t *testing.T) {
	later := func(o *client.Options) { o.Predict.Playout.Delay = 150 * time.Millisecond }
	for _, x := range []struct {
		limits Limits
		hits   bool
	}{
		{Limits{Interpolate: 150 * time.Millisecond}, true},
		{Limits{Interpolate: 150 * time.Millisecond, Rewind: 500 * time.Millisecond}, true},
		{Limits{Interpolate: 150 * time.Millisecond, Rewind: 50 * time.Millisecond}, false},
		{Limits{Interpolate: 150 * time.Millisecond, Rewind: -1}, false},
		{Limits{}, false},
	} {
		simtest.Run(t, 1, func(n *netsim.Net) error {
			g, err := newGallery(n, netsim.WiFi, predict.HalfLife, aimAtShown, later)
			if err != nil {
				return err
			}
			defer g.Close()
			g.opt.Limits.Rewind, g.opt.Limits.Interpolate = x.limits.Rewind, x.limits.Interpolate
			n.Run(10 * time.Second)
			_, gun := g.gun()
			t.Logf("%+v: %d of %d shots hit", x.limits, gun.Hits, gun.Shots)
			if gun.Shots < 25 || x.hits && gun.Shots-gun.Hits > 2 ||
				!x.hits && gun.Hits > gun.Shots/2 {
				t.Errorf("%+v: %d of %d shots hit", x.limits, gun.Hits, gun.Shots)
			}
			return nil
		})
	}
}

// TestShotsAreRecorded: a match with lag compensation that is recorded repeats from its trace, with
// every hit, from the middle too.
func TestShotsAreRecorded(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 9})
	g, err := newGallery(n, netsim.LTE, predict.HalfLife, aimAtShown)
	must(t, err)
	defer g.Close()
	var out bytes.Buffer
	rec, err := trace.NewWriter(&out, g.World(), trace.Options{StateEvery: 200})
	must(t, err)
	g.opt.After = func(w *world.World, in *world.Inputs) { must(t, rec.Tick(in, w)) }
	n.Run(15 * time.Second)
	must(t, rec.Close())
	_, gun := g.gun()
	for _, from := range []world.Tick{0, 500} {
		r, err := trace.Open(bytes.NewReader(out.Bytes()))
		must(t, err)
		res, err := trace.Replay(gallery, r, trace.ReplayOptions{From: from})
		must(t, err)
		if res.Mismatch != nil || res.Hash != g.World().Hash() {
			t.Errorf("from tick %d: %+v", from, res)
		}
	}
	if gun.Hits < 30 || gun.Shots-gun.Hits > 1 {
		t.Errorf("%d of %d shots hit", gun.Hits, gun.Shots)
	}
}

func aimAtShown(tick world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
	for _, m := range world.All[mark](shown) {
		_ = world.Give(in, me, pull{X: m.Pos.X, Y: m.Pos.Y, Fire: tick%16 == 0})
	}
}

// TestClaimsGainNothing: a cheat that knows the whole world says with each shot that it saw what
// helps it most. It hits nothing outside of the mark's true way and the margin around it, and what
// makes no sense is counted.
func TestClaimsGainNothing(t *testing.T) {
	for _, x := range []struct {
		name string
		// aim is where the cheat shoots, and what it says to have seen.
		aim func(g *galleryServer, tick world.Tick) (det.Vec2, world.Sight)
		// counted is what must have been counted.
		counted func(c *CommandCounts) uint64
		hits    bool
	}{
		{"honest", func(g *galleryServer, tick world.Tick) (det.Vec2, world.Sight) {
			_, at, v := g.mark()
			at.X += v * float64(tick-g.World().Tick()-1)
			return at, g.claims(at)
		}, func(c *CommandCounts) uint64 { return c.Claims }, true},
		{"beside it", func(g *galleryServer, tick world.Tick) (det.Vec2, world.Sight) {
			_, at, _ := g.mark()
			at.Y = 1.25
			return at, g.claims(at)
		}, func(c *CommandCounts) uint64 { return c.Doubted }, false},
		{"long ago", func(g *galleryServer, tick world.Tick) (det.Vec2, world.Sight) {
			_, at, v := g.mark()
			at.X -= 25 * v
			s := g.claims(at)
			s.Ago = 29 * 16
			return at, s
		}, func(c *CommandCounts) uint64 { return c.Bounded + c.Doubted }, false},
		{"in the future", func(g *galleryServer, tick world.Tick) (det.Vec2, world.Sight) {
			_, at, v := g.mark()
			at.X += 25 * v
			return at, g.claims(at)
		}, func(c *CommandCounts) uint64 { return c.Doubted }, false},
		{"far off, four times", func(g *galleryServer, tick world.Tick) (det.Vec2, world.Sight) {
			at := det.Vec2{X: 50, Y: 50}
			s := g.claims(at)
			for s.Add(s.Claims[0]) {
			}
			return at, s
		}, func(c *CommandCounts) uint64 { return c.Doubted }, false},
		{"beyond all numbers", func(g *galleryServer, tick world.Tick) (det.Vec2, world.Sight) {
			s := g.claims(det.Vec2{})
			s.Claims[0].Place = [3]int32{1<<31 - 1, -1 << 31, 5}
			return det.Vec2{Y: 9}, s
		}, func(c *CommandCounts) uint64 { return c.Mistaken }, false},
		{"on what cannot be hit", func(g *galleryServer, tick world.Tick) (det.Vec2, world.Sight) {
			s := g.claims(det.Vec2{})
			s.Claims[0].Target, _ = g.gun()
			return det.Vec2{Y: 9}, s
		}, func(c *CommandCounts) uint64 { return c.Mistaken }, false},
		{"on what is not there", func(g *galleryServer, tick world.Tick) (det.Vec2, world.Sight) {
			s := g.claims(det.Vec2{X: 3})
			s.Claims[0].Target = world.MakeID(0, 0, 77, 9)
			return det.Vec2{X: 3, Y: 9}, s
		}, func(c *CommandCounts) uint64 { return c.Claims }, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			simtest.Run(t, 1, func(n *netsim.Net) error {
				return cheat(t, n, x.aim, x.counted, x.hits)
			})
		})
	}
}

// claims is a sight that has the mark at a place.
func (g *galleryServer) claims(at det.Vec2) (s world.Sight) {
	id, _, _ := g.mark()
	s.Add(world.Claim{
		Target: id, Place: [3]int32{det.Int32(at.X * 64), det.Int32((at.Y + 10) * 64)}})
	return s
}

func cheat(t *testing.T, n *netsim.Net,
	aim func(*galleryServer, world.Tick) (det.Vec2, world.Sight),
	counted func(*CommandCounts) uint64, hits bool) error {
	conditions := conditions(t, "latency=20ms jitter=2ms")
	g, err := newGallery(n, conditions, predict.None, nil)
	if err != nil {
		return err
	}
	defer g.Close()
	n.Run(2 * time.Second)
	writer, in := replica.NewCommandWriter(g.protocol), gallery.NewInputs()
	image := make([]int32, len(gallery.Commands().Slots))
	sent := world.Tick(0)
	n.Every(gallery.TickLength(), func() {
		tick := g.World().Tick() + 6
		if c := g.c.Conn(); tick > sent && c != nil && c.Open() {
			sent = tick
			at, sight := aim(g, tick)
			in.Reset()
			_ = world.Give(in, g.c.Player(), pull{X: at.X, Y: at.Y, Fire: tick%8 == 0})
			in.Image(g.c.Player(), image)
			m, err := writer.Append([]byte{byte(g.c.Epoch())}, tick, [][]int32{image},
				[]world.Sight{sight}, 300)
			if err != nil {
				t.Error(err)
			}
			_ = c.Send(wire.CommandChannel, m)
		}
	})
	n.Run(20 * time.Second)
	_, gun := g.gun()
	c := g.Stats().Commands
	t.Logf("%d of %d shots hit; %+v", gun.Hits, gun.Shots, c)
	if gun.Shots < 60 || counted(&c) < 60 || hits != (gun.Hits > gun.Shots*9/10) ||
		!hits && gun.Hits > 0 {
		t.Errorf("%d of %d shots hit, %d counted", gun.Hits, gun.Shots, counted(&c))
	}
	return nil
}
