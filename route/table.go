package route

import (
	"cmp"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
)

// Options are for New.
type Options struct {
	Self member.ID
	// Dead is for how long nothing may come over a line before it counts as down. All members
	// must have the same. Zero means 500 ms.
	Dead time.Duration
}

// Table is what one member knows of the lines between all of them. It is a machine without clock,
// goroutine or randomness.
//
// The lines stand by rising id, one for each other member. The way that each has is the shortest
// that follows from what is up, unless dirty.
type Table struct {
	self   member.ID
	dead   time.Duration
	now    time.Duration
	lines  []*line
	number uint32 // of our last state
	saidAt time.Duration
	soon   bool // something has changed that others should know
	calm   time.Duration
	often  bool // states are the only sign that a line passes
	dirty  bool
	up     map[pair]bool // scratch
}

type pair struct{ from, to member.ID }

// line is what is known of one other member.
type line struct {
	id    member.ID
	since time.Duration // when it came into the group
	trial bool          // that is so recent that nothing can be said of its line
	heard time.Duration // when anything last came directly
	ever  bool          // something has
	up    bool          // we hear it
	row   int           // its states that came directly since the line is down

	state  State         // the newest that it said
	echoed time.Duration // when it last had heard us, as it says

	hop  member.ID // the next on the way there, zero if there is none
	hops int
}

const (
	// A line that was down is up when so many states have come over it in a row.
	rowUp = 3
	// States are said so many times in Dead, while all is well and otherwise.
	calmPace   = 2
	oftenPace  = 4
	unrestPace = 6
	leastPace  = 20 // and at most so many times
	// A new member is taken to be there for so many times Dead.
	grace = 2
)

const never = time.Duration(1<<63 - 1)

// New makes a table.
func New(o Options) *Table {
	return &Table{self: o.Self, dead: cmp.Or(o.Dead, 500*time.Millisecond), up: map[pair]bool{}}
}

// Members says who is in the group; this one need not be among them.
func (t *Table) Members(now time.Duration, ids []member.ID) {
	t.advance(now)
	was := t.lines
	t.lines = nil
	for _, id := range ids {
		if id == t.self || id == 0 {
			continue
		}
		at := slices.IndexFunc(was, func(l *line) bool { return l.id == id })
		if at >= 0 {
			t.lines = append(t.lines, was[at])
		} else {
			t.lines = append(t.lines,
				&line{id: id, since: t.now, trial: true, heard: t.now, hop: id, hops: 1})
			t.changed()
		}
	}
	slices.SortFunc(t.lines, func(a, b *line) int { return cmp.Compare(a.id, b.id) })
	t.dirty = true
}

// Often has states said twice as often while all is well: where nothing else goes over the lines by
// which they could be known to pass.
func (t *Table) Often(often bool) { t.often = often }

// Hasten has the next state come soon.
func (t *Table) Hasten(now time.Duration) {
	t.advance(now)
	t.soon = true
}

// changed has the next state come soon.
func (t *Table) changed() {
	t.dirty, t.soon = true, true
	t.calm = t.now + 2*t.dead
}

// advance takes the time, which must not run backwards. One that was itself stopped for a while
// must not take it for the silence of others.
func (t *Table) advance(now time.Duration) {
	if gap := now - t.now; gap > t.dead/2 && t.now != 0 {
		for _, l := range t.lines {
			l.heard += gap
			l.since += gap
		}
	}
	t.now = max(t.now, now)
}

func (t *Table) of(id member.ID) *line {
	at, ok := slices.BinarySearchFunc(t.lines, id,
		func(l *line, id member.ID) int { return cmp.Compare(l.id, id) })
	if !ok {
		return nil
	}
	return t.lines[at]
}

// Heard tells that something of a member has come directly.
func (t *Table) Heard(now time.Duration, id member.ID) {
	t.advance(now)
	l := t.of(id)
	if l == nil || l.ever && !l.up {
		return // a line that was down is up when states come again
	}
	t.hear(l)
}

func (t *Table) hear(l *line) {
	l.heard = t.now
	if !l.ever {
		l.ever, l.up = true, true
		t.changed()
	}
}

// Say takes a state that has come directly from its maker.
func (t *Table) Say(now time.Duration, s *State) {
	t.advance(now)
	l := t.of(s.Member)
	if l == nil {
		return
	}
	if l.up || !l.ever {
		t.hear(l)
	} else {
		if t.now-l.heard >= t.dead {
			l.row = 0
		}
		l.row++
		l.heard = t.now
		if l.row >= rowUp {
			l.up, l.row = true, 0
			t.changed()
		}
	}
	for i := range s.Hears {
		if h := &s.Hears[i]; h.Member == t.self && h.Age < MaxAge {
			l.echoed = max(l.echoed, t.now-time.Duration(h.Age)*t.unit())
		}
	}
	t.take(l, s)
}

// Pass takes a state that another than its maker has passed on. It says whether it was news.
func (t *Table) Pass(now time.Duration, s *State) bool {
	t.advance(now)
	l := t.of(s.Member)
	return l != nil && t.take(l, s)
}

// take keeps a state, if it is newer than what is known.
func (t *Table) take(l *line, s *State) bool {
	if s.Number <= l.state.Number {
		return false
	}
	if !l.state.same(s) {
		t.changed()
	}
	l.state = State{s.Member, s.Number, append(l.state.Hears[:0], s.Hears...), s.Proof}
	return true
}

// Known is the newest state of a member that came, or nil.
func (t *Table) Known(id member.ID) *State {
	if l := t.of(id); l != nil && l.state.Number != 0 {
		return &l.state
	}
	return nil
}

// Tick notices lines that are down. It says whether anything has changed.
func (t *Table) Tick(now time.Duration) (changed bool) {
	t.advance(now)
	for _, l := range t.lines {
		if l.up && t.now-l.heard >= t.dead {
			l.up, l.row = false, 0
			t.changed()
		}
		if l.trial && t.now-l.since >= grace*t.dead {
			l.trial = false
			t.dirty = true
		}
	}
	if !t.dirty {
		return false
	}
	return t.compute()
}

// Due reports whether it is time to say our state.
func (t *Table) Due(now time.Duration) bool {
	t.advance(now)
	return len(t.lines) > 0 && t.now >= t.sayAt()
}

// sayAt is when our state is to be said next.
func (t *Table) sayAt() time.Duration {
	pace := time.Duration(calmPace)
	switch {
	case t.number == 0:
		return t.now
	case t.soon:
		pace = leastPace
	case t.now < t.calm || t.Detours() > 0:
		pace = unrestPace
	case t.often:
		pace = oftenPace
	}
	return t.saidAt + t.dead/pace
}

// Deadline is when Tick and Due should be called next, at the latest.
func (t *Table) Deadline() time.Duration {
	if len(t.lines) == 0 {
		return never
	}
	at := t.sayAt()
	for _, l := range t.lines {
		if l.up {
			at = min(at, l.heard+t.dead)
		}
	}
	return at
}

// State is what this member says next, to all others.
func (t *Table) State(now time.Duration) State {
	t.advance(now)
	t.number++
	t.saidAt, t.soon = t.now, false
	s := State{Member: t.self, Number: t.number}
	for _, l := range t.lines {
		h := Hearing{Member: l.id, Up: l.up, Age: MaxAge}
		if l.ever {
			h.Age = uint8(min((t.now-l.heard)/t.unit(), MaxAge))
		}
		if s.Hears = append(s.Hears, h); len(s.Hears) == MaxHears {
			break
		}
	}
	return s
}

// unit is what ages count.
func (t *Table) unit() time.Duration { return t.dead / 16 }

// direct reports whether packets pass both ways between us and a member, as far as is known.
func (t *Table) direct(l *line) bool {
	return l.trial || l.up && l.state.hears(t.self)
}

// compute finds the way to each member, by going from neighbour to neighbour.
func (t *Table) compute() (changed bool) {
	t.dirty = false
	clear(t.up)
	for _, l := range t.lines {
		for _, h := range l.state.Hears {
			if h.Up {
				t.up[pair{l.id, h.Member}] = true
			}
		}
	}
	before := make([]member.ID, len(t.lines))
	for i, l := range t.lines {
		before[i] = l.hop
		if l.hops = 0; t.direct(l) {
			l.hop, l.hops = l.id, 1
		}
	}
	// All that are one further away than the last ones, until there are none.
	for far, more := 2, true; more; far++ {
		more = false
		for i, l := range t.lines {
			if l.hops != 0 {
				continue
			}
			hop := member.ID(0)
			for _, by := range t.lines {
				if by.hops != far-1 || !t.up[pair{l.id, by.id}] || !t.up[pair{by.id, l.id}] {
					continue
				}
				if hop == 0 || by.hop == before[i] {
					hop = by.hop // the one in use, if it is as short
				}
			}
			if hop != 0 {
				l.hop, l.hops, more = hop, far, true
			}
		}
	}
	for i, l := range t.lines {
		if l.hops == 0 {
			l.hop = 0
		}
		changed = changed || l.hop != before[i]
	}
	return changed
}

// Next is the neighbour to whom to send what is for a member: itself if there is a direct line. It
// is false where nobody is known to reach the member, and for one that is not in the group.
func (t *Table) Next(id member.ID) (hop member.ID, ok bool) {
	l := t.of(id)
	if l == nil || l.hop == 0 {
		return id, false
	}
	return l.hop, true
}

// Detours counts the members that are not reached directly.
func (t *Table) Detours() (n int) {
	for _, l := range t.lines {
		if l.hops != 1 {
			n++
		}
	}
	return n
}

// Echoed is when a member last heard us directly, as far as it has said; zero if it has not.
func (t *Table) Echoed(id member.ID) time.Duration {
	if l := t.of(id); l != nil {
		return l.echoed
	}
	return 0
}

// Line is how a member is reached.
type Line struct {
	Member member.ID
	Hears  bool      // we hear it directly
	Heard  bool      // it says that it hears us directly
	Via    member.ID // the next on the way to it: itself, another, or zero if it is not reached
	Hops   int       // how many lines that takes
}

// Lines tells of all members but this one, in order.
func (t *Table) Lines() []Line {
	list := make([]Line, 0, len(t.lines))
	for _, l := range t.lines {
		list = append(list, Line{l.id, l.up, l.state.hears(t.self), l.hop, l.hops})
	}
	return list
}
