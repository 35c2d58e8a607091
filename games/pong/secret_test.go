package pong

import (
	"testing"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// TestServesCannotBeForeseen: a player who knows the rules, the seed and the ball tries to know on
// which side the next serve goes, before it does. By the public stream that is no better than
// chance; only the secret tells.
func TestServesCannotBeForeseen(t *testing.T) {
	const seed, secret, serves = 4, 0x5eed0f5ec4e75, 400
	ways := []struct {
		name string
		rand func(id world.ID, tick world.Tick) det.Rand
		hits int
	}{
		{"the public stream", func(id world.ID, tick world.Tick) det.Rand {
			return det.At(seed, uint64(id), uint64(tick))
		}, 0},
		{"the public stream of a guessed secret", func(id world.ID, tick world.Tick) det.Rand {
			return det.At(seed+1, uint64(id), uint64(tick))
		}, 0},
		{"a client's own secret", func(id world.ID, tick world.Tick) det.Rand {
			return det.Keyed(0, uint64(id), uint64(tick))
		}, 0},
		{"the secret", func(id world.ID, tick world.Tick) det.Rand {
			return det.Keyed(secret, uint64(id), uint64(tick))
		}, 0},
	}
	w, err := Game.New(world.Settings{Seed: seed, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	in, n := Game.NewInputs(), 0
	in.Join(1) // who stands still, so that there are goals
	for n < serves {
		var id world.ID
		waits := false
		for i, b := range world.All[Ball](w) {
			id, waits = i, b.Wait == 1
		}
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		in.Reset()
		if !waits {
			continue
		}
		n++
		left := world.Get[Ball](w, id).Vel.X < 0
		for i := range ways {
			r := ways[i].rand(id, w.Tick())
			r.Range(-0.6, 0.6)
			if r.Chance(0.5) == left {
				ways[i].hits++
			}
		}
	}
	for i, x := range ways {
		t.Logf("%d of %d serves foreseen by %s", x.hits, n, x.name)
		if known := i == len(ways)-1; known != (x.hits == n) || !known && (x.hits < n*2/5 ||
			x.hits > n*3/5) {
			t.Errorf("%d of %d serves foreseen by %s", x.hits, n, x.name)
		}
	}
}

// TestClientsWaitForTheServe: a client that predicts lets the ball lie until it is told.
func TestClientsWaitForTheServe(t *testing.T) {
	w, err := Game.New(world.Settings{Seed: 1, Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if err := w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range world.All[Ball](w) {
		if b.Wait != 1 || b.Vel != (det.Vec2{}) {
			t.Errorf("%+v", b)
		}
	}
}
