//go:build !js

package host

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link/mem"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// demoBots are the bots of a demo: whole clients, in memory, driven by one goroutine.
type demoBots struct {
	server *server.Server
	length time.Duration // of a tick
	list   []*demoBot
}

type demoBot struct {
	client *client.Client
	brain  game.Bot
	ended  bool
}

func newDemoBots(
	t *game.Title, s *server.Server, hub *mem.Hub, at netip.AddrPort, n int, seed uint64,
) (*demoBots, error) {
	bots := &demoBots{server: s, length: t.Game.TickLength()}
	for i := range n {
		l, err := hub.Open(netip.AddrPort{})
		if err != nil {
			return nil, err
		}
		token, err := s.Token(uint64(i+1)<<32|1, nil, time.Hour)
		if err != nil {
			return nil, err
		}
		b := &demoBot{brain: t.NewBot(seed + uint64(i))}
		b.client, err = client.New(client.Options{
			Title: t, Style: predict.None, Name: botName(i),
			Link: l, Token: token, Servers: []netip.AddrPort{at},
		})
		if err != nil {
			return nil, err
		}
		bots.list = append(bots.list, b)
	}
	return bots, nil
}

// botName is what others read of a bot, where the game does not say.
func botName(i int) string { return fmt.Sprint("bot ", i+1) }

// command is what the bot does, by what it was shown.
func (b *demoBot) command(t world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
	_ = b.brain(shown, me, t, in) // its commands are of the game's type
}

// run lets them play until the context ends.
func (b *demoBots) run(ctx context.Context) {
	_ = drive.Loop{Step: b.length, Tick: b.tick}.Run(ctx) // it ends with the context
	for _, x := range b.list {
		_ = x.client.Close()
	}
}

func (b *demoBots) tick(now time.Duration) error {
	for _, x := range b.list {
		if !x.ended {
			x.ended = x.client.Frame(now, x.command).Ended
		}
	}
	return nil
}
