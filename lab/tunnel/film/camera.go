package film

import (
	"fmt"
	"image"
	"runtime/debug"
	"time"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/draw/raster"
	"github.com/coeval-dev/coeval/draw/vector"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/world"
)

// The size of a picture, in pixels of the page.
const pageWidth, pageHeight = 480, 270

// A crew films a run: it is the Film of its second pass.
type crew struct {
	subject *lab.Subject
	windows []*window
	sheet   vector.Sheet
	drawer  func() func(*draw.Surface, *game.Frame)
	images  func(name string) image.Image
	letters bool
	holder  string // who decides
	body    int
	seats   map[world.Player]int // the number of who plays whom
	numbers map[int]world.Player // and the reverse
	err     error

	// marks are frames in which bodies are drawn where their places are, of those that were looked
	// at.
	marks, looked int
}

// A view is one camera: a player's screen, or the world of who decides, by that player's eyes.
type view struct {
	player   int // counted from 1
	server   bool
	held     bool // it is of what a server holds that is ahead of what is decided
	draw     func(*draw.Surface, *game.Frame)
	surface  draw.Surface
	screen   *vector.Screen
	raster   raster.Raster
	begun    time.Duration
	last     time.Duration
	before   []byte // the list of the picture with which the window begins
	pictures []picture
}

// A picture is what a view shows from an instant on.
type picture struct {
	at      time.Duration
	tick    world.Tick
	frame   vector.Frame
	letters *image.RGBA
	camera  draw.Camera
	bodies  []Body
}

// A Body is where one is.
type Body struct {
	Player int        `json:"player"` // whose it is, counted from 1
	At     [3]float64 `json:"at"`
	// Off is how far a screen shows it from where it truly was at the tick of the picture, in
	// widths, where that is known.
	Off *float64 `json:"off,omitempty"`

	life int
	id   world.ID
}

func newCrew(o *Options, windows []*window) *crew {
	s := o.setup.Subject
	c := &crew{subject: s, windows: windows, letters: o.Letters, body: -1,
		seats: map[world.Player]int{}, numbers: map[int]world.Player{}, drawer: s.Screen.Drawer}
	c.holder = "what is settled"
	if o.setup.Arch.Family == tunnel.ClientServer {
		c.holder = "the server"
	}
	if s.Embodied("") == nil {
		c.body = s.BodyClass()
	}
	c.images = raster.Files(s.Screen.Assets, 16<<20)
	c.sheet = vector.Sheet{Width: pageWidth, Height: pageHeight, Images: c.images}
	for _, w := range windows {
		for _, p := range w.players {
			w.views = append(w.views, &view{player: p, server: true}, &view{player: p})
		}
	}
	return c
}

// Begin learns who plays whom.
func (c *crew) Begin(seats []*tunnel.Seat) {
	for _, s := range seats {
		c.seats[s.Me], c.numbers[s.Index+1] = s.Index+1, s.Me
	}
}

// Truth films what is decided, by the eyes of each player whose server holds nothing newer.
func (c *crew) Truth(at time.Duration, w *world.World) {
	var bodies []Body
	for _, win := range c.windows {
		if t := w.Tick(); t >= win.low && t <= win.high {
			if bodies == nil {
				bodies = c.bodies(w)
			}
			win.truth[t] = bodies
		}
		for _, v := range win.views {
			if v.server && !v.held && win.films(at) {
				c.shoot(win, v, at, w)
			}
		}
	}
}

// Held films what a player's server holds.
func (c *crew) Held(s *tunnel.Seat, at time.Duration, w *world.World) { c.film(s, true, at, w) }

// Shown films what a player sees.
func (c *crew) Shown(s *tunnel.Seat, at time.Duration, w *world.World) { c.film(s, false, at, w) }

func (c *crew) film(s *tunnel.Seat, server bool, at time.Duration, w *world.World) {
	for _, win := range c.windows {
		for _, v := range win.views {
			if v.player != s.Index+1 || v.server != server {
				continue
			}
			if server && !v.held {
				v.held, v.pictures = true, nil
			}
			if win.films(at) {
				c.shoot(win, v, at, w)
			}
		}
	}
}

// shoot takes a picture. Of those before the window the last is kept.
func (c *crew) shoot(win *window, v *view, at time.Duration, w *world.World) {
	if c.err != nil {
		return
	}
	if v.draw == nil {
		v.draw, v.screen, v.begun, v.last = c.drawer(), c.sheet.Screen(), at, at
		v.raster.Images = c.images
		v.raster.Text = func(float64, float64, float64, []byte, draw.Color, draw.Align) bool {
			return true // letters would be too large
		}
	}
	f := &game.Frame{World: w, Me: c.numbers[v.player], Time: (at - v.begun).Seconds(),
		Seconds: (at - v.last).Seconds(), Fresh: true, Names: c.name}
	v.last = at
	v.surface.Begin(pageWidth, pageHeight)
	if c.err = c.call(v, f); c.err != nil {
		return
	}
	p := picture{at: at, tick: w.Tick(), camera: v.surface.LastCamera(), bodies: c.bodies(w)}
	if c.letters {
		p.letters = image.NewRGBA(image.Rect(0, 0, letterColumns, 2*letterRows))
		c.err = v.raster.Draw(p.letters, v.surface.Library(), v.surface.List())
	}
	c.look(v.surface.List(), p.bodies)
	if at <= win.from {
		v.pictures = append(v.pictures[:0], p)
		v.before = append(v.before[:0], v.surface.List()...)
		return
	}
	c.begin(v)
	if c.err == nil {
		p.frame, c.err = v.screen.Frame(v.surface.Library(), v.surface.List())
		v.pictures = append(v.pictures, p)
	}
}

// begin makes the picture with which a window begins, now that it is known which one that is.
func (c *crew) begin(v *view) {
	if len(v.pictures) == 1 && v.pictures[0].frame == nil && c.err == nil {
		v.pictures[0].frame, c.err = v.screen.Frame(v.surface.Library(), v.before)
	}
}

// end finishes all windows.
func (c *crew) end() error {
	for _, w := range c.windows {
		for _, v := range w.views {
			c.begin(v)
		}
	}
	return c.err
}

// call has the title draw, whatever it does.
func (c *crew) call(v *view, f *game.Frame) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s panicked while it drew a frame: %v\n%s", c.subject.Name(), r,
				debug.Stack())
		}
	}()
	v.draw(&v.surface, f)
	return v.surface.Err()
}

// name is what a player is called in pictures.
func (c *crew) name(p world.Player) string {
	if n, ok := c.seats[p]; ok {
		return fmt.Sprint("player ", n)
	}
	return ""
}

// bodies lists those in play, by player.
func (c *crew) bodies(w *world.World) (list []Body) {
	if c.body < 0 {
		return nil
	}
	for id := range w.Host().Of(c.body) {
		life, alive := game.Lives(w, id)
		if at, ok := c.subject.At(w, id); ok && alive {
			list = append(list, Body{Player: c.seats[w.Owner(id)], At: [3]float64{at.X, at.Y, at.Z},
				life: life, id: id})
		}
	}
	return list
}

// look finds out whether the title draws bodies where their places are, so that places can be
// marked in its pictures.
func (c *crew) look(list []byte, bodies []Body) {
	if len(bodies) == 0 {
		return
	}
	c.looked++
	var r draw.Reader
	r.Read(list)
	within := false
	for call := range r.Calls() {
		switch call.Op {
		case draw.OpCamera:
			within = true
		case draw.OpOverlay:
			within = false
		case draw.OpBox, draw.OpCircle, draw.OpRing, draw.OpGlow, draw.OpImage:
			if within && drawnAt(bodies, call.N[0], call.N[1], c.subject.Width()/2) {
				c.marks++
				return
			}
		}
	}
}

func drawnAt(bodies []Body, x, y, near float64) bool {
	for i := range bodies {
		dx, dy := bodies[i].At[0]-x, bodies[i].At[1]-y
		if dx*dx+dy*dy < near*near {
			return true
		}
	}
	return false
}

// marked says whether places can be marked in pictures.
func (c *crew) marked() bool { return c.looked > 0 && 2*c.marks >= c.looked }
