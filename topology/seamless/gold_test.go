package seamless

import (
	"strconv"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// The game of these tests: purses wander about, and give each other gold, of which there is never
// more nor less. The bank counts each gift. Sparks come and go.

const (
	goldSide   = 64.0
	goldReach  = 8.0
	goldPurses = 40
	goldEach   = 100
)

type purse struct {
	Pos, Vel det.Vec2
	Gold     int
	Gave     int
	Ticks    int
	Got      int `world:"server"`
}

func (p *purse) Sync(s *bits.Sync) {
	s.Vec2(&p.Pos, 0, goldSide, 1.0/64)
	s.Vec2(&p.Vel, -64, 64, 1.0/64)
	s.Int(&p.Gold, 0, 1<<20)
	s.Int(&p.Gave, 0, 1<<20)
	s.Int(&p.Ticks, 0, 1<<20)
}

func (p *purse) Step(w *world.World, me world.ID) {
	p.Ticks++
	if purseBomb != 0 && w.Tick() == purseBomb && w.Host().Settings().Allocator == 2 {
		panic("a bomb was in it")
	}
	if c := world.Command[push](w, me); c.X != 0 || c.Y != 0 {
		p.Vel = det.Vec2{X: float64(c.X) * 16, Y: float64(c.Y) * 16}
	} else if w.Rand().IntN(60) == 0 {
		p.Vel = det.Vec2{X: w.Rand().Range(-16, 16), Y: w.Rand().Range(-16, 16)}
	}
	p.Pos = p.Pos.MulAdd(p.Vel, w.Seconds())
	p.Pos.X, p.Vel.X = bounce(p.Pos.X, p.Vel.X)
	p.Pos.Y, p.Vel.Y = bounce(p.Pos.Y, p.Vel.Y)
	b := world.StateOf[bank](w)
	if p.Gold == 0 || b.Shut || w.Rand().IntN(12) != 0 {
		return
	}
	for id, o := range world.All[purse](w) {
		if id != me && o.Pos.Sub(p.Pos).LenSq() < goldReach*goldReach && w.Rand().IntN(3) == 0 {
			p.Gold--
			p.Gave++
			world.Act(w, id, gift{1})
			world.Act(w, world.StateID[bank](w), gift{1})
			world.Spawn(w, spark{Pos: p.Pos, Vel: p.Vel.Mul(3).ClampLen(60), Life: 40})
			world.Emit(w, me, thanks{})
			return
		}
	}
}

// in says whether a purse is in a quarter of the field.
func (p *purse) in(x, y int32) bool {
	return (p.Pos.X > goldSide/2) == (x > 0) && (p.Pos.Y > goldSide/2) == (y > 0)
}

func bounce(at, v float64) (float64, float64) {
	if at < 0 || at > goldSide {
		return det.Clamp(at, 0, goldSide), -v
	}
	return at, v
}

// purseBomb is the tick at which the game panics in the second zone.
var purseBomb world.Tick

type spark struct {
	Pos, Vel det.Vec2
	Life     int
}

func (p *spark) Sync(s *bits.Sync) {
	s.Vec2(&p.Pos, 0, goldSide, 1.0/64)
	s.Vec2(&p.Vel, -64, 64, 1.0/64)
	s.Int(&p.Life, 0, 100)
}

func (p *spark) Step(w *world.World, me world.ID) {
	p.Pos = p.Pos.MulAdd(p.Vel, w.Seconds())
	if p.Life--; p.Life <= 0 {
		w.Remove(me)
	}
}

type bank struct {
	Given int
	Until int // from which tick on nobody gives
	Shut  bool
}

func (b *bank) Sync(s *bits.Sync) {
	s.Int(&b.Given, 0, 1<<24)
	s.Int(&b.Until, 0, 1<<24)
	s.Bool(&b.Shut)
}

type gift struct{ N int }

func (g *gift) Sync(s *bits.Sync) { s.Int(&g.N, 0, 10) }

type push struct{ X, Y int8 }

func (p *push) Sync(s *bits.Sync) {
	s.Int8(&p.X, -1, 1)
	s.Int8(&p.Y, -1, 1)
}

type thanks struct{}

func (*thanks) Sync(*bits.Sync) {}

// goldShut is the tick from which on nobody gives, if the level does not say another.
const goldShut = 900

func (b *bank) Step(w *world.World, me world.ID) { b.Shut = int(w.Tick()) >= b.Until }

var gold = world.Define("gold", world.State[bank](),
	world.Class[purse](world.ClassOptions{Limit: 1000}),
	world.Class[spark](world.ClassOptions{Limit: 2000}),
	world.Commands[push](), world.Event[thanks](),
	world.Action(func(w *world.World, id, by world.ID, g *gift) {
		if b := world.StateOf[bank](w); id == world.StateID[bank](w) {
			b.Given += g.N
			return
		}
		p := world.Get[purse](w, id)
		p.Gold += g.N
		p.Got += g.N
	}),
	world.OnStart(func(w *world.World) {
		for range goldPurses {
			world.Spawn(w, purse{Gold: goldEach,
				Pos: det.Vec2{X: w.Rand().Range(0, goldSide), Y: w.Rand().Range(0, goldSide)}})
		}
	}),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, purse{Gold: goldEach,
			Pos: det.Vec2{X: w.Secret().Range(0, goldSide), Y: w.Secret().Range(0, goldSide)}}), p)
	}),
	world.OnLeave(func(w *world.World, p world.Player) {
		for id := range world.All[purse](w) {
			if w.Owner(id) == p && !w.Ghost(id) {
				w.Remove(id)
			}
		}
	}),
)

func goldTitle() *game.Title {
	return &game.Title{Game: gold, Levels: game.Levels{Names: []string{strconv.Itoa(goldShut)},
		Settings: func(l game.Level) (world.Settings, error) {
			n, err := strconv.Atoi(l.Name)
			return world.Settings{States: []bits.Syncer{&bank{Until: n}}}, err
		}}}
}
