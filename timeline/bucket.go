package timeline

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// Bucket is the synchronization of MiMaze (Gautier and Diot, 1998). There is one world, a fixed delay behind the time, that hopes to have got everything by then. What comes
// later falls into the next bucket, if nothing newer of the same player is there, and what does not come is reckoned from what came before. Nothing is ever
// repaired, so mirrors come apart; Exact is false.
type Bucket struct {
	core
	o     BucketOptions
	width world.Tick
	w     *world.World
	newest
}

// BucketOptions say how long Bucket waits.
type BucketOptions struct {
	Options
	// Delay is that of the world: what players wait for what they do. Default: 100 ms, as in MiMaze.
	Delay time.Duration
	// Width is how many ticks share a bucket: one command of each player is executed in it. Default: 1. MiMaze had 40 ms.
	Width int
}

// NewBucket makes a timeline that goes on from a world. The world is copied.
func NewBucket(start *world.World, o BucketOptions) (*Bucket, error) {
	if o.Delay == 0 {
		o.Delay = 100 * time.Millisecond
	}
	if o.Width == 0 {
		o.Width = 1
	}
	if o.Delay < 0 || o.Delay > time.Minute || o.Width < 1 || o.Width > 600 {
		return nil, fmt.Errorf("timeline: a delay of %v and buckets of %d ticks; give 0 to a minute, and 1 to 600", o.Delay, o.Width)
	}
	if start == nil {
		return nil, errNoWorld
	}
	t := &Bucket{o: o, width: world.Tick(o.Width), newest: newNewest()}
	pending := o.Pending
	o.Options.Pending = nil // what falls into which bucket is for Submit to say
	if err := t.open(start, o.Options, newClock(start.Game()).ticks(o.Delay)+o.Width, o.Width+2, false); err != nil {
		return nil, err
	}
	t.w = start.Host().Clone()
	if err := t.afford(start, 1, "one world"); err != nil {
		return nil, err
	}
	for _, c := range pending {
		if c.Tick <= t.start {
			continue
		}
		if _, err := t.Submit(t.now, c); err != nil {
			return nil, fmt.Errorf("what another mirror had in its book: %w", err)
		}
	}
	return t, nil
}

// Stamp is the tick that is due next, and never one that was computed.
func (t *Bucket) Stamp(now time.Duration) world.Tick { return max(t.next(now), t.w.Tick()+1) }

// Next is when the world takes its next tick.
func (t *Bucket) Next() time.Duration { return t.time(t.w.Tick()+1) + t.o.Delay }

// bucket is the first tick of the bucket that a tick is in, in which its commands are executed.
func (t *Bucket) bucket(n world.Tick) world.Tick { return n - (n-1)%t.width }

// Submit puts a command into its bucket, or into the next that is not yet executed.
func (t *Bucket) Submit(_ time.Duration, c Command) (Fate, error) {
	if c.Kind == Promise {
		return OnTime, t.book.valid(&c)
	}
	at := t.bucket(c.Tick)
	late := at <= t.w.Tick()
	if late {
		if f, old := t.old(&c); old {
			t.count(f)
			return f, t.book.valid(&c)
		}
		at = t.bucket(t.w.Tick() + t.width)
	}
	f, err := t.take(&c, at, t.w.Tick())
	if err != nil {
		return f, err
	}
	t.note(&c)
	if f == OnTime && late {
		t.stats.Late++
		return Late, nil
	}
	return f, nil
}

// Advance computes what is due.
func (t *Bucket) Advance(now time.Duration) error {
	return t.each(now, func(time.Duration) {
		for due := t.due(t.now - t.o.Delay); t.w.Tick() < due; {
			t.plain(t.w)
		}
	})
}

// Leading is the world.
func (t *Bucket) Leading() *world.World { return t.w }

// Settled is the world: nothing about it will change, right or wrong.
func (t *Bucket) Settled() *world.World { return t.w }

// Exact is false.
func (t *Bucket) Exact() bool { return false }

// Pending goes through what is known for later buckets.
func (t *Bucket) Pending(yield func(Command) bool) { t.pending(t.w.Tick(), yield) }

// Stats say what it has cost so far.
func (t *Bucket) Stats() Stats { return t.stats }
