//go:build !js

package seamlesslab

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/gateway"
	"github.com/coeval-dev/coeval/topology/seamless"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// Gateways is what players of a world in zones get, beside what those of a plain server get: the
// same bots, in the same game, over the same network, in virtual time.
type Gateways struct {
	Game    string  `json:"game"`
	Players int     `json:"players"`
	Zones   int     `json:"zones"`
	Plain   Player  `json:"plain"`
	Seam    Player  `json:"seamless"`
	Ages    Ages    `json:"ages"`
	Seconds float64 `json:"seconds"`
}

// Player is what one player gets, on average.
type Player struct {
	Shape string `json:"shape" head:"players of"`
	// Late is by how many ticks what another does is shown after it was commanded.
	Late  float64 `json:"late" head:"input to others' view, ticks" as:"%.2f"`
	Bytes float64 `json:"bytes" head:"bytes a second" as:"%.0f"`
	// Micros is what one costs the machine that serves it, for each of its ticks.
	Micros float64 `json:"micros" head:"µs a player and tick" as:"%.1f"`
	// Lead is how many ticks ahead clients are, so own input is shown at once if it is above 0.
	Lead float64 `json:"lead" head:"ticks ahead" as:"%.2f"`
	// Off is the largest error of what was foreseen of a player's own body.
	Off     float64 `json:"off" head:"corrections, most" as:"%.3f"`
	Mended  float64 `json:"mended" head:"corrections above 5 cm, a player and minute" as:"%.2f"`
	Crossed int     `json:"crossed" head:"borders crossed"`
}

// Ages are how old what zones showed was in the world of a gateway, and what it took.
type Ages struct {
	P99   int     `json:"p99" head:"ticks old, p99"`
	Bytes float64 `json:"bytes" head:"bytes a ghost and tick" as:"%.2f"`
	Jumps uint64  `json:"jumps" head:"ticks not shown"`
	Late  uint64  `json:"late" head:"commands too late"`
}

func (g *Gateways) report(p *lab.Report) {
	p.Say("Players of %s, %d bots, on a plain server and in %d zones by a gateway, for %.0f s of "+
		"virtual time over %s:", g.Game, g.Players, g.Zones, g.Seconds, netsim.Cable.Name)
	p.Table([]Player{g.Plain, g.Seam}, "Shape, Late, Bytes, Micros, Lead, Off, Mended, Crossed")
	p.Figures([]Ages{g.Ages}, "P99, Bytes, Jumps, Late")
}

func (g *Gateways) targets() []lab.Target {
	more := g.Seam.Late - g.Plain.Late
	bytes, cost := g.Seam.Bytes/g.Plain.Bytes, g.Seam.Micros/g.Plain.Micros
	mended := g.Seam.Mended - g.Plain.Mended
	return []lab.Target{
		{What: "input to others' view, ticks more than on a plain server", Got: more,
			Want: "at most 2", Reached: more <= 2},
		{What: "bytes for a client, by those of a plain server", Got: bytes,
			Want: "at most 1.05", Reached: bytes <= 1.05},
		{What: "what a player costs, by that on a plain server", Got: cost,
			Want: "at most 1.5", Reached: cost <= 1.5},
		{What: "corrections above 5 cm, a player and minute, more than on a plain server",
			Got: mended, Want: "0", Reached: mended <= 0},
		{What: "ghosts' age in ticks, p99", Got: float64(g.Ages.P99), Want: "at most 2",
			Reached: g.Ages.P99 <= 2},
		{What: "bytes for a ghost and tick", Got: g.Ages.Bytes, Want: "at most 4",
			Reached: g.Ages.Bytes <= 4},
	}
}

const (
	gateZones   = 4
	gatePlayers = 40
	gateWarm    = 8 * time.Second
	wallTime    = 1_800_000_000
)

// gateways measures one after the other.
func gateways(ctx context.Context, o *Options, players int, p lab.Progress) (*Gateways, error) {
	title, err := o.Find(cmp.Or(o.Game, "crowd"))
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread() // whose time is taken
	defer runtime.UnlockOSThread()
	out := &Gateways{Game: title.Name(), Players: players, Zones: gateZones,
		Seconds: o.Time.Seconds()}
	for i, zones := range []int{0, gateZones} {
		r := &rig{ctx: ctx, title: title, o: o, players: players,
			net:   netsim.New(netsim.Options{Seed: o.Seed, Conditions: netsim.LAN}),
			shown: map[world.Player]zone.ID{}}
		r.run(zones, p.Nth(i, 2))
		if r.err != nil {
			return nil, fmt.Errorf("%d zones, seed %d: %w", zones, o.Seed, r.err)
		}
		x := r.sum()
		if zones == 0 {
			x.Shape = "a plain server"
			out.Plain = x
			continue
		}
		x.Shape = "a gateway"
		out.Seam, out.Ages = x, r.ages()
	}
	return out, nil
}

// rig is a network with bots on it, and what serves them.
type rig struct {
	ctx     context.Context
	title   *game.Title
	o       *Options
	players int
	net     *netsim.Net
	key     token.Key
	door    *netsim.Endpoint
	err     error

	host    *server.Server
	zones   []*seamless.Member
	gate    *gateway.Gateway
	clients []*client.Client

	on       bool
	busy     time.Duration // of what serves clients
	seen     int           // ghosts and ticks
	lead     float64       // sums over frames
	age      float64
	frames   int
	off      float64
	mended   int
	crossed  int
	shown    map[world.Player]zone.ID
	before   seamless.GateStats
	sent     uint64
	sentOnce uint64
}

func (r *rig) check(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *rig) run(zones int, p lab.Progress) {
	r.key[0] = 5
	r.door = r.net.Endpoint("door")
	r.door.SetInbox(1 << 16)
	so := server.Options{Title: r.title, Links: []link.Link{r.door}, Keys: []token.Key{r.key},
		Workers: 1, Players: r.players, Level: r.level(),
		Conn: conn.Options{Seed: [32]byte{1}, Wall: wallTime}}
	if zones == 0 {
		r.plain(so)
	} else {
		r.seamless(so, zones)
	}
	defer r.close()
	for i := range r.players {
		r.join(i)
		r.net.Run(20 * time.Millisecond)
	}
	r.pass(gateWarm, p.Within(0, 0.3))
	r.on, r.sentOnce = true, r.door.Counters().SentBytes
	if r.gate != nil {
		r.before = r.gate.Gate().Stats()
	}
	r.pass(r.o.Time, p.Within(0.3, 0.7))
	r.sent = r.door.Counters().SentBytes - r.sentOnce
}

func (r *rig) level() server.Level {
	return server.Level{Name: r.title.Levels.First(), Seed: r.o.Seed}
}

func (r *rig) pass(d time.Duration, p lab.Progress) {
	from := r.net.Now()
	for r.err == nil && r.net.Now() < from+d {
		r.net.Run(100 * time.Millisecond)
		r.check(r.ctx.Err())
		p.Tell(float64(r.net.Now()-from)/float64(d), "players")
	}
}

// timed does what serves clients, and takes the time of it.
func (r *rig) timed(f func() error) {
	if r.err != nil {
		return
	}
	began := lab.ThreadTime()
	r.check(f())
	if r.on {
		r.busy += lab.ThreadTime() - began
	}
}

func (r *rig) plain(o server.Options) {
	var err error
	r.host, err = server.New(o)
	r.check(err)
	turn := 0
	r.net.Every(r.title.Game.TickLength()/4, func() {
		r.timed(func() error {
			if turn++; turn%4 == 0 {
				return r.host.Tick(r.net.Now())
			}
			return r.host.Receive(r.net.Now())
		})
	})
}

func (r *rig) seamless(o server.Options, zones int) {
	kept := seamless.Memory()
	_, err := seamless.Found(r.ctx, seamless.FoundOptions{Title: r.title, Cluster: kept,
		Zones: zones, Reach: r.o.Reach, Level: o.Level})
	r.check(err)
	part := func(name string, self int) seamless.Options {
		end := r.net.Endpoint(name)
		end.SetInbox(1 << 16)
		return seamless.Options{Title: r.title, Cluster: kept, Link: end,
			Keys: []token.Key{r.key}, Seed: [32]byte{byte(self)}, Self: zone.ServerID(self),
			Simulated: func() time.Duration { return 1500 * time.Microsecond }}
	}
	for i := range 2 {
		m, err := seamless.Enter(r.ctx, part(fmt.Sprint("server ", i), i+1), nil)
		if r.check(err); r.err != nil {
			return
		}
		r.zones = append(r.zones, m)
		r.net.Every(2*time.Millisecond, func() { r.check(m.Poll(r.net.Now())) })
	}
	r.gate, err = gateway.New(r.ctx, gateway.Options{Server: o, Cluster: part("line", 100),
		Public: r.door.PublicAddr(), Reach: r.o.Reach})
	if r.check(err); r.err != nil {
		return
	}
	r.net.Every(r.title.Game.TickLength()/4, func() { // as Gateway.Deadline says
		r.timed(func() error { return r.gate.Poll(r.net.Now()) })
	})
	r.net.Every(2*time.Millisecond, r.cross)
	r.net.Run(3 * time.Second)
}

// cross counts borders that players have crossed.
func (r *rig) cross() {
	for _, m := range r.zones {
		for _, z := range m.Zones() {
			for who := range m.World(z).Players {
				if !m.Has(z, who) {
					continue
				}
				if was, ok := r.shown[who]; ok && was != z && r.on {
					r.crossed++
				}
				r.shown[who] = z
			}
		}
	}
	if r.on {
		r.seen += r.gate.Gate().Shown()
	}
}

func (r *rig) join(i int) {
	end := r.net.Endpoint(fmt.Sprint("player ", i))
	r.net.Connect(end, r.door, netsim.Cable)
	t, err := token.Issue(r.key, token.Grant{Protocol: token.ProtocolID(r.title.Name()),
		Client: uint64(i + 1), Expires: wallTime + 86400,
		Servers: []netip.AddrPort{r.door.PublicAddr()}}, lab.Random{Rand: r.net.Rand()})
	r.check(err)
	c, err := client.New(client.Options{Title: r.title, Link: end, Token: t,
		Conn: conn.Options{Seed: [32]byte{2, byte(i)}, Wall: wallTime}})
	if r.check(err); r.err != nil {
		return
	}
	r.clients = append(r.clients, c)
	bot := r.title.NewBot(uint64(i))
	length := r.title.Game.TickLength()
	play := func(t world.Tick, me world.Player, w *world.World, in *world.Inputs) {
		r.check(bot(w, me, t, in))
	}
	end.After(length*time.Duration(2*i+1)/time.Duration(2*r.players), func() {
		end.Every(length, func() {
			v := c.Frame(r.net.Now(), play)
			if v.Ended {
				r.check(fmt.Errorf("player %d: %w", i, v.Err))
			} else if v.World != nil && r.err == nil {
				r.look(c, &v)
			}
		})
	})
}

// look takes the measure of a frame. When a command is made, the world is at some tick; what others
// see of it they see when that tick is the newest that they have been shown.
func (r *rig) look(c *client.Client, v *client.View) {
	corrections := c.Predict().Corrections() // since the last frame
	if !r.on {
		return
	}
	r.frames++
	now := r.now()
	r.lead += float64(v.World.Tick()) - now
	r.age += now - float64(v.Truth.Tick())
	body, _, ok := r.title.Body()
	if !ok {
		return
	}
	for _, x := range corrections {
		if v.World.Owner(x.Entity) == v.Me && x.Entity.Class() == body.Number() {
			r.off = max(r.off, x.Distance)
			if x.Distance > 0.05 {
				r.mended++
			}
		}
	}
}

// now is the tick that is due, and part of the next.
func (r *rig) now() float64 {
	if r.host != nil {
		return float64(r.host.World().Tick())
	}
	var t world.Tick
	for _, m := range r.zones {
		for _, z := range m.Zones() {
			t = max(t, m.World(z).Tick())
		}
	}
	return float64(t)
}

func (r *rig) sum() Player {
	n, seconds := float64(r.players), r.o.Time.Seconds()
	ticks := seconds * float64(r.title.Game.Rate())
	frames := float64(max(r.frames, 1))
	return Player{Late: (r.lead + r.age) / frames, Lead: r.lead / frames,
		Bytes:  float64(r.sent) / n / seconds,
		Micros: float64(r.busy.Microseconds()) / n / ticks, Off: r.off,
		Mended: float64(r.mended) / n / seconds * 60, Crossed: r.crossed}
}

func (r *rig) ages() Ages {
	s, b := r.gate.Gate().Stats(), &r.before
	x := Ages{Jumps: s.Jumps - b.Jumps, Late: s.LateCommands - b.LateCommands}
	all, sum := uint64(0), uint64(0)
	for i := range s.Ages {
		all += s.Ages[i] - b.Ages[i]
	}
	for i := range s.Ages {
		if sum += s.Ages[i] - b.Ages[i]; 100*sum >= 99*all {
			x.P99 = i
			break
		}
	}
	polls := float64(r.title.Game.TickLength()) / float64(2*time.Millisecond)
	x.Bytes = float64(s.FeedBytes-b.FeedBytes) / max(float64(r.seen)/polls, 1)
	return x
}

func (r *rig) close() {
	for _, c := range r.clients {
		_ = c.Close()
	}
	if r.host != nil {
		_ = r.host.Close()
	}
	if r.gate != nil {
		_ = r.gate.Close()
	}
	for _, m := range r.zones {
		m.Close(r.net.Now())
	}
}
