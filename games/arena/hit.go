package arena

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// shoots is a shot of a player, or of what they fired, as worlds judge it. Walls and doors are
// those of the present, so no one is hit through what is shut by now.
func (k *work) shoots(by world.Player, from det.Vec2) world.Shot {
	if k.clear == nil {
		k.clear = func(to det.Vec3) bool { return k.scene.Clear(k.from, flat(to)) }
	}
	k.from = from
	return world.Shot{By: by, From: at(from), Clear: k.clear}
}

// sees is where a shooter saw a fighter.
func (k *work) sees(w *world.World, s *world.Shot, i int) det.Vec2 {
	at, _ := w.Sees(*s, k.ids[i])
	return flat(at)
}

// aim finds the first fighter that a beam meets within a distance, or the one whom the shooter saw
// hit, and how far away.
func (k *work) aim(w *world.World, s *world.Shot, dir det.Vec2, limit float64,
	counts func(*Fighter) bool) (index int, t float64) {
	index, t = -1, limit
	for i, f := range k.fighters {
		if f.Health == 0 || !counts(f) {
			continue
		}
		if w.Claims(*s, k.ids[i]) {
			if d, ok := meets(flat(s.From), dir, limit, k.sees(w, s, i), Radius); ok {
				return i, d
			}
		}
		if d, ok := meets(flat(s.From), dir, t, k.sees(w, s, i), Radius); ok {
			index, t = i, d
		}
	}
	return index, t
}

// meets says where a ray enters a circle, if it does before a limit. From inside, that is at once.
func meets(from, dir det.Vec2, limit float64, middle det.Vec2, radius float64) (float64, bool) {
	to := middle.Sub(from)
	along := to.Dot(dir)
	if along < -radius || along > limit+radius {
		return 0, false
	}
	aside := dir.Cross(to)
	deep := float64(radius*radius) - float64(aside*aside)
	if deep <= 0 {
		return 0, false
	}
	half := det.Sqrt(deep)
	if along+half < 0 {
		return 0, false // behind
	}
	t := max(0, along-half)
	return t, t < limit
}

// hurt is for those who hit someone.
func hurt(w *world.World, id world.ID, amount int, by world.Player, team int, weapon Weapon,
	thrown det.Vec2) {
	world.Act(w, id, blow{Amount: min(max(amount, 0), 255), Weapon: weapon, By: by, Team: team,
		Thrown: thrown})
}
