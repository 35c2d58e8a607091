//go:build !js

package mirrors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// administered is the mirror as operators see it.
func (h *host) administered() admin.Game {
	m := h.mirror.Load()
	g := admin.Game{
		Title: h.title, Mirrored: true, Do: m.Do,
		Server:  func() *server.Server { return m.Server() },
		Status:  func() any { return h.status() },
		Metrics: h.meters.Text, Unready: h.drained.Store,
		Stop: func(drain time.Duration, why string) error {
			if drain >= 0 {
				return errors.New("how long the players of a mirror have to go to others is said when " +
					"it is started, by --drain: leave it out")
			}
			h.end(errors.New(why))
			return nil
		},
	}
	if h.keeper != nil {
		g.Save = h.save
	}
	return g
}

// saveTime is how long a save may take.
const saveTime = 30 * time.Second

// save has what is settled be written as a whole, and waits until that is safe.
func (h *host) save(ctx context.Context) (tick world.Tick, err error) {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	m, before := h.mirror.Load(), h.keeper.Numbers()
	if err := m.Do(ctx, func() {
		tick = m.Stats().Settled
		h.keeper.Want()
	}); err != nil {
		return 0, err
	}
	for {
		n := h.keeper.Numbers()
		switch {
		case n.Chapters > before.Chapters && n.Durable >= uint64(tick):
			return world.Tick(n.Durable), nil
		case n.AtRisk:
			return 0, fmt.Errorf("the disk fails, or does not keep up; tick %d is safe: the log "+
				"says more", n.Durable)
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("nothing was written within %v; tick %d is safe", saveTime,
				n.Durable)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
