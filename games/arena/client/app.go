package client

import (
	"sync"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
	"github.com/coeval-dev/coeval/games/arena/client/session"
	"github.com/coeval-dev/coeval/host/entry"
	netclient "github.com/coeval-dev/coeval/topology/client"
)

// Options are what an App is made from.
type Options struct {
	// Network, if set, is a game over a network. Otherwise the player practises alone, as Practice
	// says.
	Network  *session.Session
	Practice session.PracticeOptions
	// Mute starts without sound.
	Mute bool
	// Autopilot lets a bot play in the player's place, for whoever would rather watch.
	Autopilot bool
	// Sent, if set, is told what became of data that was sent.
	Sent func([]netclient.Uploaded)
	// Ready, if set, is called when the first frame has been drawn.
	Ready func()
}

// An App is the game on a screen: Frame plays and draws.
type App struct {
	mu sync.Mutex // the page may ask, and a page out of sight keeps the connection
	o  Options
	match
	player
	timing
	switches
	painter painter
	noises  noises
	moment  Moment
}

// A match is what is played, and how it looks in this frame. Net is nil where play has no network.
type match struct {
	play  session.Play
	net   *session.Session
	view  session.View
	scene scene.Scene
	rows  []scene.Row
}

// A player is whoever plays: by hands, or by a bot in their place. Controls are those of this
// frame, and asked counts the ticks for which they made commands.
type player struct {
	hands    hands
	controls scene.Controls
	pilot    scene.Pilot
	auto     *arena.Bot
	asked    uint64
	answer   scene.Answer
	blind    scene.Blind
	silence  entry.Silence
	undone   string // what was taken back last
}

// timing is when frames are. Nothing else looks at a clock.
type timing struct {
	start  time.Time
	now    time.Duration
	before time.Duration // when the last frame was
	clock  float64
	pace   pace
	frames uint64
}

// switches are what the player has on the screen besides the game.
// Boards has the score stay, for who has no key to hold.
type switches struct{ showBoard, boards, showNet, showGhosts, help, muted bool }

// New makes an app. It draws nothing before the first Frame.
func New(o Options) (*App, error) {
	a := &App{o: o}
	a.start, a.net, a.muted = time.Now(), o.Network, o.Mute
	if o.Network != nil {
		a.play = o.Network
	} else {
		o.Practice.Heard = a.scene.Hear
		p, err := session.NewPractice(o.Practice)
		if err != nil {
			return nil, err
		}
		a.play = p
	}
	a.setAutopilot(o.Autopilot)
	a.scene.Noise = a.noises.hear
	a.blind.Seed(uint64(a.start.UnixNano()))
	return a, nil
}

// Frame goes on to the present and draws it, so that what the player does is seen in the same
// frame.
func (a *App) Frame(to *draw.Surface, on Screen, m Moment) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.moment = m
	a.update(to, on)
	a.painter.brush = brush{to}
	a.painter.world(&a.scene, &a.view, a.pace.dt)
	if a.showGhosts && a.scene.Map != nil {
		a.ghosts(a.painter.brush)
	}
	a.hud(a.painter.brush, &a.view)
	a.noises.play(to, a.muted)
	if a.frames++; a.frames == 2 && a.o.Ready != nil {
		a.o.Ready()
	}
}

// update goes on to the present.
func (a *App) update(to *draw.Surface, on Screen) {
	a.now = a.since()
	dt := (a.now - a.before).Seconds()
	a.before = a.now
	a.clock += dt
	a.pace.frame(dt)
	in := on.Input()
	a.press(on, in)
	a.controls = a.hands.read(in, a.moment.Fingers, &a.painter.lens, a.scene.Me)
	asked := a.asked
	a.play.Frame(a.now, a.command)
	a.sent()
	if a.asked != asked {
		on.Given()
	}
	a.view = a.play.View()
	if a.net != nil {
		a.view.Status = a.silence.Say(a.view.Status, dt, a.net.Numbers().Packets)
		if style, ok := a.blind.Update(a.clock, a.net.Playing()); ok && style != a.net.Style() {
			a.net.SetStyle(style)
		}
	}
	a.watch()
	shown := newLens(det.Vec2{}, to.Width(), to.Height())
	a.scene.Update(scene.Frame{World: a.view.World, Me: a.view.Me, Dt: dt,
		Look: a.hands.look(&shown, a.scene.Me), Screen: shown.half().Mul(2), Lead: a.view.Lead,
		Others: a.view.Others, Fresh: a.view.Fresh})
	for i := range a.view.Undone {
		a.scene.Undo(a.view.Undone[i].Event)
		a.undone = scene.UndoneName(a.view.Undone[i].Event)
	}
}

// since is the time that everything here goes by.
func (a *App) since() time.Duration { return time.Since(a.start) }

// idleAfter is how long no frame must have been drawn for the page to count as out of sight.
const idleAfter = 500 * time.Millisecond

// watch measures how soon the player's own fighter answers.
func (a *App) watch() {
	if a.view.World == nil {
		return
	}
	c := &a.controls
	f := a.view.Fighter()
	if f == nil || !f.Alive() {
		a.answer.Lose()
		return
	}
	a.answer.Watch(c.Left || c.Right || c.Up || c.Down || c.Stick.LenSq() > 0, f.Pos, f.Vel,
		a.asked)
}

// command is asked for each tick.
func (a *App) command(me *arena.Fighter) arena.Command {
	a.asked++
	c := a.pilot.Command(&a.controls, me)
	a.controls.Weapon, a.controls.Next = arena.None, 0 // once
	if a.auto != nil && a.view.World != nil {
		t := a.auto.Think(a.view.World, a.view.Me)
		if c.Verb != arena.Nothing || t.Verb == arena.Name {
			t.Verb, t.Text = c.Verb, c.Text
		}
		return t
	}
	return c
}

// setAutopilot lets a bot play in the player's place, or no more.
func (a *App) setAutopilot(on bool) {
	switch {
	case !on:
		a.auto = nil
	case a.auto == nil:
		a.auto = arena.NewBotOf(uint64(a.start.UnixNano()), 1)
	}
}

// press does what keys do beside playing.
func (a *App) press(on Screen, in *game.Input) {
	a.showBoard = on.Held(game.KeyTab) || a.boards
	for _, k := range keys {
		if on.Pressed(k.key) {
			k.do(a)
		}
	}
	if a.blind.Asking() {
		for i, k := range [...]game.Key{game.Key1, game.Key2, game.Key3} {
			if in.Pressed(k) {
				a.blind.Vote([...]int{0, 1, -1}[i])
			}
		}
	}
}

// keys are what keys do beside playing.
var keys = [...]struct {
	key game.Key
	do  func(*App)
}{
	{game.KeyN, func(a *App) { a.showNet = !a.showNet }},
	{game.KeyO, func(a *App) { a.showGhosts = !a.showGhosts }},
	{game.KeyP, (*App).nextStyle},
	{game.KeyB, (*App).toggleBlind},
	{game.KeyG, func(a *App) { a.pilot.Taunt() }},
	{game.KeyH, func(a *App) { a.help = !a.help }},
}

// pace watches how long frames take.
type pace struct {
	dt   float64
	mean float64
}

// rate is how many frames there are in a second.
func (p *pace) rate() float64 { return 1 / max(p.mean, 1e-3) }

func (p *pace) frame(dt float64) {
	p.dt = min(dt, 0.1)
	p.mean += (min(dt, 1) - p.mean) * 0.15
}
