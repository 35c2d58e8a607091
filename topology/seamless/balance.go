package seamless

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/zone"
)

// Balance says how borders move by themselves. A zone is split that is too full for a while, and
// two are merged that would be far from full together: between the two there is much room, so that
// nothing goes to and fro.
type Balance struct {
	// Entities is how many a zone may have. Default: as many as there are; only Busy counts.
	Entities int `json:",omitempty"`
	// Busy is which part of the time of a tick a zone may take. Default: 0.5.
	Busy float64 `json:",omitempty"`
	// Zones is how many there may be that have a part of space. Default: MaxZones.
	Zones int `json:",omitempty"`
	// Calm is for how long nothing is changed after a change. Default: 5 s.
	Calm time.Duration `json:",omitempty"`
}

func (b *Balance) check() error {
	if b != nil && (b.Entities < 0 || b.Busy < 0 || b.Zones < 0 || b.Zones > MaxZones ||
		b.Calm < 0) {
		return errors.New("seamless: a balance of less than nothing")
	}
	return nil
}

// calm is for how long nothing is done by load after a change.
func (h *header) calm(n *node) time.Duration {
	d := 5 * time.Second
	if h.Balance != nil && h.Balance.Calm > 0 {
		d = h.Balance.Calm
	}
	return max(d, 3*n.opt.Silence)
}

// Hysteresis: a zone is split that has been full for splitAfter, by rounds of looking; two are
// merged that together have been below mergeBelow of full for mergeAfter.
const (
	splitAfter = 3
	mergeAfter = 10
	mergeBelow = 0.5
	// tooDense is which part of a zone may be near to a new border for a split to be of use.
	tooDense = 0.6
)

// watchedZone is for how many rounds a zone has been full, or empty enough to be merged.
type watchedZone struct{ full, idle int }

// balance has borders move by load, if that is wanted.
func (p *planner) balance(n *node) {
	want := n.head.Balance
	if want == nil || n.now < p.calm || n.head.Paused != 0 {
		return
	}
	p.calm = n.now + n.opt.Silence // until the next round
	loads := n.loads()
	if o := p.crowded(n, want, loads); o != nil {
		p.job = &job{order: *o, began: n.now, auto: true}
		return
	}
	if o := p.deserted(n, want, loads); o != nil {
		p.job = &job{order: *o, began: n.now, auto: true}
		return
	}
	if o := n.uneven(loads); o != nil {
		p.job = &job{order: *o, began: n.now, auto: true}
	}
}

// fill is how full a zone is: 1 is as full as it may be.
func (b *Balance) fill(l *ZoneLoad) float64 {
	full := l.Busy / cmp.Or(b.Busy, 0.5)
	if b.Entities > 0 {
		full = max(full, float64(l.Entities)/float64(b.Entities))
	}
	return full
}

// crowded gives an order to split the zone that has been too full for long.
func (p *planner) crowded(n *node, want *Balance, loads map[zone.ID]ZoneLoad) (o *Order) {
	worst := 1.0
	for _, id := range n.head.Plan.Zones() {
		l, ok := loads[id]
		w := p.watched[id]
		if w == nil {
			w = &watchedZone{}
			p.watched[id] = w
		}
		fill := want.fill(&l)
		if !ok || fill < 1 || l.Both > tooDense {
			w.full = 0
			continue
		}
		if w.full++; w.full >= splitAfter && fill >= worst {
			worst, o = fill, &Order{Kind: Split, Zone: id}
		}
	}
	if len(n.head.Plan.Zones()) >= min(cmp.Or(want.Zones, MaxZones), MaxZones) {
		return nil
	}
	return o
}

// deserted gives an order to merge two zones that have been far from full for long.
func (p *planner) deserted(n *node, want *Balance, loads map[zone.ID]ZoneLoad) (o *Order) {
	least := mergeBelow
	for _, id := range n.head.Plan.Zones() {
		with, ok := n.head.Plan.Sibling(id)
		a, here := loads[id]
		b, there := loads[with]
		w := p.watched[id]
		if !ok || !here || !there || with == n.head.Plan.Home || w == nil ||
			a.Entities < b.Entities || a.Entities == b.Entities && id > with &&
			id != n.head.Plan.Home {
			continue // of two, the one that has more stays
		}
		fill := want.fill(&a) + want.fill(&b)
		if fill >= mergeBelow {
			w.idle = 0
			continue
		}
		if w.idle++; w.idle >= mergeAfter && fill < least {
			least, o = fill, &Order{Kind: Merge, Zone: id, With: with}
		}
	}
	return o
}

// loads are those of all zones, as servers have written lately.
func (n *node) loads() map[zone.ID]ZoneLoad {
	list := map[zone.ID]ZoneLoad{}
	for _, x := range n.directory.known { // in no order: one at most has a zone
		if n.now-x.since < 3*n.opt.Silence {
			for _, l := range x.info.Loads {
				list[l.Zone] = l
			}
		}
	}
	for _, v := range n.zones.Zones() {
		if b := v.Body.(*body); b.area() != &noSpace {
			list[v.Zone] = b.load()
		}
	}
	return list
}

func (n *node) loadOf(id zone.ID) (ZoneLoad, bool) {
	if b := n.body(id); b != nil {
		return b.load(), true
	}
	l, ok := n.loads()[id]
	return l, ok
}

// burden is what the zones of a server take of a tick's time together, or, where that is nothing,
// how many there are.
type burden struct {
	server zone.ServerID
	busy   float64
	zones  []ZoneLoad
}

// burdens are those of servers that take zones.
func (n *node) burdens() []burden {
	loads := n.loads()
	var list []burden
	for _, id := range n.others(0) {
		b := burden{server: id}
		zones := n.directory.zonesOf(n, id)
		for _, z := range zones {
			l := loads[z]
			b.zones = append(b.zones, l)
			b.busy += l.Busy + 1e-6*float64(l.Entities) + 1e-9
		}
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b burden) int {
		return cmp.Or(cmp.Compare(a.busy, b.busy), cmp.Compare(a.server, b.server))
	})
	return list
}

func (d *directory) zonesOf(n *node, id zone.ServerID) (list []zone.ID) {
	if id == n.opt.Self {
		for _, v := range n.zones.Zones() {
			list = append(list, v.Zone)
		}
		return list
	}
	return d.known[id].info.Zones
}

// idlest is the server with the least to do.
func (n *node) idlest() zone.ServerID {
	if list := n.burdens(); len(list) > 0 {
		return list[0].server
	}
	return n.opt.Self
}

// uneven gives an order to move a zone from the busiest server to the idlest, if that one would
// still have clearly less to do.
func (n *node) uneven(loads map[zone.ID]ZoneLoad) *Order {
	list := n.burdens()
	if len(list) < 2 || len(loads) == 0 {
		return nil
	}
	from, to := list[len(list)-1], list[0]
	for i := range from.zones {
		z := &from.zones[i]
		if z.Zone != 0 && z.Busy > 0.02 && len(from.zones) > 1 &&
			to.busy+z.Busy < 0.8*from.busy {
			return &Order{Kind: Move, Zone: z.Zone, Server: to.server}
		}
	}
	return nil
}
