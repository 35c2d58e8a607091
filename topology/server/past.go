package server

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/world"
)

// A past lets shots be judged by what the shooter saw, for players who are shown others a moment
// ago: it remembers where things were, and each seat knows what its client showed when a command
// was given. It belongs to one world. Without memory everything is judged by the present.
type past struct {
	title  *game.Title
	memory *predict.Rewind // nil: judge by the present
	body   *world.ClassInfo
	place  world.Field
}

// newPast begins to remember a world, if the title has shots to judge and this server may: what
// players were shown is in no trace, so a match that is recorded does without; and of a world that
// may be taken back there is no one past.
func (s *Server) newPast(w *world.World) (*past, error) {
	title := s.opt.Title
	p := &past{title: title}
	classes := title.Rewound()
	if len(classes) == 0 || s.opt.Recorded || s.traits.Leading {
		return p, nil
	}
	var err error
	p.memory, err = predict.NewRewind(w.Game(), predict.RewindOptions{Classes: classes})
	if err != nil {
		return nil, err
	}
	if body, _, ok := title.Body(); ok {
		p.body = body
		p.place, _ = title.Place(body.Number())
	}
	title.Shots.Judge(w, func(shooter world.Player, target world.ID) (det.Vec3, bool) {
		seat := s.SeatOf(shooter)
		if seat == nil {
			return det.Vec3{}, false
		}
		tick, sixteenths := seat.Seen()
		return p.where(w, shooter, target, tick, sixteenths)
	})
	return p, nil
}

// judges says whether anything is judged by the past.
func (p *past) judges() bool { return p.memory != nil }

// remember keeps a tick.
func (p *past) remember(w *world.World) {
	if p.memory != nil {
		p.memory.Remember(w)
	}
}

// where says where a shooter saw a target, who saw the tick given and so many sixteenths of the way
// to the next.
func (p *past) where(
	w *world.World, shooter world.Player, target world.ID, tick world.Tick, sixteenths uint8,
) (det.Vec3, bool) {
	if tick == 0 {
		return det.Vec3{}, false // it shows others as they are
	}
	from, known := p.placeOf(w, shooter)
	if !known && p.title.Shots.Clear != nil {
		return det.Vec3{}, false
	}
	return p.memory.Where(target, float64(tick)+float64(sixteenths)/16,
		func(present det.Vec3) bool {
			return p.title.Shots.Clear == nil || p.title.Shots.Clear(w, from, present)
		})
}

// placeOf is where a player's body is.
func (p *past) placeOf(w *world.World, of world.Player) (at det.Vec3, ok bool) {
	if p.body == nil {
		return at, false
	}
	for id := range w.Host().Of(p.body.Number()) {
		if w.Owner(id) != of {
			continue
		}
		image, slots := w.Host().Image(id), p.body.Schema().Slots
		axes := [...]*float64{&at.X, &at.Y, &at.Z}
		for i, slot := range p.place.Slots {
			if i < len(axes) {
				*axes[i] = float64(image[slot]) * slots[slot].Scale
			}
		}
		return at, true
	}
	return at, false
}
