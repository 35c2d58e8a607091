package trace

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/coeval-dev/coeval/world"
)

func seeker(t testing.TB, data []byte, o SeekOptions) *Seeker {
	t.Helper()
	s, err := NewSeeker(shooter, bytes.NewReader(data), int64(len(data)), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Any tick, in any order, is what it was in the run.
func TestSeekAnywhere(t *testing.T) {
	var hashes []uint64
	data, _ := play{
		ticks: 900, inputs: newPeople(2, 3).act, options: Options{StateEvery: 200},
		each: func(w *world.World, _ *world.Inputs) { hashes = append(hashes, w.Hash()) }}.record(t,
		shooter)
	for name, o := range map[string]SeekOptions{
		"default": {}, "close": {Every: 7}, "hardly any room": {Every: 1, Budget: 3000},
	} {
		s := seeker(t, data, o)
		if s.First() != 0 || s.Last() != 900 || s.Damage() != nil {
			t.Fatalf("%s: %d to %d, %v", name, s.First(), s.Last(), s.Damage())
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 60 {
			at := world.Tick(1 + r.IntN(900))
			for t2 := at; t2 < min(at+world.Tick(r.IntN(9)), 901); t2++ {
				w, err := s.At(t2)
				if err != nil || w.Tick() != t2 || w.Hash() != hashes[t2-1] {
					t.Fatalf("%s: tick %d: %v %v", name, t2, w.Tick(), err)
				}
			}
		}
		if w, err := s.At(5000); err != nil || w.Tick() != 900 {
			t.Errorf("%s: %v", name, err)
		}
		n, size := s.KeyFrames()
		if n == 0 || o.Budget > 0 && size > o.Budget || o.Every == 7 && n < 50 {
			t.Errorf("%s: %d key frames of %d bytes", name, n, size)
		}
	}
}

// With other commands a run is another from there on, and nothing before it changes.
func TestBranch(t *testing.T) {
	var hashes []uint64
	data, _ := play{
		ticks: 600, inputs: newPeople(4, 3).act, options: Options{StateEvery: 100},
		each: func(w *world.World, _ *world.Inputs) { hashes = append(hashes, w.Hash()) }}.record(t,
		shooter)
	s := seeker(t, data, SeekOptions{Every: 20})
	still := func(_ world.Tick, in *world.Inputs) error { return world.Give(in, 2, run{}) }
	for _, from := range []world.Tick{1, 57, 100, 101, 240, 600} {
		// What it should be, by a run of its own.
		want := map[world.Tick]uint64{}
		w, err := shooter.Load(mustSave(t, data))
		if err != nil {
			t.Fatal(err)
		}
		r, in := open(t, data), shooter.NewInputs()
		for {
			rec, err := r.Next()
			if err != nil {
				break
			}
			if rec.IsState() {
				continue
			}
			if err := rec.Inputs(in); err != nil {
				t.Fatal(err)
			}
			if rec.Tick >= from {
				_ = still(rec.Tick, in)
			}
			if err := w.Host().Step(in); err != nil {
				t.Fatal(err)
			}
			want[rec.Tick] = w.Hash()
		}
		b := s.Branch(from, still)
		for _, at := range []world.Tick{600, from, 300, from - 1, from + 150, 599, 1} {
			if at == 0 || at > 600 {
				continue
			}
			w, err := b.At(at)
			if err != nil || w.Hash() != want[at] {
				t.Fatalf("from %d: tick %d is not what it should be: %v", from, at, err)
			}
			if at < from && w.Hash() != hashes[at-1] {
				t.Fatalf("from %d: tick %d has changed", from, at)
			}
		}
		var cut bytes.Buffer
		if err := b.Cut(&cut, 37, 450, Options{}); err != nil {
			t.Fatal(err)
		}
		res, err := Replay(shooter, open(t, cut.Bytes()), ReplayOptions{})
		if err != nil || res.First != 37 || res.Last != 450 || res.Mismatch != nil ||
			from <= 450 && res.Hash != want[450] {
			t.Fatalf("from %d: what was cut out is something else: %+v %v", from, res, err)
		}
		if w, err := s.At(600); err != nil || w.Hash() != hashes[599] {
			t.Fatalf("the run itself has changed: %v", err)
		}
		if from < 400 && want[600] == hashes[599] {
			t.Errorf("from %d: standing still changes nothing", from)
		}
	}
}

// A branch begins at a key frame that is larger than any that it has unpacked before.
func TestBranchOfGrowingWorlds(t *testing.T) {
	data, _ := play{
		ticks: 400, inputs: newPeople(4, 3).act,
		options: Options{StateEvery: -1}}.record(t, shooter)
	s := seeker(t, data, SeekOptions{Every: 10})
	if _, err := s.At(400); err != nil {
		t.Fatal(err)
	}
	for from := world.Tick(15); from < 390; from += 20 {
		b := s.Branch(from, func(world.Tick, *world.Inputs) error { return nil })
		b.keys.plain = make([]byte, 0, 64) // as after a small world
		if _, err := b.At(from); err != nil {
			t.Fatalf("from %d: %v", from, err)
		}
	}
}

// mustSave is the first world of a trace.
func mustSave(t *testing.T, data []byte) []byte {
	t.Helper()
	rec, err := open(t, data).Next()
	if err != nil {
		t.Fatal(err)
	}
	w, err := rec.State()
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(w)
}

// What is damaged or cut can be seen up to there, and says so; what is no trace of the game is
// refused.
func TestSeekDamage(t *testing.T) {
	data, _ := play{
		ticks: 400, inputs: newPeople(2, 3).act,
		options: Options{StateEvery: 100}}.record(t, shooter)
	s := seeker(t, data[:len(data)*3/4], SeekOptions{})
	if !errors.Is(s.Damage(), ErrCut) && !errors.Is(s.Damage(), ErrDamaged) {
		t.Errorf("%v", s.Damage())
	}
	if s.Last() < 200 || s.Last() >= 400 {
		t.Errorf("it ends at %d", s.Last())
	}
	if w, err := s.At(s.Last()); err != nil || w.Tick() != s.Last() {
		t.Errorf("the last: %v", err)
	}
	bad := bytes.Clone(data)
	bad[len(bad)/2] ^= 1
	if s := seeker(t, bad, SeekOptions{}); !errors.Is(s.Damage(), ErrDamaged) {
		t.Errorf("%v", s.Damage())
	}
	_, err := NewSeeker(shooter, bytes.NewReader([]byte("GIF89a and some more")), 20, SeekOptions{})
	if !errors.Is(err, ErrNotTrace) {
		t.Errorf("%v", err)
	}
	other := world.Define("other", world.Class[bolt]())
	if _, err := NewSeeker(other, bytes.NewReader(data), int64(len(data)),
		SeekOptions{}); err == nil {
		t.Error("a trace of another game was taken")
	}
}

// A world that was given in the middle is what the run goes on from, however one comes there.
func TestSeekGiven(t *testing.T) {
	var out bytes.Buffer
	w, err := shooter.New(world.Settings{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	tw, err := NewWriter(&out, w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	in, act := shooter.NewInputs(), newPeople(3, 2).act
	hashes := map[world.Tick]uint64{}
	for at := world.Tick(1); at <= 300; at++ {
		act(at, in)
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		if err := tw.Tick(in, w); err != nil {
			t.Fatal(err)
		}
		if at == 150 {
			for _, r := range world.All[runner](w) {
				r.Score = 77
			}
			if err := tw.State(w); err != nil {
				t.Fatal(err)
			}
			if w, err = shooter.Load(w.Host().Save(nil)); err != nil { // as a replay does
				t.Fatal(err)
			}
		}
		hashes[at] = w.Hash()
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	s := seeker(t, out.Bytes(), SeekOptions{Every: 30})
	for _, at := range []world.Tick{300, 149, 150, 151, 10, 150, 299, 20, 149, 152} {
		if w, err := s.At(at); err != nil || w.Tick() != at || w.Hash() != hashes[at] {
			t.Errorf("tick %d: %v", at, err)
		}
	}
	b := s.Branch(100, func(world.Tick, *world.Inputs) error { return nil })
	if b.Last() != 149 {
		t.Errorf("a branch before it ends at %d", b.Last())
	}
}

func FuzzSeek(f *testing.F) {
	data, _ := play{
		ticks: 80, inputs: newPeople(1, 2).act, options: Options{StateEvery: 30}}.record(f, shooter)
	f.Add(data, uint16(50))
	f.Add(data[:len(data)/2], uint16(7))
	f.Fuzz(func(_ *testing.T, data []byte, at uint16) {
		s, err := NewSeeker(shooter, bytes.NewReader(data), int64(len(data)), SeekOptions{Every: 9})
		if err != nil {
			return
		}
		for _, x := range []world.Tick{world.Tick(at), s.Last(), 0, s.Last() / 2} {
			if s.Last() > s.First()+2000 {
				return
			}
			_, _ = s.At(x)
		}
	})
}
