//go:build !js

package clusters

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/service/cluster/brokers"
	"github.com/coeval-dev/coeval/topology/seamless"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// founding is how a world begins, where there is none.
type founding struct {
	zones, players int
	reach          float64
	level          string
	seed           uint64
}

func (f *founding) flags(cmd *cobra.Command) {
	x := cmd.Flags()
	x.IntVar(&f.zones, "zones", 1, "of a world that begins, into how many zones it is divided; "+
		"borders can move later")
	x.IntVar(&f.players, "players", 1024, "of a world that begins, how many players there may be")
	x.Float64Var(&f.reach, "reach", 0, "of a world that begins, how far players and rules look over "+
		"a border (default: as far as the game says that players see)")
	x.StringVar(&f.level, "level", "", "of a world that begins, the level (default: the game's own)")
	x.Uint64Var(&f.seed, "seed", 0, "of a world that begins, random seed (default: drawn)")
}

// found begins a world, unless there is one. It says whether it did.
func (f *founding) found(ctx context.Context, t *game.Title, c brokers.Cluster) (bool, error) {
	l := game.Level{Name: f.level, Seed: f.seed, Secret: cli.Draw()}
	if f.level != "" && t.Levels.Settings == nil {
		return false, cli.Usagef("--level is %q, and %s has no levels: leave it out", f.level,
			t.Name())
	}
	if t.Sight.Reach == 0 && f.reach == 0 && f.zones > 1 {
		return false, cli.Usagef("%s does not say how far players see: say with --reach how far they "+
			"and its rules look over a border, in its own units", t.Name())
	}
	if l.Seed == 0 {
		l.Seed = cli.Draw()
	}
	_, err := seamless.Found(ctx, seamless.FoundOptions{Title: t, Cluster: c, Zones: f.zones,
		Level: l, Players: f.players, Reach: f.reach})
	if errors.Is(err, seamless.ErrFounded) {
		return false, nil
	}
	return err == nil, err
}

// server is one server of a world.
type server struct {
	reach
	founding
	settings cli.Settings

	key, listen, address, http, name string
	most, bots                       int
	standby, buddies                 bool
}

const serveLong = `Run one server of a world that NATS keeps. It takes zones that nobody has, and those of
servers that die. Servers find each other by what NATS keeps, and let each other in by
the key, which has to be the same for all: make it with "{program} token key". If there is
no world yet, this makes it.

It steps its zones in one goroutine, so run about one for each processor. Interrupted, it
gives its zones to others and ends. With --http it answers at /metrics, in the format
of Prometheus, and at /healthz.`

// serve is the command of one server.
func serve(p *cli.Program) *cobra.Command {
	s := &server{}
	cmd := &cobra.Command{
		Use: "serve", Short: "Run one server of a world", Long: serveLong,
		Example: "  {program} cluster serve {game} --nats nats://a,nats://b,nats://c --key world.key " +
			"--listen 10.0.0.5:4400",
	}
	p.OneGame(cmd, s.run)
	s.reach.flags(cmd)
	s.founding.flags(cmd)
	s.settings.LogFlags(cmd)
	f := cmd.Flags()
	f.StringVarP(&s.key, "key", "k", "", "file with the servers' key, from: {program} token key")
	f.StringVar(&s.listen, "listen", "127.0.0.1:0",
		"UDP address at which other servers reach this one")
	f.StringVar(&s.address, "address", "", "that address as others see it, if it is another one")
	f.StringVar(&s.http, "http", "", "address for /metrics and /healthz (default: none)")
	f.StringVar(&s.name, "name", "", "what people call this server (default: its address)")
	f.IntVar(&s.most, "most", 64, "how many zones it takes at most; -1 for none")
	f.IntVar(&s.bots, "bots", 0, "how many bots join by this server; it plays for all who are in its "+
		"zones then")
	f.BoolVar(&s.standby, "standby", false, "follow the journals of zones that it would be the first "+
		"to take over, so that they go on sooner; each tick is then computed twice")
	buddiesFlag(cmd, &s.buddies)
	return cmd
}

// buddiesFlag says whether servers hold in memory what brokers lack.
func buddiesFlag(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVar(on, "buddies", false, "have servers hold in each other's memory what NATS "+
		"does not have yet, so that zones go on while it stands still; the same for all servers")
}

func (s *server) run(cmd *cobra.Command, t *game.Title) error {
	if err := s.settings.Fill(cmd); err != nil {
		return err
	}
	if s.key == "" {
		return cli.Usagef("--key is needed, the file with the key by which servers know each other: " +
			"make one with \"{program} token key --out world.key\", and give all the same")
	}
	key, err := cli.ReadKey(s.key)
	if err != nil {
		return err
	}
	log, err := s.settings.Logger(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	w, err := s.way()
	if err != nil {
		return err
	}
	w.Found = s.nats != ""
	c, err := brokers.In().Open(cmd.Context(), w)
	if err != nil {
		return fmt.Errorf("NATS at %s: %w", w.URL, err)
	}
	defer c.Close()
	if made, err := s.found(cmd.Context(), t, c); err != nil {
		return err
	} else if made {
		log.Info("a world begins", "game", t.Name(), "zones", s.zones)
	}
	return s.serve(cmd.Context(), t, c, key, log)
}

// serve runs the server until the context ends.
func (s *server) serve(ctx context.Context, t *game.Title, c brokers.Cluster, key token.Key,
	log *slog.Logger) error {
	l, err := udp.Listen(s.listen, udp.Options{ReadBuffer: 4 << 20, WriteBuffer: 4 << 20})
	if err != nil {
		return err
	}
	defer l.Close()
	o := seamless.Options{Title: t, Cluster: c, Link: l, Keys: []token.Key{key}, Name: s.name,
		Zones: s.most, Standby: s.standby, Buddies: s.buddies, News: newsTo(log)}
	if s.address != "" {
		if o.Address, err = netip.ParseAddrPort(s.address); err != nil {
			return cli.Usagef("--address: %w", err)
		}
	}
	if s.bots > 0 {
		o.Bots = func(world.Player) bool { return true }
	}
	x, err := seamless.New(o)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if s.http != "" {
		end, err := serveHTTP(s.http, &site{x, t.Game.TickLength()}, log)
		if err != nil {
			return err
		}
		defer end()
	}
	for range s.bots {
		go join(ctx, x)
	}
	log.Info("a server of the world runs", "server", uint64(x.Self()), "address",
		l.LocalAddr().String())
	return x.Run(ctx)
}

// join has a bot join, however long that takes.
func join(ctx context.Context, x *seamless.Server) {
	for ctx.Err() == nil {
		once, cancel := context.WithTimeout(ctx, 20*time.Second)
		_, err := x.Join(once)
		cancel()
		if err == nil || errors.Is(err, seamless.ErrStopped) || errors.Is(err, seamless.ErrFull) {
			return
		}
	}
}

// serveHTTP answers at an address until what it gives is called.
func serveHTTP(address string, h http.Handler, log *slog.Logger) (end func(), err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--http: %w", err)
	}
	log.Info("metrics", "url", "http://"+l.Addr().String()+"/metrics")
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = s.Serve(l) }() // it ends when it is closed
	return func() { _ = s.Close() }, nil
}

var newsText = map[zone.NoticeKind]string{
	zone.Owned: "a zone is stepped here", zone.Deposed: "a zone is not stepped here any more",
	zone.Failed:   "a tick of a zone failed, and it is begun again",
	zone.Halted:   "a zone is halted, as it fails",
	zone.SetAside: "something is set aside, as every tick with it fails", zone.JournalGone: "a zone's journal is gone; it goes on",
	zone.Unfounded: "a zone has no snapshot",
}

// newsTo writes down what happens to zones.
func newsTo(log *slog.Logger) func(seamless.News) {
	return func(n seamless.News) {
		text := newsText[n.Kind]
		switch {
		case text == "":
		case n.Err != nil:
			log.Error(text, "zone", n.Zone, "tick", n.Tick, "error", n.Err)
		default:
			log.Info(text, "zone", n.Zone, "tick", n.Tick)
		}
	}
}
