package mirror

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/topology/wire"
)

// A Place is where clients find a mirror.
type Place = wire.Server

// suspend stops taking and showing anything new, until this mirror is in touch with most of the others again or is let in anew.
func (m *Mirror) suspend() {
	if m.phase == Serving || m.phase == Waiting {
		m.phase = Suspended
	}
}

// again has this mirror leave the group and ask to be let in anew, with the world of the others: it cannot go on with its own. Clients stay, and see the world stand
// still meanwhile. The last mirror that holds the world has nowhere to go, and goes on.
func (m *Mirror) again(why string) {
	if m.phase == Out || m.phase == Leaving || m.broken || m.self != 0 && !m.others() {
		return
	}
	m.tell(News{Kind: Rejoining, Text: why})
	m.stats.Rejoins++
	m.broken, m.parting = true, false
	m.rejoinBy = m.machine
	if m.self != 0 && m.council.Quorum() {
		m.rejoinBy += rejoinTime
	}
}

const (
	// rejoinTime is how long to wait until the others can do without this mirror's vote, and partTime how long then to be let go: its vote may be needed to take out
	// another that died at the same moment.
	rejoinTime = 15 * time.Second
	partTime   = 15 * time.Second
)

// part takes a mirror that cannot go on with its world out of the group in good order, so that nobody has to wait for it: if it is the überserver, another takes over
// first; and if the others could decide nothing without it, not yet.
func (m *Mirror) part() {
	if m.broken && !m.parting && m.self != 0 && m.machine < m.rejoinBy && m.council.Spare() {
		m.parting = true
		m.rejoinBy = m.machine + partTime
		m.node.Leave(m.machine)
	}
}

// others says whether another mirror holds the world.
func (m *Mirror) others() bool {
	for id, s := range m.streams {
		if s.started && m.node.Group().Silent(id) < m.opt.History {
			return true
		}
	}
	return false
}

// rejoin does what again wants, when nothing is in the middle of something.
func (m *Mirror) rejoin() error {
	m.reset()
	m.phase = Joining
	return m.join()
}

// failed deals with a timeline that cannot go on. A game that is not deterministic will not become so.
func (m *Mirror) failed(err error) error {
	var desync *timeline.DesyncError
	if errors.As(err, &desync) {
		return m.end(err)
	}
	m.again(err.Error())
	return nil
}

func (m *Mirror) end(err error) error {
	m.phase, m.err = Out, err
	m.tell(News{Kind: Ended, Err: err})
	return err
}

// began tells once that clients may come.
func (m *Mirror) began() {
	if !m.told {
		m.told = true
		m.tell(News{Kind: Began})
	}
}

// clocks takes the clocks of a packet.
func (m *Mirror) clocks(id member.ID, p *packet) {
	if !p.clock {
		return
	}
	m.clock.heard(id, p.raw)
	if p.echoed == m.self && p.echoRaw != 0 {
		m.clock.echoed(id, p.echoRaw, p.held, p.group, !p.unsure)
	}
}

// Leave takes this mirror out of the group in good order: its clients are asked to move to the others, and when they have, or after a while, it goes. Poll until
// Phase is Out.
func (m *Mirror) Leave() {
	if m.phase == Out || m.leaving > 0 {
		return
	}
	m.leaving = m.machine + leaveTime
	if m.server != nil {
		m.server.Drain()
	}
}

// leaveTime is how long clients have to move.
const leaveTime = 3 * time.Second

// depart goes, once clients have.
func (m *Mirror) depart() {
	if m.leaving == 0 || m.phase == Leaving {
		return
	}
	if m.machine < m.leaving && len(m.streams) > 0 && m.server != nil && m.server.Population().Players > 0 {
		return
	}
	m.phase = Leaving
	m.node.Leave(m.machine)
}

// Run drives the mirror as time goes by until the context ends; then it leaves in good order and
// returns nil. Close it afterwards.
func (m *Mirror) Run(ctx context.Context) error {
	leaving := false
	err := drive.Loop{
		Tick: m.Poll, Due: m.Deadline,
		Stop: func(error) {
			leaving = true
			m.Leave()
		},
		Grace: leaveTime + 2*time.Second,
		Calls: &m.calls, Clock: drive.Since(m.born),
	}.Run(ctx)
	if leaving {
		return nil // however it went
	}
	return err
}

// Close closes the links, without a word to anyone.
func (m *Mirror) Close() error {
	m.calls.Close()
	err := m.opt.Link.Close()
	if m.server != nil {
		return errors.Join(err, m.server.Close())
	}
	for _, l := range m.opt.Server.Links {
		err = errors.Join(err, l.Close())
	}
	return err
}

// Server is the side that clients see, or nil until there is a world.
func (m *Mirror) Server() *server.Server { return m.server }

// Phase is how far the mirror has come.
func (m *Mirror) Phase() Phase { return m.phase }

// Err says why a mirror is out.
func (m *Mirror) Err() error { return m.err }

// ID is the mirror's number in the group, or 0.
func (m *Mirror) ID() member.ID { return m.self }

// Uber is who is überserver, or 0.
func (m *Mirror) Uber() member.ID { return m.uber }

// Members lists the mirrors of the group, this one included.
func (m *Mirror) Members() []member.ID { return slices.Clone(m.node.Group().Members()) }

// Timeline is what keeps the world consistent, or nil until there is one.
func (m *Mirror) Timeline() timeline.Timeline { return m.line }

// Do has f called by the goroutine that drives the mirror, and waits for it: the way to use its
// methods while Run runs.
func (m *Mirror) Do(ctx context.Context, f func()) error { return m.calls.Do(ctx, f) }

// ErrStopped says that Run has ended, so that nothing more is done.
var ErrStopped = drive.ErrStopped
