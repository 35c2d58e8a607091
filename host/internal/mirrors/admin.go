//go:build !js

package mirrors

import (
	"errors"
	"time"

	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/topology/server"
)

// administered is the mirror as operators see it.
func (h *host) administered() admin.Game {
	m := h.mirror.Load()
	return admin.Game{
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
}
