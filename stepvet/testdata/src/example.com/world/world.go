// Package world stands in for the toolkit's package of that name.
package world

import "sync"

type (
	ID     uint64
	Player uint16
	World  struct {
		mu    sync.Mutex
		Tick  uint64
		Score map[ID]int
	}
	Part struct{ f func(*World) }
)

// What the toolkit does inside is its own business.
func (w *World) Seed() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.Score {
		return uint64(id)
	}
	return 1
}

func OnStart(f func(w *World)) Part          { return Part{f} }
func OnJoin(f func(w *World, p Player)) Part { return Part{} }
func Define(name string, parts ...Part) int  { return len(parts) }
