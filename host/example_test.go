package host_test

import (
	"context"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host"
)

// A program made from a title is one call. It has every command.
func ExampleMain() {
	host.Main(pong.Title)
}

// A server that runs until it is told to stop: sockets, tokens, HTTP and metrics in one call.
func ExampleServe() {
	ctx, stop := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer stop()
	err := host.Serve(ctx, pong.Title, host.ServeOptions{Listen: "127.0.0.1:0"})
	fmt.Println(err)
	// Output: <nil>
}

// A server and a player, both in this program: a bot joins over the network, and plays for a while.
func ExampleJoin() {
	server, err := host.NewServer(pong.Title, host.ServeOptions{Listen: "127.0.0.1:0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- server.Run(ctx) }()

	joined, err := host.Join(ctx, pong.Title, host.JoinOptions{
		Servers: []string{server.HTTP()}, Name: "ada",
		Bot: func(t *game.Title) game.Bot { return t.NewBot(1) }, For: time.Second / 4,
	})
	if err != nil {
		fmt.Println(err)
	} else {
		fmt.Println(joined.Game, "as player", joined.Player, "with", joined.Entities,
			"things in view")
	}
	stop()
	fmt.Println(<-ended, server.Close())
	// Output:
	// pong as player 1 with 3 things in view
	// <nil> <nil>
}
