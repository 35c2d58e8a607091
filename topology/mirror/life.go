package mirror

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/timeline"
)

// A Phase is how far a mirror has come.
type Phase uint8

// The phases of a mirror.
const (
	Joining Phase = iota // asks to be let in, or waits for the world
	Waiting              // holds the world, and waits to be started
	Serving              // takes commands
	// cut off, or its clock is unsure: shows the world as it is and takes nothing
	Suspended
	Leaving // on its way out
	Out     // see Err
)

var phaseNames = [...]string{"joining", "waiting", "serving", "suspended", "leaving", "out"}

func (p Phase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return "unknown phase"
}

// A life is what a mirror is about, from joining to the end. Its state changes only as comesFrom
// says. A phase is what users see of it; one that cannot go on with its world keeps the phase that
// it had, since its clients go on seeing the world as it was.
type life struct {
	state    state
	phase    Phase
	err      error         // why it fails, or is out
	reunited time.Duration // by the clock: since when it is in touch again
	rejoinBy time.Duration // when a mirror that is spoiled or released joins anew at the latest
	leaveBy  time.Duration // until when clients have to move, if it was asked to leave
	began    sync.Once     // to tell that clients may come
}

type state uint8

const (
	joining  state = iota // asks to be let in, or waits for the world
	waiting               // holds the world, and waits to be started
	serving               // takes commands
	cutOff                // is out of touch with most of the others
	reunited              // is in touch again, and listens whether the others went on without it
	spoiled               // cannot go on with its world: waits until the others can spare its vote
	released              // the same, and has asked to be let go
	failing               // the game panicked, and clients are being told
	leaving               // has asked to be let go for good
	out
)

// phases are what users see of states.
var phases = map[state]Phase{
	joining: Joining, waiting: Waiting, serving: Serving, cutOff: Suspended,
	reunited: Suspended, failing: Leaving, leaving: Leaving, out: Out}

// comesFrom says from which states each may be reached; from others, moving there does nothing.
var comesFrom = [...][]state{
	joining: {spoiled, released}, // it has nothing more to do with its group
	// it has the world; or would have heard by now if it had been left behind; or its own is the
	// only one that is left
	waiting:  {joining, reunited, spoiled, released},
	serving:  {joining, waiting}, // it began a game; or the überserver lets it stamp
	cutOff:   {waiting, serving, reunited},
	reunited: {cutOff},
	spoiled:  {joining, waiting, serving, cutOff, reunited},
	released: {spoiled},
	leaving:  {joining, waiting, serving, cutOff, reunited, spoiled, released},
	failing:  {joining, waiting, serving, cutOff, reunited, spoiled, released, leaving},
	out:      {joining, waiting, serving, cutOff, reunited, spoiled, released, leaving, failing},
}

// to moves on to a state, and says whether that was possible.
func (l *life) to(s state) bool {
	if s == cutOff && l.broken() && (l.phase == Waiting || l.phase == Serving) {
		l.phase = Suspended // its clients hear no more either way
	}
	if !slices.Contains(comesFrom[s], l.state) {
		return false
	}
	l.state = s
	if p, ok := phases[s]; ok {
		l.phase = p
	}
	return true
}

// broken says that the mirror cannot go on with its world, and joins anew.
func (l *life) broken() bool { return l.state == spoiled || l.state == released }

// still says that the world stands still here.
func (l *life) still() bool { return l.broken() || l.phase == Suspended }

const (
	// rejoinTime is how long to wait until the others can do without this mirror's vote, and
	// releaseTime how long then to be let go: its vote may be needed to take out another that died
	// at the same moment.
	rejoinTime  = 15 * time.Second
	releaseTime = 15 * time.Second
)

// again has this mirror leave the group and ask to be let in anew, with the world of the others: it
// cannot go on with its own. Clients stay, and see the world stand still meanwhile. The last mirror
// that holds the world has nowhere to go, and goes on.
func (m *Mirror) again(why string) {
	if m.roll.self != 0 && !m.others() {
		return
	}
	by := m.clock.steady
	if m.roll.self != 0 && m.group.council.Quorum() {
		by += rejoinTime
	}
	m.spoil(why, by)
}

// spoil has this mirror join anew, by a time.
func (m *Mirror) spoil(why string, by time.Duration) {
	if m.life.to(spoiled) {
		m.tell(News{Kind: Rejoining, Text: why})
		m.stats.Rejoins++
		m.life.rejoinBy = by
	}
}

// others says whether another mirror holds the world. One that is no member any more does not, even
// if not all that counts of it has come.
func (m *Mirror) others() bool {
	g := m.group.node.Group()
	members := g.Members()
	return slices.ContainsFunc(m.peers, func(p *peer) bool {
		return p.started && slices.Contains(members, p.id) && g.Silent(p.id) < m.opt.History
	})
}

// resume goes on after this mirror was cut off: by now it would have heard if the others went on
// without it.
func (m *Mirror) resume() {
	since := m.clock.local - m.life.reunited
	if m.life.state == reunited && since >= m.opt.History*3/4 && m.confident() {
		m.takeUp()
	}
}

// takeUp goes on with what this mirror did before it stopped.
func (m *Mirror) takeUp() {
	if m.life.to(waiting); m.in.started {
		m.life.to(serving)
	}
}

// last says whether nobody else in the group has a world to go on with, or can have been given one:
// whatever is wrong with the one here, it is the only one.
func (m *Mirror) last() bool {
	c, members := m.group.council, m.group.node.Group().Members()
	return c.Alone() && !slices.ContainsFunc(m.peers, func(p *peer) bool {
		return (p.started || p.newest > 0) && slices.Contains(members, p.id) && !c.Leaves(p.id)
	})
}

// renew takes a mirror that cannot go on with its world out of the group in good order, so that
// nobody has to wait for it: if it is the überserver, another takes over first; and if the others
// could decide nothing without it, not yet. Then it joins anew. If all others are gone or about to
// go as well, it keeps its world after all, and they are given that.
func (m *Mirror) renew() error {
	l := &m.life
	now := m.clock.steady
	if l.broken() && m.roll.self != 0 && now < l.rejoinBy {
		switch {
		case m.last():
			m.tell(News{Kind: Kept})
			m.group.council.Stay(now)
			m.takeUp()
		case l.state == spoiled && m.group.council.Spare():
			l.to(released)
			l.rejoinBy = now + releaseTime
			m.group.council.Yield(now, m.group.node.Group())
		}
	}
	if l.broken() && now >= l.rejoinBy {
		l.to(joining)
		m.reset()
		m.outOfGroup()
		return m.join()
	}
	return nil
}

// failed deals with a timeline that cannot go on. A game that is not deterministic will not become
// so.
func (m *Mirror) failed(err error) error {
	var desync *timeline.DesyncError
	if errors.As(err, &desync) {
		return m.end(err)
	}
	m.again(err.Error())
	return nil
}

// farewell lets clients hear that the game has panicked, and then ends the mirror.
func (m *Mirror) farewell(now time.Duration) error {
	s := m.show.server
	if s == nil {
		return m.end(m.life.err)
	}
	if m.life.phase != Leaving {
		s.Fail(m.life.err)
	}
	m.life.to(failing)
	m.clock.advance(now, m.roll.uber)
	if s.Tick(m.clock.steady) != nil {
		return m.end(m.life.err)
	}
	return nil
}

func (m *Mirror) end(err error) error {
	m.life.to(out)
	m.life.err = err
	m.tell(News{Kind: Ended, Err: err})
	return err
}

// begins tells once that clients may come.
func (m *Mirror) begins() {
	m.life.began.Do(func() { m.tell(News{Kind: Began}) })
}

// Leave takes this mirror out of the group in good order: its clients are asked to move to the
// others, and when they have, or after a while, it goes. Poll until Phase is Out.
func (m *Mirror) Leave() {
	if m.life.state == out || m.life.leaveBy > 0 {
		return
	}
	m.life.leaveBy = m.clock.steady + m.opt.LeaveTime
	if m.show.server != nil {
		m.show.server.Drain()
	}
}

// depart goes, once clients have.
func (m *Mirror) depart() {
	s := m.show.server
	players := s != nil && s.Population().Players > 0
	waits := len(m.peers) > 0 && players
	if h := &m.halt; h.told {
		waits = players || m.clock.steady < h.since+cedesAtLeast
	}
	if m.life.leaveBy == 0 || m.clock.steady < m.life.leaveBy && waits {
		return
	}
	if m.life.to(leaving) {
		m.group.node.Leave(m.clock.steady)
	}
}
