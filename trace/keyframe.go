package trace

import (
	"cmp"
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// keyFrames are worlds at some ticks, packed, within a budget: where they would exceed it every
// second one goes, and they stand twice as far apart from then on.
type keyFrames struct {
	list   []keyFrame // by tick
	every  world.Tick
	budget int
	bytes  int
	packer packer
	plain  []byte
}

// A keyFrame is a world as World.Save made it, packed by zstd.
type keyFrame struct {
	tick world.Tick
	size int // of the world, unpacked
	data []byte
}

// near is the first key frame at or after a tick.
func (k *keyFrames) near(t world.Tick) (int, bool) {
	return slices.BinarySearchFunc(k.list, t,
		func(f keyFrame, t world.Tick) int { return cmp.Compare(f.tick, t) })
}

// add keeps a world unless there is one near it.
func (k *keyFrames) add(w *world.World) {
	t := w.Tick()
	if t%k.every != 0 {
		return
	}
	i, there := k.near(t)
	if there || k.packer.encoder() != nil {
		return
	}
	k.plain = w.Host().Save(k.plain[:0])
	data := k.packer.enc.EncodeAll(k.plain, nil)
	if len(data) > k.budget/2 || len(k.plain) > maxState {
		return // a world of which there is no room for two
	}
	k.list = slices.Insert(k.list, i, keyFrame{t, len(k.plain), slices.Clip(data)})
	k.bytes += len(data)
	for k.bytes > k.budget {
		k.every *= 2
		k.list = slices.DeleteFunc(k.list, func(f keyFrame) bool {
			gone := f.tick%k.every != 0
			if gone {
				k.bytes -= len(f.data)
			}
			return gone
		})
	}
}

// find is the last key frame at or before a tick, or nil.
func (k *keyFrames) find(t world.Tick) *keyFrame {
	i, there := k.near(t)
	if !there {
		i--
	}
	if i < 0 {
		return nil
	}
	return &k.list[i]
}

// before are key frames of their own, with those before a tick.
func (k *keyFrames) before(t world.Tick) keyFrames {
	i, _ := k.near(t)
	out := keyFrames{list: slices.Clone(k.list[:i]), every: k.every, budget: k.budget}
	for _, f := range out.list {
		out.bytes += len(f.data)
	}
	return out
}

// load makes a world of a key frame.
func (k *keyFrames) load(g *world.Game, f *keyFrame) (*world.World, error) {
	if err := k.packer.decoder(); err != nil {
		return nil, err
	}
	var err error
	if k.plain = k.plain[:0]; cap(k.plain) < f.size { // into which the decoder unpacks
		k.plain = make([]byte, 0, f.size)
	}
	if k.plain, err = k.packer.dec.DecodeAll(f.data, k.plain); err != nil {
		return nil, err
	}
	return g.Load(k.plain)
}
