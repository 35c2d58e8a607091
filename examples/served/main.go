//go:build !js

// Command served is a server and three players in one program, over real sockets on this machine:
// UDP, tokens, encryption. A program for players elsewhere calls host.Serve and host.Join in two.
package main

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host"
)

func main() {
	server, err := host.NewServer(pong.Title, host.ServeOptions{Listen: "127.0.0.1:0"})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()

	var playing sync.WaitGroup
	for i := range uint64(3) {
		playing.Go(func() {
			joined, err := host.Join(ctx, pong.Title, host.JoinOptions{
				// the server is open: it gives a token to who asks
				Servers: []string{server.HTTP()},
				Name:    fmt.Sprint("bot ", i+1),
				Bot:     func(t *game.Title) game.Bot { return t.NewBot(i + 1) },
				For:     time.Second / 2,
			})
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("player %d saw %d things of %s\n", joined.Player, joined.Entities,
				joined.Game)
		})
	}
	playing.Wait()
	stop()
	if err := <-ended; err != nil {
		log.Fatal(err)
	}
	if err := server.Close(); err != nil {
		log.Fatal(err)
	}
}
