package arena

import (
	"fmt"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// The part of a map that a simple screen shows, around a player's fighter.
const ViewWidth, ViewHeight = 40, 23

// A View draws the game in simple shapes, for terminals and other small screens: the walls, what
// the player's fighter has in sight, and how they do. It remembers from frame to frame what
// flashes.
type View struct {
	scene   Scene
	eye     Eye
	star    world.Player // who is watched
	from    det.Vec2     // where they are
	flashes []flash
	points  []float64
}

// A flash is a beam, or a burst, that is seen for a moment.
type flash struct {
	from, to det.Vec2
	burst    bool
	ends     float64 // in the screen's time
}

// Colors of a View.
var (
	night    = draw.RGB(0x06070b)
	stone    = draw.RGB(0x5b6780)
	shade    = draw.RGB(0x141821)
	ground   = draw.RGB(0x2b3444)
	abyss    = draw.RGB(0x101d3a)
	leaf     = draw.RGB(0xc2913d)
	mine     = draw.RGB(0x5ee6c4)
	chalk    = draw.RGB(0xe6edf5)
	fighters = [...]draw.Color{draw.RGB(0xff6b6b), draw.RGB(0xffb347), draw.RGB(0xc792ea),
		draw.RGB(0x7aa2ff), draw.RGB(0xf78fb3), draw.RGB(0xb8d95c)}
	gems = [kinds]draw.Color{SmallPack: draw.RGB(0x51cf66), LargePack: draw.RGB(0xb2f2bb),
		RocketBox: draw.RGB(0xff922b), RocketGun: draw.RGB(0xffc078),
		SlugBox: draw.RGB(0x9775fa), RailGun: draw.RGB(0xd0bfff)}
)

// Draw draws a frame.
func (v *View) Draw(s *draw.Surface, f *game.Frame) {
	w := f.World
	s.Clear(night)
	if !v.scene.Look(w) {
		s.Overlay()
		s.Text(s.Width()/2, s.Height()/2, 24, "this program does not have the map", chalk,
			draw.Center)
		return
	}
	if f.Me != world.Nobody {
		v.star = f.Me
	} else {
		v.star = Star(w, v.star)
	}
	for id, o := range world.All[Fighter](w) {
		if w.Owner(id) == v.star {
			v.from = o.Pos.MulAdd(o.Vel, f.Ahead(id))
		}
	}
	m := v.scene.Map
	camera := draw.Camera{Width: ViewWidth, Height: ViewHeight,
		X: middle(v.from.X, ViewWidth, float64(m.Width)),
		Y: middle(v.from.Y, ViewHeight, float64(m.Height))}
	s.Camera(camera)
	v.ground(s, &camera)
	v.things(s, f)
	v.flash(s, f)
	for id, o := range world.All[Fighter](w) {
		if o.Alive() {
			v.fighter(s, f, id, o)
		}
	}
	v.overlay(s, f)
}

// middle keeps what is shown on the map.
func middle(x, view, all float64) float64 {
	if all <= view {
		return all / 2
	}
	return det.Clamp(x, view/2, all-view/2)
}

// ground draws floors and walls, lighter what is in sight. All walls are one shape, so that there
// is nothing between two of them.
func (v *View) ground(s *draw.Surface, c *draw.Camera) {
	m := v.scene.Map
	// A screen of another form shows more than the camera's rectangle.
	x0, x1 := max(0, int(c.X)-ViewWidth), min(m.Width, int(c.X)+ViewWidth)
	y0, y1 := max(0, int(c.Y)-ViewWidth), min(m.Height, int(c.Y)+ViewWidth)
	v.cells(s, x0, y0, x1, y1, Floor, shade)
	v.points = v.points[:0]
	for _, p := range v.eye.See(&v.scene, v.from, 2*ViewWidth) {
		v.points = append(v.points, p.X, p.Y)
	}
	if len(v.points) <= 2*draw.MaxPoints {
		s.Polygon(ground, v.points...)
	}
	v.cells(s, x0, y0, x1, y1, Pit, abyss)
	v.cells(s, x0, y0, x1, y1, Wall, stone)
	for door := range m.Doors {
		for _, r := range v.scene.Leaves(door) {
			if r.Max.X <= r.Min.X || r.Max.Y <= r.Min.Y {
				continue
			}
			x, y, w, h := r.Min.X, r.Min.Y, r.Max.X-r.Min.X, r.Max.Y-r.Min.Y
			const thick = 0.4 // more than they have, so that one sees them
			if m.Portals[m.Doors[door]].Across {
				x, w = x-thick/2, w+thick
			} else {
				y, h = y-thick/2, h+thick
			}
			s.Rect(x, y, w, h, leaf)
		}
	}
}

// cells fills the cells of a kind in a part of the map.
func (v *View) cells(s *draw.Surface, x0, y0, x1, y1 int, kind Cell, c draw.Color) {
	v.points = v.points[:0]
	var bx, by float64 // where the shape begins
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			if v.scene.Map.Cell(x, y) != kind {
				continue
			}
			from := x
			for x+1 < x1 && v.scene.Map.Cell(x+1, y) == kind {
				x++
			}
			l, r, t, b := float64(from), float64(x+1), float64(y), float64(y+1)
			if len(v.points) == 0 {
				bx, by = l, t
			}
			v.points = append(v.points, l, t, r, t, r, b, l, b, l, t, bx, by)
			if len(v.points)+12 > 2*draw.MaxPoints {
				s.Polygon(c, v.points...)
				v.points = v.points[:0]
			}
		}
	}
	if len(v.points) > 0 {
		s.Polygon(c, v.points...)
	}
}

// sees says whether a place is in sight.
func (v *View) sees(p det.Vec2) bool { return v.scene.Clear(v.from, p) }

// things draws what lies about and what flies.
func (v *View) things(s *draw.Surface, f *game.Frame) {
	w := f.World
	for _, p := range world.All[Pickup](w) {
		if p.There(w) && v.sees(p.Pos) {
			s.Box(p.Pos.X, p.Pos.Y, 0.9, 0.9, det.Pi/4, gems[p.Kind])
		}
	}
	for id, o := range world.All[Shot](w) {
		at := o.Pos.MulAdd(o.Vel, f.Ahead(id))
		if !v.sees(at) {
			continue
		}
		if o.Weapon == Launcher {
			s.Glow(at.X, at.Y, 1.6, draw.RGB(0xff922b).Alpha(0.7))
			s.Circle(at.X, at.Y, 0.4, draw.RGB(0xfff3bf))
			continue
		}
		tail := at.MulAdd(o.Vel, -0.03)
		s.Line(tail.X, tail.Y, at.X, at.Y, 0.35, draw.RGB(0x9be7ff))
	}
}

// flash draws beams and bursts.
func (v *View) flash(s *draw.Surface, f *game.Frame) {
	const beam, burst = 0.2, 0.35 // seconds
	for _, e := range game.Events[Beam](f) {
		v.flashes = append(v.flashes, flash{from: e.From, to: e.To, ends: f.Time + beam})
	}
	for _, e := range game.Events[Explosion](f) {
		v.flashes = append(v.flashes, flash{from: e.At, burst: true, ends: f.Time + burst})
	}
	kept := v.flashes[:0]
	for _, x := range v.flashes {
		left := x.ends - f.Time
		if left <= 0 || len(kept) > 64 {
			continue
		}
		kept = append(kept, x)
		if x.burst {
			if v.sees(x.from) {
				s.Glow(x.from.X, x.from.Y, Splash, draw.RGB(0xffd166).Alpha(left/burst))
			}
			continue
		}
		s.Line(x.from.X, x.from.Y, x.to.X, x.to.Y, 0.3, draw.RGB(0xe0aaff).Alpha(left/beam))
	}
	v.flashes = kept
}

// fighter draws someone.
func (v *View) fighter(s *draw.Surface, f *game.Frame, id world.ID, o *Fighter) {
	owner := f.World.Owner(id)
	at := o.Pos.MulAdd(o.Vel, f.Ahead(id))
	c := fighters[int(owner)%len(fighters)]
	switch {
	case owner == v.star:
		c = mine
	case !v.sees(at):
		return
	case o.Team != 0:
		c = [...]draw.Color{fighters[0], fighters[3]}[o.Team-1]
	}
	nose := at.MulAdd(o.Aim.Vec(), 1.5)
	s.Line(at.X, at.Y, nose.X, nose.Y, 0.4, c.Mix(chalk, 0.5))
	s.Circle(at.X, at.Y, 0.75, c)
	if owner != v.star {
		if name := sheetOf(f.World, owner).Name; name != "" {
			s.Text(at.X, at.Y-1.7, 1, name, c.Mix(chalk, 0.4), draw.Center)
		}
	}
}

// overlay says how the player does.
func (v *View) overlay(s *draw.Surface, f *game.Frame) {
	w := f.World
	s.Overlay()
	const size, bar = 17, 20
	s.Rect(0, 0, s.Width(), bar, draw.Black.Alpha(0.6))
	sheet := sheetOf(w, v.star)
	end := fmt.Sprintf("kills %d  deaths %d ", sheet.Kills, sheet.Deaths)
	m := world.StateOf[Match](w)
	if left := m.Left(w); left >= 0 {
		end = fmt.Sprintf("%d:%02d  ", left/rate/60, left/rate%60) + end
	}
	s.Text(s.Width(), bar/2, size, end, chalk, draw.Right)
	for id, o := range world.All[Fighter](w) {
		if w.Owner(id) != v.star {
			continue
		}
		c := draw.RGB(0x69db7c)
		switch {
		case o.Health <= 25:
			c = draw.RGB(0xff6b6b)
		case o.Health <= 50:
			c = draw.RGB(0xffd43b)
		}
		s.Text(4, bar/2, size, fmt.Sprintf("health %d", o.Health), c, draw.Left)
		s.Text(120, bar/2, size,
			fmt.Sprintf("%s  rockets %d  slugs %d", o.Weapon, o.Rockets, o.Slugs),
			chalk, draw.Left)
		if f.Me == world.Nobody {
			s.Text(s.Width()/2, s.Height()-12, size, "watching "+sheet.Name, chalk, draw.Center)
		}
		if !o.Alive() && m.Over == 0 {
			s.Text(s.Width()/2, s.Height()/2, 24, " you fell: space brings you back ", chalk,
				draw.Center)
		}
	}
	if m.Over != 0 {
		s.Text(s.Width()/2, s.Height()/2, 24, " the round is over ", chalk, draw.Center)
	}
}

// A Pad makes commands of keys alone, where there is no mouse: it aims where one last went.
type Pad struct{ aim det.Angle }

// Keys makes a command of the keys that are held.
func (p *Pad) Keys(left, right, up, down, fire bool) Command {
	c := Keys(left, right, up, down)
	if c.X != 0 || c.Y != 0 {
		p.aim = det.Vec2{X: float64(c.X), Y: float64(c.Y)}.Angle()
	}
	c.Aim, c.Fire, c.Weapon = p.aim, fire, Launcher
	return c
}
