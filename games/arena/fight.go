package arena

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// look chooses whom to fight: the nearest that is seen, and rather the one it fights already.
func (b *Bot) look(w *world.World, f *Fighter) {
	best, least := world.None, float64(sightLimit*sightLimit)
	var seen *Fighter
	for id, o := range world.All[Fighter](w) {
		if o == f || !o.Alive() || f.Team != 0 && o.Team == f.Team {
			continue
		}
		d := o.Pos.Sub(f.Pos).LenSq()
		if id == b.enemy {
			d *= 0.5
		}
		if d < least && b.scene.Clear(f.Pos, o.Pos) {
			best, least, seen = id, d, o
		}
	}
	b.clear = best != world.None
	if best == world.None {
		if b.enemy != world.None && w.Tick() > b.lastSeen+120 {
			b.enemy = world.None
		}
		return
	}
	if best != b.enemy || w.Tick() > b.lastSeen+30 {
		b.spotted = w.Tick()
	}
	b.enemy, b.lastSeen, b.at, b.vel = best, w.Tick(), seen.Pos, seen.Vel
}

// follow keeps an eye on the enemy between two looks, as one does.
func (b *Bot) follow(w *world.World, f *Fighter) {
	if !b.clear {
		return
	}
	o := world.Get[Fighter](w, b.enemy)
	if o == nil || !o.Alive() {
		b.enemy, b.clear, b.routed = world.None, false, false
		return
	}
	b.at, b.vel, b.lastSeen = o.Pos, o.Vel, w.Tick()
}

// duck sees a rocket that comes near, and which way leads out of its path.
func (b *Bot) duck(w *world.World, f *Fighter, me world.Player) {
	for id, s := range world.All[Shot](w) {
		to := f.Pos.Sub(s.Pos)
		if s.Weapon != Launcher || to.LenSq() > 9*9 || w.Owner(id) == me {
			continue
		}
		dir := s.Vel.Unit()
		if along := to.Dot(dir); along < 0 || det.Abs(dir.Cross(to)) > 1.6 ||
			!b.rand.Chance(0.3+0.7*b.skill) || !b.scene.Clear(f.Pos, s.Pos) {
			continue
		}
		aside := dir.Perp()
		if dir.Cross(to) < 0 {
			aside = aside.Neg()
		}
		if b.scene.Cast(f.Pos, aside, 1.5).Normal != (det.Vec2{}) {
			aside = aside.Neg() // a wall is there
		}
		b.dodge, b.dodging = aside, w.Tick()+14
		return
	}
}

// point aims and pulls the trigger.
func (b *Bot) point(w *world.World, f *Fighter, cmd *Command) {
	// The hand sways slowly, more when the enemy is new and when one is not good at it.
	b.sway = float64(b.sway*0.93) + float64(b.rand.Range(-1, 1)*(0.035-float64(0.028*b.skill)))
	want := b.aim
	gap := float64(far)
	switch {
	case b.enemy != world.None && w.Tick() < b.lastSeen+45:
		to := b.at.Sub(f.Pos)
		gap = det.Sqrt(to.LenSq())
		b.choose(f, gap)
		if v := Arms[b.weapon].Speed; v > 0 {
			// Where it will be when the shot arrives; beginners lead too little.
			ahead := b.at.MulAdd(b.vel, float64(gap/v*(0.4+float64(0.6*b.skill))))
			if b.scene.Cast(b.at, ahead.Sub(b.at).Unit(),
				det.Sqrt(ahead.Sub(b.at).LenSq())).Normal == (det.Vec2{}) {
				to = ahead.Sub(f.Pos)
			}
		}
		want = to.Angle() + det.Angle(b.sway)
	case f.Vel.LenSq() > 1:
		want = f.Vel.Angle() // where it goes
	}
	turn := det.Angle(0.10 + float64(0.16*b.skill))
	b.aim = b.aim.Toward(want, turn).Wrap()
	cmd.Aim, cmd.Weapon = b.aim, b.weapon
	if !b.clear || b.weapon == Launcher && gap < Splash*0.8 {
		return
	}
	react := world.Tick(6 + det.Int32(20*(1-b.skill)))
	off := det.Abs(float64(b.aim.Sub(want)))
	cmd.Fire = w.Tick() >= b.spotted+react && float64(off*gap) < 0.8
}

// choose takes the weapon that suits the distance.
func (b *Bot) choose(f *Fighter, gap float64) {
	switch {
	case f.Slugs > 0 && gap > 8:
		b.weapon = Rail
	case f.Rockets > 0 && gap > 2.6 && gap < 15:
		b.weapon = Launcher
	case f.Slugs > 0 && gap > 3:
		b.weapon = Rail
	default:
		b.weapon = Blaster
	}
}
