package seamless

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// planner is what has borders move. Each server follows what the map says of the world: it tells
// its zones of new plans, and gives zones to servers that are to have them. The one that has home
// also carries out orders, one at a time, by changing what the map says, which only one can do at a
// time. Whatever dies meanwhile, an order was carried out in whole or not at all: a plan is changed
// by one write, which also notes that the order is done.
type planner struct {
	readAt  time.Duration
	reading bool
	rev     uint64 // of the world's entry
	told    map[zone.ID]time.Duration
	leaving bool

	ordersAt time.Duration
	listing  bool
	job      *job
	busy     bool // an operation for the job is under way

	watched map[zone.ID]*watchedZone
	calm    time.Duration // until when nothing is done by load
}

// job is an order that is being carried out.
type job struct {
	key   string // in the map; of those by load there is none there
	rev   uint64
	order Order
	began time.Duration
	said  string
	err   error
	asked bool // what it waits for was asked for
	over  bool
	auto  bool
}

// jobTime is for how long an order is tried.
const jobTime = 20 * time.Second

func (p *planner) open(now time.Duration) {
	p.told, p.watched = map[zone.ID]time.Duration{}, map[zone.ID]*watchedZone{}
	p.readAt, p.ordersAt = now, now
}

// tend does what is due.
func (p *planner) tend(n *node) {
	if n.now >= p.readAt && !p.reading {
		p.reading = true
		n.chores.ask(zone.Op{Kind: zone.MapGet, Key: worldKey}, func(r *zone.Result) {
			p.reading, p.readAt = false, n.now+n.opt.Silence/2
			if r.Outcome == zone.OK {
				p.adopt(n, r.Data, r.Revision)
			}
		})
	}
	p.tell(n)
	p.seat(n)
	if n.body(n.head.Plan.Home) == nil {
		p.job = nil
		return
	}
	p.work(n)
}

// adopt goes by what the map says of the world.
func (p *planner) adopt(n *node, data []byte, rev uint64) {
	if rev <= p.rev {
		return
	}
	h, err := parseHeader(data)
	if err != nil || h.ID != n.head.ID {
		return // of another version, or another world: this one goes on
	}
	p.rev = rev
	if shift := h.Zero - n.head.Zero; shift != 0 {
		n.zones.Shift(time.Duration(shift))
	}
	n.zones.Hold(zone.Tick(h.Paused))
	n.head = h
}

// tell has zones of this server hear of the newest plan.
func (p *planner) tell(n *node) {
	plan := n.head.Plan
	for _, v := range n.zones.Zones() {
		b := v.Body.(*body)
		if b.planned() >= plan.Version || n.now < p.told[v.Zone] {
			continue
		}
		if n.zones.Command(v.Zone, planCommand(plan)) == nil {
			p.told[v.Zone] = n.now + n.opt.Silence/4 // and again, should that tick fail
		}
	}
}

// seat gives zones to servers that are to have them.
func (p *planner) seat(n *node) {
	if slices.Contains(n.head.Drained, n.opt.Self) {
		if !p.leaving {
			p.leaving = true
			n.zones.Leave()
		}
		n.leave()
		return
	}
	for id, to := range n.head.Seats { // in no order: each is another zone
		if to != n.opt.Self && n.body(id) != nil && n.takes(to) {
			n.zones.Give(id, to)
		}
	}
}

// takes says whether a server is there and takes zones.
func (n *node) takes(id zone.ServerID) bool {
	if id == n.opt.Self {
		return n.opt.Zones > 0 && !n.leaving
	}
	x := n.directory.known[id]
	return x != nil && n.now-x.since < 3*n.opt.Silence && x.info.Most > 0
}

// has gives the server that has a zone, as far as servers have written since a moment.
func (n *node) has(id zone.ID, since time.Duration) (server zone.ServerID, ok bool) {
	if n.body(id) != nil {
		return n.opt.Self, true
	}
	since, last := max(since, n.now-3*n.opt.Silence), uint64(0)
	for s, x := range n.directory.known { // in no order: revisions differ
		if x.since >= since && slices.Contains(x.info.Zones, id) && x.rev > last {
			server, ok, last = s, true, x.rev
		}
	}
	return server, ok
}

// work carries out orders.
func (p *planner) work(n *node) {
	switch {
	case p.busy:
	case p.job != nil && p.job.over:
		p.finish(n)
	case p.job != nil && n.now-p.job.began > jobTime:
		p.fail(errors.New("seamless: it took too long, and was given up"))
	case p.job != nil:
		p.carry(n)
	case n.now >= p.ordersAt && !p.listing:
		p.list(n)
	default:
		p.balance(n)
	}
}

// list looks for orders.
func (p *planner) list(n *node) {
	p.listing = true
	n.chores.ask(zone.Op{Kind: zone.MapList, Key: orderPrefix}, func(r *zone.Result) {
		p.listing, p.ordersAt = false, n.now+n.opt.Silence/4
		if r.Outcome != zone.OK || p.job != nil {
			return
		}
		for _, e := range r.Entries {
			var o ordered
			if err := json.Unmarshal(e.Value, &o); err != nil {
				o.Over = true
			}
			if o.Over {
				p.forget(n, &e)
				continue
			}
			if p.job == nil {
				p.job = &job{key: e.Key, rev: e.Revision, order: o.Order, began: n.now}
			}
		}
	})
}

// forget takes an order off the map whose answer nobody has taken for a minute.
func (p *planner) forget(n *node, e *zone.Entry) {
	if p.rev > e.Revision+1<<12 {
		n.chores.ask(zone.Op{Kind: zone.MapDelete, Key: e.Key, Expect: e.Revision}, nil)
	}
}

// fail gives a job up.
func (p *planner) fail(err error) {
	if p.job != nil {
		p.job.err, p.job.over = err, true
	}
}

// finish answers who has ordered.
func (p *planner) finish(n *node) {
	j := p.job
	if j.auto {
		p.job, p.calm = nil, n.now+n.head.calm(n)
		return
	}
	x := ordered{Order: j.order, Over: true, Said: j.said}
	if j.err != nil {
		x.Error = strings.TrimPrefix(j.err.Error(), "seamless: ")
	}
	data, _ := json.Marshal(&x) // it has nothing that cannot be written
	p.busy = true
	n.chores.ask(zone.Op{Kind: zone.MapSet, Key: j.key, Expect: j.rev, Data: data},
		func(*zone.Result) { p.busy, p.job = false, nil }) // if it fails, it is found done
	p.calm = n.now + n.head.calm(n)
}

// errAgain says that somebody else has changed what the map says meanwhile, or may have.
var errAgain = errors.New("seamless: to be tried again")

// change changes what the map says of the world, if nobody else does meanwhile. Done is called with
// errAgain if that is so, or with what f gives.
func (p *planner) change(n *node, f func(h *header) error, done func(error)) {
	p.busy = true
	n.chores.ask(zone.Op{Kind: zone.MapGet, Key: worldKey}, func(r *zone.Result) {
		p.busy = false
		if r.Outcome != zone.OK {
			done(errAgain)
			return
		}
		p.adopt(n, r.Data, r.Revision)
		h, err := parseHeader(r.Data)
		if err == nil {
			err = f(h)
		}
		var data []byte
		if err == nil {
			data, err = json.Marshal(h)
		}
		if err != nil {
			done(err)
			return
		}
		p.busy = true
		n.chores.ask(zone.Op{Kind: zone.MapSet, Key: worldKey, Expect: r.Revision, Data: data},
			func(r *zone.Result) {
				if p.busy = false; r.Outcome != zone.OK {
					done(errAgain)
					return
				}
				p.adopt(n, data, r.Revision)
				done(nil)
			})
	})
}

// decide changes what the map says as the job wants, and notes in the same write that the job is
// done.
func (p *planner) decide(n *node, said string, f func(h *header) error) {
	j := p.job
	p.change(n, func(h *header) error {
		if h.wasDone(j.key) {
			return nil // by a server that has died since
		}
		if err := f(h); err != nil {
			return err
		}
		if !j.auto {
			h.done(j.key)
		}
		return nil
	}, func(err error) {
		if errors.Is(err, errAgain) {
			return
		}
		j.said, j.err, j.over = said, err, true
	})
}

// lead is how many ticks it takes from when a plan is written until it counts: so long that all
// servers have read it.
func (n *node) lead() world.Tick {
	return world.Tick(3*n.opt.Silence/2/n.opt.Title.Game.TickLength()) + 1
}

// count has a plan count soon.
func (n *node) count(h *header, p *Plan, err error) error {
	if err != nil {
		return err
	}
	p.At = max(world.Tick(n.zones.Due(n.now))+n.lead(), h.Plan.At)
	if err := p.prepare(); err != nil {
		return err
	}
	h.Plan = p
	return nil
}
