// Package brokers is how a program runs and reaches the brokers that keep a seamless world, without
// NATS being compiled into it. Those that have NATS say so by one import more:
//
//	import _ "github.com/coeval-dev/coeval/service/cluster/use"
//
//	host/internal/clusters, lab/seamlesslab    commands
//	service/cluster/brokers                    what they ask for     <- here
//	service/cluster/use                        gives it, by service/cluster
package brokers

import (
	"context"
	"sync/atomic"

	"github.com/coeval-dev/coeval/topology/seamless"
)

// A Cluster is where a world is kept, as somebody reaches it.
type Cluster interface {
	seamless.Backing
	Close() error
}

// A Node is one broker of those that keep a world. Its addresses are the same after each start.
type Node struct {
	// World tells worlds apart that are kept by the same brokers. Default: world.
	World  string
	Name   string
	Dir    string
	Listen string // for clients
	Meets  string // for the other brokers
	Peers  []string
	// Secret lets others than programs of this machine in. Without one it is for this machine.
	Secret string
}

// A Way is how brokers are reached.
type Way struct {
	// World is as in Node.
	World string
	// URL is where they are: one address, or several with commas between them.
	URL string
	// Credentials is a file, if they ask for that.
	Credentials string
	// Found makes what a world needs, if there is none of that name.
	Found bool
}

// A Driver runs brokers and reaches them.
type Driver interface {
	// Run starts a broker in this process, and returns when it can be used.
	Run(ctx context.Context, n Node) (Cluster, error)
	// Open reaches a world.
	Open(ctx context.Context, w Way) (Cluster, error)
}

var driver atomic.Pointer[Driver]

// Use has the program use a driver.
func Use(d Driver) { driver.Store(&d) }

// In is the program's driver, or nil.
func In() Driver {
	if d := driver.Load(); d != nil {
		return *d
	}
	return nil
}
