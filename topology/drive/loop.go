package drive

import (
	"context"
	"errors"
	"math"
	"time"
)

// Stall is how far a loop may be behind before it gives the time up rather than hurry after it.
const Stall = 250 * time.Millisecond

// A Loop calls what is to be done as time goes by. Tick is needed, and one of Step, Pace and Due,
// which say when; the rest is optional.
type Loop struct {
	// Tick is called when its time has come. The time that it is given runs forward, and is the
	// clock's. Its error ends Run, which returns it.
	Tick func(now time.Duration) error
	// Step is the time between two ticks.
	Step time.Duration
	// Pace is asked for Step instead, before each wait, where that may change. Zero means that time
	// stands still. When it changes, the next tick is due after one step of the new length.
	Pace func() time.Duration
	// Due says when the next tick is due, for machines that have deadlines of their own in place of
	// a fixed step. They have nothing to catch up with, so nothing is ever given up.
	Due func() time.Duration

	// Poll is called Polls times in a step, at even distances before the next tick, and after
	// something was asked by Calls. Default for Polls: 4.
	Poll  func(now time.Duration) error
	Polls int

	// Hurry is asked after each tick and poll: if it is above zero, the next poll is no later than
	// that. It is for those who find that more comes than is good to let wait.
	Hurry func() time.Duration

	// Next is told after each tick when the one after it is due.
	Next func(due time.Duration)
	// Lost is told how much time was given up.
	Lost func(d time.Duration)

	// Stop is called once, when the context has ended, with the cause of it: to tell people. The
	// loop goes on until Done says so or Grace has passed, and then Run returns nil. Without Stop,
	// Run returns the cause at once.
	Stop  func(cause error)
	Done  func() bool
	Grace time.Duration

	// Calls are what other goroutines ask for. They are closed when Run returns.
	Calls *Calls
	// Clock is where time comes from. Default: the machine's, beginning with Run.
	Clock Clock
}

// Run drives until a function returns an error or the context ends.
func (l Loop) Run(ctx context.Context) error {
	if l.Calls == nil {
		l.Calls = &Calls{}
	}
	defer l.Calls.Close()
	if l.Clock == nil {
		l.Clock = Since(time.Now())
	}
	defer l.Clock.Rest()
	r := run{Loop: l, next: l.Clock.Now(), step: l.Step}
	if l.Pace != nil {
		r.step = l.Pace()
	}
	return r.loop(ctx)
}

// A run is a Loop under way.
type run struct {
	Loop
	next time.Duration // when the next tick is due
	step time.Duration // 0 while time stands still

	ending bool          // the context has ended
	over   time.Duration // and this is when to end at the latest
}

func (r *run) loop(ctx context.Context) error {
	alarm, done := r.Clock.Alarm(0), ctx.Done()
	for {
		asked := false
		switch wait(done, r.Calls.wake(), alarm) {
		case ended:
			r.Calls.Run() // what was asked before the end is done before it
			if r.Stop == nil {
				return context.Cause(ctx)
			}
			r.Stop(context.Cause(ctx))
			done, r.ending, r.over = nil, true, r.Clock.Now()+r.Grace
		case woken:
			asked = true
		}
		r.Calls.Run()
		r.pace()
		now := r.Clock.Now()
		if err := r.turn(now, asked); err != nil {
			return err
		}
		if r.ending && (now > r.over || r.Done != nil && r.Done()) {
			return nil
		}
		alarm = r.Clock.Alarm(r.rest())
	}
}

// What a loop waits for.
const (
	alarmed = iota
	woken
	ended
)

// wait waits for the first of them. The end comes before all else, so that under a virtual clock,
// whose alarms never wait, a run repeats.
func wait(done, wake <-chan struct{}, alarm <-chan time.Time) int {
	select {
	case <-done:
		return ended
	default:
	}
	select {
	case <-done:
		return ended
	case <-wake:
		return woken
	case <-alarm:
		return alarmed
	}
}

// turn does what is due now.
func (r *run) turn(now time.Duration, asked bool) error {
	if r.still() || now < r.next {
		if r.Poll != nil && (asked || !r.still()) {
			return r.Poll(now)
		}
		return nil
	}
	if err := r.Tick(now); err != nil {
		return err
	}
	r.advance()
	if r.Next != nil {
		r.Next(r.next)
	}
	return nil
}

// advance sets when the next tick is due, and gives up what cannot be caught up with.
func (r *run) advance() {
	if r.Due != nil {
		r.next = r.Due()
		return
	}
	if r.pace() {
		return // the tick has changed it
	}
	r.next += r.step
	if late := r.Clock.Now() - r.next; late > Stall {
		r.next += late
		if r.Lost != nil {
			r.Lost(late)
		}
	}
}

// pace asks how fast time goes now, and says whether that has changed.
func (r *run) pace() bool {
	if r.Pace == nil {
		return false
	}
	step := r.Pace()
	if step == r.step {
		return false
	}
	r.step, r.next = step, r.Clock.Now()+step
	return true
}

// still says that time stands still.
func (r *run) still() bool { return r.Due == nil && r.step <= 0 }

// never is how long to wait where only a call or the end can bring anything.
const never = time.Duration(math.MaxInt64)

// rest is how long to wait: polls are spread evenly before the next tick.
func (r *run) rest() time.Duration {
	if r.still() {
		if r.ending {
			return max(r.over-r.Clock.Now(), 0) + 1
		}
		return never
	}
	if r.Due != nil {
		r.next = r.Due() // what was asked may have changed it
	}
	rest := max(r.next-r.Clock.Now(), 0)
	if r.Poll == nil || r.step <= 0 {
		return rest
	}
	polls := r.Polls
	if polls <= 0 {
		polls = 4
	}
	wait := untilPoll(rest, r.step/time.Duration(polls))
	if r.Hurry != nil {
		if soon := r.Hurry(); soon > 0 {
			wait = min(wait, soon)
		}
	}
	return wait
}

// untilPoll is how long to sleep until the next poll, if the next tick is so far away.
func untilPoll(rest, poll time.Duration) time.Duration {
	if rest <= 0 || poll <= 0 {
		return rest
	}
	d := rest % poll
	if d < poll/4 { // it would be over before it began
		d += poll
	}
	return min(d, rest)
}

// Reason is what to tell people of why a context ended: the text of its cause, or nothing if it
// was merely cancelled or its time was up.
func Reason(cause error) string {
	switch {
	case cause == nil, errors.Is(cause, context.Canceled),
		errors.Is(cause, context.DeadlineExceeded):
		return ""
	}
	return cause.Error()
}
