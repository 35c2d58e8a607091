package peerlab

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// push is what a player of a heap commands.
type push struct{ X, Y int8 }

func (c *push) Sync(s *bits.Sync) {
	s.Int8(&c.X, -100, 100)
	s.Int8(&c.Y, -100, 100)
}

// hand is a player of a heap.
type hand struct{ X, Y int32 }

func (h *hand) Sync(s *bits.Sync) {
	s.Int32(&h.X, -1<<20, 1<<20)
	s.Int32(&h.Y, -1<<20, 1<<20)
}

func (h *hand) Step(w *world.World, me world.ID) {
	c := world.Command[push](w, me)
	h.X, h.Y = (h.X*3+int32(c.X))%100000, (h.Y*5+int32(c.Y)+h.X)%100000
}

// brickWords is how many numbers a brick has.
const brickWords = 64

// brickBytes is what a brick takes in a world that is saved.
const brickBytes = 331

// brick is some of what a heap is made of: numbers at random, which nothing can compress.
type brick struct{ Words [brickWords]uint32 }

func (b *brick) Sync(s *bits.Sync) {
	for i := range b.Words {
		s.Uint32(&b.Words[i], 0, 1<<32-1)
	}
}

// heap is a game whose world has so many bricks.
func heap(bricks int) *world.Game {
	return world.Define("heap", world.Class[hand](), world.Class[brick](), world.Commands[push](),
		world.OnStart(func(w *world.World) {
			for range bricks {
				var b brick
				for i := range b.Words {
					b.Words[i] = uint32(w.Rand().Uint64())
				}
				world.Spawn(w, b)
			}
		}),
		world.OnJoin(func(w *world.World, p world.Player) {
			w.SetOwner(world.Spawn(w, hand{X: int32(p)}), p)
		}),
		world.OnLeave(func(w *world.World, p world.Player) {
			if id, h := world.Owned[hand](w, p); h != nil {
				w.Remove(id)
			}
		}))
}

// pusher changes its mind every few ticks.
func pusher(seed uint64) game.Bot {
	return func(_ *world.World, me world.Player, t world.Tick, in *world.Inputs) error {
		x := (uint64(t/6) + seed*7919) * 0x9e3779b97f4a7c15
		return world.Give(in, me, push{X: int8(x>>40%201) - 100, Y: int8(x>>50%201) - 100})
	}
}
