//go:build (js && wasm) || desktop

package client

import (
	"math"
	"strconv"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
	"github.com/coeval-dev/coeval/games/arena/client/session"
	"github.com/coeval-dev/coeval/games/arena/client/sprite"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// nextStyle changes how the game is predicted.
func (a *App) nextStyle() {
	if a.net == nil {
		return
	}
	s := (a.net.Style() + 1) % (predict.HalfLife + 1)
	a.setStyle(s)
	a.scene.Feed.Announce(s.String(), scene.Own)
}

// setStyle changes how the game is predicted, from outside.
func (a *App) setStyle(s predict.Style) {
	if a.net != nil {
		a.blind.Stop()
		a.net.SetStyle(s)
	}
}

func (a *App) toggleBlind() {
	switch {
	case a.net == nil:
	case a.blind.On():
		a.blind.Stop()
		a.scene.Feed.Announce("blind test ended", scene.Own)
	default:
		a.blind.Start(a.clock)
	}
}

// extra draws the net graph and the blind test.
func (a *App) extra(dst *ebiten.Image, v *session.View, w, h float64) {
	if a.net == nil {
		return
	}
	if a.showNet {
		a.netGraph(dst, w, h)
	}
	a.blindTest(dst, w, h)
}

// netGraph shows the last seconds: bytes from below, round trip as a line, wrong predictions in
// red, and numbers.
func (a *App) netGraph(dst *ebiten.Image, w, h float64) {
	u := a.unit
	g, n := a.net.Graph(), a.net.Numbers()
	gw, gh := 300*u, 96*u
	x, y := w-gw-20*u, h-gh-96*u
	a.batch.rect(x-8*u, y-8*u, gw+16*u, gh+84*u, ink(scene.Night, 0.8))
	step := gw / client.GraphLength
	var last point
	for i := range client.GraphLength {
		s := g.At(i)
		px := x + float64(i)*step
		if bar := min(1, s.Bytes/1200) * gh; bar > 0 {
			a.batch.rect(px, y+gh-bar, max(1, step), bar, ink(scene.Plasma.Mul(0.8), 0.55))
		}
		if e := min(1, s.Corrected/1.0) * gh; e > 0 {
			a.batch.rect(px, y+gh-e, max(1.5, step), e, ink(scene.Danger, 0.85))
		}
		p := point{float32(px), float32(y + gh - min(1, s.RoundTrip/400)*gh)}
		if i > 0 && s.RoundTrip > 0 {
			a.batch.line(last, p, float32(1.6*u), ink(scene.Own, 0.95))
		}
		last = p
	}
	a.batch.flush(dst, blendOver)
	t := a.fonts.small
	ms := func(s float64) string { return strconv.Itoa(int(math.Round(s*1000))) + " ms" }
	percent := func(p float64) string { return strconv.FormatFloat(p*100, 'f', 1, 64) + " %" }
	lines := [...][2]string{
		{"round trip " + ms(n.RoundTrip.Seconds()) + " +/- " + ms(n.Jitter.Seconds()),
			"loss " + percent(n.LossIn) + " / " + percent(n.LossOut)},
		{"ahead " + strconv.FormatFloat(n.Ahead, 'f', 1, 64) + " ticks",
			"early " + strconv.FormatFloat(float64(n.Early)/4, 'f', 1, 64)},
		{"snapshot " + strconv.Itoa(int(mean(n.SnapshotBytes, n.Snapshots))) + " B",
			"corrected " + strconv.Itoa(int(n.Corrections)) + ", " +
				strconv.FormatFloat(n.Corrected, 'f', 1, 64) + " u"},
	}
	for i, l := range lines {
		ly := y + gh + (6+float64(i)*18)*u
		t.put(dst, l[0], x, ly, scene.Paper, 0.9)
		t.right(dst, l[1], x+gw, ly, scene.Dim, 0.95)
	}
	name := "style " + a.net.Style().String()
	if a.blind.On() {
		name = "style hidden: blind test"
	}
	t.put(dst, name, x, y+gh+60*u, scene.Own, 0.95)
}

func mean(sum, n uint64) float64 {
	if n == 0 {
		return 0
	}
	return float64(sum) / float64(n)
}

// ghosts outlines where the server last said that things were.
func (a *App) ghosts(dst *ebiten.Image) {
	w := a.view.Truth
	if w == nil {
		return
	}
	l := &a.lens
	ring := func(at det.Vec2, size float64, c scene.Color) {
		if l.shows(at, 1) {
			a.batch.lay(l, sprite.Ring, at, size, size, 0, ink(c, 0.9))
		}
	}
	for id, f := range world.All[arena.Fighter](w) {
		if f.Alive() {
			c, ahead := a.scene.ColorOf(w.Owner(id)), f.Pos.MulAdd(f.Aim.Vec(), 0.6)
			ring(f.Pos, 2.4*arena.Radius, c)
			a.batch.lay(l, sprite.Arrow, ahead, 0.3, 0.3, float64(f.Aim), ink(c, 0.9))
		}
	}
	for _, s := range world.All[arena.Shot](w) {
		ring(s.Pos, 0.5, scene.WeaponColor(s.Weapon))
	}
	a.batch.flush(dst, blendOver)
}

// blindTest shows what the blind test asks for.
func (a *App) blindTest(dst *ebiten.Image, w, h float64) {
	if !a.blind.On() {
		return
	}
	u := a.unit
	text, hint := a.blind.Text(a.clock)
	a.box(dst, w/2-240*u, 64*u, 480*u, 58*u, ink(scene.Night, 0.85))
	a.fonts.plain.middle(dst, text, w/2, 70*u, scene.Paper, 1)
	a.fonts.small.middle(dst, hint, w/2, 96*u, scene.Dim, 1)
}

var helpLines = [...][2]string{
	{"W A S D or arrows", "walk"},
	{"mouse", "aim; left button or space fires"},
	{"1 2 3, Q E, wheel", "weapons"},
	{"Tab", "score board"},
	{"Enter", "chat;  G waves"},
	{"N", "net graph"},
	{"O", "outlines: where the server last said things were"},
	{"P", "prediction: doom3, quake3, halflife"},
	{"B", "blind test: which of two feels better?"},
	{"M", "sound off and on;  F full screen"},
	{"touch", "left thumb walks, right thumb aims and fires, a tap changes weapons"},
	{"gamepad", "sticks walk and aim, right trigger fires, bumpers change weapons"},
}

func (a *App) helpPage(dst *ebiten.Image, w, h float64) {
	u := a.unit
	bw, bh := 640*u, float64(len(helpLines))*26*u+70*u
	x, y := w/2-bw/2, h/2-bh/2
	a.batch.rect(x, y, bw, bh, ink(scene.Night, 0.93))
	a.box(dst, x, y, bw, 3*u, ink(scene.Own, 1))
	a.fonts.plain.put(dst, "keys", x+24*u, y+16*u, scene.Paper, 1)
	for i, l := range helpLines {
		ly := y + 54*u + float64(i)*26*u
		a.fonts.small.put(dst, l[0], x+24*u, ly, scene.Own, 1)
		a.fonts.small.put(dst, l[1], x+180*u, ly, scene.Paper, 0.95)
	}
}
