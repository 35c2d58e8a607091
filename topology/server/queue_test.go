package server

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/world"
	"pgregory.net/rapid"
)

// TestQueueAgainstModel compares the queue with a map without bounds: what is taken is what was put
// first, for a tick that was within reach.
func TestQueueAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reach := rapid.IntRange(1, 20).Draw(t, "reach")
		q := newQueue(2, reach, true)
		model, used := map[world.Tick][2]int32{}, map[int]world.Tick{}
		now := world.Tick(rapid.IntRange(0, 5).Draw(t, "start"))
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
				now++
				got, _ := q.take(now)
				want := model[now]
				if got != nil {
					used[int(now)%reach] = now // it is remembered until another takes its place
				}
				if _, ok := model[now]; ok != (got != nil) || ok && [2]int32(got) != want {
					t.Fatalf("tick %d: %v, want %v", now, got, want)
				}
				continue
			}
			tick := world.Tick(max(int(now)+rapid.IntRange(-3, reach+3).Draw(t, "ahead"), 0))
			image := [2]int32{rapid.Int32Range(0, 1).Draw(t, "a"), 7}
			before, known := model[tick]
			want := taken
			switch {
			case tick <= now && tick > 0 && used[int(tick)%reach] == tick:
				want = again
			case tick <= now:
				want = late
			case int(tick-now) > reach:
				want = future
			case known && before != image:
				want = differed
			case known:
				want = again
			default:
				model[tick] = image
			}
			if got := q.put(now, tick, image[:]); got != want {
				t.Fatalf("put for %d at %d: %d, want %d", tick, now, got, want)
			}
		}
	})
}

// TestBucket: never more than the burst and what the rate allows.
func TestBucket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate, burst := float64(rapid.IntRange(1, 50).Draw(t, "rate")),
			float64(rapid.IntRange(1, 20).Draw(t, "burst"))
		var b bucket
		now := time.Duration(rapid.IntRange(0, 1e9).Draw(t, "start"))
		from, passed := now, 0
		for range 200 {
			now += time.Duration(rapid.IntRange(0, 1e8).Draw(t, "step"))
			if b.pass(now, rate, burst) {
				passed++
			}
		}
		if most := burst + rate*(now-from).Seconds() + 1e-6; float64(passed) > most {
			t.Fatalf("%d passed, at most %v may", passed, most)
		}
		if least := min(burst, 200); float64(passed) < least {
			t.Fatalf("%d passed, at least %v must", passed, least)
		}
	})
}

func TestConductIsForgiven(t *testing.T) {
	var r conduct
	for i := range 1000 {
		// ten a second, and twenty are forgiven
		if r.add(time.Duration(i)*time.Second, BadCommand, 200) {
			t.Fatal("dropped for what is forgiven")
		}
	}
	r = conduct{}
	enough := false
	for range 21 {
		enough = r.add(time.Second, BadCommand, 200)
	}
	if !enough {
		t.Error("210 points at once are not enough for 200")
	}
}
