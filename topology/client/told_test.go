package client

import (
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

func emitted(tick world.Tick, ordinal uint16) world.Emitted {
	return world.Emitted{Name: world.Name{Tick: tick, Ordinal: ordinal}}
}

// TestAlreadyTold: what one server told is not told again by the next, what it was wrong about is
// taken back when the next is certain, and what is retracted may happen again.
func TestAlreadyTold(t *testing.T) {
	var h alreadyTold
	hidden := world.MakeID(1, 0, 7, 1)
	sees := func(id world.ID) bool { return id != hidden }
	saved := func(tick world.Tick, provisional bool) *replica.Event {
		return &replica.Event{
			Emitted: emitted(tick, 0), Delivery: world.Saved, Provisional: provisional}
	}
	for i := range world.Tick(5) {
		if h.hear(saved(10+i, i >= 2)) {
			t.Fatalf("event %d was not heard before", i)
		}
	}
	if never := h.certain(12, sees); never != nil {
		t.Fatalf("nothing is doubted, and %v never happened", never)
	}
	unseen := saved(14, true)
	unseen.Ordinal, unseen.About = 3, hidden
	h.hear(unseen)
	h.moved() // with 13 and 14 open, and one about what the next server may not show
	if !h.hear(saved(10, false)) || !h.hear(saved(13, true)) {
		t.Error("the next server tells what is known, and it is taken for news")
	}
	if never := h.certain(13, sees); never != nil {
		t.Errorf("%v never happened, and the server is not certain yet", never)
	}
	if never := h.certain(14, sees); !slices.Equal(never, []world.Emitted{emitted(14, 0)}) {
		t.Errorf("%v never happened, want the event of tick 14", never)
	}
	if h.hear(saved(14, false)) {
		t.Error("it happened after all, and is not news")
	}
	h.hear(&replica.Event{Emitted: emitted(14, 0), Delivery: world.Saved, Retracted: true})
	if h.hear(saved(14, false)) || !h.hear(saved(14, false)) {
		t.Error("what was retracted and happens again is news, once")
	}
	plain := func(n int) *replica.Event {
		return &replica.Event{Emitted: emitted(world.Tick(n), 1)}
	}
	for i := range 3 * recentEvents {
		if h.hear(plain(i)) || i > 5 && !h.hear(plain(i-5)) {
			t.Fatalf("event %d", i)
		}
	}
	if len(h.recent) != recentEvents {
		t.Errorf("%d events are remembered", len(h.recent))
	}
}
