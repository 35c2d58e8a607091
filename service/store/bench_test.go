package store_test

import (
	"fmt"
	"testing"

	"github.com/coeval-dev/coeval/kept"
)

// BenchmarkWrite writes batches of 500 rows, as games do, of 20,000 that there are.
func BenchmarkWrite(b *testing.B) {
	const batch, all = 500, 20_000
	for _, d := range databases {
		b.Run(d.name, func(b *testing.B) {
			s := open(b, d.make(b))
			rows := make([]kept.Row, all)
			for i := range rows {
				rows[i] = kept.Row{Key: kept.Key{Class: "Thing", Scope: kept.Thing,
					Of: fmt.Sprint("number ", i)}, Schema: 1, Data: make([]byte, 40)}
			}
			must(b, s.Write(b.Context(), nil, rows))
			fence, err := s.Claim(b.Context(), "game", "bench")
			must(b, err)
			n := 0
			for b.Loop() {
				part := rows[n%all:][:batch]
				for i := range part {
					part[i].Data[0]++
				}
				must(b, s.Write(b.Context(), []kept.Fence{fence}, part))
				n += batch
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkRequest does trades of two accounts, one after the other.
func BenchmarkRequest(b *testing.B) {
	for _, d := range databases {
		b.Run(d.name, func(b *testing.B) {
			s := open(b, d.make(b))
			must(b, s.Write(b.Context(), nil, []kept.Row{gold("ann", 1<<40), gold("bob", 1<<40)}))
			n := uint64(0)
			for b.Loop() {
				n++
				_, _, err := s.Do(b.Context(), kept.Name{World: n}, nil, trade("ann", "bob", 1))
				must(b, err)
			}
		})
	}
}
