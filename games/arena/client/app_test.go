package client_test

import (
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena/client"
	"github.com/coeval-dev/coeval/games/arena/client/session"
)

// hands are a screen's that a test holds.
type hands struct {
	in            game.Input
	pressed, held map[game.Key]bool
}

func (h *hands) Input() *game.Input {
	h.in.Direct(det.Vec2{}, h.in.Pointer.Down)
	return &h.in
}

func (h *hands) Given()                  { h.in.Given() }
func (h *hands) Pressed(k game.Key) bool { return h.pressed[k] }
func (h *hands) Held(k game.Key) bool    { return h.held[k] }

// play begins a game against bots.
func play(t testing.TB, level string) *client.App {
	t.Helper()
	a, err := client.New(client.Options{
		Practice: session.PracticeOptions{Map: level, Bots: 7, Seed: 3}, Autopilot: true})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func frame(a *client.App, s *draw.Surface, h *hands, w, height float64) {
	s.Begin(w, height)
	a.Frame(s, h, client.Moment{Width: w, Height: height})
}

// TestFrame looks at the calls of a frame: all that the screen needs is there, and nothing makes it
// grow.
func TestFrame(t *testing.T) {
	a := play(t, "foundry")
	s, h := new(draw.Surface), &hands{pressed: map[game.Key]bool{game.KeyH: true}}
	frame(a, s, h, 1280, 720)
	h.pressed = nil
	for range 30 { // by then all noises are there
		frame(a, s, h, 1280, 720)
	}
	library := len(s.Library())
	for _, size := range [][2]float64{
		{1280, 720}, {360, 640}, {1920, 1080}, {3440, 1440}, {90, 40}} {
		frame(a, s, h, size[0], size[1])
		counts, text := map[draw.Op]int{}, ""
		var r draw.Reader
		r.Read(s.List())
		for c := range r.Calls() {
			if counts[c.Op]++; c.Op == draw.OpText {
				text += string(c.Bytes) + "\n"
			}
		}
		if r.Err() != nil || s.Err() != nil {
			t.Fatal(size, r.Err(), s.Err())
		}
		for _, o := range []draw.Op{draw.OpClear, draw.OpCamera, draw.OpOverlay, draw.OpPixels,
			draw.OpClip, draw.OpUnclip} {
			if counts[o] != 1 {
				t.Errorf("%v: %d calls of the number %d", size, counts[o], o)
			}
		}
		if counts[draw.OpPolygon] == 0 || counts[draw.OpImage] < 5 || counts[draw.OpRect] < 5 {
			t.Errorf("%v: %v", size, counts)
		}
		if !strings.Contains(text, "prediction: doom3") || !strings.Contains(text, "first to") {
			t.Errorf("%v: it reads %q", size, text)
		}
		if len(s.List()) > 300_000 {
			t.Errorf("%v: %d bytes", size, len(s.List()))
		}
	}
	if grown := len(s.Library()) - library; grown != 0 {
		t.Errorf("the library grew by %d bytes after the first frames", grown)
	}
}

// TestHands: keys, a pointer, a second stick and a tap on a weapon do what they should.
func TestHands(t *testing.T) {
	a, err := client.New(client.Options{Practice: session.PracticeOptions{Map: "duel", Seed: 5}})
	if err != nil {
		t.Fatal(err)
	}
	s, h := new(draw.Surface), new(hands)
	until := func(what string, ok func(stats map[string]any) bool) {
		t.Helper()
		for begin := time.Now(); time.Since(begin) < 30*time.Second; {
			frame(a, s, h, 1280, 720)
			if ok(a.Stats()) {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Fatal("never happened: ", what)
	}
	alive := func(stats map[string]any) bool {
		return stats["health"] != nil && stats["health"] != 0
	}
	until("the player is alive", alive)
	from := a.Stats()["x"].(float64)
	h.in.Set(game.KeyD, true)
	h.in.Set(game.KeyRight, true)
	until("a key walks", func(stats map[string]any) bool {
		return stats["answers"] != 0 && (stats["x"].(float64) != from || !alive(stats))
	})
	h.in.Release()
	h.in.Pointer = game.Pointer{There: true, Down: true, Place: det.Vec2{X: 1, Y: 1}}
	h.in.Set(game.Key2, true)
	until("a key takes a weapon", func(stats map[string]any) bool {
		return strings.Contains(stats["weapon"].(string), "launcher") ||
			strings.Contains(stats["weapon"].(string), "rocket")
	})
	until("the pointer's button fires", func(stats map[string]any) bool {
		return stats["rockets"].(int) < 3
	})
}
