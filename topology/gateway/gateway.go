package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/topology/seamless"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/zone"
)

// Options are what a gateway is made from.
type Options struct {
	// Server is the side that clients see: its links, keys, limits and rules. Its level is the
	// world's, its engine the gateway, and its title that of Cluster if it has none. All gateways
	// have the same keys, so that the tickets of one are good at another.
	Server server.Options
	// Cluster is how the gateway takes part in the world; see seamless.Options, whose Zones are
	// none.
	Cluster seamless.Options
	// Public is where clients reach this gateway, as others tell theirs. Default: none, and nobody
	// is sent here.
	Public netip.AddrPort
	// Reach is how far players see. Default: Title.Sight.Reach, or else everything is fetched.
	Reach float64
	// SendOn is after what time without home, or without most zones, players are asked to go on at
	// another gateway. Default: 1.5 s.
	SendOn time.Duration
}

// A Gateway is a server for clients of a world in zones. It is driven by Poll, or by Run, which
// does that as time goes by; its methods belong to the goroutine that drives it, and while Run
// does, others use Do.
type Gateway struct {
	opt    Options
	member *seamless.Member
	gate   *seamless.Gate
	server *server.Server // nil until the world has been seen
	now    time.Duration
	ticked time.Duration // when the server had its last tick
	calls  drive.Calls

	decided   []server.Decision
	others    []wire.Server
	othersAt  time.Duration
	stillness stillness
}

// New makes a gateway, and waits until there is a world. It owns the links of Server from now on,
// and closes them in Close.
func New(ctx context.Context, o Options) (*Gateway, error) {
	if o.Cluster.Title == nil {
		o.Cluster.Title = o.Server.Title
	}
	if o.Server.Title == nil {
		o.Server.Title = o.Cluster.Title
	}
	if o.Server.Title != o.Cluster.Title {
		return nil, errors.New("gateway: Server and Cluster are of two titles; give one")
	}
	if len(o.Server.Links) == 0 {
		return nil, errors.New("gateway: no link for clients to come by, set Options.Server.Links")
	}
	if len(o.Server.Keys) == 0 {
		return nil, errors.New("gateway: no key by which gateways know players; give all of them " +
			"the same Options.Server.Keys")
	}
	if o.SendOn == 0 {
		o.SendOn = 1500 * time.Millisecond
	}
	if o.Server.Players == 0 {
		o.Server.Players = 64
	}
	g := &Gateway{opt: o}
	o.Cluster.Zones = -1
	o.Cluster.Gate = &seamless.GateOptions{Public: o.Public, Room: o.Server.Players, Reach: o.Reach}
	var err error
	if g.member, err = seamless.Enter(ctx, o.Cluster, g.calls.Wake); err != nil {
		return nil, err
	}
	g.gate = g.member.Gate()
	return g, nil
}

// Poll takes in what has come, does what is due and sends what there is to send. Call it a few
// times a tick, with a time that runs forward; Deadline says when it is due at the latest. The
// error is one that the gateway cannot go on after.
func (g *Gateway) Poll(now time.Duration) error {
	g.now = now
	if err := g.member.Poll(now); err != nil {
		return err
	}
	if err := g.serve(); err != nil {
		return err
	}
	return g.member.Flush(now) // what clients have just said
}

// Deadline is when Poll is due next.
func (g *Gateway) Deadline() time.Duration {
	return min(g.member.Deadline(), g.now+g.length()/4)
}

func (g *Gateway) length() time.Duration { return g.opt.Server.Title.Game.TickLength() }

// serve lets the server have its tick when the world has had one, and otherwise lets it hear.
func (g *Gateway) serve() error {
	fresh := g.gate.Advance()
	if g.server == nil {
		if !fresh || !g.gate.Ready() {
			return nil
		}
		if err := g.open(); err != nil {
			return err
		}
	}
	g.hear()
	g.look()
	if !fresh && g.now-g.ticked < g.length()*5/4 {
		return g.server.Receive(g.now)
	}
	g.ticked = g.now
	return g.server.Tick(g.now)
}

// open makes the server, whose engine this is.
func (g *Gateway) open() (err error) {
	o := g.opt.Server
	o.Level, o.Engine = g.gate.Level(), &engine{g}
	g.server, err = server.New(o)
	return err
}

// hear takes what home and other gateways have said about people.
func (g *Gateway) hear() {
	for _, w := range g.gate.Words() {
		d := server.Decision{Client: w.Client, Player: w.Player}
		switch w.Kind {
		case seamless.Seated:
			d.Kind = server.Grant
		case seamless.Full:
			d.Kind, d.Reason, d.Text = server.Deny, wire.ReasonNoSeat, "the world is full"
		case seamless.Moved:
			d.Kind, d.Text = server.Revoke, "the player is at another gateway now"
		case seamless.Spoken:
			d.Kind, d.Name, d.Text, d.Alone = server.Relay, w.Name, w.Text, w.Alone
		}
		g.decided = append(g.decided, d)
	}
}

// otherEvery is how often clients are told of other gateways.
const otherEvery = time.Second

// look does what can wait: it tells clients of other gateways, and what stands still.
func (g *Gateway) look() {
	if g.now < g.othersAt {
		return
	}
	g.othersAt = g.now + otherEvery/4
	var list []wire.Server
	for _, x := range g.gate.Others() {
		load := min(100*x.Players/max(x.Room, 1), 255)
		list = append(list, wire.Server{Addr: x.Address, Name: x.Name, Load: uint8(load)})
	}
	if !slices.Equal(list, g.others) {
		g.others = list
		g.server.SetOtherServers(list)
	}
	g.gate.SetWhole(g.server.Population().Spectators > 0)
	g.stillness.look(g)
}

// Server is the side that clients see, or nil until the world has been seen.
func (g *Gateway) Server() *server.Server { return g.server }

// Gate is the side that zones see.
func (g *Gateway) Gate() *seamless.Gate { return g.gate }

// Member is the gateway as a server of the cluster.
func (g *Gateway) Member() *seamless.Member { return g.member }

// Standing lists the zones that stand still, as far as can be seen from here.
func (g *Gateway) Standing() []zone.ID { return slices.Clone(g.stillness.zones) }

// Do has f called by the goroutine that drives the gateway, and waits for it.
func (g *Gateway) Do(ctx context.Context, f func()) error { return g.calls.Do(ctx, f) }

// ErrStopped says that Run has ended, so that nothing more is done.
var ErrStopped = drive.ErrStopped

// leaveTime is for how long a gateway that is stopped waits until its players are elsewhere.
const leaveTime = 3 * time.Second

// Run drives the gateway as time goes by until the context ends; then it sends its players to other
// gateways and returns nil. Close it afterwards.
func (g *Gateway) Run(ctx context.Context) error {
	leaving := false
	err := drive.Loop{
		Tick: g.Poll, Poll: g.Poll, Due: g.Deadline,
		Stop: func(error) {
			leaving = true
			g.Leave()
		},
		Done: g.Left, Grace: leaveTime, Calls: &g.calls, Clock: drive.Since(g.member.Born()),
	}.Run(ctx)
	if leaving {
		if g.server != nil {
			g.server.Shutdown("the gateway stops")
			_ = g.server.Tick(g.now)
		}
		return nil
	}
	return err
}

// Leave sends all players to other gateways. Poll until Left.
func (g *Gateway) Leave() {
	if g.server != nil && len(g.others) > 0 {
		g.server.Drain() // each to the nearest
	}
}

// Left says whether nobody is here any more, or there is nowhere to go.
func (g *Gateway) Left() bool {
	return g.server == nil || len(g.others) == 0 || g.server.Population().Connections == 0
}

// Close ends what runs beside the gateway and closes the links of clients, without a word to them.
func (g *Gateway) Close() error {
	g.calls.Close()
	g.member.Close(g.now)
	if g.server != nil {
		return g.server.Close()
	}
	var all []error
	for _, l := range g.opt.Server.Links {
		all = append(all, l.Close())
	}
	if err := errors.Join(all...); err != nil {
		return fmt.Errorf("gateway: %w", err)
	}
	return nil
}
