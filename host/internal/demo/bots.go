//go:build !js

package demo

import (
	"context"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/world"
)

// bots are those of a demo: whole clients, driven by one goroutine. One that was lost comes again.
type bots struct {
	length time.Duration // of a tick
	join   func(i int) (*client.Client, error)
	list   []bot
}

type bot struct {
	brain  game.Bot
	client *client.Client // nil while it is not there
	again  time.Duration  // when to come again
}

func newBots(t *game.Title, n int, seed uint64, join func(i int) (*client.Client, error)) bots {
	b := bots{length: t.Game.TickLength(), join: join}
	for i := range n {
		b.list = append(b.list, bot{brain: t.NewBot(seed + uint64(i))})
	}
	return b
}

// command is what the bot does, by what it was shown.
func (b *bot) command(t world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
	_ = b.brain(shown, me, t, in) // its commands are of the game's type
}

// run lets them play until the context ends.
func (b *bots) run(ctx context.Context) {
	_ = drive.Loop{Step: b.length, Tick: b.tick}.Run(ctx) // it ends with the context
	for _, x := range b.list {
		if x.client != nil {
			_ = x.client.Close()
		}
	}
}

func (b *bots) tick(now time.Duration) error {
	for i := range b.list {
		x := &b.list[i]
		switch {
		case x.client == nil && now >= x.again:
			x.again = now + time.Second
			if c, err := b.join(i); err == nil {
				x.client = c
			}
		case x.client != nil && x.client.Frame(now, x.command).Ended:
			_ = x.client.Close()
			x.client, x.again = nil, now+time.Second
		}
	}
	return nil
}
