package zonetest

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"

	"github.com/coeval-dev/coeval/zone"
	"github.com/coeval-dev/coeval/zone/zonetest/audit"
)

// game tells the audit of tokens.
type game struct{ sim *Sim }

// Entities is of audit.Game.
func (g *game) Entities(tick uint64, body []byte) (list []audit.Entity) {
	for range binary.BigEndian.Uint64(body) {
		t := readToken(body[8:])
		e := audit.Entity{ID: t.ID, Value: t.Value}
		if t.Steps+t.Skipped+t.Born != tick {
			e.Wrong = fmt.Sprintf("born at %d, %d ticks executed and %d left out until %d", t.Born,
				t.Steps, t.Skipped, tick)
		}
		list = append(list, e)
		body = body[tokenSize:]
	}
	return list
}

// Carried is of audit.Game.
func (g *game) Carried(data []byte) audit.Entity {
	t := readToken(data)
	return audit.Entity{ID: t.ID, Value: t.Value}
}

// Deed is of audit.Game.
func (g *game) Deed(i *audit.Item) [2]uint64 { return g.Told(i.Data) }

// Told is of audit.Game.
func (g *game) Told(data []byte) [2]uint64 {
	return [2]uint64{binary.BigEndian.Uint64(data), binary.BigEndian.Uint64(data[8:])}
}

// Replay is of audit.Game.
func (g *game) Replay(id uint32, body []byte) audit.Replay {
	if g.sim.opt.NoReplay {
		return nil
	}
	b := NewTokens(zone.ID(id), &g.sim.rules)
	if err := b.Load(body); err != nil {
		panic(err)
	}
	return &again{body: b, held: map[[2]uint64]*audit.Item{}}
}

// again computes frames once more.
type again struct {
	body *Tokens
	in   zone.Input
	out  zone.Output
	held map[[2]uint64]*audit.Item
	// aside are items that were set aside.
	aside []audit.Item
}

// Step is of audit.Replay.
func (r *again) Step(f *audit.Frame) {
	r.in = zone.Input{Tick: zone.Tick(f.Tick), Commands: f.Commands, Ghosts: r.in.Ghosts[:0],
		Arrivals: r.in.Arrivals[:0], Actions: r.in.Actions[:0], Closed: r.in.Closed[:0]}
	for _, g := range f.Ghosts {
		r.in.Ghosts = append(r.in.Ghosts, zone.Ghost{From: zone.ID(g.From),
			Tick: zone.Tick(g.Tick), Since: zone.Tick(g.Since), Data: g.Data})
	}
	for _, c := range f.Closed {
		r.in.Closed = append(r.in.Closed, zone.ID(c))
	}
	for _, m := range f.Met {
		r.act(r.held[[2]uint64{uint64(m.From), m.Number}])
	}
	for i := range f.Taken {
		t := &f.Taken[i]
		switch {
		case t.Aside:
			kept := *t
			kept.Data = slices.Clone(t.Data)
			r.aside = append(r.aside, kept)
		default:
			r.take(f, t)
		}
	}
	if f.Back {
		t := r.aside[0]
		r.aside = r.aside[1:]
		t.Hops, t.OFrom, t.OTo, t.ONumber = 0, t.From, uint32(r.body.id), t.Number
		r.take(f, &t)
	}
	r.out = zone.Output{}
	r.body.Step(&r.in, &r.out)
}

// take has an item come into the body's input.
func (r *again) take(f *audit.Frame, t *audit.Item) {
	switch {
	case !t.Acts:
		r.in.Arrivals = append(r.in.Arrivals, zone.Arrival{From: zone.ID(t.From),
			Entity: t.Entity, Tick: zone.Tick(t.Tick),
			Missed: int(min(f.Tick-1-t.Tick, zone.MaxMissed)), Data: t.Data})
	case !passedOn(f, t) && !r.hold(f, t):
		r.act(t)
	}
}

func (r *again) act(t *audit.Item) {
	if t != nil {
		r.in.Actions = append(r.in.Actions, zone.Action{From: zone.ID(t.From),
			Tick: zone.Tick(t.Tick), Entity: t.Entity, Hops: int(t.Hops), Data: t.Data})
	}
}

// hold keeps an action that waits for what it is on.
func (r *again) hold(f *audit.Frame, t *audit.Item) bool {
	for _, h := range f.Held {
		if h.From == t.From && h.Number == t.Number {
			kept := *t
			kept.Data = slices.Clone(t.Data)
			r.held[[2]uint64{uint64(t.From), t.Number}] = &kept
			return true
		}
	}
	return false
}

// passedOn says whether an action was forwarded, or was on something that is gone.
func passedOn(f *audit.Frame, t *audit.Item) bool {
	for i := range f.Out {
		o := &f.Out[i]
		if o.Acts && o.Hops > 0 && o.OFrom == t.OFrom && o.OTo == t.OTo && o.ONumber == t.ONumber {
			return true
		}
	}
	for _, g := range f.Gone {
		if g.From == t.From && g.Number == t.Number {
			return true
		}
	}
	return false
}

// Hash is of audit.Replay.
func (r *again) Hash() uint64 { return r.body.Hash() }

// collect adds up what a server has counted.
func (s *Sim) collect(n *node) {
	if !n.alive {
		return
	}
	addUp(reflect.ValueOf(&s.report.Stats).Elem(), reflect.ValueOf(n.machine.Stats()))
}

// addUp adds up counts.
func addUp(to, from reflect.Value) {
	for i := range from.NumField() {
		if from.Field(i).Kind() == reflect.Struct {
			addUp(to.Field(i), from.Field(i))
			continue
		}
		if from.Field(i).Kind() == reflect.Array {
			for k := range from.Field(i).Len() {
				to.Field(i).Index(k).SetUint(to.Field(i).Index(k).Uint() +
					from.Field(i).Index(k).Uint())
			}
			continue
		}
		to.Field(i).SetUint(to.Field(i).Uint() + from.Field(i).Uint())
	}
}
