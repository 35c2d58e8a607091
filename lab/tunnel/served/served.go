// Package served has titles played by clients of a server, for the wind tunnel: as coeval does it,
// and as the games did that it learned from.
//
//	lab/tunnel              what is measured
//	lab/tunnel/served       clients of a server      <- here
//	topology/server, client
package served

import (
	"cmp"
	"fmt"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/architecture"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

const here = "github.com/coeval-dev/coeval/lab/tunnel/served"

func init() {
	for _, k := range architecture.All() {
		tunnel.Register(register(k))
	}
}

// register makes an architecture of the tunnel of one by which servers and clients play.
func register(k architecture.Kind) tunnel.Architecture {
	a := tunnel.Architecture{
		Name: k.Name, About: k.About, Family: tunnel.ClientServer, Packages: []string{here},
		Start: func(t *tunnel.Trial) (tunnel.Match, error) { return start(t, k) },
		Fits: func(s *lab.Subject) error {
			if k.Style == predict.HalfLife && s.Game.Rewinds() == 0 {
				return fmt.Errorf("nothing in %s can be rewound: give what is shot at a method "+
					"Rewind, and ask Sees", s.Name())
			}
			return nil
		},
		Knobs:   func(tunnel.Course) []knob.Knob { return k.Knobs() },
		Command: "serve {game} --architecture " + k.Name,
	}
	if k.Strategy != replica.Coeval {
		a.Packages = append(a.Packages,
			"github.com/coeval-dev/coeval/replica/"+k.Strategy.String())
	}
	return a
}

// A match is one server and its clients.
type match struct {
	*tunnel.Trial
	key    token.Key
	host   *server.Server
	end    *netsim.Endpoint
	guests []*Guest
}

// pollsATick is how often a server looks for datagrams in a tick, as server.Run does.
const pollsATick = 4

func start(t *tunnel.Trial, k architecture.Kind) (tunnel.Match, error) {
	m := &match{Trial: t}
	_, _ = t.Random.Read(m.key[:])
	o := server.Options{
		Title: t.Subject.Title, Level: t.Subject.On(t.Seed), Players: t.Players, Workers: 1,
		Spectators: -1, Keys: []token.Key{m.key}, Flight: -1,
		After: func(w *world.World, in *world.Inputs) { t.Truth(w, in) },
	}
	o.Conn.Seed, o.Conn.Wall = t.Seed32(), session.Wall
	o.Rules.Command = Arrivals(t)
	var c client.Options
	k.Server(&o)
	k.Client(&c)
	if err := k.Tune(t.Values, &o, &c); err != nil {
		return nil, err
	}
	m.end = t.Endpoint("server", tunnel.OfServer)
	o.Links = []link.Link{m.end}
	var err error
	if m.host, err = server.New(o); err != nil {
		return nil, err
	}
	turn := 0
	tick := t.Subject.Game.TickLength()
	m.end.Every(tick/pollsATick, func() {
		t.Spend(tunnel.OfServer, func() {
			if turn++; turn%pollsATick == 0 {
				t.Fail(m.host.Tick(t.Net.Now()))
			} else {
				t.Fail(m.host.Receive(t.Net.Now()))
			}
		})
	})
	spot := t.Field.Servers(1, t.Players)[0]
	for _, s := range t.Seats {
		m.guests = append(m.guests, Join(t, s, Door{
			Key: m.key, Server: m.end, Spot: spot, Client: c}))
	}
	return m, nil
}

// Arrivals tells a trial which commands have come to a server: its Rules.Command.
func Arrivals(t *tunnel.Trial) func(w *world.World, p world.Player, at world.Tick,
	_ []int32) error {
	return func(_ *world.World, p world.Player, at world.Tick, _ []int32) error {
		if s := t.Of(p); s != nil {
			s.Came(at)
		}
		return nil
	}
}

// Playing says whether all are in the game.
func (m *match) Playing() bool { return AllPlay(m.guests) }

// Close ends the match.
func (m *match) Close() {
	for _, u := range m.guests {
		u.Close()
	}
	_ = m.host.Close()
}

// A Door is how a player comes to a server.
type Door struct {
	Key    token.Key
	Server *netsim.Endpoint
	Spot   tunnel.Spot
	// Connect lays the player's ways to other servers, if there are any.
	Connect func(end *netsim.Endpoint)
	// Has, if it is set, says which commands a snapshot of the server really has in it.
	Has    func(known world.Tick) func(o *tunnel.Seat, t world.Tick) bool
	Client client.Options // but for what follows from the rest
}

// A Guest is a player's machine with a client.
type Guest struct {
	*tunnel.Seat
	Client *client.Client
	trial  *tunnel.Trial
	probe  *world.World // to look at what is foreseen
	style  predict.Style
	has    func(known world.Tick) func(o *tunnel.Seat, t world.Tick) bool
	acted  []acted
	view   client.View // the last
	gone   bool
}

// Join makes a client of a server, for a seat.
func Join(t *tunnel.Trial, s *tunnel.Seat, d Door) *Guest {
	u := &Guest{Seat: s, trial: t, style: d.Client.Style, has: d.Has}
	s.End = t.Endpoint(fmt.Sprint("player ", s.Index+1), tunnel.OfPlayer)
	t.Net.Connect(s.End, d.Server, t.Field.Path(s.Spot, d.Spot))
	if d.Connect != nil {
		d.Connect(s.End)
	}
	grant := token.Grant{Protocol: token.ProtocolID(t.Subject.Name()), Client: uint64(s.Index + 1),
		Expires: session.Wall + 86400}
	grant.Servers = append(grant.Servers, d.Server.PublicAddr())
	tok, err := token.Issue(d.Key, grant, t.Random)
	t.Fail(err)
	o := d.Client
	u.acted = make([]acted, 0, 128)
	o.Tap = tap{u}
	o.Title, o.Link, o.Token, o.Name = t.Subject.Title, s.End, tok, s.End.Name()
	o.Conn.Seed, o.Conn.Wall = t.Seed32(), session.Wall
	if u.Client, err = client.New(o); err != nil {
		t.Fail(err)
		return u
	}
	s.Screen = u.screen
	s.End.After(session.Offset(t.Subject.Game.TickLength(), s.Index, t.Players), u.begin)
	return u
}

// begin begins to play, if it is the player's turn to come.
func (u *Guest) begin() {
	t, tick := u.trial, u.trial.Subject.Game.TickLength()
	if t.First && u.Index > 0 && t.Seats[0].Me == world.Nobody {
		u.End.After(tick, u.begin)
		return
	}
	u.End.Every(tick, u.tick)
}

// tick is when a program without a screen shows the next picture. That of a person does so when the
// screen is drawn.
func (u *Guest) tick() {
	if !u.Live() {
		u.frame()
	}
}

// screen is what a person is shown.
func (u *Guest) screen(f *game.Frame) {
	u.frame()
	v := &u.view
	f.World, f.Me, f.Lead, f.Others, f.Fresh = v.World, v.Me, v.Lead, v.Others, v.Fresh
}

// frame is what a player's program does for each picture.
func (u *Guest) frame() {
	if u.gone {
		return
	}
	var v client.View
	u.trial.Spend(tunnel.OfPlayer, func() { v = u.Client.Frame(u.trial.Net.Now(), u.Command) })
	u.view = v
	if v.Ended {
		u.gone = true
		u.trial.Fail(fmt.Errorf("%s: %w", u.End.Name(), v.Err))
		return
	}
	if v.Began {
		u.Enter(v.Me)
		u.probe = v.Truth.Host().Clone()
	}
	for i := range v.Notices {
		u.heard(v.World, &v.Notices[i])
	}
	for i := range v.Retracted {
		u.Denies(v.Retracted[i].Emitted, v.Retracted[i].Believed)
	}
	if v.World == nil || !v.Fresh {
		return
	}
	p := u.Client.Predict()
	for _, c := range p.Corrections() {
		if v.World.Owner(c.Entity) == u.Me {
			u.Correct(v.World, c.Entity, c.Distance)
		}
	}
	x := tunnel.Picture{World: v.World, Own: v.World.Tick(), Known: u.known(&v)}
	if u.has != nil {
		x.Has = u.has(p.Known())
	}
	if u.style == predict.Quake {
		x.Own = u.obeyed(x.Known)
	}
	u.Show(x)
}

// A tap remembers which command each snapshot has in it, where commands are taken as they come.
type tap struct{ u *Guest }

func (t tap) Snapshot(s *replica.Snapshot) {
	u := t.u
	if n := len(u.acted); n > 0 && u.acted[n-1].tick >= s.Tick {
		return // another packet of the same
	}
	if len(u.acted) == cap(u.acted) {
		u.acted = append(u.acted[:0], u.acted[len(u.acted)/2:]...)
	}
	u.acted = append(u.acted, acted{s.Tick, s.Acted})
}

func (tap) Command(world.Tick, []int32) {}

// acted is the newest command of a player that a snapshot has in it.
type acted struct{ tick, command world.Tick }

// obeyed is the newest command of the player whose effect is shown, where nothing is predicted.
func (u *Guest) obeyed(known world.Tick) world.Tick {
	for i := len(u.acted) - 1; i >= 0; i-- {
		if a := u.acted[i]; a.tick <= known {
			return cmp.Or(a.command, a.tick)
		}
	}
	return 0
}

// known is the newest tick of which all that others did is in what is shown.
func (u *Guest) known(v *client.View) world.Tick {
	p := u.Client.Predict()
	switch u.style {
	case predict.Doom3:
		return p.Known()
	case predict.None:
		return v.World.Tick()
	}
	// what is extrapolated is not known beyond what came
	behind := world.Tick(max(p.Playout().Behind(), 0) + 0.999)
	return p.Known() - min(p.Known(), behind)
}

// heard is told what the client found out about events.
func (u *Guest) heard(shown *world.World, n *predict.Notice) {
	if u.trial.Subject.Game.Events()[n.Kind].Weak() {
		return
	}
	switch n.What {
	case predict.Foreseen:
		u.Happens()
		u.foresaw(shown, n)
	case predict.Happened:
		u.Happens()
	case predict.Denied:
		u.Denies(n.Emitted, n.Believed)
	}
}

// foresaw looks for hits in what is foreseen.
func (u *Guest) foresaw(shown *world.World, n *predict.Notice) {
	title := u.trial.Subject
	if title.Shots.Hits == nil || u.probe == nil || u.probe.Host().CopyFrom(shown) != nil {
		return
	}
	u.probe.Host().SetTick(n.Tick) // without the other events
	if n.Deliver(u.probe) != nil {
		return
	}
	title.Hits(u.probe, func(h game.Hit) bool {
		u.Hit(h, n.Tick)
		return true
	})
}

// Plays says whether the player is in the game.
func (u *Guest) Plays() bool {
	return u.Client != nil && u.Client.Phase() == client.Playing && u.Client.Predict() != nil &&
		u.Client.Predict().Started()
}

// AllPlay says whether all are in the game.
func AllPlay(list []*Guest) bool {
	for _, u := range list {
		if !u.Plays() {
			return false
		}
	}
	return true
}

// Close ends the client.
func (u *Guest) Close() {
	if u.Client != nil {
		_ = u.Client.Close()
	}
}
