//go:build desktop && !js

// Command play is the arena in the browser, or in a window of its own.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/coeval-dev/coeval/games/arena/client"
	"github.com/coeval-dev/coeval/games/arena/client/session"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/window"
	"github.com/coeval-dev/coeval/predict"
)

func main() {
	server := flag.String("server", "",
		"where the server answers over HTTP, such as localhost:8080 for a demo or localhost:4000 "+
			"for coeval serve arena; without it, practice against bots")
	name := flag.String("name", os.Getenv("USER"), "what others read")
	style := flag.String("style", "doom3", "prediction: doom3, quake3 or halflife")
	level := flag.String("map", "", "map to practise on")
	mute := flag.Bool("mute", false, "no sound")
	flag.Parse()
	if err := run(*server, *name, *style, *level, *mute); err != nil {
		fmt.Fprintln(os.Stderr, "arena:", err)
		os.Exit(1)
	}
}

func run(server, name, style, level string, mute bool) error {
	s, err := predict.ParseStyle(style)
	if err != nil {
		return err
	}
	o := client.Options{
		Mute: mute, Practice: session.PracticeOptions{
			Map: level, Bots: 7, Seed: uint64(time.Now().UnixNano())}}
	if server != "" {
		base, err := entry.Base(server, "")
		if err != nil {
			return fmt.Errorf("--server: %w", err)
		}
		o.Network = session.New(session.Options{
			Join: func(ctx context.Context) (session.Entry, error) {
				return window.Join(ctx, base)
			},
			Name: name, Style: s})
		defer o.Network.Leave()
	}
	app, err := client.New(o)
	if err != nil {
		return err
	}
	return window.Open(window.Options{
		Title: "coeval arena", Mute: mute, HideCursor: true,
		Say: func(line string) { app.Set("say", line) },
	}, func(s *window.Screen) {
		app.Frame(&s.Surface, s, client.Moment{
			Width: s.Width, Height: s.Height, Fingers: s.Touched})
	})
}
