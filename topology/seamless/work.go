package seamless

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/zone"
)

// worker does operations on a cluster's map, journal and store beside the loop, each within a time.
type worker struct {
	cluster Backing
	wake    func()
	ctx     context.Context
	cancel  context.CancelFunc
	busy    sync.WaitGroup

	mu      sync.Mutex
	done    []result
	spare   []result
	appends []task // that wait for the next batch
	flying  int    // batches
}

const (
	// What belongs to the map is of no use late; what writes a zone's state is better late than in
	// doubt.
	quickTime = 2 * time.Second
	slowTime  = 10 * time.Second
	// maxBatches is how many batches of appends may be under way. As a rule there is one, with what
	// all zones of the server have computed since the last.
	maxBatches = 4
)

func newWorker(c Backing, wake func()) *worker {
	w := &worker{cluster: c, wake: wake}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// stop gives up what is under way, and waits until it has ended.
func (w *worker) stop() {
	w.cancel()
	w.busy.Wait()
}

// do begins what is to be done.
func (w *worker) do(_ time.Duration, list []task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range list {
		if t.Kind == zone.Append {
			w.appends = append(w.appends, t)
			continue
		}
		w.busy.Go(func() { w.finish(w.one(&t)) })
	}
	w.fly()
}

// fly begins a batch of appends, if there are any and not too many are under way. The lock is held.
func (w *worker) fly() {
	if len(w.appends) == 0 || w.flying >= maxBatches || w.ctx.Err() != nil {
		return
	}
	batch := w.appends
	w.appends = nil
	w.flying++
	w.busy.Go(func() {
		results := w.append(batch)
		w.mu.Lock()
		w.flying--
		w.fly()
		w.mu.Unlock()
		w.finish(results...)
	})
}

// finish hands results over.
func (w *worker) finish(list ...result) {
	w.mu.Lock()
	w.done = append(w.done, list...)
	w.mu.Unlock()
	w.wake()
}

// results gives what has come since it was asked last. It is good until it is asked again.
func (w *worker) results(time.Duration) []result {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.spare)
	w.done, w.spare = w.spare[:0], w.done
	return w.spare
}

func journalOf(id zone.ID) string { return strconv.FormatUint(uint64(id), 10) }

func outcome(err error) zone.Outcome {
	switch {
	case err == nil:
		return zone.OK
	case errors.Is(err, ErrNone):
		return zone.None
	case errors.Is(err, ErrStale):
		return zone.Stale
	case errors.Is(err, ErrAway):
		return zone.Away
	}
	return zone.Doubt
}

// append appends the records of several zones in one batch.
func (w *worker) append(list []task) []result {
	ctx, cancel := context.WithTimeout(w.ctx, slowTime)
	defer cancel()
	batch := make([]Append, len(list))
	for i := range list {
		t := &list[i]
		batch[i] = Append{Zone: journalOf(t.Zone), Expect: t.Expect, Data: t.Data}
	}
	results := make([]result, len(list))
	for i, a := range w.cluster.Journal().Append(ctx, batch) {
		results[i] = result{zone.Result{ID: list[i].ID, Outcome: outcome(a.Err),
			Sequence: a.Sequence}, list[i].own}
	}
	return results
}

// one does an operation.
func (w *worker) one(t *task) result {
	limit := quickTime
	switch t.Kind {
	case zone.Put, zone.Get, zone.Read:
		limit = slowTime
	}
	ctx, cancel := context.WithTimeout(w.ctx, limit)
	defer cancel()
	r := result{zone.Result{ID: t.ID}, t.own}
	var err error
	switch t.Kind {
	case zone.MapGet, zone.MapSet, zone.MapDelete, zone.MapList:
		err = w.onMap(ctx, &t.Op, &r.Result)
	case zone.Last, zone.Read, zone.Trim:
		err = w.onJournal(ctx, &t.Op, &r.Result)
	default:
		err = w.onStore(ctx, &t.Op, &r.Result)
	}
	r.Outcome = outcome(err)
	return r
}

func (w *worker) onMap(ctx context.Context, op *zone.Op, r *zone.Result) (err error) {
	m := w.cluster.Map()
	switch op.Kind {
	case zone.MapGet:
		var e Entry
		e, err = m.Get(ctx, op.Key)
		r.Data, r.Revision = e.Value, e.Revision
	case zone.MapSet:
		r.Revision, err = m.Set(ctx, op.Key, op.Data, op.Expect)
	case zone.MapDelete:
		err = m.Delete(ctx, op.Key, op.Expect)
	default:
		var list []Entry
		list, err = m.List(ctx, op.Key)
		for _, e := range list {
			r.Entries = append(r.Entries, zone.Entry(e))
		}
	}
	return err
}

func (w *worker) onJournal(ctx context.Context, op *zone.Op, r *zone.Result) (err error) {
	j, name := w.cluster.Journal(), journalOf(op.Zone)
	switch op.Kind {
	case zone.Last:
		var rec Record
		rec, err = j.Last(ctx, name)
		r.Data, r.Sequence = rec.Data, rec.Sequence
	case zone.Read:
		var list []Record
		list, err = j.Read(ctx, name, op.Expect, op.Size)
		for _, rec := range list {
			r.Records = append(r.Records, zone.Record(rec))
		}
	default:
		err = j.Trim(ctx, name, op.Expect)
	}
	return err
}

func (w *worker) onStore(ctx context.Context, op *zone.Op, r *zone.Result) (err error) {
	s := w.cluster.Store()
	switch op.Kind {
	case zone.Put:
		err = s.Put(ctx, op.Key, op.Data)
	case zone.Get:
		r.Data, err = s.Get(ctx, op.Key)
	case zone.Delete:
		err = s.Delete(ctx, op.Key)
	default:
		r.Keys, err = s.Keys(ctx, op.Key)
	}
	return err
}
