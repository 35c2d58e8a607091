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
		o.Durable = func() world.Tick { return world.Tick(h.safe.Load()) }
		o.Hurry = h.keeper.Hurry
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	h.clerk, err = storing.New(ctx, h.title.Game, o)
	return err
}

// store is told each settled world.
func (h *host) store(w *world.World) {
	m := h.mirror.Load()
	if m == nil || h.clerk == nil {
		return
	}
	h.safe.Store(uint64(m.Safe()))
	h.clerk.SetEpoch(m.Decree())
	h.clerk.Tick(w)
}
