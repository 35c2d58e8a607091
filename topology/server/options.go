package server

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// Options are what a server is made from. Title and Links have no default; without Keys a server
// makes one of its own, and only Token lets anyone in.
type Options struct {
	// Title is what is played, and Level the world that it starts with. Default: the title's first.
	Title *game.Title
	Level Level
	// Resume is what another server left by Save, and where this one goes on; Level is then what it
	// says. It is for an engine of the server's own.
	Resume *Saved
	// Strategy says how snapshots are made; clients must have the same.
	Strategy replica.Strategy
	// Take says when commands are executed. Default: each at its tick.
	Take Taking
	// Rules are the game's own, on what clients may do.
	Rules Rules
	// Limits are what a server takes from one client.
	Limits Limits

	// Links are where clients come from; a server may have any number, of any kind.
	Links []link.Link
	// Keys open tokens; see package conn/token.
	Keys []token.Key
	// Addresses are those under which clients know the server. A token that names servers is
	// refused unless it names one of them; with none given that is not checked. SetAddresses
	// changes them.
	Addresses []netip.AddrPort
	// Conn are what else package conn takes: rates, timeouts, how long a ticket is good. Protocol,
	// Version, Channels and Seed are set by the server, and so are Wall, Used and Seed where they
	// are zero.
	// TicketsFor is how long after their first token people may come back with tickets.
	Conn       conn.Options
	TicketLife time.Duration
	TicketsFor time.Duration

	// Players is how many may play, and Spectators how many may watch. Defaults: 64 and 16. Below
	// zero, no one may watch.
	Players, Spectators int
	// SnapshotRate is how many snapshots a client gets in a second. Default: 20.
	SnapshotRate int
	// KeepSeat is how long a seat is kept for someone whose connection was lost. Default: one
	// minute. Below zero, not at all.
	KeepSeat time.Duration
	// Neutral is after how long without a command a player's levels are let go, too. Default: half
	// a second.
	Neutral time.Duration
	// Workers is over how many cores the work for clients is spread. Default: all that Go has.
	Workers int
	// Polls is how often in a tick Run looks for datagrams, so that it is known when commands came.
	// Default: 4.
	Polls int
	// Intake is how long one call of Tick or Receive may take in what has come, by the machine's
	// clock; what is left waits. Default: no limit but a number of datagrams, so that a driver with
	// a time of its own can repeat a run. Run takes a quarter of a tick within ticks, and what time
	// there is between them.
	Intake time.Duration
	// Develop looks for mistakes of the game while it runs; see world.Settings. An entity that does
	// not fit a packet is then an error of Tick.
	Develop bool

	// OnPanic says what to do when the game panics in a tick. Default: End.
	OnPanic OnPanic
	// Flight is how much of the past is kept in memory to show how the game came to panic; see
	// Flight. Default: the last 10 s at least. Below zero, nothing.
	Flight time.Duration

	// Engine computes the world; see Engine. Default: one that has the world to itself. With
	// another, After is not called, and Level is only what the game begins from.
	Engine Engine

	// After is called after each tick of the world, with what went in: to record, to decide a
	// match. Begun is called with each new world, before its first tick.
	After func(w *world.World, in *world.Inputs)
	// Asked is called, between ticks, with each event whose Delivery is world.Outside, once it is
	// certain: what the game asks of the outside. Start what it takes and return at once; the
	// answer comes in by Tell, with world.TellAnswer and the event's name. Of mirrors, only the one
	// that leads is told. What it has not answered when it dies nobody answers, so a game asks
	// again after a while.
	Asked func(e world.Emitted, q bits.Syncer)
	Begun func(w *world.World, l Level)
	// Ticked is called at the end of each Tick, with how long its parts took.
	Ticked func(Times)
	// News is told what happens: who came, who left, who misbehaved. It may call the server's
	// methods, except Tick, Receive and Run.
	News func(News)
}

// Rules let a game decide what clients may do. Each is optional, and an error refuses; its text is
// told to the player.
type Rules struct {
	// Admit is asked about everyone who comes, before they get a seat.
	Admit func(v Visitor) error
	// Command is asked about each command, and may change it. An error counts as an offence, and
	// the command as missing. One that comes too late, of which only the edges are used, is asked
	// about as if it were for the next tick.
	Command func(w *world.World, p world.Player, t world.Tick, image []int32) error
	// Name is asked about each name, and may change it. Default: as it is.
	Name func(s *Seat, name string) (string, error)
	// Chat is asked about each line, and may change it. An empty line is told to no one.
	Chat func(s *Seat, line string) (string, error)
	// Hears decides to whom a line goes. Default: to everyone.
	Hears func(from, to *Seat) bool
	// Pause is asked when someone wants the game to stand still, or to go on. Default: no one may.
	Pause func(s *Seat, on bool) error
	// Upload is asked when someone begins to send something in one piece: its name, as in the
	// title's Uploads, and its bytes. Default: everyone may, within Limits.
	Upload func(s *Seat, name string, size int) error
	// Uploaded is given what a player has sent in one piece and the game's Take, if there is one,
	// has taken: to keep it. Start what takes long and return at once.
	Uploaded func(u Upload) error
	// Side is asked when someone wants to watch in place of playing, or the reverse. Default:
	// everyone may.
	Side func(s *Seat, spectate bool) error
}

// A Visitor is someone at the door.
type Visitor struct {
	Client   uint64
	Name     string
	Spectate bool
	Returns  bool // has a seat here already
	// Journey is why they come, as they say, and what they measured on the way.
	Journey wire.Journey
	// Addr is the real address of whoever came, where the link knows it.
	Addr     netip.AddrPort
	UserData []byte // of the token
}

func (o *Options) fill() error {
	switch {
	case o.Title == nil:
		return errors.New("server: nothing to play, set Options.Title")
	case len(o.Links) == 0:
		return errors.New("server: no link for clients to come by, set Options.Links")
	case o.Players < 0 || o.Players > 10000:
		return fmt.Errorf("server: %d players, want 1 to 10000", o.Players)
	}
	if err := o.Title.Check(); err != nil {
		return err
	}
	if err := o.takesAs(); err != nil {
		return err
	}
	if o.Resume != nil {
		if o.Engine != nil {
			return errEngine
		}
		o.Level = o.Resume.Level
	}
	if o.Level.Name == "" && len(o.Level.Data) == 0 {
		o.Level.Name = o.Title.Levels.First()
	}
	rate := o.Title.Game.Rate()
	orElse(&o.Players, 64)
	o.Spectators = max(cmp.Or(o.Spectators, 16), 0)
	orElse(&o.SnapshotRate, 20)
	o.SnapshotRate = min(o.SnapshotRate, rate)
	o.KeepSeat = cmp.Or(o.KeepSeat, time.Minute)
	orElse(&o.Neutral, 500*time.Millisecond)
	orElse(&o.Workers, runtime.GOMAXPROCS(0))
	orElse(&o.Polls, 4)
	o.Limits.fill(rate, o.Players)
	o.Flight = cmp.Or(o.Flight, 10*time.Second)
	if o.Engine == nil {
		l := newLocal(o.Title.Game, int(max(o.Flight, 0)/o.Title.Game.TickLength()))
		if err := l.resume(o.Title.Game, o.Resume); err != nil {
			return err
		}
		o.Engine = l
	}
	if o.Conn.Seed == [32]byte{} {
		if _, err := rand.Read(o.Conn.Seed[:]); err != nil {
			return fmt.Errorf("server: %w", err)
		}
	}
	o.Conn.Wall = cmp.Or(o.Conn.Wall, time.Now().Unix())
	if o.Conn.Used == nil {
		o.Conn.Used = conn.NewUsed(nil) // for all links, as they are one server to people
	}
	if len(o.Keys) == 0 {
		key, err := token.NewKey(rand.Reader)
		if err != nil {
			return err
		}
		o.Keys = []token.Key{key}
	}
	return nil
}
