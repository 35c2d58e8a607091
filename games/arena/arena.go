package arena

import (
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// Game is what to run. Without Settings it is played on the smallest map, to twenty kills.
var Game = world.Define("arena",
	world.State[Match](),
	world.Class[Fighter](world.ClassOptions{Limit: 1024}),
	world.Class[Shot](world.ClassOptions{Limit: 8192}),
	world.Class[Pickup](world.ClassOptions{Limit: 4096}),
	world.Class[Door](world.ClassOptions{Limit: 4096}),
	world.Class[Sheet](world.ClassOptions{Limit: 1024}),
	world.Commands[Command](),
	world.Event[Fired](world.EventOptions{Delivery: world.Unreliable}),
	world.Event[Beam](world.EventOptions{Weak: true}),
	world.Event[Spark](world.EventOptions{Delivery: world.Unreliable, Weak: true}),
	world.Event[Explosion](world.EventOptions{Weak: true}),
	world.Event[Damaged](),
	world.Event[Killed](world.EventOptions{Delivery: world.Everyone}),
	world.Event[Spawned](),
	world.Event[PickedUp](),
	world.Event[DoorMoved](world.EventOptions{Delivery: world.Unreliable, Weak: true}),
	world.Event[Said](world.EventOptions{Delivery: world.Everyone}),
	world.Event[RoundBegan](world.EventOptions{Delivery: world.Everyone}),
	world.Event[RoundOver](world.EventOptions{Delivery: world.Everyone}),
	world.Action(strike),
	world.Action(note),
	world.Action(score),
	world.Action(give),
	world.Action(begin),
	world.OnStart(start),
	world.OnJoin(join),
	world.OnLeave(leave),
)

// DefaultMap is where a match is played that names none.
const DefaultMap = "duel"

// Options are the terms of a match. The zero value is everyone against everyone, to twenty kills or
// for ten minutes, on one map.
type Options struct {
	// Seed and Secret are those of the world: what chance hangs on, and what it hangs on that
	// players must not foresee.
	Seed, Secret uint64
	// Rotation are maps to go on with when a round is over, by name, after the first. Default: the
	// same again.
	Rotation []string
	// Kills is how many end a round; below zero there is no such end. Default: 20.
	Kills int
	// Time is how long a round lasts at most; below zero for ever. Default: ten minutes.
	Time time.Duration
	// Teams makes two teams of the players.
	Teams bool
	// FriendlyFire lets members of a team hurt each other.
	FriendlyFire bool
}

// Settings make a world in which a match is played on a map: one that comes with the game, or was
// registered.
func Settings(mapName string, o Options) (world.Settings, error) {
	s := world.Settings{Seed: o.Seed, Secret: o.Secret}
	match := &Match{
		Kills: defaultKills, Time: defaultTime, Teams: o.Teams, FriendlyFire: o.FriendlyFire}
	switch {
	case o.Kills > 0:
		match.Kills = min(o.Kills, maxKills)
	case o.Kills < 0:
		match.Kills = 0
	}
	switch {
	case o.Time > 0:
		match.Time = uint32(min(o.Time*rate/time.Second, 1<<31))
	case o.Time < 0:
		match.Time = 0
	}
	for i, name := range append([]string{mapName}, o.Rotation...) {
		m, err := MapNamed(name)
		if err != nil {
			return s, err
		}
		if i < len(match.Rotation) {
			match.Rotation[i] = m.Hash()
		}
		m.nav() // before there is a tick in which a bot would ask for it
	}
	s.States = []bits.Syncer{match}
	return s, nil
}

// start fills a new world.
func start(w *world.World) {
	m := world.StateOf[Match](w)
	if m.Rotation[0] == 0 {
		kills, t := m.Kills, m.Time
		*m = Match{Kills: defaultKills, Time: defaultTime, Teams: m.Teams,
			FriendlyFire: m.FriendlyFire}
		if kills != 0 {
			m.Kills = kills
		}
		if t != 0 {
			m.Time = t
		}
		m.Rotation[0] = defaultHash()
	}
	m.Decides = true
	m.begin(w)
}

func defaultHash() uint64 {
	m := catalog().byName[DefaultMap]
	if m == nil {
		return 0
	}
	return m.Hash()
}

// join lets a player in: one who fights, and a line on the score board.
func join(w *world.World, p world.Player) {
	m := world.StateOf[Match](w)
	team := m.smallerTeam(w)
	sheet := Sheet{Team: team}
	w.SetOwner(world.Spawn(w, sheet), p)
	f := Fighter{Team: team}
	id := world.Spawn(w, f)
	w.SetOwner(id, p)
	if at := world.Get[Fighter](w, id); at != nil {
		at.appear(w, m, id)
	}
}

// leave takes away what was the player's, and what that player fired.
func leave(w *world.World, p world.Player) {
	for id := range w.Entities() {
		if w.Owner(id) == p && !w.Ghost(id) {
			w.Remove(id)
		}
	}
}
