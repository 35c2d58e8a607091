//go:build !js

package seamlesslab

import (
	"context"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/seamless"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// watched is a cluster as a server reaches it, which measures how long the journal takes and when
// zones become durable again, and can be cut off. Journals are never trimmed, as they are read at
// the end.
type watched struct {
	Cluster

	mu    sync.Mutex
	until time.Time // it is cut off
	acks  []float64
	last  map[zone.ID]*lastAck
	steps []Step
}

// lastAck is when a zone's ticks became durable here at last.
type lastAck struct {
	epoch uint64
	at    time.Time
}

// A Step says that ticks of a zone became durable for the first time, in an epoch or after a
// while.
type Step struct {
	Zone  uint32
	Epoch uint64
	At    time.Time
	Gap   time.Duration // since those before, 0 for the first
}

// longAgo is after how long it is said that a zone is durable again.
const longAgo = 250 * time.Millisecond

func watch(c Cluster) *watched { return &watched{Cluster: c, last: map[zone.ID]*lastAck{}} }

// Journal is of seamless.Backing, and so are the other two.
func (w *watched) Journal() seamless.Journal { return watchedJournal{w.Cluster.Journal(), w} }
func (w *watched) Map() seamless.Map         { return watchedMap{w.Cluster.Map(), w} }
func (w *watched) Store() seamless.Store     { return watchedStore{w.Cluster.Store(), w} }

// cut separates the server from the cluster for a while: what it asks for waits.
func (w *watched) cut(d time.Duration) {
	w.mu.Lock()
	w.until = time.Now().Add(d)
	w.mu.Unlock()
}

// pass waits until the cluster is reached.
func (w *watched) pass(ctx context.Context) error {
	w.mu.Lock()
	d := time.Until(w.until)
	w.mu.Unlock()
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return seamless.ErrDoubt
	}
}

// took gives what was measured since it was asked last.
func (w *watched) took() (acks []float64, steps []Step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	acks, steps = w.acks, w.steps
	w.acks, w.steps = nil, nil
	return acks, steps
}

type watchedJournal struct {
	seamless.Journal
	w *watched
}

// Append is of seamless.Journal.
func (j watchedJournal) Append(ctx context.Context, batch []seamless.Append) []seamless.Appended {
	if err := j.w.pass(ctx); err != nil {
		out := make([]seamless.Appended, len(batch))
		for i := range out {
			out[i].Err = err
		}
		return out
	}
	began := time.Now()
	out := j.Journal.Append(ctx, batch)
	now := time.Now()
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	j.w.acks = append(j.w.acks, lab.Millis(now.Sub(began)))
	return out
}

// Trim is of seamless.Journal.
func (watchedJournal) Trim(context.Context, string, uint64) error { return nil }

// Last is of seamless.Journal.
func (j watchedJournal) Last(ctx context.Context, zone string) (seamless.Record, error) {
	if err := j.w.pass(ctx); err != nil {
		return seamless.Record{}, err
	}
	return j.Journal.Last(ctx, zone)
}

// Read is of seamless.Journal.
func (j watchedJournal) Read(ctx context.Context, zone string, after uint64, size int,
) ([]seamless.Record, error) {
	if err := j.w.pass(ctx); err != nil {
		return nil, err
	}
	return j.Journal.Read(ctx, zone, after, size)
}

// step notes that a zone's ticks are durable.
func (w *watched) step(z zone.ID, epoch uint64, _ world.Tick) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.last[z]
	switch {
	case l == nil || l.epoch != epoch:
		w.steps = append(w.steps, Step{uint32(z), epoch, now, 0})
	case now.Sub(l.at) > longAgo:
		w.steps = append(w.steps, Step{uint32(z), epoch, now, now.Sub(l.at)})
	}
	w.last[z] = &lastAck{epoch, now}
}

type watchedMap struct {
	seamless.Map
	w *watched
}

// Get is of seamless.Map.
func (m watchedMap) Get(ctx context.Context, key string) (seamless.Entry, error) {
	if err := m.w.pass(ctx); err != nil {
		return seamless.Entry{}, err
	}
	return m.Map.Get(ctx, key)
}

// Set is of seamless.Map.
func (m watchedMap) Set(ctx context.Context, key string, value []byte, expect uint64,
) (uint64, error) {
	if err := m.w.pass(ctx); err != nil {
		return 0, err
	}
	return m.Map.Set(ctx, key, value, expect)
}

// List is of seamless.Map.
func (m watchedMap) List(ctx context.Context, prefix string) ([]seamless.Entry, error) {
	if err := m.w.pass(ctx); err != nil {
		return nil, err
	}
	return m.Map.List(ctx, prefix)
}

type watchedStore struct {
	seamless.Store
	w *watched
}

// Put is of seamless.Store.
func (s watchedStore) Put(ctx context.Context, key string, value []byte) error {
	if err := s.w.pass(ctx); err != nil {
		return err
	}
	return s.Store.Put(ctx, key, value)
}

// Get is of seamless.Store.
func (s watchedStore) Get(ctx context.Context, key string) ([]byte, error) {
	if err := s.w.pass(ctx); err != nil {
		return nil, err
	}
	return s.Store.Get(ctx, key)
}

// cutLink is a link that carries nothing for a while.
type cutLink struct {
	link.Link
	mu    sync.Mutex
	until time.Time
}

func (l *cutLink) cut(d time.Duration) {
	l.mu.Lock()
	l.until = time.Now().Add(d)
	l.mu.Unlock()
}

func (l *cutLink) isCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Now().Before(l.until)
}

// Receive is of link.Link. While it is cut it takes what has come, and gives nothing.
func (l *cutLink) Receive(batch []link.Datagram) (int, error) {
	n, err := l.Link.Receive(batch)
	if !l.isCut() {
		return n, err
	}
	for err == nil && n == len(batch) {
		n, err = l.Link.Receive(batch)
	}
	return 0, err
}

// Send is of link.Link.
func (l *cutLink) Send(batch []link.Datagram) (int, error) {
	if l.isCut() {
		return len(batch), nil
	}
	return l.Link.Send(batch)
}
