package zone

import (
	"bytes"
	"fmt"
)

// replay computes again what a zone's records say, from a snapshot to the fence.
type replay struct {
	at      uint64   // behind which sequence records are still to be read
	until   uint64   // the last that counts
	epoch   uint64   // of the last
	records []Record // that were read
	open    bool     // in the first of them there are frames left
	rest    reader   // those
	left    int      // how many
	next    Tick     // the first of those
	gaps    int      // times that records had been given up which were needed
	broken  error    // the body failed
	items   []item
	frame   frame
	said    said // events, while another server owns the zone
}

// replayAtOnce is how many ticks are computed in one call.
const replayAtOnce = 64

const readSize = 256 << 10

// replaySome computes some ticks, and asks for more records when there are none.
func (s *Server) replaySome(z *owned) {
	p := &z.replay
	for n := 0; n < replayAtOnce; {
		if !p.open {
			if p.at >= p.until {
				s.vouch(z, nil)
				return
			}
			if len(p.records) == 0 {
				z.busy = true
				s.ask(Op{Kind: Read, Zone: z.id, Expect: p.at, Size: readSize}, forRecords, z)
				return
			}
			if err := p.take(); err != nil {
				s.halt(z, err)
				return
			}
			continue
		}
		n++
		if !s.replayFrame(z) {
			return
		}
	}
}

// take opens the next record.
func (p *replay) take() error {
	rec := p.records[0]
	p.records = p.records[1:]
	h, r, err := readRecord(rec.Data)
	if err != nil {
		return err
	}
	if rec.Sequence <= p.at || h.epoch < p.epoch {
		return ErrJournal
	}
	p.at, p.epoch = rec.Sequence, h.epoch
	if h.kind == recordTicks {
		p.open, p.rest, p.left, p.next = true, r, h.count, h.first
	}
	return nil
}

// replayFrame computes one tick again, and says whether to go on.
func (s *Server) replayFrame(z *owned) bool {
	p := &z.replay
	f := &p.frame
	f.reset(p.next)
	p.rest.frame(f, z.id, &p.items)
	p.next, p.left = p.next+1, p.left-1
	if p.rest.bad || p.left == 0 && !p.rest.done() {
		s.halt(z, errDamaged)
		return false
	}
	p.open = p.left > 0
	if f.tick <= z.state.tick {
		return true
	}
	if f.tick != z.state.tick+1 {
		s.halt(z, fmt.Errorf("%w: tick %d follows %d", ErrJournal, f.tick, z.state.tick))
		return false
	}
	s.stats.Replayed++
	if z.follows && f.tick%s.opt.SnapshotEvery == 0 {
		p.said.turn()
	}
	before := z.state.events
	if err := z.state.execute(f); err != nil {
		if z.follows {
			s.unfollow(z)
			return false
		}
		s.stats.Panics++
		s.tell(Notice{Kind: Failed, Zone: z.id, Tick: f.tick, Epoch: z.entry.Epoch, Err: err})
		s.vouch(z, err)
		return false
	}
	if !bytes.Equal(z.state.outs, f.outs) || f.hashed && z.state.body.Hash() != f.hash {
		s.halt(z, fmt.Errorf("%w: tick %d", ErrDiverged, f.tick))
		return false
	}
	for i, e := range z.state.out.events {
		if z.follows {
			p.said.add(f.tick, before+uint64(i)+1, e)
		} else {
			s.event(z, f.tick, before+uint64(i)+1, e)
		}
	}
	return true
}

// recordsRead has more records, or knows that they were given up.
func (s *Server) recordsRead(z *owned, r *Result) {
	p := &z.replay
	switch {
	case r.Outcome == None:
		// Somebody trimmed them, so there is a newer snapshot.
		if p.gaps++; p.gaps > 8 {
			s.halt(z, ErrJournal)
			return
		}
		gaps, until := p.gaps, p.until
		s.reload(z, until)
		z.replay.gaps = gaps
	case r.Outcome != OK || len(r.Records) == 0:
		s.retry(z) // what was read may be old, and not have the fence yet
		if z.follows {
			z.wait, z.after = 0, s.now+s.opt.Resend
		}
	default:
		z.wait = 0
		p.records = r.Records
		z.busy = false
		s.replaySome(z)
	}
}
