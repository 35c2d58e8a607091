package game

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// Handlers call a screen's functions when events happen: by type, or by name where the type is not
// at hand, as in a table of sounds. A Screen makes one and calls Hear in each frame:
//
//	h := game.NewHandlers(Game)
//	game.On(h, func(f *game.Frame, e world.Emitted, v *Blast) { sparks(v.Pos) })
//	h.Named("Score", func(f *game.Frame, e world.Emitted, _ bits.Syncer) { play("score.wav") })
//
// Each event is told once, in the order in which events happened, and each handler in the order in
// which it was given.
type Handlers struct {
	game  *world.Game
	kinds [][]handler // by the number of the event
	every []handler
	err   error
}

// A handler is told of an event.
type handler func(f *Frame, e world.Emitted, v bits.Syncer)

// NewHandlers makes handlers of the events of a game.
func NewHandlers(g *world.Game) *Handlers {
	return &Handlers{game: g, kinds: make([][]handler, len(g.Events()))}
}

// On has a function be called for each event of a type.
func On[E any](h *Handlers, f func(f *Frame, e world.Emitted, v *E)) {
	for i, info := range h.game.Events() {
		if _, is := any(info.New()).(*E); is {
			h.kinds[i] = append(h.kinds[i], func(at *Frame, e world.Emitted, v bits.Syncer) {
				f(at, e, any(v).(*E))
			})
			return
		}
	}
	h.wrong(fmt.Sprintf("%T", *new(E)))
}

// Named has a function be called for each event of a name, as the game's own declaration has it.
func (h *Handlers) Named(name string, f func(f *Frame, e world.Emitted, v bits.Syncer)) {
	i := slices.IndexFunc(h.game.Events(),
		func(e *world.EventInfo) bool { return e.Name() == name })
	if i < 0 {
		h.wrong(name)
		return
	}
	h.kinds[i] = append(h.kinds[i], f)
}

// Every has a function be called for each event of whatever kind, before those that are for its
// kind.
func (h *Handlers) Every(f func(f *Frame, e world.Emitted, v bits.Syncer)) {
	h.every = append(h.every, f)
}

// wrong remembers the first handler that is for no event of the game.
func (h *Handlers) wrong(name string) {
	if h.err != nil {
		return
	}
	var names []string
	for _, e := range h.game.Events() {
		names = append(names, e.Name())
	}
	if len(names) == 0 {
		names = []string{"none: declare some with world.Event"}
	}
	h.err = fmt.Errorf("game: %s has no event %q; it has %s", h.game.Name(), name,
		strings.Join(names, ", "))
}

// Err is about a handler that is for no event of the game, or nil: look at it once all are given.
func (h *Handlers) Err() error { return h.err }

// Hear tells the handlers what happened, if that was not shown yet.
func (h *Handlers) Hear(f *Frame) {
	if !f.Fresh || f.World == nil {
		return
	}
	for e, v := range f.World.Host().Happened {
		if a, some := v.(world.Addressed); some && !a.For(f.Me) {
			continue // a whole world has all of them
		}
		for _, call := range h.every {
			call(f, e, v)
		}
		for _, call := range h.kinds[e.Kind] {
			call(f, e, v)
		}
	}
}
