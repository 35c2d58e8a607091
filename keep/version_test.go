package keep_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/convert"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/keep/keeptest"
	"github.com/coeval-dev/coeval/world"
)

// The next version of the game: walkers carry something, and count further.

type carrier struct {
	X, Y, Steps, Load int
	Luck              int `world:"server"`
}

func (r *carrier) Sync(s *bits.Sync) {
	s.Int(&r.X, -1000, 1000)
	s.Int(&r.Y, -1000, 1000)
	s.Int(&r.Steps, 0, 1<<24)
	s.Int(&r.Load, 0, 9)
}

func (r *carrier) Step(*world.World, world.ID) { r.Steps++ }

type skies struct{ Rain int }

func (k *skies) Sync(s *bits.Sync) { s.Int(&k.Rain, 0, 9) }

var carrying = world.Define("walking", world.State[skies](),
	world.Class[carrier](world.ClassOptions{Name: "walker"}), world.Commands[walk](),
	world.OnStart(func(w *world.World) { world.StateOf[skies](w).Rain = 3 }))

var newer = keep.Options{Fresh: func(l game.Level) (*world.World, error) {
	return carrying.New(world.Settings{Seed: l.Seed})
}}

// ended plays some chapters that end in good order, with a whole world.
func ended(t testing.TB) (*keeptest.Disk, *life) {
	t.Helper()
	r := det.At(9, 1, 0)
	d, l := keeptest.New(9), newLife(&r)
	f := opened(t, d)
	for range 2 {
		if err := f.Begin(l.snapshot()); err != nil {
			t.Fatal(err)
		}
		for range 30 {
			if err := f.Frame(l.step()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(f.Begin(l.snapshot()), f.Close()); err != nil {
		t.Fatal(err)
	}
	return d, l
}

// same says in what a converted world is not what it was.
func same(l *life, w *world.World) error {
	if w.Tick() != l.world.Tick() || world.StateOf[skies](w).Rain != 3 {
		return fmt.Errorf("tick %d", w.Tick())
	}
	n := 0
	for id, was := range world.All[walker](l.world) {
		is := world.Get[carrier](w, world.MakeID(1, id.Allocator(), id.Index(), id.Generation()))
		if is == nil || is.X != was.X || is.Y != was.Y || is.Steps != was.Steps ||
			is.Luck != was.Luck || is.Load != 0 {
			return fmt.Errorf("%+v became %+v", was, is)
		}
		n++
	}
	if n == 0 || world.Count[carrier](w) != n {
		return fmt.Errorf("%d of %d walkers", world.Count[carrier](w), n)
	}
	return nil
}

// TestVersion: the next version of a game goes on with what the one before has kept, wherever the
// machine goes off meanwhile; and the last world of the version before stays.
func TestVersion(t *testing.T) {
	converted, native := 0, 0
	for kill := 1; ; kill++ {
		d, l := ended(t)
		d = d.Crash(uint64(kill))
		d.Faults.Kill = kill
		upgrade := func() (bool, error) {
			f, err := keep.Open(d, carrying, newer)
			if err != nil {
				return false, err
			}
			k, err := f.Recover()
			if err != nil {
				return false, err
			}
			if err := same(l, k.World); err != nil {
				t.Fatalf("kill %d: %v", kill, err)
			}
			return k.Converted != nil, f.Begin(&k.Snapshot)
		}
		_, err := upgrade()
		if err == nil && !d.Killed() {
			break // it lasted longer than that
		}
		d = d.Crash(uint64(kill))
		was, err := upgrade()
		if err != nil {
			t.Fatalf("kill %d: %v", kill, err)
		}
		if was {
			converted++
		} else {
			native++
		}
		if _, ok := d.Files()["chapter-000000000003.trace"]; !ok {
			t.Fatalf("kill %d: the last world of the version before is gone", kill)
		}
	}
	if converted < 3 || native < 1 {
		t.Errorf("%d and %d kills say nothing", converted, native)
	}
}

// TestVersionStays: the last chapter of the version before stays whatever is written after it, and
// the version before can go back.
func TestVersionStays(t *testing.T) {
	d, l := ended(t)
	f, err := keep.Open(d, carrying, newer)
	if err != nil {
		t.Fatal(err)
	}
	k, err := f.Recover()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(k.Converted.String(), "walker.Load was gained") {
		t.Error(k.Converted)
	}
	for range 4 {
		if err := f.Begin(&k.Snapshot); err != nil {
			t.Fatal(err)
		}
	}
	list, err := keep.Labels(d)
	if err != nil || len(list) != 3 || list[0].Declarations != walking.Hash() ||
		list[0].Tick != l.world.Tick() || list[2].Declarations != carrying.Hash() {
		t.Fatalf("%+v, %v", list, err)
	}
	back := opened(t, d)
	if k, err = back.Recover(); err != nil || k.Converted == nil ||
		world.Count[walker](k.World) != world.Count[walker](l.world) {
		t.Errorf("%+v, %v", k, err)
	}
}

type shy struct{ X int }

func (r *shy) Sync(s *bits.Sync) { s.Int(&r.X, 0, 1) }

// TestVersionRefused: what cannot be gone on with is said, and nothing is changed but that the new
// version has written down what it declares.
func TestVersionRefused(t *testing.T) {
	for _, x := range []struct {
		name  string
		game  *world.Game
		opt   keep.Options
		spoil func(d *keeptest.Disk)
		err   error
		says  string
	}{
		{"unfinished", carrying, newer, func(d *keeptest.Disk) {
			_ = d.Remove("chapter-000000000003.trace")
		}, keep.ErrUnfinished, "its last whole world is of tick 30, and ticks up to 60"},
		{"unknown", carrying, newer, func(d *keeptest.Disk) {
			_ = d.Remove(fmt.Sprintf("declared-%016x.json", walking.Hash()))
		}, keep.ErrOtherVersion, "serve with the version that kept it"},
		{"damaged", carrying, newer, func(d *keeptest.Disk) {
			d.Damage(fmt.Sprintf("declared-%016x.json", walking.Hash()), 50)
		}, keep.ErrOtherVersion, "checksum"},
		{"cannot be", world.Define("walking", world.Class[shy](world.ClassOptions{Name: "walker"}),
			world.Commands[walk]()), keep.Options{}, func(*keeptest.Disk) {}, nil, "walker.X: "},
	} {
		d, _ := ended(t)
		x.spoil(d)
		before := d.Files()
		var k *keep.Kept
		f, err := keep.Open(d, x.game, x.opt)
		if err == nil {
			k, err = f.Recover()
		}
		var list *convert.Error
		if x.err != nil && !errors.Is(err, x.err) || x.err == nil && !errors.As(err, &list) ||
			!strings.Contains(fmt.Sprint(err), x.says) {
			t.Errorf("%s: %v, %v", x.name, k, err)
		}
		after := d.Files()
		delete(after, fmt.Sprintf("declared-%016x.json", x.game.Hash()))
		if !maps.Equal(before, after) {
			t.Errorf("%s: something was changed", x.name)
		}
	}
	d, l := kept(t)
	o := newer
	o.Lose = true
	f, err := keep.Open(d, carrying, o)
	if err != nil {
		t.Fatal(err)
	}
	if k, err := f.Recover(); err != nil || k.World.Tick() != 30 || k.Lost != 30 ||
		l.world.Tick() != 60 {
		t.Errorf("%+v, %v", k, err)
	}
}

// TestMoments: with history there are moments to go back to, by tick and by time, and each is what
// was played; what is older than wanted is removed.
func TestMoments(t *testing.T) {
	r := det.At(4, 1, 0)
	d, l := keeptest.New(4), newLife(&r)
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, x := range []struct {
		history time.Duration
		oldest  world.Tick
	}{{-1, 0}, {10 * time.Second, 720}, {0, 1920}} {
		f, err := keep.Open(d, walking, keep.Options{History: x.history})
		if err != nil {
			t.Fatal(err)
		}
		for range 6 { // chapters of two seconds
			s := l.snapshot()
			s.At = start.Add(time.Duration(l.world.Tick()) * time.Second / 60)
			if err := f.Begin(s); err != nil {
				t.Fatal(err)
			}
			for range 120 {
				if err := f.Frame(l.step()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		list, err := keep.Labels(d)
		if err != nil || list[0].Tick != x.oldest {
			t.Errorf("history %v: %v, %v", x.history, list, err)
		}
	}
	f := opened(t, d)
	for tick := world.Tick(1920); tick <= 2160; tick += 37 {
		k, err := f.RecoverAt(keep.Moment{Tick: tick})
		if err != nil || k.World.Tick() != tick || k.World.Hash() != l.past[tick].hash {
			t.Fatalf("tick %d: %v", tick, err)
		}
		at := start.Add(time.Duration(tick)*time.Second/60 + time.Millisecond)
		if k, err = f.RecoverAt(keep.Moment{At: at}); err != nil ||
			k.World.Hash() != l.past[tick].hash {
			t.Fatalf("tick %d by time: %v", tick, err)
		}
	}
	for _, m := range []keep.Moment{{Tick: 5}, {Tick: 1 << 40}, {At: start}} {
		if _, err := f.RecoverAt(m); !errors.Is(err, keep.ErrNoMoment) ||
			!strings.Contains(err.Error(), "begin with tick") {
			t.Errorf("%+v: %v", m, err)
		}
	}
}
