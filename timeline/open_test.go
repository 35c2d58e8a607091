package timeline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/ruled"
	"github.com/coeval-dev/coeval/world"
)

// A game with all kinds of inputs: hunters shoot at each other where they were seen, and the pace
// of all can be set.

type hunter struct {
	Pos  det.Vec2
	Hits int
}

func (h *hunter) Sync(s *bits.Sync) {
	s.Vec2(&h.Pos, -100, 100, 1.0/64)
	s.Int(&h.Hits, 0, 10000)
}

func (h *hunter) Rewind(r *world.Rewinding) { r.Place(&h.Pos) }

func (h *hunter) Step(w *world.World, me world.ID) {
	c := world.Command[act](w, me)
	pace := world.StateOf[pace](w).Each
	h.Pos = h.Pos.MulAdd(det.Vec2{X: float64(c.X), Y: float64(c.Y)}, pace).ClampLen(20)
	if !c.Fire {
		return
	}
	shot := world.Shot{By: w.Owner(me), Favour: world.FavourShooter}
	for id, o := range world.All[hunter](w) {
		at := det.Vec3{X: o.Pos.X, Y: o.Pos.Y}
		if was, ok := w.Sees(shot, id); ok {
			at = was
		}
		if id != me && det.Abs(at.X-h.Pos.X) < 2 {
			h.Hits = min(h.Hits+1, 10000)
			world.Emit(w, id, fired{At: det.Vec2{X: at.X, Y: at.Y}})
		}
	}
}

type pace struct{ Each float64 }

func (p *pace) Sync(s *bits.Sync) { s.Float(&p.Each, 0, 1, 1.0/64) }

type arrives struct{ X float64 }

func (a *arrives) Sync(s *bits.Sync) { s.Float(&a.X, -50, 50, 1.0/64) }

var hunt = world.Define("hunt", world.Class[hunter](), world.Knob[pace](), world.Commands[act](),
	world.Event[fired](),
	world.Message(func(w *world.World, from uint32, a *arrives) {
		world.Spawn(w, hunter{Pos: det.Vec2{X: a.X, Y: float64(from)}})
	}),
	world.OnStart(func(w *world.World) { world.StateOf[pace](w).Each = 0.25 }),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, hunter{Pos: det.Vec2{X: float64(p)}}), p)
	}))

// told gives the key and bytes of something told, as a program would get them.
func told(t testing.TB, tell func(in *world.Inputs) error) (world.Told, []byte) {
	t.Helper()
	in := hunt.NewInputs()
	if err := tell(in); err != nil {
		t.Fatal(err)
	}
	for of, data := range in.Tellings {
		return of, data
	}
	t.Fatal("nothing is told")
	return world.Told{}, nil
}

// openScript is a talk in which commands have sights and claims, knobs are set by both mirrors at
// once, and messages come from elsewhere.
func openScript(t testing.TB, seed uint64, waits bool) script {
	s := talk{ticks: 150, mirrors: 2, players: 2, do: busy, waits: waits,
		delay: func(m member.ID, n world.Tick) time.Duration {
			r := det.At(seed, uint64(m), uint64(n))
			return time.Duration(r.IntN(110)) * time.Millisecond
		}}.script()
	var out script
	more := map[member.ID]uint32{}
	for _, a := range s {
		r := det.At(seed+1, uint64(a.Player), uint64(a.Tick))
		a.Seq += more[a.Origin]
		if a.Kind == timeline.Give && r.IntN(3) > 0 {
			a.Shown, a.Sight = true, world.Sight{Ago: uint16(r.IntN(300)), Base: uint16(r.IntN(20))}
			if r.IntN(3) == 0 {
				a.Sight.Add(world.Claim{Target: world.MakeID(0, 0, r.IntN(4), 1),
					Place: [3]int32{int32(r.IntN(600)), int32(r.IntN(600))}})
			}
		}
		out = append(out, a)
		tell := func(do func(in *world.Inputs) error) {
			b := a
			b.Command = timeline.Command{Kind: timeline.Tell, Tick: a.Tick, Origin: a.Origin,
				Seq: a.Seq + 1}
			b.Told, b.Data = told(t, do)
			more[a.Origin]++
			out = append(out, b)
		}
		if a.Kind != timeline.Give || a.Player%2 != 1 {
			continue
		}
		switch {
		case a.Tick%20 == 3:
			tell(func(in *world.Inputs) error {
				return world.SetKnob(in, pace{Each: r.Range(0.1, 0.9)})
			})
		case a.Tick%30 == 7:
			tell(func(in *world.Inputs) error {
				return world.TellMessage(in, uint32(a.Origin), a.Seq, arrives{X: r.Range(-9, 9)})
			})
		}
	}
	return out
}

// TestOpenInputs: what was shown and told is settled as on one machine, by every timeline that
// promises to be exact, whenever it came.
func TestOpenInputs(t *testing.T) {
	start, err := hunt.New(world.Settings{Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range makers() {
		for seed := range uint64(3) {
			s := openScript(t, seed, m.waits)
			out, err := play(start, m, []member.ID{1, 2}, s, 150, nil)
			if err == nil {
				err = judge(start, out, 150)
			}
			if err != nil {
				t.Fatalf("%s, seed %d: %v", m.name, seed, err)
			}
			w := out.line.Settled()
			if n := world.Count[hunter](w); n < 10 || out.fates[timeline.Superseded] == 0 ||
				world.StateOf[pace](w).Each == 0.25 {
				t.Errorf("%s: %d hunters, %v, %+v", m.name, n, out.fates,
					*world.StateOf[pace](w))
			}
		}
	}
}

// TestPendingOpenInputs: a mirror that joins is told of them too.
func TestPendingOpenInputs(t *testing.T) {
	start, err := hunt.New(world.Settings{Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range makers()[:5] {
		s := openScript(t, 2, false)
		first, err := play(start, m, []member.ID{1, 2}, s, 60, nil)
		if err != nil {
			t.Fatal(err)
		}
		var pending []timeline.Command
		tells, shown := 0, 0
		for c := range first.line.Pending {
			c.Image = append([]int32(nil), c.Image...)
			if pending = append(pending, c); c.Kind == timeline.Tell {
				tells++
			}
			if c.Shown {
				shown++
			}
		}
		if tells == 0 && m.name == "trailing 4" || shown == 0 {
			t.Errorf("%s: %d told and %d shown are pending", m.name, tells, shown)
		}
		second, err := m.make(first.line.Settled(),
			timeline.Options{Pending: pending, Ahead: 2 * time.Second}, []member.ID{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]bool{}
		for c := range second.Pending {
			have[c.String()] = true
		}
		for _, c := range pending {
			if c.Tick > second.Settled().Tick() && !have[c.String()] {
				t.Errorf("%s: %v was lost", m.name, &c)
			}
		}
	}
}

// TestOpenInputsRefused: what no mirror of the game would say is refused and counted.
func TestOpenInputsRefused(t *testing.T) {
	start, err := hunt.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	line, err := timeline.NewTrailing(start, timeline.TrailingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for says, c := range map[string]timeline.Command{
		"input that the game does not have": {Kind: timeline.Tell, Told: world.Told{Kind: 9}},
		"knob pace":                         {Kind: timeline.Tell, Data: []byte{1, 2, 3, 4}},
		"are remembered": {Player: 1, Image: image(act{}), Shown: true,
			Sight: world.Sight{Ago: 60000}},
		"unknown kind 7": {Kind: 7},
	} {
		c.Tick, c.Origin, c.Seq = 5, 1, 1
		if _, err := line.Submit(0, c); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
	if line.Stats().Refused != 4 {
		t.Errorf("%+v", line.Stats())
	}
}

// TestOpenRuling: a judge rules what was shown and told, others come to the same, and a ruling is
// read as it was written.
func TestOpenRuling(t *testing.T) {
	start, err := hunt.New(world.Settings{Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	var lines [2]*ruled.Timeline
	for i := range lines {
		if lines[i], err = ruled.New(start, ruled.Options{Judge: i == 0,
			Options: timeline.Options{Ahead: 2 * time.Second}}); err != nil {
			t.Fatal(err)
		}
	}
	s := openScript(t, 1, false).sorted()
	sights, tells := 0, 0
	for n := world.Tick(1); n < 400; n++ {
		now := at(n)
		for ; len(s) > 0 && s[0].at <= now; s = s[1:] {
			for _, l := range lines {
				if _, err := l.Submit(now, s[0].Command); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, l := range lines {
			if err := l.Advance(now); err != nil {
				t.Fatal(err)
			}
		}
		for r := range lines[0].Rulings {
			read, err := ruled.ParseRuling(hunt, r.Append(nil))
			if err != nil || !read.Equal(r) {
				t.Fatalf("%v: %+v is read as %+v", err, r, read)
			}
			for i := range r.Commands {
				if r.Commands[i].Shown {
					sights++
				}
			}
			tells += len(r.Tellings)
			if _, err := lines[1].Rule(now, read); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := lines[1].Advance(at(399)); err != nil {
		t.Fatal(err)
	}
	a, b := lines[0].Settled(), lines[1].Settled()
	if a.Tick() != b.Tick() {
		t.Fatal(a.Tick(), b.Tick())
	}
	if d := world.Differ(a, b); d != nil || sights < 50 || tells < 8 {
		t.Errorf("%v, %d sights, %d told", d, sights, tells)
	}
}
