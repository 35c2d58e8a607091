package trace

import (
	"bytes"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// The range has all kinds of inputs: things that are shot at where they were seen, and a wind that
// can be set.

type disc struct{ Pos det.Vec2 }

func (d *disc) Sync(s *bits.Sync)         { s.Vec2(&d.Pos, -64, 64, 1.0/64) }
func (d *disc) Rewind(r *world.Rewinding) { r.Place(&d.Pos) }

func (d *disc) Step(w *world.World, me world.ID) {
	d.Pos.X = det.Clamp(d.Pos.X+world.StateOf[wind](w).Force, -60, 60)
	for p := range w.Players {
		if at, ok := w.Sees(world.Shot{By: p}, me); ok && world.CommandOf[run](w, p).Fire {
			d.Pos.Y = at.X / 2
		}
	}
}

type wind struct{ Force float64 }

func (k *wind) Sync(s *bits.Sync) { s.Float(&k.Force, -1, 1, 1.0/64) }

type note struct{ Y float64 }

func (n *note) Sync(s *bits.Sync) { s.Float(&n.Y, -60, 60, 1.0/64) }

func discRange(knob bool) *world.Game {
	parts := []world.Declaration{
		world.Class[disc](), world.Commands[run](),
		world.Message(func(w *world.World, from uint32, n *note) {
			world.Spawn(w, disc{Pos: det.Vec2{Y: n.Y}})
		}),
		world.OnContent(func(w *world.World, data []byte) {
			for range min(len(data), 4) {
				world.Spawn(w, disc{})
			}
		}),
	}
	if knob {
		parts = append(parts, world.Knob[wind]())
	} else {
		parts = append(parts, world.State[wind]())
	}
	return world.Define("range", parts...)
}

var openRange = discRange(true)

func openPlay(t testing.TB) play {
	people := newPeople(3, 3)
	return play{ticks: 600, options: Options{StateEvery: 250},
		inputs: func(tick world.Tick, in *world.Inputs) {
			people.act(tick, in)
			r := det.At(5, 1, uint64(tick))
			for _, p := range in.Players() {
				s := world.Sight{Ago: uint16(90 + r.IntN(2)), Base: 4}
				if r.IntN(20) == 0 {
					s.Add(world.Claim{Target: world.MakeID(0, 0, 0, 1),
						Place: [3]int32{int32(r.IntN(100)), -3}})
				}
				if r.IntN(4) == 0 {
					continue
				}
				if err := in.Show(p, s); err != nil {
					t.Fatal(err)
				}
			}
			var err error
			switch tick % 100 {
			case 10:
				err = world.SetKnob(in, wind{Force: r.Range(-0.3, 0.3)})
			case 20:
				err = world.TellMessage(in, 3, uint32(tick), note{Y: 12})
			case 30:
				err = world.TellContent(in, bytes.Repeat([]byte{byte(tick)}, int(tick)))
			}
			if err != nil {
				t.Fatal(err)
			}
		}}
}

// TestOpenInputs: what was shown and told is in the trace, and a replay comes to the same.
func TestOpenInputs(t *testing.T) {
	p := openPlay(t)
	var want []*world.Inputs
	p.each = func(_ *world.World, in *world.Inputs) {
		kept := openRange.NewInputs()
		if err := kept.CopyFrom(in); err != nil {
			t.Fatal(err)
		}
		want = append(want, kept)
	}
	data, last := p.record(t, openRange)
	if n := world.Count[disc](last); n < 12 || world.StateOf[wind](last).Force == 0 {
		t.Fatalf("%d discs, %+v: the inputs did nothing", n, world.StateOf[wind](last))
	}
	n, claims := 0, 0
	res, err := Replay(openRange, open(t, data), ReplayOptions{
		Each: func(_ *world.World, r *Record) error {
			if r.IsState() {
				return nil
			}
			in := openRange.NewInputs()
			if err := r.Inputs(in); err != nil {
				return err
			}
			for i, p := range r.Players {
				a, ok := in.Sight(p)
				if b, is := want[n].Sight(p); a != b || ok != is || r.Sights[i] != (Saw{a, ok}) {
					t.Errorf("tick %d: player %d saw %+v, not %+v", r.Tick, p, a, b)
				}
				claims += int(r.Sights[i].Claimed)
			}
			if a, b := told(in), told(want[n]); !reflect.DeepEqual(a, b) {
				t.Errorf("tick %d: told %v, not %v", r.Tick, a, b)
			}
			n++
			return nil
		}})
	if err != nil || res.Mismatch != nil || res.Last != 600 || res.Hash != last.Hash() ||
		n != 600 || claims < 20 {
		t.Fatalf("%v, %+v, %d ticks, %d claims", err, res, n, claims)
	}
	r := open(t, data)
	if h := r.Header(); h.Rewinds != 30 || len(h.Inputs) != 4 || h.Inputs[2].Name != "wind" ||
		h.Inputs[1].Schema != nil || h.Inputs[0].Source != world.FromElsewhere {
		t.Errorf("header %+v", h)
	}
	for {
		rec, err := r.Next()
		if err != nil {
			break
		}
		for i := range rec.Tellings {
			text := FormatTelling(r.Header().Inputs, &rec.Tellings[i])
			if rec.Tick == 120 && text != "message note number 120 from 3, 2 bytes" {
				t.Errorf("%q", text)
			}
		}
	}
	if r.Counts().Told != 18 {
		t.Errorf("%+v", r.Counts())
	}
}

func told(in *world.Inputs) (list []Telling) {
	for t, data := range in.Tellings {
		list = append(list, Telling{t, data})
	}
	return list
}

// TestDifferentOpenInputs: two runs that were told different things are told apart by that.
func TestDifferentOpenInputs(t *testing.T) {
	one, _ := openPlay(t).record(t, openRange)
	for what, change := range map[string]func(world.Tick, *world.Inputs){
		"sight": func(tick world.Tick, in *world.Inputs) {
			for _, p := range in.Players() {
				if s, ok := in.Sight(p); ok && tick > 40 {
					s.Ago += 16
					if err := in.Show(p, s); err != nil {
						t.Fatal(err)
					}
				}
			}
		},
		"told": func(tick world.Tick, in *world.Inputs) {
			if tick == 77 {
				if err := world.SetKnob(in, wind{Force: 0.5}); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		p := openPlay(t)
		inputs := p.inputs
		p.inputs = func(tick world.Tick, in *world.Inputs) {
			inputs(tick, in)
			change(tick, in)
		}
		other, _ := p.record(t, openRange)
		d, err := Diff(open(t, one), open(t, other))
		if err != nil || d.Inputs == nil || d.Inputs.Field != what {
			t.Errorf("%s: %v, %+v", what, err, d)
		}
	}
}

// TestInputOfNoKind: a trace with an input that the game does not have says so, with the tick.
func TestInputOfNoKind(t *testing.T) {
	data, _ := openPlay(t).record(t, openRange)
	r := open(t, data)
	other := discRange(false).NewInputs()
	var err error
	for err == nil {
		var rec *Record
		if rec, err = r.Next(); err == nil && !rec.IsState() {
			err = rec.Inputs(other)
		}
	}
	if !strings.Contains(err.Error(), "tick 10: ") ||
		!strings.Contains(err.Error(), "an input that the game does not have") {
		t.Error(err)
	}
	if _, err := Replay(discRange(false), open(t, data), ReplayOptions{}); err == nil ||
		!strings.Contains(err.Error(), "other classes, fields") {
		t.Error(err)
	}
}

// TestFirstVersion: traces from before there were such inputs are still read, and replay.
func TestFirstVersion(t *testing.T) {
	data, err := os.ReadFile("testdata/first.txt")
	if err != nil {
		t.Fatal(err)
	}
	text, err := strconv.Unquote(strings.TrimSpace(string(data)))
	if err != nil || !strings.HasPrefix(text, firstMagic) {
		t.Fatal(err)
	}
	res, err := Replay(shooter, open(t, []byte(text)), ReplayOptions{})
	if err != nil || res.Mismatch != nil || res.Damage != nil || res.Last != 90 {
		t.Errorf("%v, %+v", err, res)
	}
}
