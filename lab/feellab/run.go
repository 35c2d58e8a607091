package feellab

import (
	"context"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/architecture"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// run is one style being tried: a server, its clients and an oracle on a simulated network.
type run struct {
	*session.Session
	o      Options
	kind   architecture.Kind
	guests []*guest
	oracle *world.World
	before *world.World // the server's at the tick before
	other  *others
	in     *world.Inputs
	image  []int32    // of a command
	every  world.Tick // what is shown is compared at each of so many
	hits   []game.Hit // of the server's last tick
	counted
	marks
	tallies
}

// counted is what is measured.
type counted struct {
	own, others, drift []float32
	seen               Hits
	behind             float64
	foreseen, denied   int
	ticks              uint64
}

// guest is one player.
type guest struct {
	session.Guest
	run      *run
	probe    *world.World
	in       *world.Inputs
	commands session.Ring[command]
	before   totals
	looked   world.Tick // what was shown last

	inputLags float64
	inputs    int
}

// command is what a player did at a tick.
type command struct {
	given bool
	image []int32
}

// totals are what grows, of one client.
type totals struct {
	Compared, Mistaken, Steps int
	In, Out, Repeated         uint64
}

func newRun(ctx context.Context, g *lab.Subject, o Options, kind architecture.Kind) *run {
	r := &run{o: o, kind: kind, in: g.Game.NewInputs(), other: &others{}}
	r.image = make([]int32, len(g.Game.Commands().Slots))
	r.every = 1 + world.Tick(o.Time/(10*time.Minute))
	r.kills, r.deaths = map[world.Player]int{}, map[world.Player]int{}
	r.reasons, r.splits = map[string]int{}, map[[2]string]*Split{}
	r.Session = session.New(ctx, g, o.Seed, fmt.Sprintf("%s, %s, ", kind.Name, o.Conditions.Name))
	options := r.Server(o.Players, r.Random.Seed())
	options.Begun, options.After = r.begun, r.after
	kind.Server(&options)
	r.Serve(options)
	tick := g.Game.TickLength()
	r.End.Every(tick, func() { r.Fail(r.Host.Tick(r.Net.Now())) })
	for i := range o.Players {
		u := &guest{run: r, in: g.Game.NewInputs()}
		r.guests = append(r.guests, u)
		r.Join(&u.Guest, session.Seat{
			Name: fmt.Sprint("player ", i+1), To: r.End.PublicAddr(), Seed: r.Random.Seed,
			Frame:  u.frame,
			Offset: tick * time.Duration(i) / time.Duration(o.Players),
			Connect: func(e *netsim.Endpoint) {
				c := o.Conditions
				if o.of != nil {
					c = o.of(i)
				}
				r.Net.Connect(e, r.End, c)
			},
			Client: clientOf(kind),
		})
	}
	return r
}

// clientOf are the options of a client of an architecture.
func clientOf(kind architecture.Kind) (o client.Options) {
	kind.Client(&o)
	return o
}

// play lets the time pass.
func (r *run) play(p lab.Progress) error {
	err := r.Play(r.o.Warm, r.o.Time, func() {
		for _, u := range r.guests {
			u.before = u.totals()
		}
	}, p, "playing")
	for _, u := range r.guests {
		if c := u.Client.Predict(); err == nil && (c == nil || !c.Started()) {
			r.Fail(fmt.Errorf("%s never came into the game; its client is %v", u.End.Name(),
				u.Client.Phase()))
			err = r.Err
		}
	}
	return err
}

// begun is called with the server's world.
func (r *run) begun(w *world.World, _ server.Level) {
	r.oracle, r.before = w.Host().Clone(), w.Host().Clone()
	if !r.o.plain {
		r.other = newOthers(r, w)
	}
	if g := r.Title.Game; r.o.Favour != world.FavourDefault {
		j := &world.Judging{Limit: g.Rewinds(), Cover: r.o.Favour.Cover(g.Rate()), Margin: -1}
		if r.o.Favour == world.FavourPresent {
			j.Limit = 0
		}
		w.Host().SetJudging(j)
	}
}

// bodyOf finds a player's body, if it is in play.
func (r *run) bodyOf(w *world.World, p world.Player) (session.Pose, bool) {
	for id := range w.Host().Of(r.Body) {
		if w.Owner(id) == p {
			return r.Pose(w, id)
		}
	}
	return session.Pose{}, false
}

// placed is where a player's body is, or was when they died.
func (r *run) placed(w *world.World, p world.Player) (at session.Pose, ok bool) {
	for id := range w.Host().Of(r.Body) {
		if w.Owner(id) == p {
			at, _ = r.Pose(w, id)
			return at, true
		}
	}
	return at, false
}
