package host

import (
	"context"
	"fmt"
	"syscall/js"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/picture"
	"github.com/coeval-dev/coeval/host/internal/titles"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// A Command is nothing in the browser, where there is no command line.
type Command func(p *Program)

// Main plays what the page joins. The page sets coevalConfig, offers coevalJoin, and draws by
// coevalDraw; see web/assets/play.js.
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
	page := &page{title: t, session: s, begin: time.Now(), columns: 80, rows: 24}
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
	begin   time.Time
	keys    game.Keys
	control game.Control // nil where there is nothing to control, or a bot plays
	bot     game.Bot     // in place of a person

	picture picture.Picture
	text    []byte
	columns int
	rows    int
	frames  int
	drawn   time.Time // when the last frame was
	ready   bool
	view    client.View
}

// open has the browser call for frames, keys and numbers.
func (p *page) open() {
	global := js.Global()
	var frame js.Func
	frame = js.FuncOf(func(js.Value, []js.Value) any {
		p.frame()
		global.Call("requestAnimationFrame", frame)
		return nil
	})
	global.Call("requestAnimationFrame", frame)
	// A page that is not to be seen draws no frames, but keeps its connection.
	global.Call("setInterval", js.FuncOf(func(js.Value, []js.Value) any {
		if time.Since(p.drawn) > 150*time.Millisecond {
			p.view = p.session.Frame(time.Since(p.begin), p.command)
		}
		return nil
	}), 200)
	for name, down := range map[string]bool{"keydown": true, "keyup": false} {
		global.Call("addEventListener", name, js.FuncOf(func(_ js.Value, args []js.Value) any {
			if k := p.key(args[0].Get("code").String()); k != nil {
				*k = down
				args[0].Call("preventDefault")
			}
			return nil
		}))
	}
	global.Call("addEventListener", "blur", js.FuncOf(func(js.Value, []js.Value) any {
		p.keys = game.Keys{}
		return nil
	}))
}

// key finds what a key of the keyboard means, or nil.
func (p *page) key(code string) *bool {
	return map[string]*bool{
		"ArrowUp": &p.keys.Up, "KeyW": &p.keys.Up, "ArrowDown": &p.keys.Down, "KeyS": &p.keys.Down,
		"ArrowLeft": &p.keys.Left, "KeyA": &p.keys.Left,
		"ArrowRight": &p.keys.Right, "KeyD": &p.keys.Right, "Space": &p.keys.Fire,
	}[code]
}

// command is asked for each tick.
func (p *page) command(t world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
	switch {
	case p.bot != nil:
		_ = p.bot(shown, me, t, in) // its commands are of the game's type
	case p.control != nil:
		_ = p.control(&game.Input{Keys: p.keys}, me, in) // the same
	}
}

// frame plays and draws.
func (p *page) frame() {
	p.drawn = time.Now()
	p.view = p.session.Frame(time.Since(p.begin), p.command)
	v := &p.view
	if v.World == nil && !p.ready {
		entry.Say(v.Status)
		return
	}
	p.frames++
	if v.World != nil {
		p.picture.Draw(p.title, &game.Frame{World: v.World, Me: v.Me}, p.columns, p.rows-1)
	}
	p.text = p.text[:0]
	for row := range p.picture.Rows {
		p.text = append(append(p.text, string(row)...), '\n')
	}
	p.text = append(p.text, p.line()...)
	size := js.Global().Call("coevalDraw", string(p.text), p.picture.Wide(), p.rows).Int()
	p.columns, p.rows = max(size>>16, 8), max(size&0xffff, 4)
	if !p.ready {
		p.ready = true
		entry.Ready()
	}
}

// line says how it goes.
func (p *page) line() string {
	v := &p.view
	if v.Status != "" {
		return v.Status
	}
	who := "watching"
	if v.Me != world.Nobody {
		who = fmt.Sprint("player ", v.Me)
	}
	n := p.session.Numbers()
	return fmt.Sprintf("%s  %s  tick %d  round trip %.0f ms",
		p.title.Name(), who, v.World.Tick(), n.RoundTrip.Seconds()*1000)
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
		"player": int(p.view.Me), "text": string(p.text),
	}
	entry.Stats(out, p.session)
	if p.view.World != nil {
		out["tick"] = int(p.view.World.Tick())
	}
	return out
}
