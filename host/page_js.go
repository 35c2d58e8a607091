package host

import (
	"context"
	"fmt"
	"syscall/js"
	"time"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/titles"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// A Command is nothing in the browser, where there is no command line.
type Command func(p *Program)

// Main plays what the page joins. The page sets coevalConfig, offers coevalJoin, and draws by
// coevalScreen; see web/assets/play.js.
func (p Program) Main() {
	if err := p.main(); err != nil {
		entry.Fail(err)
	}
	select {} // what the page calls goes on
}

func (p *Program) main() error {
	if err := titles.List(p.Titles).Check(); err != nil {
		return err
	}
	var way entry.Page
	first, t, strategy := p.first(&way)
	if !t.Screen.Drawn() {
		return fmt.Errorf("%s cannot be shown here: its title has no Screen to draw with", t.Name())
	}
	style, _ := predict.ParseStyle(entry.Config("style")) // the first, if none has that name
	s := client.NewSession(client.SessionOptions{
		Options: client.Options{
			Title: t, Strategy: strategy, Style: style, Name: entry.Config("name"),
		},
		Join: func(ctx context.Context) (client.Entry, error) {
			e, _, err := way.Join(ctx)
			return e, err
		},
	})
	s.Enter(first)
	page := &page{title: t, session: s, begin: time.Now()}
	if entry.Configured("autopilot") {
		page.bot = t.NewBot(uint64(time.Now().UnixNano()))
	} else if t.Control != nil {
		page.control = t.Control()
	}
	page.open()
	way.Export(page.stats, page.set)
	return nil
}

// first looks for a server until there is one, and says what it plays.
func (p *Program) first(way *entry.Page) (client.Entry, *game.Title, replica.Strategy) {
	wait := time.Second
	for {
		e, a, err := way.Join(context.Background())
		var t *game.Title
		if err == nil {
			t, err = p.playedBy(a.Game)
		}
		var strategy replica.Strategy
		if err == nil {
			strategy, err = a.Snapshots()
		}
		if err == nil {
			return e, t, strategy
		}
		if e.Link != nil {
			_ = e.Link.Close() // it is of no use
		}
		entry.Fail(fmt.Errorf("%w; trying again", err))
		time.Sleep(wait)
		wait = min(2*wait, 8*time.Second)
	}
}

// playedBy finds the title that a server plays.
func (p *Program) playedBy(name string) (*game.Title, error) {
	if name == "" {
		return p.Titles[0], nil
	}
	t, err := p.Title(name)
	if err != nil {
		return nil, fmt.Errorf("the server plays %s, and this page does not have it: reload it",
			name)
	}
	return t, nil
}

// A page plays one title, as its browser draws frames.
type page struct {
	title   *game.Title
	session *client.Session
	screen  *entry.Screen
	draw    func(*draw.Surface, *game.Frame)
	control game.Control // nil where there is nothing to control
	bot     game.Bot     // in place of a person

	begin  time.Time
	drawn  time.Time // when the last frame was
	frames int
	ready  bool
	view   client.View
	shown  game.Frame
}

// open has the browser call for frames.
func (p *page) open() {
	p.draw = p.title.Screen.Drawer()
	p.screen = entry.OpenScreen(p.title.Screen.Assets, func(*entry.Screen) { p.frame() })
	// A page that is not to be seen draws no frames, but keeps its connection.
	js.Global().Call("setInterval", js.FuncOf(func(js.Value, []js.Value) any {
		if time.Since(p.drawn) > 150*time.Millisecond {
			p.view = p.session.Frame(time.Since(p.begin), p.command)
		}
		return nil
	}), 200)
}

// command is asked for each tick.
func (p *page) command(t world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
	switch {
	case p.bot != nil:
		_ = p.bot(shown, me, t, in) // its commands are of the game's type
	case p.control != nil:
		_ = p.control(p.screen.Input(), me, in) // the same
		p.screen.Given()
	}
}

// frame plays and draws.
func (p *page) frame() {
	now := time.Now()
	passed := now.Sub(p.drawn).Seconds()
	if p.drawn.IsZero() {
		passed = 0
	}
	p.drawn = now
	p.view = p.session.Frame(now.Sub(p.begin), p.command)
	v := &p.view
	if v.World == nil && !p.ready {
		entry.Say(v.Status)
		return
	}
	p.frames++
	s := &p.screen.Surface
	if v.World != nil {
		p.shown = game.Frame{
			World: v.World, Me: v.Me, Time: now.Sub(p.begin).Seconds(), Seconds: passed,
			Lead: v.Lead, Others: v.Others, Fresh: v.Fresh,
		}
		p.draw(s, &p.shown)
	}
	if !p.ready {
		p.ready = true
		entry.Ready()
	}
}

// set changes what the panel asks for.
func (p *page) set(name, value string) {
	switch name {
	case "style":
		if s, err := predict.ParseStyle(value); err == nil {
			p.session.SetStyle(s)
		}
	case "name":
		p.session.SetName(value)
	case "leave":
		p.session.Leave()
	}
}

// stats is what the panel shows.
func (p *page) stats() map[string]any {
	out := map[string]any{
		"frames": p.frames, "status": p.view.Status, "undone": "an event",
		"player": int(p.view.Me), "rate": 1000 / max(1, p.screen.Interval),
		"work": p.screen.Program + p.screen.Replay, "program": p.screen.Program,
		"replay": p.screen.Replay, "ratio": p.screen.Ratio,
	}
	entry.Stats(out, p.session)
	if p.view.World != nil {
		out["tick"] = int(p.view.World.Tick())
	}
	return out
}
