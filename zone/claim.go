package zone

import (
	"bytes"
	"errors"
	"slices"
)

// fence is the empty record after which nothing of earlier owners is taken.
type fence struct {
	data   []byte
	expect uint64 // behind which record it was tried
}

// claim begins to take a zone over, from what the map was seen to say.
func (s *Server) claim(id ID, entry Assignment, rev uint64) {
	if s.zone(id) != nil || len(s.zones) >= s.opt.Zones {
		return
	}
	z := &owned{id: id, entry: entry, rev: rev, from: entry.Owner}
	z.want = entry
	z.want.Owner, z.want.Epoch = s.opt.Self, entry.Epoch+1
	at, _ := slices.BinarySearchFunc(s.zones, id, func(z *owned, id ID) int {
		return int(int64(z.id) - int64(id))
	})
	s.zones = slices.Insert(s.zones, at, z)
	s.stats.Claims++
	s.warm(z)
	s.enter(z, claiming)
}

// writeEntry writes what is wanted into the map, as often as it takes to know that it is there or
// that somebody else has written.
func (s *Server) writeEntry(z *owned) {
	z.busy = true
	z.written = z.want.Append(z.written[:0:0])
	s.ask(Op{Kind: MapSet, Key: ZoneKey(z.id), Expect: z.rev, Data: z.written}, forEntrySet, z)
}

func (s *Server) entrySet(z *owned, r *Result) {
	switch r.Outcome {
	case OK:
		s.entryWritten(z, r.Revision)
	case Stale, Doubt:
		s.readEntry(z)
	default:
		s.retry(z)
	}
}

func (s *Server) readEntry(z *owned) {
	z.busy = true
	s.ask(Op{Kind: MapGet, Key: ZoneKey(z.id)}, forEntryGet, z)
}

// entryGot has read back an entry whose writing was refused or is in doubt.
func (s *Server) entryGot(z *owned, r *Result) {
	switch r.Outcome {
	case OK:
	case None:
		s.lose(z) // the zone was taken off the map
		return
	default:
		s.retry(z) // by writing again: the same can be there only once
		return
	}
	if bytes.Equal(r.Data, z.written) {
		s.entryWritten(z, r.Revision)
		return
	}
	if r.Revision == z.rev {
		s.retry(z)
		return
	}
	now, err := ReadAssignment(r.Data)
	if z.stage == claiming && err == nil && !now.Halted &&
		now.Owner == z.from && now.Epoch == z.entry.Epoch {
		z.entry, z.rev = now, r.Revision
		z.want = now
		z.want.Owner, z.want.Epoch = s.opt.Self, now.Epoch+1
		s.retry(z)
		return
	}
	s.lose(z)
	if err == nil && now.Owner != 0 {
		s.setRoute(z.id, now.Owner, now.Epoch)
	}
}

// entryWritten goes on when the map has what was wanted.
func (s *Server) entryWritten(z *owned, rev uint64) {
	z.entry, z.rev = z.want, rev
	switch z.stage {
	case claiming:
		h := recordHead{kind: recordFence, epoch: z.entry.Epoch, server: s.opt.Self}
		z.fence.data = appendSum(h.append(nil), 0)
		z.gather = gather{}
		if z.entry.Holders != [holders]ServerID{} {
			s.enter(z, gathering)
			return
		}
		s.enter(z, fencing)
	case vouching:
		if z.replay.broken != nil {
			s.reload(z, z.replay.until)
			return
		}
		s.begin(z)
	case giving:
		s.given(z)
	case halting:
		s.stats.Halted++
		at := z.entry.At
		s.drop(z)
		s.tell(Notice{Kind: Halted, Zone: z.id, Tick: at, Epoch: z.entry.Epoch, Err: z.why})
	}
}

// fenceLast has seen the journal's last record. It is ours, or of a later owner, or the fence is
// to follow it.
func (s *Server) fenceLast(z *owned, r *Result) {
	switch r.Outcome {
	case OK:
	case None:
		r.Sequence = 0
	default:
		s.retry(z)
		return
	}
	if r.Outcome == OK {
		if bytes.Equal(r.Data, z.fence.data) {
			s.fenced(z, r.Sequence)
			return
		}
		if h, _, err := readRecord(r.Data); err == nil && h.epoch >= z.entry.Epoch {
			s.lose(z)
			return
		}
	}
	if z.gather.lacking(r.Data); s.help(z, r.Sequence) {
		return
	}
	z.fence.expect = r.Sequence
	z.busy = true
	s.ask(Op{Kind: Append, Zone: z.id, Expect: r.Sequence, Data: z.fence.data}, forFence, z)
}

func (s *Server) fenceAppended(z *owned, r *Result) {
	switch r.Outcome {
	case OK:
		s.fenced(z, r.Sequence)
	case Stale:
		// The record behind which it was tried may not be the last any more: look again.
		s.enter(z, fencing)
	default:
		if r.Outcome == Doubt {
			s.stats.Doubts++
		}
		s.retry(z)
	}
}

// fenced has the journal for itself, up to the fence.
func (s *Server) fenced(z *owned, seq uint64) {
	if z.warm {
		z.replay.until = seq
		s.enter(z, replaying)
		return
	}
	s.reload(z, seq)
}

// ErrTries is why a zone is halted that was begun too often at one tick.
var ErrTries = errors.New("zone: it was begun too often at one tick without getting beyond it")

// vouch notes at which tick a zone begins. If it is begun too often thereabouts, it is halted:
// whatever kills a tick would kill one server after the other.
func (s *Server) vouch(z *owned, broken error) {
	z.want = z.entry
	z.want.Holders = [holders]ServerID{} // as the journal has all of what they hold
	if z.entry.Tries > 0 && z.state.tick < z.entry.At+beginsWithin {
		z.want.Tries++
	} else {
		z.want.At, z.want.Tries = z.state.tick, 1
	}
	if z.want.Tries > s.opt.Tries {
		if broken == nil {
			broken = ErrTries
		}
		s.halt(z, broken)
		return
	}
	if broken != nil {
		// The snapshot or what follows it cannot be computed here; it is tried again, as often as
		// the map allows.
		z.replay.broken = broken
	}
	s.enter(z, vouching)
}
