package arena

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// A Weapon is something to fire with.
type Weapon uint8

// The weapons.
const (
	None     Weapon = iota
	Blaster         // quick weak bolts, and never empty
	Launcher        // rockets: slow, but they burst
	Rail            // a beam that is there at once
	weapons
)

func (w Weapon) String() string {
	return [...]string{"nothing", "blaster", "rocket", "rail"}[min(w, weapons-1)]
}

// An Arm is what a weapon does, for whoever shows it or plays with it.
type Arm struct {
	Reload uint32  // ticks
	Speed  float64 // of the shot, in units a second; 0 for a beam
	Damage int     // of a direct hit
	Push   float64 // by how much it throws the victim, in units a second
	Life   uint32  // ticks until a shot ends by itself
	Reach  float64 // of a beam
}

// Arms are the weapons' numbers.
var Arms = [weapons]Arm{
	Blaster:  {Reload: 8, Speed: 26, Damage: 9, Push: 1.5, Life: 75},
	Launcher: {Reload: 46, Speed: 18, Damage: 85, Push: 14, Life: 240},
	Rail:     {Reload: 84, Damage: 75, Push: 8, Reach: 80},
}

// What else there is to know of weapons.
const (
	Splash     = 3.0 // how far a rocket's burst reaches
	muzzle     = 0.55
	shotRadius = 0.1
	drawTime   = 12 // ticks to take another weapon in hand
	maxRockets = 40
	maxSlugs   = 20
)

// Ammo is how often a fighter can fire a weapon.
func (f *Fighter) Ammo(w Weapon) int {
	switch w {
	case Blaster:
		return 1 << 16
	case Launcher:
		return f.Rockets
	case Rail:
		return f.Slugs
	}
	return 0
}

// handle takes weapons in hand and fires them.
func (f *Fighter) handle(w *world.World, m *Match, me world.ID, cmd Command) {
	if cmd.Weapon != None && cmd.Weapon != f.Weapon && f.Ammo(cmd.Weapon) > 0 {
		f.Weapon = cmd.Weapon
		f.Ready = max(f.Ready, now(w)+drawTime)
	}
	if f.Ammo(f.Weapon) == 0 {
		f.Weapon = Blaster
	}
	if !cmd.Fire || now(w) < f.Ready {
		return
	}
	f.Ready = now(w) + Arms[f.Weapon].Reload
	dir := f.Aim.Vec()
	// The muzzle must not be on the other side of a wall.
	out := m.work.scene.Cast(f.Pos, dir, muzzle)
	at := f.Pos.MulAdd(dir, max(0, out.Distance-shotRadius))
	world.Emit(w, me, Fired{Weapon: f.Weapon, At: at, Aim: f.Aim})
	switch f.Weapon {
	case Launcher:
		f.Rockets--
	case Rail:
		f.Slugs--
		m.beam(w, me, f, dir)
		return
	}
	arm := &Arms[f.Weapon]
	id := world.Spawn(w,
		Shot{Weapon: f.Weapon, Pos: at, Vel: dir.Mul(arm.Speed), Dies: now(w) + arm.Life,
			Team: f.Team})
	w.SetOwner(id, w.Owner(me))
}

// beam fires a rail gun.
func (m *Match) beam(w *world.World, me world.ID, f *Fighter, dir det.Vec2) {
	arm := &Arms[Rail]
	by := w.Owner(me)
	wall := m.work.scene.Cast(f.Pos, dir, arm.Reach)
	shot := m.work.shoots(by, f.Pos)
	i, t := m.work.aim(w, &shot, dir, wall.Distance, func(o *Fighter) bool { return o != f })
	world.Emit(w, me, Beam{From: f.Pos, To: f.Pos.MulAdd(dir, t)})
	if i >= 0 {
		w.Strike(shot, m.work.ids[i])
		hurt(w, m.work.ids[i], arm.Damage, by, f.Team, Rail, dir.Mul(arm.Push))
	} else if wall.Normal != (det.Vec2{}) {
		world.Emit(w, me, Spark{At: f.Pos.MulAdd(dir, t), Out: wall.Normal.Angle()})
	}
}
