package mirror

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A mark goes round, and players shoot at it where they saw it.
type mark struct {
	Pos  det.Vec2
	Hits int
}

func (m *mark) Sync(s *bits.Sync) {
	s.Vec2(&m.Pos, -10, 10, 1.0/64)
	s.Int(&m.Hits, 0, 1<<20)
}

func (m *mark) Rewind(r *world.Rewinding) { r.Place(&m.Pos) }

func (m *mark) Step(w *world.World, me world.ID) {
	n := float64(w.Tick()) * world.StateOf[tempo](w).Turn
	m.Pos = det.Angle(n).Wrap().Vec().Mul(8)
	for p := range w.Players {
		if at, ok := w.Sees(world.Shot{By: p}, me); ok && world.CommandOf[push](w, p).On {
			m.Hits = (m.Hits*7 + int(10*at.X) + 1000) % (1 << 20)
		}
	}
	if w.Tick()%40 == 0 {
		world.Emit(w, me, wonders{At: w.Tick()})
	}
}

type tempo struct{ Turn float64 }

func (t *tempo) Sync(s *bits.Sync) { s.Float(&t.Turn, 0, 1, 1.0/256) }

type book struct{ Pages, Known int }

func (b *book) Sync(s *bits.Sync) {
	s.Int(&b.Pages, 0, 1<<20)
	s.Int(&b.Known, 0, 1<<20)
}

type wonders struct{ At world.Tick }

func (q *wonders) Sync(s *bits.Sync) { bits.Integer(s, &q.At, 0, 1<<40) }

type learns struct{ N int }

func (a *learns) Sync(s *bits.Sync) { s.Int(&a.N, 0, 1000) }

var fair = &game.Title{
	Game: world.Define("fair", world.Class[mark](), world.Knob[tempo](), world.State[book](),
		world.Commands[push](), world.Rate(20),
		world.Event[wonders](world.EventOptions{Delivery: world.Outside}),
		world.Answer(func(w *world.World, to world.Name, a *learns) {
			b := world.StateOf[book](w)
			b.Known = min(b.Known+a.N, 1<<20)
		}),
		world.OnContent(func(w *world.World, data []byte) {
			b := world.StateOf[book](w)
			for _, c := range data {
				b.Pages = (b.Pages*31 + int(c)) % (1 << 20)
			}
		}),
		world.OnStart(func(w *world.World) {
			world.StateOf[tempo](w).Turn = 0.125
			world.Spawn(w, mark{})
		}))}

// fairground is three mirrors, each with a player who fires, and with a program that answers what
// the game asks.
type fairground struct {
	*fleet
	asked map[world.Tick]int
}

func newFairground(n *netsim.Net, o Options) *fairground {
	g := &fairground{asked: map[world.Tick]int{}}
	o.Server.Title = fair
	g.fleet = newFleet(n, o)
	for i := range 3 {
		g.launch(fmt.Sprint(i+1), road)
		n.Run(100 * time.Millisecond)
	}
	return g
}

// fire has each mirror's player do something, with a sight that moves.
func (g *fairground) fire() {
	for i, s := range g.alive() {
		client := uint64(1000 + i)
		m := s.mirror
		if m.Phase() != Serving || !m.in.started {
			continue
		}
		h := m.roll.registry.clients[client]
		switch {
		case h == nil && m.roll.claims[client] == nil:
			m.claim(client, "gunner", wire.Journey{})
		case h != nil && h.owner() == m.roll.self:
			sight := world.Sight{Ago: uint16(20 + g.net.Rand().IntN(40)), Base: 3}
			if g.net.Rand().IntN(4) == 0 {
				sight.Add(world.Claim{Target: world.MakeID(0, 0, 0, 1),
					Place: [3]int32{int32(g.net.Rand().IntN(600)), 5}})
			}
			m.give(h.player, m.in.open()+1, []int32{int32(g.net.Rand().IntN(2))}, sight)
		}
	}
}

// TestTell: what a mirror's program tells the game, and what players were shown, is the same on all
// mirrors, whichever timeline they run, over a lossy network and while one of them dies.
func TestTell(t *testing.T) {
	for _, kind := range kinds.Names() {
		if kind == "bucket" { // which promises nothing
			continue
		}
		t.Run(kind, func(t *testing.T) {
			simtest.Alone(t, 1, func(n *netsim.Net) error {
				return playFair(n, kind)
			})
		})
	}
}

func playFair(n *netsim.Net, kind string) error {
	o := Options{Timeline: kind, Delays: kindDelays[kind]}
	g := newFairground(n, o)
	defer g.close()
	g.until(10*time.Second, "all serve", g.whole)
	n.Every(50*time.Millisecond, g.fire)
	told := 0
	tell := func(s *machine, fill func(in *world.Inputs) error) {
		if err := s.mirror.Server().Tell(fill); err == nil {
			told++
		} else if !errors.Is(err, errIdle) {
			g.fail("%s: %v", s.name, err)
		}
	}
	content := make([]byte, 20_000) // of many packets
	for i := range content {
		content[i] = byte(i * i)
	}
	for round := range 6 {
		for i, s := range g.alive() {
			if s.mirror.Server() == nil {
				continue
			}
			tell(s, func(in *world.Inputs) error {
				return world.SetKnob(in, tempo{Turn: float64(4+round+i) / 64})
			})
			if i == round%3 {
				tell(s, func(in *world.Inputs) error { return world.TellContent(in, content) })
			}
			tell(s, func(in *world.Inputs) error {
				return world.TellAnswer(in, world.Name{By: world.MakeID(0, 0, 0, 1),
					Tick: world.Tick(100*round + i)}, learns{N: 1})
			})
		}
		n.Run(700 * time.Millisecond)
		switch round {
		case 2:
			g.machines[2].kill()
		case 3:
			g.machines[2].start()
			g.until(20*time.Second, "all serve again", g.whole)
		}
	}
	g.settles(20 * time.Second)
	if g.err != nil {
		return g.err
	}
	w := g.machines[0].mirror.line.Settled()
	b := world.StateOf[book](w)
	if m := world.Get[mark](w, world.MakeID(0, 0, 0, 1)); b.Pages == 0 || m.Hits == 0 ||
		b.Known < 12 || told < 36 || world.StateOf[tempo](w).Turn == 0.125 {
		return fmt.Errorf("%+v, %+v, %+v, %d told", *b, *m, *world.StateOf[tempo](w), told)
	}
	return nil
}

// TestAsked: what the game asks of the outside, one mirror's program is told, once, and its answer
// is every mirror's.
func TestAsked(t *testing.T) {
	simtest.Alone(t, 1, func(n *netsim.Net) error {
		asked := map[world.Tick]int{}
		var g *fairground
		o := Options{}
		o.Server = server.Options{Asked: func(e world.Emitted, q bits.Syncer) {
			asked[q.(*wonders).At]++
			for _, s := range g.alive() {
				if !s.mirror.leads() {
					continue
				}
				if err := s.mirror.Server().Tell(func(in *world.Inputs) error {
					return world.TellAnswer(in, e.Name, learns{N: 1})
				}); err != nil {
					g.fail("%v", err)
				}
			}
		}}
		g = newFairground(n, o)
		defer g.close()
		g.until(10*time.Second, "all serve", g.whole)
		n.Run(10 * time.Second)
		g.settles(10 * time.Second)
		if g.err != nil {
			return g.err
		}
		for tick, times := range asked {
			if times != 1 {
				return fmt.Errorf("what was asked at tick %d was asked %d times", tick, times)
			}
		}
		known := world.StateOf[book](g.machines[1].mirror.line.Settled()).Known
		if known < 4 || known > len(asked) || len(asked)-known > 2 {
			return fmt.Errorf("%d were asked, %d known", len(asked), known)
		}
		return nil
	})
}

// TestTellRefused: what the game does not have is refused where it is told, and what a mirror
// should not have sent is counted and changes nothing.
func TestTellRefused(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 3})
	g := newFairground(n, Options{})
	defer g.close()
	g.until(10*time.Second, "all serve", g.whole)
	if g.err != nil {
		t.Fatal(g.err)
	}
	m := g.machines[0].mirror
	if err := m.input(world.Told{Kind: 77}, nil); !errors.Is(err, world.ErrInput) {
		t.Error(err)
	}
	before := m.stats.Refusals
	p := m.peers[0]
	tick := m.in.stamp + 5
	m.told(p, &item{kind: itemTell, tick: tick, told: world.Told{Kind: 77}})
	m.told(p, &item{kind: itemTell, tick: tick, data: []byte{1, 2, 3, 4, 5}})
	for range 3 {
		m.part(p, make([]byte, maxParts/2))
	}
	if m.stats.Refusals != before+3 || len(p.parts) > maxParts {
		t.Errorf("%d refused, %d bytes kept", m.stats.Refusals-before, len(p.parts))
	}
	p.parts = nil
	n.Run(3 * time.Second)
	g.settles(10 * time.Second)
	if g.err != nil {
		t.Error(g.err)
	}
}
