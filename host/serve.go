//go:build !js

package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/link/websocket"
	"github.com/coeval-dev/coeval/link/webtransport"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/topology/wire"
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

	// Keys open tokens; see package conn/token. Default: one that is drawn.
	Keys []token.Key
	// Open lets anyone in who asks at /token. A server without Keys is open, as nobody else could
	// let anyone in.
	Open bool

	// Level is what the world starts from. Default: the title's first. Seeds that are 0 are drawn.
	Level game.Level
	// Strategy is how snapshots are made; clients are told by /token.
	Strategy replica.Strategy
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
	// Record is a file that the match is recorded into, for trace and desync. What players were
	// shown is in no trace, so shots are then judged by the present.
	Record string

	// Restart begins the level anew when the game panics in Step, with everyone still there.
	// Otherwise the match ends, players are told, and Serve returns where it panicked.
	Restart bool
	// PanicTraces is a folder for traces of how the game came to panic. Default: none are written.
	PanicTraces string

	// Log is told what happens. Default: nobody is.
	Log *slog.Logger
}

// Serve runs a title for players on other machines, until the context ends: sockets, tokens, HTTP,
// metrics and a recording in one call. Players are told before it returns.
func Serve(ctx context.Context, t *game.Title, o ServeOptions) error {
	s, err := NewServer(t, o)
	if err != nil {
		return err
	}
	return errors.Join(s.Run(ctx), s.Close())
}

// A Server is a title that is served, with what is around it. Most programs need only Serve; a
// Server also says where it listens.
type Server struct {
	log      *slog.Logger
	title    *game.Title
	server   *server.Server
	socket   link.Link
	web      *http.Server
	listener net.Listener
	track    *recording
	panics   string // the folder for traces of panics, or nothing
	meters   *meters
	serving  sync.WaitGroup
}

// NewServer opens the sockets of a server. On an error nothing is left open.
func NewServer(t *game.Title, o ServeOptions) (*Server, error) {
	so, err := o.server(t)
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Listen == "" {
		o.Listen = ":4000"
	}
	s := &Server{log: o.Log, title: t, panics: o.PanicTraces, meters: newMeters(t.Game)}
	if o.Record != "" {
		s.track = newRecording(o.Record, o.Log)
	}
	opened := func(l link.Link) { so.Links = append(so.Links, l) }
	fail := func(err error) (*Server, error) {
		for _, l := range so.Links {
			_ = l.Close()
		}
		if s.listener != nil {
			_ = s.listener.Close()
		}
		return nil, err
	}
	if s.socket, s.listener, err = openPorts(o.Listen, o.HTTP); err != nil {
		return fail(err)
	}
	opened(s.socket)
	mux := http.NewServeMux()
	sessions := so.Players + max(so.Spectators, 0) + 32
	if o.WebSocket {
		if s.listener == nil {
			return fail(cli.Usagef("--websocket needs an HTTP address, and --http is none"))
		}
		ws := websocket.NewServer(websocket.Options{AnyOrigin: true, Sessions: sessions})
		opened(ws)
		mux.Handle("/coeval", ws)
	}
	about := newBulletin(t, o.Strategy, o.Open || len(o.Keys) == 0)
	if o.WebTransport != "" {
		hosts := o.Hosts
		if len(hosts) == 0 {
			hosts = []string{"localhost"}
		}
		identity, err := webtransport.NewIdentity(hosts...)
		if err != nil {
			return fail(err)
		}
		wt, err := webtransport.Listen(o.WebTransport, webtransport.Options{
			Identity: identity, AnyOrigin: true, Sessions: sessions,
		})
		if err != nil {
			return fail(err)
		}
		opened(wt)
		about.webtransport, about.identity = wt.LocalAddr().Port(), identity
	}
	about.udp, about.websocket = s.socket.LocalAddr().Port(), o.WebSocket
	so.News = s.news
	so.After, so.Recorded = s.track.tick, s.track != nil
	so.Begun = s.track.begin
	so.Ticked = s.meters.ticked
	if s.server, err = server.New(so); err != nil {
		return fail(err)
	}
	if s.track != nil && s.track.err != nil {
		err = errors.Join(s.track.err, s.server.Close())
		so.Links = nil // the server had them
		return fail(err)
	}
	about.server = s.server
	s.meters.server = s.server
	about.mount(mux, s.meters)
	s.web = &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// Addr is where players come to, over UDP.
func (s *Server) Addr() netip.AddrPort { return s.socket.LocalAddr() }

// HTTP is the address and port at which the server answers over HTTP and players join, or nothing.
func (s *Server) HTTP() string {
	if s.listener == nil {
		return ""
	}
	return s.listener.Addr().String()
}

// server are the options of the server inside.
func (o *ServeOptions) server(t *game.Title) (server.Options, error) {
	if err := t.Check(); err != nil {
		return server.Options{}, err
	}
	level, err := levelOf(t, o.Level)
	if err != nil {
		return server.Options{}, err
	}
	so := serverOptions(t, level, o.Strategy)
	so.Keys, so.Players, so.Spectators = o.Keys, o.Players, o.Spectators
	so.SnapshotRate, so.Workers, so.Polls = o.Snapshots, o.Workers, o.Polls
	so.KeepSeat, so.Neutral, so.Develop = o.KeepSeat, o.Neutral, o.Develop
	so.Conn.MaxRate = o.MaxRate
	if so.Players == 0 {
		so.Players = 64
	}
	if so.Spectators == 0 {
		so.Spectators = 16
	}
	if so.Conn.MaxRate == 0 {
		so.Conn.MaxRate = 256 << 10
	}
	if o.Restart {
		so.OnPanic = server.Restart
	}
	if o.Pause {
		so.Rules.Pause = func(*server.Seat, bool) error { return nil }
	}
	return so, nil
}

// levelOf fills in what a level leaves open.
func levelOf(t *game.Title, l game.Level) (game.Level, error) {
	if l.Name == "" && len(l.Data) == 0 {
		l.Name = t.Levels.First()
	}
	if l.Seed == 0 {
		l.Seed = draw()
	}
	if l.Secret == 0 {
		l.Secret = draw()
	}
	_, err := t.Settings(l)
	return l, err
}

// readLevel finds the level that a command names, by its own name or with a file of its data.
func readLevel(t *game.Title, name, file string) (game.Level, error) {
	if file == "" {
		if name != "" && t.Levels.Settings == nil {
			return game.Level{}, cli.Usagef(
				"--level is %q, and %s has no levels: leave it out", name, t.Name())
		}
		return game.Level{Name: name}, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return game.Level{}, fmt.Errorf("the level's data: %w", err)
	}
	l, err := t.Bring(data)
	if err != nil {
		return l, fmt.Errorf("--map %s: %w", file, err)
	}
	if name != "" {
		l.Name = name
	}
	return l, nil
}

// draw gives a number that no one can foresee.
func draw() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	n := uint64(0)
	for _, x := range b {
		n = n<<8 | uint64(x)
	}
	return n
}

// openPorts opens the socket for players and, unless that is "none", the port for HTTP. On an error
// nothing is left open. Where any port will do for both they have the same number, so a number that
// another program has over TCP is passed over.
func openPorts(listen, web string) (link.Link, net.Listener, error) {
	var passed []link.Link
	defer func() {
		for _, l := range passed {
			_ = l.Close() // nothing came by it
		}
	}()
	_, port, _ := net.SplitHostPort(listen)
	for {
		l, err := udp.Listen(listen, udp.Options{})
		if err != nil || web == "none" {
			return l, nil, err
		}
		h, err := listenHTTP(web, l)
		if err == nil {
			return l, h, nil
		}
		passed = append(passed, l)
		const most = 16
		if port != "0" || web != "" || !errors.Is(err, syscall.EADDRINUSE) || len(passed) == most {
			return nil, nil, portAdvice(err, "--http")
		}
	}
}

// listenHTTP opens the port for HTTP: that of the game, unless another was said.
func listenHTTP(address string, game link.Link) (net.Listener, error) {
	if address == "" {
		a := game.LocalAddr()
		address = a.String()
		if a.Addr().IsUnspecified() {
			address = fmt.Sprintf(":%d", a.Port())
		}
	}
	return net.Listen("tcp", address)
}

// portAdvice says what to do about a port that cannot be had.
func portAdvice(err error, flag string) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf(
			"another program has the port, perhaps another server: stop that, or choose another "+
				"with %s: %w", flag, err)
	}
	return err
}

// Run serves until the context ends.
func (s *Server) Run(ctx context.Context) error {
	if s.listener != nil {
		s.serving.Go(func() {
			if err := s.web.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
				s.log.Error("http has ended", "error", err)
			}
		})
	}
	level := s.server.Level()
	s.log.Info("serving", "game", s.title.Name(), "level", level.Name, "seed", level.Seed,
		"udp", s.socket.LocalAddr().String(), "http", s.HTTP())
	s.meters.ready.Store(true)
	err := s.server.Run(ctx)
	s.meters.ready.Store(false)
	st := s.server.Stats()
	s.log.Info("stopped", "ticks", st.Ticks, "joined", st.Joined, "snapshots", st.Snapshots)
	return err
}

// Close closes the sockets, and says whether all of the match was recorded.
func (s *Server) Close() error {
	_ = s.web.Close() // it closes the listener, if it serves
	if s.listener != nil {
		_ = s.listener.Close()
	}
	s.serving.Wait()
	return errors.Join(s.server.Close(), s.track.close())
}

// news logs what happens at the server.
func (s *Server) news(n server.News) {
	level := slog.LevelInfo
	args := []any{"tick", uint64(n.Tick)}
	if n.Seat != nil {
		args = append(args,
			"client", n.Seat.Client, "player", uint16(n.Seat.Player), "name", n.Seat.Name)
		if a := n.Seat.Addr(); a.IsValid() {
			args = append(args, "address", a.String())
		}
	} else if n.Client != 0 {
		args = append(args, "client", n.Client)
	}
	if n.Reason != 0 {
		args = append(args, "reason", wire.ReasonText(n.Reason))
	}
	if n.Text != "" {
		args = append(args, "text", n.Text)
	}
	switch n.Kind {
	case server.GameError, server.LinkDown:
		level = slog.LevelError
		args = append(args, "error", n.Err)
	case server.GamePanicked:
		level = slog.LevelError
		args = append(args, "error", n.Err)
		defer s.panicked(n) // what happened is said first
	case server.Dropped, server.Refused:
		level = slog.LevelWarn
	case server.Chatted:
		level = slog.LevelDebug
	}
	s.log.Log(context.Background(), level, n.Kind.String(), args...)
}
