//go:build !js

package mirrors

import (
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// This file is what is done with each settled world.

// begin starts the trace of a level.
func (h *host) begin(w *world.World, l server.Level) { h.record.Begin(w, "level "+l.Name) }

// begun is told each level: the first, and those that follow. A mirror that joins others, or comes
// back, records from what is settled first.
func (h *host) begun(w *world.World, l server.Level) {
	m := h.mirror.Load()
	if m == nil || m.Server() == nil {
		if (h.Mirror.Found || h.successor != nil) && !h.back {
			h.begin(w, l)
		}
		return
	}
	h.base.Store(uint64(m.Base()))
	h.settled = w.Tick()
	h.begin(w, l)
	h.clerk.Begin()
}

// keep is told each settled world, and what went in.
func (h *host) keep(w *world.World, in *world.Inputs) {
	if m := h.mirror.Load(); m != nil {
		h.base.Store(uint64(m.Base()))
	}
	h.write(w, in)
	h.store(w)
}

// write records what is settled. A mirror that had to join anew goes on from a later state.
func (h *host) write(w *world.World, in *world.Inputs) {
	switch {
	case h.record.Err() != nil || w.Tick() <= h.settled && h.record.Begun():
		return // what was settled before is settled again alike
	case !h.record.Begun():
		l := server.Level{}
		if m := h.mirror.Load(); m != nil && m.Server() != nil {
			l = m.Server().Level()
		}
		h.begin(w, l)
	case w.Tick() == h.settled+1:
		h.record.Tick(w, in)
	default:
		h.record.State(w)
	}
	h.settled = w.Tick()
}
