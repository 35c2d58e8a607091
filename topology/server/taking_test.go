package server

import (
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/world"
)

// Each command waits once, by rising ticks, and no more of them than may.
func TestArrivals(t *testing.T) {
	var l arrivals
	put := func(tick world.Tick, v int32) verdict { return l.put(100, tick, 60, []int32{v}) }
	for i, x := range []struct {
		tick world.Tick
		v    int32
		want verdict
	}{
		{90, 1, taken}, {92, 3, taken}, {91, 2, taken}, {91, 2, again}, {91, 5, differed},
		{160, 9, taken}, {161, 9, future},
	} {
		if got := put(x.tick, x.v); got != x.want {
			t.Errorf("number %d, tick %d: %d, want %d", i, x.tick, got, x.want)
		}
	}
	for i, want := range []int32{1, 2, 3, 9} {
		if l.list[i].image[0] != want {
			t.Errorf("number %d is %v, not %d", i, l.list[i], want)
		}
	}
	if l.drop(2); l.acted != 91 || len(l.list) != 2 || put(90, 1) != again || put(91, 7) != again {
		t.Errorf("after two were executed: %+v", l)
	}
	for tick := world.Tick(93); tick < 160; tick++ {
		put(tick, 1)
	}
	for tick := world.Tick(161); tick < 300; tick++ {
		l.put(300, tick, 60, []int32{1})
	}
	if len(l.list) != mostWaiting || l.put(300, 310, 60, []int32{1}) != late {
		t.Errorf("%d wait", len(l.list))
	}
	l.list = l.list[:0]
	image := []int32{1}
	n := testing.AllocsPerRun(100, func() {
		for i := range world.Tick(5) {
			l.put(l.acted, l.acted+1+i, 60, image)
		}
		l.drop(len(l.list))
	})
	if n > 0 {
		t.Errorf("%g allocations for five commands", n)
	}
}

// What a command showed counts from the tick that it is executed at.
func TestArrivalSight(t *testing.T) {
	c := arrival{tick: 50, sight: world.Sight{Ago: 160, Base: 12}}
	if s := c.at(47); s.Ago != 160-48 || s.Base != 9 {
		t.Errorf("three ticks early: %+v", s)
	}
	if s := c.at(53); s.Ago != 160+48 || s.Base != 15 {
		t.Errorf("three ticks late: %+v", s)
	}
	if s := c.at(20); s.Ago != 1 || s.Base != 0 {
		t.Errorf("long before: %+v", s)
	}
}

// Each command moves a body, so that a title has to say what that is; and a world that belongs to
// an engine takes commands by their ticks.
func TestTakingNeeds(t *testing.T) {
	o := Options{Title: &game.Title{Game: yard}, Take: Each, Links: []link.Link{nil}}
	if err := o.fill(); err == nil || !strings.Contains(err.Error(), "h.Body") {
		t.Errorf("without a body: %v", err)
	}
	o.Take, o.Engine = Newest, newLocal(yard, 0)
	if err := o.fill(); err == nil || !strings.Contains(err.Error(), "leave Take empty") {
		t.Errorf("with an engine: %v", err)
	}
	o.Take, o.Engine = 9, nil
	if err := o.fill(); err == nil || !strings.Contains(err.Error(), "Taking(9)") {
		t.Errorf("one that there is not: %v", err)
	}
}

// BenchmarkArrivals takes a command and executes it.
func BenchmarkArrivals(b *testing.B) {
	var l arrivals
	image := make([]int32, 12)
	b.ReportAllocs()
	for i := range b.N {
		l.put(world.Tick(i), world.Tick(i+1), 60, image)
		l.drop(1)
	}
}
