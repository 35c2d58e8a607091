package clientserver

import (
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// ClientOptions are what a client is made from. Game, Link and Token have no default. Game, Settings and Replica must be the server's.
type ClientOptions struct {
	Game     *world.Game
	Settings SettingsFunc
	Replica  replica.Options

	// Link is how the server is reached, and Token what lets the client in: a connect token, or the ticket of an earlier connection, by which the player
	// comes back to their seat. Servers, if any, are tried in place of those that the token names; a ticket names none.
	Link    link.Link
	Token   token.Token
	Servers []netip.AddrPort
	// Conn are what else package conn takes. Protocol, Version and Channels are set by the client, and so is Seed where it is zero.
	Conn conn.Options
	// ConnectTimeout is how long each server is given to answer. Default: 10 s.
	ConnectTimeout time.Duration
	// Return is for how long to try to come back, with the ticket, when the connection was lost. Default: 30 s. Below zero, not at all.
	Return time.Duration
	// Silence is after how long without a word of a server that should have spoken the client begins to look for another, if it knows of one (see Server.SetPlaces). It
	// still listens, and whichever works first wins. Default: 700 ms. Below zero, only when the connection has ended.
	Silence time.Duration
	// Dial, if set, makes the link by which another server is reached, for links that lead to one server only. It is not to wait, and its error means that this server cannot be
	// reached from here. Without it, Link is used for all.
	Dial func(wire.Place) (link.Link, error)

	// Name is what others read. Spectate asks to watch rather than to play.
	Name     string
	Spectate bool

	// Input fills in the player's command for a tick, with world.Give. Without it, or where it gives none, the player does nothing.
	Input func(t world.Tick, p world.Player, in *world.Inputs)
	// Redundancy is how many of the last commands go into each packet, so that one that is lost is not missed. Default: 4.
	Redundancy int
	// Header, if set, fills in what else goes with commands: the time at which the client shows others, if it interpolates.
	Header func(h *replica.CommandHeader)
	// Clock decides for which ticks commands are sent. Default: one that follows what the server says of how early they come.
	Clock Clock

	// Snapshot and Event, if set, are given each packet of a snapshot, and each reliable event, as they came and in the order in which they are to be seen: what a
	// client that predicts works with. They are good during the call.
	Snapshot func(s *replica.Snapshot)
	Event    func(e *replica.Event)
	// Seen is called with what is in view each time that something has come. Events lists what has happened.
	Seen func(w *world.World)
	// Begun is called when a new world begins. Start is the world as it was at its start, where the client could make it, or nil.
	Begun func(l Level, view, start *world.World)
	// Moved is called when the client goes on at another server, in the same world: what is in view stays, and ticks, player and prediction go on. If it is not the same
	// world after all, Begun is called instead.
	Moved func(to wire.Place)
	// Have gives the data of a level that was kept from before, or nil; Keep is given data that the server has sent.
	Have func(h LevelHash) []byte
	Keep func(h LevelHash, l Level)
	// Told is called with what the server or other players say, and when the game is paused.
	Told func(Word)
}

// Phase is how far a client has come.
type Phase uint8

// The phases of a client.
const (
	Connecting Phase = iota // looking for the server, or coming back to it
	Greeting                // connected, has asked for a seat
	Loading                 // has a seat, and gets ready for the level
	Playing                 // is shown the world
	Ended                   // see Err
)

var phaseNames = [...]string{"connecting", "greeting", "loading", "playing", "ended"}

func (p Phase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return "unknown"
}

// A Client is one player's end: it sends commands and holds a partial world with whatever is in view, at the newest state that has come. It is driven by Tick,
// once for each tick of the game, or by Run. Its methods belong to the goroutine that drives it; while Run does, others use Do.
type Client struct {
	*way     // by which it plays
	opt      ClientOptions
	game     *world.Game
	protocol *replica.Protocol
	clock    Clock
	batch    []link.Datagram
	out      []link.Datagram

	phase    Phase
	err      error
	byServer bool // the server ended the connection
	over     bool // and has been answered
	now      time.Duration
	born     time.Time
	retry    time.Duration // until when to try to come back
	ticket   token.Token
	opened   int // connections

	tries   []*way // to other servers
	parting []*way // that were left
	places  []wire.Place
	target  wire.Place // where the server wants the client to go
	lost    error      // why the connection that was played by is no more
	// unwanted says that the player is not the server's any more that is played at.
	unwanted bool
	turn     int // which of the places is next
	next     time.Duration
	barred   map[netip.AddrPort]bool
	heirs    *heirs // nil when the server has told of everything
	echoes   echoes
	played   wire.Message // the level, as the server named it

	player   world.Player
	client   uint64
	name     string
	watching bool
	interval int
	paused   bool

	level Level
	view  *world.World

	writer  *replica.CommandWriter
	in      *world.Inputs
	sent    world.Tick // the newest tick for which a command was made
	resting int        // commands in a row that do nothing
	history []int32    // of the last commands, by tick
	edger   *edger     // finds what of a command is repeated
	images  [][]int32
	header  replica.CommandHeader
	scratch []byte
	stats   ClientStats
	calls   calls
}

// ClientStats are a client's totals.
type ClientStats struct {
	Snapshots      uint64 // that were shown
	Packets, Bytes uint64 // that they came in
	Stale          uint64 // packets that came too late
	Bad            uint64 // packets, messages or events that could not be used
	Commands       uint64 // that were made
	Skipped        uint64 // ticks for which none was made, because the clock jumped
	Returns        uint64 // how often the client came back
	Moves          uint64 // how often it went on at another server
	Failed         uint64 // attempts at that which did not get there
	Early          int    // as the last snapshot told; in quarters of a tick
	Repeated       uint64 // as snapshots told
}

// NewClient makes a client. It opens nothing and sends nothing until it is driven. It owns the link from now on and closes it in Close.
func NewClient(o ClientOptions) (*Client, error) {
	switch {
	case o.Game == nil:
		return nil, errors.New("clientserver: no game, set ClientOptions.Game")
	case o.Link == nil:
		return nil, errors.New("clientserver: no link to the server, set ClientOptions.Link")
	}
	p, err := replica.NewProtocol(o.Game, o.Replica)
	if err != nil {
		return nil, err
	}
	return newClient(p, o)
}

// NewClientOf is NewClient for programs with many clients, which can share a Protocol: that of a Server in the same program, or one made by replica.NewProtocol
// from the options' Game and Replica.
func NewClientOf(p *replica.Protocol, o ClientOptions) (*Client, error) {
	if o.Link == nil {
		return nil, errors.New("clientserver: no link to the server, set ClientOptions.Link")
	}
	o.Game = p.Game()
	return newClient(p, o)
}

func newClient(p *replica.Protocol, o ClientOptions) (*Client, error) {
	orElse(&o.Redundancy, 4)
	o.Redundancy = min(o.Redundancy, maxRedundancy)
	if o.Return == 0 {
		o.Return = 30 * time.Second
	}
	if o.Silence == 0 {
		o.Silence = 700 * time.Millisecond
	}
	c := &Client{opt: o, game: o.Game, protocol: p, clock: o.Clock, born: time.Now(), batch: make([]link.Datagram, 64), name: wire.Clip(o.Name, wire.MaxName), watching: o.Spectate, ticket: o.Token}
	c.calls.init()
	if c.clock == nil {
		c.clock = &leadClock{tick: o.Game.TickLength()}
	}
	if s := o.Game.Commands(); s != nil {
		c.writer, c.in = replica.NewCommandWriter(p), o.Game.NewInputs()
		c.history = make([]int32, len(s.Slots)*historyTicks)
		c.images = make([][]int32, 0, maxRedundancy)
		c.rest(s)
	}
	if err := c.connect(o.Token); err != nil {
		return nil, err
	}
	return c, nil
}

// connect begins a connection to the server that the client was given, in place of the one that it has.
func (c *Client) connect(t token.Token) error {
	l := c.opt.Link
	if c.way != nil {
		l = c.way.link
	}
	w, err := c.open(l, t, wire.Place{})
	if err != nil {
		return err
	}
	if c.way != nil {
		w.own, w.place = c.way.own, c.way.place
	}
	c.way = w
	c.phase = Connecting
	return nil
}

// Tick takes in what has come, sends commands up to the tick that the clock says, and shows the newest state. It is to be called once for each tick of the game,
// with a time that runs forward. The error is that of Err, once the client has ended.
func (c *Client) Tick(now time.Duration) error {
	if err := c.Receive(now); err != nil {
		return err
	}
	c.command()
	return c.flush()
}

// Receive takes in what has come, without sending anything.
func (c *Client) Receive(now time.Duration) error {
	passed := now - c.now
	c.now = now
	main := c.way
	if err := c.drain(main.link); err != nil {
		c.cut(main, err)
	}
	c.handle()
	if len(c.tries)+len(c.parting) > 0 {
		for _, w := range slices.Concat(c.tries, c.parting) {
			if w.own && w != main {
				if err := c.drain(w.link); err != nil {
					c.cut(w, err)
				}
			}
		}
		if main.link != c.opt.Link && c.way.link != c.opt.Link {
			_ = c.drain(c.opt.Link) // for what is still said to those who were left
		}
	}
	c.tend(passed)
	return c.ended()
}

// Phase is how far the client has come.
func (c *Client) Phase() Phase { return c.phase }

// Err says why a client has ended: nil if it left by Leave, and while it goes on.
func (c *Client) Err() error { return c.err }

// View is what is in view, at the newest state that has come; nil before a world has begun. It must be left as it is.
func (c *Client) View() *world.World { return c.view }

// Player is who the client is in the world, or world.Nobody for one who watches.
func (c *Client) Player() world.Player { return c.player }

// ID is the number by which the server knows the player.
func (c *Client) ID() uint64 { return c.client }

// Name is the player's name, as the server has it.
func (c *Client) Name() string { return c.name }

// Level is the level that is played.
func (c *Client) Level() Level { return c.level }

// Paused says whether the game stands still.
func (c *Client) Paused() bool { return c.paused }

// Interval is how many ticks are between two snapshots.
func (c *Client) Interval() int { return c.interval }

// Conn is the connection, or nil until there is one.
func (c *Client) Conn() *conn.Conn { return c.conn.Conn() }

// Ledger books every byte of the present connection.
func (c *Client) Ledger() conn.Ledger { return c.conn.Ledger() }

// Stats gives the totals so far.
func (c *Client) Stats() ClientStats { return c.stats }

// Ticket is what lets the player back in after a crash of this program; see conn.Client.
func (c *Client) Ticket() (token.Token, bool) { return c.conn.Ticket() }

// Leave ends the connection in good order: the seat is given up. Drive the client until Done, so that the server hears of it.
func (c *Client) Leave() { c.end(nil) }

// Done says whether the client has ended and the server knows.
func (c *Client) Done() bool { return c.phase == Ended && c.conn.Done() }

// Close closes the link, without a word to the server: the seat is kept for a while.
func (c *Client) Close() error {
	c.calls.stop()
	for _, w := range append(slices.Concat(c.tries, c.parting), c.way) {
		w.release()
	}
	return c.opt.Link.Close()
}

func (c *Client) flush() error {
	main := c.way
	if err := c.flushWay(main); err != nil {
		c.cut(main, err)
	}
	if len(c.tries)+len(c.parting) > 0 {
		for _, w := range slices.Concat(c.tries, c.parting) {
			if err := c.flushWay(w); err != nil && w != c.way {
				c.cut(w, err)
			}
		}
	}
	c.over = c.over || c.byServer // it has been answered
	return c.ended()
}

// ErrLeft is what Tick returns after the client has left by itself.
var ErrLeft = errors.New("clientserver: the client has left")

func (c *Client) ended() error {
	if c.phase != Ended || !c.over && !c.conn.Done() {
		return nil
	}
	if c.err == nil {
		return ErrLeft
	}
	return c.err
}

func (c *Client) end(err error) {
	if c.phase == Ended {
		return
	}
	c.phase, c.err = Ended, err
	reason := conn.ReasonLeft
	var version *VersionError
	if errors.As(err, &version) {
		reason = wire.ReasonVersion
	} else if err != nil {
		reason = wire.ReasonData
	}
	c.conn.Close(reason, "")
	for _, w := range c.tries {
		w.conn.Close(reason, "")
	}
}
