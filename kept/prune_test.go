package kept_test

import (
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/world"
)

// TestAnswersAreForgotten: however long is traded, few answers are kept. One that a pending request
// may ask for stays. A world that was restored to before that is refused, and nothing is doubled.
func TestAnswersAreForgotten(t *testing.T) {
	var store kept.Memory
	x := open(t, &store, kept.Options{World: 7, Prune: 20})
	x.join(1, 2)
	old, err := market.New(world.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for i := range 100 {
		if i == 5 { // in which a trade is pending, that is executed next
			x.give(2, order{Buy: 1})
			if err := old.Host().CopyFrom(x.w); err != nil {
				t.Fatal(err)
			}
		}
		for range 9 {
			x.step(nil)
		}
		x.give(2, order{Dig: true})
		most = max(most, store.Answers())
	}
	for i := range 50 {
		x.give(world.Player(1+i%2), order{Buy: uint16(2 - i%2), Ware: uint8(i % 4)})
		for range 9 {
			x.step(nil)
		}
		most = max(most, store.Answers())
	}
	if n := x.desk.Stats(); most > 10 || n.Requests < 50 || n.Prunes < 10 {
		t.Errorf("%d answers at most, %+v", most, n)
	}
	back := reopen(t, &store, kept.Options{World: 8, Prune: 20}, old)
	var said []string
	for until := x.w.Tick() + 20; back.w.Tick() < until; {
		back.step(nil)
		for _, e := range world.Events[sold](back.w) {
			said = append(said, e.Why)
		}
	}
	if len(said) != 1 || !strings.Contains(said[0], "restored") {
		t.Errorf("what was pending in the world that was restored: %q", said)
	}
}
