package zone

import (
	"bytes"
	"slices"
	"time"
)

// gather asks those who hold records of a zone, before the journal is fenced: two of the three, who
// then take nothing of the owner before any more. What the journal lacks of what they tell is
// appended, as it was written; whoever else appends the same makes no difference. Then the fence
// follows.
type gather struct {
	begun   bool
	since   time.Duration
	told    [holders]told
	at      int // from which of them records are fetched, if fetching
	fetch   bool
	heard   time.Duration // when that one has answered last
	records [][]byte
	part    []byte
	done    bool
	seq     uint64 // of the record in the journal behind which the next is appended
}

// told is what a holder has said.
type told struct {
	got            bool
	of, first, end uint64
}

// ask asks holders for what is not known yet.
func (s *Server) askHolders(z *owned) {
	g := &z.gather
	if !g.begun {
		*g = gather{begun: true, since: s.now}
	}
	if g.fetch && s.now-g.heard > s.opt.Silence {
		g.fetch, g.told[g.at] = false, told{} // it has gone meanwhile
	}
	z.after = s.now + s.opt.Resend/2
	if g.fetch {
		s.askHolder(z, g.at)
		return
	}
	for i, id := range z.entry.Holders {
		if g.told[i].got {
			continue
		}
		if id != s.opt.Self {
			s.askHolder(z, i)
			continue
		}
		m, ok := s.promise(z.id, z.entry.Epoch)
		if m == nil || !ok {
			s.lose(z)
			return
		}
		g.told[i] = told{true, m.epoch, m.first, m.end()}
	}
	s.gathered(z)
}

func (s *Server) askHolder(z *owned, i int) {
	p := s.known(z.entry.Holders[i])
	if p == nil {
		return
	}
	g := &z.gather
	a := askPart{zone: z.id, epoch: z.entry.Epoch}
	if g.fetch {
		a.number, a.offset = g.told[i].first+uint64(len(g.records)), len(g.part)
	}
	l := s.write(p, false, 64)
	l.buf = a.append(l.buf)
}

// gathered goes on when enough have answered. Of two that hold records of one epoch one has all of
// the other's; those of an earlier epoch are in the journal.
func (s *Server) gathered(z *owned) {
	g := &z.gather
	answered, ended, best := 0, 0, -1
	for i, id := range z.entry.Holders {
		t := &g.told[i]
		switch {
		case t.got:
			answered++
			if best < 0 || t.of > g.told[best].of ||
				t.of == g.told[best].of && t.end > g.told[best].end {
				best = i
			}
		case s.ended[id]:
			ended++
		}
	}
	late := s.opt.Forsake > 0 && s.now-g.since >= s.opt.Forsake
	if answered < 2 && answered+ended < holders && !late {
		return
	}
	if answered < 2 {
		s.stats.Forsaken++
		s.tell(Notice{Kind: Forsaken, Zone: z.id, Epoch: z.entry.Epoch})
	}
	if best < 0 || g.told[best].first == g.told[best].end {
		s.allGathered(z)
		return
	}
	g.records, g.part = g.records[:0], g.part[:0]
	if z.entry.Holders[best] == s.opt.Self {
		for _, rec := range s.recall(z.id).records {
			g.records = append(g.records, slices.Clone(rec))
		}
		s.allGathered(z)
		return
	}
	g.at, g.fetch, g.heard = best, true, s.now
	s.askHolder(z, best)
}

func (s *Server) allGathered(z *owned) {
	z.gather.done, z.gather.fetch = true, false
	s.enter(z, fencing)
}

// takeTell learns what a holder has.
func (s *Server) takeTell(p *peer, t *tellPart) {
	z := s.zone(t.zone)
	if z == nil || z.stage != gathering || t.epoch != z.entry.Epoch {
		return
	}
	g := &z.gather
	i := slices.Index(z.entry.Holders[:], p.id)
	switch {
	case i < 0 || !g.begun:
	case t.refused:
		s.lose(z) // somebody else has come later
	case !g.fetch:
		g.told[i] = told{true, t.of, t.first, t.end}
		s.gathered(z)
	case i == g.at:
		s.fetched(z, t)
	}
}

// fetched takes a part of a record.
func (s *Server) fetched(z *owned, t *tellPart) {
	g := &z.gather
	from := &g.told[g.at]
	if t.number != from.first+uint64(len(g.records)) || t.offset != len(g.part) || t.total == 0 {
		return
	}
	g.heard = s.now
	if g.part = append(g.part, t.data...); len(g.part) >= t.total {
		g.records = append(g.records, slices.Clone(g.part))
		g.part = g.part[:0]
	}
	if from.first+uint64(len(g.records)) == from.end {
		s.allGathered(z)
		return
	}
	s.askHolder(z, g.at)
}

// lacking drops of the records that were gathered those that the journal has, by its last record.
func (g *gather) lacking(last []byte) {
	h, _, err := readRecord(last)
	if len(last) == 0 || err != nil {
		return
	}
	for k, rec := range g.records {
		if bytes.Equal(rec, last) {
			g.records = g.records[k+1:]
			return
		}
	}
	kept := g.records[:0]
	for _, rec := range g.records {
		is, _, err := readRecord(rec)
		if err == nil && is.epoch >= h.epoch &&
			(h.kind == recordFence || is.first >= h.first+Tick(h.count)) {
			kept = append(kept, rec)
		}
	}
	g.records = kept
}

// help appends the next record that the journal lacks. It says whether there is one.
func (s *Server) help(z *owned, seq uint64) bool {
	g := &z.gather
	if len(g.records) == 0 {
		return false
	}
	z.busy = true
	g.seq = seq
	s.ask(Op{Kind: Append, Zone: z.id, Expect: seq, Data: g.records[0]}, forHelp, z)
	return true
}

func (s *Server) helped(z *owned, r *Result) {
	switch r.Outcome {
	case OK:
		s.stats.Helped++
		z.gather.records = z.gather.records[1:]
		if !s.help(z, r.Sequence) {
			s.enter(z, fencing)
		}
	case Stale:
		s.enter(z, fencing) // see what is there
	default:
		if r.Outcome == Doubt {
			s.stats.Doubts++
		}
		s.retry(z)
	}
}
