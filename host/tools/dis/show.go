//go:build !js

package dis

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/join"
	"github.com/coeval-dev/coeval/service/dis"
	"github.com/coeval-dev/coeval/service/dis/network"
	"github.com/coeval-dev/coeval/service/dis/tell"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

const showLong = `Watch a coeval game on a server, and tell an exercise of its entities, as if they
were simulated there: one way, from the game to the exercise.

Which class is which type of entity is said by the class itself, by a method
DIS() string, or in a file that --types names:

    {"Tank": {"type": "1.1.225.1.1.3.0", "force": 1}}

Where neither says anything, players' bodies are told as life forms. Others see
what somebody who watches the game is shown.`

// showing is a game that is told to an exercise.
type showing struct {
	reach
	site, application, version int
	at, types                  string
	turn                       float64

	titles  []*game.Title
	mapping tell.Mapping
	ground  dis.Ground
	n       *network.Network
	sender  *dis.Sender
	teller  *tell.Teller
	sent    int
	failed  error
}

func showCommand(p *host.Program) *cobra.Command {
	s := showing{titles: p.Titles}
	cmd := &cobra.Command{
		Use:   "show SERVER",
		Short: "Tell an exercise of a game that is played on a server",
		Long:  showLong,
		Example: `  {program} dis show localhost:4000
  {program} dis show localhost:4000 --types tanks.json --at 37.8,-122.4 --to 239.1.2.3:3000`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args[0]) },
	}
	s.flags(cmd)
	f := cmd.Flags()
	f.IntVar(&s.site, "site", 1, "number of our site")
	f.IntVar(&s.application, "application", 1, "number of our application")
	f.IntVar(&s.version, "version", 7, "of DIS, 6 or 7")
	f.StringVar(&s.at, "at", "37.8,-122.4,0", "`LAT,LON,HEIGHT` of the level's origin")
	f.Float64Var(&s.turn, "turn", 0, "degrees by which the level's X axis is turned from east "+
		"to north")
	f.StringVar(&s.types, "types", "", "`FILE` that says which class is which type of entity")
	return cmd
}

// maxMapping is the largest file of types.
const maxMapping = 1 << 20

func (s *showing) prepare() error {
	if s.version != 6 && s.version != 7 {
		return cli.Usagef("version %d: choose 6 or 7", s.version)
	}
	for _, n := range []int{s.site, s.application} {
		if n < 1 || n >= dis.AssignToMe {
			return cli.Usagef("number %d of a site or application: choose 1 to %d", n,
				dis.AssignToMe-1)
		}
	}
	place, err := spot(s.at)
	if err != nil {
		return err
	}
	if s.types != "" {
		text, err := cli.ReadFile(s.types, maxMapping)
		if err != nil {
			return err
		}
		if s.mapping, err = tell.ParseMapping(text); err != nil {
			return fmt.Errorf("%s: %w", s.types, err)
		}
	}
	s.ground = dis.NewGround(place, det.Degrees(s.turn))
	s.sender = &dis.Sender{Site: uint16(s.site), Application: uint16(s.application),
		Header: dis.Header{Version: uint8(s.version), Exercise: uint8(s.exercise)}}
	return nil
}

func (s *showing) run(cmd *cobra.Command, server string) error {
	if err := s.prepare(); err != nil {
		return err
	}
	if s.Listen == "" {
		s.Listen = ":0" // nothing that comes matters
	}
	n, ctx, end, err := s.join(cmd)
	if err != nil {
		return err
	}
	defer end()
	s.n = n
	_, err = join.Join(ctx, join.Options{
		Servers: []string{server}, AsServed: true, Find: s.title,
		Player: client.Options{Name: "DIS", Spectate: true},
		Bot:    func(*game.Title) game.Bot { return watches },
		Each:   s.frame,
	})
	if s.teller != nil {
		told := s.teller.Len()
		s.teller.End(stampNow(), s.send)
		fmt.Fprintf(cmd.OutOrStdout(), "%d entities told, %d updates, to %v\n", told, s.sent,
			n.To())
	}
	if err == nil || ctx.Err() == nil {
		return err
	}
	return s.over(cmd)
}

// watches does nothing, as it only watches.
func watches(*world.World, world.Player, world.Tick, *world.Inputs) error { return nil }

// title finds the title that the server plays.
func (s *showing) title(name string) (*game.Title, error) {
	for _, t := range s.titles {
		if t.Game.Name() == name {
			return t, nil
		}
	}
	return nil, fmt.Errorf("there is no game %q: %w", name, os.ErrNotExist)
}

func (s *showing) send(b []byte) {
	s.sent++
	if err := s.n.Send(b); err != nil && s.failed == nil {
		s.failed = err
	}
}

// frame tells what is due.
func (s *showing) frame(t *game.Title, now time.Duration, v *client.View) error {
	if s.teller == nil {
		teller, err := tell.New(t, s.sender, s.mapping)
		if err != nil {
			return err
		}
		teller.Ground = s.ground
		s.teller = teller
	}
	s.teller.World(now, stampNow(), v.World, s.send)
	return s.failed
}
