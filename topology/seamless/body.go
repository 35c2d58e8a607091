package seamless

import (
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// A body is a zone's world, as package zone sees it: a zone.Body. What Step depends on is the
// world, the plan and what is kept beside them; all else is for looking at.
type body struct {
	self   zone.ID
	game   *world.Game
	where  places
	bodies int // the number of the class that players move about in, or -1
	most   int // players

	plan *Plan
	// next is the plan that takes the place of this one when its tick has come, if there is any,
	// and since is the tick before which this one did.
	next  *Plan
	since world.Tick
	near  []zone.ID // who is shown what is within reach, beside others
	w     *world.World
	in    *world.Inputs

	ghosts  ghosts
	views   views
	players players
	// went is where entities of this zone's own allocator were handed over to, which are not here.
	// held are those that came back, as there was no room for them, and until when they stay.
	went map[world.ID]zone.ID
	held map[world.ID]world.Tick
	out  outbox
	// ahead are commands for ticks to come.
	ahead ahead
	// seats are who plays at which gateway, of home alone.
	seats seats

	recent lately
	shows  shows
	census census
	pace   pace
	ages   [agesCounted]uint64 // how old what others show was when it was taken in, in ticks
	pack   []byte
	forget []forgetting
	// strays are identifiers that can be given up, of an allocator of which this zone has not heard
	// who keeps it.
	strays []world.ID
	faults faults
}

// faults are what went wrong in a zone without stopping it.
type faults struct {
	rules   uint64 // ticks in which the rules did something wrong
	last    error  // the last of these
	refused uint64 // entities for which there was no room here
	large   uint64 // ticks that an entity could not leave as it is too large
	strange uint64 // things that other zones or servers gave that cannot be
	dropped uint64 // actions that were given up, as far too many waited
	nowhere uint64 // actions on what is no more
}

// agesCounted is up to how many ticks ages are told apart.
const agesCounted = 16

// census is how many there were in the last tick.
type census struct{ entities, ghosts, players int }

// newBody makes a body that is empty until it is begun or loaded.
func newBody(t *game.Title, where places, self zone.ID) *body {
	b := &body{self: self, game: t.Game, where: where, bodies: -1, in: t.Game.NewInputs()}
	if c, _, ok := t.Body(); ok {
		b.bodies = c.Number()
	}
	return b
}

// begin has the body go on from a world that was divided.
func (b *body) begin(p *Plan, w *world.World) {
	b.w = w
	b.ghosts = ghosts{all: map[world.ID]ghost{}}
	b.players = newPlayers()
	b.went, b.held = map[world.ID]zone.ID{}, map[world.ID]world.Tick{}
	b.out, b.ahead, b.seats, b.recent.list = outbox{}, nil, nil, nil
	b.views, b.strays = nil, nil
	b.settlePlan(p)
}

// settlePlan has the body be of a plan from now on.
func (b *body) settlePlan(p *Plan) {
	b.plan, b.near = p, p.Near(b.self)
	b.shows.begin(b, b.w.Tick())
}

// planned is the version of the newest plan that this zone knows.
func (b *body) planned() uint64 {
	if b.next != nil {
		return b.next.Version
	}
	return b.plan.Version
}

// home says whether this is the zone that has the states.
func (b *body) home() bool { return b.plan.Home == b.self }

// control is the entity that stands for the zone itself, in what zones tell each other.
const control = 0

// Has says that each action on an entity that has not gone from here is given to Step. If the
// entity is not here and has not been, it may be on its way: what led to the action was shown
// before it was durable, and may not have happened yet. The zone by whose allocator it is named
// then knows where it is.
func (b *body) Has(uint64) bool { return true }

// owns says whether an entity or state is here, and no ghost.
func (b *body) owns(id world.ID) bool { return b.w.Has(id) && !b.w.Ghost(id) }

// Step computes a tick.
func (b *body) Step(in *zone.Input, out *zone.Output) {
	if b.w.Tick()+1 != world.Tick(in.Tick) {
		panic(fmt.Sprintf("a world at tick %d is to compute tick %d", b.w.Tick(), in.Tick))
	}
	began := time.Now()
	defer func() { b.pace.took(time.Since(began), b.game.TickLength()) }()
	b.in.Reset()
	b.out.begin(out, in.Closed)
	for i := range in.Ghosts {
		b.look(&in.Ghosts[i])
	}
	b.ghosts.expire(b.w)
	b.takeIntents(in)
	for i := range in.Arrivals {
		b.arrive(&in.Arrivals[i])
	}
	for _, c := range in.Commands {
		b.command(c)
	}
	b.replan()
	for i := range in.Actions {
		b.act(&in.Actions[i])
	}
	b.expireSeats()
	b.giveIntents()
	b.compute()
	b.recent.take(b.w)
	b.endIntents()
	b.bury()
	b.sweep()
	b.unseat()
	b.send()
	b.present(out)
	b.out.end()
}

// compute has the world step. What the rules did wrong is noted; if they panicked the zone has to
// be begun again.
func (b *body) compute() {
	err := b.w.Host().TryStep(b.in)
	if err == nil {
		return
	}
	var p *world.Panic
	if errors.As(err, &p) {
		panic(p)
	}
	b.faults.rules++
	b.faults.last = err
}
