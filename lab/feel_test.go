package lab

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/world"
)

// The range is a small shooter: gunners who slide about and fire a beam.
var shootingRange = world.Define("range", world.Class[gunner](), world.Commands[trigger](), world.Event[stung](),
	world.OnJoin(func(w *world.World, p world.Player) {
		r := w.Rand()
		w.SetOwner(world.Spawn(w, gunner{Pos: det.Vec2{X: r.Range(5, 35), Y: r.Range(5, 35)}}), p)
	}))

type trigger struct {
	X, Y int8
	Aim  det.Angle
	Fire bool `world:"edge"`
}

func (c *trigger) Sync(s *bits.Sync) {
	s.Int8(&c.X, -1, 1)
	s.Int8(&c.Y, -1, 1)
	s.Angle(&c.Aim, 12)
	s.Bool(&c.Fire)
}

type gunner struct {
	Pos, Vel det.Vec2
	Ready    int
}

func (f *gunner) Sync(s *bits.Sync) {
	s.Vec2(&f.Pos, 0, 40, 1.0/1024)
	s.Vec2(&f.Vel, -16, 16, 1.0/256)
	s.Int(&f.Ready, 0, 60)
}

// past is what the halflife style sets; a package variable will do in a test that has one server at a time.
var gunnersPast func(shooter world.Player, target world.ID) (det.Vec3, bool)

func (f *gunner) Step(w *world.World, me world.ID) {
	c := world.Command[trigger](w, me)
	wish := det.Vec2{X: float64(c.X), Y: float64(c.Y)}.ClampLen(1).Mul(8)
	f.Vel = f.Vel.Add(wish.Sub(f.Vel).ClampLen(1))
	f.Pos = f.Pos.MulAdd(f.Vel, w.Seconds())
	f.Pos.X, f.Pos.Y = det.Clamp(f.Pos.X, 1, 39), det.Clamp(f.Pos.Y, 1, 39)
	f.Ready = max(0, f.Ready-1)
	if !c.Fire || f.Ready > 0 {
		return
	}
	f.Ready = 30
	for id, o := range world.All[gunner](w) {
		at := o.Pos
		if gunnersPast != nil && !w.Settings().Partial {
			if p, ok := gunnersPast(w.Owner(me), id); ok {
				at = det.Vec2{X: p.X, Y: p.Y}
			}
		}
		d := at.Sub(f.Pos)
		if id != me && d.Dot(c.Aim.Vec()) > 0 && det.Abs(c.Aim.Vec().Cross(d)) < 0.5 {
			world.Emit(w, id, stung{By: w.Owner(me)})
			return
		}
	}
}

type stung struct{ By world.Player }

func (e *stung) Sync(s *bits.Sync) { bits.Integer(s, &e.By, 0, 1000) }

func rangeFeel() FeelGame {
	return FeelGame{
		Game:     shootingRange,
		Settings: func(clientserver.Level) (world.Settings, error) { return world.Settings{}, nil },
		Body:     "gunner", Width: 1,
		Life: func(*world.World, world.ID) (int, bool) { return 0, true },
		NewBot: func(seed uint64) func(*world.World, world.Player, *world.Inputs) {
			return func(w *world.World, me world.Player, in *world.Inputs) {
				r := det.At(seed, uint64(w.Tick())/20, 1)
				c := trigger{X: int8(r.IntN(3) - 1), Y: int8(r.IntN(3) - 1)}
				var at det.Vec2
				for id, f := range world.All[gunner](w) {
					if w.Owner(id) == me {
						at = f.Pos
					}
				}
				best := 1e9
				for id, f := range world.All[gunner](w) {
					if d := f.Pos.Sub(at).Len(); w.Owner(id) != me && d < best {
						best, c.Aim, c.Fire = d, f.Pos.Sub(at).Angle(), uint64(w.Tick())%40 == seed%40
					}
				}
				_ = world.Give(in, me, c)
			}
		},
		Hits: func(w *world.World, yield func(FeelHit) bool) {
			for e, s := range world.Events[stung](w) {
				if !yield(FeelHit{By: s.By, Victim: w.Owner(e.About), Direct: true}) {
					return
				}
			}
		},
		Clear: func(*world.World, det.Vec3, det.Vec3) bool { return true },
		Rewind: func(_ *world.World, past func(world.Player, world.ID) (det.Vec3, bool)) {
			gunnersPast = past
		},
	}
}

// TestFeel tries the three styles on a phone's network: what each is for must show in the figures, and the same seed must give them again.
func TestFeel(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	defer func() { gunnersPast = nil }()
	o := FeelOptions{Conditions: netsim.LTE, Players: 6, Time: 20 * time.Second, Warm: 10 * time.Second, Seed: 3}
	if testing.Short() {
		o.Time = 8 * time.Second
	}
	run := func(s predict.Style) (*FeelResult, string) {
		gunnersPast = nil
		o.Styles = []predict.Style{s}
		r, err := Feel(context.Background(), rangeFeel(), o)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(r[0])
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s", text)
		return r[0], string(text)
	}
	doom, first := run(predict.Doom3)
	if _, second := run(predict.Doom3); first != second {
		t.Errorf("two runs with one seed differ:\n%s\n%s", first, second)
	}
	quake, _ := run(predict.Quake3)
	half, _ := run(predict.HalfLife)
	denied := func(r *FeelResult) float64 { return float64(r.HitsDenied) / float64(max(r.HitsSeen, 1)) }
	for _, r := range []*FeelResult{doom, quake, half} {
		if r.Own.N == 0 || r.Others.N == 0 || r.HitsSeen < 20 || r.BytesDown == 0 || r.BytesUp == 0 {
			t.Errorf("%s: nothing was measured: %+v", r.Style, r)
		}
		if r.InputTicks != 0 {
			t.Errorf("%s: a command is seen %v ticks late", r.Style, r.InputTicks)
		}
		if r.Own.P95 > 0.05 || r.Late > 0.01 {
			t.Errorf("%s: own error %+v, %.3f of commands late", r.Style, r.Own, r.Late)
		}
	}
	if doom.Others.Mean >= quake.Others.Mean {
		t.Errorf("others are off by %.2f where they are predicted and by %.2f where they are not", doom.Others.Mean, quake.Others.Mean)
	}
	if denied(doom) >= denied(quake) || denied(half) >= denied(quake) {
		t.Errorf("hits denied: doom3 %.2f, quake3 %.2f, halflife %.2f", denied(doom), denied(quake), denied(half))
	}
}

func TestFeelRefuses(t *testing.T) {
	g := rangeFeel()
	g.Body = "nobody"
	if _, err := Feel(context.Background(), g, FeelOptions{}); err == nil {
		t.Error("a body that there is not")
	}
	g = rangeFeel()
	g.Rewind = nil
	if _, err := Feel(context.Background(), g, FeelOptions{Styles: []predict.Style{predict.HalfLife}}); err == nil {
		t.Error("no way to rewind")
	}
	if _, err := Feel(context.Background(), rangeFeel(), FeelOptions{Players: 1}); err == nil {
		t.Error("one player")
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Feel(ctx, rangeFeel(), FeelOptions{}); err == nil {
		t.Error("no error though it was cancelled")
	}
}
