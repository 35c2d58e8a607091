//go:build !js

package host

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/keeping"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/host/internal/uploads"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/server"
)

// ServeOptions are what a server is made from. The zero value is a server at port 4000, over UDP
// and for HTTP, that lets anyone in.
type ServeOptions struct {
	// Listen is the UDP address for players, with port 0 for any that is free. Default: ":4000".
	Listen string
	// HTTP is where health, metrics, status and tokens are asked for. Default: as Listen, over TCP.
	// "none" is no HTTP at all.
	HTTP string
	// WebSocket also takes players over WebSocket, at /coeval of the HTTP address, and WebTransport
	// at a UDP address of its own. Hosts are names of this machine, for the certificate of the
	// latter. Default: localhost.
	WebSocket    bool
	WebTransport string
	Hosts        []string

	// Page shows a page at the HTTP address on which people play in their browsers, by WebTransport
	// or WebSocket, and takes players from no page but that and those of Web.Origins. Hosts are
	// then names by which the page is asked for as well. Client is a folder with the game for the
	// browser, as demo --build-client makes it; without, it is compiled, which needs Go and the
	// sources.
	Page   bool
	Client fs.FS

	// Web is how all that is HTTP is answered.
	Web WebOptions
	// Public is where players reach the server if not at its own addresses, such as that of a
	// router. A token that names other servers than these is refused.
	Public []string
	// PerAddress is how many may be there from one address, or one network (/64) of IPv6. Default:
	// a quarter of Players, and at least 4. Below zero there is no limit, and none for this
	// machine.
	PerAddress int

	// Keys open tokens; see package conn/token. Default: one that is drawn.
	Keys []token.Key
	// Open lets anyone in who asks at /token. A server without Keys is open, as nobody else could
	// let anyone in.
	Open bool

	// Level is what the world starts from. Default: the title's first. Seeds that are 0 are drawn.
	Level game.Level
	// Strategy is how snapshots are made; clients are told by /token.
	Strategy replica.Strategy
	// Architecture is by name what the server and its clients do as a classic game did, in place
	// of Strategy; see package topology/architecture. Default: coeval's own.
	Architecture string
	// Knobs are what is set of the architecture and of the title, as lab tune finds it and a file
	// of package knob/settings has it. They go before what else says the same.
	Knobs knob.Values
	// Players is how many may play, and Spectators how many may watch. Defaults: 64 and 16. Below
	// zero, no one may watch.
	Players, Spectators int
	// Snapshots is how many a player gets in a second, default 20, and MaxRate how many bytes at
	// most, default 256 KiB.
	Snapshots, MaxRate int
	// Workers is over how many cores the making of snapshots is spread, default all, and Polls how
	// often in a tick the server looks for datagrams, default 4.
	Workers, Polls int
	// KeepSeat is how long a seat is kept for someone whose connection was lost. Default: one
	// minute. Below zero, not at all.
	KeepSeat time.Duration
	// Neutral is after how long without commands a player lets go of the controls. Default: half a
	// second.
	Neutral time.Duration
	// Pause lets players pause the game.
	Pause bool
	// Develop looks for mistakes of the game while it runs, and ends at the first that matters.
	Develop bool
	// RecordOptions say what is recorded.
	RecordOptions

	// Keep has the game survive the program and the machine.
	Keep KeepOptions

	// Panics say what follows when the game panics in Step.
	Panics PanicOptions

	// Log is told what happens. Default: nobody is.
	Log *slog.Logger
}

// RecordOptions say what of a match is recorded.
type RecordOptions struct {
	// Record is a file that the match is recorded into, for trace and desync.
	Record string
	// RecordLast keeps only the last of the match in Record, at least so long. Default: all of it.
	RecordLast time.Duration
}

// PanicOptions say what a server does when its game panics. Without any the match ends, players are
// told, and Serve returns where it panicked.
type PanicOptions struct {
	// Restart begins the level anew, with everyone still there.
	Restart bool
	// Traces is a folder for traces of how the game came to panic. Default: none are written.
	Traces string
}

// KeepOptions say how a game survives its program and its machine: a server that is started with
// the same folder again goes on where it was, and players come back to their bodies by their
// tickets.
type KeepOptions struct {
	// Dir is the folder. Default: none, and nothing is kept.
	Dir string
	// Flush is when what was played is made durable: "never", "tick" or a time such as "100ms".
	// Default: "1s".
	Flush string
	// Every is how often the whole world is written. Default: 10 s.
	Every time.Duration
	// History is for how long what was played stays, so that one can go back to it; below zero for
	// ever. Default: some seconds.
	History time.Duration
	// Store is where what outlives matches is kept, with a Dir or without, for a title of which
	// something does; see package kept. Default: in memory, so that it ends with the program.
	Store kept.Store
	// Tables say whether the server learns how to make snapshots smaller, and where it keeps that.
	// It learns by default.
	Tables TablesOptions
	// Upgrade takes the place of the server that runs with the same Dir, if there is one, while it
	// is played; see docs/upgrade.md. The world stands still from NewServer to Run, for as long as
	// UpgradeWithin at most, or the other server goes on. Default: 1 s.
	Upgrade       bool
	UpgradeWithin time.Duration
}

// inside are the options of the server inside.
func (o *ServeOptions) inside(t *game.Title) server.Options {
	so := server.Options{
		Title: t, Level: o.Level, Strategy: o.Strategy, Keys: o.Keys,
		Players: o.Players, Spectators: o.Spectators, SnapshotRate: o.Snapshots,
		Workers: o.Workers, Polls: o.Polls, KeepSeat: o.KeepSeat, Neutral: o.Neutral,
		Develop: o.Develop,
	}
	so.Conn.MaxRate = o.MaxRate
	so.Limits.PerAddress = o.PerAddress
	if o.Panics.Restart {
		so.OnPanic = server.Restart
	}
	return so
}

// TablesOptions say how a server's snapshots get smaller while people play: it learns from what it
// sends, off the game's goroutine, and clients go over to what it has learned; see docs/codec.md.
type TablesOptions struct {
	// Frozen leaves it at the title's own tables.
	Frozen bool
	// Dir is a folder for what was learned, from which the next start goes on. Default: none, and
	// each start begins anew.
	Dir string
}

// Serve runs a title for players on other machines, until the context ends: sockets, tokens, HTTP,
// metrics and a recording in one call. Players are told before it returns.
func Serve(ctx context.Context, t *game.Title, o ServeOptions) error {
	s, err := newServer(ctx, t, o)
	if err != nil {
		return err
	}
	return errors.Join(s.Run(ctx), s.Close())
}

// A Server is a title that is served, with what is around it. Most programs need only Serve; a
// Server also says where it listens.
type Server struct{ s *serve.Server }

// NewServer opens the sockets of a server. On an error nothing is left open.
func NewServer(t *game.Title, o ServeOptions) (*Server, error) {
	return newServer(context.Background(), t, o)
}

func newServer(ctx context.Context, t *game.Title, o ServeOptions) (*Server, error) {
	flush, err := keeping.ParseFlush(cmp.Or(o.Keep.Flush, "1s"))
	if err != nil {
		return nil, err
	}
	s, err := serve.New(ctx, serve.Options{
		Keep: keeping.Options{Dir: o.Keep.Dir, Flush: flush, Every: o.Keep.Every,
			History: o.Keep.History},
		Store:   o.Keep.Store,
		Tables:  serve.TablesOptions(o.Keep.Tables),
		Upgrade: serve.UpgradeOptions{On: o.Keep.Upgrade, Within: o.Keep.UpgradeWithin},
		Server:  o.inside(t), Architecture: o.Architecture, Knobs: o.Knobs,
		Listen: o.Listen, HTTP: o.HTTP,
		WebSocket:    o.WebSocket,
		WebTransport: o.WebTransport, Hosts: o.Hosts, Open: o.Open, Pause: o.Pause,
		Page: o.Page, Client: o.Client, Record: o.Record, RecordLast: o.RecordLast,
		PanicTraces: o.Panics.Traces, Log: o.Log,
		Public: o.Public, Origins: o.Web.Origins, Web: o.Web.inside(), Admin: o.Web.Admin.inside(),
		Queries: o.Web.Queries, Uploads: uploads.Options{Dir: o.Web.Uploads, MostMB: 1024},
	})
	return &Server{s}, err
}

// Addr is where players come to, over UDP.
func (s *Server) Addr() netip.AddrPort { return s.s.Addr() }

// HTTP is the address and port at which the server answers over HTTP and players join, or nothing.
func (s *Server) HTTP() string { return s.s.HTTP() }

// Links are where people play in their browsers: one for each name and address by which others
// reach the page, or one for this machine. Without ServeOptions.Page there are none.
func (s *Server) Links() []string { return s.s.Links() }

// Admin is the address and port at which operators are answered, or nothing.
func (s *Server) Admin() string { return s.s.Admin() }

// Fingerprint is that of a certificate that the server has made, for JoinOptions.Trust, or nothing.
func (s *Server) Fingerprint() string { return s.s.Fingerprint() }

// Run serves until the context ends.
func (s *Server) Run(ctx context.Context) error { return s.s.Run(ctx) }

// Close closes the sockets, and says whether all of the match was recorded.
func (s *Server) Close() error { return s.s.Close() }
