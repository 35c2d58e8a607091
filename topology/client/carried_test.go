package client

import (
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// TestCarriedOver: what the new server shows stays, what it does not is gone once it has told of
// everything, and a state that it need not tell is as it was at the start.
func TestCarriedOver(t *testing.T) {
	start, err := yard.New(world.Settings{States: []bits.Syncer{&tally{Birds: 3}}})
	must(t, err)
	view, err := yard.New(world.Settings{Partial: true})
	must(t, err)
	var birds []world.ID
	var state world.ID
	for i, c := range yard.Classes() {
		for id := range start.Host().Of(i) {
			must(t, view.Host().Put(id, start.Host().Entry(id), start.Host().Image(id)))
			if c.State() {
				state = id
			}
		}
	}
	for id := range world.All[bird](start) {
		birds = append(birds, id)
	}
	changed := slices.Clone(start.Host().Image(state))
	changed[0]++
	must(t, view.Host().Put(state, start.Host().Entry(state), changed))
	h := newCarriedOver(view, start, time.Second)
	held := func(id world.ID) replica.Update {
		return replica.Update{
			ID: id, What: replica.Held, Entry: start.Host().Entry(id),
			Image: start.Host().Image(id)}
	}
	apply := func(s *replica.Snapshot) {
		for _, u := range s.Updates {
			if u.What != replica.Held {
				view.Host().Drop(u.ID)
			} else {
				must(t, view.Host().Put(u.ID, u.Entry, u.Image))
			}
		}
	}
	for _, s := range []*replica.Snapshot{
		{Updates: []replica.Update{held(birds[0])}, Certain: true}, // there may be more
		{Certain: false},
		{Updates: []replica.Update{held(birds[1])}, Certain: true},
	} {
		if h.update(0, view, s) {
			t.Fatal("it is over too soon")
		}
		apply(s)
	}
	last := &replica.Snapshot{Updates: []replica.Update{held(birds[0])}, Certain: true}
	if !h.update(0, view, last) {
		t.Fatal("it is not over")
	}
	apply(last)
	left := 0
	for range view.Entities() {
		left++
	}
	if left != 2 || !view.Has(birds[0]) || !view.Has(birds[1]) ||
		!slices.Equal(view.Host().Image(state), start.Host().Image(state)) {
		t.Errorf("%d entities are left, and the state is %v", left, view.Host().Image(state))
	}
	// Where nothing is ever certain, it is over after a while.
	h = newCarriedOver(view, nil, time.Second)
	s := &replica.Snapshot{}
	if h.update(time.Second-1, view, s) || !h.update(time.Second, view, s) || len(s.Updates) != 2 {
		t.Errorf("%d updates", len(s.Updates))
	}
}
