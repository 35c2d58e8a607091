package seamless

import (
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/zone"
)

// founding is a spare zone that is being founded: it is given a number that no zone was ever given,
// an allocator of identifiers, a snapshot in the store, an entry of the map, which says that this
// server owns it, and at last a place in the plan. Whoever dies on the way leaves a number unused,
// and an allocator or an empty zone, which the next founder uses.
type founding struct {
	*planner
	n         *node
	id        zone.ID
	allocator int
	key       string
	data      []byte
}

// found founds a spare zone, for the job.
func (p *planner) found(n *node) {
	f := &founding{planner: p, n: n}
	p.change(n, func(h *header) error {
		if len(h.Plan.All()) >= MaxZones {
			return fmt.Errorf("seamless: there are %d zones already, which is all there may be",
				MaxZones)
		}
		h.Plan.Last++
		f.id = h.Plan.Last
		return nil
	}, func(err error) {
		if err == nil {
			f.lease()
		} else if !errors.Is(err, errAgain) {
			p.fail(err)
		}
	})
}

// ask has something done for the job.
func (f *founding) ask(op zone.Op, then func(*zone.Result)) {
	f.busy = true
	f.n.chores.ask(op, func(r *zone.Result) {
		f.busy = false
		then(r)
	})
}

// lease gives the zone an allocator: that of a zone that was never finished, or another. One that
// only lacks its place in the plan is finished instead.
func (f *founding) lease() {
	f.ask(zone.Op{Kind: zone.MapGet, Key: zone.AllocatorsKey}, func(r *zone.Result) {
		if r.Outcome != zone.OK {
			return // the job begins anew, by another number
		}
		list, err := zone.ReadAllocators(r.Data)
		if err != nil {
			f.fail(err)
			return
		}
		left, allocator := f.unfinished(list)
		if left == 0 {
			if f.allocator, err = list.Lease(f.id); err != nil {
				f.fail(err)
				return
			}
			f.leased(list, r.Revision)
			return
		}
		rev := r.Revision
		f.ask(zone.Op{Kind: zone.MapGet, Key: zone.ZoneKey(left)}, func(r *zone.Result) {
			f.allocator = allocator
			switch r.Outcome {
			case zone.OK:
				f.id = left
				f.widen()
			case zone.None:
				list.Merge(left, f.id)
				f.leased(list, rev)
			}
		})
	})
}

// unfinished gives a zone that has leased an allocator and is not in the plan.
func (f *founding) unfinished(list *zone.Allocators) (zone.ID, int) {
	plan := f.n.head.Plan
	for id := zone.ID(1); id < f.id; id++ {
		for _, a := range list.Of(id) {
			if _, kept := plan.keeper(a); !kept {
				return id, a
			}
		}
	}
	return 0, 0
}

// leased notes who has which allocators.
func (f *founding) leased(list *zone.Allocators, rev uint64) {
	op := zone.Op{Kind: zone.MapSet, Key: zone.AllocatorsKey, Expect: rev, Data: list.Append(nil)}
	f.ask(op, func(r *zone.Result) {
		if r.Outcome == zone.OK {
			f.save()
		}
	})
}

// save puts the zone's first snapshot into the store.
func (f *founding) save() {
	n := f.n
	home := n.body(n.head.Plan.Home)
	if home == nil {
		return
	}
	b, err := home.spareBody(f.id, f.allocator, func(id zone.ID) *body {
		return newBody(n.opt.Title, n.where, id)
	})
	if err != nil {
		f.fail(err)
		return
	}
	f.key, f.data = zone.Found(f.id, zone.Tick(home.w.Tick()), b)
	f.ask(zone.Op{Kind: zone.Put, Key: f.key, Data: f.data}, func(r *zone.Result) {
		if r.Outcome == zone.OK {
			f.enter()
		}
	})
}

// enter puts the zone on the map, as this server's.
func (f *founding) enter() {
	a := zone.Assignment{Epoch: 1, Owner: f.n.opt.Self}
	op := zone.Op{Kind: zone.MapSet, Key: zone.ZoneKey(f.id), Data: a.Append(nil)}
	f.ask(op, func(r *zone.Result) {
		if r.Outcome == zone.OK {
			f.widen()
		}
	})
}

// widen gives the zone its place in the plan.
func (f *founding) widen() {
	f.change(f.n, func(h *header) error {
		plan, err := h.Plan.widen(f.id, f.allocator)
		return f.n.count(h, plan, err)
	}, func(err error) {
		if err != nil && !errors.Is(err, errAgain) {
			f.fail(err)
		}
		f.n.zones.Owner(f.id) // which has it looked at, and claimed
	})
}
