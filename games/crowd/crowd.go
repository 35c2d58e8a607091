package crowd

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// The rules, in metres and seconds.
const (
	// Sight is how far a player sees, and Others how many other players are to be seen on average.
	Sight, Others = 60, 30
	// Most is how many players there may be.
	Most = 16384
	// Reach is how near one has to come to a gem to take it, Girth how near a bolt to someone to
	// hit.
	Reach, Girth = 1.0, 0.75

	extent    = 4096    // the largest square
	speed     = 8       // of a walk along the square
	slant     = 5.65625 // and of each part of one across it; the nearest that an image can hold
	gain      = 1.0     // of speed, at most, in a tick
	boltSpeed = 40
	boltLife  = 60 // ticks
	reload    = 20 // ticks
	harm      = 20
	whole     = 100 // health
)

// Game is what to run. Make its settings by SettingsFor.
var Game = world.Define("crowd",
	world.State[Plaza](),
	world.Class[Avatar](world.ClassOptions{Limit: Most}),
	world.Class[Bolt](world.ClassOptions{Limit: 4 * Most}),
	world.Class[Gem](world.ClassOptions{Limit: 4 * Most}),
	world.Commands[Walk](),
	world.Event[Shot](world.EventOptions{Delivery: world.Unreliable, Life: 30}),
	world.Event[Struck](world.EventOptions{Delivery: world.Unreliable, Life: 30}),
	world.Event[Taken](world.EventOptions{Delivery: world.Unreliable, Weak: true, Life: 30}),
	world.Event[Record](world.EventOptions{Delivery: world.Saved, Limit: 1000}),
	world.Action(wound),
	world.Action(give),
	world.Action(count),
	world.OnStart(func(w *world.World) {
		p := world.StateOf[Plaza](w)
		if p.Side == 0 {
			p.Side = SideFor(Others + 1)
		}
		for range p.Gems {
			world.Spawn(w, newGem(w.Rand(), p.Side)) // clients start from the same
		}
	}),
	world.OnJoin(func(w *world.World, p world.Player) {
		a := Avatar{Pos: somewhere(w.Secret(), world.StateOf[Plaza](w).Side), Health: whole}
		w.SetOwner(world.Spawn(w, a), p)
	}),
)

// Walk is a player's command: which way to go, where to aim, and whether to shoot now.
type Walk struct {
	X, Y int8
	Aim  det.Angle
	Fire bool `world:"edge"`
}

// Sync names the fields.
func (c *Walk) Sync(s *bits.Sync) {
	s.Int8(&c.X, -1, 1)
	s.Int8(&c.Y, -1, 1)
	s.Angle(&c.Aim, 10)
	s.Bool(&c.Fire)
}

// Avatar is a player in the square.
type Avatar struct {
	Pos, Vel det.Vec2
	Aim      det.Angle
	Health   int
	Gems     int
	Reload   int // ticks until the next shot
}

// Sync names the fields.
func (a *Avatar) Sync(s *bits.Sync) {
	s.Vec2(&a.Pos, 0, extent, 1.0/256)
	s.Vec2(&a.Vel, -speed, speed, 1.0/64)
	s.Angle(&a.Aim, 10)
	s.Int(&a.Health, 0, whole)
	s.Int(&a.Gems, 0, 9999)
	s.Int(&a.Reload, 0, reload)
}

// Step walks, shoots, and comes back from the dead.
func (a *Avatar) Step(w *world.World, me world.ID) {
	c := world.Command[Walk](w, me)
	side := world.StateOf[Plaza](w).Side
	if a.Health == 0 {
		if !w.Decides() {
			return // where it comes back is a secret
		}
		*a = Avatar{Pos: somewhere(w.Secret(), side), Aim: a.Aim, Health: whole, Gems: a.Gems}
	}
	a.Aim = c.Aim
	a.Vel = a.Vel.Add(c.pace().Sub(a.Vel).ClampLen(gain))
	a.Pos = a.Pos.MulAdd(a.Vel, w.Seconds())
	a.Pos.X, a.Vel.X = within(a.Pos.X, a.Vel.X, side)
	a.Pos.Y, a.Vel.Y = within(a.Pos.Y, a.Vel.Y, side)
	a.Reload = max(a.Reload-1, 0)
	if c.Fire && a.Reload == 0 {
		a.Reload = reload
		way := a.Aim.Vec()
		world.Spawn(w, Bolt{Pos: a.Pos.MulAdd(way, 1.5), Vel: way.Mul(boltSpeed), Life: boltLife})
		world.Emit(w, me, Shot{})
	}
}

// Hints say that it is what a player moves about in.
func (a *Avatar) Hints(h *game.Hints) { h.Body(2 * Girth) }

// Traits are what interest management sees of it.
func (a *Avatar) Traits(*world.World, world.ID) interest.Traits {
	return interest.Traits{Pos: place(a.Pos), Speed: speed}
}

// Look is from where its player looks.
func (a *Avatar) Look(*world.World, world.ID) interest.Observer {
	return interest.Observer{Pos: place(a.Pos), Speed: speed}
}

// pace is the velocity that a command asks for.
func (c *Walk) pace() det.Vec2 {
	v := float64(speed)
	if c.X != 0 && c.Y != 0 {
		v = slant
	}
	return det.Vec2{X: float64(c.X), Y: float64(c.Y)}.Mul(v)
}

// within stops whoever walks into a wall.
func within(at, v, side float64) (float64, float64) {
	if at < 0 || at > side {
		return det.Clamp(at, 0, side), 0
	}
	return at, v
}

func somewhere(r *det.Rand, side float64) det.Vec2 {
	return det.Vec2{X: r.Range(0, side), Y: r.Range(0, side)}
}

// Bolt is a shot in flight. It never changes its course, so once a client knows of one it needs to
// hear no more until it is gone.
type Bolt struct {
	Pos, Vel det.Vec2
	Life     int // ticks
}

// Sync names the fields.
func (b *Bolt) Sync(s *bits.Sync) {
	s.Vec2(&b.Pos, -8, extent+8, 1.0/256)
	s.Vec2(&b.Vel, -boltSpeed, boltSpeed, 1.0/16)
	s.Int(&b.Life, 0, boltLife)
}

// Step flies, and hits the first that it meets.
func (b *Bolt) Step(w *world.World, me world.ID) {
	b.Pos = b.Pos.MulAdd(b.Vel, w.Seconds())
	b.Life--
	p := world.StateOf[Plaza](w)
	if b.Life <= 0 || b.Pos.X < 0 || b.Pos.X > p.Side || b.Pos.Y < 0 || b.Pos.Y > p.Side {
		w.Remove(me)
		return
	}
	if id, a := p.meets(b.Pos, Girth); a != nil && a.Health > 0 {
		world.Act(w, id, hit{})
		w.Remove(me)
	}
}

// A hit is a bolt's, on an avatar that may be on another server.
type hit struct{}

// Sync names the fields.
func (*hit) Sync(*bits.Sync) {}

func wound(w *world.World, id, _ world.ID, _ *hit) {
	a := world.Get[Avatar](w, id)
	if a == nil || a.Health == 0 {
		return
	}
	a.Health = max(a.Health-harm, 0)
	world.Act(w, world.StateID[Plaza](w), tally{Hits: 1})
	world.Emit(w, id, Struck{Health: a.Health})
}

// Hints have clients told of each only once.
func (b *Bolt) Hints(h *game.Hints) { h.TakeOver() }

// Traits are what interest management sees of it.
func (b *Bolt) Traits(*world.World, world.ID) interest.Traits {
	return interest.Traits{Pos: place(b.Pos), Speed: boltSpeed}
}

// Gem lies about, to be taken. Another then appears elsewhere.
type Gem struct {
	Pos   det.Vec2
	Worth int
}

// Sync names the fields.
func (g *Gem) Sync(s *bits.Sync) {
	s.Vec2(&g.Pos, 0, extent, 1.0/8)
	s.Int(&g.Worth, 1, 5)
}

// Traits are what interest management sees of it.
func (g *Gem) Traits(*world.World, world.ID) interest.Traits {
	return interest.Traits{Pos: place(g.Pos), Importance: 0.25}
}

func newGem(r *det.Rand, side float64) Gem {
	return Gem{Pos: somewhere(r, side), Worth: 1 + r.IntN(5)}
}

// Step looks whether someone is here. A gem need not look at every tick.
func (g *Gem) Step(w *world.World, me world.ID) {
	if (uint64(w.Tick())+uint64(me.Index()))%4 != 0 {
		return
	}
	p := world.StateOf[Plaza](w)
	id, a := p.meets(g.Pos, Reach)
	if a == nil {
		return
	}
	world.Act(w, id, gift{Worth: g.Worth})
	if w.Decides() { // who knew where the next one lies would be there first
		world.Spawn(w, newGem(w.Secret(), p.Side))
	}
	w.Remove(me)
}

// A gift is what a gem gives to who found it.
type gift struct{ Worth int }

// Sync names the fields.
func (g *gift) Sync(s *bits.Sync) { s.Int(&g.Worth, 1, 5) }

func give(w *world.World, id, _ world.ID, g *gift) {
	a := world.Get[Avatar](w, id)
	if a == nil {
		return
	}
	a.Gems = min(a.Gems+g.Worth, 9999)
	world.Emit(w, id, Taken{Worth: g.Worth})
	world.Act(w, world.StateID[Plaza](w),
		tally{Taken: 1, By: w.Owner(id), Tens: a.Gems / 10})
}

// What is only seen and heard is unreliable: in a crowd there is always more of it, and what it
// leads to is in the fields of avatars.

// Shot is the sound of someone shooting.
type Shot struct{}

// Sync names the fields.
func (*Shot) Sync(*bits.Sync) {}

// Struck is someone hit, and how well they are after it.
type Struck struct{ Health int }

// Sync names the fields.
func (e *Struck) Sync(s *bits.Sync) { s.Int(&e.Health, 0, whole) }

// Taken is someone who found a gem.
type Taken struct{ Worth int }

// Sync names the fields.
func (e *Taken) Sync(s *bits.Sync) { s.Int(&e.Worth, 1, 5) }

// Record is someone who has more gems than anyone before, told to all and to all who come later.
type Record struct {
	By   world.Player
	Tens int
}

// Sync names the fields.
func (e *Record) Sync(s *bits.Sync) {
	bits.Integer(s, &e.By, 0, 1<<16-1)
	s.Int(&e.Tens, 1, 999)
}
