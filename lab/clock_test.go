package lab

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDescriptors(t *testing.T) {
	most := mostDescriptors()
	if most == math.MaxUint64 || most > 1<<40 {
		t.Skip("there is no limit here")
	}
	if err := CheckDescriptors(int(most)); err == nil ||
		!strings.Contains(err.Error(), "ulimit -n") {
		t.Errorf("got %v", err)
	}
	if err := CheckDescriptors(1); err != nil {
		t.Error(err)
	}
}

// A beat never rests for longer than a tick, stays in phase, and does not hurry after what it
// missed.
func TestBeat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		every := time.Duration(rapid.IntRange(1, 1e9).Draw(t, "every"))
		b := Beat{Every: every}
		now := time.Duration(0)
		for range 50 {
			now += time.Duration(rapid.Int64Range(0, int64(5*every)).Draw(t, "took"))
			rest := b.Next(now)
			if rest < 0 || rest > every {
				t.Fatalf("rests for %v of %v", rest, every)
			}
			now += rest
			if b.due%every != 0 || b.due > now || b.due <= now-every {
				t.Fatalf("at %v it is due at %v, every %v", now, b.due, every)
			}
		}
	})
}

// Every client has one turn in each tick, in order, and none near the tick's ends. A tick that was
// missed is left out.
func TestTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		every := time.Second / time.Duration(rapid.IntRange(1, 1000).Draw(t, "rate"))
		turns := Turns{Every: every, Clients: rapid.IntRange(1, 600).Draw(t, "clients")}
		tick := rapid.IntRange(0, 1e6).Draw(t, "tick")
		last := time.Duration(-1)
		for i := range turns.Clients {
			at := turns.due(tick*turns.Clients+i, every/10,
				every-every/10) - time.Duration(tick)*every
			if at < every/10 || at > every*9/10 || at < last {
				t.Fatalf("turn %d of %d comes at %v of %v, after %v", i, turns.Clients, at, every,
					last)
			}
			last = at
		}
		played, skip := 0, rapid.IntRange(0, 5).Draw(t, "missed")
		for n := range 3 {
			now := time.Duration(n*(1+skip)+1) * every
			next, err := turns.Take(now, every/10, every-every/10,
				func(int) error { played++; return nil })
			if err != nil || next <= now {
				t.Fatalf("the next turn is at %v, at %v: %v", next, now, err)
			}
		}
		if played > 3*(turns.Clients+1)+turns.Clients {
			t.Fatalf("%d clients had %d turns in 3 ticks", turns.Clients, played)
		}
	})
	turns := Turns{Every: time.Second, Clients: 1}
	if _, err := turns.Take(time.Second, 0, time.Second,
		func(int) error { return errors.New("no") }); err == nil {
		t.Error("an error is lost")
	}
}
