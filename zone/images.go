package zone

// images are the snapshots of a zone. The last two that are known to be kept stay, and what is
// needed to go on from the older of them.
type images struct {
	keys []string // that are known to be there, oldest first
	bad  int      // how many of the newest were tried and are of no use
	last [2]image // the newest, and the one before it

	pending []byte // a state that was saved
	tick    Tick   // of it
	key     string
	seq     uint64
	waiting bool // it waits until its tick is durable
	putting bool
	soon    bool // the next tick is to be saved, whenever it is due
}

// image is a snapshot that is known to be in the store.
type image struct {
	tick Tick
	seq  uint64 // behind which its replay begins
}

// imagesFound has listed the snapshots of a zone, and takes the newest that was not bad.
func (s *Server) imagesFound(z *owned, r *Result) {
	if r.Outcome != OK && r.Outcome != None {
		s.retry(z)
		return
	}
	z.images.keys = z.images.keys[:0]
	for _, k := range r.Keys {
		if _, ok := imageTick(z.id, k); ok {
			z.images.keys = append(z.images.keys, k)
		}
	}
	if len(z.images.keys) == 0 && z.follows {
		s.unfollow(z)
		return
	}
	if len(z.images.keys) == 0 {
		s.tell(Notice{Kind: Unfounded, Zone: z.id, Epoch: z.entry.Epoch})
		z.wait = maxWait
		s.retry(z)
		return
	}
	s.enter(z, loading)
}

func (s *Server) loadImage(z *owned) {
	n := len(z.images.keys) - 1 - z.images.bad
	if n < 0 || z.images.bad > 8 {
		s.halt(z, ErrJournal)
		return
	}
	z.busy = true
	s.ask(Op{Kind: Get, Key: z.images.keys[n]}, forImage, z)
}

// imageGot loads a snapshot. If it cannot be, the one before is tried.
func (s *Server) imageGot(z *owned, r *Result) {
	if r.Outcome != OK && r.Outcome != None {
		s.retry(z)
		return
	}
	if r.Outcome == OK {
		state := newState(z.id, s.opt.Body(z.id))
		seq, err := load(state, r.Data)
		if err == nil && seq < z.replay.until {
			z.state = state
			z.images.last = [2]image{{state.tick, seq}, {state.tick, seq}}
			z.replay.at = seq
			s.enter(z, replaying)
			return
		}
	}
	z.images.bad++
	s.enter(z, loading)
}

// saveImage keeps the state as it is, when its turn has come, until its tick is durable.
func (s *Server) saveImage(z *owned) {
	i := &z.images
	every := s.opt.SnapshotEvery
	due := (z.state.tick+Tick(z.id)*37)%every == 0
	if i.waiting || i.putting || !due && !i.soon {
		return
	}
	i.pending = z.state.save(i.pending[:0])
	i.tick, i.waiting, i.soon = z.state.tick, true, false
}

// putImage puts a state that was saved into the store, once the journal has its tick.
func (s *Server) putImage(z *owned, seq, before uint64) {
	i := &z.images
	if !i.waiting || i.tick > z.journal.kept {
		return
	}
	i.seq = before
	if i.tick == z.journal.kept {
		i.seq = seq
	}
	i.waiting, i.putting = false, true
	i.pending = seal(i.pending, i.seq)
	i.key = imageKey(z.id, i.tick, z.entry.Epoch)
	s.ask(Op{Kind: Put, Key: i.key, Data: i.pending}, forPut, z)
}

// imagePut has a snapshot in the store, and gives up what nobody needs for it any more. One that
// is in doubt may be there or come to be there, which harms nobody: it is right.
func (s *Server) imagePut(z *owned, r *Result) {
	i := &z.images
	i.putting = false
	if r.Outcome != OK {
		if r.Outcome == Doubt {
			s.stats.Doubts++
		}
		return
	}
	i.keys = append(i.keys, i.key)
	i.last[1], i.last[0] = i.last[0], image{i.tick, i.seq}
	if i.last[1].seq > 0 {
		s.ask(Op{Kind: Trim, Zone: z.id, Expect: i.last[1].seq}, forNothing, z)
	}
	kept := 0
	for _, k := range i.keys {
		if t, _ := imageTick(z.id, k); t >= i.last[1].tick {
			i.keys[kept] = k
			kept++
			continue
		}
		s.ask(Op{Kind: Delete, Key: k}, forNothing, z)
	}
	i.keys = i.keys[:kept]
}
