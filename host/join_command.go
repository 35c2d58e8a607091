//go:build !js

package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/predict"
)

const joinLong = `Play a game on a server, in the terminal.

ADDR is where {program} serve listens, such as localhost:4000. An open server is
asked there, over HTTP, for a token; for others give --token and --game. Of a game
that runs on several mirrors any number may be given, separated by commas, the
nearest first: the first that answers is played at. If it dies, or is stopped, you
go on at another, whether or not it was named.

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
--patience says.`

const joinExample = `  {program} join localhost:4000
  {program} join play.example.net:4000 --name ada --ticket ~/.pong.ticket
  {program} join eu.example.net:4000,us.example.net:4000
  {program} join localhost:4000 --over websocket --spectate
  {program} join localhost:5000 --http localhost:4000 --style quake3
  {program} join localhost:4000 --headless --seconds 5 --json`

// styleNames lists what --style takes.
const styleNames = "doom3, quake3, halflife or none"

// join is what the command line says.
type join struct {
	JoinOptions
	game, style    string
	headless, json bool
	seconds        float64
}

func (p *Program) joinCommand() *cobra.Command {
	var j join
	cmd := &cobra.Command{
		Use:     "join ADDR[,ADDR...]",
		Short:   "Play a game on a server, in the terminal",
		Long:    joinLong,
		Example: joinExample,
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
	f := cmd.Flags()
	f.StringVar(&j.Name, "name", os.Getenv("USER"), "what others read")
	f.BoolVar(&j.Spectate, "spectate", false, "only watch")
	f.StringVar(&j.HTTP, "http", "",
		"where the server answers over HTTP, if not at ADDR; datagrams then go to ADDR itself")
	f.StringVar(&j.style, "style", "doom3",
		"how to show what the server has not told yet: "+styleNames)
	f.StringVar(&j.Over, "over", "udp", "how to reach the server: udp, websocket or webtransport")
	f.StringVar(&j.Token, "token", "",
		"a token from the game's backend, in place of asking the server for one")
	f.StringVar(&j.game, "game", "", "the game, with --token")
	f.StringVar(&j.Ticket, "ticket", "", "file to keep the ticket in by which to come back")
	f.DurationVar(&j.Patience, "patience", 30*time.Second,
		"how long to look for a server that has gone, before giving up")
	f.BoolVar(&j.headless, "headless", false,
		"show nothing and let a bot play, then say what came of it")
	f.Float64Var(&j.seconds, "seconds", 10, "with --headless, how long to play")
	f.BoolVar(&j.json, "json", false, "with --headless, print one JSON object")
	return cmd
}

func (j *join) run(p *Program, cmd *cobra.Command) (err error) {
	switch {
	case j.json && !j.headless:
		return cli.Usagef("--json goes with --headless")
	case j.Token != "" && j.game == "" && len(p.Titles) > 1:
		return cli.Usagef(
			"with --token also give --game: there are %s", strings.Join(p.names(), ", "))
	case !(j.seconds > 0 && j.seconds <= 1e6):
		return cli.Usagef("--seconds is %v: it must be above 0", j.seconds)
	case j.Patience <= 0:
		return cli.Usagef("--patience is %v: it must be above 0", j.Patience)
	}
	if j.Style, err = predict.ParseStyle(j.style); err != nil {
		return cli.Usagef("--style is %q: it must be %s", j.style, styleNames)
	}
	find := func(name string) (*game.Title, error) {
		if name == "" && len(p.Titles) == 1 {
			return p.Titles[0], nil
		}
		return p.Title(name)
	}
	if j.headless {
		j.Bot = func(t *game.Title) game.Bot { return t.NewBot(draw()) }
		j.For = time.Duration(j.seconds * float64(time.Second))
	}
	var ok bool
	if j.In, ok = cmd.InOrStdin().(*os.File); !ok {
		j.In = nil
	}
	if j.Out, ok = cmd.OutOrStdout().(*os.File); !ok {
		j.Out = nil
	}
	r, err := j.JoinOptions.join(cmd.Context(), find, j.game)
	switch {
	case err != nil:
		return err
	case !j.headless:
		return nil
	case j.json:
		return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), r)
	return err
}
