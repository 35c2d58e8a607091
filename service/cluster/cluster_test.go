package cluster_test

import (
	"testing"

	"github.com/coeval-dev/coeval/service/cluster"
	"github.com/coeval-dev/coeval/service/cluster/clustertest"
)

func TestMemory(t *testing.T) {
	c := cluster.Memory()
	clustertest.Run(t, c, c)
}

func TestOneNode(t *testing.T) {
	t.Parallel()
	n := clustertest.Start(t, 1, cluster.Options{})
	clustertest.Run(t, n.Open[0], n.Open[0])
}

func TestThreeNodes(t *testing.T) {
	t.Parallel()
	n := clustertest.Start(t, 3, cluster.Options{})
	clustertest.Run(t, n.Open[0], n.Open[1])
	for i, c := range n.Open {
		t.Logf("node %d: %+v", i, c.Counts())
	}
	ctx := t.Context()
	at, err := add(ctx, n.Open[0], "stopped", 0, "with three")
	must(t, err)
	n.Stop(2)
	at, err = add(ctx, n.Open[0], "stopped", at, "with two")
	must(t, err)
	last, err := n.Open[1].Journal().Last(ctx, "stopped")
	must(t, err)
	if last.Sequence != at || string(last.Data) != "with two" {
		t.Fatalf("without one the last is %+v", last)
	}
}

// All of three nodes are stopped, and go on from their folders.
func TestRestart(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for the election of leaders, which takes 4 to 9 s")
	}
	t.Parallel()
	n := clustertest.Start(t, 3, cluster.Options{})
	ctx := t.Context()
	at, err := add(ctx, n.Open[0], "zone", 0, "before")
	must(t, err)
	revision, err := n.Open[0].Map().Set(ctx, "key", []byte("before"), 0)
	must(t, err)
	must(t, n.Open[1].Store().Put(ctx, "key", make([]byte, 1<<20)))
	id := n.Open[0].ID()
	n.Stop()
	n.Resume()
	c := n.Open[2]
	last, err := c.Journal().Last(ctx, "zone")
	must(t, err)
	e, err := c.Map().Get(ctx, "key")
	must(t, err)
	value, err := c.Store().Get(ctx, "key")
	must(t, err)
	if last.Sequence != at || e.Revision != revision || len(value) != 1<<20 || c.ID() != id {
		t.Fatalf("after a restart there are %+v, %+v and a snapshot of %d bytes", last, e,
			len(value))
	}
}

func TestLeader(t *testing.T) {
	t.Parallel()
	n := clustertest.Start(t, 1, cluster.Options{})
	if _, err := n.Open[0].Leader(t.Context(), "zone"); err != nil {
		t.Fatal(err)
	}
	must(t, n.Open[0].Move(t.Context(), "zone", ""))
	if names := n.Open[0].Streams(); len(names) != 3 {
		t.Fatalf("the streams are %q", names)
	}
}
