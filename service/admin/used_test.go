package admin

import (
	"bytes"
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/conn/token"
)

// FuzzUsed: whatever a mirror answers, it is read as marks or refused, and marks are written as
// they were read.
func FuzzUsed(f *testing.F) {
	marks := []token.Mark{{ID: [token.IDSize]byte{1, 2}, Client: 1 << 60, Expires: 77},
		{ID: [token.IDSize]byte{3}, Client: 2, Expires: -1, Resumed: true}}
	seed := newUsed(marks, 3, 4)
	if got, err := seed.List(); err != nil || !slices.Equal(got, marks) {
		f.Fatal(got, err)
	}
	f.Add(seed.Marks)
	f.Add(seed.Marks[1:])
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := (&Used{Marks: b}).List()
		if err != nil {
			return
		}
		if again := newUsed(list, 0, 0).Marks; !bytes.Equal(again, b) {
			t.Fatalf("%x, want %x", again, b)
		}
	})
}
