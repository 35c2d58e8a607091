package mirror

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/membership"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/timeline/ruled"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// A Mirror is a server that holds the whole world together with others of its kind, and serves the clients that are nearest to it. It is driven by Poll, or
// by Run, which does that as time goes by. Its methods belong to the goroutine that drives it; while Run does, others use Do.
type Mirror struct {
	opt    Options
	game   *world.Game
	codec  *codec
	server *server.Server // nil until there is a world
	level  server.Level

	node    *crimp.Node
	council *membership.Membership
	tries   uint32
	batch   []link.Datagram
	out     []link.Datagram

	phase        Phase
	err          error
	fault        error         // the game panicked, and clients are being told
	driver       time.Duration // the time, as the driver says
	machine      time.Duration // the same, but that it never goes back
	clock        clock
	jumps        int
	self         member.ID
	uber         member.ID
	epoch        uint32
	ubers        map[uint32]member.ID // by epoch
	streams      map[member.ID]*stream
	order        []member.ID        // the same, in order
	led          map[member.ID]bool // who is or was überserver, and is not gone
	final        world.Tick         // up to where those who are gone may have decided
	wanted       []member.ID        // who waits for the world
	elsewhere    []Place            // where players find other mirrors, as last known
	idle, sentOn time.Duration      // since when this one does not serve, and when players were last sent on
	peers        []netip.AddrPort   // where mirrors were
	registry     *registry

	line    timeline.Timeline
	ruled   *ruled.Timeline // the same, if it is one
	waits   bool            // it waits for what all mirrors have promised
	stamp   world.Tick      // the first tick that is open
	started bool            // this mirror may stamp
	from    world.Tick      // after this tick
	held    world.Tick      // up to where it may settle

	pending  []pendingItem // to be sent
	images   []int32       // of pending commands
	moves    []move        // sent lately, in the event-based protocol
	moved    bool          // there are new ones
	movedAt  time.Duration
	ruledTo  world.Tick // the last tick whose ruling has come, or was sent
	unheard  []*ruled.Ruling
	stamped  uint32 // commands stamped
	count    uint32 // of those, sent
	sent     crimp.Sequence
	promised world.Tick // in the last packet
	sentAt   time.Duration
	clockAt  time.Duration
	echoTurn int
	placeAt  time.Duration
	buf      []byte

	parked       []timeline.Command
	claims       map[uint64]*claim
	hashes       hashRing
	hashed       world.Tick // the last that was told to others
	shown        world.Tick // the leading tick that was published last
	ticked       time.Duration
	last         *world.World // that was shown
	shownSettled world.Tick
	stale        bool // the leading world was taken back since then
	prior        timeline.Stats
	notices      []replica.Happening
	decided      []server.Decision // about the people of the server, which it has not asked for yet
	told         bool              // Began was told
	wrong        bool              // this mirror's settled world is unlike most others'
	cut          bool              // off from most of the others
	reunited     time.Duration     // by the clock: since when it is not
	broken       bool              // it cannot go on with its world, and joins anew
	parting      bool              // it has asked to be let go
	rejoinBy     time.Duration     // at the latest
	leaving      time.Duration     // until when clients have to move

	stats Stats
	calls drive.Calls
	lie   time.Duration // that it adds when it tells the time; only tests lie
	born  time.Time
}

// A Phase is how far a mirror has come.
type Phase uint8

// The phases of a mirror.
const (
	Joining   Phase = iota // asks to be let in, or waits for the world
	Waiting                // holds the world, and waits to be started
	Serving                // takes commands
	Suspended              // cut off, or its clock is unsure: shows the world as it is and takes nothing
	Leaving                // on its way out
	Out                    // see Err
)

var phaseNames = [...]string{"joining", "waiting", "serving", "suspended", "leaving", "out"}

func (p Phase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return "unknown phase"
}

// A pendingItem waits to be sent. Images are kept apart.
type pendingItem struct {
	item
	at, n int // of the image
}

// A claim is a client that waits for a player.
type claim struct {
	name  string
	asked time.Duration
}

// ErrEnded says that a mirror is out of its group for good. Use errors.Is.
var ErrEnded = errors.New("mirror: out of the group")

// New makes a mirror. It owns its links from now on and closes them in Close. It does nothing until it is driven.
func New(o Options) (*Mirror, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	m := &Mirror{
		opt: o, game: o.Server.Title.Game, codec: newCodec(o.Server.Title.Game), batch: make([]link.Datagram, 64), born: time.Now(),
	}
	m.reset()
	if err := m.join(); err != nil {
		return nil, err
	}
	if o.Found {
		if err := m.found(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// reset forgets the group, but not the clients.
func (m *Mirror) reset() {
	m.clock.reset()
	m.ubers = map[uint32]member.ID{}
	m.streams, m.order = map[member.ID]*stream{}, nil
	m.registry = newRegistry(m.ticks(m.opt.window()))
	m.self, m.uber, m.epoch, m.final = 0, 0, 0, 0
	m.led = map[member.ID]bool{}
	m.wanted = nil
	m.line, m.ruled = nil, nil
	m.stamp, m.started, m.from, m.held = 0, false, 0, 0
	m.pending, m.images, m.stamped, m.count, m.sent, m.promised = nil, nil, 0, 0, 0, 0
	m.parked, m.moves, m.unheard, m.ruledTo = nil, nil, nil, 0
	m.claims = map[uint64]*claim{}
	m.hashes.reset()
	m.hashed = 0
	m.prior = timeline.Stats{}
	m.stale, m.broken, m.cut, m.reunited = true, false, false, 0
}

// join makes the machines by which mirrors talk, with keys of their own for each attempt.
func (m *Mirror) join() error {
	m.tries++
	seed := sha256.Sum256(binary.BigEndian.AppendUint32(append([]byte("mirror"), m.opt.Seed[:]...), m.tries))
	id, err := crimp.NewIdentity(seed)
	if err != nil {
		return err
	}
	o := crimp.Options{Identity: id, History: m.opt.History, Datagram: min(1200, m.opt.Link.MaxDatagram())}
	o.Seed = sha256.Sum256(append([]byte("crimp"), seed[:]...))
	about, err := m.opt.About()
	if err != nil {
		return err
	}
	m.council, err = membership.New(membership.Options{
		Options: o, Card: crimp.Card{Addr: m.opt.Address}, Protocol: token.ProtocolID("mirrors of " + m.game.Name()), Keys: m.opt.Keys, Wall: m.opt.Wall,
		Found: m.opt.Found && m.tries == 1, Ask: m.ask(), Patience: m.opt.Patience, MaxMembers: m.opt.MaxMirrors,
		About: about,
	})
	if err != nil {
		return err
	}
	m.node, err = crimp.NewNode(o, m.council)
	return err
}

// ask lists whom to ask: who was known to be a mirror, and who was named.
func (m *Mirror) ask() []netip.AddrPort {
	list := slices.Clone(m.opt.Ask)
	for _, a := range m.peers {
		if a.IsValid() && a != m.opt.Address && !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return list
}

// founder is the number of the mirror that begins a game.
const founder member.ID = 1

// found begins a game.
func (m *Mirror) found() error {
	m.level = m.opt.Server.Level
	m.self, m.uber = founder, founder
	if err := m.open(); err != nil {
		return err
	}
	m.clock.set(0)
	m.started = true
	return nil
}

// open makes the server, whose engine this is. If there is no timeline yet, it begins with the world that the level starts with.
func (m *Mirror) open() error {
	if m.server == nil {
		o := m.opt.Server
		o.Level, o.Engine = m.level, &engine{m}
		var err error
		if m.server, err = server.New(o); err != nil {
			return err
		}
	}
	return nil
}

// slack is how long settling may stand still before the game does: as long as it takes to agree that someone is gone.
func (m *Mirror) slack() time.Duration { return 2*m.opt.History + time.Second }

// guessed is what a step and a copy are taken to cost where nothing measures them.
const guessed = 50 * time.Microsecond

// openLine makes the timeline, from the beginning or from what another mirror has told.
func (m *Mirror) openLine(w *world.World, b *book) error {
	o := kinds.Options{Delays: m.opt.Delays, Mirrors: []member.ID{m.self}, Judge: m.self == m.uber}
	o.Margins, o.Held, o.Slack, o.Settled, o.Clock = m.opt.Margins, true, m.slack(), m.settledTick, m.opt.Measure
	if o.Clock == nil {
		o.Step, o.Copy = guessed, guessed
	}
	if b != nil {
		o.Pending, o.Term, o.Judge = b.pending, b.term, false
	}
	line, err := kinds.Open(m.opt.Timeline, w, o)
	if err != nil {
		return err
	}
	m.line, m.ruled = line.Timeline, line.Ruled
	m.waits = line.Waits()
	m.held, m.ruledTo = w.Tick(), w.Tick()
	m.prior = timeline.Stats{}
	m.stale = true
	return nil
}

// ticks is how many ticks a duration has, at least one.
func (m *Mirror) ticks(d time.Duration) world.Tick {
	return max(world.Tick(d/m.game.TickLength()), 1)
}

// Poll takes in what has come, does what is due and sends what there is to send. Call it a few times a tick, with a time that runs forward; Deadline says
// when it is due at the latest. The error is one that the mirror cannot go on after. If the game panics
// it is a *world.Panic: the others compute the same and panic alike, so there is nowhere to go.
func (m *Mirror) Poll(now time.Duration) (err error) {
	if m.phase == Out {
		return m.err
	}
	if m.fault != nil {
		return m.farewell(now)
	}
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *world.Panic:
			m.fault = v
			err = m.farewell(now)
		default:
			panic(v) // not the game's
		}
	}()
	return m.poll(now)
}

// farewell lets clients hear that the game has panicked, and then ends the mirror.
func (m *Mirror) farewell(now time.Duration) error {
	if m.server == nil {
		return m.end(m.fault)
	}
	if m.phase != Leaving {
		m.phase = Leaving
		m.server.Fail(m.fault)
	}
	m.clock.advance(now, m.uber)
	m.driver, m.machine = now, m.clock.steady
	if m.server.Tick(m.machine) != nil {
		return m.end(m.fault)
	}
	return nil
}

func (m *Mirror) poll(now time.Duration) error {
	m.clock.advance(now, m.uber)
	m.driver, m.machine = now, m.clock.steady
	if m.clock.jumps != m.jumps {
		m.jumps = m.clock.jumps
		m.tell(News{Kind: ClockJumped})
	}
	if err := m.receive(); err != nil {
		return err
	}
	m.node.Tick(now)
	if err := m.events(); err != nil {
		return err
	}
	m.provide()
	m.rule()
	if len(m.unheard) > 0 {
		m.hearAgain()
	}
	if err := m.advance(); err != nil {
		return err
	}
	if err := m.serve(); err != nil {
		return err
	}
	m.send()
	if m.ruled != nil {
		m.sendMoves()
	}
	m.depart()
	if err := m.flush(); err != nil {
		return err
	}
	if m.wrong {
		m.wrong = false
		m.again("its settled world differs from the others'")
	}
	m.part()
	if m.broken && m.machine >= m.rejoinBy {
		return m.rejoin()
	}
	return nil
}

// Deadline is when Poll is due next.
func (m *Mirror) Deadline() time.Duration {
	d := min(m.game.TickLength()/4, m.node.Deadline()-m.machine)
	return m.driver + max(d, 0)
}

func (m *Mirror) receive() error {
	for {
		n, err := m.opt.Link.Receive(m.batch)
		if err != nil {
			return fmt.Errorf("mirror: the way to other mirrors has ended: %w", err)
		}
		if n > 0 {
			m.node.Receive(m.machine, m.batch[:n])
			if err := m.events(); err != nil {
				return err
			}
		}
		if n < len(m.batch) {
			return nil
		}
	}
}

// flush hands the link what there is to send.
func (m *Mirror) flush() error {
	m.out = m.node.Flush(m.machine, m.out[:0])
	for done := 0; done < len(m.out); {
		n, err := m.opt.Link.Send(m.out[done:])
		if done += n; err == nil {
			continue
		}
		if !link.Passing(err) {
			return fmt.Errorf("mirror: the way to other mirrors has ended: %w", err)
		}
		done++ // as good as lost on the way
	}
	return nil
}

// advance lets the timeline compute what is due, and keeps what it says.
func (m *Mirror) advance() error {
	if m.line == nil || m.clock.unsure || m.phase == Suspended || m.broken {
		return nil
	}
	now := m.clock.now()
	m.stamp = max(m.stamp, m.line.Stamp(now))
	if m.waits {
		m.giveInOrder()
	}
	if err := m.line.Advance(now); err != nil {
		return m.failed(err)
	}
	for _, n := range m.line.Notices() {
		m.note(&n)
	}
	m.judged()
	st := m.line.Stats()
	if st.Rollbacks != m.prior.Rollbacks || st.Corrections != m.prior.Corrections {
		m.stale = true
	}
	m.prior = st
	return nil
}

// serve lets the server have its tick when the world has had one, and otherwise lets it hear.
func (m *Mirror) serve() error {
	if m.server == nil {
		return nil
	}
	m.sendOn()
	due := m.machine-m.ticked >= m.game.TickLength()
	if m.line != nil && m.line.Leading().Tick() == m.shown && !due {
		return m.server.Receive(m.machine)
	}
	m.ticked = m.machine
	return m.server.Tick(m.machine)
}
