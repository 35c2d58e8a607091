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

// hurt does damage, and throws the victim. A client that predicts leaves deaths to the server.
func (m *Match) hurt(w *world.World, id world.ID, f *Fighter, amount int, by world.Player, team int,
	weapon Weapon, thrown det.Vec2) {
	if f.Health == 0 || m.Over != 0 {
		return
	}
	f.Vel = f.Vel.Add(thrown).ClampLen(flung)
	victim := w.Owner(id)
	if m.Teams && !m.FriendlyFire && team == f.Team && by != victim || amount <= 0 {
		return
	}
	amount = min(amount, 255)
	world.Emit(w, id, Damaged{Amount: amount, Weapon: weapon, By: by, From: thrown.Neg().Angle()})
	f.Health = max(0, f.Health-amount)
	if f.Health > 0 {
		return
	}
	if !w.Decides() {
		f.Health = 1
		return
	}
	f.Back, f.Vel = now(w)+comeBack, det.Vec2{}
	world.Emit(w, world.None, Killed{Victim: victim, By: by, Weapon: weapon})
	m.book(w, victim, by, team, f.Team)
}

// book writes a kill on the score board.
func (m *Match) book(w *world.World, victim, by world.Player, team, victimTeam int) {
	gain := 1
	if victim == by || m.Teams && team == victimTeam {
		gain = -1
	}
	for id, s := range world.All[Sheet](w) {
		p := w.Owner(id)
		if p == victim {
			s.Deaths = min(s.Deaths+1, maxKills)
		}
		if p == by {
			s.Kills = min(max(s.Kills+gain, -maxKills), maxKills)
		}
	}
	if m.Teams && team > 0 {
		m.Score[team-1] = min(max(m.Score[team-1]+gain, -maxKills), 4*maxKills)
	}
}
