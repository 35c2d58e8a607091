package mirror

import (
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// A settling knows what may be settled, and whether what was settled is the same everywhere.
//
// A tick is settled when every mirror holds it. A mirror holds a tick when each that was started,
// itself included, has promised to stamp nothing more for it, and nothing before that promise is
// missing here. Each tells with its packets up to which tick it holds everything. So whoever
// decides later which packets of a mirror that is gone still count, nobody who decides is without
// what has been settled; and a mirror that was not started is not waited for, as nothing of it
// counts yet.
//
// The timeline settles what it is allowed to once the tick's window is over as well.
type settling struct {
	held world.Tick // up to where all hold everything; it never goes back
	// crowded is the first tick of a command that counts and for which the timeline has no room
	// yet, or zero. Nothing from there on is settled before it has.
	crowded world.Tick
	every   world.Tick // settled worlds are compared by their hashes, after so many ticks
	told    world.Tick // the last whose hash was told to others
	hashes  [64]hashEntry
	wrong   bool // this mirror's settled world is unlike most others'
	// Who has told different things to different mirrors, and since when that is known. Nothing is
	// settled until it is known what most were told.
	liar  member.ID
	since time.Duration
}

// doubt has nothing settled until it is known what counts of a mirror.
func (s *settling) doubt(liar member.ID, now time.Duration) {
	if s.liar == 0 {
		s.liar, s.since = liar, now
	}
}

// newSettling begins after a world's tick.
func newSettling(every int, from world.Tick) settling {
	return settling{every: world.Tick(every), held: from}
}

// holds is the tick up to which a mirror holds everything of everyone, by what it has promised
// itself and what has come in order from the others.
func holds(own *standing, others peers) world.Tick {
	t := world.Tick(maxTick)
	if own.started {
		t = own.promise
	}
	for _, p := range others {
		if p.started {
			t = min(t, p.bound())
		}
	}
	if t == maxTick {
		return 0
	}
	return t
}

// allow takes up to which tick this mirror holds everything, and what the others have said that
// they hold. It gives the tick up to which all do, and whether that is further than before.
func (s *settling) allow(holds world.Tick, others peers) (until world.Tick, more bool) {
	for _, p := range others {
		if p.started {
			holds = min(holds, p.have)
		}
	}
	more = holds > s.held
	s.held = max(s.held, holds)
	return s.held, more
}

// crowd is told of a command for which there is no room.
func (s *settling) crowd(t world.Tick) {
	if s.crowded == 0 || t < s.crowded {
		s.crowded = t
	}
}

// bound is up to where the timeline may settle.
func (s *settling) bound() world.Tick {
	if s.crowded != 0 {
		return min(s.held, s.crowded-1)
	}
	return s.held
}

// A hashEntry has the hashes of one settled tick, of this mirror and as others told, so that a
// mirror that differs is found, and finds itself.
type hashEntry struct {
	tick world.Tick
	by   map[member.ID]uint64
}

// at is the entry of a tick, or nil if it is not compared, or newer ones have its room.
func (s *settling) at(t world.Tick) *hashEntry {
	e := &s.hashes[int(t/s.every)%len(s.hashes)]
	switch {
	case t%s.every != 0 || e.tick > t:
		return nil
	case e.tick < t:
		*e = hashEntry{t, map[member.ID]uint64{}}
	}
	return e
}

// compare counts how many have a mirror's own world, itself included, and how many another: the
// most who agree on one. Most are right, and of two, the überserver.
func (e *hashEntry) compare(self, uber member.ID) (with, against int, wrong bool) {
	own, ok := e.by[self]
	if !ok {
		return 0, 0, false
	}
	unlike, led := map[uint64]int{}, false
	for id, hash := range e.by {
		if hash == own {
			with++
			continue
		}
		unlike[hash]++
		against = max(against, unlike[hash])
		led = led || id == uber
	}
	return with, against, against > with || against == with && led
}

// holds is the tick up to which this mirror holds everything of everyone.
func (m *Mirror) holds() world.Tick {
	if m.ruled.line != nil {
		return m.ruled.to
	}
	return holds(&m.in.standing, m.peers)
}

// allow lets the timeline settle what every mirror holds.
func (m *Mirror) allow() {
	if m.settle.liar != 0 && !m.cleared() {
		return
	}
	m.settle.allow(m.holds(), m.peers)
	// No further than is settled soon: what was allowed cannot be taken back.
	soon := m.at(m.line.Leading()) + m.ticks(m.line.Delays().Lead+100*time.Millisecond)
	until := m.settle.bound()
	if m.levels.next != 0 {
		until = min(until, m.levels.next)
	}
	if window := m.ticks(m.opt.window()); soon > window {
		m.line.Hold(min(until, soon-window))
	}
}

// cleared says whether something may be settled although a mirror has told different things. By
// then others have said what they were told. Whoever was told what most were not takes their world;
// where nobody is known to have been told what was signed, those who were not take that of the
// überserver, once the liar is out.
func (m *Mirror) cleared() bool {
	s, g := &m.settle, m.group.node.Group()
	waited := m.clock.steady - s.since
	if waited < 3*digestEvery {
		return false
	}
	vouchers, disputed := g.Vouchers(s.liar)
	odd := g.Odd(s.liar) || slices.ContainsFunc(vouchers, m.alive)
	if !odd && disputed {
		if slices.Contains(g.Members(), s.liar) && waited < stallMost {
			return false
		}
		odd = m.roll.uber != m.roll.self && m.alive(m.roll.uber)
	}
	// Not if all others are about to do the same: somebody has to keep the world.
	odd = odd && slices.ContainsFunc(m.peers, func(p *peer) bool { return m.alive(p.id) })
	if odd {
		m.again(fmt.Sprintf("mirror %d has told it something else than the others", s.liar))
	}
	s.liar = 0
	return !odd
}

// stallMost is how long to wait at most for a liar to be put out before anything is settled.
const stallMost = 3 * time.Second

// alive says whether a mirror goes on with its world: one that does not says nothing more of it.
func (m *Mirror) alive(id member.ID) bool {
	p := m.peers.of(id)
	return p != nil && p.started && m.clock.steady-p.heard < digestEvery
}

// settled is called by the timeline with each settled world.
func (m *Mirror) settled(w *world.World, in *world.Inputs) {
	t := m.at(w)
	m.stats.Settled = t
	if t%m.settle.every == 0 {
		m.compare(t, m.roll.self, w.Hash())
	}
	m.keepTick(w, in)
	if m.opt.Settled != nil {
		m.opt.Settled(w, in)
	}
}

// compare takes the hash that a mirror has of a settled tick, and looks whether this mirror's world
// is unlike the others'.
func (m *Mirror) compare(t world.Tick, id member.ID, hash uint64) {
	e := m.settle.at(t)
	if e == nil {
		return
	}
	e.by[id] = hash
	with, against, wrong := e.compare(m.roll.self, m.roll.uber)
	if against == 0 || m.line == nil || !m.line.Exact() {
		return
	}
	m.stats.Differed++
	m.tell(News{Kind: Differs, Tick: t,
		Text: fmt.Sprintf("%d mirrors have this world, %d another", with, against)})
	m.settle.wrong = m.settle.wrong || wrong
}

// tellHash puts the newest settled hash into a packet, if it has not been told.
func (m *Mirror) tellHash(h *header) {
	s := &m.settle
	t := m.stats.Settled / s.every * s.every
	if t <= s.told || t > h.promise {
		return
	}
	if e := s.at(t); e != nil {
		h.settledHash, h.hash = e.by[m.roll.self]
	}
	if h.hash {
		h.settledTick, s.told = t, t
	}
}
