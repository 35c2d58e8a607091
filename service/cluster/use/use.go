//go:build !js

// Package use adds seamless worlds to a program by one import:
//
//	import _ "github.com/coeval-dev/coeval/service/cluster/use"
//
// Then the program has the command cluster, and bench has seamless. Without it no NATS is compiled.
// In a program built for the browser it does nothing.
package use

import (
	"cmp"
	"context"
	"time"

	"github.com/coeval-dev/coeval/service/cluster"
	"github.com/coeval-dev/coeval/service/cluster/brokers"
)

// driver runs NATS.
type driver struct{}

func init() { brokers.Use(driver{}) }

// Run is of brokers.Driver.
func (driver) Run(ctx context.Context, n brokers.Node) (brokers.Cluster, error) {
	o := cluster.Options{Name: cmp.Or(n.World, "world"), Dir: n.Dir, Node: n.Name, Listen: n.Listen,
		Secret: n.Secret, Ping: time.Second}
	if len(n.Peers) > 1 {
		o.ListenPeers, o.Peers = n.Meets, n.Peers
	}
	return cluster.Embed(ctx, o)
}

// Open is of brokers.Driver.
func (driver) Open(ctx context.Context, w brokers.Way) (brokers.Cluster, error) {
	return cluster.Open(ctx, cluster.Options{Name: cmp.Or(w.World, "world"), URL: w.URL,
		Credentials: w.Credentials, Found: w.Found, Ping: time.Second})
}
