package bandwidthlab

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/world"
)

// A share is the paper's variable to which a class's bytes belong.
type share uint8

const (
	shareC share = iota // what there is without any players, such as the map's doors
	shareD              // what everyone is told of every player, near or not, such as a score board
	shareE              // what is told of players who are near: their bodies, and what flies about
)

// shares find out to which variable each class belongs, by watching a world: what interest
// management shows everyone is d, the players' bodies and what else moves is e, and all the rest c.
// Once it is d or e a class stays so. Bytes are divided up at the end of a run, when all classes
// are known.
type shares struct {
	title *lab.Subject
	of    []share               // by class
	last  map[world.ID]det.Vec3 // where entities were that do not say how fast they are
}

func newShares(s *lab.Subject) *shares {
	x := &shares{title: s, of: make([]share, len(s.Game.Classes())), last: map[world.ID]det.Vec3{}}
	x.of[s.BodyClass()] = shareE
	return x
}

// watch looks at a world after its tick.
func (x *shares) watch(w *world.World) {
	for class, info := range w.Game().Classes() {
		if info.State() || x.of[class] == shareD {
			continue
		}
		for id := range w.Host().Of(class) {
			always, moves := x.look(w, id)
			switch {
			case always:
				x.of[class] = shareD
			case moves:
				x.of[class] = shareE
			}
		}
	}
}

// look says whether an entity is shown to everyone, and whether it moves.
func (x *shares) look(w *world.World, id world.ID) (always, moves bool) {
	if e, ok := w.Host().Value(id).(game.Seen); ok {
		t := e.Traits(w, id)
		return t.Always, t.Speed > 0
	}
	at, ok := x.title.At(w, id)
	if !ok {
		return true, false // nothing is said of it, and such things are shown to everyone
	}
	if x.of[id.Class()] == shareC {
		was, known := x.last[id]
		moves = known && was != at
		x.last[id] = at
	}
	return false, moves
}

// share is that of a class of the server's ledger, whose last is of commands that are relayed: for
// prediction of those who are near.
func (x *shares) share(class int) share {
	if class >= len(x.of) {
		return shareE
	}
	return x.of[class]
}
