package server

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A league is several servers of one game: what mirrors are to their clients, without what goes on
// between mirrors. One world is computed for all of them, and taken back whenever a command comes
// for a tick that is over but not settled. A player belongs to one of the servers.
type league struct {
	net     *netsim.Net
	key     token.Key
	random  *netsim.Rand
	back    world.Tick    // for how many ticks that are computed commands still count
	decide  time.Duration // how long it takes to give a place to someone
	ahead   world.Tick    // from how many ticks in the future they have it
	stopped bool

	w       *world.World
	past    []*world.World // by tick
	inputs  map[world.Tick]*world.Inputs
	sync    bits.Sync
	known   []replica.Happening // what is settled
	holders map[uint64]*holder
	next    world.Player
	members []*member
	bots    []*mover
	err     error
	sopts   Options
	title   *game.Title // of the clients
	gave    map[given]int
	strict  bool // what comes from who does not hold the player is an error
}

// A holder is a client with a player, and the server that it belongs to.
type holder struct {
	client uint64
	player world.Player
	at     *member
	from   world.Tick
	before *member // to whom it belongs until then
}

type given struct {
	player world.Player
	tick   world.Tick
	at     *member
}

// A member is one of the servers, and the engine in it.
type member struct {
	*league
	end    *netsim.Endpoint
	server *Server
	own    *world.World
	told   int
	claims int
	freed  []uint64
	deny   bool
	mute   bool // answers no claims
	dead   bool
	news   []News
	says   []Decision
}

func newLeague(n *netsim.Net, servers int, o Options) (*league, error) {
	g := &league{
		net: n, random: n.Rand(), back: 6, decide: 10 * time.Millisecond, ahead: 3,
		inputs: map[world.Tick]*world.Inputs{}, holders: map[uint64]*holder{},
		past: make([]*world.World, 64), gave: map[given]int{}}
	if _, err := (counter{g.random}).Read(g.key[:]); err != nil {
		return nil, err
	}
	if o.Title == nil {
		o.Title = near(0)
	}
	g.sopts = o
	for range servers {
		if _, err := g.add(); err != nil {
			return nil, err
		}
	}
	g.title = o.Title
	n.Every(o.Title.Game.TickLength(), g.step)
	return g, nil
}

func (*member) Tell(world.Told, []byte) error { return errors.ErrUnsupported }

// add makes one more server, also of a game that is under way.
func (g *league) add() (*member, error) {
	i := len(g.members)
	m := &member{league: g, end: g.net.Endpoint(fmt.Sprintf("server%d", i+1))}
	m.end.SetInbox(1 << 16)
	o := g.sopts
	o.Engine, o.Links, o.Keys, o.Workers = m, []link.Link{m.end}, []token.Key{g.key}, 1
	o.Addresses = []netip.AddrPort{m.end.PublicAddr()} // tokens and tickets must name it
	o.Conn.Seed, o.Conn.Wall = seedOf(g.net.Seed(), byte(10+i)), wall
	o.News = func(x News) { m.news = append(m.news, x) }
	var err error
	if m.server, err = New(o); err != nil {
		return nil, err
	}
	g.members = append(g.members, m)
	m.end.Every(o.Title.Game.TickLength(), func() {
		if m.dead {
			return
		}
		if err := m.server.Tick(g.net.Now()); err != nil {
			g.fail("%s: %v", m.end.Name(), err)
		}
	})
	for _, m := range g.members {
		var others []wire.Server
		for _, x := range g.members {
			if x != m {
				others = append(others, wire.Server{Addr: x.end.PublicAddr(), Name: x.end.Name()})
			}
		}
		m.server.SetOtherServers(others)
	}
	return m, nil
}

func (g *league) close() {
	for _, m := range g.members {
		m.server.pool.close()
	}
}

func (g *league) fail(format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf("seed %d, at %v, tick %d: %s", g.net.Seed(), g.net.Now(), g.w.Tick(),
			fmt.Sprintf(format, args...))
	}
}

func (g *league) in(t world.Tick) *world.Inputs {
	if g.inputs[t] == nil {
		g.inputs[t] = g.w.Game().NewInputs()
	}
	return g.inputs[t]
}

func (g *league) settled() world.Tick { return g.w.Tick() - min(g.w.Tick(), g.back) }

// step computes a tick, and settles the one that no command can change any more.
func (g *league) step() {
	if g.stopped {
		return
	}
	g.compute()
	t := g.settled()
	if t == 0 || g.w.Tick() < g.back {
		return
	}
	for e, v := range g.past[t%64].Host().Happened {
		l := g.w.Game().Events()[e.Kind].Layout()
		image := make([]int32, l.Len())
		if err := l.Pack(&g.sync, v, image); err != nil {
			g.fail("%v", err)
		}
		g.known = append(g.known,
			replica.Happening{What: replica.Confirmed, Event: e, Image: image})
	}
	delete(g.inputs, t)
	for _, h := range g.holders {
		if t >= h.from {
			g.revoke(h)
		}
	}
}

func (g *league) compute() {
	if err := g.w.Host().Step(g.in(g.w.Tick() + 1)); err != nil {
		g.fail("%v", err)
	}
	at := &g.past[g.w.Tick()%64]
	if *at == nil {
		*at = g.w.Host().Clone()
	} else if err := (*at).Host().CopyFrom(g.w); err != nil {
		g.fail("%v", err)
	}
}

func (m *member) Begin(w *world.World, _ Level) error {
	if m.w == nil {
		m.w = w.Host().Clone()
		m.past[0] = w.Host().Clone()
	}
	// One that is added later begins with what is settled.
	m.told = len(m.known)
	m.own = m.past[m.settled()%64].Host().Clone()
	return nil
}

func (m *member) Traits() Traits {
	return Traits{Eager: true, Outlives: true, Leading: true}
}
func (m *member) Enter(world.Player) {}
func (m *member) Said(Line)          {}

func (m *member) Decisions() []Decision {
	list := m.says
	m.says = nil
	return list
}

func (m *member) World() *world.World { return m.own }
func (m *member) Open() world.Tick    { return m.settled() + 1 }

func (m *member) Give(p world.Player, t world.Tick, image []int32, _ world.Sight) error {
	m.give(p, t, image)
	return nil
}

func (m *member) give(p world.Player, t world.Tick, image []int32) {
	if t < m.Open() {
		m.fail("%s gives a command for tick %d, and %d is open", m.end.Name(), t, m.Open())
		return
	}
	if m.gave[given{p, t, m}]++; m.gave[given{p, t, m}] > 1 {
		m.fail("%s gives two commands of player %d for tick %d", m.end.Name(), p, t)
	}
	var h *holder
	for _, x := range m.holders {
		if x.player == p {
			h = x
		}
	}
	if h == nil || t >= h.from && h.at != m || t < h.from && h.before != m {
		if m.strict {
			m.fail("%s commands player %d, which it has not", m.end.Name(), p)
		}
		return
	}
	if err := m.in(t).GiveImage(p, image); err != nil {
		m.fail("%v", err)
	}
	if now := m.w.Tick(); t <= now {
		if err := m.w.Host().CopyFrom(m.past[(t-1)%64]); err != nil {
			m.fail("%v", err)
		}
		for m.w.Tick() < now {
			m.compute()
		}
	}
}

func (m *member) Advance(time.Duration) (Progress, error) {
	err := m.own.Host().CopyFrom(m.w)
	l := replica.Leading{Again: true, Settled: m.settled(), Events: m.known[m.told:]}
	m.told = len(m.known)
	return Progress{Leading: l}, err
}

func (m *member) Claim(v Visitor) {
	m.claims++
	if m.mute {
		return
	}
	m.net.After(m.decide, func() {
		if m.dead {
			return
		}
		if m.deny {
			m.says = append(m.says,
				Decision{Kind: Deny, Client: v.Client, Reason: wire.ReasonRules, Text: "not today"})
			return
		}
		m.assign(v.Client, m)
	})
}

// assign gives a client's player to a server; the one that had it learns of it later.
func (g *league) assign(client uint64, to *member) {
	h := g.holders[client]
	if h == nil {
		g.next++
		h = &holder{client: client, player: g.next}
		g.holders[client] = h
		g.in(g.w.Tick() + 1).Join(h.player)
	}
	if h.at == to {
		to.says = append(to.says, Decision{Kind: Grant, Client: client, Player: h.player})
		return
	}
	g.revoke(h)
	h.before, h.at, h.from = h.at, to, g.w.Tick()+g.ahead
	to.says = append(to.says, Decision{Kind: Grant, Client: client, Player: h.player})
}

// revoke takes a player from the server that had it before.
func (g *league) revoke(h *holder) {
	if h.before != nil && !h.before.dead {
		h.before.says = append(h.before.says,
			Decision{Kind: Revoke, Client: h.client, Player: h.player, To: h.at.end.PublicAddr()})
	}
	h.before = nil
}

func (m *member) Release(client uint64, p world.Player) {
	m.freed = append(m.freed, client)
	if h := m.holders[client]; p != world.Nobody && h != nil && h.at == m {
		delete(m.holders, client)
		m.in(m.w.Tick() + 1).Leave(p)
	}
}

// kill ends a server without a word.
func (m *member) kill() {
	m.dead = true
	_ = m.end.Close()
}

// A mover is a client of a league. It counts what a player would notice.
type mover struct {
	*client.Client
	league *league
	end    *netsim.Endpoint
	id     uint64
	ended  error
	begun  int
	saved  []planted
	blank  int // frames in which its own body was not in view
	gap    time.Duration
	last   time.Duration // when something was shown last
	moves  func(t world.Tick) walk
	frame  func()
	view   client.View
}

// join makes a client that begins at one of the servers, and predicts nothing.
func (g *league) join(name string, id uint64, c netsim.Conditions, at *member,
	o client.Options) *mover {
	o.Style = predict.None
	return g.joinAs(name, id, c, at, o)
}

func (g *league) joinAs(name string, id uint64, c netsim.Conditions, at *member,
	o client.Options) *mover {
	b := &mover{league: g, id: id, end: g.net.Endpoint(name)}
	for _, m := range g.members {
		g.net.Connect(b.end, m.end, c)
	}
	t, err := token.Issue(g.key,
		token.Grant{
			Protocol: token.ProtocolID(g.title.Name()), Client: id, Expires: wall + 3600,
			Servers: []netip.AddrPort{at.end.PublicAddr()}}, counter{g.random})
	if err != nil {
		g.fail("%v", err)
	}
	o.Title, o.Tap = g.title, b
	o.Stay = true // players move when a test wants them to
	if o.Link == nil {
		o.Link = b.end
	}
	o.Token, o.Name = t, name
	o.Conn.Seed = seedOf(g.net.Seed()<<20+id<<4, 2)
	if b.Client, err = client.New(o); err != nil {
		g.fail("client %s: %v", name, err)
	}
	g.bots = append(g.bots, b)
	b.end.Every(g.title.Game.TickLength(), func() {
		if b.ended != nil {
			return
		}
		b.ended = b.turn()
		if b.snapped() && !b.Watching() && b.body() == nil {
			b.blank++
		}
		if b.frame != nil {
			b.frame()
		}
	})
	return b
}

// turn lets the client have its turn, and looks at what it shows.
func (b *mover) turn() error {
	v := b.Frame(b.league.net.Now(), b.input)
	if b.view = v; v.Began {
		b.begun++
		b.saved = nil
	}
	if v.Fresh {
		for _, e := range world.Events[planted](v.World) {
			b.saved = append(b.saved, *e)
		}
	}
	if v.Ended && v.Err == nil {
		return errLeft
	}
	return v.Err
}

func (b *mover) input(t world.Tick, p world.Player, _ *world.World, in *world.Inputs) {
	c := walk{X: int8(t/20%3) - 1, Y: 1}
	if b.moves != nil {
		c = b.moves(t)
	}
	if err := world.Give(in, p, c); err != nil {
		b.league.fail("%v", err)
	}
}

// Snapshot and Command are for the client to call.
func (b *mover) Snapshot(*replica.Snapshot) {
	now := b.league.net.Now()
	b.gap = max(b.gap, now-b.last)
	b.last = now
}

func (b *mover) Command(world.Tick, []int32) {}

func (b *mover) snapped() bool { return b.Phase() == client.Playing && b.Stats().Snapshots > 20 }

// body is what the client sees of itself.
func (b *mover) body() *walker {
	for id, x := range world.All[walker](b.Truth()) {
		if b.Truth().Owner(id) == b.Player() {
			return x
		}
	}
	return nil
}

// home is the server that a client's player belongs to.
func (b *mover) home() *member {
	if h := b.league.holders[b.id]; h != nil {
		return h.at
	}
	return nil
}

func (g *league) playing(d time.Duration) bool {
	return g.net.RunUntil(d, func() bool {
		for _, b := range g.bots {
			if b.ended == nil && (b.Phase() != client.Playing || b.Stats().Snapshots == 0) {
				return false
			}
		}
		return true
	})
}

// settle lets the world stand still until everyone should see it as it is, and looks.
func (g *league) settle(d time.Duration) error {
	g.stopped = true
	g.net.Run(d)
	for _, b := range g.bots {
		if b.ended == nil && g.err == nil && b.Player() != world.Nobody {
			if err := b.sees(); err != nil {
				g.fail("after %v in a world that stands still: %v", d, err)
			}
		}
	}
	g.stopped = false
	return g.err
}

// sees says whether a client holds exactly what its server would show it.
func (b *mover) sees() error {
	m := b.home()
	if m == nil {
		return fmt.Errorf("%s belongs nowhere, and is %v", b.end.Name(), b.Phase())
	}
	seat := m.server.Seat(b.id)
	if seat == nil || seat.peer == nil || seat.peer.state != shown {
		return fmt.Errorf("%s is not shown the world by %s: it is %v", b.end.Name(), m.end.Name(),
			b.Phase())
	}
	view, count := b.Truth(), 0
	for _, e := range seat.peer.view.Entries() {
		count++
		if !view.Has(e.ID) || !slices.Equal(view.Host().Image(e.ID), m.w.Host().Image(e.ID)) ||
			view.Owner(e.ID) != m.w.Owner(e.ID) {
			return fmt.Errorf("%s has %v as %v, and it is %v", b.end.Name(), e.ID,
				view.Host().Image(e.ID), m.w.Host().Image(e.ID))
		}
	}
	for id := range view.Entities() {
		if _, ok := seat.peer.view.Find(id); !ok {
			return fmt.Errorf("%s holds %v, which is not in view", b.end.Name(), id)
		}
		count--
	}
	if count != 0 {
		return fmt.Errorf("%s lacks %d entities", b.end.Name(), count)
	}
	return nil
}

// shortTimeout lets connections that are cut be given up soon.
var shortTimeout = conn.Options{Timeout: 2 * time.Second}
