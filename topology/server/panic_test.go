package server

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// A mine goes off when someone has shot three times: it makes its game panic.
type mine struct{ Armed bool }

func (m *mine) Sync(s *bits.Sync) { s.Bool(&m.Armed) }

func (m *mine) Step(w *world.World, _ world.ID) {
	for _, x := range world.All[walker](w) {
		if m.Armed && x.Shots == 3 {
			panic("the mine went off")
		}
	}
}

var mines = &game.Title{
	Game: world.Define("mines", world.Class[walker](), world.Class[bird](), world.Class[mine](),
		world.State[tally](), world.Commands[walk](),
		world.Event[planted](world.EventOptions{Delivery: world.Saved}), world.Event[fired](),
		world.Event[spark](world.EventOptions{Delivery: world.Unreliable}),
		world.OnStart(func(w *world.World) {
			world.Spawn(w, mine{})
			world.Spawn(w, mine{Armed: true})
		}),
		world.OnJoin(func(w *world.World, p world.Player) {
			w.SetOwner(world.Spawn(w, walker{}), p)
		}))}

// panics are what the news tell of games that panicked.
func (s *sim) panics() (list []News) {
	for _, n := range s.news {
		if n.Kind == GamePanicked {
			list = append(list, n)
		}
	}
	return list
}

// TestPanicEndsTheMatch: the news say where, players are told, and Tick's error says all of it;
// what was kept of the last seconds, and what a recorder wrote, repeat to the same panic.
func TestPanicEndsTheMatch(t *testing.T) {
	simtest.Run(t, 2, func(n *netsim.Net) error {
		var file bytes.Buffer
		var recorder *trace.Writer
		s, err := newSim(n, Options{Title: mines, Flight: time.Second})
		if err != nil {
			return err
		}
		defer s.close()
		if recorder, err = trace.NewWriter(&file, s.server.World(), trace.Options{}); err != nil {
			return err
		}
		after, news := s.server.opt.After, s.server.opt.News
		s.server.opt.After = func(w *world.World, in *world.Inputs) {
			after(w, in)
			if err := recorder.Tick(in, w); err != nil {
				s.fail("%v", err)
			}
		}
		s.server.opt.News = func(x News) {
			news(x)
			if x.Kind == GamePanicked {
				if err := errors.Join(recorder.Fatal(x.Inputs), recorder.Close()); err != nil {
					s.fail("%v", err)
				}
			}
		}
		a := s.join("a", 1, netsim.Cable, client.Options{Return: -1})
		b := s.join("b", 2, netsim.WiFi, client.Options{Return: -1})
		a.makeMove = func(t world.Tick) walk {
			return walk{X: 1, Fire: t == 100 || t == 200 || t == 280}
		}
		b.makeMove = func(world.Tick) walk { return walk{Y: 1} }
		n.Run(8 * time.Second)

		list := s.panics()
		var where *world.Panic
		if len(list) != 1 || !errors.As(list[0].Err, &where) || where.Class != "mine" ||
			where.Entity.Index() != 1 || where.Tick != list[0].Tick || where.Tick < 280 {
			s.err = nil
			s.fail("the news: %v", s.news)
			return s.err
		}
		if s.err == nil || !strings.Contains(s.err.Error(), where.Error()) ||
			!strings.Contains(s.err.Error(), "mine).Step (panic_test.go:") ||
			!strings.Contains(s.err.Error(), "the match is over") {
			s.fail("Tick says nothing")
			return s.err
		}
		s.err = nil
		if err := s.server.Tick(n.Now()); !errors.Is(err, ErrGamePanicked) {
			s.fail("and then: %v", err)
		}
		for _, c := range []*bot{a, b} {
			var end *client.EndError
			if !errors.As(c.ended, &end) || !strings.Contains(end.Note, "failed") {
				s.fail("%s was told %v", c.Name(), c.ended)
			}
		}
		flight := list[0].Flight
		if flight == nil || !flight.Exact || len(flight.Inputs) < 60 || len(flight.Inputs) > 120 {
			s.fail("kept were %v", flight)
			return s.err
		}
		var kept bytes.Buffer
		first := flight.World.Tick()
		again, err := trace.WriteRun(&kept, flight.World, flight.Inputs, trace.Options{})
		if err != nil || again == nil || again.Tick != where.Tick || again.Entity != where.Entity {
			s.fail("written down again it is %v (%v)", again, err)
			return s.err
		}
		for what, data := range map[string][]byte{"kept": kept.Bytes(), "recorded": file.Bytes()} {
			r, err := trace.Open(bytes.NewReader(data))
			if err != nil {
				return err
			}
			res, err := trace.Replay(mines.Game, r, trace.ReplayOptions{})
			if err != nil || res.Panic == nil || res.Panic.Tick != where.Tick ||
				res.Panic.Entity != where.Entity || res.Mismatch != nil || res.Damage != nil ||
				res.Last != where.Tick-1 {
				s.fail("%s, the replay is %+v (%v)", what, res, err)
			} else if what == "kept" && res.First != first || what == "recorded" && res.First != 0 {
				s.fail("%s, the replay begins at %d", what, res.First)
			}
		}
		return s.err
	})
}

// TestPanicRestartsTheLevel: everyone stays and plays on in a new world; if it goes on like that,
// the match ends.
func TestPanicRestartsTheLevel(t *testing.T) {
	simtest.Run(t, 2, func(n *netsim.Net) error {
		s, err := newSim(n, Options{Title: mines, OnPanic: Restart, Flight: -1})
		if err != nil {
			return err
		}
		defer s.close()
		a := s.join("a", 1, netsim.Cable, client.Options{Return: -1})
		b := s.join("b", 2, netsim.Cable, client.Options{Return: -1})
		b.makeMove = func(world.Tick) walk { return walk{Y: 1} }
		fires := true
		a.makeMove = func(t world.Tick) walk { return walk{X: 1, Fire: fires && t%60 == 30} }
		if !n.RunUntil(20*time.Second, func() bool { return len(s.panics()) == 2 }) {
			s.fail("%d panics", len(s.panics()))
		}
		fires = false
		n.Run(3 * time.Second)
		if s.err != nil {
			return s.err
		}
		if x := s.panics()[0]; x.Flight != nil || x.Inputs == nil {
			s.fail("nothing is to be kept: %v", x.Flight)
		}
		if a.Phase() != client.Playing || b.Phase() != client.Playing || a.worlds != 3 ||
			s.count(Joined) != 2 || s.server.Stats().Panics != 2 {
			s.fail("%v and %v in %d worlds, %d joined", a.Phase(), b.Phase(), a.worlds,
				s.count(Joined))
		}
		if walkerOf(s.server.World(), a.Player()) == nil || walkerOf(a.Truth(), b.Player()) == nil {
			s.fail("they are not in the new world")
		}
		fires = true
		n.Run(20 * time.Second)
		if len(s.panics()) != mostRestarts+1 || s.err == nil ||
			!strings.Contains(s.err.Error(), "match is over") {
			s.fail("%d panics, and then %v", len(s.panics()), s.err)
			return s.err
		}
		return nil
	})
}

// BenchmarkFlight is what it costs to keep the last seconds.
func BenchmarkFlight(b *testing.B) {
	w, err := yard.New(world.Settings{States: []bits.Syncer{&tally{Birds: 500, Stones: 2000}}})
	if err != nil {
		b.Fatal(err)
	}
	in := yard.NewInputs()
	for p := range 100 {
		if err := world.Give(in, world.Player(p+1), walk{X: 1}); err != nil {
			b.Fatal(err)
		}
	}
	f := &flightRecorder{span: 600}
	f.begin(w)
	for range 2000 {
		f.note(w, in)
	}
	b.ReportAllocs()
	for b.Loop() {
		f.note(w, in)
	}
}
