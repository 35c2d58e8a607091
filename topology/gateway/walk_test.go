package gateway

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// The game of these tests: people walk about on a long field, count what they step on, and push
// each other. What they do is predicted exactly, so that any correction is the fault of what lies
// between the zones and the player.

const (
	walkLong, walkWide = 240.0, 48.0
	walkSight          = 16.0
	walkSpeed          = 12.0
	walkCrowd          = 60
)

type walker struct {
	Pos   det.Vec2
	Steps int
	Marks int // lines that were crossed
	Fired int // edges of commands
}

type going struct {
	X, Y int
	Fire bool `world:"edge"`
}

func (g *going) Sync(s *bits.Sync) {
	s.Int(&g.X, -1, 1)
	s.Int(&g.Y, -1, 1)
	s.Bool(&g.Fire)
}

func (p *walker) Sync(s *bits.Sync) {
	s.Vec2(&p.Pos, 0, walkLong, 1.0/256)
	s.Int(&p.Steps, 0, 1<<20)
	s.Int(&p.Marks, 0, 1<<20)
	s.Int(&p.Fired, 0, 1<<20)
}

func (*walker) Hints(h *game.Hints) { h.Body(0.5) }

func (p *walker) Step(w *world.World, me world.ID) {
	p.Steps++
	c := world.Command[going](w, me)
	if w.Owner(me) == world.Nobody {
		r := w.Rand()
		if c = (going{}); r.IntN(3) == 0 {
			c = going{X: r.IntN(3) - 1, Y: r.IntN(3) - 1}
		}
	}
	was := int(p.Pos.X / 8)
	p.Pos.X = det.Clamp(p.Pos.X+float64(float64(c.X)*walkSpeed*w.Seconds()), 0, walkLong)
	p.Pos.Y = det.Clamp(p.Pos.Y+float64(float64(c.Y)*walkSpeed*w.Seconds()), 0, walkWide)
	if c.Fire {
		p.Fired++
	}
	if int(p.Pos.X/8) != was {
		p.Marks++
		world.Emit(w, me, mark{At: int(p.Pos.X / 8)})
		world.Act(w, world.StateID[tally](w), count{})
	}
}

// mark is a line that somebody has crossed.
type mark struct{ At int }

func (m *mark) Sync(s *bits.Sync) { s.Int(&m.At, 0, 100) }

// tally counts all lines that were crossed.
type tally struct{ Marks int }

func (t *tally) Sync(s *bits.Sync) { s.Int(&t.Marks, 0, 1<<20) }

type count struct{}

func (*count) Sync(*bits.Sync) {}

var walking = world.Define("walking", world.State[tally](), world.Class[walker](),
	world.Commands[going](), world.Event[mark](),
	world.Action(func(w *world.World, _, _ world.ID, _ *count) { world.StateOf[tally](w).Marks++ }),
	world.OnStart(func(w *world.World) {
		for i := range walkCrowd {
			world.Spawn(w, walker{Pos: det.Vec2{X: float64(i) * walkLong / walkCrowd,
				Y: float64(i%6) * walkWide / 6}})
		}
	}),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, walker{Pos: det.Vec2{X: walkLong/2 - 6,
			Y: float64(p) * 4}}), p)
	}),
	world.OnLeave(func(w *world.World, p world.Player) {
		for id := range world.All[walker](w) {
			if w.Owner(id) == p && !w.Ghost(id) {
				w.Remove(id)
			}
		}
	}))

func walkTitle() *game.Title {
	return &game.Title{Game: walking, Sight: game.Sight{Reach: walkSight}}
}
