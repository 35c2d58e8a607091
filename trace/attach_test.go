package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/coeval-dev/coeval/world"
)

// journal records a run frame by frame, with an attachment to the beginning and to every fifth
// tick, and gives where each frame ended.
func journal(t testing.TB, ticks int) (data []byte, ends []int, hashes []uint64) {
	t.Helper()
	w, err := shooter.New(world.Settings{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	tw, err := NewWriter(&out, w, Options{StateEvery: -1, Attach: []byte("begins")})
	if err != nil {
		t.Fatal(err)
	}
	in, crowd := shooter.NewInputs(), newPeople(3, 4)
	ends, hashes = []int{out.Len()}, []uint64{w.Hash()}
	for range ticks {
		crowd.act(w.Tick()+1, in)
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		if w.Tick()%5 == 0 {
			err = tw.Attach(fmt.Appendf(nil, "at %d", w.Tick()))
		}
		err = errors.Join(err, tw.Frame(w.Tick(), in, w.Hash(), w.Tick()%3 == 0), tw.Flush())
		if err != nil {
			t.Fatal(err)
		}
		ends, hashes = append(ends, out.Len()), append(hashes, w.Hash())
	}
	return out.Bytes(), ends, hashes
}

// TestJournal: a trace that is flushed at every tick is whole up to its last frame, wherever it is
// cut, and what was attached comes back with its record.
func TestJournal(t *testing.T) {
	const ticks = 40
	data, ends, hashes := journal(t, ticks)
	for cut := ends[0]; cut <= len(data); cut++ {
		whole := 0
		for whole < ticks && ends[whole+1] <= cut {
			whole++
		}
		r := open(t, data[:cut])
		n := -1
		for {
			rec, err := r.Next()
			if err != nil {
				if !errors.Is(err, ErrCut) {
					t.Fatal(err)
				}
				break
			}
			n++
			want := ""
			switch {
			case n == 0:
				want = "begins"
			case n%5 == 0:
				want = fmt.Sprint("at ", n)
			}
			if string(rec.Attached) != want {
				t.Fatalf("tick %d has %q, not %q", n, rec.Attached, want)
			}
		}
		if n != whole {
			t.Fatalf("cut at byte %d of %d: %d ticks of %d", cut, len(data), n, whole)
		}
	}
	res, err := Replay(shooter, open(t, data), ReplayOptions{})
	if err != nil || res.Mismatch != nil || res.Last != ticks || res.Hash != hashes[ticks] {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestAttachmentsAreRefused: where they cannot be.
func TestAttachmentsAreRefused(t *testing.T) {
	w, err := shooter.New(world.Settings{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	tw, err := NewWriter(io.Discard, w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tw.Attach([]byte("x")) == nil {
		t.Error("a trace without attachments has one")
	}
	if err := tw.Frame(2, nil, 0, false); !errors.Is(err, ErrOrder) {
		t.Errorf("a frame of tick 2 after tick 0: %v", err)
	}
	for name, write := range map[string]func(b *blockWriter, h []byte){
		"in the second version": func(b *blockWriter, h []byte) {
			b.start(magic)
			b.put(blockHeader, h)
			b.put(blockAttached, []byte("x"))
		},
		"two": func(b *blockWriter, h []byte) {
			b.start(attachedMagic)
			b.put(blockHeader, h)
			b.put(blockAttached, []byte("x"))
			b.put(blockAttached, []byte("y"))
		},
	} {
		var out bytes.Buffer
		h := headerOf(w, Build{}, "")
		write(&blockWriter{out: &out}, h.append(nil))
		if _, err := open(t, out.Bytes()).Next(); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// BenchmarkFrame is what a tick of 16 people costs that is a block of its own.
func BenchmarkFrame(b *testing.B) {
	w, err := shooter.New(world.Settings{Seed: 7})
	if err != nil {
		b.Fatal(err)
	}
	tw, err := NewWriter(io.Discard, w, Options{StateEvery: -1, Attach: []byte{}})
	if err != nil {
		b.Fatal(err)
	}
	in, crowd := shooter.NewInputs(), newPeople(3, 16)
	tick := world.Tick(0)
	b.ReportAllocs()
	for b.Loop() {
		tick++
		crowd.act(tick, in)
		if err := errors.Join(tw.Frame(tick, in, 0, false), tw.Flush()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(tw.Size())/float64(tick), "B/frame")
}
