package turns

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// A Viewer is what one screen shows of a world whose ticks may be computed again: a copy of it,
// with each event once. It belongs to the goroutine that drives the match, but for the world that
// Look gave, which is the screen's until the next Look.
type Viewer struct {
	shown  *world.World
	seen   map[key]world.Tick
	events []event
	w      bits.Writer
	sync   bits.Sync
	buf    [4096]byte
	pruned world.Tick
}

// A key is what an event is known by, whenever it is computed.
type key struct {
	world.Name
	kind uint16
}

// An event waits to be shown.
type event struct {
	world.Emitted
	data []byte
}

const (
	// remembered is for how many ticks an event is known to have been shown: longer than anybody
	// goes back.
	remembered = 128
	// mostEvents is how many may wait to be shown. Who catches up has no use for all of them.
	mostEvents = 512
)

// After takes the events of a tick that was computed, for the first time or again.
func (v *Viewer) After(w *world.World) {
	if v.seen == nil {
		v.seen = map[key]world.Tick{}
	}
	t := w.Tick()
	for e, s := range w.Host().Happened {
		k := key{e.Name, e.Kind}
		if _, ok := v.seen[k]; ok {
			continue
		}
		v.seen[k] = t
		v.w.Reset(v.buf[:])
		v.sync.StartWrite(&v.w)
		s.Sync(&v.sync)
		if v.sync.Err() != nil || v.w.Err() != nil {
			continue // it is too large to be shown by this way
		}
		if len(v.events) == mostEvents {
			v.events = append(v.events[:0], v.events[1:]...)
		}
		v.events = append(v.events, event{e, append([]byte(nil), v.w.Bytes()...)})
	}
	if t < v.pruned { // another match
		v.pruned = 0
	}
	if t >= v.pruned+remembered {
		v.pruned = t
		for k, at := range v.seen {
			if at+remembered < t || at > t+remembered {
				delete(v.seen, k)
			}
		}
	}
}

// Look gives what to draw of a world now. Its events are those that were not shown before.
func (v *Viewer) Look(w *world.World) *world.World {
	if v.shown == nil || v.shown.Game() != w.Game() {
		v.shown = w.Host().Clone()
	} else if v.shown.Host().CopyFrom(w) != nil {
		v.shown = w.Host().Clone()
	}
	v.shown.Host().SetTick(w.Tick()) // its own events are among those that wait, or were shown
	var r bits.Reader
	for i := range v.events {
		r.Reset(v.events[i].data)
		// one that is too much for the game's own limit is not shown
		_ = v.shown.Host().Recall(v.events[i].Emitted, &r)
	}
	v.events = v.events[:0]
	return v.shown
}
