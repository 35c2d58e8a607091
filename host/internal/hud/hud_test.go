package hud

import (
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// texts are what a frame says, and where: left, right and middle of each.
type written struct {
	text        string
	x, y, size  float64
	align       draw.Align
	wide, high  float64 // of the screen
	left, right float64
}

func read(t *testing.T, s *draw.Surface) (list []written, rings int) {
	t.Helper()
	var r draw.Reader
	r.Read(s.List())
	w, h := 0.0, 0.0
	for c := range r.Calls() {
		switch c.Op {
		case draw.OpOverlay:
			w, h = c.N[0], c.N[1]
		case draw.OpRing:
			rings++
		case draw.OpText:
			o := written{text: string(c.Bytes), x: c.N[0], y: c.N[1], size: c.N[2],
				align: draw.Align(c.Flags), wide: w, high: h}
			// a letter of a sans font is about half as wide as high
			long := 0.52 * o.size * float64(len([]rune(o.text)))
			o.left = o.x - long*float64(o.align)/2
			o.right = o.left + long
			list = append(list, o)
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return list, rings
}

// TestFits: on every screen from a small phone to a large display all that is written is on it, is
// large enough to be read, and no number overlaps what it is the number of.
func TestFits(t *testing.T) {
	w, err := crowd.Title.Game.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range [][2]float64{
		{360, 640}, {640, 360}, {500, 800}, {900, 500}, {1280, 720}, {1920, 1080},
	} {
		h := HUD{Title: crowd.Title, Help: true, Graph: true, Board: true, Keys: ServerKeys}
		h.Blind.Start(0)
		h.Hear(1, []client.Word{
			{Kind: client.Chat, Player: 3, Name: "Ann", Text: strings.Repeat("many words ", 20)},
			{Kind: client.Pause, Text: "Bob"},
		})
		var s draw.Surface
		s.Begin(size[0], size[1])
		v := client.View{World: w, Me: 1, Status: "nothing has come from the server for 12 s: " +
			"the network is down, or the server has stopped; the game goes on when it is back"}
		session := &Served{Session: client.NewSession(client.SessionOptions{})}
		h.Draw(&s, &Moment{Now: 2, View: &v, Session: session, Width: size[0], Rate: 1234,
			Work: 1234.5, Line: "ann, bob (away), you: rollback, delay 2, 12 ticks again"})
		list, _ := read(t, &s)
		if len(list) < 30 {
			t.Errorf("%v: only %d texts", size, len(list))
		}
		for i, o := range list {
			pixels := o.size * size[0] / o.wide
			if o.left < 0 || o.right > o.wide || o.y < 0 || o.y > o.high || pixels < 8 {
				t.Errorf("%v: %q is at %.0f to %.0f, %.0f of %.0f, %.0f, %.1f pixels high", size,
					o.text, o.left, o.right, o.y, o.wide, o.high, pixels)
			}
			if i > 0 && o.align == draw.Right && list[i-1].y == o.y && list[i-1].right > o.left {
				t.Errorf("%v: %q and %q overlap", size, list[i-1].text, o.text)
			}
		}
	}
}

// TestHidden: a blind test is blind: what would tell the styles apart is not shown.
func TestHidden(t *testing.T) {
	w, err := pong.Title.Game.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	h := HUD{Title: pong.Title, Graph: true, Outlines: true}
	draws := func() ([]written, int) {
		var s draw.Surface
		s.Begin(1280, 720)
		s.Camera(draw.Camera{X: 32, Y: 18, Width: 64, Height: 36, Up: true})
		v := client.View{World: w, Truth: w}
		h.Draw(&s, &Moment{View: &v, Width: 1280,
			Session: &Served{Session: client.NewSession(client.SessionOptions{})}})
		if c := s.LastCamera(); c.Width != 64 {
			t.Error("what the pointer points at has changed")
		}
		return read(t, &s)
	}
	says := func(list []written, text string) bool {
		return slices.ContainsFunc(list, func(w written) bool { return w.text == text })
	}
	list, rings := draws()
	if rings != 1 || !says(list, "doom3") { // the ball; of paddles only the game knows where
		t.Errorf("%d rings; the style is shown: %v", rings, says(list, "doom3"))
	}
	h.Blind.Start(0)
	list, rings = draws()
	if rings != 0 || says(list, "doom3") || !says(list, "hidden: blind test") {
		t.Errorf("%d rings; the style is shown: %v", rings, says(list, "doom3"))
	}
}
