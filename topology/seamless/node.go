package seamless

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// node is a server without its clock, goroutines and sockets: it is given the time, datagrams and
// what came of operations, and gives operations and datagrams. It is used by one goroutine.
type node struct {
	opt   *Options
	head  *header
	where places
	zones *zone.Server
	lines *lines
	now   time.Duration
	wall  time.Time // at now = 0

	leaving   bool
	chores    chores
	directory directory
	asking    asking
	planner   planner
	bots      bots
	meter     meter
	feeds     feeds
	given     given
	gate      *Gate // of a gateway
}

// task is an operation for whoever drives a node. Own says that it is the node's, not its zones'.
type task struct {
	zone.Op
	own bool
}

// result is what came of a task.
type result struct {
	zone.Result
	own bool
}

// newNode makes a server of a world. The wall is the Unix time at now = 0.
func newNode(now time.Duration, o *Options, h *header, wall time.Time) (*node, error) {
	if err := h.check(o.Title); err != nil {
		return nil, err
	}
	where, err := placesOf(o.Title)
	if err != nil {
		return nil, err
	}
	n := &node{opt: o, head: h, where: where, now: now, wall: wall}
	n.zones, err = zone.New(now, zone.Options{
		Self: o.Self, Length: o.Title.Game.TickLength(),
		Zero:    time.Unix(0, h.Zero).Sub(wall),
		Silence: o.Silence, Resend: o.Resend, HashEvery: zone.Tick(o.HashEvery),
		SnapshotEvery: zone.Tick(o.SnapshotEvery), Zones: o.Zones, Standby: o.Standby,
		Buddies: o.Buddies, Forsake: o.Forsake, Before: o.before,
		Body: func(id zone.ID) zone.Body {
			b := newBody(o.Title, where, id)
			b.pace.off = o.virtual
			return b
		},
	})
	if err != nil {
		return nil, err
	}
	if n.lines, err = openLines(o, h.ID, wall.Unix()); err != nil {
		return nil, err
	}
	n.lines.take = n.take
	n.chores.open()
	n.directory.open(now)
	n.asking.open()
	n.zones.Hold(zone.Tick(h.Paused))
	n.planner.open(now)
	n.bots.open(o)
	n.meter.open()
	n.feeds.open()
	n.given = given{}
	if o.Gate != nil {
		if n.gate, err = newGate(n); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// receive takes datagrams that have come.
func (n *node) receive(now time.Duration, batch []link.Datagram) {
	n.now = max(n.now, now)
	n.lines.receive(now, batch)
}

// done takes what came of a task.
func (n *node) done(now time.Duration, r *result) {
	n.now = max(n.now, now)
	if r.own {
		n.chores.done(&r.Result)
		return
	}
	n.zones.Done(now, r.Result)
}

// turn does all that is due: this is the way from what came in to what goes out.
func (n *node) turn(now time.Duration) {
	n.now = max(n.now, now)
	n.lines.tend(n.now)
	n.directory.tend(n)
	n.asking.tend(n)
	n.planner.tend(n)
	n.zones.Tick(n.now)
	n.notice()
	n.meter.look(n)
	n.bots.play(n)
	for _, m := range n.zones.Messages() {
		n.lines.send(m.To, m.Loose, n.asking.wrap(m.Data))
	}
	n.feeds.tend(n)
	if n.gate != nil {
		n.gate.tend()
	}
}

// flush appends the datagrams that are due.
func (n *node) flush(now time.Duration, out []link.Datagram) []link.Datagram {
	return n.lines.flush(now, out)
}

// tasks appends what is to be done.
func (n *node) tasks(list []task) []task {
	for _, op := range n.zones.Ops() {
		list = append(list, task{Op: op})
	}
	return n.chores.take(list)
}

// deadline is when turn is due at the latest.
func (n *node) deadline() time.Duration {
	return min(n.zones.Deadline(), n.lines.deadline(), n.asking.deadline())
}

// notice passes on what zones have to tell.
func (n *node) notice() {
	for _, x := range n.zones.Notices() {
		switch x.Kind {
		case zone.Event:
			n.event(&x)
			continue
		case zone.Durable:
			if n.opt.Durable != nil {
				n.opt.Durable(x.Zone, x.Epoch, world.Tick(x.Tick))
			}
			continue
		}
		if n.opt.News != nil {
			n.opt.News(News{x.Kind, x.Zone, world.Tick(x.Tick), x.Err})
		}
	}
}

// event passes on an event of a zone, and answers those who asked for what it says.
func (n *node) event(x *zone.Notice) {
	r := reader{b: x.Data}
	switch r.byte() {
	case eventGame:
		var e world.Emitted
		e.Kind = uint16(r.below(1 << 16))
		e.By = world.ID(r.uint())
		e.Tick = world.Tick(r.uint())
		e.Ordinal = uint16(r.below(1 << 16))
		e.About = world.ID(r.uint())
		if !r.bad && n.opt.Event != nil {
			n.opt.Event(x.Zone, x.Number, e, r.rest())
		}
	case eventJoined:
		nonce := r.fixed()
		who := world.Player(r.below(1 << 16))
		if r.done() {
			n.asking.joined(n, nonce, who)
		}
	case eventSeated:
		n.seated(&r)
	case eventUnseated:
		n.unseated(&r)
	case eventLeft:
		who := world.Player(r.below(1 << 16))
		if r.done() {
			n.asking.left(n, who)
		}
	}
}

// body gives what a zone is, if it is this server's.
func (n *node) body(id zone.ID) *body {
	if v, ok := n.zones.Zone(id); ok {
		return v.Body.(*body)
	}
	return nil
}

// chores are a node's own operations.
type chores struct {
	next uint64
	then map[uint64]func(*zone.Result)
	list []task
}

func (c *chores) open() { c.then = map[uint64]func(*zone.Result){} }

// ask has something done, and then a function called.
func (c *chores) ask(op zone.Op, then func(*zone.Result)) {
	c.next++
	op.ID = c.next
	c.then[op.ID] = then
	c.list = append(c.list, task{op, true})
}

func (c *chores) done(r *zone.Result) {
	then := c.then[r.ID]
	delete(c.then, r.ID)
	if then != nil {
		then(r)
	}
}

func (c *chores) take(list []task) []task {
	list = append(list, c.list...)
	c.list = slices.Delete(c.list, 0, len(c.list))
	return list
}
