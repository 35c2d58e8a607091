package arena

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// What bodies are like.
const (
	// of a fighter; a multiple of what positions are rounded to, so that who leans against a wall
	// rests
	Radius     = 13.0 / 32
	TopSpeed   = 9.0 // units a second, on one's own feet
	push       = 80  // units a second squared: how fast one comes up to speed
	brake      = 55  // and down from it
	slip       = 24  // the same for someone who was thrown, and slides
	flung      = 28  // no one is faster
	still      = 1.0 / 8
	resolution = 1.0 / 64 // of velocities
	comeBack   = 90       // ticks until one may come back
	comeAnyway = 150      // and how many more until one must
	Healthy    = 100      // what one starts with, and small packs lead to
	MaxHealth  = 200
)

// Fighter is a player's body. There is one for each player; who is dead has no health, and waits to
// appear somewhere else.
type Fighter struct {
	Pos, Vel det.Vec2
	Aim      det.Angle
	Health   int
	Weapon   Weapon
	Rockets  int
	Slugs    int
	Ready    uint32 // tick from which on it may fire
	Back     uint32 // of the dead: tick from which on it may come back
	Team     int    // 0 where there are none
	// counts the times it appeared, so that whoever draws it knows a leap from a step
	Life uint8
}

// Sync names the fields. Resolutions are such that what is slower than still does not move at all,
// and what is faster does.
func (f *Fighter) Sync(s *bits.Sync) {
	s.Vec2(&f.Pos, 0, MaxSide, 1.0/1024)
	s.Vec2(&f.Vel, -32, 32, resolution)
	s.Angle(&f.Aim, aimBits)
	s.Int(&f.Health, 0, MaxHealth)
	bits.Enum(s, &f.Weapon, int(weapons))
	s.Int(&f.Rockets, 0, maxRockets)
	s.Int(&f.Slugs, 0, maxSlugs)
	syncTick(s, &f.Ready)
	syncTick(s, &f.Back)
	s.Int(&f.Team, 0, 2)
	s.Uint8(&f.Life, 0, 255)
}

// Alive says whether it is there to be seen, hit and run into.
func (f *Fighter) Alive() bool { return f.Health > 0 }

// Step walks, bumps into others, and fires.
func (f *Fighter) Step(w *world.World, me world.ID) {
	m := world.StateOf[Match](w)
	if m.level == nil || m.Over != 0 {
		return
	}
	cmd := world.Command[Command](w, me)
	if f.Health == 0 {
		if w.Decides() && now(w) >= f.Back && (cmd.Fire || now(w) >= f.Back+comeAnyway) {
			f.appear(w, m, me)
		}
		return
	}
	f.Aim = cmd.Aim
	f.hasten(cmd, w.Seconds())
	f.Pos, f.Vel = m.work.scene.walk(f.Pos, f.Vel, f.Vel.Mul(w.Seconds()))
	f.jostle(w, m.work, me)
	if f.Vel.LenSq() < still*still {
		f.Vel = det.Vec2{}
	}
	f.handle(w, m, me, cmd)
}

// hasten brings the velocity nearer to what the player wants. Someone who was thrown cannot stop at
// once.
func (f *Fighter) hasten(cmd Command, dt float64) {
	wish := det.Vec2{
		X: float64(cmd.X) / Push, Y: float64(cmd.Y) / Push}.ClampLen(1).Mul(TopSpeed / resolution)
	// what can be reached, so that one does not try for ever
	wish = det.Vec2{X: det.Round(wish.X), Y: det.Round(wish.Y)}.Mul(resolution)
	most := float64(push)
	switch {
	case f.Vel.LenSq() > 1.2*TopSpeed*TopSpeed:
		most = slip
	case wish == det.Vec2{}:
		most = brake
	}
	f.Vel = f.Vel.Add(wish.Sub(f.Vel).ClampLen(most * dt)).ClampLen(flung)
}

// jostle keeps fighters apart: each gives way by half, and what drove them together is shared. One
// on another server gives way there, when its own turn comes.
func (f *Fighter) jostle(w *world.World, k *work, me world.ID) {
	for _, i := range k.near(f.Pos, 2*Radius) {
		o := k.fighters[i]
		if o == f || o.Health == 0 {
			continue
		}
		d := f.Pos.Sub(o.Pos)
		n := d.LenSq()
		if n >= 4*Radius*Radius {
			continue
		}
		away := det.Vec2{X: 1} // exactly on top of each other, the older goes left
		if n = det.Sqrt(n); n > 0 {
			away = d.Mul(1 / n)
		} else if me < k.ids[i] {
			away.X = -1
		}
		in := min(f.Vel.Sub(o.Vel).Dot(away), 0)
		gap := float64((2*Radius - n) * 0.5)
		f.Vel = f.Vel.MulAdd(away, -in/2)
		f.Pos, f.Vel = k.scene.walk(f.Pos, f.Vel, away.Mul(gap))
		if !w.Ghost(k.ids[i]) {
			o.Vel = o.Vel.MulAdd(away, in/2)
			o.Pos, o.Vel = k.scene.walk(o.Pos, o.Vel, away.Mul(-gap))
		}
	}
}

// appear puts a fighter at one of the map's spawns, away from enemies, with what one starts with.
// Where is drawn in secret, and only where all are seen.
func (f *Fighter) appear(w *world.World, m *Match, me world.ID) {
	if m.level == nil {
		return
	}
	*f = Fighter{
		Pos: m.spawn(w, f.Team, me), Health: Healthy, Weapon: Blaster, Rockets: 3, Team: f.Team,
		Life: f.Life + 1}
	world.Emit(w, me, Spawned{At: f.Pos})
}

// spawn chooses a place: of a few at random, the one from which the next other is furthest.
func (m *Match) spawn(w *world.World, team int, me world.ID) det.Vec2 {
	spawns := m.level.Spawns
	best, bestGap := spawns[0].Pos, -1.0
	for tries := 0; tries < 6; tries++ {
		s := &spawns[w.Secret().IntN(len(spawns))]
		if s.Team != 0 && team != 0 && s.Team != team {
			continue
		}
		gap := 40.0 * 40
		for id := range w.Host().Of(classFighter) {
			if o := world.Get[Fighter](w, id); o != nil && o.Health > 0 && id != me {
				d := o.Pos.Sub(s.Pos).LenSq()
				if team != 0 && o.Team == team && d > 4 {
					continue // friends may be near
				}
				gap = min(gap, d)
			}
		}
		if gap > bestGap {
			best, bestGap = s.Pos, gap
		}
	}
	return best
}

// Hints say how it is treated: in the way of what is predicted.
func (f *Fighter) Hints(h *game.Hints) {
	h.Heading(&f.Aim)
	h.Obstacle()
	h.Body(2 * Radius)
	h.Margin(&f.Pos, 0.25) // moves are weak: nobody sees that much of a step
}

// Rewind says that it is shot at where it was seen.
func (f *Fighter) Rewind(r *world.Rewinding) {
	r.Place(&f.Pos)
	r.Limit(rewinds)
	r.Margin(2)
}

// rewinds is for how many ticks a player's view is honoured.
const rewinds = 30

// Lives tells a leap from a step.
func (f *Fighter) Lives() (life int, alive bool) { return int(f.Life), f.Alive() }

// How far fighters can be heard.
const (
	hearShot = 18.0
	hearFeet = 6.0
)

// Traits are what interest management sees of it.
func (f *Fighter) Traits(w *world.World, _ world.ID) interest.Traits {
	t := interest.Traits{Pos: at(f.Pos), Nimbus: Radius, Importance: 2, Speed: TopSpeed}
	switch {
	case !f.Alive():
		t.Speed, t.Importance = 0, 0.2
	case f.Ready > now(w):
		t.Sound = hearShot
	case f.Vel.LenSq() > 1:
		t.Sound = hearFeet
	}
	if fast := f.Vel.LenSq(); fast > TopSpeed*TopSpeed {
		t.Speed = flung
	}
	return t
}

func at(p det.Vec2) det.Vec3 { return det.Vec3{X: p.X, Y: p.Y} }
