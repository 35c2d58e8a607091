package cluster_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/service/cluster"
	"github.com/coeval-dev/coeval/service/cluster/clustertest"
	"github.com/coeval-dev/coeval/topology/seamless"
)

// BenchmarkAppend appends what a server with 8 zones does in a tick: a batch of 8 records of 1 KB,
// one after the other.
func BenchmarkAppend(b *testing.B) {
	b.Run("memory", func(b *testing.B) { appends(b, cluster.Memory()) })
	for _, nodes := range []int{1, 3} {
		for _, flush := range []bool{false, true} {
			name := fmt.Sprintf("nodes=%d/flush=%t", nodes, flush)
			b.Run(name, func(b *testing.B) {
				n := clustertest.Start(b, nodes, cluster.Options{Flush: flush})
				appends(b, n.Open[0])
				n.Stop()
			})
		}
	}
}

func appends(b *testing.B, c *cluster.Cluster) {
	batch := make([]seamless.Append, 8)
	for z := range batch {
		batch[z] = seamless.Append{Zone: fmt.Sprint("zone", z), Data: make([]byte, 1024)}
	}
	var took []time.Duration
	n := uint64(0)
	for b.Loop() {
		n++
		for z := range batch {
			copy(batch[z].Data, fmt.Append(nil, n))
		}
		start := time.Now()
		for z, out := range c.Journal().Append(b.Context(), batch) {
			if out.Err != nil {
				b.Fatal(out.Err)
			}
			batch[z].Expect = out.Sequence
		}
		took = append(took, time.Since(start))
	}
	report(b, took)
}

func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	for name, at := range map[string]int{"p50-µs": 50, "p99-µs": 99} {
		b.ReportMetric(float64(took[len(took)*at/100].Microseconds()), name)
	}
}

// BenchmarkLast reads the last record of a journal so that it is the latest.
func BenchmarkLast(b *testing.B) {
	for _, nodes := range []int{1, 3} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			n := clustertest.Start(b, nodes, cluster.Options{})
			c := n.Open[0]
			if _, err := add(b.Context(), c, "zone", 0, "first"); err != nil {
				b.Fatal(err)
			}
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := c.Journal().Last(b.Context(), "zone"); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			report(b, took)
			n.Stop()
		})
	}
}
