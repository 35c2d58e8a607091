package predict

import "github.com/coeval-dev/coeval/world"

// A pool has something for some of the entities. The memory of what is removed is used again, as it
// was left.
type pool[T any] struct {
	of   map[world.ID]*T
	free []*T
}

func (p *pool[T]) add(id world.ID) *T {
	n := len(p.free)
	if n == 0 {
		p.of[id] = new(T)
		return p.of[id]
	}
	p.of[id], p.free = p.free[n-1], p.free[:n-1]
	return p.of[id]
}

func (p *pool[T]) remove(id world.ID) {
	p.free = append(p.free, p.of[id])
	delete(p.of, id)
}

func (p *pool[T]) clear() {
	for id := range p.of {
		p.remove(id)
	}
}
