package arena

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// How doors are.
const (
	DoorOpen = 16       // Door.Open of one that is wide open
	doorHalf = 5.0 / 32 // half its thickness
	doorNear = 2.2      // who is this near to the middle of it opens it
	doorFar  = 3.6      // and when no one is, it shuts
)

// Door is two leaves that slide apart when someone comes near. Where it stands is known from the
// map.
type Door struct {
	Number  int // in Map.Doors
	Pos     det.Vec2
	Open    int // how far, from 0 to DoorOpen
	Opening bool
}

// Sync names the fields.
func (d *Door) Sync(s *bits.Sync) {
	s.Int(&d.Number, 0, 2*MaxRooms)
	s.Vec2(&d.Pos, 0, MaxSide, 1.0/2)
	s.Int(&d.Open, 0, DoorOpen)
	s.Bool(&d.Opening)
}

// Step opens for whoever is near, and shuts behind them.
func (d *Door) Step(w *world.World, me world.ID) {
	m := world.StateOf[Match](w)
	if m.stale(w, me) {
		w.Remove(me)
		return
	}
	if m.level == nil || d.Number >= len(m.level.Doors) {
		return
	}
	o := &m.level.Portals[m.level.Doors[d.Number]]
	wanted := d.Opening
	limit := doorNear
	if d.Opening {
		limit, wanted = doorFar, false
	}
	for _, i := range m.work.near(d.Pos, limit+o.Q.Sub(o.P).X+o.Q.Sub(o.P).Y) {
		if f := m.work.fighters[i]; f.Health > 0 && o.distanceSq(f.Pos) < float64(limit*limit) {
			wanted = true
			break
		}
	}
	if wanted != d.Opening {
		d.Opening = wanted
		world.Emit(w, me, DoorMoved{Opening: wanted})
	}
	if d.Opening {
		d.Open = min(d.Open+2, DoorOpen)
	} else {
		d.Open = max(d.Open-1, 0)
	}
}

// distanceSq is the square of the distance from a point to the line of a portal.
func (p *Portal) distanceSq(q det.Vec2) float64 {
	return q.Sub(det.Vec2{X: det.Clamp(q.X, p.P.X, p.Q.X), Y: det.Clamp(q.Y, p.P.Y, p.Q.Y)}).LenSq()
}

// Hints keep it in the way of what is predicted.
func (d *Door) Hints(h *game.Hints) { h.Obstacle() }

// hearDoor is how far a door that moves can be heard.
const hearDoor = 9.0

// Traits are what interest management sees of it.
func (d *Door) Traits(*world.World, world.ID) interest.Traits {
	t := interest.Traits{Pos: at(d.Pos), Nimbus: 1, Importance: 0.5}
	if d.Open > 0 && d.Open < DoorOpen {
		t.Sound = hearDoor
	}
	return t
}
