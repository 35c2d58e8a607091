//go:build !js

package serve

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/keeping"
	"github.com/coeval-dev/coeval/host/internal/page"
	"github.com/coeval-dev/coeval/host/internal/queries"
	"github.com/coeval-dev/coeval/host/internal/recording"
	"github.com/coeval-dev/coeval/host/internal/stores"
	"github.com/coeval-dev/coeval/host/internal/upgrade"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/architecture"
	"github.com/coeval-dev/coeval/topology/server"
)

const long = `Run a game for players on other machines.

%s

Players connect over UDP to --listen. On the same port number the server answers
over HTTP (--http), or HTTPS (--tls-cert): /healthz and /readyz for whoever watches
over it, /metrics for Prometheus and /status for people on this machine (or
--metrics-from), and with --open, /token, which lets anyone in. "{program} join" and
"{program} bots" ask there for their tokens. Without --open a backend issues tokens,
with the same key: see {program} token. A server without --key makes a key of its own
and is open. Tokens that name servers must name this one: by an address of this
machine, or --public.

Every setting can also come from the environment, as COEVAL_ and the flag's name
(COEVAL_PLAYERS=16), or from a file given by --config with lines like
"players = 16". The command line goes before the environment, and that before the
file.

With --page the server shows a page on which people play in their browsers, phones
included: the game with chat, names, scores and sound, and no power over the server. Its
link is printed, with a code to hold a phone's camera at. The game is compiled for
the browser when the server starts; a machine without Go gets it by --client, built
elsewhere by {program} demo --build-client FOLDER. Players come by WebTransport, or by
WebSocket where that is not to be had, as on pages without HTTPS. The page is
asked for by the addresses of this machine and by the names that --host gives, and pages
from elsewhere get nothing. If tokens are a backend's, links end in #token=TOKEN.

With --keep FOLDER the game survives the program and the machine: the world is written
there now and then, and what players do at every tick. Started with the same folder
again, the server goes on at the last tick that was flushed (--flush), and players come
back to their bodies by their tickets. The folder holds the key of the tickets and the
world's secrets.

With --upgrade as well, a new build takes the place of a server that runs with the same
folder: it tries whether it can load the game and what is in the store, and then the one
stops between two ticks and the other goes on, with the same sockets and players. If it
cannot, the running server plays on and it is said why. With no server running it starts
as usual. On Linux.

With --admin ADDRESS operators see and act while the game runs, by "{program} admin":
who is there, kick, ban, mute, message, pause, level, content, knobs, save, drain, a
diagnosis. Their tokens are in --admin-dir. With --drain 30s the first signal lets
nobody new in, and players have so long to go on at --drain-to, or to finish.

With --store URL what outlives matches is kept in a database, for a game that declares
something of the kind, in a program that was made with databases (coevald).

With --directory URL the server is listed where players look for games ("{program}
directory" runs one): by --name, --region and --tag, once it has answered there.
The game goes on whether or not the directory does.

Whoever has not joined may ask what this is, who plays and how far it is, by
"{program} ask ADDRESS"; --queries says what of it is answered.

The line to join with is printed at the start, with an address of this machine;
from elsewhere it may have others. If the game panics it is said where, and
how it came to that is written into a trace, NAME-panic-TICK.trace, which {program}
trace replay repeats. Ctrl-C, or SIGTERM, tells the players and stops.`

const example = `  {program} serve {game}
  {program} serve {game} --players 16 --record match.trace
  {program} serve {game} --keep folder --flush tick
  {program} serve {game} --keep folder --upgrade
  {program} serve {game} --listen :5000 --http :5001 --strategy quake3
  {program} serve {game} --architecture quakeworld
  {program} serve {game} --settings settings.json
  {program} serve {game} --websocket --webtransport :4433
  {program} serve {game} --directory https://find.example.org --name "Friday night"
  {program} serve {game} --page
  {program} serve {game} --page --client built --host play.example.org --tls-cert c.pem --tls-key k.pem
  COEVAL_KEY=server.key {program} serve {game} --log json`

// flags are what the command line says.
type flags struct {
	Options
	settings               cli.Settings
	key, strategy, onPanic string
	take                   string
	client                 string
	keep, flush            string
	keepHistory            time.Duration
	store                  stores.Flag
	knobs                  cli.KnobFlags
	tables                 TablesFlag
}

// Command is the command serve.
func Command(p *cli.Program) *cobra.Command {
	var s flags
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Run a game for players on other machines",
		Long:    fmt.Sprintf(long, p.Lines()),
		Example: example,
	}
	p.OneGame(cmd, func(cmd *cobra.Command, t *game.Title) error { return s.run(p, cmd, t) })
	s.settings.Flags(cmd, "")
	s.knobs.Flags(cmd)
	f := cmd.Flags()
	f.StringVar(&s.Listen, "listen", ":4000",
		"UDP address for players; port 0 for any that is free")
	f.StringVar(&s.HTTP, "http", "",
		"HTTP address for health, metrics and tokens "+
			"(default: as --listen, over TCP; \"none\" for none)")
	f.BoolVar(&s.WebSocket, "websocket", false,
		"also take players over WebSocket, at /coeval of the HTTP address")
	f.StringVar(&s.WebTransport, "webtransport", "",
		"also take players over WebTransport, at this UDP address, or none "+
			"(default: none; with --page, the port after --listen)")
	f.BoolVar(&s.Page, "page", false,
		"show a page on which people play in their browsers, at the HTTP address")
	f.StringVar(&s.client, "client", "",
		"folder with the game for the browser, from: {program} demo --build-client FOLDER "+
			"(default: with --page it is compiled, which needs Go)")
	f.StringSliceVar(&s.Hosts, "host", []string{"localhost"},
		"names of this machine, for the page and for certificates")
	f.StringVarP(&s.key, "key", "k", "",
		"file with the key that tokens are sealed with, from: {program} token key")
	f.StringSliceVar(&s.Public, "public", nil,
		"where players reach the server, if not at its own addresses: tokens that name other "+
			"servers are refused")
	f.StringSliceVar(&s.Origins, "origin", nil,
		"hosts whose pages may get tokens and connect, such as play.example.org "+
			"(default: all; with --page, only that page)")
	s.Web.Flags(f)
	s.Admin.Flags(f, 0)
	s.Admin.ElsewhereFlag(f)
	f.IntVar(&s.Server.Limits.PerAddress, "per-address", 0,
		"how many may be there from one address, IPv6 by /64; below 0 for no limit "+
			"(default: a quarter of --players, at least 4)")
	f.BoolVar(&s.Open, "open", false,
		"let anyone in who asks at /token (default: if there is no --key)")
	f.StringVar(&s.strategy, "strategy", "coeval",
		"how snapshots are made: "+strings.Join(replica.Strategies(), ", "))
	f.StringVar(&s.take, "take", "tick",
		"when commands are executed: at their tick, only the newest that has come, or each as "+
			"it comes; tick, newest or each")
	f.StringVar(&s.Architecture, "architecture", "",
		"all of that, how players see what they do not know yet and how they send commands, "+
			"as a game did: "+architecture.Names())
	f.BoolVar(&s.Original, "original", false,
		"with --architecture, also with as many snapshots a second as that game sent")
	f.IntVar(&s.Server.Players, "players", 64, "how many may play")
	f.IntVar(&s.Server.Spectators, "spectators", 16, "how many may watch; below 0 for none")
	f.IntVar(&s.Server.SnapshotRate, "snapshots", 20, "snapshots a second of each player")
	f.IntVar(&s.Server.Workers, "workers", 0, "cores for making snapshots (default: all)")
	f.IntVar(&s.Server.Polls, "polls", 4, "how often in a tick to look for datagrams")
	f.DurationVar(&s.Server.KeepSeat, "keep-seat", time.Minute,
		"how long a seat is kept for someone whose connection was lost; below 0 not at all")
	f.DurationVar(&s.Server.Neutral, "neutral", 500*time.Millisecond,
		"after how long without commands a player lets go of the controls")
	s.keepFlags(f)
	s.tables.Flag(f)
	f.IntVar(&s.Server.Conn.MaxRate, "max-rate", 256<<10, "most bytes a second to one player")
	f.BoolVar(&s.Pause, "pause", false, "let players pause the game")
	f.BoolVar(&s.Server.Develop, "develop", false,
		"look for mistakes of the game while it runs, and stop at the first that matters")
	f.StringVar(&s.Record, "record", "", "record the match into this file, for {program} trace")
	recording.LastFlag(f, &s.RecordLast)
	f.StringVar(&s.onPanic, "on-panic", "end",
		"what to do if the game panics: end the match, "+
			"or restart the level with everyone still there")
	f.StringVar(&s.PanicTraces, "panic-trace", ".",
		"folder for traces of how the game came to panic; \"none\" for none")
	return cmd
}

// keepFlags adds those about what survives the program.
func (s *flags) keepFlags(f *pflag.FlagSet) {
	f.StringVar(&s.keep, "keep", "",
		"folder in which the game survives the program and the machine: it goes on from there")
	f.StringVar(&s.flush, "flush", "1s",
		"with --keep, when what was played is made durable: never, tick, or so often")
	f.DurationVar(&s.Keep.Every, "keep-every", 10*time.Second,
		"with --keep, how often the whole world is written; seldom means a longer start after a crash")
	f.DurationVar(&s.keepHistory, "keep-history", 0, keeping.HistoryFlag)
	f.BoolVar(&s.Upgrade.On, "upgrade", false,
		"with --keep, take the place of the server that runs with the same folder, if there is one; "+
			"players stay")
	f.DurationVar(&s.Upgrade.Within, "upgrade-within", upgrade.Within,
		"with --upgrade, for how long the world may stand still: if that is too short, the other "+
			"server goes on")
	s.store.Add(f)
	s.Directory.Flags(f, "name")
	queries.Flag(f, &s.Queries)
	s.Uploads.Flags(f)
}

func (s *flags) run(p *cli.Program, cmd *cobra.Command, t *game.Title) (err error) {
	if err := s.settings.Fill(cmd); err != nil {
		return err
	}
	if s.Log, err = s.settings.Logger(cmd.ErrOrStderr()); err != nil {
		return err
	}
	if err := errors.Join(s.Admin.Fill(cmd.Flags()),
		recording.CheckLast(s.Record, s.RecordLast)); err != nil {
		return err
	}
	if err := s.knobs.Choose(cmd, "architecture", &s.Architecture,
		func(a string) (string, bool) {
			_, err := architecture.Parse(a)
			return a, err == nil
		}); err != nil {
		return err
	}
	if err := s.fill(t); err != nil {
		return err
	}
	if s.knobs.Given() {
		k, err := s.Kind()
		if err != nil {
			return err
		}
		if s.Knobs, err = s.knobs.Values(cmd, t, k.Name, append(k.Knobs(),
			t.Settable()...)); err != nil {
			return err
		}
	}
	return s.store.Use(cmd.Context(), t, func(store kept.Store) error {
		s.Store = store
		return s.serve(p, cmd, t)
	})
}

// serve runs the server.
func (s *flags) serve(p *cli.Program, cmd *cobra.Command, t *game.Title) error {
	server, err := New(cmd.Context(), s.Options)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	_, err = fmt.Fprintln(out, "join with:", s.joinLine(p, t, server))
	s.invite(out, p, t, server)
	return errors.Join(err, server.Run(cmd.Context()), server.Close())
}

// invite says where people play in their browsers, and how far the game for them is.
func (s *flags) invite(out io.Writer, p *cli.Program, t *game.Title, server *Server) {
	client := server.Client()
	if client == nil {
		return
	}
	if server.open {
		page.Invite(out, "play in a browser at", server.Links())
	} else {
		fmt.Fprintf(out, "play in a browser at %s#token=TOKEN, with a token from: %s token issue "+
			"--key %s --game %s --client NUMBER\n", server.Links()[0], p.Name, s.key, t.Name())
	}
	bar := cli.NewProgress(out)
	client.Watch = func(b page.Progress) {
		switch {
		case b.Error != "":
			bar.Clear() // Run says it
		case b.Done:
			bar.Clear()
			fmt.Fprintf(out, "browsers can play after %.1f s: %s\n", b.Seconds, b.Step)
		default:
			bar.Show(b.Part, b.Step)
		}
	}
}

// joinLine is what players type to come to a server.
func (s *flags) joinLine(p *cli.Program, t *game.Title, server *Server) string {
	if at := server.HTTP(); at != "" && (s.Open || s.key == "") {
		return p.Name + " join " + reachable(at) + s.trust(server)
	}
	at := reachable(server.Addr().String())
	return p.Name + " join " + at + " --token TOKEN" + p.GameFlag(t)
}

// trust is what players add to the line where the server answers over HTTPS.
func (s *flags) trust(server *Server) string {
	switch {
	case server.Fingerprint() != "":
		return " --trust " + server.Fingerprint()
	case server.Secure():
		return " --https"
	}
	return ""
}

// reachable is an address as others on the network know it, where it is known: of a socket that
// listens on all addresses of the machine, the first by which it is not only reached from itself.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsUnspecified() {
		return address
	}
	host = "localhost"
	list, _ := net.InterfaceAddrs() // without them it is this machine
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
			host = n.IP.String()
			break
		}
	}
	return net.JoinHostPort(host, port)
}

// fillKeep makes options of what the command line says of keeping the game.
func (s *flags) fillKeep() (err error) {
	if s.Keep, err = keeping.Parse(s.keep, s.flush, s.Keep.Every); err != nil {
		return err
	}
	return s.Keep.KeepHistory(s.keepHistory)
}

// fill makes options of what the command line says.
func (s *flags) fill(t *game.Title) (err error) {
	o := &s.Server
	switch {
	case o.Players < 1 || o.Players > 10000:
		return cli.Usagef("--players is %d: it must be from 1 to 10000", o.Players)
	case o.SnapshotRate < 1 || o.SnapshotRate > 1000 || o.Polls < 1 || o.Polls > 100:
		return cli.Usagef(
			"--snapshots is %d and --polls %d: they must be from 1 to 1000 and from 1 to 100",
			o.SnapshotRate, o.Polls)
	case o.Conn.MaxRate < 4<<10:
		return cli.Usagef("--max-rate is %d: it must be at least 4096", o.Conn.MaxRate)
	}
	if s.Tables, err = s.tables.Parse(); err != nil {
		return err
	}
	switch s.onPanic {
	case "end":
	case "restart":
		o.OnPanic = server.Restart
	default:
		return cli.Usagef("--on-panic is %q: it must be end or restart", s.onPanic)
	}
	if err := s.fillKeep(); err != nil {
		return err
	}
	if d := s.Upgrade.Within; d < upgrade.LeastWithin || d > upgrade.MostWithin {
		return cli.Usagef("--upgrade-within is %v: it must be from %v to %v", d,
			upgrade.LeastWithin, upgrade.MostWithin)
	}
	if s.PanicTraces == "none" {
		s.PanicTraces = ""
	}
	if o.Spectators == 0 {
		o.Spectators = -1
	}
	if o.Strategy, err = replica.ParseStrategy(s.strategy); err != nil {
		return cli.Usagef("--strategy: %w", err)
	}
	if o.Take, err = server.ParseTaking(s.take); err != nil {
		return cli.Usagef("--take: %w", err)
	}
	if s.Architecture != "" && (o.Strategy != replica.Coeval || o.Take != server.ByTick) {
		return cli.Usagef("--architecture says how snapshots are made and commands are taken: " +
			"leave out --strategy and --take")
	}
	if s.Original && s.Architecture == "" {
		return cli.Usagef("--original goes with --architecture")
	}
	if s.key != "" {
		key, err := cli.ReadKey(s.key)
		if err != nil {
			return err
		}
		o.Keys = []token.Key{key}
	}
	if s.client != "" {
		if _, err := os.Stat(s.client); err != nil {
			return cli.Usagef("--client: %w: build it with {program} demo --build-client %s", err,
				s.client)
		}
		s.Page, s.Client = true, os.DirFS(s.client)
	}
	o.Title = t
	o.Level, err = s.settings.Level(t)
	return err
}
