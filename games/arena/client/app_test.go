package client_test

import (
	"testing"

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

func (h *hands) Input() *game.Input      { h.in.Direct(det.Vec2{}, h.in.Pointer.Down); return &h.in }
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
