package client

import (
	"fmt"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/predict"
)

// What is around the game, such as a page with a panel or a test, sees and changes it by these.

// Stats tells how the game goes, by the names that the page's panel knows.
func (a *App) Stats() map[string]any {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := map[string]any{
		"frames": int(a.frames), "fps": a.pace.rate(),
		"status": a.view.Status,
		"graph":  a.showNet, "ghosts": a.showGhosts,
		"blind": a.blind.On(), "asking": a.blind.Asking(), "score": a.blind.Summary(),
		"answerFrames": a.answer.Frames, "answerTicks": a.answer.Ticks, "answers": a.answer.Count,
		"rests": a.answer.Ready(),
	}
	if a.view.World != nil {
		a.tellGame(out)
	}
	if a.net != nil {
		out["undone"] = a.undone
		entry.Stats(out, a.net)
	} else {
		out["playing"], out["practice"] = a.view.World != nil, true
	}
	return out
}

// tellGame tells of the match.
func (a *App) tellGame(out map[string]any) {
	out["tick"], out["player"] = int(a.view.World.Tick()), int(a.view.Me)
	out["bodies"] = len(a.scene.Bodies)
	a.tellSights(out)
	if a.scene.Map != nil {
		out["map"] = a.scene.Map.Name
	}
	if f := a.view.Fighter(); f != nil {
		out["x"], out["y"], out["health"] = f.Pos.X, f.Pos.Y, f.Health
		out["weapon"], out["rockets"] = f.Weapon.String(), f.Rockets
	}
	a.rows = a.scene.Board(a.view.World, a.rows[:0])
	for i, r := range a.rows {
		if r.Mine {
			out["kills"], out["deaths"], out["rank"], out["name"] = r.Kills, r.Deaths, i+1, r.Name
		}
	}
	text := ""
	for i := range a.scene.Feed.Lines {
		text += a.scene.Feed.Lines[i].Who + ": " + a.scene.Feed.Lines[i].Text + "\n"
	}
	out["chat"] = text
}

// tellSights lists the other players that are to be seen now, and where on the page each is.
func (a *App) tellSights(out map[string]any) {
	names, places := "", ""
	l := &a.painter.lens
	unit := a.moment.Width / max(1, l.w) // pixels of the page
	for i := range a.scene.Bodies {
		b := &a.scene.Bodies[i]
		if !b.Mine && a.scene.Map != nil && a.scene.Geometry.Clear(a.scene.Eye, b.Pos) {
			x, y := l.at(b.Pos)
			names += b.Name + "\n"
			places += fmt.Sprintf("%d %d %s\n", int(x*unit), int(y*unit), b.Name)
		}
	}
	out["sights"], out["places"] = names, places
}

// Set changes something by name: "style", "name", "say", "leave", "autopilot" ("on" or not), or
// turns on and off "graph", "ghosts", "blind", "mute" (or as "on" and "off" say), "board", "help".
func (a *App) Set(name, value string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch name {
	case "style":
		if s, err := predict.ParseStyle(value); err == nil {
			a.setStyle(s)
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
		a.muted = value == "on" || value == "" && !a.muted
	case "board":
		a.boards = !a.boards
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
	a.net.Frame(now,
		func(*arena.Fighter) arena.Command { return a.pilot.Command(&scene.Controls{}, nil) })
	a.sent()
}

// sent says what became of data that was sent.
func (a *App) sent() {
	if a.net != nil && a.o.Sent != nil {
		a.o.Sent(a.net.Sent())
	}
}

// Upload sends data to the server; see client.Session.Upload.
func (a *App) Upload(name string, data []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.net.Upload(name, data)
}

// Uploading is how far that has come.
func (a *App) Uploading() (name string, arrived, size int, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.net.Uploading()
}
