package arena

import (
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/interest/rooms"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/world"
)

// ViewReach is how far a client is shown things: from the middle of a screen of 32 by 18 units to
// its corners, and a little more.
const ViewReach = 20.0

// horizon is how much of a round trip counts for what may come into sight.
const horizon = 250 * time.Millisecond

// Interest is what a server needs to find what each client is shown: what can be seen from its
// room, what can be heard, what is its own, and the score board. Who watches sees what one of the
// players does. It is the game's game.Views; keep one for a world, made by NewInterest.
type Interest struct {
	Index *interest.Index
	Rules *interest.Rules
	Rooms *rooms.Rooms
	// Reach is how far players see. It is ViewReach, unless it is set before the first tick.
	Reach float64

	traits   []interest.Description
	level    *Map
	follower *interest.Follower
	near     []bool              // by door: someone is about to open it
	eyes     []interest.Observer // by player
	star     world.Player        // whom those who watch look over the shoulder
}

// NewInterest makes one for a new world. The traits are those of the game's classes.
func NewInterest(traits []interest.Description) *Interest {
	return &Interest{traits: traits, Reach: ViewReach}
}

// viewsWithin find what players are shown who see so far.
func viewsWithin(reach float64) func(*world.World, game.Level, []interest.Description) (game.Views,
	error) {
	return func(w *world.World, _ game.Level, traits []interest.Description) (game.Views, error) {
		in := NewInterest(traits)
		in.Reach = reach
		return in, in.Prepare(w)
	}
}

// reachKnob sets how far players see.
var reachKnob = game.Knob{
	Knob: knob.Knob{Name: "reach", Least: 4, Most: 60, Default: "20",
		About:  "how far players are shown things, in units; a screen's corners are 18 away",
		Levels: []string{"10", "14", "17", "20", "24"}},
	Set: func(t *game.Title, v knob.Value) { t.Sight.Views = viewsWithin(v.Number) },
}

// Prepare works out what can be seen from where on all maps that a world will be played on, so that
// no tick has to. It is called when a world begins.
func (in *Interest) Prepare(w *world.World) error {
	match := world.StateOf[Match](w)
	for _, hash := range append(match.Rotation[:], match.Map) {
		if m := MapByHash(hash); m != nil {
			if _, err := m.Plan(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Sight says what a player is shown, and from where that is looked for.
func (in *Interest) Sight(_ *world.World, p world.Player, o *interest.Observer) (*interest.Index,
	*interest.Rules) {
	eyes := p
	if p == world.Nobody {
		eyes = in.star
	}
	*o = in.Observer(eyes, o.RoundTrip)
	o.Player = p
	return in.Index, in.Rules
}

// The numbers of the sources in Rules, for interest.Entry.By.
const (
	ByOwned = iota
	ByAlways
	BySight
	ByHearing
)

// Plan gives the map's rooms and what can be seen from where.
func (m *Map) Plan() (*rooms.Plan, error) { return m.plan() }

func (m *Map) workOutPlan() (*rooms.Plan, error) {
	l := rooms.Layout{Rooms: len(m.Rooms), Locate: m.RoomAt}
	for i := range m.Portals {
		o := &m.Portals[i]
		p := rooms.Portal{P: o.P, Q: o.Q, Depth: 0.5, Door: o.Door + 1}
		if o.Across {
			p.A, p.B = o.Rooms[0], o.Rooms[1]
		} else {
			p.A, p.B = o.Rooms[1], o.Rooms[0]
		}
		l.Portals = append(l.Portals, p)
	}
	return rooms.NewPlan(l)
}

// Follow brings the index and the rooms up to date with a world. When the world has gone on to
// another map they are made anew, and all views with them; the error is that of a map that is not
// there.
func (in *Interest) Follow(w *world.World) error {
	level := world.StateOf[Match](w).level
	if level != in.level || in.Index == nil {
		if err := in.open(level); err != nil {
			return err
		}
	}
	in.follower.Follow(w)
	in.doors(w)
	in.Rooms.Follow(w)
	in.star = Star(w, in.star)
	return nil
}

func (in *Interest) open(level *Map) error {
	if level == nil {
		return errNoMap
	}
	plan, err := level.Plan()
	if err != nil {
		return err
	}
	in.level = level
	in.Index = interest.NewIndex(interest.Options{Cell: 16, Horizon: horizon})
	in.Rooms = rooms.New(plan, in.Index, rooms.Options{Horizon: horizon})
	in.Rules = &interest.Rules{Sources: []interest.Source{
		&interest.Owned{Weight: 4},
		&interest.Always{Weight: 0.5},
		&rooms.Sight{In: in.Rooms, Reach: in.Reach},
		&rooms.Hearing{In: in.Rooms, Weight: 0.3},
	}}
	in.follower = interest.NewFollower(in.Index, in.traits...)
	in.near = make([]bool, len(level.Doors))
	return nil
}

// doors tells the rooms which doors one can see through: those that are open, and those that
// someone is about to open before news of it could arrive.
func (in *Interest) doors(w *world.World) {
	m := in.level
	clear(in.near)
	const reach = doorNear + float64(TopSpeed*0.25)
	for id, f := range world.All[Fighter](w) {
		in.watch(w.Owner(id), f)
		home := m.RoomAt(f.Pos)
		if !f.Alive() || home < 0 {
			continue
		}
		in.approach(f.Pos, home, reach)
		for _, n := range m.Rooms[home].Portals {
			if o := &m.Portals[n]; o.distanceSq(f.Pos) < reach*reach {
				in.approach(f.Pos, o.Rooms[0]+o.Rooms[1]-home, reach)
			}
		}
	}
	for _, d := range world.All[Door](w) {
		if d.Number < len(in.near) {
			in.Rooms.SetDoor(d.Number+1, d.Open > 0 || d.Opening || in.near[d.Number])
		}
	}
}

// approach notes the doors of a room that someone is near to.
func (in *Interest) approach(p det.Vec2, room int, reach float64) {
	for _, n := range in.level.Rooms[room].Portals {
		if o := &in.level.Portals[n]; o.Door >= 0 && o.distanceSq(p) < float64(reach*reach) {
			in.near[o.Door] = true
		}
	}
}

// Observer gives from where a player looks to whom a snapshot is due: from where their fighter is,
// dead or alive.
func (in *Interest) Observer(p world.Player, roundTrip time.Duration) interest.Observer {
	o := interest.Observer{}
	if int(p) < len(in.eyes) {
		o = in.eyes[p]
	}
	o.Player, o.RoundTrip = p, roundTrip
	return o
}

// watch notes from where a player looks.
func (in *Interest) watch(p world.Player, f *Fighter) {
	for int(p) >= len(in.eyes) {
		in.eyes = append(in.eyes, interest.Observer{})
	}
	o := interest.Observer{Pos: det.Vec3{X: f.Pos.X, Y: f.Pos.Y}, Speed: TopSpeed}
	if f.Vel.LenSq() > TopSpeed*TopSpeed {
		o.Speed = flung
	}
	in.eyes[p] = o
}
