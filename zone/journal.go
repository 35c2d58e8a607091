package zone

import (
	"bytes"
	"time"
)

// journal is how far the records of a zone that this server owns have come. Ticks are gathered in
// one record while another is under way, so there are never two whose order could be in doubt. Only
// where servers hold records in memory, and the journal is slow, there are several: see buddies.
type journal struct {
	seq     uint64 // of the last record that was acknowledged, which is ours
	kept    Tick   // the last tick that the journal has
	durable Tick   // the last tick whose effects have left

	queue  []*pending // records that the journal has not acknowledged, in order
	size   int        // their bytes
	spare  []*pending // used again
	number uint64     // of the last that was made
	flying bool       // the first of them is under way, and tried until what came of it is known
	at     time.Duration
	wait   time.Duration // when to try it again, or never, and before that

	build []byte // frames for the next
	first Tick   // of these
	count int

	events []event // of the frames in build
	bytes  []byte
}

// pending is a record that the journal has not acknowledged. Its bytes never change.
type pending struct {
	number uint64
	data   []byte
	last   Tick
	since  time.Duration // when it was made
	left   bool          // its effects have left, as others hold it in memory
	marks  []mark
	events []event
	bytes  []byte
}

// mark is how far a stream is by a record.
type mark struct {
	st            *stream
	out, accepted uint64
}

// event is one that waits to be durable.
type event struct {
	tick     Tick
	number   uint64
	from, to int // its bytes
}

// start begins behind a record, and a tick that it or those before it have.
func (j *journal) start(seq uint64, tick Tick) {
	*j = journal{seq: seq, kept: tick, durable: tick, at: never, build: j.build[:0],
		events: j.events[:0], bytes: j.bytes[:0], queue: j.queue[:0], spare: j.spare}
}

// idle says that the journal has all ticks.
func (j *journal) idle() bool { return len(j.queue) == 0 && j.count == 0 }

// room says whether there may be one more tick. If the journal takes none for long, the zone
// stands still rather than gather ever more that may never have happened.
func (j *journal) room() bool {
	return j.count < maxFrames && len(j.build) < maxBuild && len(j.queue) < maxFrames &&
		j.size < maxHeld/2
}

// add puts a tick into the next record.
func (j *journal) add(z *owned, f *frame, firstEvent uint64) {
	if j.count == 0 {
		j.first = f.tick
	}
	j.count++
	j.build = f.append(j.build, z.id, z.state.outs)
	for i, e := range z.state.out.events {
		from := len(j.bytes)
		j.bytes = append(j.bytes, e...)
		j.events = append(j.events, event{f.tick, firstEvent + uint64(i), from, len(j.bytes)})
	}
	for _, st := range z.state.streams {
		st.live.built, st.live.acceptBuilt = st.out.end()-1, st.accepted
	}
}

// submit sends the record that was gathered on its way, if none is that it has to wait for.
func (s *Server) submit(z *owned) {
	j := &z.journal
	if j.count == 0 || len(j.queue) > 0 && !s.mayFollow(z) {
		return
	}
	p := &pending{}
	if n := len(j.spare); n > 0 {
		p, j.spare = j.spare[n-1], j.spare[:n-1]
	}
	j.number++
	h := recordHead{kind: recordTicks, epoch: z.entry.Epoch, server: s.opt.Self,
		first: j.first, count: j.count}
	p.data = appendSum(append(h.append(p.data[:0]), j.build...), 0)
	p.number, p.last, p.since, p.left = j.number, j.first+Tick(j.count)-1, s.now, false
	j.build, j.count = j.build[:0], 0
	j.events, p.events = p.events[:0], j.events
	j.bytes, p.bytes = p.bytes[:0], j.bytes
	p.marks = p.marks[:0]
	for _, st := range z.state.streams {
		p.marks = append(p.marks, mark{st, st.live.built, st.live.acceptBuilt})
	}
	j.queue = append(j.queue, p)
	j.size += len(p.data)
	s.share(z)
	if !j.flying {
		s.append(z)
	}
}

// append tries the first record that the journal lacks. However often it is tried, it is there once
// at most, since it follows one record only.
func (s *Server) append(z *owned) {
	j := &z.journal
	j.at, j.flying = never, true
	s.ask(Op{Kind: Append, Zone: z.id, Expect: j.seq, Data: j.queue[0].data}, forAppend, z)
}

func (s *Server) appended(z *owned, r *Result) {
	if r.Outcome == OK {
		s.acknowledged(z, r.Sequence)
		return
	}
	if r.Outcome == Doubt {
		s.stats.Doubts++
	}
	if r.Outcome == Away {
		s.appendLater(z)
		return
	}
	s.ask(Op{Kind: Last, Zone: z.id}, forLast, z)
}

// appendLater tries the same record again after a while.
func (s *Server) appendLater(z *owned) {
	z.journal.wait = min(max(2*z.journal.wait, s.opt.Resend/4), maxWait)
	z.journal.at = s.now + z.journal.wait
}

// lastRead has seen the journal's last record, after an append that was refused or is in doubt.
func (s *Server) lastRead(z *owned, r *Result) {
	j := &z.journal
	switch {
	case r.Outcome == OK && bytes.Equal(r.Data, j.queue[0].data):
		s.acknowledged(z, r.Sequence)
	case r.Outcome == OK && r.Sequence == j.seq:
		s.stats.Refused++
		if j.wait > 0 {
			s.appendLater(z)
			return
		}
		j.wait = 1
		s.append(z)
	case r.Outcome == OK:
		s.lose(z) // somebody else has fenced, or is about to
	case r.Outcome == None && j.seq != 0:
		// The whole journal is gone. What is in memory is all there is, so it begins anew.
		s.tell(Notice{Kind: JournalGone, Zone: z.id, Tick: j.kept, Epoch: z.entry.Epoch})
		j.seq, z.images.soon, z.images.last = 0, true, [2]image{}
		s.append(z)
	default:
		s.appendLater(z)
	}
}

// acknowledged has the journal hold the first record of the queue: its effects may leave.
func (s *Server) acknowledged(z *owned, seq uint64) {
	j := &z.journal
	p, before := j.queue[0], j.seq
	n := copy(j.queue, j.queue[1:])
	j.queue[n] = nil
	j.queue = j.queue[:n]
	j.size -= len(p.data)
	j.seq, j.kept, j.flying, j.wait = seq, p.last, false, 0
	z.buddies.acknowledged = s.now
	s.stats.Appends++
	s.stats.Recorded += uint64(len(p.data))
	if !p.left {
		s.leaves(z, p)
	}
	if z.stage == owning || z.stage == giving {
		s.putImage(z, seq, before)
	}
	p.marks = p.marks[:0]
	j.spare = append(j.spare, p)
	if n > 0 {
		s.append(z)
	}
	switch z.stage {
	case owning:
		s.submit(z)
		s.arranged(z)
	case failing, giving:
		s.advance(z)
	}
}

// leaves has the effects of a record leave, which is durable.
func (s *Server) leaves(z *owned, p *pending) {
	p.left = true
	z.journal.durable = p.last
	for _, m := range p.marks {
		m.st.live.durable, m.st.live.acceptKnown = m.out, m.accepted
	}
	for i := range p.events {
		e := &p.events[i]
		s.event(z, e.tick, e.number, p.bytes[e.from:e.to])
	}
	s.tell(Notice{Kind: Durable, Zone: z.id, Tick: p.last, Epoch: z.entry.Epoch})
	for _, st := range z.state.streams {
		s.greet(z, st)
	}
}

func (s *Server) event(z *owned, tick Tick, number uint64, data []byte) {
	s.stats.Events++
	s.tell(Notice{Kind: Event, Zone: z.id, Tick: tick, Epoch: z.entry.Epoch, Number: number,
		Data: s.keep(data)})
}
