package world

import (
	"errors"
	"fmt"
)

// Divide makes of a whole world several that go on from it, each to be run by another server, and
// leaves the world itself as it is. One of them, by number home, is home to all states, goes on
// spawning from the world's allocator, and knows all players. The others spawn from the allocators
// that are given for them, by number. Each entity goes to the world that zone says, the others have
// no ghost of it yet; each state is a ghost in all but one.
//
// From then on players join in the world that is home to the states, so that OnJoin may change
// them; and they leave in each world where they are present: OnLeave tidies up what is there.
// Knobs, answers, messages and content come in at home.
func (w Host) Divide(home int, allocators []int, zone func(ID) int) ([]*World, error) {
	switch {
	case w.settings.Partial || w.settings.Divided:
		return nil, errors.New("world: only a whole world can be divided, and once")
	case home < 0 || home >= len(allocators) || allocators[home] != w.settings.Allocator:
		return nil, fmt.Errorf("world: the home of the states, %d, has to go on with allocator %d",
			home, w.settings.Allocator)
	}
	seen := map[int]bool{}
	for _, a := range allocators {
		if seen[a] {
			return nil, fmt.Errorf("world: allocator %d is given to two worlds", a)
		}
		seen[a] = true
	}
	all := make([]*World, len(allocators))
	base := w.Clone()
	base.settings.Divided = true
	for i, a := range allocators {
		if i == home {
			all[i] = base
			continue
		}
		var err error
		if all[i], err = base.Host().Zone(a); err != nil {
			return nil, err
		}
	}
	var data []byte
	for id := range w.Entities() {
		z := zone(id)
		if z < 0 || z >= len(all) {
			return nil, fmt.Errorf("world: entity %v is to be in zone %d of %d", id, z, len(all))
		}
		if z == home {
			continue
		}
		data = base.Host().Pack(id, data[:0])
		if _, _, err := all[z].Host().Unpack(data); err != nil {
			return nil, err
		}
		base.Host().Lend(id)
	}
	return all, nil
}

// Zone makes another world to go with this one, which was divided: at the same tick, with ghosts of
// the states, nothing else, and an allocator of its own.
func (w Host) Zone(allocator int) (*World, error) {
	if !w.settings.Divided {
		return nil, errWhole
	}
	s := w.settings
	s.Allocator = allocator
	x, err := w.game.empty(s)
	if err != nil {
		return nil, err
	}
	x.tick = w.tick
	for i, c := range w.game.classes {
		if !c.state {
			continue
		}
		id, _, _ := x.tables[i].take(0)
		of, n := w.find(id)
		pg, slot, here := x.tables[i].place(id)
		x.tables[i].settle(pg, slot, here, of.slots[n], w.tables[i].at(of, n),
			w.tables[i].image(of, n))
		pg.born = 0
		if of.away>>n&1 != 0 {
			pg.away |= 1
			x.tables[i].ghosts++
		} else {
			x.Host().SetGhost(id)
		}
	}
	x.memory.copyFrom(&w.memory)
	return x, nil
}
