package keep

import (
	"bytes"
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// FuzzAttached is given what is attached to records. What is read is written as it was.
func FuzzAttached(f *testing.F) {
	seats := []Seat{
		{Client: 7, Player: 1, Name: "ada", Inside: true}, {Player: 2, Empty: true},
		{Client: 1 << 63, Player: 65535, UserData: []byte{1, 2}},
	}
	first := Snapshot{Level: game.Level{Name: "x", Seed: 1, Data: []byte("map")}, Seats: seats}
	for _, base := range []world.Tick{0, 7200} {
		start, err := appendStart(nil, &first)
		if err != nil {
			f.Fatal(err)
		}
		got, err := parseStart(start)
		if err != nil || got.Stay != first.Stay || got.Base != first.Base {
			f.Errorf("%+v, %v", got, err)
		}
		f.Add(start)
		first.Stay, first.Base = 5, base
	}
	start, err := appendStart(nil, &first)
	if err != nil {
		f.Fatal(err)
	}
	changes, err := appendChanges(nil, seats)
	if err != nil {
		f.Fatal(err)
	}
	if got, err := parseChanges(changes); err != nil ||
		!slices.EqualFunc(got, seats, func(a, b Seat) bool { return a.Equal(&b) }) {
		f.Errorf("%+v, %v", got, err)
	}
	f.Add(start)
	f.Add(changes)
	f.Add(changes[:5])
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := parseStart(data); err == nil {
			again, err := appendStart(nil, &s)
			if err != nil || len(again) > len(data) {
				t.Errorf("%d bytes are written as %d, %v", len(data), len(again), err)
			}
		}
		if seats, err := parseChanges(data); err == nil {
			again, err := appendChanges(nil, seats)
			if err != nil || len(again) == len(data) && !bytes.Equal(again, data) {
				t.Errorf("%x is written as %x, %v", data, again, err)
			}
		}
	})
}

// TestSeatsTooLarge: what cannot be read again is not written.
func TestSeatsTooLarge(t *testing.T) {
	for _, s := range []Seat{
		{Player: 1, Name: string(make([]byte, maxName+1))},
		{Player: 1, UserData: make([]byte, maxUserData+1)},
	} {
		if _, err := appendChanges(nil, []Seat{s}); err == nil {
			t.Error("it is written")
		}
	}
}
