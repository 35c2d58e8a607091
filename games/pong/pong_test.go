package pong

import (
	"testing"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

func play(t *testing.T, s world.Settings, ticks, players int) *world.World {
	t.Helper()
	w, err := Game.New(s)
	if err != nil {
		t.Fatal(err)
	}
	in, inputs := Game.NewInputs(), world.RandomInputs(Game, 5, players)
	for range ticks {
		inputs(w.Tick()+1, in)
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func TestDeterminism(t *testing.T) {
	o := world.CheckOptions{Ticks: 2000}
	if d, err := world.CheckRollback(Game, o); d != nil || err != nil {
		t.Error(d, err)
	}
	rep, err := world.CheckHidden(Game, o)
	if err != nil || rep.Wrong > 0 {
		t.Errorf("%+v, %v", rep, err)
	}
}

// TestSameEverywhere pins a whole match, so that a machine that computes it otherwise is found out.
func TestSameEverywhere(t *testing.T) {
	if got := play(t, world.Settings{Seed: 1}, 5000, 1).Hash(); got != 0xdc6767c565b44f26 {
		t.Errorf("hash %#016x", got)
	}
}

func TestNothingIsTooCoarse(t *testing.T) {
	for _, x := range play(t, world.Settings{Seed: 1, Develop: true}, 3000, 2).Host().Warnings() {
		t.Error(x)
	}
}

func TestThePlayerWhoStandsStillLoses(t *testing.T) {
	w, err := Game.New(world.Settings{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	in := Game.NewInputs()
	in.Join(1)
	goals, bounces := 0, 0
	for range 60 * 60 * 10 {
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		in.Reset()
		for range world.Events[Bounce](w) {
			bounces++
		}
		for e, g := range world.Events[Goal](w) {
			goals++
			if e.About != world.None {
				t.Error("a goal concerns everyone")
			}
			if s := world.StateOf[Score](w); g.Won {
				if s.Right != Win {
					t.Errorf("%+v", s)
				}
				if goals < Win || bounces == 0 {
					t.Errorf("%d goals, %d bounces", goals, bounces)
				}
				return
			}
		}
	}
	t.Error("no one won in ten minutes")
}

func TestPaddlesChangeHands(t *testing.T) {
	w, _ := Game.New(world.Settings{})
	in := Game.NewInputs()
	owners := func() (got [2]world.Player) {
		i := 0
		for id := range world.All[Paddle](w) {
			got[i] = w.Owner(id)
			i++
		}
		return got
	}
	for _, x := range []struct {
		change func()
		want   [2]world.Player
	}{
		{func() { in.Join(1); in.Join(2); in.Join(3) }, [2]world.Player{1, 2}},
		{func() { in.Leave(1) }, [2]world.Player{0, 2}},
		{func() { in.Join(4) }, [2]world.Player{4, 2}},
		{func() { in.Leave(4); in.Leave(2) }, [2]world.Player{0, 0}},
	} {
		in.Reset()
		x.change()
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		if got := owners(); got != x.want {
			t.Errorf("owners %v, want %v", got, x.want)
		}
	}
}

func TestPaddleFollowsKeys(t *testing.T) {
	w, _ := Game.New(world.Settings{})
	in := Game.NewInputs()
	in.Join(1)
	_ = w.Host().Step(in)
	height := func() float64 {
		for _, p := range world.All[Paddle](w) {
			return p.Y
		}
		return 0
	}
	before := height()
	for range 30 {
		in.Reset()
		if err := world.Give(in, 1, Keys(true, false)); err != nil {
			t.Fatal(err)
		}
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
	}
	if height() < before+10 {
		t.Errorf("from %v to %v in half a second", before, height())
	}
	if Keys(true, true) != (Move{}) || Keys(false, true) != (Move{Y: -1}) {
		t.Error("keys")
	}
	var surface draw.Surface
	surface.Begin(1280, 720)
	Draw(&surface, &game.Frame{World: w, Me: 1})
	drawn := map[draw.Op]int{}
	var r draw.Reader
	r.Read(surface.List())
	for c := range r.Calls() {
		drawn[c.Op]++
	}
	// A ball in a middle of dashes, and two paddles beside the court.
	if drawn[draw.OpCircle] != 1 || drawn[draw.OpRect] != 1+12+2 || drawn[draw.OpText] != 2 {
		t.Errorf("%v", drawn)
	}
}
