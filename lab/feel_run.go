package lab

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// feelRun is one style being tried: a server, its clients and an oracle on a simulated network.
type feelRun struct {
	g      *Subject
	o      FeelOptions
	style  predict.Style
	body   int // class
	net    *netsim.Net
	server *server.Server
	rewind *predict.Rewind
	guests []*feelGuest // by player, from 1
	err    error

	oracle  *world.World
	in      *world.Inputs
	measure bool // warm enough

	own, others, drift []float32
	hits               []game.Hit
	sum                FeelResult
	ahead, behind      float64
	looks              int
	foreseen, denied   int
	contact, struck    int
	corrections        int
	ticks              uint64
}

// feelGuest is one player.
type feelGuest struct {
	run    *feelRun
	client *client.Client
	end    *netsim.Endpoint
	bot    game.Bot
	me     world.Player
	probe  *world.World
	in     *world.Inputs

	commands [feelTicks]feelCommand
	shown    [feelTicks]feelShown
	struck   world.Tick // when it was last hit, or died, or came back
	feared   world.Tick // when it was last shown a hit on itself, whether or not it happened
	life     int
	alive    bool

	start     predict.Stats
	compared  int
	mistaken  int
	bytesIn   uint64
	bytesOut  uint64
	repeated  uint64
	inputLags float64
	inputs    int
}

// feelTicks is for how many ticks it is remembered what clients showed: longer than any of them is ahead.
const feelTicks = 256

type feelCommand struct {
	tick  world.Tick
	image []int32
	seen  world.Player // whom the command will hit, as the shooter sees it
}

type feelShown struct {
	tick  world.Tick
	poses []feelPose
}

type feelPose struct {
	id    world.ID
	owner world.Player
	at    det.Vec3
	life  int
}

// feelEntropy makes tokens that are the same in each run.
type feelEntropy struct{ r *netsim.Rand }

func (e feelEntropy) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e.r.Uint64())
	}
	return len(b), nil
}

func (e feelEntropy) seed() (s [32]byte) {
	_, _ = e.Read(s[:]) // it never fails
	return s
}

func newFeelRun(g *Subject, o FeelOptions, style predict.Style) (*feelRun, error) {
	r := &feelRun{g: g, o: o, style: style, body: g.BodyClass(), in: g.Game.NewInputs()}
	r.net = netsim.New(netsim.Options{Seed: o.Seed})
	entropy := feelEntropy{r.net.Rand()}
	end := r.net.Endpoint("server")
	end.SetInbox(1 << 16)
	var key token.Key
	_, _ = entropy.Read(key[:])
	options := server.Options{
		Title: g.Title, Level: g.On(o.Seed + 1), Recorded: true, // shots are judged here, in one style only
		Links: []link.Link{end}, Keys: []token.Key{key}, Players: o.Players, Workers: 1,
		Begun: r.begun, After: r.after,
	}
	const wall = 1_700_000_000
	options.Conn.Seed, options.Conn.Wall = entropy.seed(), wall
	var err error
	if r.server, err = server.New(options); err != nil {
		return nil, err
	}
	end.Every(g.Game.TickLength(), func() { r.fail(r.server.Tick(r.net.Now())) })
	for i := range o.Players {
		t, err := token.Issue(key, token.Grant{
			Protocol: token.ProtocolID(g.Game.Name()), Client: uint64(i + 1), Expires: wall + 3600, Servers: []netip.AddrPort{end.PublicAddr()},
		}, entropy)
		if err != nil {
			return nil, err
		}
		if err := r.join(i, end, t, entropy); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// join adds a client, whose frames are in step with no one else's.
func (r *feelRun) join(i int, to *netsim.Endpoint, t token.Token, entropy feelEntropy) error {
	u := &feelGuest{run: r, end: r.net.Endpoint(fmt.Sprint("player ", i+1)), bot: r.g.NewBot(r.o.Seed*1000 + uint64(i)), in: r.g.Game.NewInputs()}
	r.guests = append(r.guests, u)
	r.net.Connect(u.end, to, r.o.Conditions)
	o := client.Options{Title: r.g.Title, Link: u.end, Token: t, Name: u.end.Name(), Style: r.style}
	o.Conn.Seed = entropy.seed()
	var err error
	if u.client, err = client.New(o); err != nil {
		return err
	}
	tick := r.g.Game.TickLength()
	u.end.After(tick*time.Duration(i)/time.Duration(r.o.Players), func() {
		u.end.Every(tick, u.frame)
	})
	return nil
}

func (r *feelRun) fail(err error) {
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("%v, %s, seed %d, at %v: %w", r.style, r.o.Conditions.Name, r.o.Seed, r.net.Now(), err)
	}
}

func (r *feelRun) close() {
	for _, u := range r.guests {
		_ = u.client.Close() // the network is no more
	}
	_ = r.server.Close()
}

// run lets the time pass.
func (r *feelRun) run(ctx context.Context, progress func(float64)) error {
	whole := r.o.Warm + r.o.Time
	for r.net.Now() < whole && r.err == nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.net.Run(min(200*time.Millisecond, whole-r.net.Now()))
		if !r.measure && r.net.Now() >= r.o.Warm {
			r.measure = true
			for _, u := range r.guests {
				u.mark()
			}
		}
		progress(float64(r.net.Now()) / float64(whole))
	}
	for _, u := range r.guests {
		if p := u.client.Predict(); r.err == nil && (p == nil || !p.Started()) {
			r.fail(fmt.Errorf("%s never came into the game; its client is %v", u.end.Name(), u.client.Phase()))
		}
	}
	return r.err
}

// begun is called with the server's world.
func (r *feelRun) begun(w *world.World, _ server.Level) {
	r.oracle = w.Host().Clone()
	if r.style != predict.HalfLife {
		return
	}
	var err error
	r.rewind, err = predict.NewRewind(r.g.Game, predict.RewindOptions{Classes: r.g.Rewound(), Through: r.o.Through})
	r.fail(err)
	if err == nil {
		r.g.Shots.Judge(w, func(shooter world.Player, target world.ID) (det.Vec3, bool) { return r.where(w, shooter, target) })
	}
}

// where is where a shooter saw a target.
func (r *feelRun) where(w *world.World, shooter world.Player, target world.ID) (det.Vec3, bool) {
	seat := r.server.SeatOf(shooter)
	if seat == nil || w.Owner(target) == shooter {
		return det.Vec3{}, false
	}
	t, part := seat.Seen()
	if t == 0 {
		return det.Vec3{}, false
	}
	from, ok := r.bodyOf(w, shooter)
	if !ok {
		return det.Vec3{}, false
	}
	return r.rewind.Where(target, float64(t)+float64(part)/16, func(present det.Vec3) bool { return r.g.Clear(w, from.at, present) })
}

// bodyOf finds a player's body.
func (r *feelRun) bodyOf(w *world.World, p world.Player) (feelPose, bool) {
	for id := range w.Host().Of(r.body) {
		if w.Owner(id) == p {
			return r.pose(w, id)
		}
	}
	return feelPose{}, false
}

// pose is where a body is, if it is in play.
func (r *feelRun) pose(w *world.World, id world.ID) (feelPose, bool) {
	life, alive := game.Lives(w, id)
	p := feelPose{id: id, owner: w.Owner(id), life: life}
	p.at, _ = r.g.At(w, id)
	return p, alive
}
