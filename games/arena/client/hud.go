//go:build (js && wasm) || desktop

package client

import (
	"fmt"
	"math"
	"strconv"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
	"github.com/coeval-dev/coeval/games/arena/client/session"
	"github.com/coeval-dev/coeval/games/arena/client/sprite"
	"github.com/coeval-dev/coeval/world"
)

// hud draws what is written on the picture.
func (a *App) hud(dst *ebiten.Image, v *session.View, l *lens) {
	w, h := float64(dst.Bounds().Dx()), float64(dst.Bounds().Dy())
	a.names(dst, v, l)
	a.pain(dst, w, h)
	if v.World != nil && a.scene.Map != nil {
		a.rows = a.scene.Board(v.World, a.rows[:0])
		a.top(dst, v, w)
		a.killFeed(dst, w)
		a.chat(dst, h)
		if me := a.scene.Me; me != nil {
			a.status(dst, v, w, h)
			a.crosshair(dst)
		} else if v.Me != world.Nobody {
			a.dead(dst, v, w, h)
		}
		a.big(dst, w, h)
		if a.showBoard || a.over(v) {
			a.board(dst, w, h)
		}
	}
	a.thumbs(dst)
	a.extra(dst, v, w, h)
	if v.Status != "" {
		a.waiting(dst, v.Status, w, h)
	}
	if a.help {
		a.helpPage(dst, w, h)
	}
}

// over says whether the round has ended.
func (a *App) over(v *session.View) bool { return world.StateOf[arena.Match](v.World).Over != 0 }

// names writes who is who above those in sight.
func (a *App) names(dst *ebiten.Image, v *session.View, l *lens) {
	if v.World == nil || a.scene.Map == nil {
		return
	}
	for i := range a.scene.Bodies {
		b := &a.scene.Bodies[i]
		if b.Mine || !l.shows(b.Pos, 0) || !a.scene.Geometry.Clear(a.scene.Eye, b.Pos) {
			continue
		}
		x, y := l.at(b.Pos)
		a.fonts.small.middle(dst, b.Name, x, y-1.05*l.scale-a.fonts.small.height/2,
			b.Color.Mix(scene.Paper, 0.35), 0.9)
	}
}

// pain reddens the side that a blow came from.
func (a *App) pain(dst *ebiten.Image, w, h float64) {
	if a.scene.Hurt <= 0 {
		return
	}
	k := a.scene.Hurt
	dir := a.scene.HurtFrom.Vec()
	t := ink(scene.Danger, 0.55*k)
	a.batch.sprite(sprite.Glow, w/2+dir.X*w*0.55, h/2+dir.Y*h*0.6, w*0.8, h*0.9, 0, t)
	a.batch.flush(dst, blendOver)
}

// box draws a rectangle, below what is drawn after it.
func (a *App) box(dst *ebiten.Image, x, y, w, h float64, t tint) {
	a.batch.rect(x, y, w, h, t)
	a.batch.flush(dst, blendOver)
}

// bar draws a part of a whole.
func (a *App) bar(x, y, w, h, part float64, c scene.Color) {
	a.batch.rect(x-2, y-2, w+4, h+4, ink(scene.Color{}, 0.55))
	a.batch.rect(x, y, w, h, ink(c.Mul(0.18), 0.8))
	a.batch.rect(x, y, w*max(0, min(1, part)), h, ink(c, 0.92))
}

// status shows health and weapons.
func (a *App) status(dst *ebiten.Image, v *session.View, w, h float64) {
	u := a.unit
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
	x, y := 24*u, h-40*u
	wide := min(200*u, w/4)
	a.bar(x+74*u, y+6*u, wide, 12*u, float64(f.Health)/arena.Healthy, c)
	a.batch.flush(dst, blendOver)
	a.fonts.huge.put(dst, strconv.Itoa(f.Health), x, y-a.fonts.huge.height/2+6*u, c, 1)

	weapons := [...]struct {
		weapon arena.Weapon
		shape  sprite.Shape
	}{{arena.Blaster, sprite.Blaster}, {arena.Launcher, sprite.Launcher}, {
		arena.Rail, sprite.RailGun}}
	bw := 104 * u
	x = w/2 - bw*1.5
	if left := 114*u + wide; x < left { // a narrow screen
		x, bw = left, min(bw, (w-left)/3)
	}
	for i, o := range weapons {
		bx, by := x+float64(i)*bw, h-56*u
		ammo := f.Ammo(o.weapon)
		c, alpha := scene.WeaponColor(o.weapon), 0.25
		if f.Weapon == o.weapon {
			alpha = 1
			a.batch.rect(bx+3*u, by, bw-6*u, 42*u, ink(c.Mul(0.25), 0.7))
			a.batch.rect(bx+3*u, by+39*u, bw-6*u, 3*u, ink(c, 1))
		} else if ammo > 0 {
			alpha = 0.7
		}
		a.batch.sprite(o.shape, bx+34*u, by+20*u, 44*u, 44*u, 0,
			ink(c.Mix(scene.Steel, 0.4), alpha))
		a.batch.flush(dst, blendOver)
		text := strconv.Itoa(ammo)
		if o.weapon == arena.Blaster {
			text = "-"
		}
		a.fonts.plain.put(dst, text, bx+64*u, by+9*u, scene.Paper, alpha)
		a.fonts.small.put(dst, strconv.Itoa(i+1), bx+9*u, by+3*u, scene.Dim, alpha)
	}
	// How long until one can fire again.
	if wait := int(f.Ready) - int(v.World.Tick()); wait > 0 && f.Weapon != arena.None {
		// after another weapon it may take longer
		part := max(0, 1-float64(wait)/float64(arena.Arms[f.Weapon].Reload))
		a.box(dst, w/2-30*u, h-66*u, 60*u*part, 3*u, ink(scene.WeaponColor(f.Weapon), 0.8))
	}
}

func (a *App) crosshair(dst *ebiten.Image) {
	if a.hands.pointing == byTouch || a.hands.pointing == byMouse &&
		a.hands.cursor == (det.Vec2{}) {
		return // on glass, or the mouse has not been seen yet
	}
	u := a.unit
	x, y := a.hands.cursor.X, a.hands.cursor.Y
	if a.hands.pointing == byPad {
		at := a.scene.Me.Pos.MulAdd(a.scene.Me.Aim.Vec(), 5)
		x, y = a.lens.at(at)
	}
	c := scene.Paper.Mix(scene.Danger, float32(a.scene.Landed))
	size := (30 + 10*a.scene.Landed) * u
	a.batch.sprite(sprite.Sight, x, y, size, size, a.scene.Landed*0.785, ink(c, 0.95))
	a.batch.flush(dst, blendOver)
}

// top shows the score and the clock.
func (a *App) top(dst *ebiten.Image, v *session.View, w float64) {
	u := a.unit
	m := world.StateOf[arena.Match](v.World)
	rank, best := scene.Rank(a.rows)
	own := 0
	if rank > 0 {
		own = a.rows[rank-1].Kills
	}
	a.box(dst, w/2-110*u, 0, 220*u, 34*u, ink(scene.Color{}, 0.45))
	left := ""
	if t := m.Left(v.World); t >= 0 {
		s := t / arena.Game.Rate()
		left = fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	if m.Teams {
		a.fonts.plain.right(dst, strconv.Itoa(m.Score[0]), w/2-44*u, 6*u,
			scene.PlayerColor(0, 1, 1), 1)
		a.fonts.plain.put(dst, strconv.Itoa(m.Score[1]), w/2+44*u, 6*u, scene.PlayerColor(0, 1, 2),
			1)
	} else {
		a.fonts.plain.right(dst, strconv.Itoa(own), w/2-44*u, 6*u, scene.Own, 1)
		a.fonts.plain.put(dst, strconv.Itoa(best), w/2+44*u, 6*u, scene.Danger, 1)
	}
	a.fonts.plain.middle(dst, left, w/2, 6*u, scene.Paper, 0.95)
	if rank > 0 && m.Kills > 0 {
		a.fonts.small.middle(dst,
			fmt.Sprintf("%s of %d, first to %d", ordinal(rank), len(a.rows), m.Kills), w/2, 37*u,
			scene.Dim, 0.9)
	}
}

func ordinal(n int) string {
	if n%100/10 != 1 && n%10 > 0 && n%10 < 4 {
		return strconv.Itoa(n) + [...]string{"", "st", "nd", "rd"}[n%10]
	}
	return strconv.Itoa(n) + "th"
}

func (a *App) killFeed(dst *ebiten.Image, w float64) {
	u := a.unit
	t := a.fonts.small
	y := 14 * u
	for i := range a.scene.Feed.Kills {
		k := &a.scene.Feed.Kills[i]
		alpha := k.Fade()
		if k.Undone {
			alpha *= 0.6
		}
		icon := 22 * u
		right := w - 20*u
		wide := t.width(k.Victim) + icon + 16*u
		if !k.Accident {
			wide += t.width(k.By)
		}
		bg := 0.35
		if k.Mine {
			bg = 0.7
		}
		a.batch.rect(right-wide-10*u, y, wide+20*u, 22*u,
			ink(scene.Color{R: 0.05, G: 0.07, B: 0.11}, bg*alpha))
		x := right - wide
		if !k.Accident {
			x += t.width(k.By)
		}
		shape := sprite.Skull
		if !k.Accident {
			shape = [...]sprite.Shape{
				sprite.Skull, sprite.Blaster, sprite.Launcher, sprite.RailGun}[k.Weapon%4]
		}
		a.batch.sprite(shape, x+8*u+icon/2, y+11*u, icon, icon, 0,
			ink(scene.WeaponColor(k.Weapon).Mix(scene.Paper, 0.3), alpha))
		a.batch.flush(dst, blendOver)
		if !k.Accident {
			t.put(dst, k.By, right-wide, y+3*u, k.ByColor, alpha)
		}
		t.put(dst, k.Victim, x+16*u+icon, y+3*u, k.VictimColor, alpha)
		if k.Undone {
			a.box(dst, right-wide-6*u, y+10*u, wide+12*u, max(2*u, 1), ink(scene.Danger, alpha))
			t.right(dst, "not after all", right-wide-16*u, y+3*u, scene.Dim, alpha)
		}
		y += 25 * u
	}
}

func (a *App) chat(dst *ebiten.Image, h float64) {
	u := a.unit
	t := a.fonts.small
	y := h - 84*u
	if a.typing {
		line := "say: " + string(a.typed)
		if int(a.scene.Time*2)%2 == 0 {
			line += "_"
		}
		a.box(dst, 18*u, y-4*u, 460*u, 24*u, ink(scene.Color{}, 0.6))
		t.put(dst, line, 24*u, y, scene.Paper, 1)
		y -= 24 * u
	}
	for i := len(a.scene.Feed.Lines) - 1; i >= 0; i-- {
		o := &a.scene.Feed.Lines[i]
		x := 24 * u
		if o.Who != "" {
			x = t.put(dst, o.Who+": ", x, y, o.Color, o.Fade())
		}
		c := scene.Paper
		if o.Who == "" {
			c = o.Color
		}
		t.put(dst, t.cut(o.Text, 560*u), x, y, c, o.Fade())
		y -= 19 * u
	}
}

func (a *App) big(dst *ebiten.Image, w, h float64) {
	f := &a.scene.Feed
	if f.Big.Text != "" {
		grow := 1 - math.Exp(-f.Big.Age*12)
		a.fonts.huge.middle(dst, f.Big.Text, w/2, h*0.24-10*a.unit*grow, f.Big.Color,
			min(1, (2.6-f.Big.Age)*2)*grow)
	}
	if f.Hint.Text != "" {
		a.fonts.plain.middle(dst, f.Hint.Text, w/2, h-100*a.unit-f.Hint.Age*14*a.unit, f.Hint.Color,
			min(1, (1.8-f.Hint.Age)*2))
	}
}

func (a *App) dead(dst *ebiten.Image, v *session.View, w, h float64) {
	f := v.Fighter()
	if f == nil {
		return
	}
	a.box(dst, 0, h*0.38, w, h*0.17, ink(scene.Color{R: 0.1, G: 0.02, B: 0.03}, 0.6))
	text := "you fell"
	switch k := a.scene.Killer; {
	case k == v.Me:
		text = "that was your own doing"
	case k != world.Nobody:
		text = a.scene.NameOf(k) + " got you"
	}
	a.fonts.huge.middle(dst, text, w/2, h*0.40, scene.Danger.Mix(scene.Paper, 0.3), 1)
	text = "fire to come back"
	if wait := int(f.Back) - int(v.World.Tick()); wait > 0 {
		text = "back in " + strconv.Itoa(wait/arena.Game.Rate()+1)
	}
	a.fonts.plain.middle(dst, text, w/2, h*0.40+a.fonts.huge.height+6*a.unit, scene.Paper, 0.9)
}

func (a *App) board(dst *ebiten.Image, w, h float64) {
	u := a.unit
	n := min(len(a.rows), 20)
	bw, rowH := 460*u, 24*u
	bh := rowH*float64(n) + 64*u
	x, y := w/2-bw/2, max(60*u, h/2-bh/2)
	a.batch.rect(x, y, bw, bh, ink(scene.Night, 0.88))
	a.batch.rect(x, y, bw, 3*u, ink(scene.Own, 1))
	for i := range n {
		if a.rows[i].Mine {
			a.batch.rect(x+8*u, y+54*u+float64(i)*rowH, bw-16*u, rowH-2*u,
				ink(scene.Own.Mul(0.3), 0.6))
		}
	}
	a.batch.flush(dst, blendOver)
	a.fonts.plain.put(dst, a.scene.Map.Title, x+18*u, y+14*u, scene.Paper, 1)
	a.fonts.small.right(dst, "kills", x+bw-90*u, y+18*u, scene.Dim, 1)
	a.fonts.small.right(dst, "deaths", x+bw-20*u, y+18*u, scene.Dim, 1)
	for i := range n {
		r := &a.rows[i]
		ry := y + 57*u + float64(i)*rowH
		a.fonts.small.right(dst, strconv.Itoa(i+1), x+36*u, ry, scene.Dim, 1)
		a.fonts.small.put(dst, r.Name, x+50*u, ry, r.Color, 1)
		a.fonts.small.right(dst, strconv.Itoa(r.Kills), x+bw-90*u, ry, scene.Paper, 1)
		a.fonts.small.right(dst, strconv.Itoa(r.Deaths), x+bw-20*u, ry, scene.Dim, 1)
	}
}

// waiting tells what the player waits for.
func (a *App) waiting(dst *ebiten.Image, text string, w, h float64) {
	u := a.unit
	a.batch.rect(0, h/2-50*u, w, 100*u, ink(scene.Night, 0.85))
	for i := range 8 {
		k := math.Mod(a.scene.Time*1.3+a.clock*1.3-float64(i)/8, 1)
		dir := det.Angle(float64(i) * math.Pi / 4).Vec()
		a.batch.sprite(sprite.Disc, w/2+dir.X*14*u, h/2-20*u+dir.Y*14*u, 7*u, 7*u, 0,
			ink(scene.Own, 1-math.Abs(k)))
	}
	a.batch.flush(dst, blendOver)
	a.fonts.plain.middle(dst, text, w/2, h/2+12*u, scene.Paper, 1)
}
