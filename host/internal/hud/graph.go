package hud

import (
	"fmt"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// meter is how many snapshots came lately.
type meter struct {
	at, rate float64
	count    uint64
}

func (m *meter) update(now float64, count uint64) float64 {
	if passed := now - m.at; passed > 1 {
		m.rate = float64(count-min(count, m.count)) / passed
		m.at, m.count = now, count
	}
	return m.rate
}

// graph shows the last seconds: bytes from below, round trip as a line, wrong predictions in red,
// and numbers.
func (h *HUD) graph(s *draw.Surface, m *Moment) {
	g := m.Session.Graph()
	w, high := min(300, h.w-32), 90.0
	rows := m.Session.Facts(m, h.Blind.On())
	all := high + 18*float64(len(rows)) + 20
	x, y := h.w-w-16, h.h-all-14
	s.Rect(x-8, y-8, w+16, all, night.Alpha(0.82))
	step := w / client.GraphLength
	px, py := 0.0, 0.0
	for i := range client.GraphLength {
		v := g.At(i)
		at := x + float64(i)*step
		if bar := min(1, v.Bytes/1200) * high; bar > 0 {
			s.Rect(at, y+high-bar, max(1, step), bar, plasma.Alpha(0.55))
		}
		if bar := min(1, v.Corrected) * high; bar > 0 && !h.Blind.On() {
			s.Rect(at, y+high-bar, max(1.5, step), bar, danger.Alpha(0.85))
		}
		top := y + high - min(1, v.RoundTrip/400)*high
		if i > 0 && v.RoundTrip > 0 && py > 0 {
			s.Line(px, py, at, top, 1.6, own)
		}
		px, py = at, top
	}
	for i, r := range rows {
		at := y + high + 14 + 18*float64(i)
		s.Text(x, at, 14, r[0], dim, draw.Left)
		s.Text(x+w, at, 14, r[1], paper, draw.Right)
	}
}

// Served is the Session of a game on a server.
type Served struct {
	*client.Session
	frames meter
}

// Facts are the numbers below the graph, each with what it is.
func (x *Served) Facts(m *Moment, blind bool) [][2]string {
	n := x.Numbers()
	ms := func(s float64) string { return fmt.Sprintf("%.0f ms", s*1000) }
	size := 0.0
	if n.Snapshots > 0 {
		size = float64(n.SnapshotBytes) / float64(n.Snapshots)
	}
	style, wrong := x.Style().String(),
		fmt.Sprintf("%d times, %.1f units", n.Corrections, n.Corrected)
	if blind {
		style, wrong = "hidden: blind test", "hidden"
	}
	place := x.Place()
	if n.Moves > 0 {
		place += fmt.Sprintf(", after %d moves", n.Moves)
	}
	return [][2]string{
		{"server", place},
		{"round trip", ms(n.RoundTrip.Seconds()) + " ± " + ms(n.Jitter.Seconds())},
		{"lost", fmt.Sprintf("%.1f %% in, %.1f %% out", n.LossIn*100, n.LossOut*100)},
		{"ahead", fmt.Sprintf("%.1f ticks, %.1f early", n.Ahead, float64(n.Early)/4)},
		{"snapshots", fmt.Sprintf("%.0f a second of %.0f B",
			x.frames.update(m.Now, n.Snapshots), size)},
		{"corrected", wrong},
		{"frames", fmt.Sprintf("%.0f a second, %.1f ms each", m.Rate, m.Work)},
		{"style", style},
	}
}

// outlines rings what has a place, where the server last said that it was.
func (h *HUD) outlines(s *draw.Surface, w *world.World) {
	c := s.LastCamera()
	s.Camera(c)
	thin := c.Width / 500
	body, wide, ok := h.Title.Body()
	for id := range w.Entities() {
		f, there := h.Title.Place(id.Class())
		if !there || len(f.Slots) < 2 {
			continue // a place on a line is somewhere on the screen that only the game knows
		}
		at, there := h.Title.At(w, id)
		if !there {
			continue
		}
		r := c.Width / 120
		if ok && id.Class() == body.Number() {
			r = wide / 2
		}
		s.Ring(at.X, at.Y, r+thin, thin, PlayerColor(w.Owner(id)).Mix(draw.White, 0.4))
	}
}
