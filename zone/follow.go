package zone

import "slices"

// said holds events that another server tells, in case it dies before it has: those of the last
// ticks, in two parts of which the older is given up at a time.
type said struct {
	parts [2][]event
	bytes [2][]byte
}

func (e *said) turn() {
	e.parts[0], e.parts[1] = e.parts[1], e.parts[0][:0]
	e.bytes[0], e.bytes[1] = e.bytes[1], e.bytes[0][:0]
}

func (e *said) add(tick Tick, number uint64, data []byte) {
	from := len(e.bytes[1])
	e.bytes[1] = append(e.bytes[1], data...)
	e.parts[1] = append(e.parts[1], event{tick, number, from, len(e.bytes[1])})
}

// standBy follows the journal of a zone if this server would be the first to take it over, and no
// other.
func (s *Server) standBy(id ID, a Assignment) {
	i := slices.IndexFunc(s.followed, func(z *owned) bool { return z.id == id })
	_, there := s.findPeer(a.Owner)
	first := s.opt.Standby && there && !a.Halted && a.Owner != s.opt.Self && s.zone(id) == nil &&
		s.turn(id, a.Owner) == 0
	switch {
	case first && i < 0 && len(s.followed) < s.opt.Zones:
		z := &owned{id: id, follows: true}
		s.followed = append(s.followed, z)
		s.reload(z, 1<<64-1)
	case !first && i >= 0:
		s.unfollow(s.followed[i])
	}
}

func (s *Server) unfollow(z *owned) {
	z.over = true
	s.followed = slices.DeleteFunc(s.followed, func(f *owned) bool { return f == z })
}

// warm gives a zone that is claimed what was computed of it meanwhile.
func (s *Server) warm(z *owned) {
	i := slices.IndexFunc(s.followed, func(f *owned) bool { return f.id == z.id })
	if i < 0 {
		return
	}
	f := s.followed[i]
	if f.stage == replaying && f.state != nil {
		z.warm, z.state, z.replay, z.images = true, f.state, f.replay, f.images
	}
	s.unfollow(f)
}

// heard tells what may not have been told by the owner before.
func (s *Server) heard(z *owned) {
	e := &z.replay.said
	for i := range e.parts {
		for _, v := range e.parts[i] {
			s.event(z, v.tick, v.number, e.bytes[i][v.from:v.to])
		}
	}
	if z.warm {
		z.warm = false
		s.stats.Warm++
		s.ask(Op{Kind: Keys, Key: imagesOf(z.id)}, forKnown, z)
	}
}

// imagesKnown learns of snapshots that were written while the zone was followed, to remove them in
// their time.
func (s *Server) imagesKnown(z *owned, r *Result) {
	if r.Outcome != OK {
		return
	}
	for _, k := range r.Keys {
		if _, ok := imageTick(z.id, k); ok && !slices.Contains(z.images.keys, k) {
			z.images.keys = append(z.images.keys, k)
		}
	}
}
