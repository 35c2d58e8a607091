package clustertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/service/cluster"
)

// Nodes are embedded servers of one cluster, all in this process.
type Nodes struct {
	t testing.TB
	// Options are those of each node, for one that is to run in another process.
	Options []cluster.Options
	// Open are the clusters as each node has them opened, nil for one that was stopped.
	Open []*cluster.Cluster
}

// Start starts so many nodes, 1 or 3, with folders of the test's. They are stopped at its end.
func Start(t testing.TB, nodes int, o cluster.Options) *Nodes {
	t.Helper()
	n := New(t, nodes, o)
	n.Resume()
	return n
}

// New is Start of nodes that are not started yet.
func New(t testing.TB, nodes int, o cluster.Options) *Nodes {
	t.Helper()
	n := &Nodes{t: t, Open: make([]*cluster.Cluster, nodes)}
	dir := t.TempDir()
	var peers []string
	if nodes > 1 {
		for _, p := range Ports(t, nodes) {
			peers = append(peers, fmt.Sprint("127.0.0.1:", p))
		}
	}
	for i := range nodes {
		own := o
		own.Node = fmt.Sprint("n", i)
		own.Dir = filepath.Join(dir, own.Node)
		if nodes > 1 {
			own.ListenPeers, own.Peers = peers[i], peers
			own.Ping = 500 * time.Millisecond
		}
		n.Options = append(n.Options, own)
	}
	t.Cleanup(func() { n.Stop() })
	return n
}

// Ports gives TCP ports that are free on loopback.
func Ports(t testing.TB, count int) []int {
	t.Helper()
	var ports []int
	for range count {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		defer func() { must(t, l.Close()) }() // all at once, so that they differ
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// Resume starts nodes that are stopped, or all if none is named, and waits until each has opened
// the cluster.
func (n *Nodes) Resume(nodes ...int) {
	n.t.Helper()
	nodes = n.these(nodes)
	ctx, cancel := context.WithTimeout(context.Background(), waitLong)
	defer cancel()
	errs := make([]error, len(n.Options))
	var wg sync.WaitGroup
	for _, i := range nodes {
		if n.Open[i] == nil {
			wg.Go(func() { n.Open[i], errs[i] = cluster.Embed(ctx, n.Options[i]) })
		}
	}
	wg.Wait()
	must(n.t, errors.Join(errs...))
}

// Stop stops nodes, or all if none is named.
func (n *Nodes) Stop(nodes ...int) {
	n.t.Helper()
	errs := make([]error, len(n.Open))
	var wg sync.WaitGroup
	for _, i := range n.these(nodes) {
		if c := n.Open[i]; c != nil {
			wg.Go(func() { errs[i] = c.Close() })
			n.Open[i] = nil
		}
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		n.t.Error(err)
	}
}

func (n *Nodes) these(nodes []int) []int {
	if len(nodes) == 0 {
		for i := range n.Open {
			nodes = append(nodes, i)
		}
	}
	return nodes
}
