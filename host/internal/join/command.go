//go:build !js

package join

import (
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/learned"
	"github.com/coeval-dev/coeval/predict"
)

const long = `Play a game on a server, in the terminal.

ADDR is where {program} serve listens, such as localhost:4000. An open server is
asked there, over HTTP, for a token; for others give --token and --game. Of a game
that runs on several mirrors any number may be given, separated by commas: you begin
at the nearest of them. All mirrors are measured as you play, also those that were
not named. If another is much nearer you go on there, without an interruption; if
yours dies, or is stopped, you go on at the nearest other. With --stay you go
elsewhere only if you must.

Arrow keys or w, a, s, d play. p asks for a pause, q or Ctrl-C leaves.

What you press is seen at once, however far the server is: what comes of it is
predicted, and put right if the server finds otherwise. With --style doom3
everything in view is predicted, with quake3 only what is yours, while the rest
is shown as it was a moment ago; halflife is the same for servers that go back
in time to judge a shot; none shows what has come, when it has come. Who only
watches is shown what was a moment ago, unless the style is none.

Through a proxy, such as {program} netsim, ADDR is the proxy's address and --http
the server's, which is asked for a token.

With --headless nothing is shown, and a bot plays for --seconds seconds; then
what came of it is printed. With --ticket FILE the ticket by which the same
player can come back is kept in a file, and used if it is there: so who crashed,
or closed the terminal, finds their seat as it was.

If the server is started anew you are asked in again, as someone new, for as long as
--patience says.

With --send NAME=FILE a file is sent to the server, beside the game, as what the game
calls it. What became of it is said in the last line, or in the JSON of --headless,
which plays on until it is known.`

const example = `  {program} join localhost:4000
  {program} join play.example.net:4000 --name ada --ticket ~/.pong.ticket
  {program} join eu.example.net:4000,us.example.net:4000
  {program} join localhost:4000 --over websocket --spectate
  {program} join localhost:5000 --http localhost:4000 --style quake3
  {program} join localhost:4000 --headless --seconds 5 --json
  {program} join localhost:4000 --send replay=match.trace`

// StyleNames lists what --style takes.
const StyleNames = "doom3, quake3, halflife, none, quake or quakeworld"

// Flags are what a command line says of who plays and how, wherever that is.
type Flags struct {
	Options
	// Headless shows nothing and has a bot play.
	Headless bool

	style   string
	seconds float64
}

// flags are what the command line says.
type flags struct {
	Flags
	json bool
}

// Command is the command join.
func Command(p *cli.Program) *cobra.Command {
	var j flags
	cmd := &cobra.Command{
		Use:     "join ADDR[,ADDR...]",
		Short:   "Play a game on a server, in the terminal",
		Long:    long,
		Example: example,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("which server? Give its address and port, such as localhost:4000")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			for name := range strings.SplitSeq(args[0], ",") {
				j.Servers = append(j.Servers, strings.TrimSpace(name))
			}
			return j.run(p, cmd)
		},
	}
	j.Add(cmd.Flags())
	f := cmd.Flags()
	f.StringVar(&j.HTTP, "http", "",
		"where the server answers over HTTP, if not at ADDR; datagrams then go to ADDR itself")
	f.BoolVar(&j.HTTPS, "https", false, "ask the server for a token by HTTPS")
	f.StringVar(&j.Over, "over", "udp", "how to reach the server: udp, websocket or webtransport")
	f.StringVar(&j.Token, "token", "",
		"a token from the game's backend, in place of asking the server for one")
	f.StringVar(&j.Game, "game", "", "the game, with --token")
	f.BoolVar(&j.json, "json", false, "with --headless, print one JSON object")
	return cmd
}

// Add adds the flags.
func (j *Flags) Add(f *pflag.FlagSet) {
	f.StringVar(&j.Player.Name, "name", os.Getenv("USER"), "what others read")
	f.BoolVar(&j.Player.Spectate, "spectate", false, "only watch")
	f.StringVar(&j.Trust, "trust", "",
		"by HTTPS, believe the server with this certificate: its fingerprint (sha256:...) or a "+
			"file in PEM")
	f.StringVar(&j.style, "style", "doom3",
		"how to show what the server has not told yet: "+StyleNames+
			" (default: as the server's architecture, or doom3)")
	f.BoolVar(&j.Player.FrozenTables, "frozen-tables", false,
		"take no tables that the server has learned: snapshots are larger")
	f.BoolVar(&j.Player.Stay, "stay", false,
		"begin at the first of the servers, and do not go to a nearer one")
	f.StringVar(&j.Ticket, "ticket", "", "file to keep the ticket in by which to come back")
	f.StringArrayVar(&j.Send, "send", nil,
		"send a file to the server, as what it is to the game, such as replay=match.trace")
	f.DurationVar(&j.Patience, "patience", 30*time.Second,
		"how long to look for a server that has gone, before giving up")
	f.BoolVar(&j.Headless, "headless", false,
		"show nothing and let a bot play, then say what came of it")
	f.Float64Var(&j.seconds, "seconds", 10, "with --headless, how long to play")
}

// Fill makes options of the flags.
func (j *Flags) Fill(p *cli.Program, cmd *cobra.Command) (err error) {
	switch {
	case !(j.seconds > 0 && j.seconds <= 1e6):
		return cli.Usagef("--seconds is %v: it must be above 0", j.seconds)
	case j.Patience <= 0:
		return cli.Usagef("--patience is %v: it must be above 0", j.Patience)
	}
	if j.Player.Style, err = predict.ParseStyle(j.style); err != nil {
		return cli.Usagef("--style is %q: it must be %s", j.style, StyleNames)
	}
	if dir, err := learned.Dir(); err == nil && !j.Player.FrozenTables {
		// Without a folder tables are sent each time.
		if folder, err := learned.Open(dir, func(error) {}); err == nil {
			j.Player.Tables = folder
		}
	}
	j.AsServed = !cmd.Flags().Changed("style")
	j.Find = p.Title
	if j.Headless {
		j.Bot = func(t *game.Title) game.Bot { return t.NewBot(cli.Draw()) }
		j.For = time.Duration(j.seconds * float64(time.Second))
	}
	j.In, _ = cmd.InOrStdin().(*os.File)
	j.Out, _ = cmd.OutOrStdout().(*os.File)
	return nil
}

func (j *flags) run(p *cli.Program, cmd *cobra.Command) (err error) {
	switch {
	case j.json && !j.Headless:
		return cli.Usagef("--json goes with --headless")
	case j.Token != "" && j.Game == "" && len(p.List) > 1:
		return cli.Usagef("with --token also give --game: there are %s", p.Names())
	}
	if err := j.Fill(p, cmd); err != nil {
		return err
	}
	r, err := Join(cmd.Context(), j.Options)
	if err != nil || !j.Headless {
		return err
	}
	return cli.Print(cmd.OutOrStdout(), r, j.json)
}
