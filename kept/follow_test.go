package kept_test

import (
	"context"
	"testing"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/world"
)

// TestFollowersWant: a desk that does not lead says which tick those who wait need, as its disk has
// to have it too; and once more where a request is pending for so long that another may lead.
func TestFollowersWant(t *testing.T) {
	a := open(t, new(kept.Memory), kept.Options{World: 7})
	a.join(1, 2)
	follower, err := kept.NewDesk(market, kept.Options{Led: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := follower.Open(context.Background(), a.store); err != nil {
		t.Fatal(err)
	}
	look := func() world.Tick {
		follower.SetEpoch(false, 3)
		follower.Tick(a.w)
		return follower.Wanted()
	}
	if got := look(); got != 0 {
		t.Fatalf("tick %d is wanted, and nobody waits", got)
	}
	step := func(p world.Player, o order) { // without the store's answer
		a.in.Reset()
		if err := world.Give(a.in, p, o); err != nil {
			t.Fatal(err)
		}
		if err := a.w.Host().Step(a.in); err != nil {
			t.Fatal(err)
		}
	}
	step(2, order{Buy: 1, Price: 1})
	asked := a.w.Tick()
	for range 2 * market.Rate() {
		if got := look(); got != asked {
			t.Fatalf("tick %d: %d is wanted, and the request is of %d", a.w.Tick(), got, asked)
		}
		step(2, order{})
	}
	later := map[world.Tick]bool{}
	for range market.Rate() {
		got := look()
		if got <= asked || got > a.w.Tick() {
			t.Fatalf("tick %d: %d is wanted of a request that is late", a.w.Tick(), got)
		}
		later[got] = true
		step(2, order{})
	}
	if len(later) < 4 || len(later) > 6 {
		t.Errorf("in a second the disk is asked to flush %d times", len(later))
	}
	for range 3 {
		a.step(nil)
	}
	if got := look(); got != 0 {
		t.Errorf("tick %d is wanted after the answer", got)
	}
}
