package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/link/websocket"
	"github.com/coeval-dev/coeval/link/webtransport"
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/topology/wire"
)

const serveLong = `Run a game for players on other machines.

%s

Players connect over UDP to --listen. On the same port number the server answers
over HTTP (--http): /healthz and /readyz for whoever watches over it, /metrics
for Prometheus, /status for people, and with --open, /token, which lets anyone
in. "coeval join" and "coeval bots" ask there for their tokens. Without --open a
backend issues tokens, with the same key: see coeval token. A server without
--key makes a key of its own and is open.

Every setting can also come from the environment, as COEVAL_ and the flag's name
(COEVAL_PLAYERS=16), or from a file given by --config with lines like
"players = 16". The command line goes before the environment, and that before the
file.

Ctrl-C, or SIGTERM, tells the players and stops.`

const serveExample = `  coeval serve pong
  coeval serve arena --level duel --players 16 --record match.trace
  coeval serve crowd --level 1000 --players 1000 --listen :5000 --http :5001
  coeval serve pong --websocket --webtransport :4433
  COEVAL_KEY=server.key coeval serve pong --log json`

// serve is what the command line says.
type serve struct {
	config                    string
	listen, http              string
	websocket                 bool
	webtransport              string
	hosts                     []string
	key                       string
	open                      bool
	level, data               string
	seed                      uint64
	players, spectators       int
	snapshots, workers, polls int
	keep, neutral             time.Duration
	maxRate                   int
	pause, develop            bool
	record                    string
	log, logLevel             string
}

func serveCommand() *cobra.Command {
	var s serve
	var about []string
	for _, h := range hosteds() {
		about = append(about, fmt.Sprintf("  %-8s %s", h.game.Name(), h.about))
	}
	cmd := &cobra.Command{
		Use:       "serve GAME",
		Short:     "Run a game for players on other machines",
		Long:      fmt.Sprintf(serveLong, strings.Join(about, "\n")),
		Example:   serveExample,
		ValidArgs: hostedNames(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("which game? There are %s", strings.Join(hostedNames(), ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := findHosted(args[0])
			if err != nil {
				return err
			}
			if err := configure(cmd.Flags(), s.config, os.LookupEnv); err != nil {
				return err
			}
			return s.run(cmd, h)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.config, "config", "", "file of settings, lines of name = value")
	f.StringVar(&s.listen, "listen", ":4000", "UDP address for players; port 0 for any that is free")
	f.StringVar(&s.http, "http", "", "HTTP address for health, metrics and tokens (default: as --listen, over TCP; \"none\" for none)")
	f.BoolVar(&s.websocket, "websocket", false, "also take players over WebSocket, at /coeval of the HTTP address")
	f.StringVar(&s.webtransport, "webtransport", "", "also take players over WebTransport, at this UDP address")
	f.StringSliceVar(&s.hosts, "host", []string{"localhost"}, "names of this machine, for WebTransport's certificate")
	f.StringVarP(&s.key, "key", "k", "", "file with the key that tokens are sealed with, from: coeval token key")
	f.BoolVar(&s.open, "open", false, "let anyone in who asks at /token (default: if there is no --key)")
	f.StringVar(&s.level, "level", "", "level to begin with (default: the game's own)")
	f.StringVar(&s.data, "map", "", "file with the level's data, sent to those who lack it")
	f.Uint64Var(&s.seed, "seed", 0, "what chance hangs on (default: drawn)")
	f.IntVar(&s.players, "players", 64, "how many may play")
	f.IntVar(&s.spectators, "spectators", 16, "how many may watch; below 0 for none")
	f.IntVar(&s.snapshots, "snapshots", 20, "snapshots a second of each player")
	f.IntVar(&s.workers, "workers", 0, "cores for making snapshots (default: all)")
	f.IntVar(&s.polls, "polls", 4, "how often in a tick to look for datagrams")
	f.DurationVar(&s.keep, "keep", time.Minute, "how long a seat is kept for someone whose connection was lost; below 0 not at all")
	f.DurationVar(&s.neutral, "neutral", 500*time.Millisecond, "after how long without commands a player lets go of the controls")
	f.IntVar(&s.maxRate, "max-rate", 256<<10, "most bytes a second to one player")
	f.BoolVar(&s.pause, "pause", false, "let players pause the game")
	f.BoolVar(&s.develop, "develop", false, "look for mistakes of the game while it runs, and stop at the first that matters")
	f.StringVar(&s.record, "record", "", "record the match into this file, for coeval trace")
	f.StringVar(&s.log, "log", "text", "how to log, to standard error: text or json")
	f.StringVar(&s.logLevel, "log-level", "info", "what to log: debug, info, warn or error")
	return cmd
}

func (s *serve) logger(out io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.logLevel)); err != nil {
		return nil, usageErrorf("--log-level is %q: it must be debug, info, warn or error", s.logLevel)
	}
	o := &slog.HandlerOptions{Level: level}
	switch s.log {
	case "text":
		return slog.New(slog.NewTextHandler(out, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(out, o)), nil
	}
	return nil, usageErrorf("--log is %q: it must be text or json", s.log)
}

func (s *serve) run(cmd *cobra.Command, h *hosted) error {
	switch {
	case s.players < 1 || s.players > 10000:
		return usageErrorf("--players is %d: it must be from 1 to 10000", s.players)
	case s.snapshots < 1 || s.snapshots > 1000 || s.polls < 1 || s.polls > 100:
		return usageErrorf("--snapshots is %d and --polls %d: they must be from 1 to 1000 and from 1 to 100", s.snapshots, s.polls)
	case s.maxRate < 4<<10:
		return usageErrorf("--max-rate is %d: it must be at least 4096", s.maxRate)
	}
	log, err := s.logger(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	host, err := s.start(h, log)
	if err != nil {
		return err
	}
	err = host.run(cmd.Context())
	return errors.Join(err, host.close())
}

// A hosting is a server with what is around it.
type hosting struct {
	log      *slog.Logger
	hosted   *hosted
	server   *clientserver.Server
	socket   link.Link
	web      *http.Server
	listener net.Listener
	track    *recording
	meters   *meters
	serving  sync.WaitGroup
}

// start opens everything. On an error nothing is left open.
func (s *serve) start(h *hosted, log *slog.Logger) (*hosting, error) {
	o, err := s.options(h)
	if err != nil {
		return nil, err
	}
	host := &hosting{log: log, hosted: h, meters: newMeters(h.game)}
	if s.record != "" {
		host.track = newRecording(s.record, log)
	}
	opened := func(l link.Link) { o.Links = append(o.Links, l) }
	fail := func(err error) (*hosting, error) {
		for _, l := range o.Links {
			_ = l.Close()
		}
		if host.listener != nil {
			_ = host.listener.Close()
		}
		return nil, err
	}
	if host.socket, err = udp.Listen(s.listen, udp.Options{}); err != nil {
		return fail(err)
	}
	opened(host.socket)
	mux := http.NewServeMux()
	if s.http != "none" {
		if host.listener, err = listenHTTP(s.http, host.socket); err != nil {
			return fail(portAdvice(err, "--http"))
		}
	}
	if s.websocket {
		if host.listener == nil {
			return fail(usageErrorf("--websocket needs an HTTP address, and --http is none"))
		}
		ws := websocket.NewServer(websocket.Options{AnyOrigin: true, Sessions: s.players + max(s.spectators, 0) + 32})
		opened(ws)
		mux.Handle("/coeval", ws)
	}
	about := newBulletin(h, s.open || s.key == "")
	if s.webtransport != "" {
		identity, err := webtransport.NewIdentity(s.hosts...)
		if err != nil {
			return fail(err)
		}
		wt, err := webtransport.Listen(s.webtransport, webtransport.Options{Identity: identity, AnyOrigin: true, Sessions: s.players + max(s.spectators, 0) + 32})
		if err != nil {
			return fail(err)
		}
		opened(wt)
		about.webtransport, about.identity = wt.LocalAddr().Port(), identity
	}
	about.udp, about.websocket = host.socket.LocalAddr().Port(), s.websocket
	o.News = host.news
	o.After = host.track.tick
	o.Begun = host.track.begin
	o.Ticked = host.meters.ticked
	judge := func(*clientserver.Server) {}
	if host.track == nil {
		judge = h.judge(&o)
	}
	if host.server, err = clientserver.NewServer(o); err != nil {
		return fail(err)
	}
	if host.track != nil && host.track.err != nil {
		err = errors.Join(host.track.err, host.server.Close())
		o.Links = nil // the server had them
		return fail(err)
	}
	judge(host.server)
	about.server = host.server
	host.meters.server = host.server
	about.mount(mux, host.meters)
	host.web = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	return host, nil
}

// options are what the command line says of the server.
func (s *serve) options(h *hosted) (clientserver.Options, error) {
	o := clientserver.Options{
		Game: h.game, Settings: h.settings, Replica: h.replicaOptions(),
		Players: s.players, Spectators: s.spectators, SnapshotRate: s.snapshots, Workers: s.workers, Polls: s.polls,
		KeepSeat: s.keep, Neutral: s.neutral, Develop: s.develop,
	}
	o.Conn.MaxRate = s.maxRate
	if h.interest != nil {
		o.Interest = h.interest()
	}
	if s.pause {
		o.Rules.Pause = func(*clientserver.Seat, bool) error { return nil }
	}
	if s.key != "" {
		key, err := readKey(s.key)
		if err != nil {
			return o, err
		}
		o.Keys = []token.Key{key}
	}
	o.Level = clientserver.Level{Name: s.level, Seed: s.seed}
	if s.level == "" {
		o.Level.Name = h.level
	}
	if s.seed == 0 {
		o.Level.Seed = draw()
	}
	o.Level.Secret = draw()
	if s.data != "" {
		data, err := os.ReadFile(s.data)
		if err != nil {
			return o, fmt.Errorf("the level's data: %w", err)
		}
		o.Level.Data = data
	}
	return o, nil
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
		return fmt.Errorf("another program has the port, perhaps another coeval serve: stop that, or choose another with %s: %w", flag, err)
	}
	return err
}

// run serves until the context ends.
func (h *hosting) run(ctx context.Context) error {
	at := ""
	if h.listener != nil {
		at = h.listener.Addr().String()
		h.serving.Go(func() {
			if err := h.web.Serve(h.listener); !errors.Is(err, http.ErrServerClosed) {
				h.log.Error("http has ended", "error", err)
			}
		})
	}
	h.log.Info("serving", "game", h.hosted.game.Name(), "level", h.server.Level().Name, "seed", h.server.Level().Seed, "udp", h.socket.LocalAddr().String(), "http", at)
	h.meters.ready.Store(true)
	err := h.server.Run(ctx)
	h.meters.ready.Store(false)
	st := h.server.Stats()
	h.log.Info("stopped", "ticks", st.Ticks, "joined", st.Joined, "snapshots", st.Snapshots)
	return err
}

func (h *hosting) close() error {
	if h.web != nil {
		_ = h.web.Close() // it closes the listener
	}
	h.serving.Wait()
	return errors.Join(h.server.Close(), h.track.close())
}

// news logs what happens at the server.
func (h *hosting) news(n clientserver.News) {
	level := slog.LevelInfo
	args := []any{"tick", uint64(n.Tick)}
	if n.Seat != nil {
		args = append(args, "client", n.Seat.Client, "player", uint16(n.Seat.Player), "name", n.Seat.Name)
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
	case clientserver.GameError, clientserver.LinkDown:
		level = slog.LevelError
		args = append(args, "error", n.Err)
	case clientserver.Dropped, clientserver.Refused:
		level = slog.LevelWarn
	case clientserver.Chatted:
		level = slog.LevelDebug
	}
	h.log.Log(context.Background(), level, n.Kind.String(), args...)
}
