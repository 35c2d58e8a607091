package replica

import (
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// A small game for tests: players walk about and shoot pebbles, lamps stand
// around and flicker now and then, and a score counts.

type walker struct {
	Pos, Vel det.Vec2
	Aim      det.Angle
	Health   int
	Name     string
}

func (w *walker) Sync(s *bits.Sync) {
	s.Vec2(&w.Pos, -200, 200, 1.0/64)
	s.Vec2(&w.Vel, -20, 20, 1.0/64)
	s.Angle(&w.Aim, 10)
	s.Int(&w.Health, 0, 100)
	s.String(&w.Name, 12)
}

func (a *walker) Step(w *world.World, me world.ID) {
	c := world.Command[walk](w, me)
	a.Vel = c.Move.Mul(10)
	a.Pos = a.Pos.MulAdd(a.Vel, w.Seconds())
	for _, v := range []*float64{&a.Pos.X, &a.Pos.Y} {
		*v = min(max(*v, -190), 190)
	}
	a.Aim = c.Aim
	if c.Fire {
		world.Spawn(w, pebble{Pos: a.Pos, Vel: a.Aim.Vec().Mul(15), Left: 30})
		world.Emit(w, me, thrown{Where: a.Pos})
		if a.Health--; a.Health <= 0 {
			a.Health = 100
			world.Emit(w, me, died{Count: 1})
			world.StateOf[score](w).Deaths++
		}
	}
}

type pebble struct {
	Pos, Vel det.Vec2
	Left     int
}

func (p *pebble) Sync(s *bits.Sync) {
	s.Vec2(&p.Pos, -200, 200, 1.0/64)
	s.Vec2(&p.Vel, -20, 20, 1.0/64)
	s.Int(&p.Left, 0, 100)
}

func (p *pebble) Step(w *world.World, me world.ID) {
	p.Pos = p.Pos.MulAdd(p.Vel, w.Seconds())
	if p.Left--; p.Left <= 0 || max(p.Pos.X, p.Pos.Y) > 190 || min(p.Pos.X, p.Pos.Y) < -190 {
		w.Remove(me)
	}
}

type lamp struct {
	Pos det.Vec2
	On  bool
}

func (l *lamp) Sync(s *bits.Sync) {
	s.Vec2(&l.Pos, -200, 200, 1.0/64)
	s.Bool(&l.On)
}

func (l *lamp) Step(w *world.World, me world.ID) {
	if w.Rand().IntN(200) == 0 {
		l.On = !l.On
		world.Emit(w, me, flicker{On: l.On})
	}
}

type score struct{ Deaths int }

func (sc *score) Sync(s *bits.Sync) { s.Int(&sc.Deaths, 0, 1<<20) }

type walk struct {
	Move det.Vec2
	Aim  det.Angle
	Fire bool `world:"edge"`
}

func (w *walk) Sync(s *bits.Sync) {
	s.Vec2(&w.Move, -1, 1, 1.0/32)
	s.Angle(&w.Aim, 10)
	s.Bool(&w.Fire)
}

type thrown struct{ Where det.Vec2 }

func (t *thrown) Sync(s *bits.Sync) { s.Vec2(&t.Where, -200, 200, 1.0/64) }

type died struct{ Count int }

func (d *died) Sync(s *bits.Sync) { s.Int(&d.Count, 0, 10) }

type flicker struct{ On bool }

func (f *flicker) Sync(s *bits.Sync) { s.Bool(&f.On) }

var testGame = world.Define("walkers",
	world.Class[lamp](),
	world.Class[walker](),
	world.Class[pebble](world.ClassOptions{Limit: 2000}),
	world.State[score](),
	world.Commands[walk](),
	world.Event[thrown](),
	world.Event[died](world.EventOptions{Delivery: world.Saved}),
	world.Event[flicker](world.EventOptions{Delivery: world.Unreliable}),
	world.OnStart(func(w *world.World) {
		for i := range 40 {
			world.Spawn(w, lamp{Pos: det.Vec2{X: float64(i%8)*40 - 140, Y: float64(i/8)*60 - 120}})
		}
	}),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w,
			walker{Pos: det.Vec2{X: float64(p)*17 - 60}, Health: 20, Name: "player"}), p)
	}),
)

// site is a server with its world, its interest management and its clients.
type site struct {
	t      testing.TB
	p      *Protocol
	w      *world.World
	pub    *Publisher
	in     *world.Inputs
	ix     *interest.Index
	follow *interest.Follower
	find   *interest.Finder
	rules  *interest.Rules
	worker *Worker
	rng    det.Rand
	hist   map[world.ID]map[uint32][]int32 // every image ever, by entity and tick
}

func newSite(t testing.TB, o Options, seed uint64, players int) *site {
	t.Helper()
	p, err := NewProtocol(testGame, o)
	if err != nil {
		t.Fatal(err)
	}
	w, err := testGame.New(world.Settings{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	pub, err := NewPublisher(p, w)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, p: p, w: w, pub: pub, in: testGame.NewInputs(), worker: NewWorker(p),
		rng: det.At(seed, 1, 2)}
	s.ix = interest.NewIndex(interest.Options{Cell: 50})
	s.follow = interest.NewFollower(s.ix,
		interest.Describe(func(_ *world.World, _ world.ID, e *walker) interest.Traits {
			return traits(e.Pos)
		}),
		interest.Describe(func(_ *world.World, _ world.ID, e *pebble) interest.Traits {
			return traits(e.Pos)
		}),
		interest.Describe(func(_ *world.World, _ world.ID, e *lamp) interest.Traits {
			return traits(e.Pos)
		}))
	s.find = interest.NewFinder()
	s.rules = &interest.Rules{
		Sources: []interest.Source{&interest.Owned{}, &interest.Radius{Enter: 60, Leave: 70}}}
	for i := range players {
		s.in.Join(world.Player(i + 1))
	}
	s.step()
	return s
}

func traits(p det.Vec2) interest.Traits { return interest.Traits{Pos: det.Vec3{X: p.X, Y: p.Y}} }

// step takes the world on by a tick, with players who do what comes to mind.
func (s *site) step() {
	for p := range s.w.Players {
		if s.rng.IntN(20) == 0 {
			world.Give(s.in, p, walk{
				Move: det.Vec2{
					X: float64(s.rng.IntN(65)-32) / 32, Y: float64(s.rng.IntN(65)-32) / 32},
				Aim:  det.Angle(s.rng.Uint64()),
				Fire: s.rng.IntN(2) == 0,
			})
		}
	}
	if err := s.w.Host().Step(s.in); err != nil {
		s.t.Fatal(err)
	}
	s.in.Reset()
	if err := s.pub.Publish(s.w); err != nil {
		s.t.Fatal(err)
	}
	s.follow.Follow(s.w)
	if s.hist != nil {
		for class := range testGame.Classes() {
			for id := range s.w.Host().Of(class) {
				m := s.hist[id]
				if m == nil {
					m = map[uint32][]int32{}
					s.hist[id] = m
				}
				m[uint32(s.w.Tick())] = append([]int32(nil), s.w.Host().Image(id)...)
			}
		}
	}
}
