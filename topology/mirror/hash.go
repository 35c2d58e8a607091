package mirror

import (
	"fmt"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// hashRing holds the hashes of settled worlds, of this mirror and as others told, so that a mirror that differs is found, and finds itself.
type hashRing [64]hashEntry

type hashEntry struct {
	tick   world.Tick
	own    bool
	hash   uint64
	others []hashReport
}

type hashReport struct {
	from member.ID
	hash uint64
}

func (r *hashRing) reset() {
	for i := range r {
		r[i] = hashEntry{others: r[i].others[:0]}
	}
}

// at is the place of a tick, or nil if newer ones have it.
func (r *hashRing) at(t world.Tick, every int) *hashEntry {
	e := &r[int(t/world.Tick(every))%len(r)]
	switch {
	case e.tick > t:
		return nil
	case e.tick < t:
		*e = hashEntry{tick: t, others: e.others[:0]}
	}
	return e
}

// settledTick is called with each settled world.
func (m *Mirror) settledTick(w *world.World, in *world.Inputs) {
	m.stats.Settled = w.Tick()
	if every := m.opt.HashEvery; w.Tick()%world.Tick(every) == 0 {
		if e := m.hashes.at(w.Tick(), every); e != nil {
			e.own, e.hash = true, w.Hash()
			m.differ(e)
		}
	}
	if m.opt.Settled != nil {
		m.opt.Settled(w, in)
	}
}

// compare takes a hash that another has told.
func (m *Mirror) compare(id member.ID, p *packet) {
	if !p.hash || p.settledTick%world.Tick(m.opt.HashEvery) != 0 {
		return
	}
	e := m.hashes.at(p.settledTick, m.opt.HashEvery)
	if e == nil || len(e.others) > crimp.MaxMembers {
		return
	}
	e.others = append(e.others, hashReport{id, p.settledHash})
	m.differ(e)
}

// differ looks whether this mirror's world is unlike the others'. Most are right; of two, the überserver.
func (m *Mirror) differ(e *hashEntry) {
	if !e.own || m.line == nil || !m.line.Exact() {
		return
	}
	with, against := 1, map[uint64]int{}
	uber := false
	for _, o := range e.others {
		if o.hash == e.hash {
			with++
			continue
		}
		against[o.hash]++
		uber = uber || o.from == m.uber
	}
	worst := 0
	for _, n := range against {
		worst = max(worst, n)
	}
	if worst == 0 {
		return
	}
	m.stats.Differed++
	m.tell(News{Kind: Differs, Tick: e.tick, Text: fmt.Sprintf("%d mirrors have this world, %d another", with, worst)})
	if worst > with || worst == with && uber {
		m.wrong = true
	}
}

// tellHash puts the newest settled hash into a packet, if it has not been told.
func (m *Mirror) tellHash(p *packet) {
	every := world.Tick(m.opt.HashEvery)
	t := m.stats.Settled / every * every
	if t <= m.hashed || t == 0 || t > p.promise {
		return
	}
	if e := m.hashes.at(t, m.opt.HashEvery); e != nil && e.own {
		m.hashed = t
		p.hash, p.settledTick, p.settledHash = true, t, e.hash
	}
}
