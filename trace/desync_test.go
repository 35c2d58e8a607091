package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/world"
)

func desync(t *testing.T, a, b []byte) *Report {
	t.Helper()
	rep, err := Desync(shooter, bytes.NewReader(a), bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// again makes a bundle, and sees that what is in it shows the same.
func again(t *testing.T, rep *Report, names ...string) map[string][]byte {
	t.Helper()
	files, err := rep.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]byte{}
	for _, f := range files {
		got[f.Name] = f.Data
		if len(f.Data) == 0 {
			t.Errorf("%s is empty", f.Name)
		}
		if !slices.Contains(names, f.Name) {
			t.Errorf("%s is in the bundle", f.Name)
		}
	}
	if len(files) != len(names) {
		t.Errorf("%d files, not %q", len(files), names)
	}
	if !strings.Contains(string(got["README.txt"]), rep.String()) {
		t.Errorf("the text does not have the report:\n%s", got["README.txt"])
	}
	var parsed struct {
		Cause string
		Tick  world.Tick
		World *struct{ Class, Entity, Field, A, B string }
	}
	if err := json.Unmarshal(got["report.json"], &parsed); err != nil || parsed.Tick != rep.Tick ||
		parsed.Cause != string(rep.Cause) {
		t.Errorf("%v: %s", err, got["report.json"])
	}
	if rep.World != nil &&
		(parsed.World == nil || parsed.World.Field != rep.World.Field ||
			parsed.World.Entity == "" != (rep.World.Entity == world.None)) {
		t.Errorf("%s", got["report.json"])
	}
	if got["a.trace"] != nil {
		twice := desync(t, got["a.trace"], got["b.trace"])
		if twice.Tick != rep.Tick || twice.Cause != rep.Cause || twice.LastGood != rep.LastGood ||
			(rep.World != nil && (twice.World == nil || *twice.World != *rep.World)) ||
			!slices.Equal(twice.Around, rep.Around) || twice.A != rep.A || twice.B != rep.B {
			t.Errorf("from the bundle comes\n%s, not\n%s", twice, rep)
		}
	}
	return got
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("no %q in\n%s", p, text)
		}
	}
}

func TestDesyncOfTheSame(t *testing.T) {
	a, _ := play{ticks: 200, inputs: newPeople(2, 3).act}.record(t, shooter)
	rep := desync(t, a, a)
	if rep.Cause != CauseNone || rep.First != 0 || rep.Last != 200 || rep.World != nil ||
		rep.Around != nil {
		t.Errorf("%+v", rep)
	}
	contains(t, rep.String(), `the two runs of "shooter" are the same from tick 0 to 200`)
	if _, err := rep.Bundle(); err == nil {
		t.Error("a bundle of nothing")
	}
}

func TestDesyncByInputs(t *testing.T) {
	p := play{ticks: 300, inputs: newPeople(2, 3).act}
	a, _ := p.record(t, shooter)
	other := newPeople(2, 3)
	p.inputs = func(tick world.Tick, in *world.Inputs) {
		other.act(tick, in)
		if tick == 210 {
			if err := world.Give(in, 2, run{Say: "boo"}); err != nil {
				t.Error(err)
			}
		}
	}
	b, _ := p.record(t, shooter)
	rep := desync(t, a, b)
	if rep.Cause != CauseInputs || rep.Tick != 210 || rep.LastGood != 209 || rep.Input == nil ||
		rep.Input.Player != 2 || rep.World == nil || rep.World.Tick != 210 ||
		rep.World.Class != "runner" || rep.A.Apart+rep.B.Apart > 0 {
		t.Errorf("%s", rep)
	}
	contains(t, rep.String(), "differs   at tick 210", "tick 210  player 2",
		`in B: Say.len=3 Say[0:4]="boo"`, "tick 206", "tick 211", "other things came into")
	files := again(t, rep, "README.txt", "report.json", "a.trace", "b.trace", "before.state",
		"a.state", "b.state")
	if before, err := shooter.Load(files["before.state"]); err != nil || before.Tick() != 209 {
		t.Error(err)
	}
	if h := open(t, files["a.trace"]).Header(); h.First != 149 {
		t.Errorf("the bundle begins at tick %d", h.First)
	}
}

// Where a command changes nothing at once, the report goes on to the first entity that it does
// change.
func TestDesyncByInputsThatShowLater(t *testing.T) {
	p := play{ticks: 300, inputs: newPeople(2, 3).act}
	a, _ := p.record(t, shooter)
	other := newPeople(2, 3)
	p.inputs = func(tick world.Tick, in *world.Inputs) {
		other.act(tick, in)
		c, _ := world.Given[run](in, 2)
		c.Slot = 9 // no rule asks for it
		if tick == 230 {
			c.Say = "late"
		}
		if tick >= 210 {
			if err := world.Give(in, 2, c); err != nil {
				t.Error(err)
			}
		}
	}
	b, _ := p.record(t, shooter)
	rep := desync(t, a, b)
	if rep.Cause != CauseInputs || rep.Tick != 210 || rep.LastGood != 209 || rep.World == nil ||
		rep.World.Class != "runner" || rep.World.Tick <= 210 || rep.World.Tick > 230 {
		t.Errorf("%s", rep)
	}
	contains(t, rep.String(), "differs   at tick 210", "the first at which an entity differs",
		"Slot=9")
	again(t, rep, "README.txt", "report.json", "a.trace", "b.trace", "before.state", "a.state",
		"b.state")
}

// A machine that computes something else from the same inputs is named, with the field if there are
// states.
func TestDesyncByRules(t *testing.T) {
	p := play{ticks: 400, inputs: newPeople(2, 3).act,
		options: Options{
			StateEvery: 100, Build: Build{Module: "example.org/shooter", Platform: "linux/amd64"}}}
	a, _ := p.record(t, shooter)
	right := wrongFrom(151)
	p.inputs, p.options.Build.Platform = newPeople(2, 3).act, "plan9/mips"
	b, _ := p.record(t, shooter)
	p.inputs, p.options.StateEvery = newPeople(2, 3).act, 1
	each, _ := p.record(t, shooter)
	p.inputs, p.options.StateEvery = newPeople(2, 3).act, -1
	none, _ := p.record(t, shooter)
	p.inputs, p.options.HashEvery = newPeople(2, 3).act, -1
	nothing, _ := p.record(t, shooter)
	p.inputs, p.options.StateEvery = newPeople(2, 3).act, 40
	states, _ := p.record(t, shooter)
	right()

	rep := desync(t, a, b)
	if rep.Cause != CauseRules || rep.Tick != 151 || rep.LastGood != 150 || rep.World == nil ||
		rep.World.Tick != 200 || rep.World.Field != "Score" || rep.A.Apart != 0 ||
		rep.B.Apart != 151 {
		t.Errorf("%s", rep)
	}
	contains(t, rep.String(), "A did what this program does, B did not", "plan9/mips", "--states 1",
		"as of tick 200", "runner 0.0.1, Score")
	again(t, rep, "README.txt", "report.json", "a.trace", "b.trace", "before.state", "a.state",
		"b.state")

	rep = desync(t, each, a)
	if rep.Cause != CauseRules || rep.Tick != 151 || rep.World == nil || rep.World.Tick != 151 ||
		rep.World.Field != "Score" || rep.World.A != "6" || rep.World.B != "5" {
		t.Errorf("%s", rep)
	}
	contains(t, rep.String(), "B did what this program does, A did not")
	again(t, rep, "README.txt", "report.json", "a.trace", "b.trace", "before.state", "a.state",
		"b.state")

	rep = desync(t, a, none)
	if rep.Cause != CauseRules || rep.Tick != 151 || rep.World != nil {
		t.Errorf("%s", rep)
	}
	contains(t, rep.String(), "not known: no state was recorded after it")
	again(t, rep, "README.txt", "report.json", "a.trace", "b.trace", "before.state")

	if rep = desync(t, a, nothing); rep.Cause != CauseNone {
		t.Errorf("a trace without hashes or states cannot tell, and says\n%s", rep)
	}
	rep = desync(t, a, states)
	if rep.Cause != CauseRules || rep.Tick != 160 || rep.LastGood != 120 || rep.World == nil ||
		rep.World.Tick != 160 {
		t.Errorf("%s", rep)
	}

	// On the other machine it is the other that is wrong. There the window cannot be computed, and
	// the whole trace serves.
	right = wrongFrom(30)
	defer right()
	rep = desync(t, a, b)
	if rep.Cause != CauseRules || rep.Tick != 151 || rep.World == nil ||
		rep.World.Field != "Score" || rep.A.Apart != 30 || rep.B.Apart != 30 {
		t.Errorf("%s", rep)
	}
	contains(t, rep.String(), "neither did what this program does")
	if files, err := rep.Bundle(); err != nil || !bytes.Equal(files[2].Data, a) ||
		files[2].Name != "a.trace" {
		t.Error(err)
	}
}

func TestDesyncAtTheStart(t *testing.T) {
	a, _ := play{ticks: 100, inputs: newPeople(2, 3).act}.record(t, shooter)
	w, err := shooter.New(world.Settings{Seed: 8, Secret: 9})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	tw, err := NewWriter(&b, w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	rep := desync(t, a, b.Bytes())
	if rep.Cause != CauseStart || rep.Tick != 0 || rep.World == nil {
		t.Errorf("%s", rep)
	}
	again(t, rep, "README.txt", "report.json", "a.trace", "b.trace", "a.state", "b.state")
}

func TestDesyncOfPartsAndDamage(t *testing.T) {
	p := play{ticks: 400, inputs: newPeople(2, 3).act}
	a, _ := p.record(t, shooter)
	defer wrongFrom(351)()
	p.inputs = newPeople(2, 3).act
	b, _ := p.record(t, shooter)
	faulty = 0
	var late bytes.Buffer
	if err := Cut(shooter, open(t, b), &late, 200, 400); err != nil {
		t.Fatal(err)
	}
	if rep := desync(t, a, late.Bytes()); rep.First != 200 || rep.Tick != 351 ||
		rep.LastGood != 350 {
		t.Errorf("%s", rep)
	}
	rep := desync(t, a[:len(a)/2], b)
	if rep.Cause != CauseNone || rep.A.Damage == "" || rep.B.Damage != "" || rep.Last < 60 {
		t.Errorf("%s", rep)
	}
	contains(t, rep.String(), "cut off")
	if _, err := Desync(shooter, bytes.NewReader(a[:len(a)/3]),
		bytes.NewReader(late.Bytes())); err == nil ||
		!strings.Contains(err.Error(), "no tick in common") {
		t.Error(err)
	}
	chess, _ := play{
		ticks: 3, inputs: func(world.Tick, *world.Inputs) {}}.record(t, world.Define("chess"))
	if _, err := Desync(shooter, bytes.NewReader(a), bytes.NewReader(chess)); !errors.Is(err,
		ErrGame) || !strings.Contains(err.Error(), "second trace") {
		t.Error(err)
	}
}

func TestDesyncStates(t *testing.T) {
	_, w := play{ticks: 100, inputs: newPeople(2, 3).act}.record(t, shooter)
	a := w.Host().Save(nil)
	if err := w.Host().Step(nil); err != nil {
		t.Fatal(err)
	}
	later := w.Host().Save(nil)
	defer wrongFrom(100)()
	_, v := play{ticks: 100, inputs: newPeople(2, 3).act}.record(t, shooter)
	b := v.Host().Save(nil)
	same, err := DesyncStates(shooter, a, a)
	if err != nil || same.Cause != CauseNone {
		t.Error(same, err)
	}
	contains(t, same.String(), "are the same")
	rep, err := DesyncStates(shooter, a, b)
	if err != nil || rep.Cause != CauseUnknown || rep.Tick != 100 || rep.World == nil ||
		rep.World.Field != "Score" {
		t.Error(rep, err)
	}
	again(t, rep, "README.txt", "report.json", "a.state", "b.state")
	if rep, err := DesyncStates(shooter, a, later); err != nil || rep.World == nil ||
		rep.World.Field != "tick" {
		t.Error(rep, err)
	}
	if _, err := DesyncStates(shooter, a, b[:50]); !errors.Is(err, world.ErrDamaged) {
		t.Error(err)
	}
}
