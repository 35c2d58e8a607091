package zone

// Give has another server own a zone, once all that was computed here is durable. It says whether
// that has begun.
func (s *Server) Give(id ID, to ServerID) bool {
	z := s.zone(id)
	if z == nil || z.stage != owning || to == s.opt.Self || z.buddies.writing {
		return false
	}
	z.giveTo = to
	z.want = z.entry
	z.want.Owner, z.want.Tries, z.want.Holders = to, 0, [holders]ServerID{}
	z.want.Epoch++
	s.enter(z, giving)
	return true
}

// Leave gives all zones to others, in turn, and takes none any more. When Zones is empty, the
// server can go.
func (s *Server) Leave() {
	s.opt.Zones = -1
	var there []ServerID
	for _, p := range s.peers {
		if !p.missing() {
			there = append(there, p.id)
		}
	}
	for i := 0; i < len(s.zones); i++ {
		z := s.zones[i]
		if z.stage < owning && !z.told {
			s.drop(z)
			i--
			continue
		}
		if len(there) > 0 {
			s.Give(z.id, there[(int(z.id)+i)%len(there)])
		}
	}
}

// given lets go of a zone that the map says is another's.
func (s *Server) given(z *owned) {
	to, epoch := z.giveTo, z.entry.Epoch
	s.tell(Notice{Kind: Deposed, Zone: z.id, Tick: z.journal.durable, Epoch: epoch - 1})
	s.drop(z)
	s.setRoute(z.id, to, epoch)
	if p := s.known(to); p != nil {
		o := ownerPart{z.id, epoch, to}
		l := s.write(p, false, 64)
		l.buf = o.append(l.buf)
	}
}

// A View is how a zone is that this server owns.
type View struct {
	Zone ID
	// Tick is the last that was computed, and Durable the last that the journal has.
	Tick, Durable Tick
	Epoch         uint64
	// Holders are those who hold records that the journal may not have, this server first. Zeros
	// are for none.
	Holders [holders]ServerID
	// Body is for looking at, until the next call of the server.
	Body Body
}

// Zones lists the zones that this server owns, by number.
func (s *Server) Zones() []View {
	var list []View
	for _, z := range s.zones {
		if v, ok := s.Zone(z.id); ok {
			list = append(list, v)
		}
	}
	return list
}

// Zone gives one that this server owns.
func (s *Server) Zone(id ID) (View, bool) {
	z := s.zone(id)
	if z == nil || z.stage != owning {
		return View{}, false
	}
	return View{id, z.state.tick, z.journal.durable, z.entry.Epoch,
		z.entry.Holders, z.state.body}, true
}

// Aside lists what a zone has set aside.
func (s *Server) Aside(id ID) []Aside {
	if z := s.zone(id); z != nil && z.stage == owning {
		return z.state.aside
	}
	return nil
}
