package federation

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// A Resignation says what becomes of what a federate owns when it leaves.
type Resignation uint8

const (
	// Divest gives up what it owns, which others are offered.
	Divest Resignation = 1 << iota
	// Delete deletes the objects that it may delete.
	Delete
	// Cancel cancels what it wants to acquire.
	Cancel

	// DeleteThenDivest is all of that.
	DeleteThenDivest = Divest | Delete | Cancel
)

// An orphan is an object that a lost federate owned something of.
type orphan struct {
	object ObjectID
	due    time.Duration
}

// Resign leaves the federation. What is not covered by how must not be there.
func (f *Federate) Resign(how Resignation) error {
	if err := f.alive(); err != nil {
		return err
	}
	x := f.x
	for _, o := range x.objects {
		own := o.ownedBy(f.id)
		if how&Delete != 0 && own.has(0) {
			continue
		}
		if own != 0 && how&Divest == 0 && o.dying == nil {
			return fmt.Errorf("%w: this federate owns attributes of object %q: divest or delete it",
				ErrState, o.name)
		}
		if how&Cancel == 0 && slices.ContainsFunc(o.waits, func(c claim) bool {
			return c.federate == f
		}) {
			return fmt.Errorf("%w: this federate wants attributes of object %q: cancel that",
				ErrState, o.name)
		}
	}
	x.leave(f, how, "resigned")
	x.settle()
	return nil
}

// Lose takes a federate out that cannot be reached any more.
func (x *Execution) Lose(f *Federate, why string) {
	if !f.left {
		x.lose(f, why)
		x.settle()
	}
}

// putOut takes a federate out that broke a rule.
func (x *Execution) putOut(f *Federate, why string) { x.lose(f, why) }

// lose has a federate hear nothing more. It is taken out before the next service, as it may be in
// the middle of one.
func (x *Execution) lose(f *Federate, why string) {
	if f.left {
		return
	}
	for i := range f.queues {
		f.dropQueue(&f.queues[i])
	}
	f.waiting, f.bytes = 0, 0
	f.queues[0].push(entry{kind: Out, tag: []byte(why)})
	f.waiting = 1
	f.left = true
	x.doomed = append(x.doomed, doomed{f, why})
	x.unsettled = true
}

type doomed struct {
	federate *Federate
	why      string
}

// bury takes out those who were lost.
func (x *Execution) bury() {
	for len(x.doomed) > 0 {
		d := x.doomed[0]
		x.doomed = x.doomed[1:]
		how := x.opt.Lost
		if x.opt.Adopt > 0 {
			for _, o := range x.objects {
				if o.ownedBy(d.federate.id) != 0 {
					x.orphans = append(x.orphans, orphan{o.id, x.now + x.opt.Adopt})
				}
			}
			how = Divest | Cancel
		}
		x.leave(d.federate, how, d.why)
	}
}

func (f *Federate) dropQueue(q *queue) {
	for {
		e, ok := q.pop()
		if !ok {
			return
		}
		if e.message != nil {
			f.x.messages.release(e.message)
		}
	}
}

// leave takes a federate out of everything.
func (x *Execution) leave(f *Federate, how Resignation, why string) {
	f.left = true
	f.clock.regulates, f.clock.constrains, f.clock.constrained = false, false, false
	f.clock.asked = idle
	x.keepSent(f, Never)
	for _, o := range slices.Clone(x.objects) {
		if how&Delete != 0 && o.dying == nil && o.owners[0] == f.id {
			m := x.messages.get()
			m.kind, m.from, m.object, m.class = Removed, f.id, o.id, o.class
			m.refs++
			x.remove(o, m, f)
			x.messages.release(m)
			continue
		}
		o.forget(f.id, ^Set(0))
		x.unknow(o, f)
		x.divest(o, o.ownedBy(f.id), nil)
	}
	for id, r := range x.regionsOf(f) {
		for _, u := range slices.Clone(r.uses) {
			if o := x.byID[u.object]; u.kind == useUpdate && o != nil {
				x.dissociate(o, id, ^Set(0))
				x.evaluateAll(o)
			}
			x.space.unuse(id, u.kind, u.federate, u.object, u.class)
		}
		delete(x.space.regions, id)
	}
	x.unreserve(f)
	for len(f.clock.queue) > 0 {
		var e = f.clock.queue[0].Value
		_, f.clock.queue = f.clock.queue.Pop()
		x.messages.release(e.message)
	}
	if i := slices.Index(x.federates, f); i >= 0 {
		x.federates = slices.Delete(x.federates, i, i+1)
	}
	for _, g := range x.federates {
		g.push(entry{kind: Left, from: f.id, name: f.name, tag: []byte(why)})
	}
	x.leavePoints(f)
	x.saving.lost(x, f)
	x.unsettled = true
}

// adopt deletes what lost federates owned and nobody took.
func (x *Execution) adopt() {
	x.bury()
	kept := x.orphans[:0]
	for _, n := range x.orphans {
		o := x.byID[n.object]
		switch {
		case o == nil || o.dying != nil || o.ownedBy(0) != o.all():
		case x.now < n.due:
			kept = append(kept, n)
		default:
			m := x.messages.get()
			m.kind, m.object, m.class = Removed, o.id, o.class
			m.refs++
			x.remove(o, m, nil)
			x.messages.release(m)
		}
	}
	x.orphans = kept
}

// all is every attribute of an object.
func (o *object) all() Set { return ^Set(0) >> (MaxAttributes - len(o.owners)) }

// errWaits is what a federate is put out for that keeps others waiting.
var errWaits = errors.New("others wait for it, and it says nothing")

// watch names federates that others wait for, and puts them out in the end: those whose time is
// the least while others wait for a grant, and those who owe a word of a point, save or restore.
func (x *Execution) watch() {
	if x.opt.Patience <= 0 {
		return
	}
	waited := Never
	for _, f := range x.federates {
		if c := &f.clock; c.asked != idle && c.constrains {
			waited = min(waited, c.at)
		}
	}
	b := x.bounds()
	for _, f := range slices.Clone(x.federates) {
		c := &f.clock
		what := ""
		switch {
		case x.saving.awaits(f):
			what = "to be saved or restored"
		case x.pointAwaits(f):
			what = "at a synchronisation point"
		case c.regulates && c.asked == idle && waited != Never && !x.saving.stops() &&
			c.bound(Never) <= b.least:
			what = "to advance its time"
		}
		if what == "" {
			f.awaited, f.announced = 0, false
			continue
		}
		since := max(f.awaited, f.heard)
		switch {
		case f.awaited == 0:
			f.awaited = max(x.now, 1)
		case x.now-since >= 4*x.opt.Patience:
			x.lose(f, errWaits.Error()+": "+what)
		case x.now-since >= x.opt.Patience && !f.announced:
			f.announced = true
			for _, g := range x.federates {
				g.push(entry{kind: Waited, from: f.id, name: f.name, tag: []byte(what)})
			}
		}
	}
}
