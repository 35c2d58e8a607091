//go:build !js

package mirrors

import (
	"cmp"
	"context"
	"time"

	"github.com/coeval-dev/coeval/host/internal/storing"
	"github.com/coeval-dev/coeval/world"
)

// storeTime is how long a store may take to be opened.
const storeTime = 30 * time.Second

// openStore opens the store of what outlives the match, if anything of the game does. Where mirrors
// keep the game on their disks, nothing is written that follows from a tick that some of those
// disks do not have: after the death of all, the game may go on without it.
func (h *host) openStore(ctx context.Context) (err error) {
	o := storing.Options{Store: h.Store, Led: true, Log: h.Log,
		Owner: "mirror " + cmp.Or(h.Mirror.Name, h.Address, h.Mirrors)}
	if h.keeper != nil {
		o.Durable = h.durable
		o.Hurry = func() {
			if m := h.mirror.Load(); m != nil {
				m.Hurry()
			}
		}
	}
	o.Answered = h.answered
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	h.clerk, err = storing.New(ctx, h.title.Game, o)
	return err
}

// durable is up to which tick of its world all disks have the game.
func (h *host) durable() world.Tick {
	base := h.base.Load()
	return world.Tick(max(h.safe.Load(), base) - base)
}

// answered has the world be told what the store says before the next tick, rather than after it.
func (h *host) answered() {
	m := h.mirror.Load()
	if m == nil || !h.telling.CompareAndSwap(false, true) {
		return
	}
	go func() { // it ends when the mirror is closed at the latest
		_ = m.Do(context.Background(), func() {
			h.telling.Store(false)
			h.clerk.Serve(m.Server())
		})
	}()
}

// store is told each settled world.
func (h *host) store(w *world.World) {
	m := h.mirror.Load()
	if m == nil || h.clerk == nil {
		return
	}
	h.clerk.SetEpoch(m.Decree())
	h.clerk.Tick(w)
}
