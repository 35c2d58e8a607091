//go:build !js

package seamlesslab

import "github.com/coeval-dev/coeval/service/cluster/brokers"

// What brokers are: see package brokers.
type (
	Cluster = brokers.Cluster
	Node    = brokers.Node
)

// In is what runs and reaches the program's brokers, or nil.
func In() brokers.Driver { return brokers.In() }

// way is how brokers are reached at the addresses at which they listen.
func way(addresses []string) brokers.Way {
	w := brokers.Way{World: benchWorld}
	for i, a := range addresses {
		if i > 0 {
			w.URL += ","
		}
		w.URL += "nats://" + a
	}
	return w
}

// benchWorld names what brokers keep for an experiment.
const benchWorld = "bench"
