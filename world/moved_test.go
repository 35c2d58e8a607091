package world

import (
	"errors"
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/bits"
)

// moving is a world with two ships, of players 1 and 2.
func moving(t *testing.T) (w *World, in *Inputs, give func(p Player, c steer) []int32) {
	w, err := arena.New(Settings{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	in = arena.NewInputs()
	in.Join(1)
	in.Join(2)
	if err := w.Host().Step(in); err != nil {
		t.Fatal(err)
	}
	in.Reset()
	other := arena.NewInputs()
	return w, in, func(p Player, c steer) []int32 {
		image := make([]int32, len(arena.Commands().Slots))
		if err := Give(other, p, c); err != nil || !other.Image(p, image) {
			t.Fatal(err)
		}
		return image
	}
}

// shipOf is a player's ship, and the number of its class.
func shipOf(t *testing.T, w *World, p Player) (ID, []int32) {
	for id := range w.Entities() {
		if w.Owner(id) == p && w.Game().Classes()[id.Class()].Name() == "ship" {
			return id, slices.Clone(w.Host().Image(id))
		}
	}
	t.Fatalf("player %d has no ship", p)
	return None, nil
}

// Commands that are executed in one tick move a ship as they would in as many ticks, and one for
// whom none came stands still; what is fired has names of its own.
func TestMoves(t *testing.T) {
	inTicks, in, give := moving(t)
	atOnce, moved, _ := moving(t)
	id, _ := shipOf(t, atOnce, 1)
	class := id.Class()
	commands := []steer{{Thrust: 1}, {Thrust: 1, Fire: true}, {Aim: 1 << 14, Thrust: 1}}
	for i, c := range commands {
		image := give(1, c)
		if err := in.GiveImage(1, image); err != nil {
			t.Fatal(err)
		}
		if err := inTicks.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		in.Reset()
		if i+1 < len(commands) {
			if err := moved.Move(1, class, image); err != nil {
				t.Fatal(err)
			}
		} else if err := moved.GiveImage(1, image); err != nil {
			t.Fatal(err)
		}
	}
	if err := moved.Still(2, class); err != nil {
		t.Fatal(err)
	}
	before, was := shipOf(t, atOnce, 2)
	if err := atOnce.Host().Step(moved); err != nil {
		t.Fatal(err)
	}
	_, want := shipOf(t, inTicks, 1)
	if _, got := shipOf(t, atOnce, 1); !slices.Equal(got, want) {
		t.Errorf("at once it comes to %v, in ticks to %v", got, want)
	}
	if _, is := shipOf(t, atOnce, 2); !slices.Equal(is, was) {
		t.Errorf("%v did not stand still: %v, then %v", before, was, is)
	}
	if !atOnce.Host().Changed(id) || atOnce.Host().Changed(before) {
		t.Error("what changed is not known")
	}
	// The same inputs make the same world, also when they were written and read.
	again, _, _ := moving(t)
	copied := arena.NewInputs()
	for told, data := range moved.Tellings {
		if err := copied.Tell(told, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := copied.GiveImage(1, give(1, commands[2])); err != nil {
		t.Fatal(err)
	}
	if err := again.Host().Step(copied); err != nil || again.Hash() != atOnce.Hash() {
		t.Errorf("%v: %x, not %x", err, again.Hash(), atOnce.Hash())
	}
}

// Two shots of one tick have names of their own.
func TestMovesName(t *testing.T) {
	w, in, give := moving(t)
	id, _ := shipOf(t, w, 1)
	for i := range 8 {
		if err := in.Move(1, id.Class(), give(1, steer{Fire: i%6 == 0})); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Host().Step(in); err != nil {
		t.Fatal(err)
	}
	names := map[Name]int{}
	for id := range w.Entities() {
		if w.Origin(id).By != None {
			names[w.Origin(id)]++
		}
	}
	if len(names) != 2 {
		t.Errorf("two shells have the names %v", names)
	}
}

// What is no move is refused, and changes nothing.
func TestMovesRefuse(t *testing.T) {
	_, in, give := moving(t)
	kind := arena.moveKind()
	command := append([]byte{0, 0}, bits.NewWriter(make([]byte, 9)).Bytes()...)
	for name, err := range map[string]error{
		"nobody":     in.Still(Nobody, 0),
		"class":      in.Still(1, 999),
		"too many":   in.Tell(Told{Kind: kind, From: 1, Seq: maxMoves + 1}, command),
		"cut":        in.Tell(Told{Kind: kind, From: 1, Seq: 1}, []byte{0}),
		"no command": in.Tell(Told{Kind: kind, From: 1, Seq: 1}, []byte{0, 0}),
		"still":      in.Tell(Told{Kind: kind, From: 1}, []byte{0, 0, 1}),
		"question": in.Tell(Told{Kind: kind, From: 1, Seq: 1, To: Name{Tick: 1}},
			[]byte{0, 0}),
		"long": in.Move(1, 0, append(give(1, steer{}), 1)),
	} {
		if err == nil {
			t.Errorf("%s: it was taken", name)
		} else if name != "long" && !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !in.Empty() {
		t.Error("something came in")
	}
}
