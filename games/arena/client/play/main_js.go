// Command play is the arena in the browser, or in a window of its own.
package main

import (
	"context"
	"time"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/coeval-dev/coeval/games/arena/client"
	"github.com/coeval-dev/coeval/games/arena/client/session"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/predict"
)

func main() {
	var page entry.Page
	o := client.Options{
		Mute: entry.Configured("mute"), Frugal: entry.Configured("frugal"),
		Fine: entry.Configured("fine"), Autopilot: entry.Configured("autopilot"),
		Ready: entry.Ready,
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
		return
	}
	page.Export(app.Stats, app.Set)
	go idle(app)
	ebiten.SetRunnableOnUnfocused(true)
	ebiten.SetTPS(ebiten.SyncWithFPS)
	ebiten.SetCursorMode(ebiten.CursorModeHidden)
	if err := ebiten.RunGame(app); err != nil {
		entry.Fail(err)
	}
}

// idle keeps the connection while the page is not to be seen: the browser then draws no frames.
func idle(app *client.App) {
	for {
		time.Sleep(200 * time.Millisecond)
		app.Idle()
	}
}
