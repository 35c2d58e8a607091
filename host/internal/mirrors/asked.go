//go:build !js

package mirrors

import (
	"context"

	"github.com/coeval-dev/coeval/host/internal/queries"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/query"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// asked is what those are told who have not joined: of this mirror, and of how many its group has.
func (h *host) asked() queries.Subject {
	serving := func() *server.Server {
		if m := h.mirror.Load(); m != nil {
			return m.Server()
		}
		return nil
	}
	return queries.Subject{
		Title: h.title,
		Info: func(i *query.Info) {
			i.Mode, i.Open = query.Mirror, h.Open
			serve.Introduce(i, h.title)
			h.Directory.Describe(i)
			h.site.Describe(i)
			if s := serving(); s != nil {
				queries.Describe(i, s)
				i.Places = uint8(min(len(h.mirror.Load().Members()), 255))
			}
			i.Draining = i.Draining || h.drained.Load() || h.stops.Load()
		},
		Who: func(to []query.Player) []query.Player {
			if s := serving(); s != nil {
				return queries.Seated(to, s)
			}
			return to
		},
		World: func() *world.World {
			if s := serving(); s != nil {
				return s.World()
			}
			return nil
		},
		Do: func(ctx context.Context, f func()) error { return h.mirror.Load().Do(ctx, f) },
	}
}
