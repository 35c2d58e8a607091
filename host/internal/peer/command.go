//go:build !js

package peer

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/topology/peers"
)

const long = `Play a game between players' machines, without a server.

Each machine holds the whole game and sends the others nothing but its player's
commands. Nobody is the host: whoever founded the match can leave, and the others play
on. Somebody who crashes, or is cut off, comes back to the same body by joining again.`

const hostLong = `Found a match, and play in it.

What is printed is an invitation: one line, with the addresses of this machine and
a secret. Whoever has it can join, also later, and from anyone who is in. The match
begins when --start players are there.

Others must reach this machine by UDP. Behind a router, play through a relay, which a
friend or you run somewhere ({program} relay): --relay its.name:4300. Then a short code
takes the place of the invitation. Each player needs to reach the relay and nobody else; it
gathers the commands of a tick, waits for nobody for longer than --wait, and sends them to
all. With --mesh the relay only introduces the players: they reach each other directly
where their routers let them, which is faster, and it carries for those whom they do not.
Without a relay, forward a port and name it: --listen :4747 --address your.name:4747.

With --relay and --page you play in a browser: a page is served, and its link printed. It
shows the code, and a link for others, who open it in theirs or join in a terminal. With
--out the page is written into a folder, for any server of files.

`

const joinLong = `Join a match by an invitation, and play in it, or watch it.

With --relay the invitation is the short code that was printed when the match was founded. The
relay says whether it is a match through it or a mesh. With --page you play in a browser.

The world is sent in the background while the others play on. Who has crashed, or has
closed the terminal, joins again and returns to the same body: the machine keeps who it is
in a file, which --identity names, and what a relay needs to know it again beside that. Who
has founded the match returns in the same way, by join.

`

const keysLong = `Arrow keys or w, a, s, d play. l switches between lock step, in which
nothing is shown that is not known, and rollback, in which commands of others are
guessed and put right; + and - change after how many ticks your own commands count. q or
Ctrl-C leaves.

With --headless nothing is shown and a bot plays; with --json what happens is printed as
one JSON object a line: the invitation, news, how it goes, and the hashes of settled worlds,
which are the same on every machine.`

const example = `  {program} peer host {game}
  {program} peer join {game} coeval-peer-1:...`

const hostExample = `  {program} peer host {game}
  {program} peer host {game} --start 1 --seats 4 --name ada
  {program} peer host {game} --style lockstep --listen :4747 --address play.example.net:4747
  {program} peer host {game} --relay relay.example.net:4300
  {program} peer host {game} --relay relay.example.net:4300 --mesh
  {program} peer host {game} --relay relay.example.net:4300 --page
  {program} peer host {game} --json --time 10s`

const joinExample = `  {program} peer join {game} coeval-peer-1:...
  {program} peer join {game} coeval-peer-1:... --watch --behind 5s
  {program} peer join {game} K7QF-3M9P-7XK2-QW9D --relay relay.example.net:4300
  {program} peer join {game} K7QF-3M9P-7XK2-QW9D --relay relay.example.net:4300 --page
  {program} peer join {game} coeval-peer-1:... --json --time 10s`

// Command is the command peer.
func Command(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "peer", Short: "Play a game between players' machines, without a server",
		Long: long, Example: example, Args: cli.NoUnknownCommand, RunE: cli.List,
	}
	cmd.AddCommand(hostCommand(p), joinCommand(p))
	return cmd
}

// flags are what the command line says.
type flags struct {
	Options
	level        cli.LevelFlags
	match        peers.Match
	style        string
	depth, delay int
	page         bool // in a browser
	paged        PageOptions
	client       string
	knobs        cli.KnobFlags
}

func (f *flags) common(cmd *cobra.Command) {
	g := cmd.Flags()
	g.StringVar(&f.Name, "name", os.Getenv("USER"), "what others read")
	g.StringVar(&f.Listen, "listen", ":0", "address and UDP port to be reached at; 0 for any port")
	g.StringVar(&f.Address, "address", "",
		"where others reach this machine, such as a router's address and the port that it forwards")
	g.StringVar(&f.Relay, "relay", "",
		"play through a relay, by its HTTP address such as relay.example.net:4300: players behind "+
			"any router can take part, and a short code takes the place of the invitation")
	g.StringVar(&f.Identity, "identity", "",
		"file that says who this machine is, so that it returns to the same body (default: one in "+
			"the user's cache that no other program uses)")
	g.IntVar(&f.depth, "depth", peers.Rollback().Depth,
		"with rollback, how many ticks may be shown with commands guessed")
	g.IntVar(&f.delay, "delay", -1,
		"after how many ticks own commands count; -1 for 2 with rollback, and for as many as the "+
			"slowest path takes in lock step")
	g.IntVar(&f.Packets, "packets", 0,
		"packets a second to each of the others (default: one a tick)")
	g.BoolVar(&f.Bot, "bot", false, "let a bot play")
	g.BoolVar(&f.Headless, "headless", false, "show nothing, let a bot play, and print how it goes")
	g.BoolVar(&f.JSON, "json", false, "the same, as JSON objects, one a line")
	g.StringVar(&f.Desyncs, "desyncs", ".",
		"folder for both worlds, should they ever differ, for {program} desync; none for nothing")
	g.DurationVar(&f.For, "time", 0, "where to stop (default: never)")
	f.pageFlags(cmd)
	f.knobs.Flags(cmd)
}

// pageFlags are for playing in browsers.
func (f *flags) pageFlags(cmd *cobra.Command) {
	g, p := cmd.Flags(), &f.paged
	g.BoolVar(&f.page, "page", false,
		"with --relay, serve a page on which you play in a browser, and others too")
	g.StringVar(&p.HTTP, "http", ":4380", "with --page, its address")
	g.StringSliceVar(&p.Hosts, "host", nil, "with --page, names of this machine by which others "+
		"ask for it (default: its addresses)")
	g.StringVar(&p.Out, "out", "", "with --page, write it into this folder, for any server of "+
		"files, in place of serving it")
	g.StringVar(&f.client, "client", "", "with --page, a folder with the game for the browser, "+
		"which --out has written elsewhere (default: it is compiled, which needs Go)")
	g.StringVar(&p.Web.Certificate, "tls-cert", "",
		"with --page, a file with a certificate in PEM, to answer over HTTPS")
	g.StringVar(&p.Web.Key, "tls-key", "", "with --page, a file with the key of --tls-cert")
}

// servePage serves the page as the command line says.
func (f *flags) servePage(cmd *cobra.Command) error {
	p, g := &f.paged, cmd.Flags()
	p.AnyPort, p.Seeded = !g.Changed("http"), g.Changed("seed")
	switch {
	case f.Relay == "":
		return cli.Usagef("--page goes with --relay: browsers reach each other through a relay, " +
			"which {program} relay --websocket --webtransport :4301 runs")
	case f.Mesh:
		return cli.Usagef("--page does not go with --mesh: browsers play through the relay")
	}
	if p.Out != "" && f.Match == nil {
		return cli.Usagef("--out goes with host: on that page people found matches and join them")
	}
	for _, name := range []string{"bot", "headless", "identity", "listen", "address"} {
		if g.Changed(name) {
			return cli.Usagef("--%s does not go with --page, where the browser plays", name)
		}
	}
	if f.client != "" {
		if _, err := os.Stat(f.client); err != nil {
			return cli.Usagef("--client: %w: write it with --out %s where Go is", err, f.client)
		}
		p.Built = os.DirFS(f.client)
	}
	ctx := cmd.Context()
	if f.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.For)
		defer cancel()
	}
	return ServePage(ctx, &f.Options, p, cmd.OutOrStdout())
}

func hostCommand(p *cli.Program) *cobra.Command {
	var f flags
	cmd := &cobra.Command{Use: "host", Short: "Found a match, and play in it",
		Long: hostLong + keysLong, Example: hostExample}
	p.OneGame(cmd, func(cmd *cobra.Command, t *game.Title) (err error) {
		f.Title, f.Match = t, &f.match
		if err := f.tune(cmd); err != nil {
			return err
		}
		if f.Level, err = f.level.Read(t); err != nil {
			return err
		}
		if f.Level, err = cli.FillLevel(t, f.Level); err != nil {
			return err
		}
		m := &f.match
		m.Level, m.Data, m.Seed = f.Level.Name, f.Level.Data, f.Level.Seed
		if f.style == "doom" {
			f.style, m.Doom = "lockstep", true
		}
		switch {
		case m.Seats < 1 || m.Seats > peers.MaxSeats:
			return cli.Usagef("--seats is %d: it must be from 1 to %d", m.Seats, peers.MaxSeats)
		case m.Start < 1 || m.Start > m.Seats:
			return cli.Usagef("--start is %d: it must be from 1 to --seats, which is %d", m.Start,
				m.Seats)
		case m.Patience < 250*time.Millisecond || m.Patience > time.Minute:
			return cli.Usagef("--patience is %v: it must be from 250ms to 1m", m.Patience)
		case m.Grace < 0 || m.Grace > time.Hour:
			return cli.Usagef("--grace is %v: it must be up to 1h", m.Grace)
		case m.Commit && m.Doom:
			return cli.Usagef("--commit does not go with --style doom, which has no commitments")
		case m.Commit && f.style != "lockstep":
			return cli.Usagef("--commit goes with --style lockstep: under rollback commands are " +
				"guessed, and shown before they are known")
		case f.Lasts <= 0:
			return cli.Usagef("--expires is %v: it must be above 0", f.Lasts)
		}
		if err := f.through(cmd); err != nil {
			return err
		}
		return f.run(p, cmd)
	})
	f.level.Flags(cmd, "", 0)
	f.common(cmd)
	g := cmd.Flags()
	g.StringVar(&f.style, "style", "rollback", "how to play: lockstep, rollback, or doom, for the "+
		"whole match: lock step as in 1993, with lost commands sent again when they are asked for")
	g.IntVar(&f.match.Seats, "seats", 8, "how many can play")
	g.IntVar(&f.match.Start, "start", 2, "how many must be there before it begins")
	g.DurationVar(&f.match.Patience, "patience", 2*time.Second,
		"how long somebody may be silent before the others go on without")
	g.DurationVar(&f.match.Grace, "grace", time.Minute,
		"how long the body of somebody who is gone is kept")
	g.BoolVar(&f.match.Alone, "alone", false,
		"of two, each goes on alone when the other is gone, rather than wait")
	g.BoolVar(&f.match.Commit, "commit", false,
		"have everybody commit to a command before anybody reveals one, so that nobody waits to "+
			"see what others do; for lock step")
	g.BoolVar(&f.match.End, "end", false,
		"end the match if worlds ever differ, rather than repair the one that is wrong")
	g.DurationVar(&f.Lasts, "expires", 12*time.Hour, "how long the invitation lets "+
		"somebody new in; at a relay its operator says how long a code does")
	g.BoolVar(&f.Mesh, "mesh", false, "with --relay, let it only introduce the players, who then "+
		"send each other their commands: faster where routers let them, but everybody waits for "+
		"the slowest")
	g.DurationVar(&f.Wait, "wait", 100*time.Millisecond,
		"with --relay, how long a tick waits beyond its time for somebody's command")
	return cmd
}

// through checks what goes with a relay that gathers commands, and what does not.
func (f *flags) through(cmd *cobra.Command) error {
	rows := f.Relay != "" && !f.Mesh
	switch m := &f.match; {
	case f.Mesh && f.Relay == "":
		return cli.Usagef("--mesh goes with --relay: without one it is a mesh in any case")
	case cmd.Flags().Changed("wait") && !rows:
		return cli.Usagef("--wait goes with --relay and without --mesh: in a mesh everybody " +
			"waits for everybody, up to --patience")
	case f.Wait < 0 || f.Wait > 10*time.Second:
		return cli.Usagef("--wait is %v: it must be up to 10s", f.Wait)
	case rows && m.Commit:
		return cli.Usagef("--commit goes with --mesh: a relay shows nobody's command before all " +
			"of the tick are there")
	case rows && m.Doom:
		return cli.Usagef("--style doom goes with --mesh: through a relay nobody resends")
	case rows && m.Alone:
		return cli.Usagef("--alone goes with --mesh: through a relay one plays on in any case")
	case rows && cmd.Flags().Changed("patience"):
		return cli.Usagef("--patience goes with --mesh: through a relay a tick waits for --wait")
	case rows && f.Wait == 0:
		f.Wait = -1 // zero has another meaning
	}
	return nil
}

func joinCommand(p *cli.Program) *cobra.Command {
	var f flags
	use := "join INVITATION"
	if len(p.List) > 1 {
		use = "join [GAME] INVITATION"
	}
	cmd := &cobra.Command{Use: use, Short: "Join a match by an invitation, to play or to watch",
		Long: joinLong + keysLong, Example: joinExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return fmt.Errorf("which match? Give the invitation that {program} peer host " +
					"printed, after the game's name if there is one")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Invitation = args[len(args)-1]
			if f.Relay != "" {
				name := ""
				if len(args) == 2 {
					name = args[0]
				}
				if _, err := parseShortCode(f.Invitation); err != nil {
					return cli.Usage(err)
				}
				t, err := p.Title(name)
				if err != nil {
					return cli.Usagef("a code does not say which game it is of: %w", err)
				}
				f.Title = t
				return f.play(p, cmd)
			}
			v, err := ParseInvitation(f.Invitation)
			if err != nil {
				return cli.Usage(err)
			}
			name := v.Game
			if len(args) == 2 {
				name = args[0]
			}
			if f.Title, err = p.Title(name); err != nil {
				return cli.Usagef("the invitation is to %q: %w", v.Game, err)
			}
			return f.play(p, cmd)
		},
	}
	f.common(cmd)
	g := cmd.Flags()
	g.StringVar(&f.style, "style", "rollback", "how to play: lockstep or rollback")
	g.BoolVar(&f.Watch, "watch", false, "only watch")
	g.DurationVar(&f.Behind, "behind", 0, "with --watch, how much later to see what happens")
	return cmd
}

// play joins.
func (f *flags) play(p *cli.Program, cmd *cobra.Command) error {
	if err := f.tune(cmd); err != nil {
		return err
	}
	if f.Behind < 0 || f.Behind > 0 && !f.Watch {
		return cli.Usagef("--behind is %v: it goes with --watch, and is at least 0", f.Behind)
	}
	return f.run(p, cmd)
}

// run plays as the command line says.
func (f *flags) run(p *cli.Program, cmd *cobra.Command) error {
	switch f.style {
	case "lockstep":
		f.Style = peers.Lockstep()
		if cmd.Flags().Changed("depth") && f.depth != 0 {
			return cli.Usagef("--depth goes with --style rollback; in lock step nothing is guessed")
		}
		f.depth = 0
	case "rollback":
		f.Style = peers.Rollback()
		if f.depth < 1 || f.depth > peers.MaxDepth {
			return cli.Usagef("--depth is %d: it must be from 1 to %d", f.depth, peers.MaxDepth)
		}
	default:
		return cli.Usagef("--style is %q: it must be lockstep or rollback, or doom for who founds "+
			"a match", f.style)
	}
	f.Style.Depth = f.depth
	if f.delay != -1 {
		f.Style.Delay = f.delay
	}
	switch {
	case f.delay < -1 || f.delay > peers.MaxDelay:
		return cli.Usagef("--delay is %d: it must be from 0 to %d, or -1", f.delay, peers.MaxDelay)
	case f.Packets < 0 || f.Packets > 1000:
		return cli.Usagef("--packets is %d: it must be from 1 to 1000", f.Packets)
	case f.For < 0:
		return cli.Usagef("--time is %v: it must be above 0", f.For)
	case len(f.Name) > 64:
		return cli.Usagef("--name has %d bytes: at most 64", len(f.Name))
	}
	f.Headless = f.Headless || f.JSON
	f.In, _ = cmd.InOrStdin().(*os.File)
	f.Out, _ = cmd.OutOrStdout().(*os.File)
	f.Lines, f.Fill = cmd.OutOrStdout(), p.Fill
	if f.page {
		return f.servePage(cmd)
	}
	return Play(cmd.Context(), f.Options)
}
