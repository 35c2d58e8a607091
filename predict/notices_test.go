package predict

import (
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
	"pgregory.net/rapid"
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
			n.told(ev(real, 10, sure), nil, false, false)
		}, []What{Foreseen, Confirmed}},
		"predicted again and again": {func(n *notices) {
			for range 5 {
				n.predict(ev(real, 10, sure))
			}
			n.told(ev(real, 10, sure), nil, false, false)
			n.predict(ev(real, 10, sure)) // by an older snapshot
		}, []What{Foreseen, Confirmed}},
		"told and then predicted": {func(n *notices) {
			n.told(ev(real, 10, sure), nil, false, false)
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
			n.told(ev(real, 10, sure), nil, false, false)
		}, []What{Foreseen, Denied}},
		"unreliable and not heard of": {func(n *notices) {
			n.predict(ev(real, 10, sparks))
			n.deny(11)
		}, []What{Foreseen, Faded}},
		"about what left the view": {func(n *notices) {
			e := ev(real, 10, sure)
			e.About = real
			n.predict(e)
			n.left(real, 9)
			n.deny(11)
		}, []What{Foreseen, Faded}},
		"about what left the view later": {func(n *notices) {
			e := ev(real, 10, sure)
			e.About = real
			n.predict(e)
			n.left(real, 10)
			n.deny(11)
		}, []What{Foreseen, Denied}},
		"later than it was foreseen": {func(n *notices) {
			n.predict(ev(real, 10, sure))
			n.again(10) // and this time it does not happen at 10
			n.predict(ev(real, 12, sure))
			n.told(ev(real, 12, sure), nil, false, false)
		}, []What{Foreseen, Confirmed}},
		"the server has it at another tick": {func(n *notices) {
			n.predict(ev(real, 10, sure))
			n.told(ev(real, 13, sure), nil, false, false)
			n.deny(100)
		}, []What{Foreseen, Confirmed}},
		"much later is another one": {func(n *notices) {
			n.predict(ev(real, 10, sure))
			n.told(ev(real, 40, sure), nil, false, false)
			n.deny(100)
		}, []What{Foreseen, Happened, Denied}},
		"by someone else is another one": {func(n *notices) {
			n.predict(ev(real, 10, sure))
			n.told(ev(other, 10, sure), nil, false, false)
			n.deny(100)
		}, []What{Foreseen, Happened, Denied}},
		"both of two": {func(n *notices) {
			n.predict(ev(real, 10, sure))
			n.predict(ev(real, 18, sure))
			n.told(ev(real, 18, sure), nil, false, false)
			n.told(ev(real, 10, sure), nil, false, false)
		}, []What{Foreseen, Foreseen, Confirmed, Confirmed}},
		"by a spawn that got its name": {func(n *notices) {
			n.predict(ev(foreseen, 10, sure))
			n.rename(foreseen, real, 5)
			n.predict(ev(real, 10, sure))
			n.told(ev(real, 10, sure), nil, false, false)
		}, []What{Foreseen, Confirmed}},
		"by a spawn that was never seen": {func(n *notices) {
			n.predict(ev(foreseen, 10, sure))
			n.told(ev(real, 10, sure), nil, false, false)
		}, []What{Foreseen, Confirmed}},
		"by a spawn that was spawned again": {func(n *notices) {
			n.predict(ev(foreseen, 10, sure))
			n.again(10)
			n.predict(ev(foreseen+1, 11, sure))
			n.told(ev(real, 11, sure), nil, false, false)
		}, []What{Foreseen, Confirmed}},
		"of what is shown later": {func(n *notices) {
			n.told(ev(real, 10, sure), nil, true, false)
			n.release(9.9)
			if len(n.list) > 0 {
				t.Error("shown before its time")
			}
			n.release(10)
		}, []What{Happened}},
		"provisional and settled": {func(n *notices) {
			n.told(ev(real, 10, sure), nil, false, true)
			n.sure(9)
			n.show()
			n.sure(10)
			n.sure(11)
		}, []What{Happened, Settled}},
		"provisional and retracted": {func(n *notices) {
			n.told(ev(real, 10, sure), nil, false, true)
			n.show()
			n.retract(ev(real, 10, sure), nil)
			n.retract(ev(real, 10, sure), nil)
			n.sure(10)
		}, []What{Happened, Retracted}},
		"retracted before it was shown": {func(n *notices) {
			n.told(ev(real, 10, sure), nil, false, true)
			n.told(ev(other, 10, sure), nil, true, true)
			n.retract(ev(real, 10, sure), nil)
			n.retract(ev(other, 10, sure), nil)
			n.release(100)
			n.sure(10)
		}, nil},
		"foreseen, told and retracted": {func(n *notices) {
			n.predict(ev(real, 10, sure))
			n.told(ev(real, 10, sure), nil, false, true)
			n.show()
			n.retract(ev(real, 10, sure), nil)
			n.predict(ev(real, 10, sure)) // the client knows no better
			n.deny(100)
		}, []What{Foreseen, Confirmed, Retracted}},
		"foreseen for another tick and retracted": {func(n *notices) {
			n.predict(ev(real, 10, sure))
			n.told(ev(real, 12, sure), nil, false, true)
			n.show()
			n.retract(ev(real, 12, sure), nil)
			n.predict(ev(real, 10, sure))
			n.predict(ev(real, 12, sure))
			n.deny(100)
		}, []What{Foreseen, Confirmed, Retracted}},
		"retracted, and happened after all": {func(n *notices) {
			n.told(ev(real, 10, sure), nil, false, true)
			n.show()
			n.retract(ev(real, 10, sure), nil)
			n.show()
			n.told(ev(real, 10, sure), nil, false, true)
			n.sure(10)
		}, []What{Happened, Retracted, Happened, Settled}},
		"a tick later after all": {func(n *notices) {
			n.told(ev(real, 10, sure), nil, false, true)
			n.show()
			n.retract(ev(real, 10, sure), nil)
			n.told(ev(real, 11, sure), nil, false, true)
			n.sure(11)
		}, []What{Happened, Settled}},
		"a tick later after all, and taken back again": {func(n *notices) {
			n.told(ev(real, 10, sure), nil, false, true)
			n.show()
			n.retract(ev(real, 10, sure), nil)
			n.told(ev(real, 11, sure), nil, false, true)
			n.show()
			n.retract(ev(real, 11, sure), nil)
			n.sure(11)
		}, []What{Happened, Retracted}},
		"a tick later, with other fields": {func(n *notices) {
			n.told(ev(real, 10, sure), []byte{1}, false, true)
			n.show()
			n.retract(ev(real, 10, sure), []byte{1})
			n.told(ev(real, 11, sure), []byte{2}, false, true)
			n.sure(11)
		}, []What{Happened, Retracted, Happened, Settled}},
		"settled before it was shown": {func(n *notices) {
			n.told(ev(real, 10, sure), nil, true, true)
			n.sure(10)
			n.release(10)
			n.retract(ev(real, 10, sure), nil)
		}, []What{Happened}},
		"never told and retracted": {func(n *notices) {
			n.retract(ev(real, 10, sure), nil)
			n.told(ev(other, 10, sure), nil, false, false)
			n.retract(ev(other, 10, sure), nil)
		}, []What{Happened}},
	} {
		n := new(notices)
		n.init(yard)
		c.play(n)
		n.show()
		got := shown
		shown = nil
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
}

// shown is what show took since it was last looked at.
var shown []What

// show takes what is to be told, as Client.Show does.
func (n *notices) show() {
	for _, x := range n.take(nil) {
		shown = append(shown, x.What)
	}
}

// TestBelieved looks at how long what is taken back had been shown, and as what.
func TestBelieved(t *testing.T) {
	n := new(notices)
	n.init(yard)
	by := world.MakeID(1, 0, 4, 1)
	ev := func(tick world.Tick) world.Emitted {
		return world.Emitted{Name: world.Name{By: by, Tick: tick}, About: by, Kind: 1}
	}
	n.again(20)
	n.predict(ev(20)) // foreseen, shown at 20
	n.again(24)
	n.told(ev(21), []byte{7}, false, true)
	n.take(nil)
	n.again(50)
	n.retract(ev(21), []byte{7})
	list := n.take(nil)
	if len(list) != 1 || list[0].What != Retracted || list[0].Emitted != ev(20) ||
		list[0].Believed != 30*yard.TickLength() || len(list[0].data) != 1 {
		t.Errorf("%+v", list)
	}
}

// TestNoticesOfAnything plays news at random: what is shown is shown once, and what was provisional
// is then settled or retracted, once.
func TestNoticesOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := new(notices)
		n.init(yard)
		var told []world.Emitted         // and neither retracted nor certain: what a receiver keeps
		open := map[world.Emitted]bool{} // shown as provisional
		look := func() {
			for _, x := range n.take(nil) {
				switch {
				case x.Shows() || x.What == Confirmed:
					if open[x.Emitted] {
						t.Fatalf("%v twice: %+v", x.What, x.Emitted)
					}
					if x.Provisional {
						open[x.Emitted] = true
					}
				case x.What == Settled || x.What == Retracted:
					if !open[x.Emitted] {
						t.Fatalf("%v, and was not in doubt: %+v", x.What, x.Emitted)
					}
					delete(open, x.Emitted)
				}
			}
		}
		settled := world.Tick(0)
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			e := world.Emitted{
				Kind: 1, Name: world.Name{
					By: world.MakeID(1, 0, rapid.IntRange(0, 1).Draw(t, "by"), 1), Tick: settled +
						1 + world.Tick(rapid.IntRange(0, 15).Draw(t, "tick"))}}
			known := slices.Index(told, e)
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1:
				if known < 0 {
					n.told(e, nil, rapid.Bool().Draw(t, "later"), true)
					told = append(told, e)
				}
			case 2:
				if known >= 0 {
					n.retract(e, nil)
					told = slices.Delete(told, known, known+1)
				}
			case 3:
				settled += world.Tick(rapid.IntRange(0, 3).Draw(t, "on"))
				n.sure(settled)
				told = slices.DeleteFunc(told,
					func(e world.Emitted) bool { return e.Tick <= settled })
			case 4:
				n.release(float64(e.Tick))
			case 5:
				look()
			}
		}
		n.release(1 << 20)
		look()
		n.sure(1 << 20)
		look()
		if len(open) > 0 || len(n.doubted) > 0 {
			t.Fatalf("still open: %v", open)
		}
	})
}

func (n *notices) predict(e world.Emitted) {
	n.foresee(e, &hit{})
	n.conclude()
}

// aside is an event for one player.
type aside struct{ to world.Player }

func (*aside) Sync(*bits.Sync) {}

func (a *aside) For(p world.Player) bool { return p == a.to }

// TestForeseesNothingForOthers: what is for another player is not shown before the server is silent
// about it.
func TestForeseesNothingForOthers(t *testing.T) {
	var n notices
	n.init(yard)
	n.me = 1
	for to := range world.Player(3) {
		name := world.Name{Tick: 10, Ordinal: uint16(to)}
		n.foresee(world.Emitted{Name: name, Kind: 1}, &aside{to})
	}
	n.conclude()
	if len(n.list) != 1 || n.list[0].Ordinal != 1 {
		t.Errorf("foreseen are %v", n.list)
	}
}
