package heap_test

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/internal/heap"
)

// However pushes and pops follow each other, what comes out is the least by key, then by order.
func TestHeapGivesTheLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q heap.Heap[int, string]
		var want []heap.Item[int, string]
		for n := range rapid.IntRange(0, 300).Draw(t, "steps") {
			if len(want) == 0 || rapid.IntRange(0, 2).Draw(t, "what") > 0 {
				key := rapid.IntRange(0, 9).Draw(t, "key")
				e := heap.Item[int, string]{Key: key, Order: uint64(n)}
				q = q.Push(e)
				want = append(want, e)
				slices.SortStableFunc(want, func(a, b heap.Item[int, string]) int {
					return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Order, b.Order))
				})
				continue
			}
			first := q[0]
			var e heap.Item[int, string]
			if e, q = q.Pop(); first != want[0] || e != want[0] {
				t.Fatalf("%v and %v, not %v", first, e, want[0])
			}
			want = want[1:]
		}
		if len(q) != len(want) {
			t.Fatalf("%d are left of %d", len(q), len(want))
		}
	})
}
