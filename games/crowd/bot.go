package crowd

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// A Mind is what a bot thinks with: a player who needs no one, and who acts on what a client sees.
// Bots of different seeds go different ways.
type Mind struct {
	rand   det.Rand
	walk   Walk
	stride int // ticks until another way is chosen
	wait   int // ticks until the next shot
	look   int // ticks until it looks for someone else
	self   world.ID
	target world.ID
}

// NewBot makes a bot.
func NewBot(seed uint64) *Mind {
	b := &Mind{rand: det.At(seed, 0, 0)}
	b.wait = b.rand.IntN(360)
	b.look = b.rand.IntN(120)
	return b
}

// Think is what the bot commands next, as a player. It goes by what it sees in a world, whole or
// partial, of its own avatar and those of others; without one, nil, it walks blindly. It costs next
// to nothing but for the moment, every two seconds, at which it looks around.
func (b *Mind) Think(w *world.World, p world.Player) Walk {
	self := b.find(w, p)
	if b.stride--; b.stride <= 0 {
		b.turn()
	}
	if self == nil {
		b.aim(b.heading())
	} else {
		b.avoid(self, world.StateOf[Plaza](w).Side)
		b.watch(w, self)
	}
	b.walk.Fire = false
	if b.wait--; b.wait <= 0 {
		b.walk.Fire = true
		b.wait = 120 + b.rand.IntN(240)
	}
	return b.walk
}

// find gives the player's own avatar, or nil if it cannot be seen.
func (b *Mind) find(w *world.World, p world.Player) *Avatar {
	if w == nil {
		return nil
	}
	if a := world.Get[Avatar](w, b.self); a != nil && w.Owner(b.self) == p {
		return a
	}
	for id, a := range world.All[Avatar](w) {
		if w.Owner(id) == p {
			b.self = id
			return a
		}
	}
	return nil
}

// turn chooses a way, and for how long. One bot in nine at a time stands still.
func (b *Mind) turn() {
	way := b.rand.IntN(9)
	b.walk.X, b.walk.Y = int8(way%3-1), int8(way/3-1)
	b.stride = 20 + b.rand.IntN(100)
}

// avoid turns back at a wall, so that the square is as full at its edges as elsewhere.
func (b *Mind) avoid(self *Avatar, side float64) {
	back := func(at float64, way *int8) {
		if at < 1 && *way < 0 || at > side-1 && *way > 0 {
			*way = -*way
		}
	}
	back(self.Pos.X, &b.walk.X)
	back(self.Pos.Y, &b.walk.Y)
}

// watch aims at someone near for a while, and then at where it goes.
func (b *Mind) watch(w *world.World, self *Avatar) {
	if b.look--; b.look <= 0 {
		b.look = 60 + b.rand.IntN(120)
		if b.target = world.None; b.rand.Chance(0.5) {
			b.target = b.nearest(w, self)
		}
	}
	if t := world.Get[Avatar](w, b.target); t != nil {
		b.aim(t.Pos.Sub(self.Pos).Angle())
	} else {
		b.aim(b.heading())
	}
}

func (b *Mind) nearest(w *world.World, self *Avatar) (found world.ID) {
	best := float64(Sight * Sight)
	for id, a := range world.All[Avatar](w) {
		if d := a.Pos.Sub(self.Pos).LenSq(); id != b.self && d < best {
			best, found = d, id
		}
	}
	return found
}

func (b *Mind) heading() det.Angle {
	if b.walk.X == 0 && b.walk.Y == 0 {
		return b.walk.Aim
	}
	return det.Vec2{X: float64(b.walk.X), Y: float64(b.walk.Y)}.Angle()
}

func (b *Mind) aim(at det.Angle) { b.walk.Aim = b.walk.Aim.Toward(at, 0.1) }
