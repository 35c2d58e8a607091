package kept_test

import (
	"context"
	"testing"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/world"
)

// counting is a store that counts how often each row was written, by the tick.
type counting struct {
	kept.Memory
	now  world.Tick
	last map[kept.Key]world.Tick
	soon int // rows that were written again too soon
	rows int
	each world.Tick
}

func (c *counting) Write(ctx context.Context, fences []kept.Fence, rows []kept.Row) error {
	for _, r := range rows {
		if at, ok := c.last[r.Key]; ok && c.now < at+c.each {
			c.soon++
		}
		c.last[r.Key] = c.now
		c.rows++
	}
	return c.Memory.Write(ctx, fences, rows)
}

// TestOnceASecond has many change at every tick: each is written once in so many ticks, not sooner
// and not later.
func TestOnceASecond(t *testing.T) {
	const n, every, rounds = 300, 7, 10
	store := &counting{last: map[kept.Key]world.Tick{}, each: every}
	x := open(t, store, kept.Options{World: 7, Every: every})
	var all []world.Player
	for p := range n {
		all = append(all, world.Player(p+1))
	}
	x.join(all...)
	play := func(ticks int) {
		for range ticks {
			for _, tr := range world.All[trader](x.w) {
				tr.Gold = (tr.Gold + 1) % 1000
			}
			store.now = x.w.Tick() + 1
			x.step(nil)
		}
	}
	play(2 * every)
	store.rows = 0
	play(rounds * every)
	if store.soon != 0 || store.rows != n*rounds {
		t.Errorf("%d rows, of which %d too soon; want %d", store.rows, store.soon, n*rounds)
	}
}

// TestNothingIsLeftOut has what changed between two looks be written all the same: where an entity
// goes, where the world ends, where the program ends, and after a trade whose effect was undone.
func TestNothingIsLeftOut(t *testing.T) {
	flush := func(x *stall) {
		for x.desk.Flush() > 0 {
			if err := x.desk.Work(context.Background(), x.store); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		end  func(x *stall)
		gold int
	}{
		"an entity goes": {func(x *stall) {
			x.give(1, order{Dig: true})
			x.step(func(in *world.Inputs) { in.Leave(1) })
		}, 11},
		"the program ends": {func(x *stall) {
			x.give(1, order{Dig: true})
			flush(x)
		}, 11},
		"the world ends": {func(x *stall) {
			x.give(1, order{Dig: true})
			x.desk.Begin()
			w, err := market.New(world.Settings{Seed: 2})
			if err != nil {
				t.Fatal(err)
			}
			x.w = w
			for range 30 {
				x.step(nil)
			}
		}, 11},
		"a trade was undone": {func(x *stall) {
			x.give(1, order{Buy: 2, Ware: 1, Price: 1})
			x.step(nil)
			if g := x.trader(1).Gold; g != 9 {
				t.Fatal(g)
			}
			tr := x.trader(1)
			tr.Gold, tr.Wares, tr.Bought = 10, [4]uint8{3, 3, 3, 3}, 0
			x.step(nil)
			flush(x)
		}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			store := new(kept.Memory)
			x := open(t, store, kept.Options{World: 7, Every: 1000})
			x.join(1, 2)
			flush(x)
			c.end(x)
			y := open(t, store, kept.Options{World: 8})
			y.join(1)
			if g := y.trader(1).Gold; g != c.gold {
				t.Errorf("%d, want %d", g, c.gold)
			}
		})
	}
}
