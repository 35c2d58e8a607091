//go:build !js

package inspect

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/topology/server"
)

// Bounds of what is kept of ticks.
const (
	mostTicks   = 1800 // half a minute at 60 a second
	mostSlowest = 20
)

// ticks are how long the last ones took, and the slowest since someone began to watch.
type ticks struct {
	mu      sync.Mutex
	last    []Stages // a ring, in milliseconds
	next    int
	slowest []Slow
	since   time.Time
}

// A Slow tick is one of those that took longest.
type Slow struct {
	At time.Time `json:"at"`
	MS Stages    `json:"ms"`
}

// Ticks are the history of ticks while someone watched.
type Ticks struct {
	Since   time.Time `json:"since"`
	LimitMS float64   `json:"limit_ms"` // what a tick may take
	Last    []Stages  `json:"last_ms"`  // from the oldest to the newest
	Slowest []Slow    `json:"slowest"`  // the slowest first
}

func (k *ticks) add(t server.Times) {
	now, s := time.Now(), stagesOf(&t, time.Millisecond)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.since.IsZero() {
		k.since = now
	}
	if len(k.last) < mostTicks {
		k.last = append(k.last, s)
	} else {
		k.last[k.next] = s
	}
	k.next = (k.next + 1) % mostTicks
	if n := len(k.slowest); n < mostSlowest || k.slowest[n-1].MS.Elapsed < s.Elapsed {
		at, _ := slices.BinarySearchFunc(k.slowest, s.Elapsed,
			func(a Slow, x float64) int { return -cmp.Compare(a.MS.Elapsed, x) })
		k.slowest = slices.Insert(k.slowest, at, Slow{now, s})
		k.slowest = k.slowest[:min(len(k.slowest), mostSlowest)]
	}
}

func (k *ticks) read(length time.Duration) Ticks {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := Ticks{Since: k.since, LimitMS: float64(length) / 1e6, Last: []Stages{},
		Slowest: append([]Slow{}, k.slowest...)}
	if len(k.last) == mostTicks {
		t.Last = append(t.Last, k.last[k.next:]...)
		t.Last = append(t.Last, k.last[:k.next]...)
	} else {
		t.Last = append(t.Last, k.last...)
	}
	return t
}
