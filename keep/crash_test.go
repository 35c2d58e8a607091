package keep_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/keep/keeptest"
	"github.com/coeval-dev/coeval/world"
)

// TestKills: machines go off at random moments, in the middle of whatever the disk does, with
// random faults before. What was said to be durable is there, and all that is there is what was
// played.
func TestKills(t *testing.T) {
	kills := 250
	if os.Getenv("COEVAL_SOAK") != "" {
		kills = 10000
	}
	var all tally
	for seed := uint64(1); all.kills < kills; seed++ {
		runKills(t, seed, false, &all)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d kills in %d games: %d ticks acknowledged, none lost; %d of %d operations failed, "+
		"%d chapters begun", all.kills, all.games, all.acked, all.failed, all.done, all.chapters)
	if all.failed == 0 || all.acked == 0 || all.chapters < all.games {
		t.Errorf("nothing was tried: %+v", all)
	}
}

// TestKillsOfLiars: the same where disks say that they have flushed what they have not. Something
// may be lost then; but what comes back was played, or it is said that nothing can come back.
func TestKillsOfLiars(t *testing.T) {
	kills := 100
	if os.Getenv("COEVAL_SOAK") != "" {
		kills = 2000
	}
	var all tally
	for seed := uint64(1); all.kills < kills; seed++ {
		runKills(t, seed, true, &all)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d kills: %d times something acknowledged was lost, %d times all of it", all.kills,
		all.lost, all.refused)
	if all.lost == 0 {
		t.Error("no disk has lied")
	}
}

type tally struct {
	games, kills, done, failed, chapters int
	acked                                uint64
	lost, refused                        int
}

// runKills plays one game through several machines.
func runKills(t *testing.T, seed uint64, lies bool, all *tally) {
	r := det.At(seed, 1, 0)
	disk := keeptest.New(seed)
	l := newLife(&r)
	all.games++
	acked, begun := world.Tick(0), false
	for range 4 {
		f, err := keep.Open(disk, walking, keep.Options{})
		if err != nil {
			if lies && begun { // even the identity may be gone
				all.refused++
				return
			}
			t.Fatal(err)
		}
		k, err := f.Recover()
		switch {
		case lies && (err != nil || k == nil && begun):
			all.refused++
			return
		case err != nil:
			t.Fatal(err)
		case k == nil && begun:
			t.Fatalf("what was acknowledged up to tick %d is gone", acked)
		case k != nil:
			check(t, l, k, acked, lies, all)
			l.resume(k)
		default:
			l = newLife(&r)
		}
		if t.Failed() {
			return
		}
		acked, begun = l.keepOn(disk, f, begun, lies, all)
		all.kills++
		disk = disk.Crash(r.Uint64())
	}
}

// check compares what came back with what was played.
func check(t *testing.T, l *life, k *keep.Kept, acked world.Tick, lies bool, all *tally) {
	t.Helper()
	tick := k.World.Tick()
	if tick < acked {
		if all.lost++; !lies {
			t.Errorf("tick %d came back, and %d was acknowledged", tick, acked)
		}
	}
	m, ok := l.past[tick]
	if !ok || m.hash != k.World.Hash() {
		t.Errorf("the world of tick %d has hash %x and had %x", tick, k.World.Hash(), m.hash)
	}
	if !slices.EqualFunc(m.seats, k.Seats, func(a, b keep.Seat) bool { return a.Equal(&b) }) {
		t.Errorf("tick %d: the seats are %+v and were %+v", tick, k.Seats, m.seats)
	}
	if k.Level.Name != "meadow" || string(k.Level.Data) != "a map" || len(k.Problems) > 0 && !lies {
		t.Errorf("%+v, %v", k.Level, k.Problems)
	}
}

// keepOn plays and keeps until the machine goes off, and gives the last tick that was said to be
// durable. It does what a program does: after an error it begins a chapter when it can.
func (l *life) keepOn(d *keeptest.Disk, f *keep.Folder, begun, lies bool, all *tally) (world.Tick,
	bool) {
	r := l.rand
	d.Faults = keeptest.Faults{Kill: 1 + r.IntN(120)}
	if lies {
		d.Faults.Lie = 0.3
	}
	if r.Chance(0.5) {
		d.Faults.Fail = r.Range(0, 0.1)
	}
	if r.Chance(0.3) {
		d.Faults.Room = 1000 + r.IntN(8000)
	}
	flush, begin := 1+r.IntN(10), 5+r.IntN(40)
	acked := l.world.Tick()
	if !begun {
		acked = 0
	}
	try := func(err error) {
		all.done++
		if err != nil {
			all.failed++
		}
	}
	if err := f.Begin(l.snapshot()); err == nil {
		begun = true
		all.chapters++
	} else {
		all.failed++
	}
	for range 400 {
		if d.Killed() {
			break
		}
		if f.Err() == nil {
			acked, begun = max(acked, f.Durable()), true
		}
		frame := l.step()
		if err := f.Frame(frame); err == nil && r.IntN(flush) == 0 {
			try(f.Sync())
		} else if err == nil {
			try(f.Write())
		} else if errors.Is(err, keep.ErrGap) {
			panic(err) // nobody left one
		}
		if r.IntN(begin) == 0 {
			try(f.Begin(l.snapshot()))
		}
		acked = max(acked, f.Durable())
	}
	if r.Chance(0.2) {
		try(f.Close())
		acked = max(acked, f.Durable())
	}
	all.acked += uint64(acked)
	return acked, begun
}
