package seamless

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// A Member is a server of a world without the loop that drives it, for those who have a loop of
// their own: a Server, a gateway, a simulation. Its methods belong to one goroutine.
type Member struct {
	opt   *Options
	born  time.Time
	node  *node
	hands hands
	ear   *ear // nil in a simulation, which has the link looked at all the time
	batch []link.Datagram
	out   []link.Datagram
	list  []task
}

// hands do what a node wants done to what is kept of a cluster.
type hands interface {
	do(now time.Duration, list []task)
	// results gives what came of it. The list is good until the next call.
	results(now time.Duration) []result
	stop()
}

// Enter makes a member of the world that a cluster keeps, once there is one. Wake is called, from
// any goroutine, when something has come and Poll is due; a simulation needs none.
func Enter(ctx context.Context, o Options, wake func()) (*Member, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	if _, err := placesOf(o.Title); err != nil {
		return nil, err
	}
	return enter(ctx, &o, wake)
}

func enter(ctx context.Context, o *Options, wake func()) (*Member, error) {
	h, err := o.await(ctx)
	if err != nil {
		return nil, err
	}
	if o.Gate != nil {
		g := *o.Gate
		if g.level, err = h.level(ctx, o.Cluster.Store()); err != nil {
			return nil, err
		}
		o.Gate = &g
	}
	if o.Simulated != nil && o.Born.IsZero() {
		o.Born = time.Unix(0, h.Zero)
	}
	o.before = ended(ctx, o)
	m := &Member{opt: o, born: o.Born, batch: make([]link.Datagram, 256)}
	now := time.Duration(0)
	if o.Simulated == nil {
		now = time.Since(m.born)
	}
	if m.node, err = newNode(now, o, h, m.born); err != nil {
		return nil, err
	}
	if o.Simulated != nil {
		m.hands = &simulatedHands{worker: newWorker(o.Cluster, nil), delay: o.Simulated}
		return m, nil
	}
	m.hands = newWorker(o.Cluster, wake)
	m.ear = listen(o.Link, wake)
	return m, nil
}

// Poll takes in what has come, does what is due and sends what there is to send.
func (m *Member) Poll(now time.Duration) error {
	for _, x := range m.hands.results(now) {
		m.node.done(now, &x)
	}
	if err := m.receive(now); err != nil {
		return err
	}
	m.node.turn(now)
	m.list = m.node.tasks(m.list[:0])
	m.hands.do(now, m.list)
	return m.Flush(now)
}

// Deadline is when Poll is due at the latest.
func (m *Member) Deadline() time.Duration { return m.node.deadline() }

// Flush sends what there is to send.
func (m *Member) Flush(now time.Duration) error {
	m.out = m.node.flush(now, m.out[:0])
	if _, err := link.SendAll(m.opt.Link, m.out); err != nil {
		return fmt.Errorf("seamless: %w", err)
	}
	return nil
}

func (m *Member) receive(now time.Duration) error {
	if m.ear != nil && !m.ear.heard() {
		return nil
	}
	for {
		k, err := m.opt.Link.Receive(m.batch)
		if err != nil {
			return fmt.Errorf("seamless: %w", err)
		}
		m.node.receive(now, m.batch[:k])
		if k < len(m.batch) {
			break
		}
	}
	if m.ear != nil {
		m.ear.on <- struct{}{}
	}
	return nil
}

// Leave has others take this member's zones, if there are any. Poll until Left.
func (m *Member) Leave() { m.node.leave() }

// Left says whether this member has nothing that it could give to others.
func (m *Member) Left() bool {
	n := m.node
	return len(n.zones.Zones()) == 0 || len(n.directory.others(n, true)) == 0
}

// Close says goodbye to the others, in case that they hear it, and ends what runs beside. The link
// is left open.
func (m *Member) Close(now time.Duration) {
	m.node.lines.close()
	_ = m.Flush(now)
	if m.ear != nil {
		m.ear.stop()
	}
	m.hands.stop()
}

// Born is when the clock is at zero by which the member is driven.
func (m *Member) Born() time.Time { return m.born }

// Numbers say how the member does.
func (m *Member) Numbers() Numbers { return m.node.numbers() }

// Zones lists the zones that this member steps.
func (m *Member) Zones() (list []zone.ID) {
	for _, v := range m.node.zones.Zones() {
		list = append(list, v.Zone)
	}
	return list
}

// World is that of a zone, to be looked at and not to be changed, or nil if this member does not
// step it.
func (m *Member) World(id zone.ID) *world.World {
	if b := m.node.body(id); b != nil {
		return b.w
	}
	return nil
}

// Has says whether what a player moves about in is in a zone that this member steps.
func (m *Member) Has(id zone.ID, who world.Player) bool {
	b := m.node.body(id)
	return b != nil && b.players.here(who)
}

// Gate is what a gateway sees and says, if Options.Gate is set.
func (m *Member) Gate() *Gate { return m.node.gate }

// An ear waits for datagrams beside the loop, and has the loop look around when some have come.
type ear struct {
	come chan struct{} // something can be received
	on   chan struct{} // and has been
	end  chan struct{}
	done sync.WaitGroup
	link link.Link
	wake func()
}

func listen(l link.Link, wake func()) *ear {
	e := &ear{come: make(chan struct{}, 1), on: make(chan struct{}, 1), end: make(chan struct{}),
		link: l, wake: wake}
	e.done.Go(e.listen)
	return e
}

func (e *ear) listen() {
	for {
		ok, err := e.link.Wait(-1)
		select {
		case <-e.end:
			return
		default:
		}
		if err != nil {
			return // the link is closed
		}
		if !ok {
			continue
		}
		e.come <- struct{}{}
		e.wake()
		select {
		case <-e.on:
		case <-e.end:
			return
		}
	}
}

func (e *ear) heard() bool {
	select {
	case <-e.come:
		return true
	default:
		return false
	}
}

func (e *ear) stop() {
	close(e.end)
	e.link.Wake()
	e.done.Wait()
}

// simulatedHands do everything at once, and tell of it some time later.
type simulatedHands struct {
	worker *worker
	delay  func() time.Duration
	list   []slow
	ready  []result
}

type slow struct {
	result
	at time.Duration
}

func (h *simulatedHands) do(now time.Duration, list []task) {
	for i := range list {
		t := &list[i]
		d := h.delay()
		if d < 0 { // whatever is kept cannot be reached
			h.list = append(h.list, slow{result{zone.Result{ID: t.ID, Outcome: zone.Away},
				t.own}, now + quickTime})
			continue
		}
		r := result{}
		if t.Kind == zone.Append {
			r = h.worker.append([]task{*t})[0]
		} else {
			r = h.worker.one(t)
		}
		h.list = append(h.list, slow{r, now + d})
	}
}

func (h *simulatedHands) results(now time.Duration) []result {
	h.ready = h.ready[:0]
	kept := h.list[:0]
	for _, x := range h.list {
		if x.at > now {
			kept = append(kept, x)
			continue
		}
		h.ready = append(h.ready, x.result)
	}
	h.list = kept
	return h.ready
}

func (h *simulatedHands) stop() { h.worker.stop() }

// await waits until there is a world, and until its time is known.
func (o *Options) await(ctx context.Context) (*header, error) {
	for {
		h, rev, err := readHeader(ctx, o.Cluster.Map())
		if err == nil {
			if err := h.check(o.Title); err != nil {
				return nil, err
			}
			if o.Simulated != nil {
				return h, nil // whose clock is its own
			}
			if ok, err := o.wind(ctx, h, rev); err != nil || ok {
				return h, err
			}
			continue
		}
		if !errors.Is(err, ErrNoWorld) && !errors.Is(err, ErrAway) && !errors.Is(err, ErrDoubt) {
			return nil, err
		}
		if !pause(ctx, o.Silence/4) {
			return nil, context.Cause(ctx)
		}
	}
}
