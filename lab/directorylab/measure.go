//go:build !js

package directorylab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/lab"
)

// A load is all that asks one directory.
type load struct {
	Options
	*subject
	servers []*server
	row     *Row
	took    samples // of registrations
	alive   samples
	asked   samples
	bytes   samples

	listened samples // delays of updates
	dropped  atomic.Int64
	failures failures
}

// samples are times that many goroutines measure.
type samples struct {
	mu   sync.Mutex
	list []time.Duration
}

func (s *samples) add(d time.Duration) {
	s.mu.Lock()
	s.list = append(s.list, d)
	s.mu.Unlock()
}

// failures are what went wrong, of which the first is told.
type failures struct {
	mu    sync.Mutex
	count int
	first error
}

func (f *failures) add(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count++; f.first == nil {
		f.first = err
	}
}

func measure(ctx context.Context, url string, o Options, p lab.Progress) (_ *Row, err error) {
	kind := "SQLite"
	if strings.HasPrefix(url, "postgres") {
		kind = "PostgreSQL"
	}
	p.Tell(0, kind+": starting")
	s, err := begin(ctx, url, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	l := &load{Options: o, subject: s, row: &Row{Database: kind}}
	defer l.close()
	if err := l.register(ctx, p.Within(0, 0.2)); err != nil {
		return nil, err
	}
	if err := l.work(ctx, p.Within(0.2, 0.6), kind); err != nil {
		return nil, err
	}
	l.verify()
	if err := l.flood(ctx, p.Within(0.8, 0.2), kind); err != nil {
		return nil, err
	}
	return l.row, ctx.Err()
}

// work has servers say that they are there, and lists be asked for and listened to.
func (l *load) work(ctx context.Context, p lab.Progress, kind string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	if err := l.listen(ctx, &all); err != nil {
		return err
	}
	l.keepAlive(ctx, &all)
	warm := 3 * time.Second
	begun := time.Now()
	go func() {
		for t := range ticks(ctx, time.Second) {
			p.Tell(float64(t.Sub(begun))/float64(l.Time+warm), kind+": lists")
		}
	}()
	if err := l.ask(ctx, warm, nil); err != nil {
		return err
	}
	before := l.usage()
	start := time.Now()
	if err := l.ask(ctx, l.Time, &l.asked); err != nil {
		return err
	}
	took := time.Since(start)
	after := l.usage()
	l.row.Memory = after.megabytes
	l.row.Core = float64(after.ran-before.ran) / float64(took)
	l.row.Waited = float64(after.waited-before.waited) / float64(took)
	l.row.Rate = float64(len(l.asked.list)) / took.Seconds()
	cancel()
	all.Wait()
	l.sum()
	return nil
}

// ticks gives the time, again and again, until the context ends.
func ticks(ctx context.Context, every time.Duration) <-chan time.Time {
	out := make(chan time.Time)
	go func() {
		defer close(out)
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-t.C:
				select {
				case out <- now:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return out
}

// sum puts together what was measured.
func (l *load) sum() {
	r := l.row
	r.Alive, r.AliveP99 = len(l.alive.list), part(l.alive.list, 0.99)
	q := l.asked.list
	r.Queries, r.QueryP50, r.QueryP99, r.QueryMax = len(q), part(q, 0.5), part(q, 0.99), part(q, 1)
	for _, d := range q { // in order, since part has sorted them
		if d > 20*time.Millisecond {
			break
		}
		r.Within++
	}
	r.Within /= float64(max(len(q), 1))
	for _, n := range l.bytes.list {
		r.Bytes += float64(n) / float64(len(l.bytes.list))
	}
	d := l.listened.list
	r.Updates, r.UpdateP50, r.UpdateP99, r.UpdateMax = len(d), part(d, 0.5), part(d, 0.99),
		part(d, 1)
	r.EndedEarly = int(l.dropped.Load())
}

// verify looks whether all that has registered is listed.
func (l *load) verify() {
	c, err := l.dial()
	if err == nil {
		defer c.Close()
		// By name, as that does not change while the pages are asked for.
		seen, after := map[string]bool{}, ""
		for {
			var p page
			if err = c.get("entries?limit=200&sort=name"+after, &p); err != nil {
				break
			}
			for _, e := range p.Entries {
				seen[e.ID] = true
			}
			if p.Next == "" {
				break
			}
			after = "&after=" + p.Next
		}
		if err == nil && len(seen) != len(l.servers) {
			err = fmt.Errorf("%d of %d servers are listed", len(seen), len(l.servers))
		}
	}
	l.row.Failed = l.failures.count
	if err = errors.Join(err, l.failures.first); err != nil {
		l.row.Wrong = err.Error()
	}
}

func (l *load) close() {
	for _, s := range l.servers {
		if s.conn != nil {
			_ = s.conn.Close() // it is done with
		}
	}
}

// games is how many games there are, and regions how many regions.
const (
	games   = 50
	regions = 8
)

func (l *load) random(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(l.Seed, stream)) }
