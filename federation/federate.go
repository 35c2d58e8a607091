package federation

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/internal/heap"
)

// A Federate is one that has joined an execution. Its methods are the services that it may ask
// for; [Federate.Next] is what it is told.
type Federate struct {
	x    *Execution
	id   FederateID
	name string
	left bool

	publishes     []Set // by class, in its slots
	subscribes    []subscription
	publishesAct  []bool
	subscribesAct []actSubscription

	queues  [maxPriority + 1]queue // by priority; what is not by priority is in the first
	waiting int                    // notices in them
	bytes   int                    // and in those by time
	last    *message               // what the notice given last points into
	scratch []Value
	args    []Argument

	clock     clock
	strikes   int
	heard     time.Duration // when it last asked for something
	awaited   time.Duration // since when others have waited for it; 0 if nobody does
	announced bool          // that they do
}

// A queue is first in, first out, and allocates only to grow.
type queue struct {
	entries []entry
	head    int
}

func (q *queue) push(e entry) {
	if q.head > 32 && q.head*2 > len(q.entries) {
		n := copy(q.entries, q.entries[q.head:])
		clear(q.entries[n:])
		q.entries, q.head = q.entries[:n], 0
	}
	q.entries = append(q.entries, e)
}

func (q *queue) pop() (e entry, ok bool) {
	if q.head == len(q.entries) {
		return e, false
	}
	e = q.entries[q.head]
	q.entries[q.head] = entry{}
	if q.head++; q.head == len(q.entries) {
		q.entries, q.head = q.entries[:0], 0
	}
	return e, true
}

// ID is the federate's number in the execution.
func (f *Federate) ID() FederateID { return f.id }

// Name is what it joined as.
func (f *Federate) Name() string { return f.name }

// Left says whether it has resigned, or was put out.
func (f *Federate) Left() bool { return f.left }

func (f *Federate) grow(m *Model) {
	f.publishes = append(f.publishes, make([]Set, len(m.Classes)-len(f.publishes))...)
	f.subscribes = append(f.subscribes,
		make([]subscription, len(m.Classes)-len(f.subscribes))...)
	f.publishesAct = append(f.publishesAct,
		make([]bool, len(m.Interactions)-len(f.publishesAct))...)
	f.subscribesAct = append(f.subscribesAct,
		make([]actSubscription, len(m.Interactions)-len(f.subscribesAct))...)
}

// alive is asked by each service first.
func (f *Federate) alive() error {
	f.x.bury()
	if f.left {
		return ErrGone
	}
	f.heard = f.x.now
	return nil
}

// acts is asked by services that change what others see: not while the federation is saved.
func (f *Federate) acts() error {
	if err := f.alive(); err != nil {
		return err
	}
	if f.x.saving.stops() {
		return fmt.Errorf("%w: the federation is being saved or restored", ErrState)
	}
	return nil
}

// strike counts what only a broken or a false federate does, and puts it out if it goes on.
func (f *Federate) strike(err error) error {
	f.strikes++
	if f.x.opt.Strikes > 0 && f.strikes > f.x.opt.Strikes {
		f.x.putOut(f, fmt.Sprintf("it went on doing what it may not: %v", err))
	}
	return err
}

func (f *Federate) push(e entry) {
	if f.left {
		return
	}
	band := 0
	if e.order == ByPriority {
		band = int(e.number)
		e.number = 0
	}
	if e.message != nil {
		e.message.refs++
	}
	f.waiting++
	f.bytes += e.size()
	f.queues[band].push(e)
	if f.waiting > f.x.opt.Waiting || f.bytes > f.x.opt.Queue {
		f.x.lose(f, "it takes nothing: too much waits for it")
	}
}

// Waiting is how many notices there are to take.
func (f *Federate) Waiting() int { return f.waiting }

// Next takes the next notice. Its slices are good until the next call.
func (f *Federate) Next() (n Notice, ok bool) {
	if f.last != nil {
		f.x.messages.release(f.last)
		f.last = nil
	}
	if f.waiting == 0 {
		return n, false
	}
	for band := maxPriority; band >= 0; band-- {
		for {
			e, ok := f.queues[band].pop()
			if !ok {
				break
			}
			f.waiting--
			f.bytes -= e.size()
			if m := e.message; m != nil && m.retracted {
				f.x.messages.release(m)
				continue
			}
			return f.notice(&e), true
		}
	}
	return n, false
}

func (f *Federate) notice(e *entry) Notice {
	n := Notice{Kind: e.kind, Order: e.order, OK: e.ok, Class: e.class, Object: e.object,
		From: e.from, Time: e.time, Retraction: e.number, Name: e.name, Tag: e.tag,
		Attributes: e.list, Failed: e.failed}
	switch e.kind {
	case Granted, Regulating, Constrained:
		n.Stamped = true
	}
	m := e.message
	if m == nil {
		return n
	}
	f.last = m
	n.Tag, n.Stamped, n.Time, n.From = m.tag, m.stamped, m.time, m.from
	if m.number != 0 {
		n.Retraction = m.number
		m.told = append(m.told, f.id)
	}
	switch e.kind {
	case Reflected:
		f.scratch = f.scratch[:0]
		for i, v := range m.values {
			if e.mask.has(int(m.slots[i])) {
				f.scratch = append(f.scratch, v)
			}
		}
		n.Values = f.scratch
	case Interacted:
		n.Interaction = InteractionID(e.class)
		n.Class = 0
		known := f.x.model.Interactions[n.Interaction].Parameters
		f.args = f.args[:0]
		for _, a := range m.arguments {
			if slices.Contains(known, a.Parameter) {
				f.args = append(f.args, a)
			}
		}
		n.Arguments = f.args
	}
	return n
}

// attributes lists a set of a class's slots.
func (x *Execution) attributes(c ClassID, s Set) []AttributeID {
	list := make([]AttributeID, 0, s.len())
	for r := s; r != 0; r &= r - 1 {
		list = append(list, x.model.Classes[c].Attributes[bits.TrailingZeros64(uint64(r))])
	}
	return list
}

// set is the slots of attributes in a class.
func (x *Execution) set(c ClassID, list []AttributeID) (s Set, err error) {
	for _, a := range list {
		slot, ok := x.model.slot(c, a)
		if !ok {
			return 0, fmt.Errorf("%w: class %q has no attribute %d", ErrUnknown,
				x.model.Classes[c].Name, a)
		}
		s |= 1 << slot
	}
	return s, nil
}

// byTime is what waits for a federate's time: the key is the time, and who sent it what orders
// messages of one time.
type byTime = heap.Heap[Time, entry]
