package federation

import (
	"fmt"
	"math"
	"slices"

	"github.com/coeval-dev/coeval/internal/heap"
)

// Time is a moment of the simulated world, in units that the federates agree on, such as
// nanoseconds. It has nothing to do with clocks on walls.
type Time int64

// Never is later than any time: who asks for it wants to go as far as anything comes.
const Never Time = math.MaxInt64

// MaxTime is the last moment of a simulated world.
const MaxTime Time = 1 << 60

// A Retraction names a message that was sent by time, to take it back.
type Retraction uint64

// request is what a federate waits for.
type request uint8

const (
	idle        request = iota
	advance             // all up to a time
	available           // the same, but more of that very time may come
	next                // the next message
	nextAvail           // the same, but more of that very time may come
	toRegulate          // to regulate from a time on
	toConstrain         // to be constrained
)

// A clock is a federate's time, and what it has promised and asked for.
//
// What a federate may still send is never before its bound: its time, or the one that it has asked
// for, and its look-ahead. From the bounds of others follows how far a federate can go.
type clock struct {
	now        Time
	lookahead  Time
	floor      Time // what was promised under a longer look-ahead
	regulates  bool
	constrains bool // asked for, or in force
	// constrained is in force.
	constrained bool
	asked       request
	at          Time // what was asked for
	// closed says that nothing of the time now may come any more, and with no look-ahead nothing
	// of it be sent.
	closed bool
	queue  byTime
	sent   []*message // what can be retracted, in the order of sending
	counts uint64
}

// after is what a federate may not undercut if it is granted a time by a request.
func (c *clock) after(t Time, closed bool) Time {
	ahead := c.lookahead
	if ahead == 0 && closed {
		ahead = 1
	}
	return max(c.floor, min(t, MaxTime)+ahead)
}

// head is the time of what waits first.
func (c *clock) head() Time {
	for len(c.queue) > 0 && c.queue[0].Value.message.retracted {
		_, c.queue = c.queue.Pop()
	}
	if len(c.queue) == 0 {
		return Never
	}
	return c.queue[0].Key
}

// bound is the earliest time that a federate may still send something of, if nothing comes to it
// that lets it go earlier than it has asked: other is the least bound of the others.
func (c *clock) bound(other Time) Time {
	switch c.asked {
	case idle, toConstrain:
		return c.after(c.now, c.closed)
	case advance:
		return c.after(c.at, true)
	case next, nextAvail:
		return c.after(max(c.now, min(c.at, c.head(), other)), c.asked == next)
	}
	return c.after(c.at, false)
}

// bounds are the least bounds of all who regulate, to tell for each what the others' least is.
type bounds struct {
	least, second Time
	who           FederateID // whose the least is
}

func (b *bounds) but(id FederateID) Time {
	if id == b.who {
		return b.second
	}
	return b.least
}

func (b *bounds) take(id FederateID, t Time) {
	switch {
	case t < b.least:
		b.least, b.second, b.who = t, b.least, id
	case t < b.second:
		b.second = t
	}
}

// bounds finds who may send the earliest. A federate that has asked for the next message may get
// one as early as the others may send; whoever is the least of all can get nothing earlier.
func (x *Execution) bounds() bounds {
	first := bounds{least: Never, second: Never}
	for _, f := range x.federates {
		if f.clock.regulates {
			first.take(f.id, f.clock.bound(Never))
		}
	}
	b := bounds{least: Never, second: Never}
	for _, f := range x.federates {
		if f.clock.regulates {
			other := first.least
			if f.id == first.who {
				other = Never
			}
			b.take(f.id, f.clock.bound(other))
		}
	}
	return b
}

// EnableRegulation has this federate send by time. Its time is told by [Regulating]: it keeps what
// everybody was promised.
func (f *Federate) EnableRegulation(lookahead Time) error {
	if err := f.timed(); err != nil {
		return err
	}
	c := &f.clock
	switch {
	case lookahead < 0 || lookahead > MaxTime:
		return fmt.Errorf("%w: a look-ahead of %d", ErrTime, lookahead)
	case c.regulates:
		return fmt.Errorf("%w: this federate regulates already", ErrState)
	}
	c.lookahead, c.floor = lookahead, 0
	at := c.now
	for _, g := range f.x.federates {
		if d := &g.clock; g != f && d.constrained {
			t := d.now
			if d.closed {
				t++
			}
			at = max(at, t-lookahead)
		}
	}
	c.regulates, c.asked, c.at = true, toRegulate, at
	f.x.unsettled = true
	f.x.settle()
	return nil
}

// DisableRegulation has it send by time no more.
func (f *Federate) DisableRegulation() error {
	if err := f.acts(); err != nil {
		return err
	}
	if !f.clock.regulates || f.clock.asked == toRegulate {
		return fmt.Errorf("%w: this federate does not regulate", ErrState)
	}
	f.clock.regulates = false
	f.x.keepSent(f, Never)
	f.x.unsettled = true
	f.x.settle()
	return nil
}

// EnableConstraint has this federate get what is sent by time in order of time. From when on is
// told by [Constrained].
func (f *Federate) EnableConstraint() error {
	if err := f.timed(); err != nil {
		return err
	}
	if f.clock.constrains {
		return fmt.Errorf("%w: this federate is constrained already", ErrState)
	}
	f.clock.constrains, f.clock.asked, f.clock.at = true, toConstrain, f.clock.now
	f.x.unsettled = true
	f.x.settle()
	return nil
}

// DisableConstraint has it get everything as it comes: what waits is delivered at once.
func (f *Federate) DisableConstraint() error {
	if err := f.acts(); err != nil {
		return err
	}
	c := &f.clock
	if !c.constrained {
		return fmt.Errorf("%w: this federate is not constrained", ErrState)
	}
	c.constrained, c.constrains = false, false
	f.deliver(Never, ByReceipt)
	f.x.unsettled = true
	f.x.settle()
	return nil
}

// timed is asked by services that ask for a time.
func (f *Federate) timed() error {
	if err := f.acts(); err != nil {
		return err
	}
	if f.clock.asked != idle {
		return f.strike(fmt.Errorf("%w: this federate waits for a time that it has asked for",
			ErrState))
	}
	return nil
}

// Lookahead is how far before its messages this federate sends them.
func (f *Federate) Lookahead() Time { return f.clock.lookahead }

// SetLookahead changes that. Less takes effect as time goes by.
func (f *Federate) SetLookahead(t Time) error {
	if err := f.acts(); err != nil {
		return err
	}
	c := &f.clock
	switch {
	case !c.regulates:
		return fmt.Errorf("%w: this federate does not regulate", ErrState)
	case t < 0 || t > MaxTime:
		return fmt.Errorf("%w: a look-ahead of %d", ErrTime, t)
	}
	c.floor = c.bound(f.x.others(f))
	c.lookahead = t
	f.x.unsettled = true
	f.x.settle()
	return nil
}

// Now is this federate's time.
func (f *Federate) Now() Time { return f.clock.now }

// Limit is the greatest time up to which nobody else can send anything by time any more, known as
// GALT: Never if nobody else regulates.
func (f *Federate) Limit() Time { return f.x.others(f) }

func (x *Execution) others(f *Federate) Time {
	b := x.bounds()
	return b.but(f.id)
}

// AdvanceTo asks for a time: all messages up to it come first, and none of it after.
func (f *Federate) AdvanceTo(t Time) error { return f.ask(advance, t) }

// AdvanceToAvailable asks for a time of which more messages may come.
func (f *Federate) AdvanceToAvailable(t Time) error { return f.ask(available, t) }

// AdvanceToNext asks for the time of the next message, if that is no later than t: all messages
// of that time come first.
func (f *Federate) AdvanceToNext(t Time) error { return f.ask(next, t) }

// AdvanceToNextAvailable is the same, and more of that time may come.
func (f *Federate) AdvanceToNextAvailable(t Time) error { return f.ask(nextAvail, t) }

func (f *Federate) ask(what request, t Time) error {
	if err := f.timed(); err != nil {
		return err
	}
	if t < f.clock.now || t > MaxTime {
		return f.strike(fmt.Errorf("%w: %d, and the time is %d; at most %d", ErrTime, t,
			f.clock.now, MaxTime))
	}
	f.clock.asked, f.clock.at = what, t
	f.x.unsettled = true
	f.x.settle()
	return nil
}

// Flush asks for all that waits, whatever others may still send, and is granted the least of t,
// of what nobody can undercut, and of the times of what came. It is for federates that compute on
// guesses, and take them back.
func (f *Federate) Flush(t Time) error {
	if err := f.timed(); err != nil {
		return err
	}
	c := &f.clock
	if t < c.now || t > MaxTime {
		return f.strike(fmt.Errorf("%w: %d, and the time is %d; at most %d", ErrTime, t, c.now,
			MaxTime))
	}
	if c.constrained {
		t = min(t, f.x.others(f), c.head())
	}
	f.deliver(Never, ByTime)
	f.grant(max(c.now, t), false)
	f.x.unsettled = true
	f.x.settle()
	return nil
}

// stamp gives a message its time, and a number by which it can be retracted.
func (f *Federate) stamp(m *message, how Sending) error {
	if !how.Stamped {
		return nil
	}
	if how.Time < 0 || how.Time > 2*MaxTime {
		return f.strike(fmt.Errorf("%w: a time stamp of %d", ErrTime, how.Time))
	}
	m.stamped, m.time = true, how.Time
	c := &f.clock
	if !c.regulates || c.asked == toRegulate {
		return nil // it is delivered as it comes
	}
	if least := c.sendable(); how.Time < least {
		return f.strike(fmt.Errorf("%w: a message of %d, and this federate has promised none "+
			"before %d", ErrTime, how.Time, least))
	}
	f.x.sequence++
	m.number = Retraction(f.x.sequence)
	return nil
}

// sendable is the earliest time that a federate may stamp.
func (c *clock) sendable() Time {
	switch c.asked {
	case next, nextAvail:
		return c.after(c.at, c.asked == next)
	}
	return c.bound(Never)
}

// order is what comes first of one time: by the sender's number, then as it was sent.
func (m *message) order() uint64 {
	return uint64(m.from)<<40 | uint64(m.number)&(1<<40-1)
}

// queue has a message wait for a federate's time.
func (f *Federate) queue(e entry) {
	e.message.refs++
	f.bytes += e.size()
	f.clock.counts++
	f.clock.queue = f.clock.queue.Push(heap.Item[Time, entry]{Key: e.message.time,
		Order: e.message.order(), Value: e})
	if f.clock.asked == next || f.clock.asked == nextAvail {
		f.x.unsettled = true
	}
	if f.bytes > f.x.opt.Queue || len(f.clock.queue) > f.x.opt.Waiting {
		f.x.lose(f, "it takes nothing: too much waits for it")
	}
}

// deliver has all that waits up to a time be told, in order.
func (f *Federate) deliver(to Time, as Order) {
	c := &f.clock
	for len(c.queue) > 0 && c.queue[0].Key <= to {
		var it heap.Item[Time, entry]
		it, c.queue = c.queue.Pop()
		e := it.Value
		f.bytes -= e.size()
		e.order = as
		if !e.message.retracted {
			f.push(e)
		}
		f.x.messages.release(e.message)
	}
}

// grant tells a federate its time.
func (f *Federate) grant(t Time, closed bool) {
	c := &f.clock
	kind := Granted
	switch c.asked {
	case toRegulate:
		kind = Regulating
	case toConstrain:
		kind, c.constrained = Constrained, true
	}
	if t > c.now || closed {
		c.closed = closed
	}
	c.now, c.asked = t, idle
	f.awaited, f.announced = 0, false
	f.push(entry{kind: kind, time: t})
	f.x.keepSent(f, c.bound(Never))
}

// settle grants all that can be granted.
func (x *Execution) settle() {
	x.bury()
	if x.settling || !x.unsettled || x.saving.stops() {
		return
	}
	x.settling = true
	for x.unsettled {
		x.unsettled = false
		x.bury()
		b := x.bounds()
		x.round = append(x.round[:0], x.federates...) // who is lost meanwhile is taken out
		for _, f := range x.round {
			if !f.left && f.clock.asked != idle && x.grantable(f, b.but(f.id)) {
				x.unsettled = true
			}
		}
	}
	x.settling = false
	x.beginSave()
}

// grantable grants what a federate has asked for if the others' bound allows it.
func (x *Execution) grantable(f *Federate, limit Time) bool {
	c := &f.clock
	t := c.at
	open := c.asked == available || c.asked == nextAvail || c.asked == toRegulate ||
		c.asked == toConstrain
	if c.asked == next || c.asked == nextAvail {
		t = min(t, max(c.now, c.head()))
	}
	if c.constrains && (t > limit || t == limit && !open || x.saving.holds(t)) {
		return false
	}
	if c.constrained {
		f.deliver(t, ByTime)
	}
	f.grant(t, !open)
	return true
}

// Retract takes a message back that was sent by time and of a time that this federate could still
// send. Where it was delivered the federate is told; elsewhere it never comes.
func (f *Federate) Retract(number Retraction) error {
	if err := f.acts(); err != nil {
		return err
	}
	c := &f.clock
	i := slices.IndexFunc(c.sent, func(m *message) bool { return m.number == number })
	if number == 0 || i < 0 || c.sent[i].time < c.sendable() {
		return fmt.Errorf("%w: message %d cannot be retracted: it is too late, or not this "+
			"federate's", ErrTime, number)
	}
	m := c.sent[i]
	c.sent = slices.Delete(c.sent, i, i+1)
	m.retracted = true
	for _, id := range m.told {
		if g := f.x.federate(id); g != nil {
			g.push(entry{kind: Retracted, from: f.id, number: number})
		}
	}
	if o := f.x.byID[m.object]; o != nil && o.dying == m {
		o.dying = nil
		for _, g := range f.x.federates {
			f.x.evaluate(g, o)
		}
	}
	f.x.messages.release(m)
	f.x.unsettled = true
	f.x.settle()
	return nil
}

// sent remembers a message as long as it can be retracted.
func (f *Federate) sent(m *message) Retraction {
	if m.number == 0 {
		return 0
	}
	m.refs++
	f.clock.sent = append(f.clock.sent, m)
	return m.number
}

// keepSent forgets messages that cannot be retracted any more.
func (x *Execution) keepSent(f *Federate, bound Time) {
	c := &f.clock
	kept := c.sent[:0]
	for _, m := range c.sent {
		if m.time >= bound {
			kept = append(kept, m)
			continue
		}
		if o := x.byID[m.object]; o != nil && o.dying == m {
			x.drop(o)
		}
		x.messages.release(m)
	}
	clear(c.sent[len(kept):])
	c.sent = kept
}
