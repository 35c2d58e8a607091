package recording

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// replayed replays a trace of pong.
func replayed(t *testing.T, name string) *trace.Replayed {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := trace.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	res, err := trace.Replay(pong.Game, r, trace.ReplayOptions{})
	if err != nil || res.Mismatch != nil || res.Damage != nil {
		t.Fatalf("%s: %+v %v", name, res, err)
	}
	return res
}

// play records a level of so many ticks.
func play(t *testing.T, r *Recording, seed uint64, ticks world.Tick) {
	t.Helper()
	w, err := pong.Game.New(world.Settings{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	r.Begin(w, "test")
	random := world.RandomInputs(pong.Game, seed, 2)
	in := pong.Game.NewInputs()
	for at := world.Tick(1); at <= ticks; at++ {
		in.Reset()
		random(at, in)
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		r.Tick(w, in)
	}
}

func files(t *testing.T, dir string) (list []string, bytes int64) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		i, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		list, bytes = append(list, e.Name()), bytes+i.Size()
	}
	return list, bytes
}

// However long a match is, what is on disk is its last part, and at the end it is one file.
func TestOnlyTheLast(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "match.trace")
	r := NewLast(New(name, slog.New(slog.DiscardHandler)), 10*time.Second)
	rate := world.Tick(pong.Game.Rate())
	play(t, r, 1, 200*rate)
	if list, _ := files(t, dir); len(list) > pieces {
		t.Errorf("while it is played there are %v", list)
	}
	play(t, r, 2, 95*rate+7) // another level
	play(t, r, 3, 3*rate)    // and one that is shorter than what is kept
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if list, _ := files(t, dir); fmt.Sprint(list) != "[match-before.trace match.trace]" {
		t.Errorf("%v", list)
	}
	if res := replayed(t, name); res.First != 0 || res.Last != 3*rate {
		t.Errorf("the last level: %d to %d", res.First, res.Last)
	}
	res := replayed(t, filepath.Join(dir, "match-before.trace"))
	if n := res.Last - res.First; res.Last != 95*rate+7 || n < 10*rate || n > 13*rate {
		t.Errorf("the level before: %d to %d, for ten seconds", res.First, res.Last)
	}
}

// Pieces that a program left that was killed can be joined; those that do not follow cannot.
func TestPiecesOfTheDead(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "match.trace")
	r := NewLast(New(name, slog.New(slog.DiscardHandler)), 4*time.Second)
	rate := world.Tick(pong.Game.Rate())
	play(t, r, 1, 20*rate)
	left := r.ring.files
	r.fail(r.trace.Flush()) // as it is once a second
	joined := filepath.Join(dir, "joined.trace")
	if err := JoinFiles(joined, left); err != nil {
		t.Fatal(err)
	}
	if res := replayed(t, joined); res.Last != 20*rate || res.Last-res.First < 4*rate {
		t.Errorf("%+v", res)
	}
	if err := JoinFiles(joined, left); err == nil {
		t.Error("a file that is there was written over")
	}
	for _, wrong := range [][]string{
		{left[0], left[2]}, {left[1], left[0]}, {left[0], left[0]}, nil,
	} {
		other := filepath.Join(dir, "wrong.trace")
		if err := JoinFiles(other, wrong); err == nil {
			t.Errorf("%v were joined", wrong)
		}
		if _, err := os.Stat(other); err == nil {
			t.Errorf("%v left a file", wrong)
		}
	}
	again := NewLast(New(name, slog.New(slog.DiscardHandler)), 4*time.Second)
	play(t, again, 1, 1)
	if again.Err() == nil {
		t.Error("the pieces were written over")
	}
	r.end()
}
