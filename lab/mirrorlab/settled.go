package mirrorlab

import (
	"fmt"

	"github.com/coeval-dev/coeval/world"
)

// worlds compare what mirrors settle.
type worlds struct {
	first     map[world.Tick]*firstWorld
	ticks     int
	compared  int
	different int
	text      string
}

// A firstWorld is the hash of a tick's world as the first mirror settled it.
type firstWorld struct {
	hash uint64
	by   string
	n    int // mirrors that have settled it
}

func newWorlds() worlds { return worlds{first: map[world.Tick]*firstWorld{}} }

// judge compares a settled world with those of the others.
func (s *machine) judge(w *world.World, _ *world.Inputs) {
	x, t := &s.cluster.worlds, w.Tick()
	if s.settled != 0 && t != s.settled+1 {
		s.Fail(fmt.Errorf("mirror %s settles tick %d after %d", s.name, t, s.settled))
	}
	s.settled = t
	h := w.Hash()
	f := x.first[t]
	if f == nil {
		x.first[t] = &firstWorld{h, s.name, 1}
		return
	}
	f.n++
	x.compared++
	if f.hash != h {
		if x.different++; x.text == "" {
			x.text = fmt.Sprintf("tick %d, mirrors %s and %s", t, f.by, s.name)
		}
	}
	if f.n == len(s.machines) {
		x.ticks++
	}
}

func (x *worlds) result() Settled {
	return Settled{Ticks: x.ticks, Compared: x.compared, Different: x.different, First: x.text}
}
