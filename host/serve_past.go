//go:build !js

package host

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/world"
)

// judgeShots lets a server that is about to be made judge by what players were shown, if the title has a
// use for that. Tell what it gives of the server, once there is one.
func judgeShots(t *game.Title, o *clientserver.Options) func(*clientserver.Server) {
	if len(t.Rewound()) == 0 {
		return func(*clientserver.Server) {}
	}
	a := &past{title: t}
	begun, after := o.Begun, o.After
	o.Begun = func(w *world.World, l clientserver.Level) {
		a.begin(w)
		if begun != nil {
			begun(w, l)
		}
	}
	o.After = func(w *world.World, in *world.Inputs) {
		a.record(w)
		if after != nil {
			after(w, in)
		}
	}
	return func(s *clientserver.Server) { a.server = s }
}

// A past lets shots be judged by what the shooter saw, for players who are shown others in the past.
type past struct {
	title  *game.Title
	server *clientserver.Server
	rewind *predict.Rewind
	world  *world.World
}

func (a *past) begin(w *world.World) {
	r, err := predict.NewRewind(w.Game(), predict.RewindOptions{Classes: a.title.Rewound()})
	if err != nil {
		return // then shots are judged by the present
	}
	a.rewind, a.world = r, w
	a.title.Shots.Judge(w, a.where)
}

func (a *past) record(w *world.World) {
	if a.rewind != nil {
		a.rewind.Record(w)
	}
}

// where says where a shooter saw a target.
func (a *past) where(shooter world.Player, target world.ID) (det.Vec3, bool) {
	if a.server == nil {
		return det.Vec3{}, false
	}
	seat := a.server.SeatOf(shooter)
	if seat == nil {
		return det.Vec3{}, false
	}
	tick, part := seat.Seen()
	from, ok := bodyOf(a.title, a.world, shooter)
	if tick == 0 || !ok {
		return det.Vec3{}, false
	}
	return a.rewind.Where(target, float64(tick)+float64(part)/16, func(present det.Vec3) bool {
		return a.title.Shots.Clear == nil || a.title.Shots.Clear(a.world, from, present)
	})
}

// bodyOf is where a player's body is.
func bodyOf(t *game.Title, w *world.World, p world.Player) (at det.Vec3, ok bool) {
	class, _, ok := t.Body()
	if !ok {
		return at, false
	}
	place, ok := t.Place(class.Number())
	if !ok {
		return at, false
	}
	slots := class.Schema().Slots
	for id := range w.Of(class.Number()) {
		if w.Owner(id) != p {
			continue
		}
		image := w.Image(id)
		for i, slot := range place.Slots {
			x := float64(float64(image[slot]) * slots[slot].Scale)
			switch i {
			case 0:
				at.X = x
			case 1:
				at.Y = x
			default:
				at.Z = x
			}
		}
		return at, true
	}
	return at, false
}
