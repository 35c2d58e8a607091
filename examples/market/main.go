//go:build !js

// Command market has two players trade on a server, and stops it; on the next server they have what
// they had. What is kept is declared beside the class, in rules.go. The store here is memory; a
// program that imports service/store/use names a database.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/world"
)

func main() {
	store := new(kept.Memory)
	for match := 1; match <= 2; match++ {
		if err := play(store, match); err != nil {
			log.Fatal(err)
		}
	}
}

// play has Ann and Bob meet on a new server, until Bob has two apples more.
func play(store kept.Store, match int) error {
	key, err := token.NewKey(rand.Reader)
	if err != nil {
		return err
	}
	server, err := host.NewServer(title, host.ServeOptions{
		Listen: "127.0.0.1:0", HTTP: "none", Keys: []token.Key{key},
		Keep: host.KeepOptions{Store: store}})
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	ended := make(chan error, 2)
	go func() { ended <- server.Run(ctx) }()
	go func() { ended <- join(ctx, server.Addr().String(), key, 1, "ann", buyer(0)) }()
	want := 5 + 2*match
	bob := watched(buyer(want), want, match, stop)
	if err := join(ctx, server.Addr().String(), key, 2, "bob", bob); err != nil {
		return err
	}
	for range 2 {
		if err := <-ended; err != nil {
			return err
		}
	}
	return server.Close() // what was played last is written
}

// join plays as somebody by a token, as the game's backend issues them.
func join(ctx context.Context, at string, key token.Key, client uint64, name string,
	bot game.Bot) error {
	t, err := token.Issue(key, token.Grant{Protocol: token.ProtocolID(title.Name()),
		Client: client, UserData: []byte(name), Expires: time.Now().Unix() + 60}, rand.Reader)
	if err != nil {
		return err
	}
	_, err = host.Join(ctx, title, host.JoinOptions{Servers: []string{at}, Token: t.Text(),
		Name: name, Bot: func(*game.Title) game.Bot { return bot }})
	if ctx.Err() == context.Canceled {
		return nil // the match is over
	}
	return err
}

// watched is a bot that says what it begins and ends with, and then ends the match.
func watched(bot game.Bot, apples, match int, stop func()) game.Bot {
	begun, ended := false, false
	return func(w *world.World, me world.Player, t world.Tick, in *world.Inputs) error {
		if _, mine := world.Owned[Trader](w, me); mine != nil && mine.Ready {
			if !begun {
				fmt.Printf("match %d: bob comes with %d apples and %d gold\n", match, mine.Apples,
					mine.Gold)
			}
			if begun = true; mine.Apples == apples && !ended {
				ended = true
				fmt.Printf("match %d: bob has %d apples and %d gold\n", match, mine.Apples,
					mine.Gold)
				stop()
			}
		}
		return bot(w, me, t, in)
	}
}
