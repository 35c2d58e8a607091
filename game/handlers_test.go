package game_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// Honk and Crash are events.
type (
	Honk  struct{ Tone int }
	Crash struct{ Speed int }
)

// Sync names the fields.
func (h *Honk) Sync(s *bits.Sync) { s.Int(&h.Tone, 0, 9) }

// Sync names the fields.
func (c *Crash) Sync(s *bits.Sync) { s.Int(&c.Speed, 0, 99) }

var traffic = world.Define("traffic", world.Class[Tank](), world.Event[Honk](),
	world.Event[Crash](),
	world.OnStart(func(w *world.World) {
		world.Emit(w, world.None, Honk{Tone: 3})
		world.Emit(w, world.None, Crash{Speed: 50})
		world.Emit(w, world.None, Honk{Tone: 4})
	}))

// A screen says what it does about each kind of event, by type or by name.
func ExampleHandlers() {
	h := game.NewHandlers(traffic)
	game.On(h, func(_ *game.Frame, _ world.Emitted, v *Crash) { fmt.Println("crash at", v.Speed) })
	h.Named("Honk", func(*game.Frame, world.Emitted, bits.Syncer) { fmt.Println("honk") })
	if err := h.Err(); err != nil {
		fmt.Println(err)
	}
	w, err := traffic.New(world.Settings{})
	if err != nil {
		fmt.Println(err)
	}
	h.Hear(&game.Frame{World: w, Fresh: true})
	h.Hear(&game.Frame{World: w}) // the next frame has the same world
	// Output:
	// honk
	// crash at 50
	// honk
}

// TestHandlers: each handler is told once of what it is for, in order, and one that is for no event
// of the game is named.
func TestHandlers(t *testing.T) {
	h := game.NewHandlers(traffic)
	var said []string
	h.Every(func(_ *game.Frame, e world.Emitted, _ bits.Syncer) {
		said = append(said, traffic.Events()[e.Kind].Name())
	})
	game.On(h, func(_ *game.Frame, _ world.Emitted, v *Honk) {
		said = append(said, fmt.Sprint(v.Tone))
	})
	w, err := traffic.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	h.Hear(&game.Frame{World: w, Fresh: true})
	h.Hear(&game.Frame{World: w})
	h.Hear(&game.Frame{Fresh: true})
	if got := strings.Join(said, " "); got != "Honk 3 Crash Honk 4" {
		t.Error(got)
	}
	if h.Err() != nil {
		t.Error(h.Err())
	}
	h.Named("Bang", nil)
	game.On(h, func(*game.Frame, world.Emitted, *Tank) {})
	if err := h.Err(); err == nil || !strings.Contains(err.Error(), `no event "Bang"`) ||
		!strings.Contains(err.Error(), "Honk, Crash") {
		t.Error(err)
	}
	h.Hear(&game.Frame{World: w, Fresh: true})
}

// Nudge is an event for one player.
type Nudge struct{ To world.Player }

// Sync names the fields.
func (n *Nudge) Sync(s *bits.Sync) { bits.Integer(s, &n.To, 0, 1<<16-1) }

// For says for whom it is.
func (n *Nudge) For(p world.Player) bool { return p == n.To }

// TestHandlersOfOthers: where a machine has the whole world, a player is not told of what is for
// another.
func TestHandlersOfOthers(t *testing.T) {
	g := world.Define("nudges", world.Class[Tank](), world.Event[Nudge](),
		world.OnStart(func(w *world.World) {
			for p := range world.Player(4) {
				world.Emit(w, world.None, Nudge{To: p})
			}
		}))
	w, err := g.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	h := game.NewHandlers(g)
	var to []world.Player
	game.On(h, func(_ *game.Frame, _ world.Emitted, n *Nudge) { to = append(to, n.To) })
	h.Hear(&game.Frame{World: w, Me: 2, Fresh: true})
	if len(to) != 1 || to[0] != 2 {
		t.Errorf("player 2 is told of those for %v", to)
	}
}
