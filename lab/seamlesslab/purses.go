//go:build !js

package seamlesslab

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// The game that is played by default. Purses walk to and fro in a long hall, which is cut across
// into zones, and give each other gold where they meet, also over borders. There is never more gold
// nor less, and never another purse. Until one tick, and from another on, all stand still and keep
// what they have, so that all can be counted.

const (
	hallWide  = 64.0 // a zone's part of the hall, which a purse walks through in a second
	hallDeep  = 16.0
	hallMost  = 64 * hallWide
	hallReach = 4.0
	riches    = 1000 // the gold of each in the beginning
	giveEvery = 120  // in how many ticks each gives once, on average
)

type purse struct {
	Pos, Vel det.Vec2
	Gold     int
	// Ticks is how many ticks of its life were executed, and Gave how often it has given.
	Ticks, Gave int
}

func (p *purse) Sync(s *bits.Sync) {
	s.Vec2(&p.Pos, 0, hallMost, 1.0/64)
	s.Vec2(&p.Vel, -128, 128, 1.0/64)
	s.Int(&p.Gold, 0, 1<<24)
	s.Int(&p.Ticks, 0, 1<<24)
	s.Int(&p.Gave, 0, 1<<24)
}

// walls is what purses know of the hall, which does not change.
type walls struct {
	Long  int
	Begin int
	Quiet int
}

func (h *walls) Sync(s *bits.Sync) {
	s.Int(&h.Long, 0, hallMost)
	s.Int(&h.Begin, 0, 1<<24)
	s.Int(&h.Quiet, 0, 1<<24)
}

func (p *purse) Step(w *world.World, me world.ID) {
	p.Ticks++
	h := world.StateOf[walls](w)
	if w.Tick() < world.Tick(h.Begin) || w.Tick() >= world.Tick(h.Quiet) {
		return
	}
	if w.Rand().IntN(60) == 0 { // those who waited together at a border do not stay together
		v := w.Rand().Range(hallWide/2, 3*hallWide/2)
		if p.Vel.X < 0 {
			v = -v
		}
		p.Vel.X = v
	}
	p.Pos = p.Pos.MulAdd(p.Vel, w.Seconds())
	p.Pos.X, p.Vel.X = bounce(p.Pos.X, p.Vel.X, float64(h.Long))
	p.Pos.Y, p.Vel.Y = bounce(p.Pos.Y, p.Vel.Y, hallDeep)
	if r := w.Rand(); p.Gold == 0 || r.IntN(giveEvery) != 0 {
		return
	}
	for id, o := range world.All[purse](w) {
		if id == me || o.Pos.Sub(p.Pos).LenSq() > hallReach*hallReach {
			continue
		}
		if !w.Ghost(id) && w.Rand().IntN(8) != 0 { // those beyond a border first
			continue
		}
		amount := 1 + w.Rand().IntN(min(p.Gold, 100))
		p.Gold -= amount
		p.Gave++
		world.Act(w, id, gift{uint64(me), p.Gave, amount})
		return
	}
}

func bounce(at, v, most float64) (float64, float64) {
	if at < 0 || at > most {
		return det.Clamp(at, 0, most), -v
	}
	return at, v
}

// gift is what one purse gives another: the giver, and the number of that one's gift.
type gift struct {
	From   uint64
	Number int
	Amount int
}

func (g *gift) Sync(s *bits.Sync) {
	s.Uint64(&g.From, 0, 1<<64-1)
	s.Int(&g.Number, 0, 1<<24)
	s.Int(&g.Amount, 0, 1<<10)
}

// given is told of each gift, once.
type given struct {
	From   uint64
	Number int
}

func (g *given) Sync(s *bits.Sync) {
	s.Uint64(&g.From, 0, 1<<64-1)
	s.Int(&g.Number, 0, 1<<24)
}

// hall is a hall of so many zones, in which purses walk from one tick to another.
type hall struct {
	zones, purses int
	begin, quiet  world.Tick
}

// title makes the game.
func (h hall) title() *game.Title {
	long := float64(h.zones) * hallWide
	g := world.Define("purses", world.Class[purse](world.ClassOptions{Limit: h.purses + 64}),
		world.State[walls](), world.Event[given](),
		world.Action(func(w *world.World, id, _ world.ID, g *gift) {
			world.Get[purse](w, id).Gold += g.Amount
			world.Emit(w, id, given{g.From, g.Number})
		}),
		world.OnStart(func(w *world.World) {
			*world.StateOf[walls](w) = walls{int(long), int(h.begin), int(h.quiet)}
			for i := range h.purses {
				p := purse{Gold: riches, Vel: det.Vec2{X: hallWide, Y: w.Rand().Range(-8, 8)}}
				p.Pos = det.Vec2{X: w.Rand().Range(0, long), Y: w.Rand().Range(0, hallDeep)}
				if i%2 == 0 {
					p.Vel.X = -hallWide
				}
				world.Spawn(w, p)
			}
		}))
	return &game.Title{Game: g}
}
