package mirror

import (
	"errors"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/membership"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/world"
)

// A Mirror is a server that holds the whole world together with others of its kind, and serves the
// clients that are nearest to it. It is driven by Poll, or by Run, which does that as time goes by.
// Its methods belong to the goroutine that drives it; while Run does, others use Do.
type Mirror struct {
	opt   Options
	game  *world.Game
	codec *codec

	life   life   // joining, serving, leaving
	group  group  // how the others are reached
	clock  clock  // the time that all keep
	roll   roll   // who leads, and who speaks for whom
	places places // who comes and goes, and who may
	peers  peers  // what has come from each other mirror
	in     ingress
	show   show // what clients are told and shown

	congest congestion // what is done where lines carry too little

	line      timeline.Timeline  // nil until there is a world
	ruled     rulings            // more about it in the event-based protocol
	exact     exactForm          // and about that in the paper's own form
	undecided []timeline.Command // it is not known whether they count, or there is no room yet
	settle    settling           // what may be settled, and whether it is the same everywhere
	keeping   keeping            // what is kept on disk
	halt      halt               // how far the game is given to another group
	pause     pause              // whether the world stands still, and for how long it has
	levels    levels             // which level is played, and which is to be
	makings   sync.WaitGroup     // levels that are being made ready,
	beside    bool               // beside the ticks

	stats Stats
	calls drive.Calls
	born  time.Time
}

// ErrEnded says that a mirror is out of its group for good. Use errors.Is.
var ErrEnded = errors.New("mirror: out of the group")

// New makes a mirror. It owns its links from now on and closes them in Close. It does nothing until
// it is driven.
func New(o Options) (*Mirror, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	g := o.Server.Title.Game
	m := &Mirror{opt: o, game: g, codec: newCodec(g), born: time.Now()}
	m.group.batch = make([]link.Datagram, 64)
	m.reset()
	back, err := m.recall()
	if err != nil {
		return nil, err
	}
	if back && m.opt.Handover.Inherit != nil {
		return nil, errors.New("mirror: there is another game on the disk already")
	}
	if m.opt.Found = m.opt.Found && !back; m.opt.Handover.Inherit != nil {
		m.group.anew = membership.Anew{Epoch: m.opt.Handover.Epoch, ID: founder}
	}
	if err := m.join(); err != nil {
		return nil, err
	}
	if m.opt.Found {
		if err := m.found(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// reset forgets the group, but not the clients.
func (m *Mirror) reset() {
	m.clock.reset()
	m.roll = newRoll(m.ticks(m.opt.window()))
	m.peers, m.group.wanting = nil, nil
	m.in = ingress{sentAt: m.in.sentAt, movedAt: m.in.movedAt, buf: m.in.buf}
	m.line, m.ruled, m.exact, m.undecided = nil, rulings{}, exactForm{}, nil
	m.show.was = timeline.Stats{}
	m.show.stale = true
	m.halt, m.pause, m.levels = halt{}, pause{}, levels{}
}

// founder is the number of the mirror that founds a game.
const founder member.ID = 1

// found begins a game, or goes on with one that was kept.
func (m *Mirror) found() error {
	if s := m.opt.Handover.Inherit; s != nil {
		return m.goOnWith(s)
	}
	if k := m.keeping.kept; k != nil {
		return m.goOnWith(&k.Snapshot)
	}
	m.show.level = m.opt.Server.Level
	m.roll.self, m.roll.uber = founder, founder
	if err := m.openServer(); err != nil {
		return err
	}
	m.clock.set(0)
	m.in.started = true
	return m.keepWorld(m.line.Settled())
}

// ticks is how many ticks a duration has, at least one.
func (m *Mirror) ticks(d time.Duration) world.Tick {
	return max(world.Tick(d/m.game.TickLength()), 1)
}

// goesOn says that there is a world here that is worth something.
func (m *Mirror) goesOn() bool { return m.line != nil && !m.life.broken() }

// Poll takes in what has come, does what is due and sends what there is to send. Call it a few
// times a tick, with a time that runs forward; Deadline says when it is due at the latest. The
// error is one that the mirror cannot go on after. If the game panics it is a *world.Panic: the
// others compute the same and panic alike, so there is nowhere to go.
func (m *Mirror) Poll(now time.Duration) (err error) {
	switch m.life.state {
	case out:
		return m.life.err
	case failing:
		return m.farewell(now)
	}
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *world.Panic:
			m.life.err = v
			err = m.farewell(now)
		default:
			panic(v) // not the game's
		}
	}()
	return m.poll(now)
}

func (m *Mirror) poll(now time.Duration) error {
	jumps := m.clock.jumps
	if m.clock.advance(now, m.roll.uber); m.clock.jumps != jumps {
		m.tell(News{Kind: ClockJumped})
	}
	if err := m.receive(); err != nil {
		return err
	}
	m.group.node.Tick(now)
	if err := m.events(); err != nil {
		return err
	}
	if err := m.comeBack(); err != nil {
		return m.end(err)
	}
	m.watchLines()
	m.relieve()
	if m.goesOn() {
		m.provide()
		m.resume()
		m.rule()
		m.remind()
		m.lookAtDisk()
		if err := m.halts(); err != nil {
			return err
		}
		m.pauses()
		m.asksForLevel()
		if err := m.turnLevel(); err != nil {
			return err
		}
		m.takeWaiting()
		m.allow()
	}
	m.hearAgain()
	if err := m.advance(); err != nil {
		return err
	}
	if err := m.serve(); err != nil {
		return err
	}
	m.send()
	if m.ruled.line != nil {
		m.sendLossy()
		m.sendExact()
	}
	m.depart()
	if err := m.flush(); err != nil {
		return err
	}
	if m.settle.wrong {
		m.settle.wrong = false
		m.again("its settled world differs from the others'")
	}
	return m.renew()
}

// Deadline is when Poll is due next.
func (m *Mirror) Deadline() time.Duration {
	d := min(m.game.TickLength()/4, m.group.node.Deadline()-m.clock.steady)
	if r := m.keeping.revival; r != nil {
		d = min(d, r.Deadline()-m.clock.steady)
	}
	return m.clock.last + max(d, 0)
}
