package zone

// beginsWithin is within how many ticks a zone has to be begun too often to be halted.
const beginsWithin = 300

// suspect is an item that was part of a tick which failed. It is tried once more, alone, and then
// set aside.
type suspect struct {
	from   ID
	number uint64
	fails  int
}

// suspected finds an item among the suspects.
func (z *owned) suspected(from ID, number uint64) *suspect {
	for i := range z.suspects {
		if p := &z.suspects[i]; p.from == from && p.number == number {
			return p
		}
	}
	return nil
}

// failed has a zone begun again, when all that went before the tick that failed is durable. Its
// commands are dropped, since they may be why, and its items are tried one at a time.
func (s *Server) failed(z *owned, f *frame, err error) {
	s.stats.Panics++
	s.tell(Notice{Kind: Failed, Zone: z.id, Tick: f.tick, Epoch: z.entry.Epoch, Err: err})
	for range f.commands {
		s.tell(Notice{Kind: Dropped, Zone: z.id, Tick: f.tick, Epoch: z.entry.Epoch})
	}
	if !f.back {
		z.commands, z.cmdBytes = z.commands[:0], z.cmdBytes[:0]
	}
	z.putBack = 0
	for i := range f.taken {
		t := &f.taken[i]
		if p := z.suspected(t.from, t.number); p != nil {
			p.fails++
		} else if len(z.suspects) < maxTaken {
			z.suspects = append(z.suspects, suspect{t.from, t.number, 1})
		}
	}
	s.enter(z, failing)
}

// cleared gives up the suspicion of items that were taken.
func (z *owned) cleared(f *frame) {
	kept := z.suspects[:0]
	for _, p := range z.suspects {
		taken := false
		for i := range f.taken {
			t := &f.taken[i]
			taken = taken || t.from == p.from && t.number == p.number
		}
		if !taken {
			kept = append(kept, p)
		}
	}
	z.suspects = kept
}
