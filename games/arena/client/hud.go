package client

import (
	"fmt"
	"math"
	"strconv"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
	"github.com/coeval-dev/coeval/games/arena/client/session"
	"github.com/coeval-dev/coeval/games/arena/client/sprite"
	"github.com/coeval-dev/coeval/world"
)

// hud draws what is written on the picture.
func (a *App) hud(b brush, v *session.View) {
	a.painter.zoom = legible(b.Width(), a.moment.Width)
	w, h := b.Width()/a.painter.zoom, b.Height()/a.painter.zoom
	b.Zoom(a.painter.zoom)
	a.names(b, v)
	a.pain(b, w, h)
	if v.World != nil && a.scene.Map != nil {
		a.rows = a.scene.Board(v.World, a.rows[:0])
		y := a.below(w)
		a.top(b, v, w, y)
		if y > 0 {
			y += 48
		}
		a.killFeed(b, w, y+14)
		a.chat(b, w, h)
		if a.scene.Me != nil {
			a.status(b, v, w, h)
			a.crosshair(b)
		} else if v.Me != world.Nobody {
			a.dead(b, v, w, h)
		}
		a.big(b, w, h)
		if (a.showBoard || a.over(v)) && !a.help {
			a.board(b, w, h)
		}
	}
	if a.net != nil {
		if a.showNet {
			a.netGraph(b, w, h)
		}
		a.blindTest(b, w, a.below(w))
	}
	if v.Status != "" {
		a.waiting(b, v.Status, w, h)
	}
	if a.help {
		a.helpPage(b, w, h)
	}
}

// below is how far down the score begins. On a narrow screen the page's buttons are above it.
func (a *App) below(w float64) float64 {
	const buttons, high = 200, 48 // pixels of the page
	if a.moment.Width/2-110*a.moment.Width/w > buttons {
		return 0
	}
	return high * w / max(1, a.moment.Width)
}

// legible is how many times as large the units of a screen are, so that the smallest letters have
// eleven pixels.
func legible(units, pixels float64) float64 {
	if pixels <= 0 {
		return 1
	}
	return max(1, min(1.7, 11/small.letters*units/pixels))
}

// narrow says whether there is no room for the net graph beside all else.
func narrow(w float64) bool { return w < 960 }

// over says whether the round has ended.
func (a *App) over(v *session.View) bool { return world.StateOf[arena.Match](v.World).Over != 0 }

// names writes who is who above those in sight.
func (a *App) names(b brush, v *session.View) {
	if v.World == nil || a.scene.Map == nil {
		return
	}
	l := &a.painter.lens
	for i := range a.scene.Bodies {
		o := &a.scene.Bodies[i]
		if o.Mine || !l.shows(o.Pos, 0) || !a.scene.Geometry.Clear(a.scene.Eye, o.Pos) {
			continue
		}
		x, y := l.at(o.Pos)
		x, y = x/a.painter.zoom, (y-1.05*l.scale)/a.painter.zoom
		b.put(o.Name, x, y-small.line/2, small, o.Color.Mix(scene.Paper, 0.35), 0.9,
			draw.Center)
	}
}

// pain reddens the side that a blow came from.
func (a *App) pain(b brush, w, h float64) {
	if a.scene.Hurt <= 0 {
		return
	}
	dir := a.scene.HurtFrom.Vec()
	b.Glow(w/2+dir.X*w*0.55, h/2+dir.Y*h*0.6, w*0.42, ink(scene.Danger, 0.55*a.scene.Hurt))
}

// icon draws a shape on the screen.
func (b brush) icon(s sprite.Shape, x, y, size float64, c scene.Color, alpha float64) {
	b.Image(names[s], x, y, size, size, 0, paint(c, alpha))
}

// status shows health and weapons.
func (a *App) status(b brush, v *session.View, w, h float64) {
	f := v.Fighter()
	if f == nil {
		return
	}
	c := scene.Good
	switch {
	case f.Health <= 30:
		c = scene.Danger
	case f.Health <= 60:
		c = scene.Warning
	case f.Health > arena.Healthy:
		c = scene.Own
	}
	x, y := 24.0, h-40
	wide := min(200, w/4)
	part := max(0, min(1, float64(f.Health)/arena.Healthy))
	b.Rect(x+72, y+4, wide+4, 16, ink(scene.Color{}, 0.55))
	b.Rect(x+74, y+6, wide, 12, ink(c.Mul(0.18), 0.8))
	b.Rect(x+74, y+6, wide*part, 12, ink(c, 0.92))
	b.put(strconv.Itoa(f.Health), x+66, y-huge.line/2+12, huge, c, 1, draw.Right)
	a.weapons(b, f, w, h, 114+wide)
	// How long until one can fire again.
	if wait := int(f.Ready) - int(v.World.Tick()); wait > 0 && f.Weapon != arena.None {
		// after another weapon it may take longer
		part := max(0, 1-float64(wait)/float64(arena.Arms[f.Weapon].Reload))
		b.Rect(w/2-30, h-66, 60*part, 3, ink(scene.WeaponColor(f.Weapon), 0.8))
	}
}

// arms are the weapons in the order of their keys.
var arms = [...]struct {
	weapon arena.Weapon
	shape  sprite.Shape
}{{arena.Blaster, sprite.Blaster}, {arena.Launcher, sprite.Launcher}, {arena.Rail, sprite.RailGun}}

// weapons shows what one has, and where a finger takes it.
func (a *App) weapons(b brush, f *arena.Fighter, w, h, left float64) {
	bw := 104.0
	x := w/2 - bw*1.5
	if a.hands.pointing == byTouch {
		x = w/2 + 8 // the other half is for walking
		bw = min(bw, (w/2-16)/3)
	} else if x < left { // a narrow screen
		x, bw = left, min(bw, (w-left)/3)
	}
	for i, o := range arms {
		bx, by := x+float64(i)*bw, h-56
		z := a.painter.zoom
		a.hands.bar[i] = box{z * bx, z * (by - 8), z * bw, z * 64}
		ammo := f.Ammo(o.weapon)
		c, alpha := scene.WeaponColor(o.weapon), 0.25
		if f.Weapon == o.weapon {
			alpha = 1
			b.Rect(bx+3, by, bw-6, 42, ink(c.Mul(0.25), 0.7))
			b.Rect(bx+3, by+39, bw-6, 3, ink(c, 1))
		} else if ammo > 0 {
			alpha = 0.7
		}
		b.icon(o.shape, bx+bw*0.33, by+20, 44, c.Mix(scene.Steel, 0.4), alpha)
		text := strconv.Itoa(ammo)
		if o.weapon == arena.Blaster {
			text = "-"
		}
		b.put(text, bx+bw*0.62, by+9, plain, scene.Paper, alpha, draw.Left)
		b.put(strconv.Itoa(i+1), bx+9, by+3, small, scene.Dim, alpha, draw.Left)
	}
}

func (a *App) crosshair(b brush) {
	l := &a.painter.lens
	x, y := a.hands.cursor(l)
	switch {
	case a.hands.pointing == byTouch || a.hands.pointing == byMouse && !a.hands.there:
		return // on glass, or the mouse has not been seen yet
	case a.hands.pointing == byPad:
		x, y = l.at(a.scene.Me.Pos.MulAdd(a.scene.Me.Aim.Vec(), 5))
	}
	x, y = x/a.painter.zoom, y/a.painter.zoom
	c := scene.Paper.Mix(scene.Danger, float32(math.Ceil(a.scene.Landed*4)/4))
	size := 30 + 10*a.scene.Landed
	b.Image(names[sprite.Sight], x, y, size, size, a.scene.Landed*0.785, paint(c, 0.95))
}

// top shows the score and the clock.
func (a *App) top(b brush, v *session.View, w, y float64) {
	m := world.StateOf[arena.Match](v.World)
	rank, best := scene.Rank(a.rows)
	own := 0
	if rank > 0 {
		own = a.rows[rank-1].Kills
	}
	b.Rect(w/2-110, y, 220, 34, ink(scene.Color{}, 0.45))
	left := ""
	if t := m.Left(v.World); t >= 0 {
		s := t / arena.Game.Rate()
		left = fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	first, second := scene.Own, scene.Danger
	if m.Teams {
		own, best = m.Score[0], m.Score[1]
		first, second = scene.PlayerColor(0, 1, 1), scene.PlayerColor(0, 1, 2)
	}
	b.put(strconv.Itoa(own), w/2-44, y+6, plain, first, 1, draw.Right)
	b.put(strconv.Itoa(best), w/2+44, y+6, plain, second, 1, draw.Left)
	b.put(left, w/2, y+6, plain, scene.Paper, 0.95, draw.Center)
	if rank > 0 && m.Kills > 0 {
		b.put(fmt.Sprintf("%s of %d, first to %d", ordinal(rank), len(a.rows), m.Kills), w/2, y+37,
			small, scene.Dim, 0.9, draw.Center)
	}
}

func ordinal(n int) string {
	if n%100/10 != 1 && n%10 > 0 && n%10 < 4 {
		return strconv.Itoa(n) + [...]string{"", "st", "nd", "rd"}[n%10]
	}
	return strconv.Itoa(n) + "th"
}

// killFeed tells who killed whom: names on both sides of what it was done with.
func (a *App) killFeed(b brush, w, y float64) {
	const half, icon = 112, 22
	x := w - 20 - half
	for i := range a.scene.Feed.Kills {
		k := &a.scene.Feed.Kills[i]
		alpha := k.Fade()
		if k.Undone {
			alpha *= 0.6
		}
		bg := 0.35
		if k.Mine {
			bg = 0.7
		}
		b.Rect(x-half-8, y, 2*half+16, 22, ink(scene.Color{R: 0.05, G: 0.07, B: 0.11}, bg*alpha))
		shape := sprite.Skull
		if !k.Accident {
			shape = [...]sprite.Shape{
				sprite.Skull, sprite.Blaster, sprite.Launcher, sprite.RailGun}[k.Weapon%4]
			b.put(cut(k.By, 14), x-icon/2-6, y+3, small, k.ByColor, alpha, draw.Right)
		}
		b.icon(shape, x, y+11, icon, scene.WeaponColor(k.Weapon).Mix(scene.Paper, 0.3), alpha)
		b.put(cut(k.Victim, 14), x+icon/2+6, y+3, small, k.VictimColor, alpha, draw.Left)
		if k.Undone {
			b.Rect(x-half, y+10, 2*half, 2, ink(scene.Danger, alpha))
			b.put("not after all", x-half-16, y+3, small, scene.Dim, alpha, draw.Right)
		}
		y += 25
	}
}

// chat shows what was said: names in a column of their own, what the game says beside it.
func (a *App) chat(b brush, w, h float64) {
	const column = 118
	y := h - 84
	if a.showNet && narrow(w) {
		y -= graphHeight
		if w < 600 {
			y += lower
		}
	}
	for i := len(a.scene.Feed.Lines) - 1; i >= 0; i-- {
		o := &a.scene.Feed.Lines[i]
		x, c := 24.0, o.Color
		if o.Who != "" {
			b.put(cut(o.Who, 14), column, y, small, o.Color, o.Fade(), draw.Right)
			x, c = column+10, scene.Paper
		}
		lines := wrap(o.Text, w-x-12, small)
		for k := len(lines) - 1; k >= 0; k-- {
			b.put(lines[k], x, y, small, c, o.Fade(), draw.Left)
			y -= 19
		}
	}
}

func (a *App) big(b brush, w, h float64) {
	f := &a.scene.Feed
	if f.Big.Text != "" {
		grow := 1 - math.Exp(-f.Big.Age*12)
		b.put(f.Big.Text, w/2, h*0.24-10*grow, huge.fit(f.Big.Text, w-24), f.Big.Color,
			min(1, (2.6-f.Big.Age)*2)*grow, draw.Center)
	}
	if f.Hint.Text != "" {
		b.put(f.Hint.Text, w/2, h-100-f.Hint.Age*14, plain, f.Hint.Color,
			min(1, (1.8-f.Hint.Age)*2), draw.Center)
	}
}

func (a *App) dead(b brush, v *session.View, w, h float64) {
	f := v.Fighter()
	if f == nil {
		return
	}
	b.Rect(0, h*0.38, w, h*0.17, ink(scene.Color{R: 0.1, G: 0.02, B: 0.03}, 0.6))
	text := "you fell"
	switch k := a.scene.Killer; {
	case k == v.Me:
		text = "that was your own doing"
	case k != world.Nobody:
		text = a.scene.NameOf(k) + " got you"
	}
	b.put(text, w/2, h*0.40, huge.fit(text, w-24), scene.Danger.Mix(scene.Paper, 0.3), 1,
		draw.Center)
	text = "fire to come back"
	if wait := int(f.Back) - int(v.World.Tick()); wait > 0 {
		text = "back in " + strconv.Itoa(wait/arena.Game.Rate()+1)
	}
	b.put(text, w/2, h*0.40+huge.line+6, plain, scene.Paper, 0.9, draw.Center)
}

func (a *App) board(b brush, w, h float64) {
	n := min(len(a.rows), 20)
	const row = 24.0
	bw := min(460, w-20)
	bh := row*float64(n) + 64
	x, y := w/2-bw/2, max(60, h/2-bh/2)
	b.Rect(x, y, bw, bh, ink(scene.Night, 0.88))
	b.Rect(x, y, bw, 3, ink(scene.Own, 1))
	b.put(a.scene.Map.Title, x+18, y+14, plain, scene.Paper, 1, draw.Left)
	b.put("kills", x+bw-90, y+18, small, scene.Dim, 1, draw.Right)
	b.put("deaths", x+bw-20, y+18, small, scene.Dim, 1, draw.Right)
	for i := range n {
		r := &a.rows[i]
		ry := y + 57 + float64(i)*row
		if r.Mine {
			b.Rect(x+8, ry-3, bw-16, row-2, ink(scene.Own.Mul(0.3), 0.6))
		}
		b.put(strconv.Itoa(i+1), x+36, ry, small, scene.Dim, 1, draw.Right)
		b.put(r.Name, x+50, ry, small, r.Color, 1, draw.Left)
		b.put(strconv.Itoa(r.Kills), x+bw-90, ry, small, scene.Paper, 1, draw.Right)
		b.put(strconv.Itoa(r.Deaths), x+bw-20, ry, small, scene.Dim, 1, draw.Right)
	}
}

// waiting tells what the player waits for.
func (a *App) waiting(b brush, text string, w, h float64) {
	lines := wrap(text, w-40, plain)
	b.Rect(0, h/2-50, w, 76+24*float64(len(lines)), ink(scene.Night, 0.85))
	for i := range 8 {
		k := math.Mod(a.scene.Time*1.3+a.clock*1.3-float64(i)/8, 1)
		dir := det.Angle(float64(i) * math.Pi / 4).Vec()
		b.Circle(w/2+dir.X*14, h/2-20+dir.Y*14, 3.4, ink(scene.Own, 1-math.Abs(k)))
	}
	for i, l := range lines {
		b.put(l, w/2, h/2+12+24*float64(i), plain, scene.Paper, 1, draw.Center)
	}
}
