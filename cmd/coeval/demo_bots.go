package main

import (
	"context"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/session"
	"github.com/coeval-dev/coeval/link/mem"
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/world"
)

// demoBots are the bots of a demo: whole clients, in memory, driven by one goroutine.
type demoBots struct {
	server *clientserver.Server
	list   []*demoBot
}

type demoBot struct {
	client *clientserver.Client
	brain  *arena.Bot
	name   string
	asked  world.Tick // when it last asked to be called so
	ended  bool
}

func newDemoBots(s *clientserver.Server, hub *mem.Hub, at netip.AddrPort, n int, seed uint64) (*demoBots, error) {
	bots := &demoBots{server: s}
	for i := range n {
		l, err := hub.Open(netip.AddrPort{})
		if err != nil {
			return nil, err
		}
		t, err := s.Token(uint64(i+1)<<32|1, nil, time.Hour)
		if err != nil {
			return nil, err
		}
		b := &demoBot{brain: arena.NewBot(seed + uint64(i)), name: session.BotName(i)}
		b.client, err = clientserver.NewClientOf(s.Protocol(), clientserver.ClientOptions{
			Settings: session.LevelSettings, Link: l, Token: t, Servers: []netip.AddrPort{at}, Name: b.name, Input: b.input,
		})
		if err != nil {
			return nil, err
		}
		bots.list = append(bots.list, b)
	}
	return bots, nil
}

// input is asked for each tick.
func (b *demoBot) input(t world.Tick, p world.Player, in *world.Inputs) {
	if w := b.client.View(); w != nil {
		_ = world.Give(in, p, b.command(t, p, w)) // it is of the game's type
	}
}

// command is what the bot does, by what it sees. It asks for its name until it has it, as on a busy machine a command may come too late, and what is done once with it is
// then not done.
func (b *demoBot) command(t world.Tick, p world.Player, w *world.World) arena.Command {
	c := b.brain.Think(w, p)
	if c.Verb == arena.Name {
		c.Verb, c.Text = arena.Nothing, "" // it has another here
	}
	for id, s := range world.All[arena.Sheet](w) {
		if w.Owner(id) == p && s.Name != b.name && (b.asked == 0 || t >= b.asked+world.Tick(arena.Game.Rate())) {
			c.Verb, c.Text, b.asked = arena.Name, b.name, t
		}
	}
	return c
}

// run lets them play until the context ends.
func (b *demoBots) run(ctx context.Context) {
	t := time.NewTicker(arena.Game.TickLength())
	defer t.Stop()
	begin := time.Now()
	for {
		select {
		case <-ctx.Done():
			for _, x := range b.list {
				_ = x.client.Close()
			}
			return
		case <-t.C:
		}
		now := time.Since(begin)
		for _, x := range b.list {
			if !x.ended {
				x.ended = x.client.Tick(now) != nil
			}
		}
	}
}
