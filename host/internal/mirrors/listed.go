//go:build !js

package mirrors

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/host/internal/announced"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/announce"
	"github.com/coeval-dev/coeval/topology/mirror"
)

// openListed makes what is needed to be listed. All mirrors of a group have one entry, since its
// key is made of what they share: their key, the game, and the name that it is listed as.
func (h *host) openListed() (err error) {
	key := directory.GroupKey(h.Mirror.Keys[0], h.title.Name(), h.Directory.Name)
	h.listed, err = h.Directory.Open(key, h.Log)
	return err
}

// errElsewhere keeps a mirror from being listed while it serves nobody.
var errElsewhere = errors.New("the mirror does not serve now")

// subject is what a directory is told of this mirror.
func (h *host) subject() announced.Subject {
	return announced.Subject{Mode: directory.Mirror, Game: h.title.Name(),
		Version: fmt.Sprintf("%016x", h.title.Game.Hash()),
		Place:   cmp.Or(h.Mirror.Name, h.Mirror.Public.String()),
		UDP:     h.sockets.players.LocalAddr(), Public: h.Mirror.Public, HTTP: h.site.Addr(),
		Scheme: h.site.Scheme(), Open: h.Open, Keys: h.Mirror.Keys,
		Now: func(ctx context.Context) (s announce.Status, err error) {
			m := h.mirror.Load()
			st, err := serve.Ask(ctx, m.Do, h.status)
			if err != nil {
				return s, err
			}
			if st.Phase != mirror.Serving.String() || h.drained.Load() || h.stops.Load() {
				return s, errElsewhere
			}
			return announce.Status{Level: st.Level, Players: st.Players, Capacity: st.Most}, nil
		}}
}
