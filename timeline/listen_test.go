package timeline_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/ruled"
	"github.com/coeval-dev/coeval/world"
)

// listener plays the part of another mirror by hand.
type listener struct {
	t    *testing.T
	line *ruled.Timeline
	all  [][]byte // what was ruled, from tick 1 on
}

// newListener has the rulings of a judge that was told some things in time, and nothing else.
func newListener(t *testing.T, o ruled.Options, until world.Tick,
	told ...timeline.Command) *listener {
	o.Wait = -1
	judge, other := pair(t, o)
	for i, c := range told {
		c.Seq = uint32(i + 1)
		if _, err := judge.Submit(0, c); err != nil {
			t.Fatal(err)
		}
	}
	return &listener{t, other, advance(t, judge, at(until))}
}

func (l *listener) rule(ticks ...world.Tick) {
	l.t.Helper()
	for _, n := range ticks {
		if _, err := l.line.Rule(0, parse(l.t, l.all[n-1])); err != nil {
			l.t.Fatal(err)
		}
	}
}

// advance comes to a tick, and lists what became known of shots and crates: the ticks, and what.
func (l *listener) advance(n world.Tick) (out []string) {
	l.t.Helper()
	if err := l.line.Advance(at(n)); err != nil {
		l.t.Fatal(err)
	}
	for _, n := range l.line.Notices() {
		if !game.Events()[n.Event.Kind].Weak() {
			out = append(out,
				fmt.Sprint(game.Events()[n.Event.Kind].Name(), " at ", n.Event.Tick, " ", n.What))
		}
	}
	return out
}

func (l *listener) want(got []string, want ...string) {
	l.t.Helper()
	if !slices.Equal(got, want) {
		l.t.Errorf("got %q, want %q", got, want)
	}
}

var (
	comes = timeline.Command{Kind: timeline.Join, Tick: 1, Player: 1}
	fires = timeline.Command{Tick: 4, Player: 1, Image: image(act{Fire: true})}
)

// A shot that was ruled before the command came is not fired a second time; nor is one that was
// late and then ruled.
func TestRuledOnce(t *testing.T) {
	l := newListener(t, ruled.Options{}, 12, comes, fires)
	l.rule(1, 2, 3, 4, 5)
	l.want(l.advance(5), "fired at 4 provisional", "fired at 4 confirmed")
	if f, err := l.line.Submit(0, fires); f != timeline.Late || err != nil {
		t.Error(f, err)
	}
	l.want(l.advance(8))

	l = newListener(t, ruled.Options{}, 12, comes, fires)
	l.rule(1, 2, 3)
	l.advance(3)
	late := fires
	late.Tick = 2
	if f, err := l.line.Submit(0, late); f != timeline.Late || err != nil {
		t.Error(f, err)
	}
	l.rule(4)
	l.want(l.advance(4), "fired at 4 provisional", "fired at 4 confirmed")
	l.want(l.advance(8))
}

// A ruling says what differs from the one before, so without that it is of no use to anyone.
func TestRuledInOrder(t *testing.T) {
	l := newListener(t, ruled.Options{}, 12, comes, fires)
	l.rule(1, 2)
	l.advance(3)
	l.rule(4)
	l.want(l.advance(6))
	l.rule(3)
	l.want(l.advance(6), "fired at 4 provisional", "fired at 4 confirmed")
}

// What did not happen is taken back when that is ruled, though it is settled only when that is
// allowed.
func TestRuledTakesBackAtOnce(t *testing.T) {
	l := newListener(t, ruled.Options{Options: timeline.Options{Held: true}}, 12, comes)
	for _, c := range []timeline.Command{comes, fires} {
		if _, err := l.line.Submit(0, c); err != nil {
			t.Fatal(err)
		}
	}
	l.want(l.advance(6), "fired at 4 provisional")
	l.rule(1, 2, 3, 4)
	l.want(l.advance(6), "fired at 4 retracted")
	if l.line.Settled().Tick() != 0 || l.line.Have() != 4 {
		t.Errorf("tick %d is settled, rulings are there up to %d", l.line.Settled().Tick(),
			l.line.Have())
	}
	l.line.Hold(3)
	l.want(l.advance(6))
	if l.line.Settled().Tick() != 3 {
		t.Errorf("tick %d is settled", l.line.Settled().Tick())
	}
}

// counter is an entity that counts how often its owner had nothing to say.
type counter struct{ Silent int }

func (c *counter) Sync(s *bits.Sync) { s.Int(&c.Silent, 0, 1<<20) }

func (c *counter) Step(w *world.World, me world.ID) {
	if w.Repeated(w.Owner(me)) {
		c.Silent++
	}
}

var counting = world.Define("counting", world.Class[counter](), world.Commands[act](),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, counter{}), p)
	}))

// A game may ask whether a command was repeated; then one that was given here and repeated at the
// judge makes a difference, though it says the same.
func TestRuledRepeated(t *testing.T) {
	w, err := counting.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	o := timeline.Options{HashEvery: 1}
	judge, err := ruled.New(w, ruled.Options{Options: o, Judge: true, Wait: -1})
	if err != nil {
		t.Fatal(err)
	}
	other, err := ruled.New(w, ruled.Options{Options: o})
	if err != nil {
		t.Fatal(err)
	}
	for n := world.Tick(1); n <= 100; n++ {
		c := timeline.Command{Tick: n, Seq: uint32(n), Player: 1, Image: image(act{X: 1})}
		if n == 1 {
			c.Kind = timeline.Join
		}
		for i, line := range []*ruled.Timeline{judge, other} {
			if i == 0 && n%10 == 0 {
				continue // lost on its way to the judge
			}
			if _, err := line.Submit(0, c); err != nil {
				t.Fatal(err)
			}
		}
		if err := other.Advance(at(n)); err != nil {
			t.Fatal(err)
		}
		for _, b := range advance(t, judge, at(n)) {
			r, err := ruled.ParseRuling(counting, b)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := other.Rule(0, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if a, b := judge.Settled(), other.Settled(); b.Tick() < 99 || a.Tick() == b.Tick() &&
		a.Hash() != b.Hash() {
		t.Errorf("ticks %d and %d", a.Tick(), b.Tick())
	}
}
