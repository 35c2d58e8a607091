package feellab

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/world"
)

// The range is a small shooter: gunners who slide about and fire a beam.
var shootingRange = world.Define("range", world.Class[gunner](), world.Commands[trigger](),
	world.Event[stung](),
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
	shot := world.Shot{By: w.Owner(me), From: det.Vec3{X: f.Pos.X, Y: f.Pos.Y}}
	for id, o := range world.All[gunner](w) {
		at := o.Pos
		if p, ok := w.Sees(shot, id); ok && id != me {
			at = det.Vec2{X: p.X, Y: p.Y}
		}
		d := at.Sub(f.Pos)
		if id != me && d.Dot(c.Aim.Vec()) > 0 && det.Abs(c.Aim.Vec().Cross(d)) < 0.5 {
			w.Strike(shot, id)
			world.Emit(w, id, stung{By: w.Owner(me)})
			return
		}
	}
}

type stung struct{ By world.Player }

func (e *stung) Sync(s *bits.Sync) { bits.Integer(s, &e.By, 0, 1000) }

// Hints say that it is what players move about in, and in the way.
func (f *gunner) Hints(h *game.Hints) {
	h.Body(1)
	h.Obstacle()
}

// Rewind says that it is shot at where it was seen.
func (f *gunner) Rewind(r *world.Rewinding) { r.Place(&f.Pos) }

func rangeTitle() *game.Title {
	return &game.Title{
		Game: shootingRange,
		Bot: game.Bots(func(seed uint64) func(*world.World, world.Player) trigger {
			return func(w *world.World, me world.Player) trigger {
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
						best, c.Aim, c.Fire = d, f.Pos.Sub(at).Angle(),
							uint64(w.Tick())%40 == seed%40
					}
				}
				return c
			}
		}),
		Shots: game.Shots{
			Hits: func(w *world.World, yield func(game.Hit) bool) {
				for e, s := range world.Events[stung](w) {
					if !yield(game.Hit{By: s.By, Victim: w.Owner(e.About), Direct: true,
						Kill: true}) {
						return
					}
				}
			},
		},
	}
}

// TestFeel tries the three styles on a phone's network: what each is for must show in the figures,
// and the same seed must give them again.
func TestFeel(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	o := Options{
		Title: rangeTitle(), Conditions: netsim.LTE, Players: 6, Time: 20 * time.Second,
		Warm: 10 * time.Second, Seed: 3}
	if testing.Short() {
		o.Time = 8 * time.Second
	}
	run := func(s predict.Style) (*Result, string) {
		o.Styles = []predict.Style{s}
		r, err := Run(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(r[0])
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s", text)
		return &r[0], string(text)
	}
	doom, first := run(predict.Doom3)
	if _, second := run(predict.Doom3); first != second {
		t.Errorf("two runs with one seed differ:\n%s\n%s", first, second)
	}
	quake, _ := run(predict.Quake3)
	half, _ := run(predict.HalfLife)
	denied := func(r *Result) float64 { return float64(r.Denied) / float64(max(r.Seen, 1)) }
	for _, r := range []*Result{doom, quake, half} {
		if r.Own.N == 0 || r.Others.N == 0 || r.Seen < 20 || r.BytesDown == 0 || r.BytesUp == 0 {
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
		t.Errorf("others are off by %.2f where they are predicted and by %.2f where they are not",
			doom.Others.Mean, quake.Others.Mean)
	}
	if denied(doom) >= denied(quake) || denied(half) >= denied(quake) {
		t.Errorf("hits denied: doom3 %.2f, quake3 %.2f, halflife %.2f", denied(doom), denied(quake),
			denied(half))
	}
}

// TestFair sets two groups against each other: both kill, what is printed holds together, and the
// same seed gives it again.
func TestFair(t *testing.T) {
	run := func() FairResult {
		r, err := Fair(t.Context(), FairOptions{Options: Options{
			Title: rangeTitle(), Players: 4, Time: 10 * time.Second, Warm: 4 * time.Second, Seed: 2,
			Styles: []predict.Style{predict.HalfLife}}})
		if err != nil || len(r) != 1 {
			t.Fatal(r, err)
		}
		return r[0]
	}
	r := run()
	t.Logf("%+v", r)
	if r.Far.Kills < 5 || r.Near.Kills < 5 || r.Low >= r.Ratio || r.High <= r.Ratio ||
		r.Far.RoundTrip != 150 || r.Far.Kills+r.Near.Kills != r.Far.Deaths+r.Near.Deaths {
		t.Errorf("%+v", r)
	}
	if again := run(); again != r {
		t.Errorf("two runs with one seed differ: %+v, %+v", r, again)
	}
}

// TestKnee: the curve bends where less is denied at no cost.
func TestKnee(t *testing.T) {
	var curve []Judged
	for i, x := range [][2]int{{30, 0}, {20, 0}, {10, 1}, {8, 10}, {5, 30}} {
		curve = append(curve, Judged{Vary: varyCover, Value: float64(i),
			Denied: share(x[0], 100), Late: share(x[1], 100)})
	}
	if at := knee(curve); at != 2 {
		t.Errorf("the knee is at %v", at)
	}
	if at := knee(nil); at != 0 {
		t.Errorf("without a curve it is at %v", at)
	}
}

// A ghost has no body, and a target has nothing but one.
type ghost struct{ Pos det.Vec2 }

func (g *ghost) Sync(s *bits.Sync) { s.Vec2(&g.Pos, 0, 40, 1) }

type target struct{ Pos det.Vec2 }

func (a *target) Sync(s *bits.Sync) { s.Vec2(&a.Pos, 0, 40, 1) }

func (a *target) Hints(h *game.Hints) { h.Body(1) }

func TestFeelRefuses(t *testing.T) {
	plain := rangeTitle()
	plain.Game, plain.Shots = world.Define("walk", world.Class[ghost](), world.Commands[trigger]()),
		game.Shots{}
	aimless := rangeTitle()
	aimless.Game,
		aimless.Shots = world.Define("aimless", world.Class[target](), world.Commands[trigger]()),
		game.Shots{}
	for _, x := range []struct {
		o    Options
		says string
	}{
		{Options{}, "no title to play: set Options.Title"},
		{Options{Title: &game.Title{}}, "set Title.Game"},
		{Options{Title: plain}, "title walk has no body"},
		{Options{Title: aimless, Styles: []predict.Style{predict.HalfLife}},
			"nothing in title aimless can be rewound, so the halflife style cannot be tried"},
		{Options{Title: rangeTitle(), Players: 1}, "players is 1: choose 2 to 1000"},
	} {
		if _, err := Run(t.Context(), x.o); err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%v does not say %q", err, x.says)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Run(ctx, Options{Title: rangeTitle()}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestFeelTitles: a title that has nothing but a body is tried without the rest.
func TestFeelTitles(t *testing.T) {
	for _, title := range []*game.Title{crowd.Title, pong.Title} {
		r, err := Run(t.Context(), Options{
			Title: title, Conditions: netsim.LTE, Players: 2, Time: 2 * time.Second,
			Warm: 3 * time.Second, Seed: 3,
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(r) != 2 || r[0].Style != "doom3" || r[1].Style != "quake3" {
			t.Fatalf("%s: %d styles were tried", title.Name(), len(r))
		}
		for _, r := range r {
			if r.Own.N == 0 || r.Others.N == 0 || r.Own.Mean > r.Others.Mean || r.BytesDown == 0 ||
				r.Hits.All+r.Seen+r.Deaths > 0 {
				t.Errorf("%s: %+v", title.Name(), r)
			}
		}
	}
}
