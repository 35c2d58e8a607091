package keep_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/keep/keeptest"
)

// write puts a file there.
func write(t *testing.T, d keep.Disk, name string, data []byte) {
	t.Helper()
	f, err := d.Create(name)
	if err == nil {
		_, err = f.Write(data)
	}
	if err = errors.Join(err, f.Sync(), f.Close(), d.Sync()); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, d keep.Disk, name string) []byte {
	t.Helper()
	f, err := d.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestHandover: what is written is read; one byte that is another is noticed; only a game that was
// claimed and not given is discarded.
func TestHandover(t *testing.T) {
	d := keeptest.New(1)
	if h, err := keep.HandedOver(d); h != nil || err != nil {
		t.Fatal(h, err)
	}
	want := keep.Handover{Ceded: true, Where: []string{"203.0.113.7:4000"}, Tick: 77, Epoch: 9,
		At: time.Unix(1e9, 0).UTC()}
	if err := keep.HandOver(d, &want); err != nil {
		t.Fatal(err)
	}
	got, err := keep.HandedOver(d)
	if err != nil || !got.Ceded || got.Tick != 77 || got.Epoch != 9 || !got.At.Equal(want.At) ||
		!slices.Equal(got.Where, want.Where) {
		t.Fatal(got, err)
	}
	if err := keep.Discard(d); err != nil {
		t.Fatal(err)
	}
	if h, err := keep.HandedOver(d); h == nil || err != nil {
		t.Fatal("a game that was ceded is discarded", err)
	}
	good := read(t, d, "handover")
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 0x20
		write(t, d, "handover", bad)
		if _, err := keep.HandedOver(d); !errors.Is(err, keep.ErrDamaged) &&
			!errors.Is(err, keep.ErrNewer) {
			t.Errorf("byte %d: %v", i, err)
		}
	}
	for _, name := range []string{"identity", "group", "used", "chapter-000000000001.trace",
		"other"} {
		write(t, d, name, []byte("x"))
	}
	want.Ceded = false
	if err := keep.HandOver(d, &want); err != nil {
		t.Fatal(err)
	}
	if err := keep.Discard(d); err != nil {
		t.Fatal(err)
	}
	if names, err := d.List(); err != nil || !slices.Equal(names, []string{"other"}) {
		t.Error(names, err)
	}
	if err := keep.HandOver(d, &want); err != nil {
		t.Fatal(err)
	}
	if err := keep.Keeps(d); err != nil {
		t.Fatal(err)
	}
	if h, err := keep.HandedOver(d.Crash(7)); h != nil || err != nil {
		t.Error(h, err)
	}
}

// FuzzHandover: whatever a file has, it is read or refused, and what is read is written the same
// again.
func FuzzHandover(f *testing.F) {
	d := keeptest.New(1)
	if err := keep.HandOver(d, &keep.Handover{Where: []string{"a:1"}, Tick: 3}); err != nil {
		f.Fatal(err)
	}
	r, err := d.Open("handover")
	if err != nil {
		f.Fatal(err)
	}
	seed, err := io.ReadAll(r)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte("coeval handover 2\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := keeptest.New(1)
		write(t, d, "handover", b)
		h, err := keep.HandedOver(d)
		if err != nil || len(b) > 1<<10 {
			return
		}
		if err := keep.HandOver(d, h); err != nil {
			t.Fatal(err)
		}
		once := read(t, d, "handover")
		again, err := keep.HandedOver(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := keep.HandOver(d, again); err != nil ||
			!bytes.Equal(read(t, d, "handover"), once) {
			t.Fatalf("%q, %v", once, err)
		}
	})
}
