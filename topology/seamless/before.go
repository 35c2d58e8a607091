package seamless

import (
	"context"

	"github.com/coeval-dev/coeval/zone"
)

// ended lists the servers of which the map has word at this one's address: they have ended, since
// two cannot be reached by one. So nobody has to wait for what they held in memory.
func ended(ctx context.Context, o *Options) (list []zone.ServerID) {
	nodes, err := Nodes(ctx, o.Cluster.Map())
	if err != nil {
		return nil // whoever takes over waits a little longer
	}
	for id, info := range nodes {
		if info.Address == o.Address && id != o.Self {
			list = append(list, id)
		}
	}
	return list
}
