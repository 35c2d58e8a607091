package film

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/world"
)

// dots draw a title that does not draw itself: a dot where each thing is. It is the Film of the
// first pass, in which it finds out how far things reach.
type dots struct {
	subject   *lab.Subject
	body      int
	low, high [3]float64
	known     bool
}

func newDots(s *lab.Subject) *dots {
	d := &dots{subject: s, body: -1}
	if s.Embodied("") == nil {
		d.body = s.BodyClass()
	}
	return d
}

// Begin is of no use to it.
func (d *dots) Begin([]*tunnel.Seat) {}

// Truth sees how far things reach.
func (d *dots) Truth(_ time.Duration, w *world.World) {
	d.each(w, func(_ world.ID, at [3]float64) {
		for i, v := range at {
			if !d.known {
				d.low[i], d.high[i] = v, v
			}
			d.low[i], d.high[i] = min(d.low[i], v), max(d.high[i], v)
		}
		d.known = true
	})
}

// Held and Shown are about the same things.
func (d *dots) Held(*tunnel.Seat, time.Duration, *world.World) {}

// Shown is nothing to it.
func (d *dots) Shown(*tunnel.Seat, time.Duration, *world.World) {}

// each goes through all that has a place.
func (d *dots) each(w *world.World, f func(id world.ID, at [3]float64)) {
	for class := range d.subject.Game.Classes() {
		if _, ok := d.subject.Place(class); !ok {
			continue
		}
		for id := range w.Host().Of(class) {
			if at, ok := d.subject.At(w, id); ok {
				f(id, [3]float64{at.X, at.Y, at.Z})
			}
		}
	}
}

// axes are the two in which things reach farthest.
func (d *dots) axes() (x, y int) {
	reach := func(i int) float64 { return d.high[i] - d.low[i] }
	least := 2
	for i := range 2 {
		if reach(i) < reach(least) {
			least = i
		}
	}
	return []int{1, 0, 0}[least], []int{2, 2, 1}[least]
}

// Colors of players' bodies.
var inks = [...]draw.Color{draw.RGB(0xff6b6b), draw.RGB(0xffb347), draw.RGB(0xc792ea),
	draw.RGB(0x7aa2ff), draw.RGB(0xf78fb3), draw.RGB(0xb8d95c)}

// drawer makes what draws a view.
func (d *dots) drawer() func(*draw.Surface, *game.Frame) { return d.draw }

func (d *dots) draw(s *draw.Surface, f *game.Frame) {
	s.Clear(draw.RGB(0x101418))
	if !d.known {
		d.list(s, f.World)
		return
	}
	x, y := d.axes()
	size := max(d.high[x]-d.low[x], d.high[y]-d.low[y], 1)
	body := size / 60
	if d.body >= 0 {
		body = max(d.subject.Width()/2, size/120)
	}
	edge := max(2*body, size/20)
	s.Camera(draw.Camera{X: (d.low[x] + d.high[x]) / 2, Y: (d.low[y] + d.high[y]) / 2,
		Width: d.high[x] - d.low[x] + 2*edge, Height: d.high[y] - d.low[y] + 2*edge, Up: true})
	d.each(f.World, func(id world.ID, at [3]float64) {
		if id.Class() != d.body {
			s.Circle(at[x], at[y], body/2, draw.RGB(0x8894a8))
			return
		}
		owner := f.World.Owner(id)
		ink := inks[int(owner)%len(inks)]
		if owner == f.Me {
			ink = draw.RGB(0x5ee6c4)
		}
		if _, alive := game.Lives(f.World, id); !alive {
			ink = ink.Alpha(0.3)
		}
		s.Circle(at[x], at[y], body, ink)
		s.Text(at[x], at[y], 1.4*body, strings.TrimPrefix(f.Name(owner), "player "), draw.Black,
			draw.Center)
	})
}

// list says how many there are of what, in a world where nothing has a place.
func (d *dots) list(s *draw.Surface, w *world.World) {
	s.Overlay()
	line := 40.0
	for class, c := range d.subject.Game.Classes() {
		n := 0
		for range w.Host().Of(class) {
			n++
		}
		s.Text(40, line, 28, fmt.Sprintf("%s: %d", c.Name(), n), draw.White, draw.Left)
		line = math.Min(line+36, s.Height()-20)
	}
}
