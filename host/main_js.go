package host

import (
	"context"
	"fmt"
	"syscall/js"
	"time"

	"github.com/coeval-dev/coeval/game"
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
		fail(err)
	}
	select {} // what the page calls goes on
}

func (p *Program) main() error {
	if err := p.check(); err != nil {
		return err
	}
	config := js.Global().Get("coevalConfig")
	text := func(name string) string {
		if v := config.Get(name); v.Type() == js.TypeString {
			return v.String()
		}
		return ""
	}
	var way way
	first, t, strategy := p.first(&way)
	if !t.Screen.Drawn() {
		return fmt.Errorf("%s cannot be shown here: its title has no Screen to draw with", t.Name())
	}
	style, _ := predict.ParseStyle(text("style")) // the first, if there is none of that name
	s := client.NewSession(client.SessionOptions{
		Options: client.Options{Title: t, Strategy: strategy, Style: style, Name: text("name")},
		Join: func(ctx context.Context) (client.Entry, error) {
			e, _, err := way.join(ctx)
			return e, err
		},
	})
	s.Enter(first)
	page := &page{title: t, session: s, way: &way, begin: time.Now()}
	if config.Get("autopilot").Truthy() {
		page.bot = t.NewBot(uint64(time.Now().UnixNano()))
	} else if t.Control != nil {
		page.control = t.Control()
	}
	page.open()
	return nil
}

// first looks for a server until there is one, and says what it plays.
func (p *Program) first(w *way) (client.Entry, *game.Title, replica.Strategy) {
	wait := time.Second
	for {
		e, a, err := w.join(context.Background())
		var t *game.Title
		if err == nil {
			t, err = p.playedBy(a.game)
		}
		var strategy replica.Strategy
		if err == nil && a.strategy != "" {
			strategy, err = replica.ParseStrategy(a.strategy)
		}
		if err == nil {
			return e, t, strategy
		}
		if e.Link != nil {
			_ = e.Link.Close() // it is of no use
		}
		fail(fmt.Errorf("%w; trying again", err))
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
		return nil, fmt.Errorf("the server plays %s, and this page does not have it: reload it", name)
	}
	return t, nil
}

// fail lets the page say what is wrong.
func fail(err error) {
	js.Global().Get("document").Call("getElementById", "step").Set("textContent", err.Error())
	js.Global().Get("console").Call("error", err.Error())
}

// A page plays one title, as its browser draws frames.
type page struct {
	title   *game.Title
	session *client.Session
	way     *way
	begin   time.Time
	keys    game.Keys
	control game.Control // nil where there is nothing to control, or a bot plays
	bot     game.Bot     // in place of a person

	picture picture
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
	p.columns, p.rows = 80, 24
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
	global.Set("coeval", map[string]any{
		"stats": js.FuncOf(func(js.Value, []js.Value) any { return p.stats() }),
		"set": js.FuncOf(func(_ js.Value, args []js.Value) any {
			if len(args) == 2 {
				p.set(args[0].String(), args[1].String())
			}
			return nil
		}),
	})
}

// key finds what a key of the keyboard means, or nil.
func (p *page) key(code string) *bool {
	switch code {
	case "ArrowUp", "KeyW":
		return &p.keys.Up
	case "ArrowDown", "KeyS":
		return &p.keys.Down
	case "ArrowLeft", "KeyA":
		return &p.keys.Left
	case "ArrowRight", "KeyD":
		return &p.keys.Right
	case "Space":
		return &p.keys.Fire
	}
	return nil
}

// command is asked for each tick.
func (p *page) command(t world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
	switch {
	case p.bot != nil:
		_ = p.bot(shown, me, t, in) // its commands are of the game's type
	case p.control != nil:
		_ = p.control(p.keys, me, in) // the same
	}
}

// frame plays and draws.
func (p *page) frame() {
	p.drawn = time.Now()
	p.view = p.session.Frame(time.Since(p.begin), p.command)
	v := &p.view
	if v.World == nil && !p.ready {
		js.Global().Get("document").Call("getElementById", "step").Set("textContent", v.Status)
		return
	}
	p.frames++
	if v.World != nil {
		p.picture.draw(p.title, v.World, v.Me, p.columns, p.rows-1)
	}
	p.text = p.text[:0]
	for i := range len(p.picture.cells) / max(p.picture.wide, 1) {
		p.text = append(append(p.text, string(p.picture.row(i))...), '\n')
	}
	p.text = append(p.text, p.line()...)
	size := js.Global().Call("coevalDraw", string(p.text), p.picture.wide, p.rows).Int()
	p.columns, p.rows = max(size>>16, 8), max(size&0xffff, 4)
	if !p.ready {
		p.ready = true
		js.Global().Call("coevalReady")
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
	n := p.session.Numbers()
	out := map[string]any{
		"frames": p.frames, "status": p.view.Status, "playing": p.session.Playing(),
		"style":     p.session.Style().String(),
		"roundTrip": n.RoundTrip.Seconds() * 1000, "jitter": n.Jitter.Seconds() * 1000,
		"lossIn": n.LossIn, "lossOut": n.LossOut,
		"ahead": n.Ahead, "behind": n.Behind, "early": float64(n.Early) / 4,
		"snapshots": int(n.Snapshots), "snapshotBytes": int(n.SnapshotBytes),
		"received": int(n.Received), "sent": int(n.Sent),
		"corrections": int(n.Corrections), "corrected": n.Corrected, "own": n.Own,
		"repredictions": n.Repredictions, "returns": int(n.Returns),
		"worlds": int(n.Worlds), "moves": int(n.Moves),
		"moving": p.session.Moving(), "retracted": int(n.Retracted), "undone": "an event",
		"player": int(p.view.Me), "text": string(p.text),
	}
	if p.view.World != nil {
		out["tick"] = int(p.view.World.Tick())
	}
	if at := p.session.Server(); at.IsValid() {
		out["server"] = at.String()
	}
	p.way.stats(out)
	return out
}
