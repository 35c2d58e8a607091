package seamless

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// Run drives the server as time goes by, until the context ends; then it gives its zones to others,
// if there are any, and returns nil. It waits for a world, if there is none yet. The link is left
// open.
func (s *Server) Run(ctx context.Context) error {
	defer s.calls.Close()
	h, err := s.await(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	s.opt.before = ended(ctx, &s.opt)
	n, err := newNode(time.Since(s.born), &s.opt, h, s.born)
	if err != nil {
		return err
	}
	r := &running{server: s, node: n, worker: newWorker(s.opt.Cluster, s.calls.Wake),
		heard: make(chan struct{}, 1), on: make(chan struct{}, 1)}
	r.batch = make([]link.Datagram, 256)
	defer r.worker.stop()
	var listening sync.WaitGroup
	stop := make(chan struct{})
	listening.Go(func() { r.listen(stop) })
	defer func() {
		close(stop)
		s.opt.Link.Wake()
		listening.Wait()
	}()
	leaving := false
	err = drive.Loop{
		Tick: r.turn, Poll: r.turn, Due: n.deadline,
		Stop: func(error) {
			leaving = true
			n.leave()
		},
		Done: r.left, Grace: s.opt.Leave, Calls: &s.calls, Clock: drive.Since(s.born),
	}.Run(ctx)
	r.goodbye()
	if leaving {
		return nil
	}
	return err
}

// running is a server under way: what its goroutines share.
type running struct {
	server *Server
	node   *node
	worker *worker
	batch  []link.Datagram
	out    []link.Datagram
	list   []task
	heard  chan struct{} // something can be received
	on     chan struct{} // and has been
}

// listen waits for datagrams, and has the loop look around.
func (r *running) listen(stop <-chan struct{}) {
	for {
		ok, err := r.server.opt.Link.Wait(-1)
		select {
		case <-stop:
			return
		default:
		}
		if err != nil {
			return // the link is closed
		}
		if !ok {
			continue
		}
		r.heard <- struct{}{}
		r.server.calls.Wake()
		select {
		case <-r.on:
		case <-stop:
			return
		}
	}
}

// turn does all that is due.
func (r *running) turn(now time.Duration) error {
	s, n := r.server, r.node
	s.node = n
	for _, x := range r.worker.results() {
		n.done(now, &x)
	}
	if err := r.receive(now); err != nil {
		return err
	}
	s.bring()
	n.turn(now)
	r.list = n.tasks(r.list[:0])
	r.worker.do(r.list)
	return r.flush(now)
}

func (r *running) receive(now time.Duration) error {
	select {
	case <-r.heard:
	default:
		return nil
	}
	for {
		k, err := r.server.opt.Link.Receive(r.batch)
		if err != nil {
			return fmt.Errorf("seamless: %w", err)
		}
		r.node.receive(now, r.batch[:k])
		if k < len(r.batch) {
			break
		}
	}
	r.on <- struct{}{}
	return nil
}

func (r *running) flush(now time.Duration) error {
	r.out = r.node.flush(now, r.out[:0])
	if _, err := link.SendAll(r.server.opt.Link, r.out); err != nil {
		return fmt.Errorf("seamless: %w", err)
	}
	return nil
}

// left says whether this server has nothing that it could give to others.
func (r *running) left() bool {
	n := r.node
	return len(n.zones.Zones()) == 0 || len(n.directory.others(n, true)) == 0
}

// goodbye tells the other servers, in case that they hear it.
func (r *running) goodbye() {
	r.node.lines.close()
	_ = r.flush(time.Since(r.server.born))
}

// await waits until there is a world, and until its time is known.
func (s *Server) await(ctx context.Context) (*header, error) {
	for {
		h, rev, err := readHeader(ctx, s.opt.Cluster.Map())
		if err == nil {
			if err := h.check(s.opt.Title); err != nil {
				return nil, err
			}
			if ok, err := s.wind(ctx, h, rev); err != nil || ok {
				return h, err
			}
			continue
		}
		if !errors.Is(err, ErrNoWorld) && !errors.Is(err, ErrAway) && !errors.Is(err, ErrDoubt) {
			return nil, err
		}
		if !pause(ctx, s.opt.Silence/4) {
			return nil, context.Cause(ctx)
		}
	}
}

// A cluster that stood still for longer than stoodStill goes on from the tick at which it stopped,
// as if no time had passed. Shorter pauses are caught up with.
const stoodStill = 5 * time.Second

// wind sets when tick 0 was due anew, if nobody has run the world for long. It says whether the
// header can be used.
func (s *Server) wind(ctx context.Context, h *header, rev uint64) (bool, error) {
	m, length := s.opt.Cluster.Map(), s.opt.Title.Game.TickLength()
	last, revs, err := ticksOf(ctx, m)
	if err != nil {
		return false, err
	}
	due := time.Since(time.Unix(0, h.Zero))
	if due-time.Duration(last)*length < stoodStill {
		return true, nil
	}
	if !pause(ctx, s.opt.Silence/2) { // in which whoever runs writes twice
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
		last += world.Tick(2 * s.opt.Silence / length) // it may have come further than it has said
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
