package predict

import (
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/world"
)

// TestNotices plays predictions and news, and looks at what would be shown and decided.
func TestNotices(t *testing.T) {
	const sure, sparks = 1, 2 // kinds of the yard: hit is reliable, spark is not
	real := world.MakeID(1, 0, 4, 1)
	other := world.MakeID(1, 0, 5, 1)
	foreseen := world.MakeID(1, world.Predicted, 0, 1)
	ev := func(by world.ID, tick world.Tick, kind uint16) world.Emitted {
		return world.Emitted{Name: world.Name{By: by, Tick: tick}, About: by, Kind: kind}
	}
	for name, c := range map[string]struct {
		play func(n *notices)
		want []What
	}{
		"foreseen and confirmed": {func(n *notices) {
			n.predict(ev(real, 10, sure))
			n.told(ev(real, 10, sure), nil, false)
		}, []What{Foreseen, Confirmed}},
		"predicted again and again": {func(n *notices) {
			for range 5 {
				n.predict(ev(real, 10, sure))
			}
			n.told(ev(real, 10, sure), nil, false)
			n.predict(ev(real, 10, sure)) // by an older snapshot
		}, []What{Foreseen, Confirmed}},
		"told and then predicted": {func(n *notices) {
			n.told(ev(real, 10, sure), nil, false)
			n.predict(ev(real, 10, sure))
		}, []What{Happened}},
		"denied": {func(n *notices) {
			n.predict(ev(real, 10, sure))
			n.deny(10)
			n.deny(11)
			n.deny(12)
		}, []What{Foreseen, Denied}},
		"denied too early": {func(n *notices) {
			n.predict(ev(real, 10, sure))
			n.deny(11)
			n.told(ev(real, 10, sure), nil, false)
		}, []What{Foreseen, Denied}},
		"unreliable and not heard of": {func(n *notices) {
			n.predict(ev(real, 10, sparks))
			n.deny(11)
		}, []What{Foreseen, Faded}},
		"later than it was foreseen": {func(n *notices) {
			n.predict(ev(real, 10, sure))
			n.again(10) // and this time it does not happen at 10
			n.predict(ev(real, 12, sure))
			n.told(ev(real, 12, sure), nil, false)
		}, []What{Foreseen, Confirmed}},
		"the server has it at another tick": {func(n *notices) {
			n.predict(ev(real, 10, sure))
			n.told(ev(real, 13, sure), nil, false)
			n.deny(100)
		}, []What{Foreseen, Confirmed}},
		"much later is another one": {func(n *notices) {
			n.predict(ev(real, 10, sure))
			n.told(ev(real, 40, sure), nil, false)
			n.deny(100)
		}, []What{Foreseen, Happened, Denied}},
		"by someone else is another one": {func(n *notices) {
			n.predict(ev(real, 10, sure))
			n.told(ev(other, 10, sure), nil, false)
			n.deny(100)
		}, []What{Foreseen, Happened, Denied}},
		"both of two": {func(n *notices) {
			n.predict(ev(real, 10, sure))
			n.predict(ev(real, 18, sure))
			n.told(ev(real, 18, sure), nil, false)
			n.told(ev(real, 10, sure), nil, false)
		}, []What{Foreseen, Foreseen, Confirmed, Confirmed}},
		"by a spawn that got its name": {func(n *notices) {
			n.predict(ev(foreseen, 10, sure))
			n.rename(foreseen, real, 5)
			n.predict(ev(real, 10, sure))
			n.told(ev(real, 10, sure), nil, false)
		}, []What{Foreseen, Confirmed}},
		"by a spawn that was never seen": {func(n *notices) {
			n.predict(ev(foreseen, 10, sure))
			n.told(ev(real, 10, sure), nil, false)
		}, []What{Foreseen, Confirmed}},
		"of what is shown later": {func(n *notices) {
			n.told(ev(real, 10, sure), nil, true)
			n.release(9.9)
			if len(n.list) > 0 {
				t.Error("shown before its time")
			}
			n.release(10)
		}, []What{Happened}},
	} {
		n := new(notices)
		n.init(yard)
		c.play(n)
		var got []What
		for _, x := range n.take(nil) {
			got = append(got, x.What)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
}

func (n *notices) predict(e world.Emitted) {
	n.foresee(e, &hit{})
	n.conclude()
}
