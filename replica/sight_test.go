package replica

import (
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// A reliable event reaches those who see what it is about when it happens, once, and nobody else.
func TestReliableEventsGoToThoseWhoSee(t *testing.T) {
	for _, loss := range []float64{0.3, 0} {
		if loss == 0 && testing.Short() {
			continue
		}
		const seed = 21
		s := newSite(t, Options{}, seed, 8)
		var guests []*guest
		heard := make([]map[world.Emitted]int, 4)
		for i := range heard {
			g := newGuest(s, world.Player(i+1), seed)
			g.shown, g.loss, g.jitter, g.every = map[world.ID][]int{}, loss, 6, 1+i
			m := map[world.Emitted]int{}
			g.hear = func(e *Event) { m[e.Emitted]++ }
			guests, heard[i] = append(guests, g), m
		}
		var all []world.Emitted
		for range 900 {
			s.step()
			for e := range s.w.Host().Happened {
				if testGame.Events()[e.Kind].Delivery() == world.Reliable {
					all = append(all, e)
				}
			}
			for _, g := range guests {
				g.tick()
			}
		}
		for range 30 {
			for _, g := range guests {
				g.tick()
			}
		}
		told, silent := 0, 0
		for i, g := range guests {
			for _, e := range all {
				want := 0
				if g.concerned(e) {
					want = 1
					told++
				} else {
					silent++
				}
				if heard[i][e] != want {
					t.Fatalf("guest %d, seed %d: told %d times of %+v, want %d", i, seed,
						heard[i][e], e, want)
				}
			}
		}
		if told < 20 || silent < 20 {
			t.Errorf("%d events were seen and %d were not: too few", told, silent)
		}
	}
}

// A small game: a thrower throws squibs that burst at once, speaks, and is watched by a badge that
// everyone sees.

type thrower struct{ X int }

func (a *thrower) Sync(s *bits.Sync) { s.Int(&a.X, 0, 1000) }

func (a *thrower) Step(w *world.World, me world.ID) {
	c := world.Command[throw](w, me)
	a.X = (a.X + c.Move) % 1000
	if c.Fire {
		world.Spawn(w, squib{Left: 1})
		world.Emit(w, me, spoke{Text: c.Text})
	}
}

type squib struct{ Left int }

func (q *squib) Sync(s *bits.Sync) { s.Int(&q.Left, 0, 9) }

func (q *squib) Step(w *world.World, me world.ID) {
	if q.Left--; q.Left == 0 {
		world.Emit(w, me, burst{At: 5})
		w.Remove(me)
	}
}

type badge struct{ Team int }

func (b *badge) Sync(s *bits.Sync) { s.Int(&b.Team, 0, 9) }

type throw struct {
	Move int
	Plan int    `world:"private"`
	Fire bool   `world:"edge"`
	Text string `world:"edge"`
}

func (c *throw) Sync(s *bits.Sync) {
	s.Int(&c.Move, 0, 9)
	s.Int(&c.Plan, 0, 9)
	s.Bool(&c.Fire)
	if c.Fire {
		s.String(&c.Text, 16)
	}
}

type burst struct{ At int }

func (b *burst) Sync(s *bits.Sync) { s.Int(&b.At, 0, 9) }

type spoke struct{ Text string }

func (e *spoke) Sync(s *bits.Sync) { s.String(&e.Text, 16) }

var squibGame = world.Define("squibs",
	world.Class[thrower](), world.Class[squib](), world.Class[badge](),
	world.Commands[throw](),
	world.Event[burst](), world.Event[spoke](world.EventOptions{Delivery: world.Everyone}),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, thrower{}), p)
		w.SetOwner(world.Spawn(w, badge{Team: int(p)}), p)
	}),
)

// A range is where they throw: one client that is shown the entities given.
type throwRange struct {
	t       *testing.T
	w       *world.World
	in      *world.Inputs
	pub     *Publisher
	s       *Sender
	r       *Receiver
	worker  *Worker
	carrier uint64
}

func newThrowRange(t *testing.T, o Options) *throwRange {
	t.Helper()
	p, err := NewProtocol(squibGame, o)
	if err != nil {
		t.Fatal(err)
	}
	w, err := squibGame.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	x := &throwRange{t: t, w: w, in: squibGame.NewInputs(), worker: NewWorker(p)}
	if x.pub, err = NewPublisher(p, w); err != nil {
		t.Fatal(err)
	}
	x.in.Join(1)
	x.in.Join(2)
	x.s, x.r = NewSender(x.pub, SenderOptions{Player: 1}), NewReceiver(p, ReceiverOptions{})
	x.step()
	return x
}

func (x *throwRange) step() {
	if err := x.w.Host().Step(x.in); err != nil {
		x.t.Fatal(err)
	}
	x.in.Reset()
	if err := x.pub.Publish(x.w); err != nil {
		x.t.Fatal(err)
	}
}

// of lists entities of a class that belong to a player.
func (x *throwRange) of(class int, p world.Player) (list []interest.Entry) {
	for id := range x.w.Host().Of(class) {
		if x.w.Owner(id) == p {
			list = append(list, interest.Entry{ID: id, Priority: 1})
		}
	}
	return list
}

// show sends a snapshot of what is given, and gives what came of it.
func (x *throwRange) show(entries ...interest.Entry) (events []string, relayed [][]int32) {
	x.s.see(entries)
	x.s.Encode(x.worker, Room{Packet: 1000, Budget: 1000})
	for _, m := range x.s.Messages() {
		if err := x.r.Message(m); err != nil {
			x.t.Fatal(err)
		}
	}
	for i := range x.s.Staged() {
		x.carrier++
		x.s.Sent(i, x.carrier)
		if err := x.r.Packet(x.s.Packet(i)); err != nil {
			x.t.Fatal(err)
		}
		x.s.Arrived(x.carrier)
	}
	for _, e := range x.r.Events() {
		events = append(events, squibGame.Events()[e.Kind].Name())
	}
	for s := x.r.Next(); s != nil; s = x.r.Next() {
		for _, c := range s.Commands {
			relayed = append(relayed, slices.Clone(c.Image))
		}
	}
	return events, relayed
}

// What comes and goes between two snapshots is in nobody's view: those hear of it who see what
// spawned it. What is for everyone, everyone hears.
func TestEventsOfWhatNobodyWasShown(t *testing.T) {
	for _, sees := range []bool{true, false} {
		x := newThrowRange(t, Options{})
		view, want := x.of(0, 1), []string{"spoke"}
		if sees {
			view, want = append(view, x.of(0, 2)...), []string{"spoke", "burst"}
		}
		x.show(view...)
		world.Give(x.in, 2, throw{Fire: true, Text: "hello"})
		x.step()
		x.step()
		if n := len(slices.Collect(x.w.Host().Of(1))); n > 0 {
			t.Fatalf("%d squibs are left", n)
		}
		if got, _ := x.show(view...); !slices.Equal(got, want) {
			t.Errorf("sees the thrower: %v: heard %v, want %v", sees, got, want)
		}
		if got, _ := x.show(view...); len(got) > 0 {
			t.Errorf("heard %v again", got)
		}
	}
}

// Something that leaps out of sight is not told of by the view before, and what ends in sight is.
func TestEventsOfWhatLeavesTheView(t *testing.T) {
	x := newThrowRange(t, Options{})
	world.Give(x.in, 2, throw{Fire: true})
	x.step()
	squibs := x.of(1, world.Nobody)
	if len(squibs) != 1 {
		t.Fatalf("%d squibs", len(squibs))
	}
	x.show(append(x.of(0, 1), squibs...)...)
	x.step() // it bursts
	if got, _ := x.show(x.of(0, 1)...); !slices.Equal(got, []string{"burst"}) {
		t.Errorf("heard %v of what ended in sight", got)
	}
	x.show(append(x.of(0, 1), x.of(0, 2)...)...)
	before := x.pub.events.end()
	x.step()
	id := x.of(0, 2)[0].ID
	x.pub.events.log(world.Emitted{Name: world.Name{By: id, Tick: x.w.Tick()}, About: id}, &burst{},
		Confirmed, x.pub.count)
	if x.pub.events.end() != before+1 {
		t.Fatal("it was not logged")
	}
	if got, _ := x.show(x.of(0, 1)...); len(got) > 0 {
		t.Errorf("heard %v of what is out of sight", got)
	}
}

// The commands of others go to those who see something that is predicted from them, and of these
// only levels that are not private.
func TestRelayIsForThoseWhoPredict(t *testing.T) {
	x := newThrowRange(t, Options{Classes: map[string]Policy{"badge": {NoRelay: true}}})
	command := throw{Move: 3, Plan: 4, Fire: true, Text: "secret"}
	world.Give(x.in, 2, command)
	x.step()
	if _, got := x.show(append(x.of(0, 1), x.of(2, 2)...)...); len(got) > 0 {
		t.Errorf("relayed %v to who sees only the badge", got)
	}
	world.Give(x.in, 2, command)
	x.step()
	_, got := x.show(append(x.of(0, 1), x.of(0, 2)...)...)
	if len(got) != 1 {
		t.Fatalf("relayed %v to who sees the thrower", got)
	}
	in := squibGame.NewInputs()
	if err := in.GiveImage(2, got[0]); err != nil {
		t.Fatal(err)
	}
	if c, _ := world.Given[throw](in, 2); c != (throw{Move: 3}) {
		t.Errorf("relayed %+v, want its levels alone", c)
	}
	world.Give(x.in, 2, throw{Move: 5})
	x.step()
	if _, got := x.show(x.of(0, 1)...); len(got) != 1 || got[0] != nil {
		t.Errorf("relayed %v when the thrower is out of sight", got)
	}
	// Without the policy the badge is enough.
	x = newThrowRange(t, Options{})
	world.Give(x.in, 2, command)
	x.step()
	if _, got := x.show(append(x.of(0, 1), x.of(2, 2)...)...); len(got) != 1 {
		t.Errorf("relayed %v", got)
	}
}
