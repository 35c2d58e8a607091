package timeline_test

import (
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// TestShift: a timeline whose world began in the middle of a group's time computes what one does
// that began with it, and what it says of commands is in the group's ticks.
func TestShift(t *testing.T) {
	rate := world.Tick(game.Rate())
	for _, by := range []world.Tick{rate, 7 * rate, 100_000 * rate} {
		open := func() timeline.Timeline {
			w, err := game.New(world.Settings{Seed: 7})
			if err != nil {
				t.Fatal(err)
			}
			line, err := timeline.NewTrailing(w, timeline.TrailingOptions{
				Options: timeline.Options{Held: true},
				Delays:  timeline.DelaysOf(0, 100*time.Millisecond, 500*time.Millisecond)})
			if err != nil {
				t.Fatal(err)
			}
			return line
		}
		plain := open()
		late, err := timeline.Shift(open(), by)
		if err != nil {
			t.Fatal(err)
		}
		from := timeline.NewClock(plain.Settled()).Time(by)
		for now := time.Duration(0); now < 3*time.Second; now += 7 * time.Millisecond {
			at := plain.Stamp(now)
			if got := late.Stamp(now + from); got != at+by {
				t.Fatalf("stamps %d, want %d", got, at+by)
			}
			c := timeline.Command{Kind: timeline.Join, Tick: at, Origin: 1, Seq: 1, Player: 1}
			if now > 0 {
				c = timeline.Command{Tick: at, Origin: 1, Seq: uint32(now), Player: 1,
					Image: image(act{X: 1, Fire: at%5 == 0})}
			}
			was, _ := plain.Submit(now, c)
			c.Tick += by
			if got, err := late.Submit(now+from, c); got != was || err != nil {
				t.Fatalf("%v becomes %v, %v, want %v", c.String(), got, err, was)
			}
			plain.Hold(at - min(at, 3))
			late.Hold(by + at - min(at, 3))
			if plain.Advance(now) != nil || late.Advance(now+from) != nil {
				t.Fatal("cannot go on")
			}
			for _, pair := range [][2]*world.World{{plain.Leading(), late.Leading()},
				{plain.Settled(), late.Settled()}} {
				if pair[0].Tick() != pair[1].Tick() || pair[0].Hash() != pair[1].Hash() {
					t.Fatalf("after %v: tick %d and %d", now, pair[0].Tick(), pair[1].Tick())
				}
			}
			if next := late.Next() - from; next != plain.Next() {
				t.Fatalf("next at %v, want %v", next, plain.Next())
			}
		}
		if plain.Settled().Tick() < 2*rate {
			t.Fatalf("only tick %d is settled", plain.Settled().Tick())
		}
		a, b := slices.Collect(plain.Pending), timeline.Unshift(slices.Collect(late.Pending), by)
		if len(a) == 0 || len(a) != len(b) || a[0].Tick != b[0].Tick {
			t.Errorf("%d and %d commands are pending", len(a), len(b))
		}
		old := timeline.Command{Kind: timeline.Leave, Tick: by, Origin: 1, Seq: 9, Player: 1}
		if got, err := late.Submit(from, old); got != timeline.TooLate || err != nil {
			t.Errorf("what is for a tick before the world began is %v, %v", got, err)
		}
	}
	w, _ := game.New(world.Settings{})
	line, _ := timeline.NewTrailing(w, timeline.TrailingOptions{})
	if _, err := timeline.Shift(line, rate+1); err == nil {
		t.Error("a world begins within a second")
	}
}
