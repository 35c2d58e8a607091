//go:build (js && wasm) || desktop

package client

import (
	"sync"
	"time"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/audio"
	"github.com/hajimehoshi/ebiten/v2/inpututil"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
	"github.com/coeval-dev/coeval/games/arena/client/session"
	"github.com/coeval-dev/coeval/games/arena/client/sound"
)

// Options are what an App is made from.
type Options struct {
	// Network, if set, is a game over a network. Otherwise the player practises alone, as Practice
	// says.
	Network  *session.Session
	Practice session.PracticeOptions
	// Mute starts without sound.
	Mute bool
	// Frugal begins with half the resolution, for machines without a graphics processor. Where
	// frames take too long it is lowered anyway.
	Frugal bool
	// Fine keeps the resolution whatever it costs, for pictures.
	Fine bool
	// Autopilot lets a bot play in the player's place, for whoever would rather watch.
	Autopilot bool
	// Ready, if set, is called when the first frame has been drawn.
	Ready func()
}

// An App is the game on a screen: an ebiten.Game.
type App struct {
	mu sync.Mutex // the page may ask, and a page out of sight keeps the connection
	o  Options
	match
	player
	canvas
	timing
	switches
}

// A match is what is played, and how it looks in this frame. Net is nil where play has no network.
type match struct {
	play  session.Play
	net   *session.Session
	view  session.View
	scene scene.Scene
	rows  []scene.Row
	mixer *sound.Mixer
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
	undone   string // what was taken back last
}

// A canvas is what the match is drawn on. The lens is that of the last frame drawn.
type canvas struct {
	batch   *batch
	painter *painter
	fonts   *fonts
	lens    lens
	small   *ebiten.Image // what a coarse picture is drawn to
	unit    float64       // pixels of a unit of the screen, which is 720 of them high
	w, h    int
	density float64 // pixels of the screen for one of the page's
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
type switches struct {
	showBoard, showNet, showGhosts, help, muted bool
	typing                                      bool
	typed                                       []rune
}

// New makes an app. It draws nothing before ebiten.RunGame.
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
	a.pace.share, a.pace.fixed = 1, o.Fine
	a.setAutopilot(o.Autopilot)
	if o.Frugal {
		a.pace.share = 2
	}
	a.batch = newBatch()
	var err error
	if a.painter, err = newPainter(a.batch); err != nil {
		return nil, err
	}
	if a.fonts, err = newFonts(); err != nil {
		return nil, err
	}
	a.mixer = newSpeaker(o.Mute)
	a.scene.Noise = a.mixer.Play
	a.blind.Seed(uint64(a.start.UnixNano()))
	return a, nil
}

// Layout gives the screen as many pixels as the display has.
func (a *App) Layout(w, h int) (int, int) {
	s := 1.0
	if m := ebiten.Monitor(); m != nil {
		s = m.DeviceScaleFactor()
	}
	a.density = s
	a.w, a.h = max(1, int(float64(w)*s)), max(1, int(float64(h)*s))
	return a.w, a.h
}

// Update goes on to the present. It runs once a frame, before Draw, so that what the player does is
// seen in the same frame.
func (a *App) Update() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now = a.since()
	dt := (a.now - a.before).Seconds()
	a.before = a.now
	a.clock += dt
	a.pace.frame(dt)
	a.press()
	me := det.Vec2{X: float64(a.w) / 2, Y: float64(a.h) / 2}
	if a.scene.Me != nil {
		x, y := a.lens.at(a.scene.Me.Pos)
		me = det.Vec2{X: x, Y: y}
	}
	a.controls = a.hands.read(me, max(a.unit, 0.1), float64(a.w), !a.typing)
	a.play.Frame(a.now, a.command)
	a.view = a.play.View()
	if a.net != nil {
		if style, ok := a.blind.Update(a.clock, a.net.Playing()); ok && style != a.net.Style() {
			a.net.SetStyle(style)
		}
	}
	look := det.Vec2{}
	if a.hands.pointing == byMouse && a.w > 0 {
		look = det.Vec2{
			X: (a.hands.cursor.X - float64(a.w)/2) / float64(a.w) * 2,
			Y: (a.hands.cursor.Y - float64(a.h)/2) / float64(a.h) * 2}
	} else if a.scene.Me != nil {
		look = a.scene.Me.Aim.Vec().Mul(0.6)
	}
	a.watch()
	a.scene.Update(scene.Frame{World: a.view.World, Me: a.view.Me, Dt: dt, Look: look,
		Screen: a.screen(), Lead: a.view.Lead, Others: a.view.Others, Fresh: a.view.Fresh})
	for i := range a.view.Undone {
		a.scene.Undo(a.view.Undone[i].Event)
		a.undone = scene.UndoneName(a.view.Undone[i].Event)
	}
	return nil
}

// screen is how much of the map the screen shows.
func (a *App) screen() det.Vec2 {
	l := newLens(det.Vec2{}, float64(a.w), float64(a.h))
	return det.Vec2{X: l.w / l.scale, Y: l.h / l.scale}
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
func (a *App) press() {
	if a.typing {
		a.typeLine()
		return
	}
	a.showBoard = ebiten.IsKeyPressed(ebiten.KeyTab)
	for _, k := range inpututil.AppendJustPressedKeys(nil) {
		if do := keys[k]; do != nil {
			do(a)
		}
		if vote, ok := votes[k]; ok && a.blind.Asking() {
			a.blind.Vote(vote)
		}
	}
}

// keys are what keys do beside playing.
var keys = map[ebiten.Key]func(*App){
	ebiten.KeyEnter: func(a *App) { a.typing, a.typed = true, a.typed[:0] },
	ebiten.KeyN:     func(a *App) { a.showNet = !a.showNet },
	ebiten.KeyO:     func(a *App) { a.showGhosts = !a.showGhosts },
	ebiten.KeyP:     (*App).nextStyle,
	ebiten.KeyB:     (*App).toggleBlind,
	ebiten.KeyG:     func(a *App) { a.pilot.Taunt() },
	ebiten.KeyM:     func(a *App) { a.setMuted(!a.muted) },
	ebiten.KeyH:     func(a *App) { a.help = !a.help },
	ebiten.KeyF1:    func(a *App) { a.help = !a.help },
	ebiten.KeyF:     func(*App) { ebiten.SetFullscreen(!ebiten.IsFullscreen()) },
}

// votes are what the blind test is answered with.
var votes = map[ebiten.Key]int{ebiten.KeyDigit1: 0, ebiten.KeyDigit2: 1, ebiten.KeyDigit3: -1}

// typeLine takes a line of chat.
func (a *App) typeLine() {
	a.typed = ebiten.AppendInputChars(a.typed)
	if len(a.typed) > arena.MaxSay {
		a.typed = a.typed[:arena.MaxSay]
	}
	switch {
	case inpututil.IsKeyJustPressed(ebiten.KeyEnter):
		a.pilot.Say(string(a.typed))
		a.typing = false
	case inpututil.IsKeyJustPressed(ebiten.KeyEscape):
		a.typing = false
	case inpututil.IsKeyJustPressed(ebiten.KeyBackspace) && len(a.typed) > 0:
		a.typed = a.typed[:len(a.typed)-1]
	}
}

// setMuted turns the sound off, or on.
func (a *App) setMuted(on bool) {
	a.muted = on
	if on {
		a.mixer.SetVolume(0)
	} else {
		a.mixer.SetVolume(0.6)
	}
}

// leastUnit keeps what is written large enough to be read, however small the screen.
const leastUnit = 0.55

// Draw draws a frame.
func (a *App) Draw(screen *ebiten.Image) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.frames++; a.frames == 2 && a.o.Ready != nil {
		a.o.Ready()
	}
	w, h := screen.Bounds().Dx(), screen.Bounds().Dy()
	a.unit = max(leastUnit, min(float64(h)/720, float64(w)/960))
	if a.fonts.fit(a.unit) != nil {
		return
	}
	if n := a.pace.share; n > 1 {
		hw, hh := (w+n-1)/n, (h+n-1)/n
		if a.small == nil || a.small.Bounds().Dx() != hw || a.small.Bounds().Dy() != hh {
			a.small = ebiten.NewImageWithOptions(imageRect(hw, hh),
				&ebiten.NewImageOptions{Unmanaged: true})
		}
		a.painter.world(a.small, &a.scene, &a.view, a.pace.dt)
		var o ebiten.DrawImageOptions
		o.GeoM.Scale(float64(w)/float64(hw), float64(h)/float64(hh))
		o.Filter = ebiten.FilterLinear
		screen.DrawImage(a.small, &o)
		a.lens = newLens(a.scene.Camera.Pos, float64(w), float64(h))
	} else {
		a.lens = a.painter.world(screen, &a.scene, &a.view, a.pace.dt)
	}
	if a.showGhosts {
		a.ghosts(screen)
	}
	a.hud(screen, &a.view, &a.lens)
}

// pace watches how long frames take, and draws with fewer pixels where they take too long.
type pace struct {
	share  int // of the screen's pixels along each side, one in so many is drawn
	fixed  bool
	dt     float64
	mean   float64
	frames int // since it was last changed
}

// rate is how many frames there are in a second.
func (p *pace) rate() float64 { return 1 / max(p.mean, 1e-3) }

// coarsest is the least that is still fun to look at.
const coarsest = 3

func (p *pace) frame(dt float64) {
	p.dt = min(dt, 0.1)
	p.mean += (min(dt, 1) - p.mean) * 0.15
	if p.frames++; p.frames > 20 && p.mean > 1.0/32 && p.share < coarsest && !p.fixed {
		p.share++
		p.frames = 0
	}
}

// newSpeaker makes a mixer that is heard. Where there is no way to make sound, the game goes on
// without.
func newSpeaker(mute bool) *sound.Mixer {
	m := sound.NewMixer()
	if mute {
		m.SetVolume(0)
	}
	player, err := audio.NewContext(sound.Rate).NewPlayerF32(m)
	if err != nil {
		return m
	}
	player.SetBufferSize(60 * time.Millisecond)
	player.Play()
	return m
}
