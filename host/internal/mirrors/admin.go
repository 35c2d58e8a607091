//go:build !js

package mirrors

import (
	"context"
	"errors"
	"time"

	"github.com/coeval-dev/coeval/host/internal/recording"
	"github.com/coeval-dev/coeval/host/internal/upgrade"
	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// administered is the mirror as operators see it.
func (h *host) administered() admin.Game {
	m := h.mirror.Load()
	g := admin.Game{
		Title: h.title, Mirrored: true, Do: m.Do,
		Group: &admin.Group{Mirror: m, Key: upgrade.KeySum(h.Mirror.Keys[0]),
			Build: recording.Build().String(), Upgrades: h.upgrades.done,
			Used: h.Mirror.Server.Conn.Used},
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

// save has what is settled be written as a whole, and waits until that is safe.
func (h *host) save(ctx context.Context) (world.Tick, error) {
	m := h.mirror.Load()
	return h.keeper.SaveAll(ctx, func(ctx context.Context) (t world.Tick, ok bool, err error) {
		if doErr := m.Do(ctx, func() { t, ok, err = h.saveNow() }); doErr != nil {
			err = doErr
		}
		return t, ok, err
	})
}

// saveNow has it written with the next tick that is settled; or, where the game is paused and none
// will be, as it is.
func (h *host) saveNow() (t world.Tick, ok bool, err error) {
	m := h.mirror.Load()
	if !m.Paused() || !m.Kept() {
		h.keeper.Want()
		return m.Timeline().Settled().Tick(), true, nil
	}
	s, err := m.Present()
	if err != nil {
		return 0, false, err
	}
	return s.World.Tick(), h.keeper.Save(s.World, s.Seats), nil
}
