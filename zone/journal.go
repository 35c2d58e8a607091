package zone

import (
	"bytes"
	"time"
)

// journal is how far the records of a zone that this server owns have come. Ticks are gathered in
// one record while another is under way, so there are never two whose order could be in doubt.
type journal struct {
	seq     uint64 // of the last record, which is ours
	durable Tick   // the last tick that was acknowledged

	flying   bool   // a record is under way, and is tried until it is known what came of it
	flight   []byte // its bytes, which never change meanwhile
	flightTo Tick
	at       time.Duration // when to try it again, or never
	wait     time.Duration // before that

	build []byte // frames for the next
	first Tick   // of these
	count int

	events    []event // of the frames in build
	bytes     []byte
	flyEvents []event // of those in flight
	flyBytes  []byte
}

// event is one that waits to be durable.
type event struct {
	tick     Tick
	number   uint64
	from, to int // its bytes
}

// start begins behind a record, and a tick that it or those before it have.
func (j *journal) start(seq uint64, tick Tick) {
	j.seq, j.durable = seq, tick
	j.flying, j.build, j.count, j.at, j.wait = false, j.build[:0], 0, never, 0
	j.events, j.bytes = j.events[:0], j.bytes[:0]
	j.flyEvents, j.flyBytes = j.flyEvents[:0], j.flyBytes[:0]
}

// idle says that all ticks are durable.
func (j *journal) idle() bool { return !j.flying && j.count == 0 }

// room says whether there may be one more tick. If the journal takes none for long, the zone
// stands still rather than gather ever more that may never have happened.
func (j *journal) room() bool { return j.count < maxFrames && len(j.build) < maxBuild }

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

// submit sends the record that was gathered on its way, if none is.
func (s *Server) submit(z *owned) {
	j := &z.journal
	if j.flying || j.count == 0 {
		return
	}
	h := recordHead{kind: recordTicks, epoch: z.entry.Epoch, server: s.opt.Self,
		first: j.first, count: j.count}
	j.flight = appendSum(append(h.append(j.flight[:0]), j.build...), 0)
	j.flightTo = j.first + Tick(j.count) - 1
	j.build, j.count = j.build[:0], 0
	j.events, j.flyEvents = j.flyEvents[:0], j.events
	j.bytes, j.flyBytes = j.flyBytes[:0], j.bytes
	for _, st := range z.state.streams {
		st.live.writing, st.live.acceptWriting = st.live.built, st.live.acceptBuilt
	}
	j.flying = true
	s.append(z)
}

// append tries the record under way. However often it is tried, it is there once at most, since
// it follows one record only.
func (s *Server) append(z *owned) {
	z.journal.at = never
	s.ask(Op{Kind: Append, Zone: z.id, Expect: z.journal.seq, Data: z.journal.flight}, forAppend, z)
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
	case r.Outcome == OK && bytes.Equal(r.Data, j.flight):
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
		s.lose(z) // somebody else has fenced
	case r.Outcome == None && j.seq != 0:
		// The whole journal is gone. What is in memory is all there is, so it begins anew.
		s.tell(Notice{Kind: JournalGone, Zone: z.id, Tick: j.durable, Epoch: z.entry.Epoch})
		j.seq, z.images.soon, z.images.last = 0, true, [2]image{}
		s.append(z)
	default:
		s.appendLater(z)
	}
}

// acknowledged has a record durable: its effects may leave.
func (s *Server) acknowledged(z *owned, seq uint64) {
	j := &z.journal
	before := j.seq
	j.seq, j.durable, j.flying = seq, j.flightTo, false
	z.journal.wait = 0
	s.stats.Appends++
	s.stats.Recorded += uint64(len(j.flight))
	for _, st := range z.state.streams {
		st.live.durable = st.live.writing
		st.live.acceptKnown = st.live.acceptWriting
	}
	for i := range j.flyEvents {
		e := &j.flyEvents[i]
		s.event(z, e.tick, e.number, j.flyBytes[e.from:e.to])
	}
	j.flyEvents, j.flyBytes = j.flyEvents[:0], j.flyBytes[:0]
	s.tell(Notice{Kind: Durable, Zone: z.id, Tick: j.durable, Epoch: z.entry.Epoch})
	if z.stage == owning || z.stage == giving {
		s.putImage(z, seq, before)
	}
	for _, st := range z.state.streams {
		s.greet(z, st)
	}
	switch z.stage {
	case owning:
		s.submit(z)
	case failing, giving:
		s.advance(z)
	}
}

func (s *Server) event(z *owned, tick Tick, number uint64, data []byte) {
	s.stats.Events++
	s.tell(Notice{Kind: Event, Zone: z.id, Tick: tick, Epoch: z.entry.Epoch, Number: number,
		Data: s.keep(data)})
}
