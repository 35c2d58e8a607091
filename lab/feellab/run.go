package feellab

import (
	"context"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// run is one style being tried: a server, its clients and an oracle on a simulated network.
type run struct {
	*session.Session
	o      Options
	style  predict.Style
	rewind *predict.Rewind
	guests []*guest
	oracle *world.World
	in     *world.Inputs
	hits   []game.Hit // of the server's last tick
	counted
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

	inputLags float64
	inputs    int
}

// command is what a player did at a tick.
type command struct {
	given bool
	image []int32
	seen  world.Player // whom the command will hit, as the shooter sees it
}

// totals are what grows, of one client.
type totals struct {
	Compared, Mistaken, Steps int
	In, Out, Repeated         uint64
}

func newRun(ctx context.Context, g *lab.Subject, o Options, style predict.Style) *run {
	r := &run{o: o, style: style, in: g.Game.NewInputs()}
	r.Session = session.New(ctx, g, o.Seed, fmt.Sprintf("%v, %s, ", style, o.Conditions.Name))
	options := r.Server(o.Players, r.Random.Seed())
	options.Recorded = true // shots are judged here, in one style only
	options.Begun, options.After = r.begun, r.after
	r.Serve(options)
	tick := g.Game.TickLength()
	r.End.Every(tick, func() { r.Fail(r.Host.Tick(r.Net.Now())) })
	for i := range o.Players {
		u := &guest{run: r, in: g.Game.NewInputs()}
		r.guests = append(r.guests, u)
		r.Join(&u.Guest, session.Seat{
			Name: fmt.Sprint("player ", i+1), To: r.End.PublicAddr(), Seed: r.Random.Seed,
			Frame:   u.frame,
			Offset:  tick * time.Duration(i) / time.Duration(o.Players),
			Connect: func(e *netsim.Endpoint) { r.Net.Connect(e, r.End, o.Conditions) },
			Client:  client.Options{Style: style},
		})
	}
	return r
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
	r.oracle = w.Host().Clone()
	if r.style != predict.HalfLife {
		return
	}
	var err error
	r.rewind, err = predict.NewRewind(r.Title.Game,
		predict.RewindOptions{Classes: r.Title.Rewound(), Through: r.o.Through})
	r.Fail(err)
	if err == nil {
		r.Title.Shots.Judge(w,
			func(shooter world.Player, target world.ID) (det.Vec3, bool) {
				return r.where(w, shooter, target)
			})
	}
}

// where is where a shooter saw a target.
func (r *run) where(w *world.World, shooter world.Player, target world.ID) (det.Vec3, bool) {
	seat := r.Host.SeatOf(shooter)
	if seat == nil || w.Owner(target) == shooter {
		return det.Vec3{}, false
	}
	t, sixteenths := seat.Seen()
	from, ok := r.bodyOf(w, shooter)
	if t == 0 || !ok {
		return det.Vec3{}, false
	}
	return r.rewind.Where(target, float64(t)+float64(sixteenths)/16,
		func(present det.Vec3) bool { return r.Title.Clear(w, from.At, present) })
}

// bodyOf finds a player's body.
func (r *run) bodyOf(w *world.World, p world.Player) (session.Pose, bool) {
	for id := range w.Host().Of(r.Body) {
		if w.Owner(id) == p {
			return r.Pose(w, id)
		}
	}
	return session.Pose{}, false
}
