//go:build !js

package seamlesslab

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
	Name   string
	Dir    string
	Listen string // for clients
	Meets  string // for the other brokers
	Peers  []string
}

// A Driver runs brokers and reaches them. NATS is compiled by programs alone that have one.
type Driver interface {
	// Run starts a broker in this process, and returns when it can be used.
	Run(ctx context.Context, n Node) (Cluster, error)
	// Open reaches a world at brokers, by the addresses at which they listen.
	Open(ctx context.Context, addresses []string) (Cluster, error)
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
