//go:build !js

package mirrors

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/keeping"
	"github.com/coeval-dev/coeval/host/internal/queries"
	"github.com/coeval-dev/coeval/host/internal/recording"
	"github.com/coeval-dev/coeval/host/internal/stores"
	"github.com/coeval-dev/coeval/host/internal/upgrade"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const long = `Run a game on several servers at once, wherever its players are: a mirror holds
the whole game, serves the players nearest to it, and stays one game with the
other mirrors.

One mirror founds the game, with --uber; the others join it with --join and the
address of any mirror that runs. All have the same key, made once with "{program}
token key --out mirrors.key" and copied to each machine. Who has it may join.

Players come to --listen, mirrors reach each other at --mirrors; both are UDP.
--address is what other mirrors are told of where this one is, and --public what
their players are: give them where the sockets do not know, because they listen on
all addresses, or because this machine is behind address translation.

If a mirror dies its players go on at another, in the same body. Ctrl-C, or
SIGTERM, moves them there first, within --drain. The game goes on while most of its mirrors are in
touch; beside two, let a third machine be a --witness, which only votes.

With --upgrade URL a new build takes over the game of mirrors that run, and their
players, and founds a new group; if it cannot, they play on.

With --keep FOLDER, each mirror one of its own, the game survives the death of
all of them: those that come back find each other, and go on with the latest world
that they have once most are back. Start each as before; with a game in its folder,
--uber founds none.

Over HTTP (--http), or HTTPS (--tls-cert), it answers /healthz and /readyz, to this
machine (or --metrics-from) /status and /metrics, and with --open, /token, which
lets anyone in. With --admin operators see and act by "{program} admin"; knobs and
content that they change are the same on all mirrors. Settings can also come from the environment
and from a file, as with {program} serve. What {program} lab tune found is read by
--settings, the same at all mirrors.`

const example = `  {program} token key --out mirrors.key
  {program} mirror --uber {--game} --key mirrors.key --address 203.0.113.7
  {program} mirror --join 203.0.113.7:4100 --key mirrors.key --address 198.51.100.9
  {program} mirror --join 203.0.113.7:4100,198.51.100.9:4100 --key mirrors.key --address 192.0.2.4 --forever --json
  {program} mirror --join 203.0.113.7:4100 --key mirrors.key --address 192.0.2.4 --forever --keep folder
  {program} mirror --upgrade http://localhost:4900 --token-file ada.token --key mirrors.key --address 203.0.113.7 --listen :4001 --mirrors :4101 --keep new
  {program} mirror --witness --join 203.0.113.7:4100 --key mirrors.key --address 192.0.2.4`

// flags are what the command line says.
type flags struct {
	Options
	settings  cli.Settings
	game, key string
	delays    []string
	repair    string
	margins   []string
	window    time.Duration
	knobs     cli.KnobFlags
	keep      string
	flush     string
	keepEvery time.Duration
	history   time.Duration
	store     stores.Flag
}

// Command is the command mirror.
func Command(p *cli.Program) *cobra.Command {
	var r flags
	cmd := &cobra.Command{
		Use:     "mirror",
		Short:   "Run a game on several servers at once that stay one game",
		Long:    long,
		Example: example,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return r.run(p, cmd) },
	}
	r.settings.Flags(cmd, "with --uber, ")
	r.settings.JSON(cmd)
	r.knobs.Flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&r.Mirror.Found, "uber", false, "found a game, and be its überserver")
	f.StringSliceVar(&r.Join, "join", nil,
		"join the game of these mirrors, by what they have as --address; any one that runs will do")
	f.BoolVar(&r.Witness, "witness", false,
		"with --join, only vote: for a third machine beside two mirrors; give the same "+
			"--timeline and --window as they have")
	f.StringVar(&r.game, "game", p.List[0].Name(), "the game: "+p.Names())
	f.StringVar(&r.Listen, "listen", ":4000",
		"UDP address for players; port 0 for any that is free")
	f.StringVar(&r.Mirrors, "mirrors", ":4100",
		"UDP address for other mirrors; port 0 for any that is free")
	f.StringVar(&r.Multicast, "multicast", "",
		"IP multicast address of a group, such as 239.1.2.3:4200, for mirrors at one site; those "+
			"that it does not reach are sent to one by one")
	f.StringVar(&r.Interface, "interface", "",
		"with --multicast, the network interface (default: as the system's routes say)")
	f.StringVar(&r.Address, "address", "",
		"where other mirrors reach this one (default: as --mirrors, if that names an address)")
	f.StringVar(&r.Public, "public", "",
		"where players reach this mirror (default: as --listen, or at the host of --address)")
	f.StringVar(&r.Mirror.Name, "name", "",
		"what people call this mirror, such as a city (default: its address)")
	f.StringVarP(&r.key, "key", "k", "",
		"file with the key that all mirrors share, from: {program} token key")
	f.StringVar(&r.HTTP, "http", "",
		"HTTP address for health, metrics and tokens (default: as --listen, over TCP; \"none\" "+
			"for none)")
	r.Web.Flags(f)
	r.Admin.Flags(f, 3*time.Second)
	f.IntVar(&r.Mirror.Server.Limits.PerAddress, "per-address", 0,
		"how many may be there from one address, IPv6 by /64; below 0 for no limit "+
			"(default: a quarter of --players, at least 4)")
	f.BoolVar(&r.Open, "open", false, "let anyone in who asks at /token")
	f.IntVar(&r.Mirror.Server.Players, "players", 64,
		"how many may play, on all mirrors together; the same at each")
	f.IntVar(&r.Mirror.Room, "room", 0,
		"how many may play at this mirror while others have room (default: as --players)")
	f.IntVar(&r.Mirror.Server.Spectators, "spectators", 16,
		"how many may watch at this mirror; below 0 for none")
	f.IntVar(&r.Mirror.Server.SnapshotRate, "snapshots", 30, "snapshots a second of each player")
	f.IntVar(&r.Mirror.Server.Workers, "workers", 0, "cores for making snapshots (default: all)")
	f.DurationVar(&r.Mirror.Server.KeepSeat, "keep-seat", time.Minute,
		"how long a player is kept whose connection was lost")
	f.StringVar(&r.Mirror.Timeline, "timeline", "auto",
		"how mirrors are kept consistent, the same at all: "+strings.Join(kinds.Names(), ", "))
	f.StringSliceVar(&r.delays, "delays", nil,
		"delays of the copies of the world, such as 0,100ms,1s; the first is how long to wait "+
			"for other mirrors' commands")
	f.StringVar(&r.repair, "repair", "",
		"what auto and trailing do about commands of other mirrors that were late: "+
			strings.Join(kinds.Repairs(), ", ")+" (default: the first)")
	f.StringSliceVar(&r.margins, "margin", nil,
		"how far copies of the world may differ before that is repaired: for all fields that the "+
			"game compares, such as 0.5, or for one, such as Tank.Pos=0.5 (default: the game's)")
	f.DurationVar(&r.window, "window", 0,
		"how long what is shown may still be put right, the same at all mirrors (default: the "+
			"last of --delays)")
	r.keepFlags(f)
	r.upgradeFlags(f)
	r.listFlags(f)
	f.StringVar(&r.Record, "record", "",
		"record what is settled into this file, for {program} trace")
	recording.LastFlag(f, &r.RecordLast)
	return cmd
}

// listFlags adds what says how the game is stored, listed and told of.
func (r *flags) listFlags(f *pflag.FlagSet) {
	r.store.Add(f)
	r.Directory.Flags(f, "group")
	queries.Flag(f, &r.Queries)
	r.Uploads.Flags(f)
}

// keepFlags adds what says how the game is kept, and how stubbornly it is joined.
func (r *flags) keepFlags(f *pflag.FlagSet) {
	f.DurationVar(&r.Patience, "patience", 10*time.Second,
		"with --join, how long to try before giving up")
	f.BoolVar(&r.Forever, "forever", false,
		"with --join, never give up: for machines that start by themselves")
	f.StringVar(&r.keep, "keep", "",
		"folder of this mirror's own in which the game survives, also when all mirrors die; of a "+
			"witness, its votes")
	f.StringVar(&r.flush, "flush", "1s",
		"with --keep, when what is settled is made durable: never, tick, or so often")
	f.DurationVar(&r.keepEvery, "keep-every", 10*time.Second,
		"with --keep, how often the whole world is written; seldom means a longer start after a "+
			"crash")
	f.DurationVar(&r.history, "keep-history", 0, keeping.HistoryFlag)
	f.BoolVar(&r.Mirror.Revival.Anew, "found-anew", false,
		"with --keep, go on alone with what this folder has, as a new group: when too few of the "+
			"others come back. What only their folders have is lost")
}

// upgradeFlags adds what says whose game is taken over.
func (r *flags) upgradeFlags(f *pflag.FlagSet) {
	u := &r.Upgrade
	f.StringSliceVar(&u.Servers, "upgrade", nil,
		"take over the game of the mirrors that answer operators at these addresses (their "+
			"--admin), while it is played, and found a new group with it; name all of them")
	f.StringVar(&u.TokenFile, "token-file", "",
		"with --upgrade, file with your token of the role operate, from: {program} admin token "+
			"make")
	f.StringVar(&u.Trust, "trust", "",
		"with --upgrade, fingerprint or file of those mirrors' certificate, where nobody has "+
			"signed it")
	f.DurationVar(&u.Within, "upgrade-within", upgrade.Within,
		"with --upgrade, for how long the world may stand still before the old mirrors go on")
	f.BoolVar(&u.Try, "upgrade-try", false,
		"with --upgrade, only try whether this build could go on with the game")
}

// checkUpgrade looks at what can be wrong with those.
func (r *flags) checkUpgrade(given func(string) bool) error {
	u := &r.Upgrade
	if len(u.Servers) == 0 {
		for _, name := range []string{"token-file", "trust", "upgrade-within", "upgrade-try"} {
			if given(name) {
				return cli.Usagef("--%s goes with --upgrade, where the mirrors that run answer "+
					"operators", name)
			}
		}
		return nil
	}
	for _, name := range []string{"uber", "join", "witness", "found-anew"} {
		if given(name) {
			return cli.Usagef("--upgrade takes over a game and founds a group with it: leave out "+
				"--%s. Further mirrors --join this one", name)
		}
	}
	if u.Within < upgrade.LeastWithin || u.Within > upgrade.MostWithin {
		return cli.Usagef("--upgrade-within is %v: it must be from %v to %v", u.Within,
			upgrade.LeastWithin, upgrade.MostWithin)
	}
	return nil
}

// check looks at what can be wrong with the command line alone.
func (r *flags) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	if err := r.checkUpgrade(given); err != nil {
		return err
	}
	switch {
	case r.Mirror.Found && len(r.Join) > 0:
		return cli.Usagef(
			"--uber founds a game and --join joins one: give one of them. The first mirror of a " +
				"game has --uber, all others --join")
	case r.Mirror.Revival.Anew && (r.Mirror.Found || len(r.Join) > 0):
		return cli.Usagef("--found-anew goes on with what was kept, without --uber or --join; " +
			"have the others --join this mirror")
	case r.Mirror.Revival.Anew && r.keep == "":
		return cli.Usagef("--found-anew goes with --keep, the folder to go on with")
	case !r.Mirror.Found && !r.Mirror.Revival.Anew && len(r.Join)+len(r.Upgrade.Servers) == 0:
		return cli.Usagef("give --uber to found a game, --join with the address of a mirror whose " +
			"game to join, or --upgrade to take over a game that runs")
	case r.key == "":
		return cli.Usagef(
			"--key is needed, the same at all mirrors; make one with: {program} token key --out " +
				"mirrors.key")
	case r.Mirror.Server.Players < 1 || r.Mirror.Server.Players > 10000:
		return cli.Usagef("--players is %d: it must be from 1 to 10000", r.Mirror.Server.Players)
	case r.Mirror.Room < 0 || r.Mirror.Room > 10000:
		return cli.Usagef("--room is %d: it must be from 0, for as many as --players, to 10000",
			r.Mirror.Room)
	case r.Mirror.Server.SnapshotRate < 1 || r.Mirror.Server.SnapshotRate > 1000:
		return cli.Usagef("--snapshots is %d: it must be from 1 to 1000",
			r.Mirror.Server.SnapshotRate)
	case r.Patience <= 0:
		return cli.Usagef(
			"--patience is %v: it must be above zero; with --forever there is no end to it",
			r.Patience)
	}
	for _, name := range []string{"uber", "listen", "public", "open", "record", "players",
		"multicast", "interface", "store", "flush", "keep-every", "keep-history", "found-anew",
		"admin", "admin-dir", "inspect", "record-last", "drain"} {
		if r.Witness && given(name) {
			return cli.Usagef(
				"--%s does not go with --witness, which has no world and no players", name)
		}
	}
	for _, name := range []string{"level", "map", "seed"} {
		if !r.Mirror.Found && given(name) {
			return cli.Usagef(
				"--%s goes with --uber; who joins gets the level from the other mirrors", name)
		}
	}
	for _, name := range []string{"patience", "forever"} {
		if r.Mirror.Found && given(name) {
			return cli.Usagef("--%s goes with --join; who founds a game waits for no one", name)
		}
	}
	return nil
}

func (r *flags) run(p *cli.Program, cmd *cobra.Command) error {
	if err := r.settings.Fill(cmd); err != nil {
		return err
	}
	if err := r.check(cmd); err != nil {
		return err
	}
	t, err := p.Title(r.game)
	if err != nil {
		return cli.UsageError{Err: err}
	}
	if r.Log, err = r.settings.Logger(cmd.ErrOrStderr()); err != nil {
		return err
	}
	if err := errors.Join(r.Admin.Fill(cmd.Flags()),
		recording.CheckLast(r.Record, r.RecordLast)); err != nil {
		return err
	}
	key, err := readKey(r.key)
	if err != nil {
		return err
	}
	o := &r.Mirror
	o.Keys, o.Server.Title = []token.Key{key}, t
	if o.Server.Level, err = r.settings.Level(t); err != nil {
		return err
	}
	if err := r.knobs.Choose(cmd, "timeline", &o.Timeline, TimelineOf); err != nil {
		return err
	}
	if r.knobs.Given() {
		r.Knobs, err = r.knobs.Values(cmd, t, Architecture(o.Timeline), append(Knobs(o.Timeline),
			t.Settable()...))
		if err != nil {
			return err
		}
	}
	if r.Keep, err = keeping.Parse(r.keep, r.flush, r.keepEvery); err != nil {
		return err
	}
	if err := r.Keep.KeepHistory(r.history); err != nil {
		return err
	}
	if o.Delays, err = Delays(o.Timeline, r.delays, r.window); err != nil {
		return err
	}
	if o.Repair, err = Repair(o.Timeline, r.repair); err != nil {
		return err
	}
	if len(r.margins) > 0 {
		if o.Margins, err = t.MarginsWith(r.margins...); err != nil {
			return cli.Usagef("--margin: %w", err)
		}
	}
	return r.store.Use(cmd.Context(), t, func(store kept.Store) error {
		r.Store = store
		return Run(cmd.Context(), r.Options)
	})
}

// readKey reads the key that lets mirrors in.
func readKey(name string) (token.Key, error) {
	key, err := cli.ReadKey(name)
	if errors.Is(err, token.ErrKey) {
		return key, fmt.Errorf(
			"%w; copy the file of the mirror that founded the game as it is, or make a new one "+
				"for all with: {program} token key --out mirrors.key", err)
	}
	return key, err
}
