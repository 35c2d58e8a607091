package arena

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// move decides where to go: out of a rocket's way, to what it needs, around an enemy, or on an
// errand.
func (b *Bot) move(w *world.World, f *Fighter, cmd *Command) {
	b.unstick(w, f)
	var dir det.Vec2
	fights := b.clear && f.Health > b.fear()
	switch {
	case w.Tick() < b.dodging:
		dir = b.dodge
	case b.lost > 0:
		b.lost--
		dir = b.heading
	case fights:
		dir = b.dance(w, f)
	default:
		b.plan(w, f)
		if (b.turns+b.seed)%3 == 0 || b.heading == (det.Vec2{}) {
			b.heading = b.route.next(&b.scene, b.nav, f.Pos).Sub(f.Pos)
		}
		dir = b.heading.Unit()
		if b.clear { // backing off is no reason to run in a straight line
			dir = dir.MulAdd(dir.Perp(), float64(0.35*b.strafe))
		}
	}
	cmd.X, cmd.Y = lever(dir.Unit())
}

// fear is the health below which it would rather look for a pack.
func (b *Bot) fear() int { return 15 + int(det.Int32(35*(1-b.nerve))) }

// lever turns a direction into what a stick gives.
func lever(dir det.Vec2) (x, y int8) {
	return int8(det.Int32(det.Round(dir.X * Push))), int8(det.Int32(det.Round(dir.Y * Push)))
}

// dance keeps a distance that suits the weapon, and strafes.
func (b *Bot) dance(w *world.World, f *Fighter) det.Vec2 {
	to := b.at.Sub(f.Pos)
	gap := det.Sqrt(to.LenSq())
	dir := to.Unit()
	like := 5.5
	switch b.weapon {
	case Rail:
		like = 11
	case Blaster:
		like = 4
	}
	like -= float64(2 * b.nerve)
	if w.Tick() >= b.swap {
		b.swap = w.Tick() + 18 + world.Tick(b.rand.IntN(50))
		if b.rand.Chance(0.7) {
			b.strafe = -b.strafe
		}
	}
	aside := dir.Perp().Mul(b.strafe)
	if (b.turns+b.seed)%4 == 0 && !b.scene.canWalk(f.Pos, f.Pos.MulAdd(aside, 1.2)) {
		b.strafe = -b.strafe
		aside = aside.Neg()
	}
	return dir.Mul(det.Clamp((gap-like)/2, -1, 1)).Add(aside)
}

// plan chooses an errand: what it needs most for the way there, where the enemy was last seen, or
// just somewhere else.
func (b *Bot) plan(w *world.World, f *Fighter) {
	arrived := b.routed && f.Pos.Sub(b.route.goal).LenSq() < 0.6*0.6
	if b.routed && !arrived && w.Tick() < b.until {
		return
	}
	b.heading = det.Vec2{}
	b.until = w.Tick() + 240 + world.Tick(b.rand.IntN(240))
	if b.enemy != world.None && w.Tick() < b.lastSeen+90 && f.Health > b.fear() &&
		b.rand.Chance(0.4+float64(0.5*b.nerve)) && !arrived {
		b.until = w.Tick() + 60
		b.routed = b.route.to(b.level, b.nav, b.at)
		return
	}
	best, value := det.Vec2{}, 0.0
	for _, p := range world.All[Pickup](w) {
		if !p.There(w) || !f.wants(p.Kind) {
			continue
		}
		d := det.Sqrt(p.Pos.Sub(f.Pos).LenSq())
		if d > 30 {
			continue
		}
		if v := float64(f.need(p.Kind)*b.rand.Range(0.7, 1)) / (4 + d); v > value {
			best, value = p.Pos, v
		}
	}
	if value < 0.03 { // nothing that matters: see what goes on elsewhere
		best = b.elsewhere(f)
	}
	b.routed = b.route.to(b.level, b.nav, best)
}

// need is how much a fighter has use for something.
func (f *Fighter) need(k Kind) float64 {
	switch k {
	case SmallPack:
		return float64(Healthy-f.Health) / 50
	case LargePack:
		return 1.5
	case RocketBox, RocketGun:
		return 1.2 - float64(f.Rockets)/15
	case SlugBox, RailGun:
		return 1.3 - float64(f.Slugs)/8
	}
	return 0
}

// elsewhere is one of the places that everyone knows: where things lie and where people appear. Of
// three, the nearest.
func (b *Bot) elsewhere(f *Fighter) det.Vec2 {
	var best det.Vec2
	least := float64(far)
	for range 3 {
		n := b.rand.IntN(len(b.level.Items) + len(b.level.Spawns))
		var at det.Vec2
		if n < len(b.level.Items) {
			at = b.level.Items[n].Pos
		} else {
			at = b.level.Spawns[n-len(b.level.Items)].Pos
		}
		if d := at.Sub(f.Pos).LenSq(); d < least && d > 16 {
			best, least = at, d
		}
	}
	if least == far {
		return b.level.Spawns[b.rand.IntN(len(b.level.Spawns))].Pos
	}
	return best
}

// unstick notices that it does not get on, and lets it try something else for a moment.
func (b *Bot) unstick(w *world.World, f *Fighter) {
	if b.turns%45 != 0 {
		return
	}
	if f.Pos.Sub(b.stuck).LenSq() < 0.5*0.5 && !b.clear && b.routed {
		b.lost, b.routed = 15, false
		b.heading = b.rand.Unit2()
	}
	b.stuck = f.Pos
}
