package client

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/ways"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// Options are what a Client is made from. Title, Link and Token have no default. Title and Strategy
// must be the server's.
type Options struct {
	Title    *game.Title
	Strategy replica.Strategy

	// Link is how the server is reached, and Token what lets the client in: a connect token, or the
	// ticket of an earlier connection, by which the player comes back to their seat. Servers, if
	// any, are tried in place of those that the token names; a ticket names none.
	Link    link.Link
	Token   token.Token
	Servers []netip.AddrPort
	// Conn is what else package conn takes. Protocol, Version and Channels are set by the client,
	// and so is Seed where it is zero.
	Conn conn.Options
	// ConnectTimeout is how long each server is given to answer. Default: 10 s.
	ConnectTimeout time.Duration
	// Return is for how long to try to come back, with the ticket, when the connection was lost.
	// Default: 30 s. Below zero, not at all.
	Return time.Duration
	// Silence is after how long without a word of a server that should have spoken the client
	// goes to another, the nearest, if it knows of any; after half of it, it finds out which that
	// is. It still listens, and whichever works first wins. Default: 700 ms. Below zero, only when
	// the connection has ended.
	Silence time.Duration
	// Stay keeps the client from going to a nearer server of its own accord. Otherwise it begins at
	// the nearest of the servers that the token names, measures all that it is told of, and goes on
	// at one that is much nearer without an interruption; see game.Title.Busy. Over links that lead
	// to one server only it stays.
	Stay bool
	// Dial, if set, makes the link by which another server is reached, for links that lead to one
	// server only. It is not to wait, and its error means that this server cannot be reached from
	// here. Without it, Link is used for all.
	Dial func(wire.Server) (link.Link, error)

	// Name is what others read. Spectate asks to watch rather than to play.
	Name     string
	Spectate bool

	// Style is how what is not known yet is shown. Someone who only watches is shown what was, a
	// moment ago, unless it is predict.None.
	Style predict.Style
	// Predict is what else package predict takes. Player, Settings, Start and Style are set by the
	// client; by default Classes are the title's, and Keep is 240 ticks: of a world in which
	// nothing happens nothing is told, and on a bad network that may take seconds.
	Predict predict.Options
	// Redundancy says how many of the last commands go into each packet. By default at least 4: the
	// connection tells what share is lost, but not how many in a row. Style None always sends
	// Least.
	Redundancy predict.Redundancy
	// Constant sends commands also while the player does nothing: for a server that takes them as
	// they come, where without one nothing moves.
	Constant bool

	// Store keeps the data of levels from one game to the next. By default it is asked for each
	// time.
	Store Store
	// Tables keeps what servers have learned, from one visit to the next. By default tables
	// are asked for each time. FrozenTables takes none: it costs bandwidth, and nothing else.
	Tables       Tables
	FrozenTables bool
	// Clock, if set, tells the time by which the client measures what its work takes, and tells the
	// server for operators to see. A Session has the machine's.
	Clock func() time.Duration
	// Tap, if set, is shown what comes and what is sent. It is for instruments, and must change
	// nothing.
	Tap Tap
}

// A Store keeps the data of levels.
type Store interface {
	// Load gives the data of a level that was kept before, or nil.
	Load(h game.LevelHash) []byte
	// Keep is given a level that the server has sent.
	Keep(l game.Level)
}

// A Tap observes a client. What it is given is good during the call.
type Tap interface {
	// Snapshot is shown each packet of a snapshot, in the order in which they are taken.
	Snapshot(s *replica.Snapshot)
	// Command is shown each command that was made.
	Command(t world.Tick, image []int32)
}

// A Command makes the player's command for a tick, by world.Give. It is asked once for each tick
// that is due, and is shown the world as it was drawn last. If it gives none, the player does
// nothing.
type Command func(t world.Tick, me world.Player, shown *world.World, in *world.Inputs)

// Phase is how far a client has come; see package ways.
type Phase = ways.Phase

// The phases of a client.
const (
	Connecting = ways.PhaseConnecting // looking for the server, or coming back to it
	Greeting   = ways.PhaseGreeting   // connected, has asked for a seat
	Loading    = ways.PhaseLoading    // has a seat, and gets ready for the level
	Playing    = ways.PhasePlaying    // is shown the world
	Ended      = ways.PhaseEnded      // see Err
)

// An EndError says why a server ended the connection, or did not let the client in.
type EndError = ways.EndError

// A VersionError says that client and server do not have the same version of the game, and what
// differs.
type VersionError struct {
	// Difference is empty if the games are declared alike, and only the way in which they are sent
	// differs.
	Difference string
}

func (e *VersionError) Error() string {
	if e.Difference == "" {
		return "client: the games are declared alike, but are sent otherwise: " +
			"give client and server the same title and strategy"
	}
	return "client: the server has another version of the game:\n" + e.Difference
}

// A Client is one player's end of a game that a server runs. It belongs to one goroutine, whose
// loop calls Frame. It opens nothing and sends nothing before that.
type Client struct {
	o        Options
	game     *world.Game
	protocol *replica.Protocol

	now    time.Duration
	ticked time.Duration // when commands were last made and sent

	ways  *ways.Set
	links map[ways.Link]link.Link
	batch []link.Datagram
	out   []link.Datagram
	live  []*ways.Way
	nets  []ways.Link

	scene    scene
	hearing  *hearing   // of the way that is played by; nil until there is a world
	hearings []*hearing // of ways that are tried
	predict  *predict.Client
	carried  *carriedOver // nil when the server has told of everything
	told     alreadyTold
	learnt   []learnt // by the servers that were played at last

	commands commands
	reports  reports
	uploads  uploads
	screen   screen
	names    map[world.Player]string
	scratch  []byte
	stats    Stats
}

// A scene is the world that the player is in, or is about to be.
type scene struct {
	level  game.Level
	named  time.Duration // when the server named the level
	way    *ways.Way     // by which it did
	paused bool
}

// Stats are a client's totals.
type Stats struct {
	Snapshots      uint64 // that were shown
	Packets, Bytes uint64 // that they came in
	Stale          uint64 // packets that came too late
	Bad            uint64 // packets, messages or events that could not be used
	Commands       uint64 // that were made
	Skipped        uint64 // ticks for which none was made, because the clock jumped
	Worlds         uint64 // that began
	Tables         uint64 // that servers had learned, and the client took
	Returns        uint64 // how often the client came back
	Moves          uint64 // how often it went on at another server
	Nearer         uint64 // how often of its own accord, as that was nearer
	Failed         uint64 // attempts at that which did not get there
	Early          int    // as the last snapshot told; in quarters of a tick
	Repeated       uint64 // commands that the server made up, as snapshots told
}

// New makes a client. It owns the link from now on and closes it in Close.
func New(o Options) (*Client, error) {
	switch {
	case o.Title == nil:
		return nil, errors.New("client: no title to play, set Options.Title")
	case o.Link == nil:
		return nil, errors.New("client: no link to the server, set Options.Link")
	}
	p, err := o.Title.Protocol(o.Strategy)
	if err != nil {
		return nil, err
	}
	if o.Conn.Seed == [32]byte{} {
		if err := random(o.Conn.Seed[:]); err != nil {
			return nil, fmt.Errorf("client: %w", err)
		}
	}
	if o.Constant {
		// A command that comes late is executed all the same, so that there is nothing to be early
		// for: half of them come before the tick whose number they have, and half after.
		o.Predict.Clock.Late = cmp.Or(o.Predict.Clock.Late, 0.5)
		o.Predict.Clock.Guard = cmp.Or(o.Predict.Clock.Guard, 0.01)
	}
	o.Redundancy.Least = cmp.Or(max(o.Redundancy.Least, 0), 4)
	o.Predict.Keep = cmp.Or(o.Predict.Keep, 240)
	if o.Predict.Classes == nil {
		o.Predict.Classes = o.Title.Predict()
	}
	c := &Client{o: o, game: o.Title.Game, protocol: p, batch: make([]link.Datagram, 64),
		links: map[ways.Link]link.Link{ways.First: o.Link}, names: map[world.Player]string{}}
	c.ticked = -c.game.TickLength()
	c.commands.init(p, o.Redundancy)
	c.ways, err = ways.New(ways.Options{
		Protocol: token.ProtocolID(c.game.Name()), Hash: p.Hash(), Tick: c.game.TickLength(),
		Token: o.Token, Servers: o.Servers, Conn: o.Conn, ConnectTimeout: o.ConnectTimeout,
		Return: o.Return, Silence: o.Silence, Dials: o.Dial != nil, Stay: o.Stay,
		Datagram: o.Link.MaxDatagram(),
		Name:     o.Name, Spectate: o.Spectate,
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Phase is how far the client has come.
func (c *Client) Phase() Phase { return c.ways.Phase() }

// Err says why a client has ended: nil if it left by Leave, and while it goes on.
func (c *Client) Err() error { return c.ways.Err() }

// Player is who the client is in the world, or world.Nobody for one who watches.
func (c *Client) Player() world.Player { return c.ways.Seat().Player }

// ID is the number by which the server knows the player.
func (c *Client) ID() uint64 { return c.ways.Seat().Client }

// Name is the player's name, as the server has it.
func (c *Client) Name() string { return c.ways.Seat().Name }

// NameOf is what a player is called, or nothing for one who has said no name. Of a game on several
// servers only those are known who play at the same one, or have spoken.
func (c *Client) NameOf(p world.Player) string {
	if p != world.Nobody && p == c.Player() {
		return c.Name()
	}
	return c.names[p]
}

// Watching says whether the client watches rather than plays.
func (c *Client) Watching() bool { return c.ways.Seat().Watching }

// Interval is how many ticks are between two snapshots.
func (c *Client) Interval() int { return c.ways.Seat().Interval }

// Level is the level that is played.
func (c *Client) Level() game.Level { return c.scene.level }

// Paused says whether the game stands still.
func (c *Client) Paused() bool { return c.scene.paused }

// Epoch is the number of the world that is played, with which messages about it begin.
func (c *Client) Epoch() uint32 { return c.ways.Main().Epoch() }

// Truth is what the server last said of everything in view; nil before a world has begun. It is to
// be left as it is.
func (c *Client) Truth() *world.World {
	if c.predict == nil {
		return nil
	}
	return c.predict.Truth()
}

// Predict is what predicts the present world, to be looked at; nil before a world has begun.
func (c *Client) Predict() *predict.Client { return c.predict }

// Style is how what is not known yet is shown.
func (c *Client) Style() predict.Style { return c.o.Style }

// SetStyle changes the style while the game goes on.
func (c *Client) SetStyle(s predict.Style) {
	c.o.Style = s
	if c.predict != nil {
		c.predict.SetStyle(c.style())
	}
}

// style is the one that is shown in: someone who only watches presses nothing that should be seen
// at once, and is shown what really was, a moment ago.
func (c *Client) style() predict.Style {
	watches := c.o.Style == predict.Quake || c.o.Style == predict.QuakeWorld
	if c.predicts() && !watches && c.ways.Seat().Player == world.Nobody {
		return predict.Quake3
	}
	return c.o.Style
}

// Conn is the connection, or nil until there is one.
func (c *Client) Conn() *conn.Conn { return c.ways.Main().Conn() }

// Ledger books every byte of the present connection.
func (c *Client) Ledger() conn.Ledger { return c.ways.Main().Client().Ledger() }

// Servers are the other servers of the game that the client knows of, the best first.
func (c *Client) Servers() []wire.Server { return c.ways.Servers() }

// Places are the servers of the game as far as the client has measured the way to them, the best
// first, with the one that is played at.
func (c *Client) Places() []ways.Place { return c.ways.Places() }

// Place is what players call the server that is played at: its name, if another server has told of
// it, or where it is; empty while there is none.
func (c *Client) Place() string {
	w := c.ways.Main()
	switch {
	case w.Conn() == nil:
		return ""
	case w.Server().Name != "":
		return w.Server().Name
	}
	return w.Conn().Addr().String()
}

// Moving says whether the client is looking for another server to go on at.
func (c *Client) Moving() bool { return c.ways.Moving() }

// Ticket is what lets the player back in after a crash of this program; see conn.Client.
func (c *Client) Ticket() (token.Token, bool) { return c.ways.Main().Client().Ticket() }

// Stats gives the totals so far.
func (c *Client) Stats() Stats {
	s, w := c.stats, c.ways.Stats()
	s.Returns, s.Moves, s.Nearer, s.Failed = w.Returns, w.Moves, w.Nearer, w.Failed
	s.Bad += w.Bad
	return s
}

// Say sends a line of chat.
func (c *Client) Say(line string) {
	c.tell(&wire.Message{Kind: wire.Chat, Text: wire.Clip(line, wire.MaxText)})
}

// SayTo sends a line of chat to some players alone, up to 8, wherever in the game they are. Whoever
// says it hears it as well, so that it can be shown.
func (c *Client) SayTo(line string, to ...world.Player) {
	if len(to) > 0 {
		c.tell(&wire.Message{Kind: wire.Chat, Text: wire.Clip(line, wire.MaxText),
			To: to[:min(len(to), wire.MaxTo)]})
	}
}

// Speak sends a line as someone types it: "@ada well played" is for ada alone, if there is one
// player of that name, or of a name that begins so; all else is for everyone.
func (c *Client) Speak(line string) {
	if name, rest, ok := strings.Cut(strings.TrimPrefix(line, "@"), " "); ok && line[0] == '@' {
		if p := c.named(name); p != world.Nobody {
			c.SayTo(rest, p)
			return
		}
	}
	c.Say(line)
}

// named finds the one player that can be meant by a name, or Nobody.
func (c *Client) named(name string) (found world.Player) {
	for p, n := range c.names {
		switch {
		case strings.EqualFold(n, name):
			return p
		case len(n) < len(name) || !strings.EqualFold(n[:len(name)], name):
		case found != world.Nobody:
			return world.Nobody // more than one
		default:
			found = p
		}
	}
	return found
}

// Rename asks for another name.
func (c *Client) Rename(name string) {
	c.tell(&wire.Message{Kind: wire.Name, Name: wire.Clip(name, wire.MaxName)})
}

// SetPaused asks for the game to stand still, or to go on.
func (c *Client) SetPaused(on bool) { c.tell(&wire.Message{Kind: wire.Pause, On: on}) }

// SetSpectating asks to watch in place of playing, or the reverse.
func (c *Client) SetSpectating(on bool) { c.tell(&wire.Message{Kind: wire.Side, On: on}) }

func (c *Client) tell(m *wire.Message) { c.ways.Tell(c.ways.Main(), m) }

// Leave ends the connection in good order: the seat is given up. Call Frame until Done, so that the
// server hears of it.
func (c *Client) Leave() { c.ways.End(conn.ReasonLeft, nil) }

// Done says whether the client has ended and the server knows.
func (c *Client) Done() bool { return c.ways.Done() }

// Close closes the links, without a word to the server: the seat is kept for a while.
func (c *Client) Close() error {
	for n, l := range c.links {
		if n != ways.First {
			_ = l.Close() // nothing more is expected of it
		}
	}
	return c.o.Link.Close()
}

// end ends the client because of something that it cannot use.
func (c *Client) end(err error) {
	reason := wire.ReasonData
	var version *VersionError
	if errors.As(err, &version) {
		reason = wire.ReasonVersion
	}
	c.ways.End(reason, err)
}
