package keep_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/keep/keeptest"
)

// kept plays two chapters onto a disk.
func kept(t testing.TB) (*keeptest.Disk, *life) {
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
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return d, l
}

func opened(t testing.TB, d *keeptest.Disk) *keep.Folder {
	t.Helper()
	f, err := keep.Open(d, walking, keep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const first, second = "chapter-000000000001.trace", "chapter-000000000002.trace"

// TestRefused: a folder that holds something else is refused in plain words, and not touched.
func TestRefused(t *testing.T) {
	text := func(s string) func(d *keeptest.Disk) {
		return func(d *keeptest.Disk) { d.Set("identity", []byte(s)) }
	}
	for name, x := range map[string]struct {
		spoil func(d *keeptest.Disk)
		err   error
		says  string
	}{
		"newer": {text("coeval keep 2\nsomething\n"), keep.ErrNewer, "newer"},
		"empty": {text(""), keep.ErrDamaged, "identity"},
		"cut":   {text("coeval keep 1\ngame \"walk"), keep.ErrDamaged, "checksum"},
		"a bit": {func(d *keeptest.Disk) { d.Damage("identity", 20) }, keep.ErrDamaged, "checksum"},
		"another game": {func(d *keeptest.Disk) {
			other := keeptest.New(1)
			if _, err := keep.Open(other, define("running"), keep.Options{}); err != nil {
				t.Fatal(err)
			}
			d.Set("identity", []byte(other.Files()["identity"]))
		}, keep.ErrOtherGame, `"running"`},
		"other files": {func(d *keeptest.Disk) {
			_ = d.Remove("identity")
			d.Set("letter.txt", []byte("dear"))
		}, keep.ErrForeign, "name a folder"},
	} {
		d, _ := kept(t)
		x.spoil(d)
		before := d.Files()
		_, err := keep.Open(d, walking, keep.Options{})
		if !errors.Is(err, x.err) || !strings.Contains(fmt.Sprint(err), x.says) {
			t.Errorf("%s: %v", name, err)
		}
		if !maps.Equal(before, d.Files()) {
			t.Errorf("%s: something was changed", name)
		}
	}
}

// TestDamage: wherever a chapter is damaged, what is whole before it is used, or else the chapter
// before; and what cannot be used is said.
func TestDamage(t *testing.T) {
	d, l := kept(t)
	size := d.Size(second)
	whole := 0
	for at := range size {
		if at%7 != 0 && at > 40 {
			continue
		}
		d, _ := kept(t)
		d.Damage(second, at)
		k, err := opened(t, d).Recover()
		if err != nil {
			t.Fatalf("byte %d: %v", at, err)
		}
		if got := k.World.Tick(); k.World.Hash() != l.past[got].hash || got < 30 || got > 60 {
			t.Errorf("byte %d: tick %d is not what was played", at, got)
		}
		switch {
		case k.Chapter == second:
			whole++
		case k.Chapter != first || k.World.Tick() != 30 || len(k.Problems) != 1 ||
			!strings.Contains(k.Problems[0].Error(), second):
			t.Errorf("byte %d: %s, tick %d, %v", at, k.Chapter, k.World.Tick(), k.Problems)
		}
	}
	if whole == 0 {
		t.Error("nothing of the second chapter is ever used")
	}
	d.Damage(second, 20)
	d.Damage(first, 20)
	before := d.Files()
	if _, err := opened(t, d).Recover(); !errors.Is(err, keep.ErrDamaged) ||
		!strings.Contains(err.Error(), "none of the 2 chapters") {
		t.Errorf("both are damaged: %v", err)
	}
	if !maps.Equal(before, d.Files()) {
		t.Error("something was changed")
	}
	d, _ = kept(t)
	d.Faults.Before = func(op string) error {
		if op == "open" {
			return keeptest.ErrFails
		}
		return nil
	}
	if _, err := keep.Open(d, walking, keep.Options{}); !errors.Is(err, keeptest.ErrFails) {
		t.Errorf("a disk that cannot be read: %v", err)
	}
}

// TestOtherRules: a program whose rules are others goes on from the last tick at which it computes
// what was played, and says at which it does not.
func TestOtherRules(t *testing.T) {
	d, l := kept(t)
	faulty = 45
	defer func() { faulty = 0 }()
	k, err := opened(t, d).Recover()
	if err != nil {
		t.Fatal(err)
	}
	if k.World.Tick() != 42 || k.World.Hash() != l.past[42].hash || len(k.Problems) != 1 {
		t.Fatalf("tick %d, %v", k.World.Tick(), k.Problems)
	}
	var where *keep.ChapterError
	if err := k.Problems[0]; !errors.As(err, &where) || !errors.Is(err, keep.ErrDiffers) ||
		where.File != second || where.Tick != 42 || !strings.Contains(err.Error(), "tick 49") {
		t.Error(err)
	}
	t.Log(k.Problems[0])
}

// TestGap: a frame that does not follow ends the journal until the next chapter.
func TestGap(t *testing.T) {
	r := det.At(9, 1, 0)
	d, l := keeptest.New(9), newLife(&r)
	f := opened(t, d)
	if err := f.Frame(l.step()); err == nil {
		t.Error("a frame before all chapters")
	}
	if err := f.Begin(l.snapshot()); err != nil {
		t.Fatal(err)
	}
	l.step()
	if err := f.Frame(l.step()); !errors.Is(err, keep.ErrGap) {
		t.Error(err)
	}
	if err := f.Frame(l.step()); !errors.Is(err, keep.ErrGap) || f.Err() == nil {
		t.Error(err)
	}
	if err := f.Begin(l.snapshot()); err != nil {
		t.Fatal(err)
	}
	if err := f.Frame(l.step()); err != nil || f.Err() != nil {
		t.Error(err)
	}
	f.Abandon()
	if err := f.Frame(l.step()); err == nil {
		t.Error("a frame of another world")
	}
	if got := f.Durable(); got != l.world.Tick()-2 {
		t.Errorf("tick %d is durable, of %d", got, l.world.Tick())
	}
}

// FuzzChapter is given files as chapters.
func FuzzChapter(f *testing.F) {
	d, _ := kept(f)
	data := []byte(d.Files()[second])
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		d := keeptest.New(1)
		folder := opened(t, d)
		d.Set(first, data)
		if k, err := folder.Recover(); err == nil && k.World == nil {
			t.Error("neither a world nor an error")
		}
	})
}

// FuzzIdentity is given texts that say which game is kept.
func FuzzIdentity(f *testing.F) {
	d, _ := kept(f)
	f.Add([]byte(d.Files()["identity"]))
	f.Add([]byte("coeval keep 1\ngame \"x\"\ndeclarations 12\nsum 00000000\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := keeptest.New(1)
		d.Set("identity", data)
		if _, err := keep.Open(d, walking, keep.Options{}); err == nil &&
			!strings.Contains(string(data), `game "walking"`) {
			t.Errorf("%q is taken", data)
		}
	})
}

// BenchmarkFrame is what a tick of five people costs the goroutine that writes.
func BenchmarkFrame(b *testing.B) {
	r := det.At(9, 1, 0)
	l := newLife(&r)
	f := opened(b, keeptest.New(9))
	if err := f.Begin(l.snapshot()); err != nil {
		b.Fatal(err)
	}
	var frame *keep.Frame
	for range 100 {
		frame = l.step()
		if err := f.Frame(frame); err != nil {
			b.Fatal(err)
		}
	}
	frame.Seats = nil
	b.ReportAllocs()
	for b.Loop() {
		frame.Tick++
		if err := f.Frame(frame); err != nil {
			b.Fatal(err)
		}
	}
}
