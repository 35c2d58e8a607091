//go:build !js

// Package lobbies gathers people in the lobby of a directory, in a terminal, and has them play.
package lobbies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/find"
	"github.com/coeval-dev/coeval/host/internal/join"
	"github.com/coeval-dev/coeval/service/directory/ask"
	"github.com/coeval-dev/coeval/service/directory/lobby"
)

const long = `Meet others in the lobby of a directory, and play.

Without more this makes a room, and prints the code by which others join it, with --code
CODE, or with a link that ends in #room=CODE. What you type is said to the room; /ready,
/team 2, /kick NAME, /start, /queue and /leave do what they say. The host starts the
match, when everyone else is ready or by "/start anyway". Everybody is then let in at a
server with room for all, the one to which the longest way is the shortest: the ways to
the regions are measured when you come in.

With --queue you wait for others, as the game's rule groups them, and --rooms lists the
public rooms that have room.

Who you are is an account that is drawn each time, or with --account FILE what stands in
that file: the JWT of a backend, or an account that is drawn and kept there.

In scripts --ready says so at once, --start 4 starts when four are there, and --headless
has a bot play.`

const example = `  {program} lobby {game} --directory https://find.example.org --name ann
  {program} lobby --code KDMQWZ --directory https://find.example.org --name bob --ready
  {program} lobby {game} --queue
  {program} lobby {game} --rooms`

// flags are what the command line says.
type flags struct {
	join.Flags
	url, trust, account string
	game                string
	code                string
	setup               lobby.Setup
	queue, rooms        bool
	ready, json         bool
	start, skill        int

	directory *ask.Client
	member    *ask.Member
	me        lobby.Profile
}

// Command is the command lobby.
func Command(p *cli.Program) *cobra.Command {
	var x flags
	cmd := &cobra.Command{
		Use: "lobby [GAME]", Short: "Meet others in the lobby of a directory, and play",
		Long: long, Example: example, ValidArgs: p.Each(), Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				x.game = args[0]
			} else if len(p.List) == 1 {
				x.game = p.List[0].Name()
			}
			return x.run(p, cmd)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&x.url, "directory", "d", os.Getenv("COEVAL_DIRECTORY"),
		"URL of the directory, such as https://find.example.org")
	f.StringVar(&x.trust, "directory-trust", os.Getenv("COEVAL_DIRECTORY_TRUST"),
		"its certificate if nobody has signed that: a fingerprint or a file")
	f.StringVar(&x.account, "account", os.Getenv("COEVAL_ACCOUNT"),
		"file that says who you are; if there is none, an account is drawn and kept there")
	f.StringVar(&x.code, "code", "", "join the room with this code, or by this link")
	f.BoolVar(&x.rooms, "rooms", false, "list the public rooms that have room")
	f.BoolVar(&x.queue, "queue", false, "wait for others, as the game's rule groups them")
	f.StringVar(&x.setup.Name, "room-name", "", "what the room is called")
	f.StringVar(&x.setup.Level, "level", "", "the level that the server must play")
	f.BoolVar(&x.setup.Public, "public", false, "list the room, so that anybody may join")
	f.IntVar(&x.setup.Most, "most", 0, "how many there may be in the room (default 16)")
	f.IntVar(&x.setup.Teams, "teams", 0, "how many teams there are, from 2")
	f.IntVar(&x.skill, "skill", 0, "how good you are, for queues, as the game counts it")
	f.BoolVar(&x.ready, "ready", false, "be ready at once")
	f.IntVar(&x.start, "start", 0, "as the host, start when so many are there and ready")
	cli.JSONFlag(cmd, &x.json)
	x.Add(f)
	return cmd
}

// check looks at what was given, before anything is done.
func (x *flags) check(p *cli.Program, cmd *cobra.Command) error {
	switch {
	case x.url == "":
		return cli.Usagef("which directory? Name it by --directory, or as COEVAL_DIRECTORY")
	case x.game == "" && x.code == "":
		return cli.Usagef("which game? Name it, or give the code of a room by --code")
	case x.queue && x.code != "":
		return cli.Usagef("--queue is for one alone: in a room, its host types /queue")
	case x.json && !x.Headless && !x.rooms:
		return cli.Usagef("--json goes with --headless or --rooms")
	}
	t, err := entry.ParseTrust(x.trust)
	if err != nil {
		return cli.Usagef("--directory-trust: %w", err)
	}
	if x.directory, err = ask.New(x.url, t.Client()); err != nil {
		return cli.Usagef("--directory: %w", err)
	}
	if _, code, ok := strings.Cut(x.code, "#room="); ok {
		x.code = code
	}
	x.setup.Game = x.game
	x.me = lobby.Profile{Name: x.Player.Name, Skill: x.skill}
	if x.me.Name == "" {
		x.me.Name = "player"
	}
	return x.Fill(p, cmd)
}

func (x *flags) run(p *cli.Program, cmd *cobra.Command) error {
	if err := x.check(p, cmd); err != nil {
		return err
	}
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	if x.rooms {
		return x.list(ctx, out)
	}
	if err := x.identify(ctx); err != nil {
		return err
	}
	say := out
	if x.json {
		say = io.Discard
	}
	g := &gathering{flags: x, out: say, typed: listen(x.Options.In, x.Headless)}
	start, err := g.gather(ctx, p)
	if err != nil {
		return err
	}
	r, err := x.play(ctx, say, start, g)
	if err != nil || !x.Headless {
		return err
	}
	return cli.Print(out, r, x.json)
}

// A roomList is what --rooms prints.
type roomList struct {
	Rooms []lobby.Room `json:"rooms"`
}

func (l *roomList) String() string {
	var out cli.Rows
	for _, r := range l.Rooms {
		out.Add(r.Code, "%d of %d  %s  %s", r.Size, r.Most, r.Level, clean(r.Name))
	}
	return out.String()
}

// list prints the public rooms.
func (x *flags) list(ctx context.Context, out io.Writer) error {
	rooms, err := x.directory.Rooms(ctx, x.game)
	if err != nil {
		return err
	}
	if len(rooms) == 0 && !x.json {
		return cli.Nothingf("there is no public room of %s with room: make one with --public",
			x.game)
	}
	if rooms == nil {
		rooms = []lobby.Room{}
	}
	return cli.Print(out, &roomList{rooms}, x.json)
}

// identify finds out who one is.
func (x *flags) identify(ctx context.Context) error {
	if x.account != "" {
		text, err := cli.ReadSecret(x.account)
		if err == nil {
			x.member = x.directory.As(strings.TrimSpace(string(text)))
			return nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	secret, err := x.directory.NewAccount(ctx)
	if err != nil {
		return err
	}
	if x.account != "" {
		if err := os.WriteFile(x.account, []byte(secret+"\n"), 0o600); err != nil {
			return fmt.Errorf("--account: %w", err)
		}
	}
	x.member = x.directory.As(secret)
	return nil
}

// measure finds out how far the regions are, in which there are servers of the game.
func (x *flags) measure(ctx context.Context, p *cli.Program) error {
	s := find.Search{Directory: x.directory, Filter: ask.Filter{Game: x.game}, Titles: p.List}
	r, err := s.Run(ctx)
	if err != nil {
		return err
	}
	trips := map[string]int{}
	for _, server := range r.Servers {
		for _, place := range server.Places {
			if place.Trip == nil || place.Region == "" {
				continue
			}
			ms := int(place.Trip.RTT + 0.5)
			if had, ok := trips[place.Region]; (!ok || ms < had) && (ok || len(trips) < mostTrips) {
				trips[place.Region] = ms
			}
		}
	}
	x.me.Trips = trips
	return nil
}

// mostTrips is how many regions a directory lets one tell of.
const mostTrips = 16
