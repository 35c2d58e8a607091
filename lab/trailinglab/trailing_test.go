package trailinglab

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
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// The game of these tests: boats sail, and fire when they are told to.
type boat struct {
	Pos  det.Vec2
	Hits int
}

func (b *boat) Sync(s *bits.Sync) {
	s.Vec2(&b.Pos, -100, 100, 1.0/64)
	s.Int(&b.Hits, 0, 1<<20)
}

// Hints say that it is what players move about in, so it is compared by its place.
func (b *boat) Hints(h *game.Hints) { h.Body(1) }

func (b *boat) Step(w *world.World, me world.ID) {
	c := world.Command[sail](w, me)
	b.Pos = b.Pos.Add(det.Vec2{X: float64(c.X) / 8, Y: float64(c.Y) / 8}).ClampLen(10)
	if c.Fire {
		for id, o := range world.All[boat](w) {
			if id != me && o.Pos.Sub(b.Pos).LenSq() < 16 {
				o.Hits++
				world.Emit(w, id, struck{o.Hits})
			}
		}
	}
	if adrift {
		drift++
		b.Hits = drift
	}
}

// adrift makes it a game that is not deterministic.
var (
	adrift bool
	drift  int
)

type sail struct {
	X, Y int8
	Fire bool `world:"edge"`
}

func (c *sail) Sync(s *bits.Sync) {
	s.Int8(&c.X, -1, 1)
	s.Int8(&c.Y, -1, 1)
	s.Bool(&c.Fire)
}

type struck struct{ Hits int }

func (e *struck) Sync(s *bits.Sync) { s.Int(&e.Hits, 0, 1<<20) }

var boats = world.Define("boats", world.Class[boat](), world.Commands[sail](),
	world.Event[struck](),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, boat{Pos: det.Vec2{X: float64(p)}}), p)
	}))

func boatOptions() Options {
	return Options{
		Title: &game.Title{
			Game: boats, Bot: game.Bots(func(uint64) func(*world.World, world.Player) sail {
				return func(w *world.World, p world.Player) sail {
					r := det.At(9, uint64(p), uint64(w.Tick())/10)
					return sail{
						int8(r.IntN(3) - 1), int8(r.IntN(3) - 1),
						(uint64(w.Tick())+uint64(p)*5)%20 == 0}
				}
			})},
		Players: 4, Ticks: 300, Seed: 5, Quick: true,
	}
}

func TestTrailing(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	o := boatOptions()
	o.Network = wanPath
	r, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Commands != 1200 || r.Ticks != 300 || len(r.LAN) != len(paperTable) ||
		len(r.WAN) != len(paperTable) {
		t.Errorf("%+v", r)
	}
	apart := 0
	for _, rows := range [][]Row{r.LAN, r.WAN, r.Rivals} {
		for _, row := range rows {
			if !row.Verified || row.Promise && row.Differ > 0 || row.Settled != 2*r.Ticks ||
				row.Commands != 1204 && row.Promise && !strings.HasPrefix(row.Name, "lock") &&
					row.Name != "conservative, 50ms ahead" { // the last would be after the end
				t.Errorf("%+v", row)
			}
			if !row.Promise && row.Differ > 0 && row.Apart > 0 {
				apart++
			}
		}
	}
	named := func(name string) (row Row) {
		for _, row = range r.Rivals {
			if row.Name == name {
				return row
			}
		}
		t.Fatalf("there is no row %s", name)
		return row
	}
	// Every timeline is looked at; those that wait show nothing wrong, going back at once shows
	// what time warp does, and the paper's way more that is wrong.
	paper, once := named("trailing 0,100,1000"), named("trailing 0,100,1000, back at once")
	warp := named("time warp, repaired once a tick")
	if once.Shown.Wrong == 0 || once.Wrong >= paper.Wrong || once.Wrong != warp.Wrong ||
		once.Taken != warp.Taken || once.TakenShare >= paper.TakenShare || once.Returns == 0 ||
		paper.Returns != 0 {
		t.Errorf("%+v\n%+v\n%+v", paper, once, warp)
	}
	for _, row := range r.Rivals {
		if row.Bodies == 0 || row.Events == 0 ||
			strings.HasPrefix(row.Name, "lock step") && row.Wrong+row.TakenShare > 0 {
			t.Errorf("%+v", row)
		}
	}
	if apart == 0 {
		t.Error("buckets that are too short did not diverge")
	}
	for _, target := range r.Targets { // but for those that hang on the speed of the machine
		if !target.Reached && !strings.Contains(target.What, "speed") &&
			!strings.Contains(target.What, "time warp") {
			t.Errorf("%+v", target)
		}
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
	if !strings.Contains(r.Plan, "<- chosen") {
		t.Error(r.Plan)
	}
}

// Lost datagrams are made up for by the next, so nothing is missing in the end.
func TestTrailingLoss(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	o := boatOptions()
	o.Network = netsim.Profile{
		Latency: 20 * time.Millisecond, Jitter: netsim.Jitter{Amount: 10 * time.Millisecond},
		Loss: 0.2, Reorder: 0.1, Duplicate: 0.1}
	b, _, err := newBench(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all(o.Network) {
		row, err := b.run(job{nil, c, o.Network, b.ticks})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if !row.Verified || row.TooLate > 0 || row.Settled != 2*b.ticks {
			t.Errorf("%+v", row)
		}
	}
}

func TestTrailingRefuses(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"no title": func(o *Options) { o.Title = nil },
		"no game":  func(o *Options) { o.Title = &game.Title{} },
		"nothing to say": func(o *Options) {
			o.Title = &game.Title{Game: world.Define("dumb", world.Class[boat]())}
		},
		"one player":  func(o *Options) { o.Players = 1 },
		"short":       func(o *Options) { o.Ticks = 5 },
		"not a trace": func(o *Options) { o.Trace = []byte("trace") },
		"unknown margin": func(o *Options) {
			o.Margins = []timeline.Margin{{Class: "ship", Field: "Pos"}}
		},
	} {
		o := boatOptions()
		change(&o)
		if _, err := Run(context.Background(), o); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	adrift = true
	defer func() { adrift = false }()
	var d *timeline.DesyncError
	if _, err := Run(context.Background(), boatOptions()); !errors.As(err, &d) ||
		d.Difference.Field != "Hits" {
		t.Errorf("a game that is not deterministic: %v", err)
	}
	adrift = false
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, boatOptions()); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
