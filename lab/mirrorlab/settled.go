package mirrorlab

import (
	"fmt"

	"github.com/coeval-dev/coeval/world"
)

// A firstWorld is the hash of a tick's world as the first mirror settled it.
type firstWorld struct {
	hash uint64
	by   string
	n    int // mirrors that have settled it
}

// judged lets a settled world be judged, and does not count that as the mirror's.
func (s *machine) judged(w *world.World, in *world.Inputs) {
	began := s.o.cpu()
	s.judge(w, in)
	if s.On {
		s.spent -= s.o.cpu() - began
	}
}

// judge compares a settled world with those of the others.
func (s *machine) judge(w *world.World, _ *world.Inputs) {
	x, t := &s.r.Settled, w.Tick()
	if s.settled != 0 && t != s.settled+1 {
		s.Fail(fmt.Errorf("mirror %s settles tick %d after %d", s.name, t, s.settled))
	}
	s.settled = t
	s.sees.Settle(w)
	h := w.Hash()
	f := s.worlds[t]
	if f == nil {
		s.worlds[t] = &firstWorld{h, s.name, 1}
		return
	}
	f.n++
	x.Compared++
	if f.hash != h {
		if x.Different++; x.First == "" {
			x.First = fmt.Sprintf("tick %d, mirrors %s and %s", t, f.by, s.name)
		}
	}
	if f.n == len(s.machines) {
		x.Ticks++
	}
}
