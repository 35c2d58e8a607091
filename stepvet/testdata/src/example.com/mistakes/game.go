// Package mistakes makes every mistake that the analyser knows.
package mistakes

import (
	"example.com/bits"
	"example.com/world"
)

type Ball struct {
	X, Y, VX, VY, Spin float64
	Hits               int
	Near               map[world.ID]*Ball
	Owner              map[*Ball]int
	Wake               chan int
	Out                []int
}

func (b *Ball) Step(w *world.World, me world.ID) {
	b.maps()
	b.clocks()
	b.threads()
	b.chance(w)
	b.outside()
	b.products(w, 0.1)
	b.maths()
	b.whole()
	b.addresses()
	b.globals()
	b.elsewhere()
	b.comments()
}

func (b *Ball) Sync(s *bits.Sync) {
	s.Float(&b.X, 0, 100, 0.1)
	for range b.Near {
		s.Int(&b.Hits, 0, 100)
	}
	for _, o := range b.Near { // want `the order of a map differs in every run.* \[mapiter\]`
		s.Int(&o.Hits, 0, 100)
	}
}

func (b *Ball) Derive() {
	synced++ // want `synced is not part of the world.*\[global\]`
}

var synced int

// not reached by any step
func (b *Ball) Draw() {
	for _, o := range b.Near {
		println(o.X)
	}
}
