//go:build (js && wasm) || desktop

package client

import (
	"strconv"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
	"github.com/coeval-dev/coeval/predict"
)

// What is around the game, such as a page with a panel or a test, sees and changes it by these.

// Stats tells how the game goes, by name: numbers, texts and whether things are on. The names are those that the page's panel knows.
func (a *App) Stats(tell func(name string, v any)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	tell("frames", int(a.frames))
	tell("fps", a.pace.rate())
	tell("share", a.pace.share)
	tell("status", a.view.Status)
	tell("graph", a.showNet)
	tell("ghosts", a.showGhosts)
	tell("blind", a.blind.On())
	tell("asking", a.blind.Asking())
	tell("score", a.blind.Summary())
	tell("answerFrames", a.answer.Frames)
	tell("answerTicks", a.answer.Ticks)
	tell("answers", a.answer.Count)
	if a.view.World != nil {
		a.tellGame(tell)
	}
	if a.net == nil {
		return
	}
	n := a.net.Numbers()
	tell("playing", a.net.Playing())
	tell("style", a.net.Style().String())
	tell("roundTrip", n.RoundTrip.Seconds()*1000)
	tell("jitter", n.Jitter.Seconds()*1000)
	tell("lossIn", n.LossIn)
	tell("lossOut", n.LossOut)
	tell("ahead", n.Ahead)
	tell("behind", n.Behind)
	tell("early", float64(n.Early)/4)
	tell("snapshots", int(n.Snapshots))
	tell("snapshotBytes", int(n.SnapshotBytes))
	tell("received", int(n.Received))
	tell("sent", int(n.Sent))
	tell("corrections", int(n.Corrections))
	tell("corrected", n.Corrected)
	tell("own", n.Own)
	tell("repredictions", n.Repredictions)
	tell("returns", int(n.Returns))
	tell("worlds", int(n.Worlds))
	tell("moves", int(n.Moves))
	tell("moving", a.net.Moving())
	tell("retracted", int(n.Retracted))
	tell("undone", a.undone)
	if at := a.net.Server(); at.IsValid() {
		tell("server", at.String())
	}
	tell("bad", int(n.Bad))
}

// tellGame tells of the match.
func (a *App) tellGame(tell func(name string, v any)) {
	tell("tick", int(a.view.World.Tick()))
	tell("player", int(a.view.Me))
	tell("bodies", len(a.stage.Bodies))
	a.tellSights(tell)
	if a.stage.Map != nil {
		tell("map", a.stage.Map.Name)
	}
	if f := fighter(&a.view); f != nil {
		tell("x", f.Pos.X)
		tell("y", f.Pos.Y)
		tell("health", f.Health)
		tell("weapon", f.Weapon.String())
		tell("rockets", f.Rockets)
	}
	a.rows = a.stage.Board(a.view.World, a.rows[:0])
	for i := range a.rows {
		if a.rows[i].Mine {
			tell("kills", a.rows[i].Kills)
			tell("deaths", a.rows[i].Deaths)
			tell("rank", i+1)
			tell("name", a.rows[i].Name)
		}
	}
	text := ""
	for i := range a.stage.Feed.Lines {
		text += a.stage.Feed.Lines[i].Who + ": " + a.stage.Feed.Lines[i].Text + "\n"
	}
	tell("chat", text)
}

// tellSights lists the other players that are to be seen now, and where on the page each is.
func (a *App) tellSights(tell func(name string, v any)) {
	names, places := "", ""
	for i := range a.stage.Bodies {
		if b := &a.stage.Bodies[i]; !b.Mine && a.stage.Map != nil && a.stage.Scene.Clear(a.stage.Eye, b.Pos) {
			x, y := a.lens.at(b.Pos)
			names += b.Name + "\n"
			places += strconv.Itoa(int(x/a.density)) + " " + strconv.Itoa(int(y/a.density)) + " " + b.Name + "\n"
		}
	}
	tell("sights", names)
	tell("places", places)
}

// Set changes something by name: "style", "name", "say", "leave", "autopilot" ("on" or not), or turns on and off "graph", "ghosts", "blind", "mute" (or as "on" and "off" say), "help".
func (a *App) Set(name, value string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch name {
	case "style":
		if s, err := predict.ParseStyle(value); err == nil {
			a.SetStyle(s)
		}
	case "name":
		if a.net != nil {
			a.net.SetName(value)
		} else {
			a.pilot.Name(value)
		}
	case "say":
		a.pilot.Say(value)
	case "autopilot":
		a.setAutopilot(value == "on")
	case "graph":
		a.showNet = !a.showNet
	case "ghosts":
		a.showGhosts = !a.showGhosts
	case "blind":
		a.toggleBlind()
	case "mute":
		a.SetMuted(value == "on" || value == "" && !a.muted)
	case "help":
		a.help = !a.help
	case "leave":
		if a.net != nil {
			a.net.Leave()
		}
	}
}

// Idle keeps the connection alive when no frames are drawn. It may be called from any goroutine.
func (a *App) Idle() {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.since()
	if now-a.before < idleAfter || a.net == nil {
		return
	}
	a.net.Frame(now, func(*arena.Fighter) arena.Command { return a.pilot.Command(&scene.Controls{}, nil) })
}
