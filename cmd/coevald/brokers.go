//go:build !js

package main

import (
	"context"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/lab/seamlesslab"
	"github.com/coeval-dev/coeval/service/cluster"
)

// brokers are the NATS servers and clients of bench seamless.
type brokers struct{}

func init() { seamlesslab.Use(brokers{}) }

// Run is of seamlesslab.Driver.
func (brokers) Run(ctx context.Context, n seamlesslab.Node) (seamlesslab.Cluster, error) {
	o := cluster.Options{Name: "bench", Dir: n.Dir, Node: n.Name, Listen: n.Listen,
		Ping: time.Second}
	if len(n.Peers) > 1 {
		o.ListenPeers, o.Peers = n.Meets, n.Peers
	}
	return cluster.Embed(ctx, o)
}

// Open is of seamlesslab.Driver.
func (brokers) Open(ctx context.Context, addresses []string) (seamlesslab.Cluster, error) {
	return cluster.Open(ctx, cluster.Options{Name: "bench", Ping: time.Second,
		URL: "nats://" + strings.Join(addresses, ",nats://")})
}
