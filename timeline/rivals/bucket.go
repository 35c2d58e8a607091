package rivals

import (
	"cmp"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// Bucket is the synchronization of MiMaze (Gautier and Diot, 1998). There is one world, a fixed
// delay behind the time, that hopes to have got everything by then. What comes later falls into the
// next bucket, if nothing newer of the same player is there, and what does not come is reckoned
// from what came before. Nothing is ever repaired, so mirrors come apart; Exact is false.
type Bucket struct {
	timeline.Core
	o     BucketOptions
	width world.Tick
	w     *world.World
	known timeline.Newest
}

// BucketOptions say how long Bucket waits.
type BucketOptions struct {
	timeline.Options
	// Delay is that of the world: what players wait for what they do. Default: 100 ms, as in
	// MiMaze.
	Delay time.Duration
	// Width is how many ticks share a bucket: one command of each player is executed in it.
	// Default: 1. MiMaze had 40 ms.
	Width int
}

// NewBucket makes a timeline that goes on from a world. The world is copied.
func NewBucket(start *world.World, o BucketOptions) (*Bucket, error) {
	o.Delay = cmp.Or(o.Delay, 100*time.Millisecond)
	o.Width = cmp.Or(o.Width, 1)
	if o.Delay < 0 || o.Delay > time.Minute || o.Width < 1 || o.Width > 600 {
		return nil, fmt.Errorf(
			"timeline: a delay of %v and buckets of %d ticks; give 0 to a minute, and 1 to 600",
			o.Delay, o.Width)
	}
	t := &Bucket{o: o, width: world.Tick(o.Width), known: timeline.NewNewest()}
	room := timeline.Room{
		Ticks: timeline.NewClock(start).Ticks(o.Delay) + 2*o.Width + 2, Worlds: 1,
		What: "one world"}
	if err := t.Open(start, o.Options, room); err != nil {
		return nil, err
	}
	t.w = start.Host().Clone()
	return t, t.Restore(t.Submit) // which says what falls into which bucket
}

// Stamp is the tick that is due next, and never one that was computed.
func (t *Bucket) Stamp(now time.Duration) world.Tick {
	return max(t.Clock.Upcoming(now), t.w.Tick()+1)
}

// Next is when the world takes its next tick.
func (t *Bucket) Next() time.Duration { return t.Clock.Time(t.w.Tick()+1) + t.o.Delay }

// bucket is the first tick of the bucket that a tick is in, in which its commands are executed.
func (t *Bucket) bucket(n world.Tick) world.Tick { return n - (n-1)%t.width }

// Submit puts a command into its bucket, or into the next that is not yet executed.
func (t *Bucket) Submit(_ time.Duration, c timeline.Command) (timeline.Fate, error) {
	if c.Kind == timeline.Promise {
		return timeline.OnTime, nil
	}
	at := t.bucket(c.Tick)
	late := at <= t.w.Tick()
	if late {
		if f, old := t.known.Old(&c); old {
			t.Count(f)
			return f, t.Check(&c)
		}
		at = t.bucket(t.w.Tick() + t.width)
	}
	f, err := t.Take(&c, at)
	if err != nil {
		return f, err
	}
	t.known.Note(&c)
	if f == timeline.OnTime && late {
		t.Counts.Late++
		return timeline.Late, nil
	}
	return f, nil
}

// Advance computes what is due.
func (t *Bucket) Advance(now time.Duration) error {
	return t.Each(now, func(time.Duration) {
		for due := t.Clock.Due(t.Now - t.o.Delay); t.w.Tick() < due; {
			plain(&t.Core, t.w)
		}
	})
}

// Leading is the world.
func (t *Bucket) Leading() *world.World { return t.w }

// Settled is the world: nothing about it will change, right or wrong.
func (t *Bucket) Settled() *world.World { return t.w }

// Exact is false.
func (t *Bucket) Exact() bool { return false }
