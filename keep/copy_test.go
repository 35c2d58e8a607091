package keep_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/keep/keeptest"
	"github.com/coeval-dev/coeval/world"
)

// began is when the games of these tests began.
var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// letIn is a token that has let someone in.
var letIn = token.Mark{Client: 7, Expires: 5000}

// history plays chapters of one second, all of which stay, and leaves the last one open.
func history(t testing.TB, seed uint64, chapters int) (*keeptest.Disk, *life) {
	t.Helper()
	r := det.At(seed, 1, 0)
	d, l := keeptest.New(seed), newLife(&r)
	f, err := keep.Open(d, walking, keep.Options{History: -1})
	if err != nil {
		t.Fatal(err)
	}
	for range chapters {
		s := l.snapshot()
		s.At = began.Add(time.Duration(l.world.Tick()) * time.Second / 60)
		if err := f.Begin(s); err != nil {
			t.Fatal(err)
		}
		for range 60 {
			if err := f.Frame(l.step()); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Write(); err != nil {
			t.Fatal(err)
		}
	}
	d.Set(keep.KeyName, []byte("a key\n"))
	d.Set("group", []byte("votes"))
	if err := keep.NewUsedFile(d, new(keep.Used)).Add(1000, []token.Mark{letIn}); err != nil {
		t.Fatal(err)
	}
	return d, l
}

// planned surveys a disk and plans a copy.
func planned(d keep.Disk, to *keep.Moment) (*keep.Plan, error) {
	s, err := keep.NewSurvey(d)
	if err != nil {
		return nil, err
	}
	return s.Plan(d, to, 0)
}

// loads says whether a disk comes back as a game was at a tick.
func loads(l *life, tick world.Tick) func(keep.Disk) error {
	return func(d keep.Disk) error {
		f, err := keep.Peek(d, walking, keep.Options{})
		if err != nil {
			return err
		}
		k, err := f.Recover()
		if err != nil {
			return err
		}
		if k.World.Tick() != tick || k.World.Hash() != l.past[tick].hash ||
			len(k.Seats) != len(l.past[tick].seats) || len(k.Problems) > 0 {
			return fmt.Errorf("tick %d with %d seats, want %d: %v", k.World.Tick(), len(k.Seats),
				tick, k.Problems)
		}
		return nil
	}
}

// TestCopyMoments: a copy up to a moment is what was played up to the last whole tick at or before
// it, and the folder that it is of is as it was.
func TestCopyMoments(t *testing.T) {
	d, l := history(t, 3, 4)
	d.Set("chapter-000000000004.trace", []byte(d.Files()["chapter-000000000004.trace"])[:d.Size(
		"chapter-000000000004.trace")-1]) // in the middle of tick 240
	before := d.Files()
	at := func(tick world.Tick) keep.Moment {
		return keep.Moment{At: began.Add(time.Duration(tick)*time.Second/60 + time.Millisecond)}
	}
	for _, x := range []struct {
		name string
		to   *keep.Moment
		tick world.Tick
	}{
		{"all", nil, 239},
		{"a tick", &keep.Moment{Tick: 100}, 100},
		{"the first", &keep.Moment{}, 0},
		{"a chapter's first", &keep.Moment{Tick: 120}, 120},
		{"the last", &keep.Moment{Tick: 239}, 239},
		{"later", &keep.Moment{Tick: 5000}, 239},
		{"a time", new(at(77)), 77},
		{"a time in the last", new(at(200)), 200},
		{"a later time", new(at(1e9)), 239},
	} {
		p, err := planned(d, x.to)
		if err != nil || p.Chapter.Last != x.tick {
			t.Errorf("%s: %+v, %v", x.name, p, err)
			continue
		}
		to := keeptest.New(1)
		if err := p.Copy(d, to, loads(l, x.tick)); err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
		to = to.Crash(2)
		if err := loads(l, x.tick)(to); err != nil {
			t.Errorf("%s after a crash: %v", x.name, err)
		}
		if f := to.Files(); f["group"] != "" || f[keep.KeyName] != "a key\n" {
			t.Errorf("%s has votes, or no key", x.name)
		}
		if u, err := keep.ReadUsed(to); err != nil || !slices.Contains(u.Marks, letIn) {
			t.Errorf("%s lets someone in once more: %+v, %v", x.name, u, err)
		}
	}
	if !maps.Equal(before, d.Files()) {
		t.Error("something was changed")
	}
	_, err := planned(d, &keep.Moment{At: began.Add(-time.Second)})
	if !errors.Is(err, keep.ErrNoMoment) || !strings.Contains(err.Error(), "begin with tick 0") {
		t.Error(err)
	}
}

// TestCopyOtherWorlds: of a tick that several worlds have had, it is the last time.
func TestCopyOtherWorlds(t *testing.T) {
	d, _ := history(t, 5, 2) // ticks 0 to 120
	f := opened(t, d)
	r := det.At(6, 1, 0)
	l := newLife(&r)
	if err := f.Begin(l.snapshot()); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if err := f.Frame(l.step()); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for tick, chapter := range map[world.Tick]uint64{20: 3, 50: 3, 51: 1, 100: 2, 500: 3} {
		p, err := planned(d, &keep.Moment{Tick: tick})
		if err != nil || p.Chapter.Number != chapter || p.Chapter.Last > tick {
			t.Errorf("tick %d: %+v, %v", tick, p, err)
		}
	}
}

// TestCopyKills: wherever a machine goes off while it copies, and whatever its disk does, the copy
// is whole or nobody takes it for one; and while it lives, nothing of what failed is left.
func TestCopyKills(t *testing.T) {
	d, l := history(t, 7, 3)
	p, err := planned(d, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole, refused := 0, 0
	for kill := 1; ; kill++ {
		to := keeptest.New(uint64(kill))
		to.Faults.Kill = kill
		err := p.Copy(d, to, loads(l, 180))
		if err == nil && !to.Killed() {
			break
		}
		for crash := range uint64(8) {
			f, err := keep.Peek(to.Crash(crash), walking, keep.Options{})
			if err != nil {
				refused++
				continue
			}
			whole++
			if k, err := f.Recover(); err != nil || k.World.Tick() != 180 {
				t.Errorf("kill %d, crash %d: %v, %v", kill, crash, k, err)
			}
		}
	}
	if whole == 0 || refused < 10 {
		t.Errorf("%d and %d kills say nothing", whole, refused)
	}
	full := keeptest.New(1)
	full.Faults.Room = d.Size("chapter-000000000001.trace") * 2
	if err := p.Copy(d, full, loads(l, 180)); !errors.Is(err, keeptest.ErrFull) {
		t.Error(err)
	}
	if len(full.Files()) > 0 {
		t.Errorf("%d files are left", len(full.Files()))
	}
}

// TestSurveyDamage: what is damaged is told, and what is left of it used.
func TestSurveyDamage(t *testing.T) {
	const last = "chapter-000000000002.trace"
	d, l := history(t, 8, 2)
	size := d.Size(last)
	d.Damage(last, size-40)
	s, err := keep.NewSurvey(d)
	if err != nil || len(s.Chapters) != 2 || s.Chapters[1].Damage == nil ||
		s.Chapters[1].Last <= 60 || s.Chapters[1].Last >= 120 ||
		s.Chapters[1].Bytes != int64(size) ||
		!s.Chapters[0].Ended || s.Chapters[0].Damage != nil || s.Chapters[0].Cut {
		t.Fatalf("%+v, %v", s, err)
	}
	d.Damage(last, 60) // its first world
	p, err := planned(d, nil)
	if err != nil || p.Chapter.Number != 1 || p.Chapter.Last != 60 {
		t.Fatalf("%+v, %v", p, err)
	}
	to := keeptest.New(1)
	if err := p.Copy(d, to, loads(l, 60)); err != nil {
		t.Error(err)
	}
	d.Damage(first, 60)
	if _, err := planned(d, nil); !errors.Is(err, keep.ErrDamaged) {
		t.Error(err)
	}
	if _, err := keep.NewSurvey(keeptest.New(1)); !errors.Is(err, keep.ErrNone) {
		t.Error(err)
	}
}

// TestPeek: a folder that is only looked at is written to by nobody.
func TestPeek(t *testing.T) {
	d, l := history(t, 2, 1)
	before := d.Files()
	f, err := keep.Peek(d, walking, keep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Begin(l.snapshot()); err == nil {
		t.Error("a chapter was begun")
	}
	if f.Frame(l.step()) == nil || f.Sync() == nil || !maps.Equal(before, d.Files()) {
		t.Error("something was written")
	}
}
