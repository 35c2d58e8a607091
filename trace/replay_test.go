package trace

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/world"
)

// wrongFrom lets the rules be others from a tick on, until the function it gives is called.
func wrongFrom(t world.Tick) (right func()) {
	faulty = t
	return func() { faulty = 0 }
}

func TestReplayRange(t *testing.T) {
	var worlds []uint64
	data, _ := play{
		ticks: 500, inputs: newPeople(2, 3).act, options: Options{StateEvery: 100},
		each: func(w *world.World, _ *world.Inputs) { worlds = append(worlds, w.Hash()) }}.record(t,
		shooter)
	for _, x := range []struct{ from, until, first, last world.Tick }{
		{0, 0, 0, 500}, {0, 250, 0, 250}, {250, 260, 200, 260}, {300, 0, 300, 500}, {
			499, 0, 400, 500}, {1000, 0, 500, 500}, {99, 99, 0, 99},
	} {
		next := max(x.from, 1)
		res, err := Replay(shooter, open(t, data),
			ReplayOptions{
				From: x.from, Until: x.until, Each: func(w *world.World, r *Record) error {
					if w.Tick() == 0 && x.from == 0 {
						return nil
					}
					if w.Tick() != next && !r.IsState() || w.Hash() != worlds[w.Tick()-1] ||
						r.Tick != w.Tick() {
						t.Fatalf("%+v: tick %d where %d was expected", x, w.Tick(), next)
					}
					next = w.Tick() + 1
					return nil
				}})
		if err != nil || res.First != x.first || res.Last != x.last || res.Mismatch != nil ||
			res.Damage != nil || res.Hash != worlds[x.last-1] {
			t.Errorf("%+v: %+v %v", x, res, err)
		}
	}
	stop := errors.New("enough")
	if _, err := Replay(shooter, open(t, data),
		ReplayOptions{Each: func(*world.World, *Record) error { return stop }}); err != stop {
		t.Error(err)
	}
}

func TestReplayFindsWhereItComesApart(t *testing.T) {
	data, _ := play{
		ticks: 400, inputs: newPeople(2, 3).act, options: Options{StateEvery: 100}}.record(t,
		shooter)
	defer wrongFrom(151)()
	seen := world.Tick(0)
	res, err := Replay(shooter, open(t, data),
		ReplayOptions{Each: func(w *world.World, _ *Record) error { seen = w.Tick(); return nil }})
	if err != nil || res.Mismatch == nil {
		t.Fatalf("%+v %v", res, err)
	}
	// Eight bits agree by chance once in 256 times, and then the next tick tells; with this trace
	// they do not.
	m := res.Mismatch
	if m.Tick != 151 || m.LastGood != 150 || seen != 150 || res.Last != 151 {
		t.Errorf("%+v, looked on until %d", m, seen)
	}
	if d := m.Different; d == nil || d.Tick != 200 || d.Class != "runner" || d.Field != "Score" ||
		d.A == d.B {
		t.Errorf("%v", d)
	}
	res, err = Replay(shooter, open(t, data),
		ReplayOptions{
			GoOn: true, Each: func(w *world.World, _ *Record) error {
				seen = w.Tick()
				return nil
			}})
	if err != nil || res.Mismatch == nil || res.Mismatch.Tick != 151 || res.Last != 400 ||
		seen != 400 {
		t.Errorf("%+v %v, looked on until %d", res, err, seen)
	}
	if s := m.String(); !strings.Contains(s, "tick 151: hash ") || !strings.Contains(s, "Score") {
		t.Error(s)
	}
}

func TestReplayWithoutShortHashes(t *testing.T) {
	data, _ := play{
		ticks: 400, inputs: newPeople(2, 3).act, options: Options{HashEvery: 1000}}.record(t,
		shooter)
	defer wrongFrom(151)()
	res, err := Replay(shooter, open(t, data), ReplayOptions{})
	if err != nil || res.Mismatch == nil || res.Mismatch.Tick != 180 ||
		res.Mismatch.LastGood != 120 || res.Mismatch.Bits != 64 {
		t.Errorf("%+v %v", res, err)
	}
}

func TestReplayOfDamaged(t *testing.T) {
	var hashes []uint64
	data, _ := play{
		ticks: 400, inputs: newPeople(2, 3).act, each: func(w *world.World, _ *world.Inputs) {
			hashes = append(hashes, w.Hash())
		}}.record(t, shooter)
	bad := slices.Clone(data)
	bad[len(bad)*2/3] ^= 1
	res, err := Replay(shooter, open(t, bad), ReplayOptions{})
	if err != nil || !errors.Is(res.Damage, ErrDamaged) || res.Last%60 != 0 || res.Last < 60 ||
		res.Mismatch != nil || res.Hash != hashes[res.Last-1] {
		t.Fatalf("%+v %v", res, err)
	}
	res, err = Replay(shooter, open(t, data[:len(data)-30]), ReplayOptions{})
	if err != nil || !errors.Is(res.Damage, ErrCut) || res.Last < 300 {
		t.Errorf("%+v %v", res, err)
	}
}

func TestReplayOfAnotherGame(t *testing.T) {
	data, _ := play{
		ticks: 10, inputs: newPeople(2, 1).act, options: Options{
			Build: Build{Module: "example.org/shooter", Version: "v1.4.0"}}}.record(t, shooter)
	other := world.Define("chess")
	newer := world.Define("shooter", world.Class[runner](), world.Commands[run]())
	for g, want := range map[*world.Game]string{
		other: `it is of game "shooter", not "chess"; use it with that game, as built by example.org/shooter v1.4.0`,
		newer: `other classes, fields, ranges or commands then`,
	} {
		_, err := Replay(g, open(t, data), ReplayOptions{})
		if !errors.Is(err, ErrGame) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "v1.4.0") {
			t.Error(err)
		}
	}
}

// A state that was given is where a replay goes on, and what came before does not matter to it.
func TestGivenStates(t *testing.T) {
	w, err := shooter.New(world.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	tw, err := NewWriter(&out, w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	people, in := newPeople(1, 2), shooter.NewInputs()
	step := func(record bool) {
		people.act(w.Tick()+1, in)
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		if record {
			if err := tw.Tick(in, w); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 90 {
		step(true)
	}
	// An entity comes from another server.
	if err := w.Host().Put(world.MakeID(1, 5, 0, 1), world.Entry{},
		make([]int32, len(shooter.Classes()[1].Schema().Slots))); err != nil {
		t.Fatal(err)
	}
	if err := tw.State(w); err != nil {
		t.Fatal(err)
	}
	for range 30 {
		step(true)
	}
	for range 50 { // what happens now is not recorded
		step(false)
	}
	if err := tw.State(w); err != nil {
		t.Fatal(err)
	}
	for range 30 {
		step(true)
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	for _, from := range []world.Tick{0, 100, 180} {
		res, err := Replay(shooter, open(t, out.Bytes()), ReplayOptions{From: from})
		if err != nil || res.Mismatch != nil || res.Damage != nil || res.Hash != w.Hash() ||
			res.Last != 200 {
			t.Errorf("%+v %v", res, err)
		}
	}
}

func TestDiff(t *testing.T) {
	base := play{ticks: 300, inputs: newPeople(2, 3).act, options: Options{Note: "one"}}
	a, _ := base.record(t, shooter)
	diff := func(b []byte) *Differences {
		t.Helper()
		d, err := Diff(open(t, a), open(t, b))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := diff(a); !d.Same() || d.First != 1 || d.Last != 300 || d.Compared != 300 || d.OnlyA ||
		d.OnlyB || len(d.Headers) > 0 {
		t.Errorf("%+v", d)
	}
	if d := diff(a[:len(a)-40]); !d.Same() || d.B == nil || d.A != nil || !d.OnlyA {
		t.Errorf("%+v", d)
	}

	p := newPeople(2, 3)
	base.options.Note = "two"
	base.inputs = func(tick world.Tick, in *world.Inputs) {
		p.act(tick, in)
		if tick >= 123 {
			c, _ := world.Given[run](in, 2)
			c.Slot += 3
			if err := world.Give(in, 2, c); err != nil {
				t.Error(err)
			}
		}
		if tick == 200 {
			in.Leave(3)
		}
	}
	b, _ := base.record(t, shooter)
	d := diff(b)
	if d.Inputs == nil || *d.Inputs != (InputDifference{123, 2, "Slot", "0", "3"}) ||
		d.Hash == nil || d.Hash.Tick != 123 || d.Hash.LastGood != 122 {
		t.Errorf("%+v %v %v", d, d.Inputs, d.Hash)
	}
	if !slices.Equal(d.Headers, []string{"note: one against two"}) {
		t.Error(d.Headers)
	}

	// One that begins later is compared where both are.
	var late bytes.Buffer
	if err := Cut(shooter, open(t, b), &late, 110, 150); err != nil {
		t.Fatal(err)
	}
	if d := diff(late.Bytes()); d.Inputs == nil || d.Inputs.Tick != 123 || d.First != 111 {
		t.Errorf("%+v", d)
	}
	late.Reset()
	if err := Cut(shooter, open(t, b), &late, 290, 300); err != nil {
		t.Fatal(err)
	}
	var early bytes.Buffer
	if err := Cut(shooter, open(t, b), &early, 0, 50); err != nil {
		t.Fatal(err)
	}
	if _, err := Diff(open(t, early.Bytes()), open(t, late.Bytes())); err == nil ||
		!strings.Contains(err.Error(), "no tick in common") {
		t.Error(err)
	}
	other, _ := play{
		ticks: 3, inputs: func(world.Tick, *world.Inputs) {}}.record(t, world.Define("chess"))
	if _, err := Diff(open(t, a), open(t, other)); !errors.Is(err, ErrGame) {
		t.Error(err)
	}
}

func TestInputDifferences(t *testing.T) {
	in := func(f func(in *world.Inputs)) *Record {
		x := shooter.NewInputs()
		x.Join(4)
		x.Leave(5)
		if err := world.Give(x, 6, run{X: 1}); err != nil {
			t.Fatal(err)
		}
		f(x)
		r := &Record{Tick: 9}
		if err := r.set(x, len(shooter.Commands().Slots)); err != nil {
			t.Fatal(err)
		}
		return r
	}
	same := in(func(*world.Inputs) {})
	for _, x := range []struct {
		f           func(in *world.Inputs)
		player      world.Player
		field, a, b string
	}{
		{func(in *world.Inputs) { in.Join(3) }, 3, "join", "no", "yes"},
		{func(in *world.Inputs) { in.Leave(8) }, 8, "leave", "no", "yes"},
		{func(in *world.Inputs) { world.Give(in, 1, run{}) }, 1, "command", "no", "yes"},
		{func(in *world.Inputs) { world.Give(in, 6, run{}) }, 6, "X", "1", "0"},
		{func(in *world.Inputs) { world.Give(in, 6, run{X: 1, Fire: true}) }, 6, "Fire", "false",
			"true"},
		{func(in *world.Inputs) { world.Give(in, 6, run{X: 1, Say: "hello"}) }, 6, "Say.len", "0",
			"5"},
	} {
		d := differentInputs(same, in(x.f), shooter.Commands())
		if d == nil || *d != (InputDifference{9, x.player, x.field, x.a, x.b}) {
			t.Errorf("%+v", d)
		}
		d = differentInputs(in(x.f), same, shooter.Commands())
		if d == nil || *d != (InputDifference{9, x.player, x.field, x.b, x.a}) {
			t.Errorf("%+v", d)
		}
	}
	if d := differentInputs(same, in(func(*world.Inputs) {}), shooter.Commands()); d != nil {
		t.Error(d)
	}
	image := make([]int32, len(shooter.Commands().Slots))
	x := shooter.NewInputs()
	if err := world.Give(x, 1, run{X: -1, Aim: 1.5, Fire: true, Say: "hey"}); err != nil ||
		!x.Image(1, image) {
		t.Fatal(err)
	}
	if got := FormatCommand(shooter.Commands(),
		image); got != `X=-1 Aim=1.500233 Fire=true Say.len=3 Say[0:4]="hey"` {
		t.Error(got)
	}
	if got := FormatCommand(shooter.Commands(), same.Command(0)); got != "X=1" {
		t.Error(got)
	}
}

// Cut keeps what was recorded, to the bit.
func TestCut(t *testing.T) {
	data, _ := play{
		ticks: 400, inputs: newPeople(2, 3).act, options: Options{StateEvery: 150}}.record(t,
		shooter)
	whole, err := lines(t, data)
	if err != io.EOF {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Cut(shooter, open(t, data), &out, 100, 300); err != nil {
		t.Fatal(err)
	}
	part, err := lines(t, out.Bytes())
	if err != io.EOF {
		t.Fatal(err)
	}
	at := slices.Index(whole, part[1])
	// One state before tick 100 that the window does not have: 1 + 100 records before it; states at
	// 150 and 300 within.
	if at != 101 || len(part) != 1+200+2 || !slices.Equal(part[1:], whole[at:at+len(part)-1]) {
		t.Errorf("%d records, the first at %d", len(part), at)
	}
	if r := open(t, out.Bytes()); r.Header().First != 100 {
		t.Error(r.Header())
	}
	if err := Cut(shooter, open(t, data), &out, 500, 600); err == nil ||
		!strings.Contains(err.Error(), "does not reach tick 500") {
		t.Error(err)
	}
}
