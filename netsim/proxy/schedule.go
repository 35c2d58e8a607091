package proxy

import (
	"container/heap"
	"time"
)

// item is a datagram on its way.
type item struct {
	at     time.Duration
	order  uint64
	client *client
	dir    int
	data   []byte
}

// schedule holds datagrams by the time they are due; equal times keep their
// order.
type schedule struct {
	items items
	order uint64
}

// push adds one and reports whether it is now the first.
func (s *schedule) push(i item) bool {
	s.order++
	i.order = s.order
	heap.Push(&s.items, i)
	return s.items[0].order == i.order
}

func (s *schedule) pop() item { return heap.Pop(&s.items).(item) }

type items []item

func (q items) Len() int { return len(q) }
func (q items) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].order < q[j].order
}
func (q items) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *items) Push(x any)   { *q = append(*q, x.(item)) }
func (q *items) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
