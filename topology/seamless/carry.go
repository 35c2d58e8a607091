package seamless

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// This file is how each order is carried out.

// carry goes on with the job.
func (p *planner) carry(n *node) {
	j := p.job
	o := &j.order
	if n.head.wasDone(j.key) && !j.auto {
		j.said, j.over = "it is done", true
		return
	}
	switch o.Kind {
	case Split:
		p.split(n)
	case Merge:
		p.merge(n)
	case Shift:
		if o.Cut == nil {
			p.fail(errors.New("seamless: say to where the border is to move"))
			return
		}
		p.decide(n, fmt.Sprintf("the border of zone %d moves to %v", o.Zone, *o.Cut),
			func(h *header) error {
				plan, err := h.Plan.shift(o.Zone, *o.Cut)
				return n.count(h, plan, err)
			})
	case Move:
		p.move(n)
	case Drain:
		p.drain(n)
	case Pause, Resume:
		p.pause(n)
	case Rebalance:
		p.decide(n, "it is noted", func(h *header) error {
			h.Balance = o.Balance
			return o.Balance.check()
		})
	default:
		p.fail(fmt.Errorf("seamless: %q cannot be ordered", o.Kind))
	}
}

// split gives half of a zone to a spare one, which is founded first if there is none.
func (p *planner) split(n *node) {
	o := &p.job.order
	if n.head.Plan.leaf(o.Zone) < 0 || o.Zone == 0 {
		p.fail(fmt.Errorf("seamless: zone %d has no part of space that could be split", o.Zone))
		return
	}
	into := zone.ID(0)
	for _, id := range n.head.Plan.Spare {
		if _, ok := n.has(id, 0); ok {
			into = id
			break
		}
	}
	if into == 0 {
		if len(n.head.Plan.Spare) == 0 {
			p.found(n)
		}
		return // until somebody has it
	}
	if !p.place(n, into) {
		return
	}
	axis, cut := o.Axis, 0.0
	if o.Cut != nil {
		cut = *o.Cut
	} else {
		l, ok := n.loadOf(o.Zone)
		if !ok || l.Both == 1 {
			p.fail(fmt.Errorf("seamless: nothing in zone %d can be divided in two halves; say "+
				"where to cut", o.Zone))
			return
		}
		axis, cut = l.Axis, l.Cut
	}
	p.decide(n, fmt.Sprintf("zone %d is cut at %v along %c, and what is behind is zone %d", o.Zone,
		cut, "xyz"[min(max(axis, 0), 2)], into), func(h *header) error {
		plan, err := h.Plan.split(o.Zone, axis, cut, into)
		delete(h.Seats, into)
		return n.count(h, plan, err)
	})
}

// place sees to it that a spare zone is on the server that is to have it, before entities move in.
func (p *planner) place(n *node, id zone.ID) bool {
	j := p.job
	if j.order.Server == 0 {
		j.order.Server = n.idlest()
	}
	to := j.order.Server
	since := time.Duration(0)
	if j.asked {
		since = j.began
	}
	at, _ := n.has(id, since)
	if at == to || !n.takes(to) || n.now-j.began > jobTime/2 {
		return true
	}
	if n.head.Seats[id] != to && !j.asked {
		j.asked = true
		p.change(n, func(h *header) error { return h.sit(id, to) }, func(error) {})
	}
	return false
}

func (h *header) sit(id zone.ID, on zone.ServerID) error {
	if on == 0 {
		delete(h.Seats, id)
		return nil
	}
	if h.Seats == nil {
		h.Seats = map[zone.ID]zone.ServerID{}
	}
	h.Seats[id] = on
	return nil
}

// merge gives a zone what another has.
func (p *planner) merge(n *node) {
	o := &p.job.order
	keep, end := o.Zone, o.With
	if end == 0 {
		end, _ = n.head.Plan.Sibling(keep)
	}
	p.decide(n, fmt.Sprintf("zone %d gets what zone %d has, which is spare then", keep, end),
		func(h *header) error {
			plan, err := h.Plan.merge(keep, end)
			return n.count(h, plan, err)
		})
}

// move has a server own a zone.
func (p *planner) move(n *node) {
	o := &p.job.order
	at, _ := n.has(o.Zone, p.job.began)
	switch {
	case !slices.Contains(n.head.Plan.All(), o.Zone):
		p.fail(fmt.Errorf("seamless: there is no zone %d", o.Zone))
	case !n.takes(o.Server):
		p.fail(fmt.Errorf("seamless: server %016x is not there, or takes no zones",
			uint64(o.Server)))
	case at == o.Server:
		p.decide(n, fmt.Sprintf("zone %d is on server %016x", o.Zone, uint64(o.Server)),
			func(h *header) error { return h.sit(o.Zone, 0) })
	case n.head.Seats[o.Zone] != o.Server:
		p.change(n, func(h *header) error { return h.sit(o.Zone, o.Server) }, func(error) {})
	}
}

// drain has a server give all it has.
func (p *planner) drain(n *node) {
	o := &p.job.order
	if !slices.Contains(n.head.Drained, o.Server) {
		_, known := n.directory.known[o.Server]
		if !known && o.Server != n.opt.Self {
			p.fail(fmt.Errorf("seamless: server %016x is not there", uint64(o.Server)))
			return
		}
		if len(n.others(o.Server)) == 0 {
			p.fail(errors.New("seamless: no other server takes zones; start one first"))
			return
		}
		p.decide(n, fmt.Sprintf("server %016x gives its zones to others; end it when it has none",
			uint64(o.Server)), func(h *header) error {
			h.Drained = append(h.Drained, o.Server)
			for id, to := range h.Seats { // in no order: each is deleted or not
				if to == o.Server {
					delete(h.Seats, id)
				}
			}
			return nil
		})
		return
	}
	p.job.said, p.job.over = "it has been told to before", true
}

// others are the servers that take zones, but for one.
func (n *node) others(but zone.ServerID) (list []zone.ServerID) {
	for _, id := range append(n.directory.others(n, true), n.opt.Self) {
		if id != but && n.takes(id) && !slices.Contains(n.head.Drained, id) {
			list = append(list, id)
		}
	}
	return list
}

// pause has all zones stand still, or go on.
func (p *planner) pause(n *node) {
	o := &p.job.order
	p.decide(n, map[OrderKind]string{Pause: "the world stands still", Resume: "it goes on"}[o.Kind],
		func(h *header) error {
			length := n.opt.Title.Game.TickLength()
			due := world.Tick(n.zones.Due(n.now))
			switch {
			case o.Kind == Pause && h.Paused == 0:
				h.Paused = due + n.lead()
			case o.Kind == Resume && h.Paused != 0:
				if due >= h.Paused { // it has come to stand
					h.Zero = n.wall.Add(n.now).Add(-time.Duration(h.Paused) * length).UnixNano()
				}
				h.Paused = 0
			}
			return nil
		})
}
