package seamless

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// Run drives the server as time goes by, until the context ends; then it gives its zones to others,
// if there are any, and returns nil. It waits for a world, if there is none yet. The link is left
// open.
func (s *Server) Run(ctx context.Context) error {
	defer s.calls.Close()
	m, err := enter(ctx, &s.opt, s.calls.Wake)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer func() { m.Close(time.Since(s.opt.Born)) }()
	s.node = m.node
	turn := func(now time.Duration) error {
		s.bring()
		return m.Poll(now)
	}
	leaving := false
	err = drive.Loop{
		Tick: turn, Poll: turn, Due: m.Deadline,
		Stop: func(error) {
			leaving = true
			m.Leave()
		},
		Done: m.Left, Grace: s.opt.Leave, Calls: &s.calls, Clock: drive.Since(s.opt.Born),
	}.Run(ctx)
	if leaving {
		return nil
	}
	return err
}

// A cluster that stood still for longer than stoodStill goes on from the tick at which it stopped,
// as if no time had passed. Shorter pauses are caught up with.
const stoodStill = 5 * time.Second

// wind sets when tick 0 was due anew, if nobody has run the world for long. It says whether the
// header can be used.
func (o *Options) wind(ctx context.Context, h *header, rev uint64) (bool, error) {
	m, length := o.Cluster.Map(), o.Title.Game.TickLength()
	last, revs, err := ticksOf(ctx, m)
	if err != nil {
		return false, err
	}
	due := time.Since(time.Unix(0, h.Zero))
	if due-time.Duration(last)*length < stoodStill {
		return true, nil
	}
	if !pause(ctx, o.Silence/2) { // in which whoever runs writes twice
		return false, context.Cause(ctx)
	}
	_, again, err := ticksOf(ctx, m)
	if err != nil {
		return false, err
	}
	for key, rev := range again {
		if revs[key] != rev {
			return true, nil // somebody runs it: clocks differ, or it is behind
		}
	}
	if last > 0 {
		last += world.Tick(2 * o.Silence / length) // it may have come further than it has said
	}
	h.Zero = time.Now().Add(-time.Duration(last) * length).UnixNano()
	data, err := json.Marshal(h)
	if err != nil {
		return false, err
	}
	if _, err := m.Set(ctx, worldKey, data, rev); errors.Is(err, ErrStale) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return true, nil
}

// ticksOf gives the last tick of which servers have written, and at which revisions they have.
func ticksOf(ctx context.Context, m Map) (last world.Tick, revs map[string]uint64, err error) {
	list, err := m.List(ctx, nodePrefix)
	if err != nil {
		return 0, nil, err
	}
	revs = map[string]uint64{}
	for _, e := range list {
		var info NodeInfo
		if json.Unmarshal(e.Value, &info) == nil {
			last = max(last, info.Tick)
			revs[e.Key] = e.Revision
		}
	}
	if list, err = m.List(ctx, zone.ServerPrefix); err != nil {
		return 0, nil, err
	}
	for _, e := range list {
		revs[e.Key] = e.Revision
	}
	return last, revs, nil
}

// Nodes lists the servers of which a cluster's map has word, by number.
func Nodes(ctx context.Context, m Map) (map[zone.ServerID]NodeInfo, error) {
	list, err := m.List(ctx, nodePrefix)
	if err != nil {
		return nil, err
	}
	nodes := map[zone.ServerID]NodeInfo{}
	for _, e := range list {
		var info NodeInfo
		if id, ok := serverOf(e.Key); ok && json.Unmarshal(e.Value, &info) == nil {
			nodes[id] = info
		}
	}
	return nodes, nil
}
