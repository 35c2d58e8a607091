package arena

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// recorded plays a match of bots and gives its inputs, to be used again: what bots do hangs on what
// they saw then.
func recorded(t testing.TB, s world.Settings, bots, ticks int) func(world.Tick, *world.Inputs) {
	w, err := Game.New(s)
	if err != nil {
		t.Fatal(err)
	}
	var tape []*world.Inputs
	play(t, w, bots, ticks, func(in *world.Inputs) {
		keep := Game.NewInputs()
		if err := keep.CopyFrom(in); err != nil {
			t.Fatal(err)
		}
		tape = append(tape, keep)
	}, nil)
	return func(n world.Tick, in *world.Inputs) {
		if err := in.CopyFrom(tape[n-1]); err != nil {
			t.Fatal(err)
		}
	}
}

// Each tick is the same when it is computed again, from a copy and from a saved world; and a client
// that is shown some of the entities predicts those exactly that have to do only with what it is
// shown.
func TestDeterminism(t *testing.T) {
	for _, x := range []struct {
		name    string
		options Options
		bots    int
	}{
		{"duel", Options{Seed: 4}, 0}, // players who press everything
		{"duel", Options{Seed: 4, Kills: 3, Rotation: []string{"foundry"}}, 6},
		{"foundry", Options{Seed: 5, Teams: true}, 8},
	} {
		s, err := Settings(x.name, x.options)
		if err != nil {
			t.Fatal(err)
		}
		s.Develop = true
		o := world.CheckOptions{Settings: s, Ticks: 1500, Players: 4}
		if testing.Short() {
			o.Ticks = 200
		}
		if x.bots > 0 {
			o.Inputs = recorded(t, s, x.bots, o.Ticks)
		}
		if d, err := world.CheckRollback(Game, o); d != nil || err != nil {
			t.Error(x, d, err)
		}
		rep, err := world.CheckHidden(Game, o)
		if err != nil || rep.Wrong > 0 || rep.Exact < rep.Compared*9/10 {
			t.Errorf("%v: %+v, %v", x, rep, err)
		}
	}
}

// TestSameEverywhere pins a match of bots, so that a machine that computes it otherwise is found
// out.
func TestSameEverywhere(t *testing.T) {
	s, err := Settings("foundry", Options{Seed: 1, Secret: 2, Kills: 10})
	if err != nil {
		t.Fatal(err)
	}
	w, err := Game.New(s)
	if err != nil {
		t.Fatal(err)
	}
	play(t, w, 8, 2000, nil, nil)
	if got := w.Hash(); got != 0x1f976daf9ea41bdc {
		t.Errorf("hash %#016x", got)
	}
}

func TestNothingIsTooCoarse(t *testing.T) {
	s, err := Settings("duel", Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s.Develop = true
	w, err := Game.New(s)
	if err != nil {
		t.Fatal(err)
	}
	play(t, w, 6, 3000, nil, nil)
	for _, x := range w.Host().Warnings() {
		t.Error(x)
	}
}

// A client that is shown what Interest says, and is told everyone's commands, predicts its own
// fighter for eight ticks to the last bit: what it is not shown has no part in what happens to it,
// but for who appears, or dies, by the server's word.
func TestPredictionFromAView(t *testing.T) {
	ticks := 900
	if testing.Short() {
		ticks = 150
	}
	s, err := Settings("maze", Options{Seed: 9, Kills: -1})
	if err != nil {
		t.Fatal(err)
	}
	const bots, back = 120, 8
	inputs := recorded(t, s, bots, ticks+back)
	w, err := Game.New(s)
	if err != nil {
		t.Fatal(err)
	}
	client, err := Game.New(world.Settings{Seed: s.Seed, Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	it := newInterest()
	finder, in := interest.NewFinder(), Game.NewInputs()
	ahead := w.Host().Clone()
	compared, exact, shown, all := 0, 0, 0, 0
	for n := world.Tick(1); int(n) <= ticks; n++ {
		inputs(n, in)
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		if n%30 != 0 {
			continue
		}
		if err := it.Follow(w); err != nil {
			t.Fatal(err)
		}
		p := world.Player(1 + int(n/30)%bots)
		var v interest.View
		finder.Update(&v, it.Index, it.Rules, it.Observer(p, 130*time.Millisecond))
		show(t, client, w, &v)
		var me world.ID
		for _, e := range v.Entries() {
			if e.ID.Class() == classFighter && w.Owner(e.ID) == p {
				me = e.ID
			}
			if e.ID.Class() != classSheet {
				shown++
			}
		}
		all += it.Index.Len() - bots
		if me == world.None {
			t.Fatal("the view does not show the client's own fighter")
		}
		if err := ahead.Host().CopyFrom(w); err != nil {
			t.Fatal(err)
		}
		alive := world.Get[Fighter](w, me).Alive()
		for k := range world.Tick(back) {
			inputs(n+1+k, in)
			if k == 0 { // a client knows its players from the start
				for q := world.Player(1); q <= bots; q++ {
					in.Join(q)
				}
			}
			if err := client.Host().Step(in); err != nil {
				t.Fatal(err)
			}
			inputs(n+1+k, in)
			if err := ahead.Host().Step(in); err != nil {
				t.Fatal(err)
			}
		}
		is := world.Get[Fighter](ahead, me)
		if !alive || !is.Alive() {
			continue
		}
		compared++
		if got := world.Get[Fighter](client, me); got != nil && *got == *is {
			exact++
		} else {
			t.Logf("tick %d: predicted %+v, is %+v", n, got, is)
		}
	}
	t.Logf("%d of %d predictions of one's own fighter are exact, with %d of %d entities shown",
		exact, compared, shown, all)
	if exact < compared*9/10 || compared < ticks/60 {
		t.Errorf("%d of %d predictions are exact", exact, compared)
	}
	if shown > all/4 {
		t.Errorf("%d of %d entities are shown", shown, all)
	}
}
