package tunnel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/knob/settings"
	"github.com/coeval-dev/coeval/world"
)

// A toy is an architecture of which it is known what it costs: how many ticks later a player sees
// what the own command did, and what others' did, is a function of its knobs, and chance by the
// seed.
type toy struct {
	*Trial
	world       *world.World
	in          *world.Inputs
	own, others world.Tick
}

// toyPlays counts the trials.
var toyPlays atomic.Int64

func number3(name string, most float64, def string, levels ...string) knob.Knob {
	return knob.Knob{Name: name, About: "a number", Most: most, Step: 1, Default: def,
		Levels: levels}
}

// luck is a number below most that depends on the settings and on the seed.
func luck(v knob.Values, seed, most uint64) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, v, seed)
	return float64(h.Sum64() >> 40 % most)
}

// toyLags are what knobs do: each name has another law.
func toyLags(name string, v knob.Values, seed uint64) (own, others float64) {
	at := func(name string) float64 {
		k := number3(name, 1000, "0", "0", "1")
		x, err := k.Parse(v[name])
		if err != nil {
			panic(err)
		}
		return x.Number
	}
	switch name {
	case "toy-valley": // best at x = 13, y = 4, and z does nothing
		return 3 + math.Pow(at("x")-13, 2)/6 + math.Pow(at("y")-4, 2)/2 + luck(v, seed, 4), 2
	case "toy-trade": // the more x the earlier one sees oneself, and the later others
		return 24 - at("x"), at("x")
	case "toy-flat": // what it costs is chance alone
		return 5 + luck(v, seed, 8), 2
	}
	return 0, 0
}

func init() {
	for _, x := range []struct {
		name  string
		knobs []knob.Knob
	}{
		{"toy-valley", []knob.Knob{
			number3("x", 20, "2", "0", "5", "10", "15", "20"),
			number3("y", 20, "16", "0", "8", "16", "20"),
			number3("z", 9, "4", "0", "4", "9")}},
		{"toy-trade", []knob.Knob{number3("x", 20, "10", "0", "4", "8", "12", "16", "20")}},
		{"toy-flat", []knob.Knob{number3("x", 20, "10", "0", "5", "10", "15", "20")}},
	} {
		Register(Architecture{Name: x.name, About: "a toy", Family: ClientServer,
			Knobs: func(Course) []knob.Knob { return x.knobs },
			Start: func(t *Trial) (Match, error) {
				toyPlays.Add(1)
				return startToy(t, x.name)
			}})
	}
}

func startToy(t *Trial, name string) (Match, error) {
	w, err := t.World()
	if err != nil {
		return nil, err
	}
	m := &toy{Trial: t, world: w, in: t.Subject.Game.NewInputs()}
	own, others := toyLags(name, t.Values, t.Seed)
	chance := float64(t.Random.IntN(5)) // the same for all settings
	m.own, m.others = world.Tick(own+chance), world.Tick(others+chance)
	t.Net.Every(t.Subject.Game.TickLength(), m.step)
	return m, nil
}

func (m *toy) step() {
	m.in.Reset()
	next := m.world.Tick() + 1
	for i, s := range m.Seats {
		me := world.Player(i + 1)
		if next == 1 {
			m.in.Join(me)
			s.Enter(me)
		} else {
			s.Command(next, me, m.world, m.in)
		}
	}
	m.Fail(m.world.Host().Step(m.in))
	for _, s := range m.Seats {
		s.Show(Picture{World: m.world, Own: next - min(next, m.own),
			Known: next - min(next, m.others)})
	}
	m.Truth(m.world, m.in)
}

func (m *toy) Playing() bool { return m.world.Tick() > 60 }
func (m *toy) Close()        {}

// tuneToy searches a toy.
func tuneToy(t *testing.T, arch string, seed uint64, change func(*TuneOptions)) *TuneResult {
	t.Helper()
	o := TuneOptions{Evaluations: 110, Checks: 6, Options: Options{Title: pong.Title, Runs: 4,
		Architectures: []string{arch}, Networks: []string{"perfect"}, Players: 2, Seed: seed,
		Time: time.Second, Warm: 100 * time.Millisecond}}
	if change != nil {
		change(&o)
	}
	r, err := Tune(t.Context(), o)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return r
}

// TestTuneFinds: the optimum that is known is found, from defaults that are far from it, and what
// does nothing is said to do nothing.
func TestTuneFinds(t *testing.T) {
	for _, seed := range []uint64{1, 20} {
		r := tuneToy(t, "toy-valley", seed, nil)
		t.Logf("seed %d: %v after %d evaluations, %s", seed, r.Best, r.Evaluations, r.Verdict())
		own := func(v knob.Values) float64 {
			lag, _ := toyLags("toy-valley", v, 0)
			return lag - luck(v, 0, 4) + 1.5 // on average
		}
		if best := own(r.Best); best > 6 {
			t.Errorf("seed %d: %v costs %.1f ticks, and 4.5 would do", seed, r.Best, best)
		}
		if r.Evaluations > 110 {
			t.Errorf("seed %d: %d evaluations", seed, r.Evaluations)
		}
		// The difference is known: a tick is a sixth of a unit.
		usual := knob.Values{"x": "2", "y": "16", "z": "4"}
		want := math.Floor(own(usual)) - math.Floor(own(r.Best))
		if got := r.Held.Saved.Mean * 6; math.Abs(got-want) > 2 || r.Held.Saved.Low <= 0 {
			t.Errorf("seed %d: it saves %.1f ticks, and should %.1f", seed, got, want)
		}
		if !maps.Equal(r.Chosen, r.Best) || !strings.HasPrefix(r.Verdict(), "better") {
			t.Errorf("seed %d: %s, and %v is chosen", seed, r.Verdict(), r.Chosen)
		}
		by := map[string]float64{}
		for _, k := range r.Knobs {
			by[k.Name] = k.matters()
		}
		if by["z"] > by["x"]/3 || by["z"] > by["y"]/3 || r.Knobs[2].Name != "z" {
			t.Errorf("seed %d: knobs matter %v", seed, by)
		}
	}
}

// TestTuneLimits: within a limit the best is at its edge, and where there is nothing within, that
// is an error and says by how much.
func TestTuneLimits(t *testing.T) {
	free := tuneToy(t, "toy-trade", 5, nil)
	tight := tuneToy(t, "toy-trade", 5, func(o *TuneOptions) {
		o.Limits = []string{"others_ms=150"}
	})
	at := func(r *TuneResult) float64 {
		k := number3("x", 20, "0", "0", "1")
		v, err := k.Parse(r.Best["x"])
		if err != nil {
			t.Fatal(err)
		}
		return v.Number
	}
	t.Logf("without a limit %v, with one %v", free.Best, tight.Best)
	if at(free) < 18 || at(tight) < 4 || at(tight) > 7 || tight.Check() != nil {
		t.Errorf("%v and %v: %v", free.Best, tight.Best, tight.Check())
	}
	none := tuneToy(t, "toy-trade", 5, func(o *TuneOptions) { o.Limits = []string{"others_ms=1"} })
	if err := none.Check(); err == nil || !strings.Contains(err.Error(), "others_ms is") {
		t.Error(err)
	}
}

// TestTuneOfNothing: where nothing but chance differs, the search finds something that was lucky,
// and the check says that it is not to be told from nothing.
func TestTuneOfNothing(t *testing.T) {
	for _, seed := range []uint64{1, 4} {
		r := tuneToy(t, "toy-flat", seed, nil)
		lucky := r.Tried[0].Saved.Mean
		t.Logf("seed %d: %v seems to save %.2f, and is %s", seed, r.Best, lucky, r.Verdict())
		if r.Held.Saved.Low > 0 {
			t.Errorf("seed %d: %s", seed, r.Verdict())
		}
		if r.Held.Saved.Mean < 0 && maps.Equal(r.Chosen, r.Best) {
			t.Errorf("seed %d: %v is chosen, which is worse", seed, r.Chosen)
		}
	}
}

// TestTuneResumes: a search that is interrupted goes on where it stopped, and ends as if it had not
// been; a second one plays nothing at all.
func TestTuneResumes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	kept := func(o *TuneOptions) { o.Dir = dir }
	whole := tuneToy(t, "toy-valley", 7, nil)
	before := toyPlays.Load()
	ctx, cancel := context.WithCancel(t.Context())
	o := TuneOptions{Evaluations: 110, Checks: 6, Options: Options{Title: pong.Title, Runs: 4,
		Architectures: []string{"toy-valley"}, Networks: []string{"perfect"}, Players: 2, Seed: 7,
		Time: time.Second, Warm: 100 * time.Millisecond, Dir: dir,
		Progress: func(done float64, _ string) {
			if done > 0.4 {
				cancel()
			}
		}}}
	if _, err := Tune(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("it was interrupted, and says %v", err)
	}
	first := toyPlays.Load() - before
	again := tuneToy(t, "toy-valley", 7, kept)
	second := toyPlays.Load() - before - first
	third := tuneToy(t, "toy-valley", 7, kept)
	t.Logf("%d plays, then %d", first, second)
	if n := toyPlays.Load() - before - first - second; n != 0 || first == 0 ||
		second >= int64(whole.Evaluations) {
		t.Errorf("%d plays, then %d, then %d", first, second, n)
	}
	a, _ := json.Marshal(whole)
	for _, r := range []*TuneResult{again, third} {
		if b, _ := json.Marshal(r); string(a) != string(b) {
			t.Errorf("%s\nand\n%s", a, b)
		}
	}
}

// TestTunedSettings: the settings that are written are read again, for that architecture alone.
func TestTunedSettings(t *testing.T) {
	r := tuneToy(t, "toy-trade", 9, nil)
	b, err := r.Settings().Encode()
	if err != nil {
		t.Fatal(err)
	}
	f, err := settings.Parse("settings", b)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := Lookup("toy-trade")
	v, err := f.For("pong", "toy-trade", a.Knobs(Course{}))
	if err != nil || !maps.Equal(v, r.Chosen) {
		t.Errorf("%v, %v", v, err)
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "settings.json")
	if err := WriteFile(name, b); err != nil {
		t.Fatal(err)
	}
	o := Options{Title: pong.Title, Architectures: []string{"toy-flat"}, Runs: 1, Players: 2,
		Networks: []string{"perfect"}, Time: time.Second, Settings: []string{name}}
	if err := o.Check(); err != nil || !maps.Equal(o.values["toy-trade"], r.Chosen) ||
		len(o.archs) != 2 {
		t.Errorf("%v, %v", o.values, err)
	}
	for text, change := range map[string]func(f *settings.File){
		"settings of the game arena": func(f *settings.File) { f.Game = "arena" },
		`has no knob "w"`:            func(f *settings.File) { f.Knobs["w"] = "1" },
		"it must be 0 to 20":         func(f *settings.File) { f.Knobs["x"] = "21" },
		"there is no architecture":   func(f *settings.File) { f.Architecture = "hope" },
	} {
		f, err := settings.Parse("settings", b)
		if err != nil {
			t.Fatal(err)
		}
		change(f)
		bad, err := f.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteFile(name, bad); err != nil {
			t.Fatal(err)
		}
		o := Options{Title: pong.Title, Settings: []string{name}, Players: 2}
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestTuneMistakes: what makes no sense is said.
func TestTuneMistakes(t *testing.T) {
	for text, change := range map[string]func(o *TuneOptions){
		"tune one at a time": func(o *TuneOptions) {
			o.Architectures = []string{"toy-flat", "toy-trade"}
		},
		"there is no \"hope\"":  func(o *TuneOptions) { o.Architectures = []string{"hope"} },
		`has no knob "hope"`:    func(o *TuneOptions) { o.Knobs = []string{"hope"} },
		`there is no axis "hop`: func(o *TuneOptions) { o.Limits = []string{"hope=1"} },
		"write an axis and":     func(o *TuneOptions) { o.Limits = []string{"own_ms"} },
		"and the check at the":  func(o *TuneOptions) { o.Evaluations = 5 },
		"checks is 1":           func(o *TuneOptions) { o.Checks = 1 },
		"no title to play":      func(o *TuneOptions) { o.Title = nil },
		"carrier-pigeon":        func(o *TuneOptions) { o.Networks = []string{"carrier-pigeon"} },
	} {
		o := TuneOptions{Options: Options{Title: pong.Title, Architectures: []string{"toy-flat"}}}
		change(&o)
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
