package main

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/world"
)

// judge lets a server that is about to be made judge by what players were shown, if the game has a use for that. Tell what it gives of the server, once there is one.
//
// What players were shown is in no trace, so a server that is recorded must do without.
func (h *hosted) judge(o *clientserver.Options) func(*clientserver.Server) {
	if h.game != arena.Game {
		return func(*clientserver.Server) {}
	}
	a := &arenaPast{}
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

// arenaPast lets beams be judged by what the shooter saw, for players who are shown others in the past.
type arenaPast struct {
	server *clientserver.Server
	rewind *predict.Rewind
	scene  arena.Scene
}

func (a *arenaPast) begin(w *world.World) {
	r, err := predict.NewRewind(w.Game(), predict.RewindOptions{Classes: map[string]string{"Fighter": ""}})
	if err != nil {
		return // then beams are judged by the present
	}
	a.rewind = r
	arena.Rewind(w, a.where)
}

func (a *arenaPast) record(w *world.World) {
	if a.rewind != nil {
		a.rewind.Record(w)
	}
}

// where says where a shooter saw a target.
func (a *arenaPast) where(w *world.World, shooter world.Player, target world.ID) (det.Vec2, bool) {
	if a.server == nil {
		return det.Vec2{}, false
	}
	seat := a.server.SeatOf(shooter)
	if seat == nil {
		return det.Vec2{}, false
	}
	tick, part := seat.Seen()
	if tick == 0 {
		return det.Vec2{}, false
	}
	from, ok := placeOf(w, shooter)
	if !ok || !a.scene.Look(w) {
		return det.Vec2{}, false
	}
	p, ok := a.rewind.Where(target, float64(tick)+float64(part)/16, func(present det.Vec3) bool {
		return a.scene.Clear(from, det.Vec2{X: present.X, Y: present.Y})
	})
	return det.Vec2{X: p.X, Y: p.Y}, ok
}
