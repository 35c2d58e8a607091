package lab

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/link"
)

// What workers of one machine wait for.
const (
	// ChangeTime passes between changing to a kind of traffic and measuring it.
	ChangeTime = 250 * time.Millisecond
	// JoinTime is how long clients may take to connect.
	JoinTime = 20 * time.Second
	// Nap is the shortest time worth sleeping for.
	Nap = 500 * time.Microsecond
)

// A Window is a stretch of time in which a worker measures. The zero value is none.
type Window struct {
	from, until time.Duration
	Active      bool
}

// Set asks for a window.
func (w *Window) Set(from, length time.Duration) { *w = Window{from: from, until: from + length} }

// Opens says, once, that the window begins.
func (w *Window) Opens(now time.Duration) bool {
	if w.Active || w.until == 0 || now < w.from {
		return false
	}
	w.Active = true
	return true
}

// Closes says, once, that the window is over.
func (w *Window) Closes(now time.Duration) bool {
	if !w.Active || now < w.until {
		return false
	}
	*w = Window{}
	return true
}

// Length is how long the window is.
func (w *Window) Length() time.Duration { return w.until - w.from }

// A Joining is the time until all clients have connected, and a moment longer.
type Joining struct {
	Who        string
	Calm, Most time.Duration // what passes afterwards, and how long it may take
	calm       time.Duration // when that is over
	answered   bool
}

// Done says, once, that everyone is there. It is an error if that takes too long.
func (j *Joining) Done(now time.Duration, joined func() bool) (bool, error) {
	switch {
	case j.answered:
	case j.calm == 0 && joined():
		j.calm = now + j.Calm
	case j.calm == 0 && now > j.Most:
		return false,
			fmt.Errorf("not all %s could connect: this machine is too busy, take fewer %[1]s",
				j.Who)
	case j.calm != 0 && now >= j.calm:
		j.answered = true
		return true, nil
	}
	return false, nil
}

// Usage is what a process has used, up to a moment or between two.
type Usage struct {
	CPU    time.Duration // user and system
	Allocs uint64
}

// Used is what this process has used so far.
func Used() Usage { return Usage{CPU: ProcessTime(), Allocs: Mallocs()} }

// Mallocs is how many allocations this process has made.
func Mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// Account is an error if connections do not account for every byte that their link has sent.
func Account(booked conn.Ledger, sent link.Counters) error {
	if booked.Total() != sent.SentBytes {
		return fmt.Errorf("the connections account for %d bytes, and the link has sent %d",
			booked.Total(), sent.SentBytes)
	}
	return nil
}

// Allocations counts what f allocates, the least of so many runs, since the rest of the program may
// allocate meanwhile.
func Allocations(times int, f func()) uint64 {
	least := uint64(math.MaxUint64)
	for range times {
		before := Mallocs()
		f()
		least = min(least, Mallocs()-before)
	}
	return least
}

// A Timer keeps how long something took at its quickest, as a machine is never alone. It takes the
// thread's own time, so the caller keeps to one thread.
type Timer struct {
	Best  time.Duration
	timed bool
}

// Time does it once more.
func (t *Timer) Time(f func()) {
	start := ThreadTime()
	f()
	t.Took(ThreadTime() - start)
}

// Took is for what was timed otherwise.
func (t *Timer) Took(d time.Duration) {
	if !t.timed || d < t.Best {
		t.Best, t.timed = d, true
	}
}

// Profile writes a CPU profile to a file until it is stopped. Without a name it does nothing.
func Profile(name string) (stop func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("profile: %w", err)
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}

// descriptorsEach is how many file descriptors a client needs: a socket and what wakes its owner;
// descriptorsRest is what a process needs besides.
const (
	descriptorsEach = 2
	descriptorsRest = 64
)

// CheckDescriptors is an error if this process may not have as many sockets as clients need.
func CheckDescriptors(clients int) error {
	need := uint64(clients*descriptorsEach + descriptorsRest)
	if have := mostDescriptors(); have < need {
		return fmt.Errorf(
			"%d clients, each with a socket of its own, need %d open files, and a process may "+
				"have %d: "+
				"raise the limit with 'ulimit -n %d', or take fewer clients", clients, need, have,
			need)
	}
	return nil
}
