package arena

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// What one entity does to another is an action, since the other may be on another server. Whoever
// does it knows by the copy that it sees what is likely to come of it; what does come of it is
// decided where the other is.

// A blow hurts a fighter, and throws it.
type blow struct {
	Amount int
	Weapon Weapon
	By     world.Player
	Team   int // of that player
	Thrown det.Vec2
}

// Sync names the fields.
func (b *blow) Sync(s *bits.Sync) {
	s.Int(&b.Amount, 0, 255)
	bits.Enum(s, &b.Weapon, int(weapons))
	syncPlayer(s, &b.By)
	s.Int(&b.Team, 0, 2)
	s.Vec2(&b.Thrown, -32, 32, resolution/16)
}

// strike does damage, and throws the victim. A client that predicts leaves deaths to the server.
func strike(w *world.World, id, _ world.ID, b *blow) {
	m, f := world.StateOf[Match](w), world.Get[Fighter](w, id)
	if f == nil || f.Health == 0 || m.Over != 0 {
		return
	}
	f.Vel = f.Vel.Add(b.Thrown).ClampLen(flung)
	victim := w.Owner(id)
	if m.Teams && !m.FriendlyFire && b.Team == f.Team && b.By != victim || b.Amount == 0 {
		return
	}
	world.Emit(w, id, Damaged{Amount: b.Amount, Weapon: b.Weapon, By: b.By,
		From: b.Thrown.Neg().Angle()})
	f.Health = max(0, f.Health-b.Amount)
	if f.Health > 0 {
		return
	}
	if !w.Decides() {
		f.Health = 1
		return
	}
	f.Back, f.Vel = now(w)+comeBack, det.Vec2{}
	world.Emit(w, world.None, Killed{Victim: victim, By: b.By, Weapon: b.Weapon})
	m.book(w, victim, b.By, b.Team, f.Team)
}

// book writes a kill on the score board.
func (m *Match) book(w *world.World, victim, by world.Player, team, victimTeam int) {
	gain := 1
	if victim == by || m.Teams && team == victimTeam {
		gain = -1
	}
	for id := range world.All[Sheet](w) {
		var l line
		p := w.Owner(id)
		if p == victim {
			l.Deaths = 1
		}
		if p == by {
			l.Kills = gain
		}
		if l != (line{}) {
			world.Act(w, id, l)
		}
	}
	if m.Teams && team > 0 {
		world.Act(w, world.StateID[Match](w), point{Team: team, Gain: gain})
	}
}

// A line is what is added to a player's on the score board.
type line struct{ Kills, Deaths int }

// Sync names the fields.
func (l *line) Sync(s *bits.Sync) {
	s.Int(&l.Kills, -1, 1)
	s.Int(&l.Deaths, 0, 1)
}

func note(w *world.World, id, _ world.ID, l *line) {
	if s := world.Get[Sheet](w, id); s != nil {
		s.Deaths = min(s.Deaths+l.Deaths, maxKills)
		s.Kills = min(max(s.Kills+l.Kills, -maxKills), maxKills)
	}
}

// A point is what is added to a team's.
type point struct{ Team, Gain int }

// Sync names the fields.
func (p *point) Sync(s *bits.Sync) {
	s.Int(&p.Team, 1, 2)
	s.Int(&p.Gain, -1, 1)
}

func score(w *world.World, _, _ world.ID, p *point) {
	m := world.StateOf[Match](w)
	m.Score[p.Team-1] = min(max(m.Score[p.Team-1]+p.Gain, -maxKills), 4*maxKills)
}

// A gift is what a pickup gives to who ran over it.
type gift struct{ Kind Kind }

// Sync names the fields.
func (g *gift) Sync(s *bits.Sync) { bits.Enum(s, &g.Kind, int(kinds)) }

func give(w *world.World, id, _ world.ID, g *gift) {
	if f := world.Get[Fighter](w, id); f != nil && g.Kind != NoKind && f.Health > 0 {
		f.take(g.Kind)
	}
}

// A restart is a new round, to a fighter or to a player's line on the score board.
type restart struct{}

// Sync names the fields.
func (*restart) Sync(*bits.Sync) {}

func begin(w *world.World, id, _ world.ID, _ *restart) {
	if s := world.Get[Sheet](w, id); s != nil {
		s.Kills, s.Deaths = 0, 0
	}
	if f := world.Get[Fighter](w, id); f != nil {
		f.appear(w, world.StateOf[Match](w), id)
	}
}

// stale says whether something is of a round before this one. The state that ends a round takes
// away what is on its own server; the rest notices itself.
func (m *Match) stale(w *world.World, id world.ID) bool {
	return w.Decides() && uint32(w.Origin(id).Tick) < m.Began
}
