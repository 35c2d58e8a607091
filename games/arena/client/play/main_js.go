// Command play is the arena in the browser, or in a window of its own.
package main

import (
	"context"
	"time"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client"
	"github.com/coeval-dev/coeval/games/arena/client/session"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/predict"
)

func main() {
	var page entry.Page
	o := client.Options{
		Mute: entry.Configured("mute"), Autopilot: entry.Configured("autopilot"),
		Ready: entry.Ready, Sent: entry.Sent,
	}
	if entry.Configured("practice") {
		seed := uint64(time.Now().UnixNano())
		o.Practice = session.PracticeOptions{Map: entry.Config("map"), Bots: 7, Seed: seed}
	} else {
		style, _ := predict.ParseStyle(entry.Config("style")) // the first, if none has that name
		o.Network = session.New(session.Options{
			Name: entry.Config("name"), Style: style,
			Join: func(ctx context.Context) (session.Entry, error) {
				e, _, err := page.Join(ctx)
				return e, err
			},
		})
	}
	app, err := client.New(o)
	if err != nil {
		entry.Fail(err)
		select {} // the page shows why, and a program that ended would have it say something else
	}
	entry.Furnish()
	screen := entry.OpenScreen(nil, func(s *entry.Screen) {
		app.Frame(&s.Surface, s, client.Moment{
			Width: s.Width, Height: s.Height, Fingers: s.Touched})
	})
	screen.HideCursor()
	if o.Network != nil {
		entry.OfferUploads(arena.Title.Uploads, app)
	}
	page.Export(func() map[string]any {
		out := app.Stats()
		screen.Tell(out)
		return out
	}, app.Set)
	for { // A page that is not to be seen draws no frames, but keeps its connection.
		time.Sleep(200 * time.Millisecond)
		app.Idle()
	}
}
