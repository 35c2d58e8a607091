//go:build !js

package replays

import (
	"fmt"
	"math"
	"runtime/debug"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// A view is one screen on which a film is shown: what draws remembers what it has drawn before.
type view struct {
	surface draw.Surface
	drawer  func(*draw.Surface, *game.Frame)
	at      float64 // where it was
	time    float64
	used    int // when it was last, by the count of frames
}

// views are the screens of a film, by the names that pages give them.
type views struct {
	byName map[string]*view
	frames int
}

const (
	mostViews = 8
	// as many ticks between two frames are drawn one by one, so that sparks fly and tracks are left
	mostBetween = 12
)

// get finds a view, or makes one; the one that nobody has looked at for longest goes.
func (v *views) get(name string, t *game.Title) *view {
	v.frames++
	if w := v.byName[name]; w != nil {
		w.used = v.frames
		return w
	}
	if v.byName == nil {
		v.byName = map[string]*view{}
	}
	for len(v.byName) >= mostViews {
		oldest := ""
		for n, w := range v.byName {
			if oldest == "" || w.used < v.byName[oldest].used {
				oldest = n
			}
		}
		delete(v.byName, oldest)
	}
	w := &view{drawer: t.Screen.Drawer(), at: math.NaN(), used: v.frames}
	v.byName[name] = w
	return w
}

// A shot is a frame that is asked for.
type shot struct {
	view          string
	at            float64 // the tick, and how far it is over
	me            world.Player
	width, height float64
}

// draw draws a frame of a film, and hands on the surface. The film must be locked.
func (f *film) draw(o shot, show func(s *draw.Surface) error) error {
	v := f.views.get(o.view, f.title)
	rate := float64(f.title.Game.Rate())
	whole := world.Tick(o.at)
	begin := whole
	fresh := false
	if gone := o.at - v.at; gone >= 0 { // on, and not for the first time
		if before := world.Tick(v.at); before < whole {
			fresh = true
			if whole-before <= mostBetween {
				begin = before + 1
			}
		}
	} else { // it was elsewhere: what draws begins anew, and the page keeps the library
		v.drawer, v.time = f.title.Screen.Drawer(), 0
	}
	for t := begin; ; t++ {
		w, err := f.seeker.At(t)
		if err != nil {
			return err
		}
		lead := 0.0
		if t >= whole {
			lead = (o.at - float64(whole)) / rate
		}
		seconds := 0.0
		if !math.IsNaN(v.at) && o.at >= v.at {
			seconds = (float64(t) + lead*rate - v.at) / rate
		}
		v.time += seconds
		v.at = float64(t) + lead*rate
		v.surface.Begin(o.width, o.height)
		if err := v.frame(&game.Frame{World: w, Me: o.me, Time: v.time, Seconds: seconds,
			Lead: lead, Others: lead, Fresh: fresh, Names: playerName}); err != nil {
			delete(f.views.byName, o.view)
			return err
		}
		if t >= whole {
			return show(&v.surface)
		}
	}
}

// frame has the title draw; that it panics is said, and ends nothing.
func (v *view) frame(fr *game.Frame) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the title panicked as it drew tick %d: %v\n%s", fr.World.Tick(), p,
				debug.Stack())
		}
	}()
	v.drawer(&v.surface, fr)
	return nil
}

// playerName is what someone is called in a recording, which holds no names.
func playerName(p world.Player) string { return fmt.Sprintf("player %d", p) }
