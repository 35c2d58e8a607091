package zone

import (
	"bytes"
	"time"
)

// buddies are the servers that hold in memory what the journal of a zone lacks. They are named in
// the map, so that whoever takes the zone over knows whom to ask. While the journal is well,
// effects leave when it has acknowledged them, as without buddies. While it is slow, they leave
// when a buddy has the record and all before it, and the journal follows.
//
// Of the owner and its two buddies, two hold such a record. A successor asks two of them, and they
// take nothing of earlier epochs from then on. So it knows of all that has left, whichever it asks.
type buddies struct {
	now   [holders]ServerID // as the map has them; who is to be used
	want  [holders]ServerID // as they are being written there
	held  [holders]uint64   // up to which record each has them
	sent  [holders]uint64   // up to which they were sent
	again [holders]time.Duration

	// While it is being written who they are, effects wait for the journal alone. It is written
	// when the journal has all that left before, so that it does not matter which of both the map
	// has.
	changing, writing bool
	written           []byte
	after, wait       time.Duration
	acknowledged      time.Duration // when the journal has taken something
}

// slowTicks is for how many ticks the journal has a record before it counts as slow.
const slowTicks = 2

const (
	windowRecords = 64        // that are sent beyond what is known to be held
	windowBytes   = 256 << 10 // their bytes
)

// slow says that the journal has not acknowledged a record for longer than it should take.
func (s *Server) slow(j *journal) bool {
	return len(j.queue) > 0 && s.now-j.queue[0].since > slowTicks*s.opt.Length
}

// heldTo is up to which record a buddy has them all.
func (b *buddies) heldTo() uint64 { return max(b.held[1], b.held[2]) }

// trusted says whether what a buddy holds is durable: not while it is not known who the map names,
// and not for ever, as whoever takes over does not wait for ever either.
func (s *Server) trusted(z *owned) bool {
	b := &z.buddies
	return b.now[0] == s.opt.Self && !b.changing &&
		(s.opt.Forsake < 0 || s.now-b.acknowledged < s.opt.Forsake/2)
}

// mayFollow says whether there may be one more record while others are under way.
func (s *Server) mayFollow(z *owned) bool {
	j := &z.journal
	return s.trusted(z) && s.slow(j) && z.buddies.heldTo() >= j.number
}

// share sends buddies what they lack.
func (s *Server) share(z *owned) {
	b := &z.buddies
	if b.now[0] != s.opt.Self {
		return
	}
	for i := 1; i < holders; i++ {
		if p := s.known(b.now[i]); p != nil {
			s.shareAt(z, i, p)
		}
	}
}

func (s *Server) shareAt(z *owned, i int, p *peer) {
	b, j := &z.buddies, &z.journal
	size := 0
	for k, rec := range j.queue {
		if rec.number <= max(b.held[i], b.sent[i]) {
			continue
		}
		if size += len(rec.data); k > 0 && size > windowBytes ||
			rec.number > max(b.held[i], j.queue[0].number)+windowRecords {
			return
		}
		part := holdPart{zone: z.id, epoch: z.entry.Epoch, number: rec.number,
			first: j.queue[0].number, total: len(rec.data)}
		for part.offset < part.total {
			part.data = rec.data[part.offset:min(part.offset+maxChunk, part.total)]
			l := s.write(p, false, len(part.data)+64)
			l.buf = part.append(l.buf)
			part.offset += len(part.data)
		}
		b.sent[i], b.again[i] = rec.number, s.now+s.opt.Resend
	}
}

// takeHeld learns up to which record a buddy has them.
func (s *Server) takeHeld(p *peer, a *heldPart) {
	z := s.zone(a.zone)
	if z == nil || z.stage < owning || a.epoch != z.entry.Epoch || a.number > z.journal.number {
		return
	}
	b := &z.buddies
	for i := 1; i < holders; i++ {
		if b.now[i] != p.id {
			continue
		}
		if a.refused {
			// Somebody takes the zone over. Nothing more is durable by this one.
			b.held[i], b.sent[i] = 0, 0
			b.again[i] = s.now + s.opt.Silence
			return
		}
		b.held[i] = max(b.held[i], a.number)
		if a.number < b.sent[i] && a.gap {
			b.sent[i] = b.held[i]
		}
		s.shareAt(z, i, p)
	}
	s.goAhead(z)
}

// goAhead has effects leave that are durable without the journal, and makes the next record.
func (s *Server) goAhead(z *owned) {
	if z.stage != owning || !s.trusted(z) || !s.slow(&z.journal) {
		return
	}
	to := z.buddies.heldTo()
	for _, p := range z.journal.queue {
		if p.number > to {
			break
		}
		if !p.left {
			s.stats.Ahead++
			s.leaves(z, p)
		}
	}
	s.submit(z)
}

// tendBuddies looks after the buddies of a zone: it says again what they have not answered, and has
// the map name others when they are not there.
func (s *Server) tendBuddies(z *owned) {
	b := &z.buddies
	if z.stage != owning {
		return
	}
	if b.now[0] == s.opt.Self {
		for i := 1; i < holders; i++ {
			if b.held[i] < z.journal.number && s.now >= b.again[i] {
				b.sent[i], b.again[i] = b.held[i], s.now+s.opt.Resend
			}
		}
		s.share(z)
		s.goAhead(z)
	}
	if b.writing || s.now < b.after {
		return
	}
	if !b.changing {
		b.after = s.now + s.opt.Silence/4
		if s.slow(&z.journal) || !s.chooseBuddies(z) {
			return
		}
		b.changing = true
	}
	s.arranged(z)
}

// chooseBuddies says who are to be the buddies of a zone, if that is anyone else.
func (s *Server) chooseBuddies(z *owned) bool {
	b := &z.buddies
	b.want = b.now
	if b.now[0] == s.opt.Self && s.opt.Buddies && s.near(b.now[1]) && s.near(b.now[2]) {
		return false
	}
	var there []ServerID
	at, _ := s.findPeer(s.opt.Self)
	for k := range s.peers {
		if p := s.peers[(at+k)%len(s.peers)]; s.near(p.id) {
			there = append(there, p.id)
		}
	}
	switch n := len(there); {
	case !s.opt.Buddies:
		b.want = [holders]ServerID{}
	case n >= 2:
		k := int(z.id) % n
		b.want = [holders]ServerID{s.opt.Self, there[k], there[(k+1)%n]}
	}
	return b.want != b.now
}

// near says that a server is heard.
func (s *Server) near(id ServerID) bool {
	i, ok := s.findPeer(id)
	return ok && s.now-s.peers[i].heard < 2*s.opt.Silence && !s.peers[i].missing()
}

// arranged writes who the buddies are, once the journal has all that left without it.
func (s *Server) arranged(z *owned) {
	b := &z.buddies
	if z.stage != owning || !b.changing || b.writing || s.now < b.after && b.wait > 0 {
		return
	}
	for _, p := range z.journal.queue {
		if p.left {
			return
		}
	}
	b.writing = true
	a := z.entry
	a.Holders = b.want
	b.written = a.Append(b.written[:0:0])
	s.ask(Op{Kind: MapSet, Key: ZoneKey(z.id), Expect: z.rev, Data: b.written}, forBuddies, z)
}

func (s *Server) buddiesSet(z *owned, r *Result) {
	b := &z.buddies
	switch r.Outcome {
	case OK:
		s.named(z, b.want, r.Revision)
	case Stale, Doubt:
		s.ask(Op{Kind: MapGet, Key: ZoneKey(z.id)}, forNamed, z)
	default:
		s.nameLater(z)
	}
}

// buddiesRead has read back who the map names, after writing it was refused or is in doubt.
func (s *Server) buddiesRead(z *owned, r *Result) {
	b := &z.buddies
	if r.Outcome == OK && bytes.Equal(r.Data, b.written) {
		s.named(z, b.want, r.Revision)
		return
	}
	now, err := ReadAssignment(r.Data)
	if r.Outcome == OK && err == nil && now.Epoch == z.entry.Epoch && now.Owner == s.opt.Self {
		z.rev = r.Revision
	}
	s.nameLater(z) // somebody else's zone is found out by the journal
}

func (s *Server) nameLater(z *owned) {
	b := &z.buddies
	b.writing = false
	b.wait = min(max(2*b.wait, s.opt.Resend/4), maxWait)
	b.after = s.now + b.wait
	s.advance(z)
}

// named uses the buddies that the map names.
func (s *Server) named(z *owned, who [holders]ServerID, rev uint64) {
	z.entry.Holders, z.rev = who, rev
	z.buddies = buddies{now: who, acknowledged: z.buddies.acknowledged,
		after: s.now + s.opt.Silence/4}
	s.stats.Named++
	s.share(z)
	s.advance(z)
}
