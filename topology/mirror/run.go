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
)

// Run drives the mirror as time goes by until the context ends; then it leaves in good order and
// returns nil. Close it afterwards.
func (m *Mirror) Run(ctx context.Context) error {
	leaving := false
	m.beside = true
	err := drive.Loop{
		Tick: m.Poll, Due: m.Deadline,
		Stop: func(error) {
			leaving = true
			m.Leave()
		},
		Grace: m.opt.LeaveTime + 2*time.Second,
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
	m.makings.Wait()
	err := m.opt.Link.Close()
	if m.show.server != nil {
		return errors.Join(err, m.show.server.Close())
	}
	for _, l := range m.opt.Server.Links {
		err = errors.Join(err, l.Close())
	}
	return err
}

// Server is the side that clients see, or nil until there is a world.
func (m *Mirror) Server() *server.Server { return m.show.server }

// Phase is how far the mirror has come.
func (m *Mirror) Phase() Phase { return m.life.phase }

// Err says why a mirror is out.
func (m *Mirror) Err() error {
	if m.life.state != out {
		return nil
	}
	return m.life.err
}

// ID is the mirror's number in the group, or 0.
func (m *Mirror) ID() member.ID { return m.roll.self }

// Uber is who is überserver, or 0.
func (m *Mirror) Uber() member.ID { return m.roll.uber }

// Members lists the mirrors of the group, this one included.
func (m *Mirror) Members() []member.ID { return slices.Clone(m.group.node.Group().Members()) }

// Timeline is what keeps the world consistent, or nil until there is one.
func (m *Mirror) Timeline() timeline.Timeline { return m.line }

// Do has f called by the goroutine that drives the mirror, and waits for it: the way to use its
// methods while Run runs.
func (m *Mirror) Do(ctx context.Context, f func()) error { return m.calls.Do(ctx, f) }

// ErrStopped says that Run has ended, so that nothing more is done.
var ErrStopped = drive.ErrStopped
