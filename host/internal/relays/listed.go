//go:build !js

package relays

import (
	"cmp"
	"context"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/announced"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/announce"
)

// capacity is how many may be there.
func (o *Options) capacity() int {
	return min(cmp.Or(o.Limits.Connections, 8*cmp.Or(o.Limits.Matches, 1024)),
		directory.MaxCapacity)
}

// subject is what a directory is told of a relay.
func (r *Relay) subject(
	a entry.Admission, keys []token.Key, o *Options,
) announced.Subject {
	most := o.capacity()
	return announced.Subject{Mode: directory.Relay, Game: Game, UDP: r.socket.LocalAddr(),
		HTTP: r.HTTP(), Scheme: r.site.Scheme(), Admission: a, Open: r.open, Keys: keys,
		Now: func(ctx context.Context) (announce.Status, error) {
			st, err := r.Status(ctx)
			return announce.Status{Players: st.Members, Capacity: most}, err
		}}
}
