package world

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestContents: a saved world that is taken apart without the game and put together again is the
// same to the byte, and its declarations survive a file.
func TestContents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newArena(t, Settings{Seed: rapid.Uint64().Draw(t, "seed"), Secret: 5,
			Allocator: rapid.IntRange(0, Predicted-1).Draw(t, "allocator")})
		run(t, w, 1, rapid.IntRange(0, 200).Draw(t, "ticks"))
		data := w.Host().Save(nil)
		d, err := ParseDeclared(arena.Declared().Text())
		if err != nil {
			t.Fatal(err)
		}
		s, err := d.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		if s.Tick != w.Tick() || s.Hash != w.Hash() {
			t.Fatalf("tick %d, hash %x", s.Tick, s.Hash)
		}
		if again := d.Append([]byte("x"), s); !bytes.Equal(again[1:], data) {
			t.Fatal("it is not what it was")
		}
		s.Hash++
		same, err := arena.Adopt(s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := Differ(w, same); diff != nil {
			t.Fatal(diff)
		}
	})
}

// TestDeclared: what a game declares comes back from its text, and what makes no sense is refused.
func TestDeclared(t *testing.T) {
	d := arena.Declared()
	again, err := ParseDeclared(d.Text())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, again); diff != "" {
		t.Error(diff)
	}
	for _, x := range []struct {
		says   string
		change func(d *Declared)
	}{
		{"rate", func(d *Declared) { d.Rate = 0 }},
		{"makes no sense", func(d *Declared) { d.Classes[0].Limit = 0 }},
		{"has no place", func(d *Declared) { d.Classes[0].Place = []int{99} }},
		{"is there twice", func(d *Declared) { d.Classes[1].Name = d.Classes[0].Name }},
		{"makes no sense", func(d *Declared) { d.Events[0].Fields.Slots[0].Min = 1 << 30 }},
	} {
		bad, err := ParseDeclared(d.Text())
		if err != nil {
			t.Fatal(err)
		}
		x.change(bad)
		if _, err := ParseDeclared(bad.Text()); !errors.Is(err, ErrDamaged) ||
			!strings.Contains(err.Error(), x.says) {
			t.Errorf("%q: %v", x.says, err)
		}
	}
	if _, err := ParseDeclared([]byte("hello")); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
}

// FuzzContents: whatever is taken apart can be put together, and what a world is made of it can be
// taken apart again.
func FuzzContents(f *testing.F) {
	w, err := village.New(Settings{Seed: 1, Allocator: 3})
	if err != nil {
		f.Fatal(err)
	}
	text := village.Declared().Text()
	for range 3 {
		f.Add(text, w.Host().Save(nil))
		run(f, w, 1, 20)
	}
	f.Fuzz(func(t *testing.T, text, data []byte) {
		d, err := ParseDeclared(text)
		if err != nil {
			return
		}
		s, err := d.Parse(data)
		if err != nil {
			return
		}
		again, err := d.Parse(d.Append(nil, s))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, again); diff != "" {
			t.Fatal(diff)
		}
	})
}
