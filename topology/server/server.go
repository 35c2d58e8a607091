package server

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A Server runs a game for clients. It is driven by Tick, once for each tick of the game, or by
// Run, which does that as time goes by. Its methods belong to the goroutine that drives it; while
// Run does, others use Do.
type Server struct {
	opt         Options
	game        *world.Game
	protocol    *replica.Protocol
	description string // of the game, for clients with another version
	engine      Engine
	own         *local // the same, if it has its world to itself
	body        int    // the class that players move about in, where commands move it
	traits      Traits
	scene       *scene // the world that is played
	pool        *pool
	calls       drive.Calls

	hours
	connections
	people
	turns
	receiving receiving
	door      door
	changing  changing
	lateness
	elsewhere
	learning *learning // nil where tables are frozen

	paused  bool // the world stands still
	closing bool // no one is let in any more, and everyone is told to go
	over    bool // another program has taken the server's place
	failed  failure

	stats   Stats
	lastErr string       // of the game, that was told last
	unfit   map[int]bool // classes of which it was told that an entity is too large
	control wire.Message // for reading
	scratch []byte       // for writing
}

// hours are what the server knows of time. All of it is on the driver's clock, which never goes
// back.
type hours struct {
	now     time.Duration
	born    time.Time     // when Run's clock was at zero
	due     time.Duration // when the next tick is to be
	lenient time.Duration // until when clients' clocks may be wrong through no fault of theirs
	swept   time.Duration // when those were last looked for who keep others waiting
}

// connections are those who are connected, whether or not they have a seat. Each peer is in peers
// and in order from its first word to its last; its conn belongs to its port.
type connections struct {
	ports []*port
	peers map[*conn.Conn]*peer
	order []*peer // as they came
}

// people are those who have a seat, or want one. Every seat is in seats. That of a player is also
// in players, by its number, and no two have the same; the others watch, and are counted. A claim
// belongs to a client that has no player here yet.
type people struct {
	seats    map[uint64]*Seat // by client
	players  []*Seat          // by number; the first is nil
	watching int
	reserved int              // bytes of what is on its way from them in one piece
	claims   map[uint64]claim // by client
	roster   roster
}

// turns say when a client is sent a snapshot: those whose phase is turn modulo every. phases counts
// the clients of each, so that all ticks have as much to do.
type turns struct {
	turn   uint64 // counts Ticks, also those of a world that stands still
	every  int    // ticks between two snapshots of a client
	gap    time.Duration
	phases []int
	work   []*peer // whose turn it is in this tick
}

// lateness is what is needed to deal with commands that come late or not at all. A game without
// commands has no neutral one, and no peer has a queue.
type lateness struct {
	neutral   []int32     // a command at rest
	finder    *edgeFinder // nil if no edges of late commands count
	lateTicks world.Tick  // for how long they do
	passed    world.Tick  // all ticks before it are counted, with an engine that is eager
	passedAt  time.Duration
}

// elsewhere are the other servers of the same game. draining is nil while people are welcome here.
type elsewhere struct {
	others   []wire.Server
	group    []netip.AddrPort // that tickets name: this server's addresses first, then the others'
	draining []netip.AddrPort // where to send people instead
	sent     int              // how many were
}

// New makes a server with its first world. It owns the links from now on and closes them in
// Close.
func New(o Options) (*Server, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	g := o.Title.Game
	p, err := o.Title.Protocol(o.Strategy)
	if err != nil {
		return nil, err
	}
	s := &Server{
		opt: o, game: g, protocol: p, description: g.Describe(),
		engine: o.Engine, traits: o.Engine.Traits(), unfit: map[int]bool{},
		hours:       hours{born: time.Now()},
		elsewhere:   elsewhere{group: slices.Clone(o.Addresses)},
		connections: connections{peers: map[*conn.Conn]*peer{}},
		people: people{
			seats: map[uint64]*Seat{}, players: make([]*Seat, 1), claims: map[uint64]claim{},
		},
	}
	s.own, _ = o.Engine.(*local)
	if class, _, ok := o.Title.Body(); ok {
		s.body = class.Number()
	}
	s.every = max(1, (g.Rate()+o.SnapshotRate/2)/o.SnapshotRate)
	s.gap, s.phases = time.Duration(s.every)*g.TickLength(), make([]int, s.every)
	if s.lateness, err = newLateness(g, o.Limits.Late); err != nil {
		return nil, err
	}
	if s.scene, err = s.newScene(o.Level); err != nil {
		return nil, err
	}
	for i, l := range o.Links {
		port, err := s.newPort(l, i)
		if err != nil {
			return nil, err
		}
		s.ports = append(s.ports, port)
	}
	s.opt.Conn.Seed = [32]byte{} // the links' machines have theirs, and forget it
	if err := s.start(s.scene); err != nil {
		return nil, err
	}
	s.takeSeats(o.Resume)
	s.pool = newPool(o.Workers, p)
	s.begun()
	if o.Develop {
		for _, class := range p.Oversize(leastPayload) {
			s.tell(News{Kind: GameError,
				Err: fmt.Errorf(
					"server: class %s: it may be that %w of %d bytes; sync less of it, or split "+
						"it into several entities", class, ErrTooLarge, leastPayload)})
		}
	}
	return s, nil
}

func newLateness(g *world.Game, late time.Duration) (c lateness, err error) {
	schema := g.Commands()
	if schema == nil {
		return c, nil
	}
	c.neutral = make([]int32, len(schema.Slots))
	for i := range schema.Slots {
		c.neutral[i] = schema.Slots[i].Absent
	}
	if c.lateTicks = world.Tick(max(late, 0) / g.TickLength()); c.lateTicks > 0 {
		c.finder, err = newEdgeFinder(g)
	}
	return c, err
}

// World is the world that is played. It must be left as it is; after a game panicked, it must not
// even be looked at.
func (s *Server) World() *world.World { return s.scene.world }

// Level is what the world started from.
func (s *Server) Level() Level { return s.scene.level }

// Protocol is what server and clients must agree on.
func (s *Server) Protocol() *replica.Protocol { return s.protocol }

// Token issues a token by which someone can connect within the given time: for servers without a
// backend, for the host of a listen server, and for tests.
func (s *Server) Token(client uint64, userData []byte, life time.Duration) (token.Token, error) {
	return token.Issue(s.opt.Keys[0], token.Grant{
		Protocol: token.ProtocolID(s.game.Name()), Client: client, UserData: userData,
		Servers: s.opt.Addresses[:min(len(s.opt.Addresses), token.MaxServers)],
		Issued:  s.opt.Conn.Wall + int64(s.now/time.Second),
		Expires: s.opt.Conn.Wall + int64((s.now+life+time.Second-1)/time.Second),
	}, rand.Reader)
}

// Tick takes in what has come, computes the next tick of the world, and sends to the clients whose
// turn it is. It is to be called once for each tick, with a time that runs forward. The error is
// one that the server cannot go on after.
func (s *Server) Tick(now time.Duration) error {
	if s.over {
		return ErrReplaced
	}
	began := time.Now()
	stageReceive.begin()
	defer stageNone.begin()
	s.door.open()
	if err := s.receive(now, s.within()); err != nil {
		return err
	}
	s.changed()
	s.door.admit(s)
	s.exchange()
	s.sweep()
	s.tellNames()
	received := time.Now()
	s.stats.last = Times{Receive: received.Sub(began)}
	stageStep.begin()
	if err := s.step(); err != nil {
		return err
	}
	s.due = now + s.game.TickLength()
	s.turn++
	stepped := time.Now()
	s.stats.last.Step = stepped.Sub(received)

	stageSnapshots.begin()
	s.choose()
	s.pool.run(s.work)
	look, encode := s.pool.spent()
	encoded := time.Now()
	s.stats.last.Interest += look
	s.stats.last.Encode = encode
	s.stats.last.Parallel = encoded.Sub(stepped)

	stageSend.begin()
	err := s.send()
	s.teach()
	s.flush()
	if err == nil {
		err = s.failed.over(now, s.Done())
	}
	s.stats.last.Send = time.Since(encoded)
	s.stats.Ticks++
	s.stats.Times.add(&s.stats.last)
	if s.opt.Ticked != nil {
		s.opt.Ticked(s.stats.last)
	}
	return err
}

// leastPayload is what a packet holds where links carry the datagrams that practically all networks
// do.
const leastPayload = 1150

// gameError tells of a game's mistake, but not sixty times a second of the same.
func (s *Server) gameError(err error) {
	text := err.Error()
	var where *world.Error
	if errors.As(err, &where) {
		text = where.Class + where.Err.Error()
	}
	if text == s.lastErr {
		s.stats.GameErrors++
		return
	}
	s.lastErr = text
	s.tell(News{Kind: GameError, Err: err})
}

func (s *Server) begun() {
	if s.opt.Begun != nil {
		s.opt.Begun(s.scene.world, s.scene.level)
	}
	s.tell(News{Kind: LevelBegun, Text: s.scene.level.Name})
}

// SetPaused lets the world stand still, or go on. Connections go on either way. The text says who
// wanted it, or why, and is shown to players. The world of an engine is not the server's to stop,
// so there it does nothing: such an engine decides it, as mirrors do by Mirror.SetPaused.
func (s *Server) SetPaused(on bool, why string) {
	if s.traits.Pausable {
		s.setPaused(on, why)
	}
}

func (s *Server) setPaused(on bool, why string) {
	if s.paused == on {
		return
	}
	s.paused = on
	s.lenient = s.now + 3*time.Second
	s.broadcast(wire.Message{Kind: wire.Pause, On: on, Text: why})
	kind := Resumed
	if on {
		kind = Paused
	}
	s.tell(News{Kind: kind, Text: why})
}

// Paused says whether the world stands still.
func (s *Server) Paused() bool { return s.paused }

// Notice tells everyone something.
func (s *Server) Notice(text string) { s.broadcast(wire.Message{Kind: wire.Notice, Text: text}) }

// NoticeTo tells one person something. Someone who is away does not hear it.
func (s *Server) NoticeTo(seat *Seat, text string) {
	if seat.peer != nil {
		s.notice(seat.peer, text)
	}
}

// Kick throws someone out, and tells them why. Their seat is given up.
func (s *Server) Kick(seat *Seat, why string) {
	if seat.peer == nil {
		s.leave(seat)
		return
	}
	s.drop(seat.peer, wire.ReasonKicked, why)
}

// Shutdown tells everyone that the server stops, and lets no one in any more. Call Tick until Done,
// or for two seconds, so that all hear of it.
func (s *Server) Shutdown(note string) {
	s.closing = true
	for _, p := range s.ports {
		p.conn.Shutdown(conn.ReasonClosing, note)
	}
}

// Done says whether everyone knows that the server has stopped.
func (s *Server) Done() bool {
	for _, p := range s.ports {
		if p.down == nil && !p.conn.Done() {
			return false
		}
	}
	return s.closing
}

// Close ends the server's goroutines and closes its links, without a word to anyone.
func (s *Server) Close() error {
	s.calls.Close()
	s.changing.alive.Wait()
	s.learning.close()
	s.pool.close()
	var all []error
	for _, p := range s.ports {
		all = append(all, p.link.Close())
	}
	return errors.Join(all...)
}

// portSeed gives each link randomness of its own.
func (s *Server) portSeed(i int) [32]byte {
	return sha256.Sum256(fmt.Appendf(s.opt.Conn.Seed[:32:32], "link %d", i))
}
