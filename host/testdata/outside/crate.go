package tanks

import (
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// Crate is a class that says more of itself than it must. All of it stands in this file.
type Crate struct {
	Pos  det.Vec2
	Turn det.Angle
	Load int
	By   world.ID
}

func (c *Crate) Sync(s *bits.Sync) {
	s.Vec2(&c.Pos, 0, width, 1.0/256)
	s.Angle(&c.Turn, 8)
	s.Int(&c.Load, 0, 5)
	bits.Integer(s, &c.By, 0, 1<<63-1)
}

func (c *Crate) Hints(h *game.Hints) {
	h.Heading(&c.Turn)
	h.Smooth(80*time.Millisecond, 3)
	h.Every(2, 12)
	h.Beyond(&c.Turn, 0.1)
	h.Margin(&c.Pos, 0.5)
	h.Obstacle()
}

func (c *Crate) Traits(*world.World, world.ID) interest.Traits {
	return interest.Traits{Pos: det.Vec3{X: c.Pos.X, Y: c.Pos.Y}, Importance: 0.3}
}

func (c *Crate) TakenOver(*world.World, world.ID) bool { return c.Load == 0 }

// Step turns toward whoever came nearest last, and is carried a little.
func (c *Crate) Step(w *world.World, me world.ID) {
	if t := world.Get[Tank](w, c.By); t != nil && c.Load > 0 {
		c.Turn = t.Pos.Sub(c.Pos).Angle()
	}
	for id, t := range world.All[Tank](w) {
		if t.Pos.Sub(c.Pos).Len() < 2 && c.Load > 0 {
			c.By, c.Load = id, c.Load-1
			c.Pos = somewhere(w)
			return
		}
	}
}
