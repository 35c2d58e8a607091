package drive_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/topology/drive"
)

const ms = time.Millisecond

var errEnough = errors.New("enough")

// A log is what a loop called, and when.
type log struct {
	clock virtual
	ticks []time.Duration
	polls []time.Duration
	lost  time.Duration
	most  int
	each  func(n int) // during the nth tick
}

func (l *log) tick(now time.Duration) error {
	l.ticks = append(l.ticks, now)
	if l.each != nil {
		l.each(len(l.ticks))
	}
	if len(l.ticks) == l.most {
		return errEnough
	}
	return nil
}

func (l *log) poll(now time.Duration) error {
	l.polls = append(l.polls, now)
	return nil
}

func (l *log) loop() drive.Loop {
	return drive.Loop{
		Step: 20 * ms, Tick: l.tick, Lost: func(d time.Duration) { l.lost += d }, Clock: &l.clock}
}

func (l *log) run(t *testing.T, o drive.Loop) {
	t.Helper()
	if err := o.Run(context.Background()); !errors.Is(err, errEnough) { // which never ends
		t.Fatalf("it ended with %v", err)
	}
}

func TestTicksComeAtEvenTimesWithPollsBetween(t *testing.T) {
	l := &log{most: 3}
	o := l.loop()
	o.Poll = l.poll
	l.run(t, o)
	if want := []time.Duration{0, 20 * ms, 40 * ms}; !slices.Equal(l.ticks, want) {
		t.Errorf("ticks at %v, want %v", l.ticks, want)
	}
	if want := []time.Duration{
		5 * ms, 10 * ms, 15 * ms, 25 * ms, 30 * ms, 35 * ms}; !slices.Equal(l.polls, want) {
		t.Errorf("polls at %v, want %v", l.polls, want)
	}
}

// Where more comes than is good to let wait, polls are nearer to each other, and ticks are where
// they were.
func TestHurriedPolls(t *testing.T) {
	l := &log{most: 2}
	o := l.loop()
	o.Poll = l.poll
	o.Hurry = func() time.Duration {
		if len(l.polls) < 3 {
			return 2 * ms
		}
		return 0
	}
	l.run(t, o)
	if want := []time.Duration{0, 20 * ms}; !slices.Equal(l.ticks, want) {
		t.Errorf("ticks at %v, want %v", l.ticks, want)
	}
	if want := []time.Duration{2 * ms, 4 * ms, 6 * ms, 10 * ms, 15 * ms}; !slices.Equal(
		l.polls, want) {
		t.Errorf("polls at %v, want %v", l.polls, want)
	}
}

// A tick that takes long is hurried after, so that the times stay even; but not after a second.
func TestWhatCannotBeCaughtUpWithIsGivenUp(t *testing.T) {
	l := &log{most: 8}
	l.each = func(n int) {
		switch n {
		case 2:
			l.clock.now += 70 * ms // late by 50
		case 6:
			l.clock.now += time.Second
		}
	}
	l.run(t, l.loop())
	want := []time.Duration{0, 20 * ms, 90 * ms, 90 * ms, 90 * ms, 100 * ms, 1100 * ms, 1120 * ms}
	if !slices.Equal(l.ticks, want) || l.lost != 980*ms {
		t.Errorf("ticks at %v with %v given up, want %v", l.ticks, l.lost, want)
	}
}

func TestPaceChangesAndStandsStill(t *testing.T) {
	l := &log{most: 7}
	o := l.loop()
	calls := &drive.Calls{}
	o.Calls = calls
	pace := 10 * ms
	o.Pace = func() time.Duration { return pace }
	var wait sync.WaitGroup
	l.each = func(n int) {
		switch n {
		case 2:
			pace = 40 * ms
		case 4:
			pace = 0
			wait.Go(func() {
				if err := calls.Do(t.Context(), func() { pace = 5 * ms }); err != nil {
					t.Error(err)
				}
			})
		}
	}
	l.clock.still = true
	l.run(t, o)
	wait.Wait()
	want := []time.Duration{0, 10 * ms, 50 * ms, 90 * ms, 95 * ms, 100 * ms, 105 * ms}
	if !slices.Equal(l.ticks, want) {
		t.Errorf("ticks at %v, want %v", l.ticks, want)
	}
}

func TestDeadlinesInPlaceOfAStep(t *testing.T) {
	l := &log{most: 4}
	o := l.loop()
	o.Step = 0
	o.Due = func() time.Duration { return time.Duration(len(l.ticks)*len(l.ticks)) * time.Second }
	l.run(t, o)
	if want := []time.Duration{
		0, time.Second, 4 * time.Second, 9 * time.Second}; !slices.Equal(l.ticks, want) {
		t.Errorf("ticks at %v, want %v", l.ticks, want)
	}
}

func TestTheEndIsOrderly(t *testing.T) {
	why := errors.New("maintenance")
	for name, c := range map[string]struct {
		done  int // after so many ticks more; 0 for never
		ticks int
	}{
		"all have heard": {2, 5},
		// grace is 100 ms: the ticks from 60 to 160 ms, and the one that finds it over
		"someone has not, until": {0, 3 + 7},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			l := &log{}
			l.each = func(n int) {
				if n == 3 {
					cancel(why)
				}
			}
			o := l.loop()
			var told []error
			o.Stop = func(cause error) { told = append(told, cause) }
			o.Done = func() bool { return c.done > 0 && len(l.ticks) >= 3+c.done }
			o.Grace = 100 * ms
			if err := o.Run(ctx); err != nil {
				t.Fatal(err)
			}
			if len(told) != 1 || told[0] != why || len(l.ticks) != c.ticks {
				t.Errorf("told %v, %d ticks, want %d", told, len(l.ticks), c.ticks)
			}
		})
	}
	t.Run("at once", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		l := &log{}
		if err := l.loop().Run(ctx); err != why || len(l.ticks) != 0 {
			t.Errorf("%v after %d ticks", err, len(l.ticks))
		}
	})
}

func TestCallsAreDoneByWhoDrives(t *testing.T) {
	calls := &drive.Calls{}
	l := &log{}
	n := 0 // no lock: the race detector looks on
	l.each = func(int) { n++ }
	o := l.loop()
	o.Calls = calls
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for range 50 {
				if err := calls.Do(t.Context(), func() { n++ }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Go(func() { asking.Wait(); cancel() })
	if err := o.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	wait.Wait()
	if n != 200+len(l.ticks) {
		t.Errorf("counted to %d in %d ticks", n, len(l.ticks))
	}
	if err := calls.Do(t.Context(), func() { t.Error("called after the end") }); !errors.Is(err,
		drive.ErrStopped) {
		t.Errorf("asked after the end: %v", err)
	}
}

func TestCallsThatAreNeverDone(t *testing.T) {
	calls := &drive.Calls{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := calls.Do(ctx, func() {}); !errors.Is(err, context.Canceled) {
		t.Errorf("who does not wait: %v", err)
	}
	var wait sync.WaitGroup
	wait.Go(func() { calls.Close() })
	if err := calls.Do(t.Context(), func() {}); !errors.Is(err, drive.ErrStopped) {
		t.Errorf("who waits until the end: %v", err)
	}
	wait.Wait()
	calls.Close()
}

func TestReason(t *testing.T) {
	for _, c := range []struct {
		cause error
		want  string
	}{{nil, ""}, {context.Canceled, ""}, {context.DeadlineExceeded, ""}, {errEnough, "enough"}} {
		if got := drive.Reason(c.cause); got != c.want {
			t.Errorf("%v: %q", c.cause, got)
		}
	}
}

// A loop at work allocates nothing.
func BenchmarkLoop(b *testing.B) {
	n := 0
	o := drive.Loop{
		Step: ms, Clock: &quick{alarm: make(chan time.Time, 1)}, Poll: func(time.Duration) error {
			return nil
		},
		Tick: func(time.Duration) error {
			if n++; n > b.N {
				return errEnough
			}
			return nil
		}}
	b.ReportAllocs()
	n = 0
	if err := o.Run(context.Background()); !errors.Is(err, errEnough) {
		b.Fatal(err)
	}
}

// quick is a virtual clock that allocates nothing.
type quick struct {
	now   time.Duration
	alarm chan time.Time
}

func (q *quick) Now() time.Duration { return q.now }
func (q *quick) Rest()              {}

func (q *quick) Alarm(d time.Duration) <-chan time.Time {
	q.now += d
	select {
	case q.alarm <- time.Time{}:
	default:
	}
	return q.alarm
}
