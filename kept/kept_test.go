package kept_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/world"
)

func TestScoresSurviveTheWorld(t *testing.T) {
	store := new(kept.Memory)
	a := open(t, store, kept.Options{World: 7, Every: 5})
	a.join(1, 2)
	for range 20 {
		a.give(1, order{Dig: true})
	}
	if g := a.trader(1).Gold; g < 25 || a.trader(2).Gold != 10 {
		t.Fatal(g, a.trader(2).Gold)
	}
	want := a.trader(1).Gold
	a.step(func(in *world.Inputs) { in.Leave(1) }) // its last values are written at once
	b := open(t, store, kept.Options{World: 8})
	b.join(1, 2)
	if got := *b.trader(1); got.Gold != want || got.Found != 0 {
		t.Errorf("%+v, want %d coins", got, want)
	}
}

func TestTrade(t *testing.T) {
	store := new(kept.Memory)
	a := open(t, store, kept.Options{World: 7, Every: 5})
	a.join(1, 2)
	a.give(2, order{Buy: 1, Ware: 2, Price: 4})
	id, _ := world.Owned[trader](a.w, 2)
	if !kept.Pending(a.w, id) || a.trader(2).Gold != 10 {
		t.Fatal("it is not pending, or done before it is durable")
	}
	a.step(nil)
	buyer, seller := a.trader(2), a.trader(1)
	if kept.Pending(a.w, id) || buyer.Gold != 6 || seller.Gold != 14 || buyer.Wares[2] != 4 ||
		seller.Wares[2] != 2 {
		t.Fatalf("%+v %+v", buyer, seller)
	}
	if events(a.w) != "4;" {
		t.Errorf("%q", events(a.w))
	}
	a.give(2, order{Buy: 1, Ware: 2, Price: 7})
	a.step(nil)
	if buyer, seller := a.trader(2), a.trader(1); buyer.Gold != 6 || seller.Gold != 14 ||
		events(a.w) != "7 not enough gold;" {
		t.Errorf("%+v %+v %q", buyer, seller, events(a.w))
	}
	b := open(t, store, kept.Options{World: 8})
	b.join(1, 2)
	if b.trader(1).Gold != 14 || b.trader(2).Wares != [4]uint8{3, 3, 4, 3} {
		t.Errorf("%+v %+v", *b.trader(1), *b.trader(2))
	}
}

func events(w *world.World) string {
	var b strings.Builder
	for _, e := range world.Events[sold](w) {
		b.WriteString(strings.TrimSpace(strings.Join([]string{itoa(e.Price), e.Why}, " ")) + ";")
	}
	return b.String()
}

func itoa(n int) string { return string(rune('0' + n)) }

// TestTakenOver has two servers play the same accounts: the later one has them.
func TestTakenOver(t *testing.T) {
	store := new(kept.Memory)
	a := open(t, store, kept.Options{World: 7, Every: -1})
	a.join(1, 2)
	b := open(t, store, kept.Options{World: 8, Every: -1})
	b.join(1)
	a.give(1, order{Dig: true})
	a.give(1, order{})
	a.give(2, order{Dig: true})
	a.give(2, order{})
	for range 3 {
		a.step(nil)
	}
	if !a.trader(1).Lost() || a.trader(2).Lost() {
		t.Error("the late writer was not told, or the other was")
	}
	if n := a.desk.News(); len(n) != 1 || n[0].Key.Of != "account 1" {
		t.Errorf("%+v", n)
	}
	// A trade with it is refused, and nothing of it is there.
	a.give(2, order{Buy: 1, Price: 1})
	id, _ := world.Owned[trader](a.w, 2)
	if kept.Pending(a.w, id) {
		t.Error("one can trade with somebody who is lost")
	}
	c := open(t, store, kept.Options{World: 9})
	c.join(1, 2)
	if c.trader(1).Gold != 10 || c.trader(2).Gold != 11 {
		t.Error(c.trader(1).Gold, c.trader(2).Gold)
	}
}

func TestTakenOverWhileTrading(t *testing.T) {
	store := new(kept.Memory)
	a := open(t, store, kept.Options{World: 7, Every: -1})
	a.join(1, 2)
	b := open(t, store, kept.Options{World: 8})
	b.join(1)
	a.give(2, order{Buy: 1, Price: 1}) // nobody here knows yet
	a.step(nil)
	if e := events(a.w); !strings.Contains(e, "another session") {
		t.Errorf("%q", e)
	}
	if !a.trader(1).Lost() || a.trader(2).Gold != 10 || b.trader(1).Gold != 10 {
		t.Error(a.trader(1).Lost(), a.trader(2).Gold, b.trader(1).Gold)
	}
}

// TestSecondProcess has two processes write for one world: the first is refused.
func TestSecondProcess(t *testing.T) {
	store := new(kept.Memory)
	a := open(t, store, kept.Options{World: 7, Every: -1})
	a.join(1)
	b := reopen(t, store, kept.Options{Every: -1}, a.w.Host().Clone())
	for range 3 {
		b.step(nil)
	}
	a.give(1, order{Dig: true})
	a.step(nil)
	if s := a.desk.Stats(); !s.Fenced || b.desk.Stats().Fenced {
		t.Errorf("%+v", s)
	}
}

func TestMistakes(t *testing.T) {
	w, err := market.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.LoadAs(w, world.None, ""); err == nil {
		t.Error("an empty name")
	}
	if err := kept.Load(w, world.None); err == nil {
		t.Error("an entity without an owner")
	}
	if err := kept.Ask(w, traded{}); err == nil {
		t.Error("a request that is not declared")
	}
	if err := kept.Ask(w, trade{}, world.MakeID(0, 0, 5, 1)); !errors.Is(err, kept.ErrNotLoaded) {
		t.Error(err)
	}
	if ok, err := kept.Uses(market); !ok || err != nil {
		t.Error(ok, err)
	}
	for name, g := range map[string]*world.Game{
		"call Account":   world.Define("a", world.Class[nobodys](), kept.Declare()),
		"kept.Mark":      world.Define("b", world.Class[unmarked](), kept.Declare()),
		"kept.Declare":   world.Define("c", world.Class[trader](), world.Commands[order]()),
		"declared twice": world.Define("d", kept.Declare(), kept.Declare()),
	} {
		if _, err := kept.Uses(g); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := new(kept.Memory).Load(context.Background(), nil); err != nil {
		t.Error(err)
	}
}
