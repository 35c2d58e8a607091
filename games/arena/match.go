package arena

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

const (
	rate         = 60 // ticks a second, as the game is defined
	defaultKills = 20
	defaultTime  = 10 * 60 * rate
	maxKills     = 1000
	pause        = 6 * rate // between rounds
)

// Match is the state of the round: where it is played, on what terms, and how it stands. It changes
// only when something happens, so it costs nothing to be told of; times are kept as the tick at
// which something is due.
type Match struct {
	Map          uint64    // hash of the map
	Rotation     [4]uint64 // maps to play, one after the other; 0 where there is none
	Turn         int       // which of them it is
	Kills        int       // how many end the round; 0 for no such end
	Time         uint32    // ticks after which it ends; 0 for never
	Began        uint32    // tick at which it began
	Over         uint32    // tick at which it ended; 0 while it goes on
	Teams        bool
	FriendlyFire bool
	Score        [2]int // kills of the teams

	// Decides is set where the whole world is held. No rule reads it, they ask world.World.Decides;
	// it stays because saved worlds hold it.
	Decides bool `world:"server"`

	level *Map  `world:"derived"` // the map itself, if this program has it
	work  *work `world:"derived"` // memory to work with: nothing in it outlives a tick
}

// Sync names the fields.
func (m *Match) Sync(s *bits.Sync) {
	s.Uint64(&m.Map, 0, 1<<64-1)
	for i := range m.Rotation {
		s.Uint64(&m.Rotation[i], 0, 1<<64-1)
	}
	s.Int(&m.Turn, 0, len(m.Rotation)-1)
	s.Int(&m.Kills, 0, maxKills)
	syncTick(s, &m.Time)
	syncTick(s, &m.Began)
	syncTick(s, &m.Over)
	s.Bool(&m.Teams)
	s.Bool(&m.FriendlyFire)
	for i := range m.Score {
		s.Int(&m.Score[i], -maxKills, 4*maxKills)
	}
}

// syncTick is for ticks at which something is due. Half of a tick's bits last for two years.
func syncTick(s *bits.Sync, t *uint32) { s.Uint32(t, 0, 1<<32-1) }

// Derive finds the map. A program that lacks it gets none, and its worlds stand still until it is
// registered.
func (m *Match) Derive() {
	if m.level == nil || m.level.hash != m.Map {
		m.level = MapByHash(m.Map)
	}
}

// CopyFrom keeps the memory to work with, as two worlds must not share it. Maps never change, so
// those they may.
func (m *Match) CopyFrom(from *Match) {
	k := m.work
	*m = *from
	m.work = k
}

// Level is the map that is played on, or nil if this program does not have it: then ask the server
// for the text of Match.Map, Parse it, and Register it.
func (m *Match) Level() *Map { return m.level }

// Left is how many ticks the round still lasts, or -1 if it has no such end.
func (m *Match) Left(w *world.World) int {
	if m.Time == 0 {
		return -1
	}
	return max(0, int(m.Began)+int(m.Time)-int(now(w)))
}

func now(w *world.World) uint32 { return uint32(w.Tick()) }

// Gather looks around once for all that step.
func (m *Match) Gather(w *world.World, me world.ID) {
	if m.work == nil {
		m.work = new(work)
	}
	m.Derive()
	m.work.gather(w, m)
}

// Step ends rounds.
func (m *Match) Step(w *world.World, me world.ID) {
	if !w.Decides() || m.level == nil {
		return
	}
	switch {
	case m.Over != 0:
		if now(w) >= m.Over+pause {
			m.next(w)
		}
	case m.finished(w):
		m.Over = now(w)
		m.announce(w)
	}
}

// finished says whether the round is at its end.
func (m *Match) finished(w *world.World) bool {
	if m.Time != 0 && now(w) >= m.Began+m.Time {
		return true
	}
	if m.Kills == 0 {
		return false
	}
	if m.Teams {
		return max(m.Score[0], m.Score[1]) >= m.Kills
	}
	for _, s := range world.All[Sheet](w) {
		if s.Kills >= m.Kills {
			return true
		}
	}
	return false
}

// announce says who won.
func (m *Match) announce(w *world.World) {
	var over RoundOver
	if m.Teams {
		switch {
		case m.Score[0] > m.Score[1]:
			over.Team = 1
		case m.Score[1] > m.Score[0]:
			over.Team = 2
		}
	} else {
		best := -maxKills - 1
		for id, s := range world.All[Sheet](w) {
			switch {
			case s.Kills > best:
				best, over.Winner = s.Kills, w.Owner(id)
			case s.Kills == best:
				over.Winner = world.Nobody
			}
		}
	}
	world.Emit(w, world.None, over)
}

// next goes on with the next map.
func (m *Match) next(w *world.World) {
	turn := (m.Turn + 1) % len(m.Rotation)
	if m.Rotation[turn] == 0 || MapByHash(m.Rotation[turn]) == nil {
		turn = 0
	}
	m.Turn = turn
	for id := range w.Entities() {
		if id.Class() != classFighter && id.Class() != classSheet && !w.Ghost(id) {
			w.Remove(id)
		}
	}
	m.begin(w)
	for id := range world.All[Sheet](w) {
		world.Act(w, id, restart{})
	}
	for id := range world.All[Fighter](w) {
		world.Act(w, id, restart{})
	}
	m.work.gather(w, m) // on the new map
}

// begin starts a round on the map whose turn it is, and puts there what belongs to it.
func (m *Match) begin(w *world.World) {
	m.Map, m.Began, m.Over, m.Score = m.Rotation[m.Turn], now(w), 0, [2]int{}
	m.Derive()
	if m.level == nil {
		return
	}
	for i := range m.level.Items {
		it := &m.level.Items[i]
		world.Spawn(w, Pickup{Pos: it.Pos, Kind: it.Kind})
	}
	for n, portal := range m.level.Doors {
		world.Spawn(w, Door{Number: n, Pos: m.level.Portals[portal].Mid()})
	}
	world.Emit(w, world.None, RoundBegan{})
}

// smallerTeam is where the next player goes.
func (m *Match) smallerTeam(w *world.World) int {
	if !m.Teams {
		return 0
	}
	var n [3]int
	for id := range w.Host().Of(classSheet) {
		if s := world.Get[Sheet](w, id); s != nil {
			n[s.Team]++
		}
	}
	if n[2] < n[1] {
		return 2
	}
	return 1
}

// The numbers of classes, as Game defines them.
const (
	classMatch = iota
	classFighter
	classShot
	classPickup
	classDoor
	classSheet
)
