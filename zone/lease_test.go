package zone

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestAllocators(t *testing.T) {
	a := new(Allocators)
	for want := 1; want <= MaxAllocators; want++ {
		if n, err := a.Lease(ID(1 + want%3)); n != want || err != nil {
			t.Fatal(n, err)
		}
	}
	if _, err := a.Lease(9); !errors.Is(err, ErrAllocators) {
		t.Fatal(err)
	}
	if a.Return(2, 2) || !a.Return(3, 2) {
		t.Fatal("an allocator was returned by whom it is not, or not by whom it is")
	}
	if n, err := a.Lease(9); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	a.Merge(9, 1)
	if got := a.Of(1); !slices.Contains(got, 2) || len(a.Of(9)) > 0 {
		t.Fatal(got)
	}
}

func TestAllocatorsRepeat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := new(Allocators)
		for _, n := range rapid.SliceOf(rapid.IntRange(1, MaxAllocators)).Draw(t, "numbers") {
			a.holders[n] = ID(rapid.Uint32Range(1, 1<<32-1).Draw(t, "zone"))
		}
		b, err := ReadAllocators(a.Append(nil))
		if err != nil || *b != *a {
			t.Fatal(err)
		}
	})
}

func FuzzAllocators(f *testing.F) {
	a := new(Allocators)
	for range 20 {
		_, _ = a.Lease(7)
	}
	a.Return(7, 3)
	f.Add(a.Append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := ReadAllocators(data)
		if err != nil || len(data) == 0 {
			return
		}
		if again := a.Append(nil); !bytes.Equal(again, data) {
			t.Fatalf("%x was read, and is written %x", data, again)
		}
	})
}
