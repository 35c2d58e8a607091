// Package heap is a queue that gives back first what is due first: events of a simulated network,
// datagrams on their way, rooms by how far a sound has come. It allocates only to grow.
package heap

import "cmp"

// Item is a value with what decides when its turn comes.
type Item[K cmp.Ordered, V any] struct {
	Key   K
	Order uint64 // breaks ties, so that equal keys keep one order in every run
	Value V
}

func (i *Item[K, V]) before(j *Item[K, V]) bool {
	return i.Key < j.Key || i.Key == j.Key && i.Order < j.Order
}

// Heap holds items, the first of which is the one due next. It has four children a node, which is
// shallower than the usual two and touches fewer cache lines. The zero value is empty.
type Heap[K cmp.Ordered, V any] []Item[K, V]

// Push adds an item, and returns the heap with it, as append does: so a heap may begin in an array
// on the stack.
func (h Heap[K, V]) Push(e Item[K, V]) Heap[K, V] {
	h = append(h, e)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
	return h
}

// Pop takes the item that is due next, and returns the heap without it. There must be one.
func (h Heap[K, V]) Pop() (Item[K, V], Heap[K, V]) {
	top, e := h[0], h[len(h)-1]
	h[len(h)-1] = Item[K, V]{}
	h = h[:len(h)-1]
	if len(h) == 0 {
		return top, h
	}
	i := 0
	for {
		first := 4*i + 1
		if first >= len(h) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(h)); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&e) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = e
	return top, h
}
