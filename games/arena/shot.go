package arena

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// Shot is something that flies: a bolt or a rocket. It belongs to the player who fired it, and
// flies straight.
type Shot struct {
	Weapon   Weapon
	Pos, Vel det.Vec2
	Dies     uint32 // tick at which it ends by itself
	Team     int    // of who fired it
}

// Sync names the fields.
func (s *Shot) Sync(b *bits.Sync) {
	bits.Enum(b, &s.Weapon, int(weapons))
	b.Vec2(&s.Pos, 0, MaxSide, 1.0/1024)
	b.Vec2(&s.Vel, -32, 32, resolution)
	syncTick(b, &s.Dies)
	b.Int(&s.Team, 0, 2)
}

// Step flies until something is in the way.
func (s *Shot) Step(w *world.World, me world.ID) {
	m := world.StateOf[Match](w)
	if m.level == nil {
		return
	}
	if m.Over != 0 || m.stale(w, me) {
		w.Remove(me)
		return
	}
	speed := det.Sqrt(s.Vel.LenSq())
	way := float64(speed * w.Seconds())
	if way == 0 {
		w.Remove(me)
		return
	}
	dir := s.Vel.Mul(1 / speed)
	wall := m.work.scene.Cast(s.Pos, dir, way)
	by := w.Owner(me)
	hit, t := -1, wall.Distance
	shot := m.work.shoots(by, s.Pos)
	for _, i := range m.work.near(s.Pos, way+Radius+shotRadius+strayed) {
		f := m.work.fighters[i]
		if f.Health == 0 || w.Owner(m.work.ids[i]) == by || m.Teams && !m.FriendlyFire &&
			f.Team == s.Team {
			continue
		}
		d, ok := meets(s.Pos, dir, wall.Distance, m.work.sees(w, &shot, int(i)), Radius+shotRadius)
		if !ok {
			continue
		}
		if w.Claims(shot, m.work.ids[i]) { // whom the shooter saw hit
			hit, t = int(i), d
			break
		}
		if d < t || hit >= 0 && d == t && int(i) < hit {
			hit, t = int(i), d
		}
	}
	if hit >= 0 {
		w.Strike(shot, m.work.ids[hit])
	}
	s.Pos = s.Pos.MulAdd(dir, t)
	switch {
	case hit >= 0 || wall.Normal != det.Vec2{} || now(w) >= s.Dies:
		s.end(w, m, me, dir, wall, hit)
		w.Remove(me)
	}
}

// end is what happens where it stops.
func (s *Shot) end(w *world.World, m *Match, me world.ID, dir det.Vec2, wall Hit, hit int) {
	by, arm := w.Owner(me), &Arms[s.Weapon]
	if s.Weapon == Launcher {
		// It bursts a little before the wall, so that the wall is not between the burst and whoever
		// stands beside it.
		s.Pos = s.Pos.MulAdd(dir, -1.0/64)
		world.Emit(w, me, Explosion{At: s.Pos})
		m.burst(w, s.Pos, by, s.Team, hit, dir)
		return
	}
	switch {
	case hit >= 0:
		hurt(w, m.work.ids[hit], arm.Damage, by, s.Team, s.Weapon, dir.Mul(arm.Push))
	case wall.Normal != det.Vec2{}:
		world.Emit(w, me, Spark{At: s.Pos, Out: wall.Normal.Angle()})
	}
}

// burst hurts and throws everyone around a rocket's end, the less the further away. Who fired it is
// thrown as far, and hurt by half. Who was struck is hurt wherever they are by now.
func (m *Match) burst(w *world.World, at det.Vec2, by world.Player, team, direct int,
	dir det.Vec2) {
	arm := &Arms[Launcher]
	if direct >= 0 {
		hurt(w, m.work.ids[direct], arm.Damage, by, team, Launcher, dir.Mul(arm.Push))
	}
	for _, i := range m.work.near(at, Splash) {
		f, id := m.work.fighters[i], m.work.ids[i]
		d := f.Pos.Sub(at)
		n := det.Sqrt(d.LenSq())
		if f.Health == 0 || n >= Splash || int(i) == direct || !m.work.scene.Clear(at, f.Pos) {
			continue
		}
		part, away := det.Clamp((Splash-n)/(Splash-Radius), 0, 1), dir
		if n > 0 {
			away = d.Mul(1 / n)
		}
		damage := float64(float64(arm.Damage) * part)
		if w.Owner(id) == by {
			damage *= 0.5
		}
		hurt(w, id, int(det.Int32(damage)), by, team, Launcher,
			away.Mul(float64(arm.Push*(0.25+float64(0.75*part)))))
	}
}

// strayed is how far from where it is a fighter can be seen: as far as one walks while a view is
// honoured, and a throw.
const strayed = TopSpeed*rewinds/rate + 2

// hearFlame is how far a rocket can be heard.
const hearFlame = 10.0

// Traits are what interest management sees of it.
func (s *Shot) Traits(*world.World, world.ID) interest.Traits {
	t := interest.Traits{Pos: at(s.Pos), Nimbus: shotRadius, Speed: Arms[s.Weapon].Speed}
	if s.Weapon == Launcher {
		t.Sound, t.Importance = hearFlame, 1.5
	}
	return t
}
