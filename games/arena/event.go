package arena

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// Events are for whoever shows the game: sounds, flashes, lines of text. What they tell is also in
// the entities, so none has to be saved for those who come later. The weak ones tell of places,
// which may differ by little between copies of a world; the strict ones tell who did what to whom.

// weakMargin is how far off a weak event may be in a copy of the world, as on mirrors, before that
// is repaired.
const weakMargin = 0.5

// Fired is a shot, about the fighter who fired. Unreliable: the shot itself is an entity. It is
// strict: copies of the world must agree on when and where it was.
type Fired struct {
	Weapon Weapon
	At     det.Vec2
	Aim    det.Angle
}

// Sync names the fields.
func (e *Fired) Sync(s *bits.Sync) {
	bits.Enum(s, &e.Weapon, int(weapons))
	syncPlace(s, &e.At)
	s.Angle(&e.Aim, 8)
}

// Beam is the trace of a rail gun, about the fighter who fired it.
type Beam struct{ From, To det.Vec2 }

// Sync names the fields.
func (e *Beam) Sync(s *bits.Sync) {
	syncPlace(s, &e.From)
	syncPlace(s, &e.To)
}

// Hints say by how much a beam may be off in a copy of the world.
func (e *Beam) Hints(h *game.Hints) {
	h.Margin(&e.From, weakMargin)
	h.Margin(&e.To, weakMargin)
}

// Spark is a bolt or beam that met a wall, about the bolt or the fighter. Unreliable.
type Spark struct {
	At  det.Vec2
	Out det.Angle // where the sparks fly
}

// Sync names the fields.
func (e *Spark) Sync(s *bits.Sync) {
	syncPlace(s, &e.At)
	s.Angle(&e.Out, 5)
}

// Hints say by how much a spark may be off in a copy of the world.
func (e *Spark) Hints(h *game.Hints) { h.Margin(&e.At, weakMargin) }

// Explosion is the end of a rocket, about that rocket.
type Explosion struct{ At det.Vec2 }

// Sync names the fields.
func (e *Explosion) Sync(s *bits.Sync) { syncPlace(s, &e.At) }

// Hints say by how much an explosion may be off in a copy of the world.
func (e *Explosion) Hints(h *game.Hints) { h.Margin(&e.At, weakMargin) }

// Damaged is someone hurt, about that fighter.
type Damaged struct {
	Amount int
	Weapon Weapon
	By     world.Player
	From   det.Angle // where it came from, as seen by the victim
}

// Sync names the fields.
func (e *Damaged) Sync(s *bits.Sync) {
	s.Int(&e.Amount, 0, 255)
	bits.Enum(s, &e.Weapon, int(weapons))
	syncPlayer(s, &e.By)
	s.Angle(&e.From, 5)
}

// Killed is someone's death, told to everyone.
type Killed struct {
	Victim, By world.Player // the same for an accident
	Weapon     Weapon
}

// Sync names the fields.
func (e *Killed) Sync(s *bits.Sync) {
	syncPlayer(s, &e.Victim)
	syncPlayer(s, &e.By)
	bits.Enum(s, &e.Weapon, int(weapons))
}

// Spawned is a fighter who appears, about that fighter.
type Spawned struct{ At det.Vec2 }

// Sync names the fields.
func (e *Spawned) Sync(s *bits.Sync) { syncPlace(s, &e.At) }

// PickedUp is something taken, about the pickup.
type PickedUp struct {
	Kind Kind
	By   world.Player
}

// Sync names the fields.
func (e *PickedUp) Sync(s *bits.Sync) {
	bits.Enum(s, &e.Kind, int(kinds))
	syncPlayer(s, &e.By)
}

// DoorMoved is a door that begins to open or to shut, about the door. Unreliable.
type DoorMoved struct{ Opening bool }

// Sync names the fields.
func (e *DoorMoved) Sync(s *bits.Sync) { s.Bool(&e.Opening) }

// Said is a line of chat, or a wave if the text is empty, told to everyone.
type Said struct {
	By   world.Player
	Text string
}

// Sync names the fields.
func (e *Said) Sync(s *bits.Sync) {
	syncPlayer(s, &e.By)
	s.String(&e.Text, MaxSay)
}

// RoundBegan is a new round, perhaps on another map, told to everyone.
type RoundBegan struct{}

// Sync names the fields.
func (*RoundBegan) Sync(*bits.Sync) {}

// RoundOver is the end of a round, told to everyone.
type RoundOver struct {
	Winner world.Player // who has most kills; Nobody for a draw, or where a team won
	Team   int          // which team won; 0 for none
}

// Sync names the fields.
func (e *RoundOver) Sync(s *bits.Sync) {
	syncPlayer(s, &e.Winner)
	s.Int(&e.Team, 0, 2)
}

// syncPlace is for places that are looked at, not computed with.
func syncPlace(s *bits.Sync, p *det.Vec2) { s.Vec2(p, 0, MaxSide, 1.0/16) }

func syncPlayer(s *bits.Sync, p *world.Player) { bits.Integer(s, p, 0, 1<<16-1) }
