//go:build !js

package relays

import (
	"context"

	"github.com/coeval-dev/coeval/host/internal/queries"
	"github.com/coeval-dev/coeval/query"
)

// asked is what those are told who have not joined. A relay knows nothing of games, and says
// nothing of who plays: matches are for those who have their codes.
func (r *Relay) asked(o *Options) queries.Subject {
	directory, most := o.Directory, o.capacity()
	return queries.Subject{
		Info: func(i *query.Info) {
			i.Mode, i.Game, i.Open = query.Relay, Game, r.open
			directory.Describe(i)
			r.site.Describe(i)
			i.Players = uint16(min(r.relay.Status().Members, 1<<16-1))
			i.Capacity = uint16(most)
		},
		Do: func(ctx context.Context, f func()) error { return r.relay.Do(ctx, f) },
	}
}
