package server

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

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

// A sim is a server and clients on a simulated network, with an oracle that knows all that the
// server ever published.
type sim struct {
	net     *netsim.Net
	server  *Server
	end     *netsim.Endpoint
	key     token.Key
	random  *netsim.Rand
	clients []*bot
	news    []News
	oracle  []*oracle   // one for each world
	err     error       // the first thing that was wrong
	title   *game.Title // of the clients
	sent    replica.Strategy
}

// An oracle remembers a world: a hash of every image at every tick, and the saved events in order.
type oracle struct {
	level  Level
	images map[world.ID][]published
	saved  []planted
}

type published struct {
	tick  world.Tick
	image []int32
	owner world.Player
	gone  bool
}

func (o *oracle) take(w *world.World) {
	seen := map[world.ID]bool{}
	for i := range w.Game().Classes() {
		for id := range w.Host().Of(i) {
			seen[id] = true
			list := o.images[id]
			image, owner := w.Host().Image(id), w.Owner(id)
			if n := len(list); n == 0 || !slices.Equal(list[n-1].image, image) ||
				list[n-1].owner != owner {
				o.images[id] = append(list,
					published{tick: w.Tick(), image: slices.Clone(image), owner: owner})
			}
		}
	}
	for id, list := range o.images {
		if n := len(list); !seen[id] && !list[n-1].gone {
			o.images[id] = append(list, published{tick: w.Tick(), gone: true})
		}
	}
	for _, e := range world.Events[planted](w) {
		o.saved = append(o.saved, *e)
	}
}

// at is what an entity was at a tick.
func (o *oracle) at(id world.ID, t world.Tick) *published {
	list := o.images[id]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].tick <= t {
			return &list[i]
		}
	}
	return nil
}

// counter is a source of randomness for tests, which must repeat.
type counter struct{ r *netsim.Rand }

func (c counter) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(c.r.Uint64())
	}
	return len(b), nil
}

func seedOf(n uint64, what byte) (s [32]byte) {
	for i := range 8 {
		s[i] = byte(n >> (8 * i))
	}
	s[30], s[31] = what, 1
	return s
}

const wall = 1_700_000_000

func newSim(n *netsim.Net, o Options) (*sim, error) {
	s := &sim{net: n, random: n.Rand(), end: n.Endpoint("server")}
	s.end.SetInbox(1 << 16)
	if _, err := (counter{s.random}).Read(s.key[:]); err != nil {
		return nil, err
	}
	if o.Title == nil {
		o.Title = near(0)
	}
	o.Links, o.Keys = []link.Link{s.end}, []token.Key{s.key}
	o.Conn.Seed, o.Conn.Wall = seedOf(n.Seed(), 1), wall
	if o.Workers == 0 {
		o.Workers = 2
	}
	o.News = func(x News) { s.news = append(s.news, x) }
	o.Begun = func(w *world.World, l Level) {
		s.oracle = append(s.oracle, &oracle{level: l, images: map[world.ID][]published{}})
		s.oracle[len(s.oracle)-1].take(w)
	}
	after := o.After
	o.After = func(w *world.World, in *world.Inputs) {
		if s.oracle[len(s.oracle)-1].take(w); after != nil {
			after(w, in)
		}
	}
	var err error
	if s.server, err = New(o); err != nil {
		return nil, err
	}
	s.title, s.sent = o.Title, o.Strategy
	s.end.Every(o.Title.Game.TickLength(), func() {
		if err := s.server.Tick(n.Now()); err != nil {
			s.fail("server: %v", err)
		}
	})
	return s, nil
}

func (s *sim) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("seed %d, at %v, tick %d: %s", s.net.Seed(), s.net.Now(),
			s.server.World().Tick(), fmt.Sprintf(format, args...))
	}
}

func (s *sim) close() { s.server.pool.close() }

func (s *sim) token(client uint64) token.Token {
	t, err := token.Issue(s.key, token.Grant{
		Protocol: token.ProtocolID(s.server.game.Name()), Client: client, Expires: wall + 3600,
		Servers: []netip.AddrPort{s.end.PublicAddr()},
	}, counter{s.random})
	if err != nil {
		s.fail("%v", err)
	}
	return t
}

// A bot is a client that walks about and checks all it is shown against the oracle. It predicts
// nothing, and so is shown what came.
type bot struct {
	*client.Client
	sim      *sim
	end      *netsim.Endpoint
	id       uint64
	quiet    bool // sends nothing but neutral commands
	fires    bool
	saved    []planted // that it was told in this world
	worlds   int
	checked  int
	snaps    int
	ended    error
	told     []client.Word
	sent     []client.Uploaded
	known    map[world.ID]bool
	makeMove func(t world.Tick) walk
	// up to which there are commands, in place of what the client's clock says
	target   func(now time.Duration) world.Tick
	careless bool // checks nothing
	conns    int
}

// join makes a client, with a token or a ticket.
func (s *sim) join(name string, id uint64, c netsim.Conditions, o client.Options) *bot {
	b := &bot{sim: s, id: id, end: s.net.Endpoint(name)}
	s.net.Connect(b.end, s.end, c)
	s.clients = append(s.clients, b)
	b.start(o, s.token(id))
	b.end.Every(yard.TickLength(), func() {
		if b.ended != nil {
			return
		}
		b.ended = b.frame()
	})
	return b
}

func (b *bot) start(o client.Options, t token.Token) {
	s := b.sim
	o.Title, o.Strategy, o.Style, o.Tap = s.title, s.sent, predict.None, b
	o.Link, o.Token = b.end, t
	b.conns++
	o.Conn.Seed = seedOf(s.net.Seed()<<20+b.id<<4+uint64(b.conns), 2)
	if o.Name == "" {
		o.Name = b.end.Name()
	}
	var err error
	if b.Client, err = client.New(o); err != nil {
		s.fail("client %s: %v", b.end.Name(), err)
	}
	b.ended, b.known = nil, map[world.ID]bool{}
}

// errLeft is how a bot ends that left by itself.
var errLeft = errors.New("left")

// frame lets the client have its turn, and looks at what it shows.
func (b *bot) frame() error {
	var v client.View
	before := b.snaps
	if b.target == nil {
		v = b.Frame(b.sim.net.Now(), b.input)
	} else {
		b.Receive(b.sim.net.Now())
		b.Advance(b.target(b.sim.net.Now()), b.input)
		b.Send()
		v = b.Show()
	}
	if v.Began {
		b.worlds++
		b.saved, b.known = nil, map[world.ID]bool{}
	}
	b.told = append(b.told, v.Words...)
	b.sent = append(b.sent, v.Uploads...)
	if v.Fresh && !b.careless {
		if b.snaps > before {
			b.seen(v.World)
		}
		b.hear(v.World)
	}
	if v.Ended && v.Err == nil {
		return errLeft
	}
	return v.Err
}

// send sends a message, past all that the client would do.
func (b *bot) send(channel uint8, data []byte) {
	if c := b.Conn(); c != nil && c.Open() {
		_ = c.Send(channel, data)
	}
}

func (b *bot) say(m wire.Message) { b.send(wire.ControlChannel, m.Append(nil)) }

// Command is for the client to call.
func (b *bot) Command(world.Tick, []int32) {}

func (b *bot) input(t world.Tick, p world.Player, _ *world.World, in *world.Inputs) {
	var c walk
	switch {
	case b.makeMove != nil:
		c = b.makeMove(t)
	case !b.quiet:
		h := uint64(t/7)*2654435761 + b.id*97
		c = walk{X: int8(h>>5%3) - 1, Y: int8(h>>9%3) - 1}
		c.Fire = b.fires && uint64(t)%40 == b.id%40
	}
	if err := world.Give(in, p, c); err != nil {
		b.sim.fail("%v", err)
	}
}

// oracle of the world that the client is in.
func (b *bot) oracle() *oracle {
	for i := len(b.sim.oracle) - 1; i >= 0; i-- {
		if o := b.sim.oracle[i]; o.level.Name == b.Level().Name {
			return o
		}
	}
	return nil
}

// published is what the server had of an entity at a tick. When a level was begun again, what is
// still under way is of the world before; image tells which of the two is meant.
func (b *bot) published(id world.ID, t world.Tick, image []int32) *published {
	p := b.oracle().at(id, t)
	for _, o := range b.sim.oracle {
		if o.level.Name != b.Level().Name || p != nil && slices.Equal(p.image, image) {
			continue
		}
		if q := o.at(id, t); q != nil && slices.Equal(q.image, image) {
			return q
		}
	}
	return p
}

// Snapshot is for the client to call. It compares each update with what the server had at that
// tick.
func (b *bot) Snapshot(x *replica.Snapshot) {
	b.snaps++
	if b.careless {
		return
	}
	for _, u := range x.Updates {
		b.checked++
		b.known[u.ID] = true
		p := b.published(u.ID, x.Tick, u.Image)
		switch {
		case u.What == replica.Held &&
			(p == nil || p.gone || !slices.Equal(p.image, u.Image) || p.owner != u.Entry.Owner):
			b.sim.fail("%s: entity %v at tick %d is shown as %v, and was %+v", b.end.Name(), u.ID,
				x.Tick, u.Image, p)
		case u.What == replica.Removed && p != nil && !p.gone:
			b.sim.fail("%s: entity %v is said to be removed at tick %d, and was not", b.end.Name(),
				u.ID, x.Tick)
		}
	}
}

// seen compares all that is in view with what was ever published.
func (b *bot) seen(w *world.World) {
	for i := range w.Game().Classes() {
		for id := range w.Host().Of(i) {
			if id.Allocator() == world.Predicted {
				continue
			}
			ok := slices.ContainsFunc(b.sim.oracle, func(o *oracle) bool {
				return o.level.Name == b.Level().Name && slices.ContainsFunc(o.images[id],
					func(p published) bool {
						return !p.gone && slices.Equal(p.image, w.Host().Image(id))
					})
			})
			if !ok && b.known[id] {
				b.sim.fail("%s: entity %v is held as %v, which was never published", b.end.Name(),
					id, w.Host().Image(id))
			}
		}
	}
}

// hear takes note of events.
func (b *bot) hear(w *world.World) {
	for _, e := range world.Events[planted](w) {
		o, n := b.oracle(), len(b.saved)
		if n >= len(o.saved) || o.saved[n] != *e {
			b.sim.fail("%s: saved event %d is %+v", b.end.Name(), n, *e)
		}
		b.saved = append(b.saved, *e)
	}
}

// sees says whether the client holds exactly what the server would show it now, in a world that
// stands still.
func (b *bot) sees() error {
	s := b.sim.server
	seat := s.seats[b.id]
	if seat == nil || seat.peer == nil || seat.peer.state != shown {
		return fmt.Errorf("%s is not shown the world: it is %v", b.end.Name(), b.Phase())
	}
	w, p := s.World(), seat.peer
	count := 0
	for _, e := range p.view.Entries() {
		count++
		if !b.Truth().Has(e.ID) {
			return fmt.Errorf("%s lacks %v", b.end.Name(), e.ID)
		}
		if !slices.Equal(b.Truth().Host().Image(e.ID), w.Host().Image(e.ID)) ||
			b.Truth().Owner(e.ID) != w.Owner(e.ID) {
			return fmt.Errorf("%s has %v as %v, and it is %v", b.end.Name(), e.ID,
				b.Truth().Host().Image(e.ID), w.Host().Image(e.ID))
		}
	}
	for id := range b.Truth().Entities() {
		if _, ok := p.view.Find(id); !ok {
			return fmt.Errorf("%s holds %v, which is not in view", b.end.Name(), id)
		}
		count--
	}
	if count != 0 {
		return fmt.Errorf("%s holds %d entities too many", b.end.Name(), -count)
	}
	for i, c := range w.Game().Classes() {
		if c.State() {
			for id := range w.Host().Of(i) {
				if !slices.Equal(b.Truth().Host().Image(id), w.Host().Image(id)) {
					return fmt.Errorf("%s has state %s as %v, and it is %v", b.end.Name(), c.Name(),
						b.Truth().Host().Image(id), w.Host().Image(id))
				}
			}
		}
	}
	return nil
}

// settle stops the world and gives everyone the time of some snapshots to see it as it is.
func (s *sim) settle(d time.Duration) error {
	if s.err != nil {
		return s.err
	}
	s.server.SetPaused(true, "test")
	s.net.Run(d)
	if s.err != nil {
		return s.err
	}
	for _, b := range s.clients {
		if b.ended != nil {
			continue
		}
		if err := b.sees(); err != nil {
			s.fail("after %v in a world that stands still: %v", d, err)
		}
		if o := s.oracle[len(s.oracle)-1]; len(b.saved) != len(o.saved) {
			s.fail("%s was told %d of %d saved events", b.end.Name(), len(b.saved), len(o.saved))
		}
	}
	s.server.SetPaused(false, "test")
	return s.err
}

// playing waits until all clients are shown the world.
func (s *sim) playing(d time.Duration) bool {
	return s.net.RunUntil(d, func() bool {
		for _, b := range s.clients {
			if b.ended == nil && (b.Phase() != client.Playing || b.snaps == 0) {
				return false
			}
		}
		return true
	})
}

func (s *sim) count(k NewsKind) (n int) {
	for _, x := range s.news {
		if x.Kind == k {
			n++
		}
	}
	return n
}

func addrs(l *netsim.Endpoint) []netip.AddrPort { return []netip.AddrPort{l.PublicAddr()} }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// soak says whether time does not matter, as in make soak, so that slow tests do all that they can.
func soak() bool { return os.Getenv("COEVAL_SOAK") != "" }

// networks are those to try: under the race detector one, as it looks at goroutines and not at what
// comes of a network.
func networks(list ...netsim.Conditions) []netsim.Conditions {
	if testing.Short() {
		return list[len(list)-1:]
	}
	return list
}
