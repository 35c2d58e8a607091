package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
)

// A Job is a piece of an experiment that needs no other: a world of its own.
type Job struct {
	What string
	Work float64 // about how long it takes, in any unit
	Do   func(ctx context.Context) error
}

// WorkOf adds up how long jobs take.
func WorkOf(jobs []Job) (sum float64) {
	for _, j := range jobs {
		sum += j.Work
	}
	return sum
}

// Spread does jobs on all cores, the longest first. The first that fails ends it.
func Spread(ctx context.Context, jobs []Job, p Progress) error {
	jobs = slices.Clone(jobs)
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(b.Work, a.Work) })
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all, done := WorkOf(jobs), 0.0
	errs := make([]error, len(jobs))
	waiting := make(chan int, len(jobs))
	for i := range jobs {
		waiting <- i
	}
	close(waiting)
	var lock sync.Mutex
	var cores sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(jobs)) {
		cores.Go(func() {
			for i := range waiting {
				if ctx.Err() != nil {
					return
				}
				if err := jobs[i].Do(ctx); err != nil {
					errs[i] = fmt.Errorf("%s: %w", jobs[i].What, err)
					cancel()
				}
				lock.Lock()
				done += jobs[i].Work
				p.Tell(done/all, jobs[i].What)
				lock.Unlock()
			}
		})
	}
	cores.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err // rather than that others were stopped because of it
		}
	}
	return ctx.Err()
}
