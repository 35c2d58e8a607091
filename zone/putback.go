package zone

// PutBack has a zone try once more to execute what it has set aside, one item in each tick from the
// next on, in the order in which they were set aside: when the game was mended, or what was in the
// way is gone. One with which the tick fails again stays aside, and so do those after it. It says
// how many are tried.
func (s *Server) PutBack(id ID) (tried int, err error) {
	z := s.zone(id)
	if z == nil || z.stage != owning {
		return 0, ErrNotOwned
	}
	z.putBack = len(z.state.aside)
	return z.putBack, nil
}

// gatherBack puts the next of them into a frame, which has nothing else then that came from other
// zones, so that it is known of what the tick fails if it does.
func (z *owned) gatherBack(f *frame) bool {
	if z.putBack == 0 || len(z.state.aside) == 0 {
		z.putBack = 0
		return false
	}
	z.putBack--
	f.back = true
	return true
}

// comesBack executes what was set aside first, as if it were taken now.
func (s *state) comesBack(f *frame) error {
	if !f.back {
		return nil
	}
	if len(s.aside) == 0 || len(f.taken) > 0 {
		return errDamaged
	}
	a := s.aside[0]
	if a.Tick >= f.tick {
		return errDamaged
	}
	s.aside = append(s.aside[:0:0], s.aside[1:]...)
	i := &item{kind: handOver, entity: a.Entity, tick: a.Tick, data: a.Data,
		origin: origin{a.From, s.id, a.Number}}
	if a.Action {
		i.kind = action
		s.acts(&taken{from: a.From, number: a.Number, item: i}, f.tick)
		return nil
	}
	s.arrives(a.From, i, f.tick)
	return nil
}
