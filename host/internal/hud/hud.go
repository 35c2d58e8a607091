// Package hud draws what every title's screen has over the game: what the player waits for, chat,
// the score board, help, the net graph, the blind test, and outlines of where the server says that
// things are.
package hud

import (
	"fmt"
	"math"
	"strings"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// A HUD is what is over one screen. Its zero value shows nothing but words.
type HUD struct {
	Title *game.Title
	// What is shown.
	Help, Graph, Outlines, Board bool
	// Blind is a test that is under way, or not.
	Blind client.Blind
	// Keys are the page's own, each with what it does; see ServerKeys.
	Keys [][2]string

	w, h  float64 // of the screen, in units
	lines []line
	toast string // said in the middle, for a moment
	until float64
}

// A Session is the game that is played over a network.
type Session interface {
	NameOf(p world.Player) string
	// Graph is the last seconds, and Facts are the numbers below it, each with what it is. In a
	// blind test what would tell the styles apart is hidden.
	Graph() *client.Graph
	Facts(m *Moment, blind bool) [][2]string
}

// A line is one of chat, or of the server.
type line struct {
	who, text string
	color     draw.Color
	at        float64
}

// A Moment is what there is to tell.
type Moment struct {
	Now     float64 // seconds
	View    *client.View
	Session Session
	// Line is what is said at the top all the time, or nothing.
	Line string
	// Width is that of the screen in pixels, as large as those of a page.
	Width float64
	// Rate is how many frames there are in a second, and Work how many milliseconds one takes.
	Rate, Work float64
	// Failed is what went wrong, or nothing. It is shown in place of all else.
	Failed string
}

// The colors.
const (
	night  draw.Color = 0x080b12ff
	paper  draw.Color = 0xdce6f7ff
	dim    draw.Color = 0x8d9bb5ff
	own    draw.Color = 0x40d9ffff
	danger draw.Color = 0xff5a52ff
	plasma draw.Color = 0x4a9c60ff
)

const (
	lineTime  = 9.0 // seconds that a line of chat stays
	mostLines = 6
)

// Hear takes what was said since the last frame.
func (h *HUD) Hear(now float64, words []client.Word) {
	for _, w := range words {
		l := line{text: w.Text, color: own, at: now}
		switch w.Kind {
		case client.Chat:
			l.who, l.color = w.Name, PlayerColor(w.Player)
			if len(w.To) > 0 {
				l.who += " (private)"
			}
		case client.Pause:
			l.text = strings.TrimSpace("paused " + by(w.Text))
		case client.Proceed:
			l.text = strings.TrimSpace("the game goes on " + by(w.Text))
		}
		h.lines = append(h.lines, l)
	}
	for len(h.lines) > mostLines {
		h.lines = append(h.lines[:0], h.lines[1:]...)
	}
}

func by(name string) string {
	if name == "" {
		return ""
	}
	return "by " + name
}

// Chat is what was said lately, a line each.
func (h *HUD) Chat() string {
	var b strings.Builder
	for _, l := range h.lines {
		if l.who != "" {
			b.WriteString(l.who + ": ")
		}
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

// Announce says something in the middle of the screen, for a moment.
func (h *HUD) Announce(now float64, text string) { h.toast, h.until = text, now+1.6 }

// PlayerColor tells players apart.
func PlayerColor(p world.Player) draw.Color {
	if p == world.Nobody {
		return dim
	}
	hue := math.Mod(float64(p)*0.618034, 1) * 6
	part := func(shift float64) uint32 {
		d := math.Abs(math.Mod(hue+shift, 6) - 3)
		return uint32(110 + 145*max(0, min(1, d-1)))
	}
	return draw.RGB(part(0)<<16 | part(4)<<8 | part(2))
}

// Draw draws all of it over a frame.
func (h *HUD) Draw(s *draw.Surface, m *Moment) {
	s.Blend(draw.Over)
	s.Clip()
	if h.Outlines && !h.Blind.On() && m.View.Truth != nil {
		h.outlines(s, m.View.Truth)
	}
	h.measure(s, m.Width)
	if m.Failed != "" {
		h.failed(s, m.Failed)
		return
	}
	h.chat(s, m.Now)
	if m.Line != "" {
		h.line(s, m)
	}
	if h.Graph {
		h.graph(s, m)
	}
	if h.Blind.On() {
		h.blind(s, m.Now)
	}
	if h.Board && !h.Help && m.View.World != nil {
		h.board(s, m)
	}
	if m.Now < h.until {
		s.Text(h.w/2, h.h*0.22, 34, h.toast, own.Alpha(min(1, 3*(h.until-m.Now))),
			draw.Center)
	}
	if m.View.Status != "" {
		h.waiting(s, m.Now, m.View.Status)
	}
	if h.Help {
		h.help(s)
	}
}

// measure has units that are large enough to be read: a text of 14 is at least 11 pixels high.
func (h *HUD) measure(s *draw.Surface, pixels float64) {
	zoom := 1.0
	if pixels > 0 {
		zoom = max(1, min(1.6, 11.0/14*s.Width()/pixels))
	}
	s.Zoom(zoom)
	h.w, h.h = s.Width()/zoom, s.Height()/zoom
}

// panel is a box with a title, in the middle of the screen, and says where its content begins.
func (h *HUD) panel(s *draw.Surface, wide, high float64, title string) (x, y, w float64) {
	w = min(wide, h.w-16)
	x, y = (h.w-w)/2, max(8, (h.h-high)/2)
	s.Rect(x, y, w, high, night.Alpha(0.95))
	s.Rect(x, y, w, 3, own)
	s.Text(x+20, y+26, 20, title, paper, draw.Left)
	return x + 20, y + 62, w - 40
}

func (h *HUD) chat(s *draw.Surface, now float64) {
	y := h.h - 70
	if h.Graph && h.w < 800 {
		y -= 250 // above the graph
	}
	for i := len(h.lines) - 1; i >= 0; i-- {
		l := &h.lines[i]
		fade := min(1, (l.at+lineTime-now)/1.5)
		if fade <= 0 {
			continue
		}
		text := l.text
		if l.who != "" {
			text = l.who + ": " + text
		}
		parts := wrap(text, int((h.w-40)/8.5))
		for k := len(parts) - 1; k >= 0; k-- {
			s.Text(21, y+1, 16, parts[k], draw.Black.Alpha(0.7*fade), draw.Left)
			s.Text(20, y, 16, parts[k], l.color.Mix(paper, 0.35).Alpha(fade), draw.Left)
			y -= 21
		}
	}
}

// line says something at the top, right of the page's buttons, or below them where it is narrow.
func (h *HUD) line(s *draw.Surface, m *Moment) {
	unit := 1.0 // for a pixel of the page
	if m.Width > 0 {
		unit = h.w / m.Width
	}
	x, y := buttons*unit, 20*unit
	if m.Width < 2*buttons {
		x, y = 10*unit, 56*unit
	}
	for i, part := range wrap(m.Line, int((h.w-x-10*unit)/7.5)) {
		at := y + 18*float64(i)
		s.Text(x+1, at+1, 14, part, draw.Black.Alpha(0.7), draw.Left)
		s.Text(x, at, 14, part, paper.Alpha(0.75), draw.Left)
	}
}

// buttons is how many pixels wide those of a page are.
const buttons = 284.0

// wrap cuts a text into lines of at most so many characters, three at most.
func wrap(text string, most int) (lines []string) {
	most = max(most, 10)
	for r := []rune(text); len(r) > 0 && len(lines) < 3; {
		n := min(len(r), most)
		if n < len(r) {
			for k := n; k > n/2; k-- {
				if r[k] == ' ' {
					n = k
					break
				}
			}
		}
		lines = append(lines, strings.TrimSpace(string(r[:n])))
		r = r[n:]
	}
	return lines
}

// waiting tells what the player waits for.
func (h *HUD) waiting(s *draw.Surface, now float64, text string) {
	parts := wrap(text, int(h.w/10.5))
	high := 78 + 24*float64(len(parts))
	y := h.h/2 - high/2
	s.Rect(0, y, h.w, high, night.Alpha(0.85))
	for i := range 8 {
		sin, cos := math.Sincos(float64(i) * math.Pi / 4)
		lit := math.Mod(now*1.3+8-float64(i)/8, 1)
		s.Circle(h.w/2+14*cos, y+34+14*sin, 3.5, own.Alpha(1-lit))
	}
	for i, p := range parts {
		s.Text(h.w/2, y+76+24*float64(i), 19, p, paper, draw.Center)
	}
}

// failed says what went wrong with the game itself.
func (h *HUD) failed(s *draw.Surface, text string) {
	s.Rect(0, 0, h.w, h.h, night.Alpha(0.9))
	y := h.h/2 - 60
	s.Text(h.w/2, y, 26, "The game has stopped.", danger, draw.Center)
	for i, p := range wrap(text, int(h.w/9.5)) {
		s.Text(h.w/2, y+44+24*float64(i), 18, p, paper, draw.Center)
	}
	s.Text(h.w/2, y+136, min(16, h.w/34),
		"The browser's console has more. Reload the page to play again.", dim, draw.Center)
}

// mostRows is how many players the board shows.
const mostRows = 16

func (h *HUD) board(s *draw.Surface, m *Moment) {
	if h.Title.Screen.Scores == nil {
		return
	}
	list := h.Title.Screen.Scores(m.View.World)
	n := min(len(list), mostRows)
	high := 62 + 26*float64(max(n, 1)) + 12
	x, y, w := h.panel(s, 460, high, h.Title.Name())
	s.Text(x+w, y-36, 15, "points", dim, draw.Right)
	if n == 0 {
		s.Text(x, y, 16, "no one has points yet", dim, draw.Left)
	}
	for i, row := range list[:n] {
		at := y + 26*float64(i)
		name, c := h.name(m, row.Player), PlayerColor(row.Player)
		if row.Player == m.View.Me {
			s.Rect(x-8, at-12, w+16, 24, own.Alpha(0.16))
			c = own
		}
		s.Text(x+22, at, 15, fmt.Sprint(i+1), dim, draw.Right)
		s.Text(x+36, at, 17, name, c, draw.Left)
		s.Text(x+w, at, 17, fmt.Sprint(row.Points), paper, draw.Right)
	}
}

// name is what a player is called on the board.
func (h *HUD) name(m *Moment, p world.Player) string {
	if n := m.Session.NameOf(p); n != "" {
		return n
	}
	return fmt.Sprint("player ", p)
}

func (h *HUD) blind(s *draw.Surface, now float64) {
	text, hint := h.Blind.Text(now)
	w := min(560, h.w-16)
	s.Rect((h.w-w)/2, 60, w, 62, night.Alpha(0.88))
	s.Text(h.w/2, 82, min(19, w/28), text, paper, draw.Center)
	s.Text(h.w/2, 106, min(14, w/38), hint, dim, draw.Center)
}

// ServerKeys are those of a page that plays on a server, besides those of the game.
var ServerKeys = [][2]string{
	{"Enter", "chat"},
	{"Tab", "score board"},
	{"N", "net graph, with frames a second"},
	{"O", "outlines: where the server last said things were"},
	{"P", "prediction: doom3, quake3, halflife"},
	{"B", "blind test: which of two feels better?"},
	{"M", "sound off and on"},
	{"F", "full screen"},
	{"H", "this help"},
}

// Hint says how a title is played.
func Hint(t *game.Title) string {
	if t.Screen.Hint != "" {
		return t.Screen.Hint
	}
	return "Arrows or WASD move, space acts."
}

func (h *HUD) help(s *draw.Surface) {
	hint := wrap(Hint(h.Title), int((min(620, h.w-16)-40)/8.7))
	row := max(20, min(26, (h.h-150-22*float64(len(hint)))/float64(len(h.Keys))))
	high := 62 + 22*float64(len(hint)) + row*float64(len(h.Keys)) + 52
	x, y, _ := h.panel(s, 620, high, h.Title.Name())
	for _, l := range hint {
		s.Text(x, y, 17, l, paper, draw.Left)
		y += 22
	}
	y += 12
	size := min(16, h.w/34)
	for _, k := range h.Keys {
		if k[0] == "Tab" && h.Title.Screen.Scores == nil {
			continue
		}
		s.Text(x, y, size, k[0], own, draw.Left)
		s.Text(x+5*size, y, size, k[1], paper.Alpha(0.9), draw.Left)
		y += row
	}
	s.Text(x, y+6, size-2, "A gamepad's sticks, and fingers on the glass, do as well.", dim,
		draw.Left)
}
