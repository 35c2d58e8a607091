package clientserver

import (
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

func emitted(tick world.Tick, ordinal uint16) world.Emitted {
	return world.Emitted{Name: world.Name{Tick: tick, Ordinal: ordinal}}
}

// TestEchoes: what one server told is not told again by the next, what it was wrong about is taken back when the next is certain, and what is retracted may happen again.
func TestEchoes(t *testing.T) {
	var h echoes
	saved := func(tick world.Tick, provisional bool) *replica.Event {
		return &replica.Event{Emitted: emitted(tick, 0), Delivery: world.Saved, Provisional: provisional}
	}
	for i := range world.Tick(5) {
		if h.hear(saved(10+i, i >= 2)) {
			t.Fatalf("event %d was not heard before", i)
		}
	}
	if never := h.settle(12); never != nil {
		t.Fatalf("nothing is doubted, and %v never happened", never)
	}
	h.moved() // with 13 and 14 open
	if !h.hear(saved(10, false)) || !h.hear(saved(13, true)) {
		t.Error("the next server tells what is known, and it is taken for news")
	}
	if never := h.settle(13); never != nil {
		t.Errorf("%v never happened, and the server is not certain yet", never)
	}
	if never := h.settle(14); !slices.Equal(never, []world.Emitted{emitted(14, 0)}) {
		t.Errorf("%v never happened, want the event of tick 14", never)
	}
	if h.hear(saved(14, false)) {
		t.Error("it happened after all, and is not news")
	}
	h.hear(&replica.Event{Emitted: emitted(14, 0), Delivery: world.Saved, Retracted: true})
	if h.hear(saved(14, false)) || !h.hear(saved(14, false)) {
		t.Error("what was retracted and happens again is news, once")
	}
	plain := func(n int) *replica.Event { return &replica.Event{Emitted: emitted(world.Tick(n), 1)} }
	for i := range 3 * recentEvents {
		if h.hear(plain(i)) || i > 5 && !h.hear(plain(i-5)) {
			t.Fatalf("event %d", i)
		}
	}
	if len(h.recent) != recentEvents {
		t.Errorf("%d events are remembered", len(h.recent))
	}
}

// TestHeirs: what the new server shows stays, what it does not is gone once it has told of everything, and a state that it need not tell is as it was at the start.
func TestHeirs(t *testing.T) {
	settings, err := yardSettings(3, 2)(Level{})
	must(t, err)
	start, err := yard.New(settings)
	must(t, err)
	settings.Partial, settings.States = true, nil
	view, err := yard.New(settings)
	must(t, err)
	var birds []world.ID
	var state world.ID
	for i, c := range yard.Classes() {
		for id := range start.Of(i) {
			must(t, view.Put(id, start.Entry(id), start.Image(id)))
			if c.State() {
				state = id
			}
		}
	}
	for id := range world.All[bird](start) {
		birds = append(birds, id)
	}
	changed := slices.Clone(start.Image(state))
	changed[0]++
	must(t, view.Put(state, start.Entry(state), changed))
	h := newHeirs(view, start, time.Second)
	held := func(id world.ID) replica.Update {
		return replica.Update{ID: id, What: replica.Held, Entry: start.Entry(id), Image: start.Image(id)}
	}
	apply := func(s *replica.Snapshot) {
		for _, u := range s.Updates {
			if u.What != replica.Held {
				view.Drop(u.ID)
			} else {
				must(t, view.Put(u.ID, u.Entry, u.Image))
			}
		}
	}
	for _, s := range []*replica.Snapshot{
		{Updates: []replica.Update{held(birds[0])}, Certain: true}, // there may be more
		{Certain: false},
		{Updates: []replica.Update{held(birds[1])}, Certain: true},
	} {
		if h.settle(0, view, s) {
			t.Fatal("it is over too soon")
		}
		apply(s)
	}
	last := &replica.Snapshot{Updates: []replica.Update{held(birds[0])}, Certain: true}
	if !h.settle(0, view, last) {
		t.Fatal("it is not over")
	}
	apply(last)
	left := 0
	for range view.Entities() {
		left++
	}
	if left != 2 || !view.Has(birds[0]) || !view.Has(birds[1]) || !slices.Equal(view.Image(state), start.Image(state)) {
		t.Errorf("%d entities are left, and the state is %v", left, view.Image(state))
	}
	// Where nothing is ever certain, it is over after a while.
	h = newHeirs(view, nil, time.Second)
	s := &replica.Snapshot{}
	if h.settle(time.Second-1, view, s) || !h.settle(time.Second, view, s) || len(s.Updates) != 2 {
		t.Errorf("%d updates", len(s.Updates))
	}
}
