package server

import (
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/mem"
	"github.com/coeval-dev/coeval/world"
)

// A deer runs, one unit a tick. A hunter stands at X = -8.
type deer struct{ Pos det.Vec2 }

func (d *deer) Sync(s *bits.Sync)           { s.Vec2(&d.Pos, -1024, 1023, 1.0/16) }
func (d *deer) Step(*world.World, world.ID) { d.Pos.X++ }
func (d *deer) Hints(h *game.Hints)         { h.Rewind() }

type hunter struct{ Pos det.Vec2 }

func (x *hunter) Sync(s *bits.Sync)   { s.Vec2(&x.Pos, -1024, 1023, 1.0/16) }
func (x *hunter) Hints(h *game.Hints) { h.Body(1) }

var hunt = world.Define("hunt", world.Class[deer](), world.Class[hunter](),
	world.OnStart(func(w *world.World) { world.Spawn(w, deer{}) }),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, hunter{Pos: det.Vec2{X: -8, Y: 2}}), p)
	}))

// A huntServer is a server of the hunt with one hunter, and what its title was given to judge by.
type huntServer struct {
	*Server
	past   game.Past
	judged int
	cover  bool
	from   det.Vec3
	now    time.Duration
}

func newHunt(t *testing.T, o Options) *huntServer {
	t.Helper()
	h := &huntServer{}
	o.Title = &game.Title{Game: hunt, Shots: game.Shots{
		Judge: func(_ *world.World, past game.Past) {
			h.past = past
			h.judged++
		},
		Clear: func(_ *world.World, from, _ det.Vec3) bool {
			h.from = from
			return !h.cover
		},
	}}
	end, err := mem.NewHub(mem.Options{}).Open(netip.AddrPort{})
	must(t, err)
	o.Links = []link.Link{end}
	h.Server, err = New(o)
	must(t, err)
	t.Cleanup(func() { _ = h.Close() })
	h.enter(t)
	return h
}

// enter lets the hunter into the world and some time pass.
func (h *huntServer) enter(t *testing.T) {
	h.players = []*Seat{nil, {Player: 1}}
	h.engine.Enter(1)
	for range 60 {
		h.now += hunt.TickLength()
		must(t, h.Tick(h.now))
	}
}

func (h *huntServer) target() (target world.ID) {
	for id := range world.All[deer](h.World()) {
		target = id
	}
	return target
}

// TestShotsAreJudgedByWhatWasSeen: a title with shots is asked about the past of each new world,
// where the shooter saw it.
func TestShotsAreJudgedByWhatWasSeen(t *testing.T) {
	h := newHunt(t, Options{})
	where := func(seen seenAt) (det.Vec3, bool) {
		h.players[1].seen = seen
		return h.past(1, h.target())
	}
	for round := range 2 {
		if p, ok := where(seenAt{tick: 50, sixteenths: 8}); !ok || p.X != 50.5 {
			t.Errorf("seen half a tick after the 50th it was at %v, %v", p, ok)
		}
		if want := (det.Vec3{X: -8, Y: 2}); h.from != want {
			t.Errorf("shot from %v, want %v", h.from, want)
		}
		if p, ok := where(seenAt{}); ok {
			t.Errorf("who shows the present is told %v", p)
		}
		if _, ok := h.past(7, h.target()); ok {
			t.Error("nobody has seen it")
		}
		h.cover = true
		if p, ok := where(seenAt{tick: 50}); ok {
			t.Errorf("behind cover, and hit at %v", p)
		}
		h.cover = false
		if h.judged != round+1 {
			t.Errorf("judged %d worlds", h.judged)
		}
		must(t, h.Change(Level{Name: "again"}))
		h.enter(t)
	}
}

// A match that is recorded has to repeat from its trace, and what players were shown is not in it.
func TestRecordedMatchesAreJudgedByThePresent(t *testing.T) {
	if h := newHunt(t, Options{Recorded: true}); h.judged != 0 {
		t.Error("judged by what is in no trace")
	}
}
