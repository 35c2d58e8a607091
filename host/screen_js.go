package host

import (
	"fmt"
	"runtime/debug"
	"strings"
	"syscall/js"
	"time"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/hud"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// A session is what a page plays: a game on a server, or a match at a relay.
type session interface {
	hud.Session
	Frame(now time.Duration, command client.Command) client.View
	Leave()
	Close()

	// keys are the page's own keys, by what they set, besides those that every page has.
	keys() []pageKey
	// hands does what else is due in a frame before the game goes on.
	hands(p *page)
	// status is what the player is told who waits, by what the session says of itself.
	status(said string, passed float64) string
	// line is what is said at the top, or nothing.
	line() string
	// set changes something by its name, and tell adds to what the panel shows.
	set(p *page, name, value string)
	tell(p *page, out map[string]any)
}

// A pageKey is a key that sets something, to a value or to the next one.
type pageKey struct {
	key         game.Key
	name, value string
}

// A page plays one title, as its browser draws frames.
type page struct {
	title   *game.Title
	session session
	screen  *entry.Screen
	draw    func(*draw.Surface, *game.Frame)
	control game.Control // nil where there is nothing to control
	bot     game.Bot     // in place of a person, or nil
	hud     hud.HUD

	begin  time.Time
	drawn  time.Time // when the last frame was
	played time.Time // when something came that was taken in without one
	frames int
	ready  bool
	boards bool // the board stays, for who has no key to hold
	view   client.View
	frame  game.Frame
	failed string // why the game itself has stopped
	told   string // what the page said last, before there was something to see
}

func newPage(t *game.Title, s session) *page {
	p := &page{title: t, session: s, begin: time.Now(), draw: t.Screen.Drawer()}
	p.hud.Title = t
	p.hud.Blind.Seed(uint64(p.begin.UnixNano()))
	if t.Control != nil {
		p.control = t.Control()
	}
	p.frame.Names = func(x world.Player) string { return p.session.NameOf(x) }
	return p
}

// open has the browser call for frames. Without are the page's buttons that it has no use for.
func (p *page) open(without ...string) {
	if p.title.Screen.Scores == nil {
		without = append(without, "board")
	}
	entry.Furnish(without...)
	p.screen = entry.OpenScreen(p.title.Screen.Assets, func(*entry.Screen) { p.safely(p.play) })
	p.screen.Fingers(p.title.Screen.Touch)
	// A page that is not to be seen draws no frames, but keeps its connection.
	js.Global().Call("setInterval", js.FuncOf(func(js.Value, []js.Value) any {
		p.unseen()
		return nil
	}), 200)
}

// unseen plays while no frames are drawn.
func (p *page) unseen() {
	if time.Since(p.drawn) > 150*time.Millisecond && p.failed == "" {
		p.safely(func() {
			p.view = p.session.Frame(time.Since(p.begin), p.command)
			entry.Sent(p.view.Uploads)
			p.hud.Hear(p.now(), p.view.Words)
		})
	}
}

func (p *page) now() float64 { return time.Since(p.begin).Seconds() }

// safely does something in which the author's code runs. Where that panics the player is told, the
// author finds the rest in the console, and the server hears that the player has gone.
func (p *page) safely(f func()) {
	defer func() {
		if v := recover(); v != nil && p.failed == "" {
			p.fail(v, debug.Stack())
		}
	}()
	f()
}

func (p *page) fail(v any, stack []byte) {
	first, _, _ := strings.Cut(fmt.Sprint(v), "\n")
	p.failed = fmt.Sprintf("%s panicked: %s", p.title.Name(), first)
	js.Global().Get("console").Call("error", fmt.Sprintf("%s panicked: %v\n\n%s", p.title.Name(),
		v, stack))
	p.bot, p.control = nil, nil
	p.session.set(p, "panicked", "")
	p.stopped()
}

// farewell goes on until the server knows that the player has gone.
func (p *page) farewell() {
	defer func() {
		if recover() != nil {
			p.session.Close() // at least no more is sent
		}
	}()
	p.session.Frame(time.Since(p.begin), nil)
}

// stopped shows that the game itself has stopped.
func (p *page) stopped() {
	p.screen.Surface.Begin(p.screen.Width, p.screen.Height)
	p.hud.Draw(&p.screen.Surface,
		&hud.Moment{Failed: p.failed, View: &p.view, Width: p.screen.Width})
	p.show()
}

// show has the page show what is drawn, in place of how far it is.
func (p *page) show() {
	if !p.ready {
		p.ready = true
		entry.Ready()
	}
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

// play plays and draws a frame.
func (p *page) play() {
	if p.failed != "" {
		p.farewell()
		p.stopped()
		return
	}
	now := time.Now()
	passed := 0.0
	if !p.drawn.IsZero() {
		passed = now.Sub(p.drawn).Seconds()
	}
	p.drawn = now
	p.hands()
	p.view = p.session.Frame(now.Sub(p.begin), p.command)
	entry.Sent(p.view.Uploads)
	v := &p.view
	v.Status = p.session.status(v.Status, passed)
	p.hud.Hear(p.now(), v.Words)
	if v.World == nil && !p.ready {
		if p.told != v.Status {
			p.told = v.Status
			entry.Say(v.Status)
		}
		return
	}
	p.frames++
	s := &p.screen.Surface
	if v.World != nil {
		f := &p.frame
		f.World, f.Me, f.Time, f.Seconds = v.World, v.Me, p.now(), passed
		f.Lead, f.Others, f.Fresh = v.Lead, v.Others, v.Fresh
		p.draw(s, f)
	}
	p.hud.Draw(s, &hud.Moment{
		Now: p.now(), View: v, Session: p.session, Width: p.screen.Width, Line: p.session.line(),
		Rate: 1000 / max(1, p.screen.Interval), Work: p.screen.Program + p.screen.Replay,
	})
	p.show()
}

// pageKeys are what keys change on every page.
var pageKeys = []pageKey{{game.KeyN, "graph", ""}, {game.KeyH, "help", ""}}

// hands does what the page's own keys ask for: those that the game has no use for.
func (p *page) hands() {
	for _, list := range [...][]pageKey{pageKeys, p.session.keys()} {
		for _, k := range list {
			if p.screen.Pressed(k.key) {
				p.set(k.name, k.value)
			}
		}
	}
	p.hud.Board = p.boards || p.screen.Held(game.KeyTab)
	p.session.hands(p)
}

// autopilot has a bot play, or no longer.
func (p *page) autopilot(on bool) {
	p.bot = nil
	if on {
		p.bot = p.title.NewBot(uint64(time.Now().UnixNano()))
	}
}

// set changes what the panel asks for, and what keys and buttons do.
func (p *page) set(name, value string) {
	h := &p.hud
	switch name {
	case "graph":
		h.Graph = !h.Graph
	case "help":
		h.Help = !h.Help
	case "board":
		p.boards = !p.boards
	case "autopilot":
		p.autopilot(value != "off")
	default:
		p.session.set(p, name, value)
	}
}

// stats is what the panel shows.
func (p *page) stats() map[string]any {
	h := &p.hud
	out := map[string]any{
		"frames": p.frames, "status": p.view.Status, "failed": p.failed,
		"player": int(p.view.Me), "graph": h.Graph, "chat": h.Chat(), "help": h.Help,
		"board": h.Board, "name": p.session.NameOf(p.view.Me), "names": p.names(),
		"autopilot": p.bot != nil, "presses": int(p.screen.Presses), "touched": p.screen.Touched,
	}
	p.screen.Tell(out)
	p.session.tell(p, out)
	if p.view.World != nil {
		out["tick"] = int(p.view.World.Tick())
	}
	return out
}

// names are those of the players on the board, a line each.
func (p *page) names() string {
	if p.view.World == nil || p.title.Screen.Scores == nil {
		return ""
	}
	var list []string
	p.safely(func() {
		for _, s := range p.title.Screen.Scores(p.view.World) {
			list = append(list, fmt.Sprintf("%d %s: %d", s.Player, p.session.NameOf(s.Player),
				s.Points))
		}
	})
	return strings.Join(list, "\n")
}
