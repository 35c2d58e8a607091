package client

import (
	"math"
	"strconv"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
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

// graphHeight is that of the net graph with its numbers, and a gap; lower is how much less of it
// there is on a phone.
const graphHeight, lower = 210.0, 50.0

// netGraph shows the last seconds: bytes from below, round trip as a line, wrong predictions in
// red, and numbers.
func (a *App) netGraph(b brush, w, h float64) {
	g, n := a.net.Graph(), a.net.Numbers()
	gw, gh := min(340, w-40), 96.0
	if w < 600 {
		gh -= lower
	}
	x, y := w-gw-20, h-gh-114
	if narrow(w) {
		y -= 56 // above health and weapons
	}
	b.Rect(x-8, y-8, gw+16, gh+102, ink(scene.Night, 0.8))
	step := gw / client.GraphLength
	var lx, ly float64
	for i := range client.GraphLength {
		s := g.At(i)
		px := x + float64(i)*step
		if bar := min(1, s.Bytes/1200) * gh; bar > 0 {
			b.Rect(px, y+gh-bar, max(1, step), bar, ink(scene.Plasma.Mul(0.8), 0.55))
		}
		if e := min(1, s.Corrected) * gh; e > 0 && !a.blind.On() {
			b.Rect(px, y+gh-e, max(1.5, step), e, ink(scene.Danger, 0.85))
		}
		py := y + gh - min(1, s.RoundTrip/400)*gh
		if i > 0 && s.RoundTrip > 0 {
			b.Line(lx, ly, px, py, 1.6, ink(scene.Own, 1))
		}
		lx, ly = px, py
	}
	ms := func(s float64) string { return strconv.Itoa(int(math.Round(s*1000))) + " ms" }
	percent := func(p float64) string { return strconv.FormatFloat(p*100, 'f', 1, 64) + " %" }
	name, wrong := "style "+a.net.Style().String(), "corrected "+strconv.Itoa(int(n.Corrections))+
		", "+strconv.FormatFloat(n.Corrected, 'f', 1, 64)+" u"
	if a.blind.On() {
		name, wrong = "style hidden: blind test", "corrected: hidden"
	}
	lines := [...][2]string{
		{"round trip " + ms(n.RoundTrip.Seconds()) + " +/- " + ms(n.Jitter.Seconds()), ""},
		{"loss " + percent(n.LossIn) + " / " + percent(n.LossOut),
			"ahead " + strconv.FormatFloat(n.Ahead, 'f', 1, 64) + " ticks"},
		{"snapshot " + strconv.Itoa(int(mean(n.SnapshotBytes, n.Snapshots))) + " B",
			"early " + strconv.FormatFloat(float64(n.Early)/4, 'f', 1, 64)},
		{wrong, strconv.Itoa(int(math.Round(a.pace.rate()))) + " frames a second"},
		{name, ""},
	}
	for i, l := range lines {
		ly := y + gh + 6 + float64(i)*18
		c := scene.Paper
		if i == len(lines)-1 {
			c = scene.Own
		}
		b.put(l[0], x, ly, small, c, 0.9, draw.Left)
		b.put(l[1], x+gw, ly, small, scene.Dim, 0.95, draw.Right)
	}
}

func mean(sum, n uint64) float64 {
	if n == 0 {
		return 0
	}
	return float64(sum) / float64(n)
}

// ghosts outlines where the server last said that things were. In a blind test they would tell.
func (a *App) ghosts(b brush) {
	w := a.view.Truth
	if w == nil || a.blind.On() {
		return
	}
	l := &a.painter.lens
	ring := func(at det.Vec2, size float64, c scene.Color) {
		if l.shows(at, 1) {
			b.Ring(at.X, at.Y, 0.44*size, 0.04, ink(c, 0.9))
		}
	}
	for id, f := range world.All[arena.Fighter](w) {
		if f.Alive() {
			c, ahead := a.scene.ColorOf(w.Owner(id)), f.Pos.MulAdd(f.Aim.Vec(), 0.6)
			ring(f.Pos, 2.4*arena.Radius, c)
			b.lay(sprite.Arrow, ahead, 0.3, 0.3, float64(f.Aim), paint(c, 0.9))
		}
	}
	for _, s := range world.All[arena.Shot](w) {
		ring(s.Pos, 0.5, scene.WeaponColor(s.Weapon))
	}
}

// blindTest shows what the blind test asks for.
func (a *App) blindTest(b brush, w, below float64) {
	if !a.blind.On() {
		return
	}
	text, hint := a.blind.Text(a.clock)
	wide := min(480, w-20)
	y := 64 + below
	b.Rect(w/2-wide/2, y, wide, 58, ink(scene.Night, 0.85))
	b.put(text, w/2, y+6, plain.fit(text, wide-16), scene.Paper, 1, draw.Center)
	b.put(hint, w/2, y+32, small.fit(hint, wide-16), scene.Dim, 1, draw.Center)
}

var helpLines = [...][2]string{
	{"W A S D", "walk; so do the arrows"},
	{"mouse", "aim; left button or space fires"},
	{"1 2 3, Q E", "weapons; so does the right button"},
	{"Tab", "score board"},
	{"Enter", "chat;  G waves"},
	{"N", "net graph, with frames a second"},
	{"O", "outlines: where the server last said things were"},
	{"P", "prediction: doom3, quake3, halflife"},
	{"B", "blind test: which of two feels better?"},
	{"M", "sound off and on;  F full screen"},
	{"touch", "left thumb walks, right thumb aims and fires; a tap on a weapon takes it"},
	{"gamepad", "sticks walk and aim, right trigger fires, bumpers change weapons"},
	{"H", "this help"},
}

func (a *App) helpPage(b brush, w, h float64) {
	const column, line = 96, 17.0
	bw, bh := min(620, w-16), 70.0
	room := bw - column - 48
	gap := 8.0
	if h < 480 {
		gap = 3
	}
	for _, l := range helpLines {
		bh += line*float64(len(wrap(l[1], room, small))) + gap
	}
	x, y := w/2-bw/2, max(4, h/2-bh/2)
	b.Rect(x, y, bw, bh, ink(scene.Night, 0.95))
	b.Rect(x, y, bw, 3, ink(scene.Own, 1))
	b.put("keys", x+24, y+16, plain, scene.Paper, 1, draw.Left)
	y += 54
	for _, l := range helpLines {
		b.put(l[0], x+24, y, small, scene.Own, 1, draw.Left)
		for _, part := range wrap(l[1], room, small) {
			b.put(part, x+24+column, y, small, scene.Paper, 0.95, draw.Left)
			y += line
		}
		y += gap
	}
}
