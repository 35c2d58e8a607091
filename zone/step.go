package zone

import "errors"

// ErrFull is why a command is not taken: too many wait for the next tick of its zone.
var ErrFull = errors.New("zone: too many commands wait for the next tick")

// ErrNotOwned is why something cannot be done with a zone.
var ErrNotOwned = errors.New("zone: the zone is not owned by this server")

// Command gives the body of a zone something for its next tick. It is copied.
func (s *Server) Command(id ID, data []byte) error {
	z := s.zone(id)
	if z == nil || !z.told {
		return ErrNotOwned
	}
	if len(data) > MaxItem || len(z.commands) >= maxCommands ||
		len(z.cmdBytes)+len(data) > maxInput {
		return ErrFull
	}
	at := len(z.cmdBytes)
	z.cmdBytes = append(z.cmdBytes, data...)
	z.commands = append(z.commands, z.cmdBytes[at:len(z.cmdBytes):len(z.cmdBytes)])
	return nil
}

// run computes what is due of a zone.
func (s *Server) run(z *owned) {
	due := s.Due(s.now)
	for n := 0; n < s.opt.Ticks && z.stage == owning && z.state.tick < due; n++ {
		if !z.journal.room() {
			s.stats.Standstill++
			break
		}
		s.step(z)
	}
	s.submit(z)
}

// step computes the next tick of a zone: this is the way from what came in to what goes out.
func (s *Server) step(z *owned) {
	st, f := z.state, &z.frame
	s.gather(z, f)
	events := st.events + 1
	if err := st.execute(f); err != nil {
		s.failed(z, f, err)
		return
	}
	s.stats.Ticks++
	f.hashed = f.tick%s.opt.HashEvery == 0
	if f.hashed {
		f.hash = st.body.Hash()
	}
	z.journal.add(z, f, events)
	s.count(z, f)
	s.release(z, f)
	for _, to := range st.out.show {
		s.show(z, to)
	}
	s.saveImage(z)
}

// gather takes what waits into a frame.
func (s *Server) gather(z *owned, f *frame) {
	f.reset(z.state.tick + 1)
	all := 0
	for _, st := range z.state.streams {
		all += st.bytes
	}
	for _, st := range z.state.streams {
		if st.full() || all > maxOutboxAll {
			f.closed = append(f.closed, st.peer)
		}
	}
	if len(z.suspects) == 0 && z.gatherBack(f) {
		s.gatherGhosts(z, f)
		return
	}
	// Where more waits than a tick takes, each peer is the first in turn.
	n, size := len(z.state.streams), 0
	for i := range n {
		st := z.state.streams[(i+int(f.tick%Tick(n)))%n]
		if size = z.gatherItems(st, f, size); size < 0 {
			return
		}
	}
	f.commands = append(f.commands, z.commands...)
	s.gatherGhosts(z, f)
}

func (s *Server) gatherGhosts(z *owned, f *frame) {
	size := 0
	for _, st := range z.state.streams {
		g := &st.live.ghost
		if g.From == 0 || size+len(g.Data) > maxGhosts {
			continue
		}
		if !st.shows(g) {
			g.From = 0
			s.stats.Unfit++
			continue
		}
		size += len(g.Data)
		f.ghosts = append(f.ghosts, *g)
	}
}

// gatherItems takes items of one peer. Those of a zone that is ahead wait for their tick. It gives
// the size of all so far, or less than nothing if there is to be nothing else in this tick.
func (z *owned) gatherItems(st *stream, f *frame, size int) int {
	in, until := &st.live.inbox, uint64(0)
	for n := in.first; n < in.end() && len(f.taken) < maxTaken; n++ {
		i := in.at(n)
		if n >= until && len(z.suspects) == 0 {
			var fits bool
			if until, fits = st.group(n, f, size); !fits {
				break
			}
		}
		if i.tick >= f.tick || n >= until && size > 0 && size+i.size() > maxTakenLen ||
			z.blocked(i) {
			break
		}
		p := z.suspected(st.peer, n)
		alone := p != nil && p.fails == 1
		if alone && len(f.taken) > 0 {
			break
		}
		size += i.size()
		f.taken = append(f.taken, taken{st.peer, n, p != nil && !alone, i})
		if alone {
			return -1
		}
	}
	return size
}

// blocked says that an action would be forwarded to a peer for which far too much is kept already.
func (z *owned) blocked(i *item) bool {
	if i.kind != action || z.state.body.Has(i.entity) {
		return false
	}
	to, ok := z.state.moved.where(i.entity)
	if !ok || to == 0 {
		return false
	}
	st := z.state.streams.get(to)
	return st.out.len() >= 2*maxOutbox || st.bytes >= 2*maxOutboxLen
}

// count notes what a tick took and told.
func (s *Server) count(z *owned, f *frame) {
	for i := range f.taken {
		t := &f.taken[i]
		switch {
		case t.aside:
			s.stats.SetAside++
			s.tell(Notice{Kind: SetAside, Zone: z.id, Tick: f.tick, Epoch: z.entry.Epoch,
				Peer: t.from, Number: t.number, Entity: t.item.entity})
		case t.item.kind == handOver:
			s.stats.HandOvers++
			s.stats.Late[min(f.tick-1-t.item.tick, MaxMissed+1)]++
		default:
			s.stats.Actions++
		}
	}
	s.stats.Waited += uint64(len(z.state.held))
	s.stats.Forwarded += uint64(z.state.forwards)
	for _, l := range z.state.lost {
		s.stats.Gone++
		s.tell(Notice{Kind: Gone, Zone: z.id, Tick: f.tick, Epoch: z.entry.Epoch, Peer: l.from,
			Number: l.number, Entity: l.entity})
	}
}

// release gives up what was taken into a tick.
func (s *Server) release(z *owned, f *frame) {
	if len(f.commands) > 0 {
		z.commands, z.cmdBytes = z.commands[:0], z.cmdBytes[:0]
	}
	if len(z.suspects) > 0 {
		z.cleared(f)
	}
	for i := range f.taken {
		t := &f.taken[i]
		st := z.state.streams.get(t.from)
		st.live.inboxBytes -= t.item.size()
		st.live.inbox.drop(t.number + 1)
	}
	for i := range f.ghosts {
		st := z.state.streams.get(f.ghosts[i].From)
		st.live.ghost.From = 0
		s.tellSeen(z, st)
	}
}
