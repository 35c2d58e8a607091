package replica

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
	"pgregory.net/rapid"
)

// dying says of which walkers clients take over: those of some health, which changes now and then.
func dying(w *world.World, id world.ID) bool { return world.Get[walker](w, id).Health%4 >= 2 }

var walkerTakenOver = map[string]Policy{"walker": {TakenOver: dying}}

// A deathwatch follows what is published of walkers that clients take over.
type deathwatch struct {
	since map[world.ID]*run
	runs  int
}

// run is a walker that is taken over: the images since then, of one owner and in a world that was
// not taken back.
type run struct {
	owner  world.Player
	images [][]int32
}

// publish looks at what was published. anew says that the world was taken back.
func (d *deathwatch) publish(w *world.World, anew bool) {
	for id := range d.since {
		if !w.Has(id) {
			delete(d.since, id)
		}
	}
	for id := range w.Host().Of(1) {
		r := d.since[id]
		if !dying(w, id) {
			delete(d.since, id)
			continue
		}
		if r == nil || anew || r.owner != w.Owner(id) {
			r = &run{owner: w.Owner(id)}
			d.since[id] = r
			d.runs++
		}
		r.images = append(r.images, slices.Clone(w.Host().Image(id)))
	}
}

// wrong is guest.wrong where walkers are taken over: those are as they were since then.
func (d *deathwatch) wrong(g *guest, behind *int) string {
	for id := range g.w.Entities() {
		r, image := d.since[id], g.w.Host().Image(id)
		if r == nil || slices.Equal(image, g.site.w.Host().Image(id)) {
			continue
		}
		if !slices.ContainsFunc(r.images, func(i []int32) bool { return slices.Equal(i, image) }) {
			return fmt.Sprintf("%v is taken over, and shown as %v, which it was not since then", id,
				image)
		}
		*behind++
		if err := g.w.Host().Put(id, world.Entry{Owner: g.w.Owner(id)},
			g.site.w.Host().Image(id)); err != nil {
			g.t.Fatal(err)
		}
	}
	return g.wrong()
}

// Under loss, duplication and reordering, of a world that may be taken back, a client ends up with
// an image of each entity that it takes over from the time since it does, and with everything else
// as it is.
func TestTakenOverUnderLoss(t *testing.T) {
	ticks, behind, runs, rollbacks := 240, 0, 0, 0
	if testing.Short() {
		ticks = 100
	}
	rapid.Check(t, func(rt *rapid.T) {
		strategy := Strategy(rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3, 4, 5, 6}).Draw(rt,
			"strategy"))
		seed := rapid.Uint64().Draw(rt, "seed")
		rollback := rapid.SampledFrom([]float64{0, 0, 0.03, 0.3}).Draw(rt, "rollback")
		m := newMirror(t, Options{Strategy: strategy, Classes: walkerTakenOver}, seed, 6)
		watch := &deathwatch{since: map[world.ID]*run{}}
		watch.publish(m.w, true)
		var guests []*guest
		for i := range 3 {
			g := newGuest(m.site, world.Player(i+1), seed)
			g.disturb(rt)
			guests = append(guests, g)
		}
		for range ticks {
			count, jumps := m.pub.count, m.pub.jumps
			m.advance(rollback, 0.1*rollback)
			if m.pub.count != count {
				watch.publish(m.w, m.pub.jumps != jumps)
			}
			for _, g := range guests {
				g.tick()
			}
		}
		if m.pub.tick != m.w.Tick() || m.again {
			m.publish(m.settled) // the last tick was left out
			watch.publish(m.w, true)
		}
		for i, g := range guests {
			g.calm()
			for range 60 * g.every {
				g.tick()
			}
			if wrong := watch.wrong(g, &behind); wrong != "" {
				rt.Fatalf("guest %d: %s; %v", i, wrong, g.fails)
			}
			if st := g.r.Stats(); st.Mismatch+st.Repairs > 0 {
				rt.Fatalf("guest %d and the server disagreed about bases: %v, %+v", i, g.fails, st)
			}
		}
		runs += watch.runs
		rollbacks += m.rollbacks
	})
	t.Logf("%d were taken over, %d were behind in the end, %d rollbacks", runs, behind, rollbacks)
	if runs == 0 || behind == 0 || rollbacks == 0 {
		t.Error("the test shows nothing")
	}
}

// actor does what a script says: it moves each tick, and now and then dies, comes back to life, or
// changes its owner.
type actor struct {
	X     int
	Dying bool
	Text  string
}

func (a *actor) Sync(s *bits.Sync) {
	s.Int(&a.X, 0, 10000)
	s.Bool(&a.Dying)
	s.String(&a.Text, 250)
}

func (a *actor) Step(w *world.World, me world.ID) {
	a.X++
	switch w.Tick() {
	case 10, 31, 51:
		a.Dying = true
	case 30, 50:
		a.Dying = false
	case 20:
		w.SetOwner(me, 2)
	case 22:
		w.SetOwner(me, 3)
	case 23:
		w.SetOwner(me, 2)
	case 60:
		w.Remove(me)
	}
}

var actors = world.Define("actors", world.Class[actor](), world.OnStart(func(w *world.World) {
	world.Spawn(w, actor{Text: strings.Repeat("long ago and far away ", 11)})
}))

// stage is a world of one actor with a client to which all arrives at once.
type stage struct {
	t      *testing.T
	w      *world.World
	pub    *Publisher
	s      *Sender
	worker *Worker
	sent   uint64
}

func newStage(t *testing.T, o Options) *stage {
	t.Helper()
	p, err := NewProtocol(actors, o)
	if err != nil {
		t.Fatal(err)
	}
	w, err := actors.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	pub, err := NewPublisher(p, w)
	if err != nil {
		t.Fatal(err)
	}
	g := &stage{t: t, w: w, pub: pub, s: NewSender(pub, SenderOptions{}), worker: NewWorker(p)}
	var all []interest.Entry
	for id := range w.Host().Of(0) {
		all = append(all, interest.Entry{ID: id, Priority: 1})
	}
	g.s.see(all)
	return g
}

func (g *stage) step() {
	g.t.Helper()
	if err := g.w.Host().Step(nil); err != nil {
		g.t.Fatal(err)
	}
	if err := g.pub.Publish(g.w); err != nil {
		g.t.Fatal(err)
	}
}

// tell makes a snapshot and says whether it speaks of the actor. The verdict comes at once.
func (g *stage) tell(packet int, lost bool) (told bool) {
	g.s.Encode(g.worker, Room{Packet: packet, Budget: packet})
	g.s.Messages()
	for i := range g.s.Staged() {
		told = told || len(g.s.flights.staged[i].flight.Said) > 0
		g.sent++
		g.s.Sent(i, g.sent)
		if lost {
			g.s.Lost(g.sent)
		} else {
			g.s.Arrived(g.sent)
		}
	}
	return told
}

// An entity is told once it is taken over, and then no more until it is not, its owner changes or
// it is removed; also where that was so for only a moment between two snapshots. The question is
// asked once for each image.
func TestTakenOverIsToldOnce(t *testing.T) {
	for _, strategy := range everyStrategy {
		for every, want := range map[int][]int{
			1: {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 22, 23, 30, 31, 50, 51, 60},
			3: {3, 6, 9, 12, 21, 24, 30, 33, 51, 60},
		} {
			t.Run(fmt.Sprintf("%v/%d", strategy, every), func(t *testing.T) {
				asked := 0
				policy := Policy{TakenOver: func(w *world.World, id world.ID) bool {
					asked++
					return world.Get[actor](w, id).Dying
				}}
				o := Options{Strategy: strategy, Classes: map[string]Policy{"actor": policy}}
				g := newStage(t, o)
				if asked != 1 {
					t.Errorf("asked %d times about the first image", asked)
				}
				var told []int
				for tick := 1; tick <= 70; tick++ {
					g.step()
					if tick%every == 0 && g.tell(1150, false) {
						told = append(told, tick)
					}
				}
				if !slices.Equal(told, want) {
					t.Errorf("it was told at ticks\n%v, want\n%v", told, want)
				}
				if asked != 60 {
					t.Errorf("asked %d times about 60 images", asked)
				}
			})
		}
	}
}

// The owner is told, and every field that has no threshold, however wide those of others are.
func TestBeyondTellsOwners(t *testing.T) {
	for _, strategy := range everyStrategy {
		policy := Policy{Beyond: []Threshold{{"X", 1000}}}
		g := newStage(t, Options{Strategy: strategy, Classes: map[string]Policy{"actor": policy}})
		var told []int
		for tick := 1; tick <= 70; tick++ {
			g.step()
			if g.tell(1150, false) {
				told = append(told, tick)
			}
		}
		if want := []int{1, 10, 20, 22, 23, 30, 31, 50, 51, 60}; !slices.Equal(told, want) {
			t.Errorf("%v: it was told at ticks\n%v, want\n%v", strategy, told, want)
		}
	}
}

// What was told of an entity that is taken over, or of one that stays within its thresholds, is
// told again if it is lost, until it arrives.
func TestWithheldIsToldAgainWhenLost(t *testing.T) {
	for name, p := range map[string]Policy{
		"beyond":     {Beyond: []Threshold{{"X", 1000}}},
		"taken over": {TakenOver: func(*world.World, world.ID) bool { return true }},
	} {
		for _, strategy := range everyStrategy {
			o := Options{Strategy: strategy, Classes: map[string]Policy{"actor": p}}
			g := newStage(t, o)
			for tick := 1; tick < 9; tick++ {
				g.step()
				if told := g.tell(1150, tick < 5); told != (tick <= 5) {
					t.Errorf("%s, %v: at tick %d told is %v", name, strategy, tick, told)
				}
			}
		}
	}
}

// What fits no packet has not been told, so it is as soon as it fits.
func TestWithheldIsToldOnceItFits(t *testing.T) {
	for name, p := range map[string]Policy{
		"beyond":     {Beyond: []Threshold{{"X", 1000}}},
		"taken over": {TakenOver: func(*world.World, world.ID) bool { return true }},
	} {
		g := newStage(t, Options{Classes: map[string]Policy{"actor": p}})
		for tick := 1; tick < 9; tick++ {
			g.step()
			packet := 60
			if tick >= 5 {
				packet = 1150
			}
			if told := g.tell(packet, false); told != (tick == 5) {
				t.Errorf("%s: at tick %d told is %v", name, tick, told)
			}
		}
		if g.s.Ledger().Classes[0].Oversize == 0 {
			t.Errorf("%s: it did fit", name)
		}
	}
}

// A server that publishes only some ticks takes nothing back by that.
func TestTakenOverWithoutSomeTicks(t *testing.T) {
	yes := func(*world.World, world.ID) bool { return true }
	g := newStage(t, Options{Classes: map[string]Policy{"actor": {TakenOver: yes}}})
	told := 0
	for range 9 {
		if err := g.w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
		g.step()
		if g.tell(1150, false) {
			told++
		}
	}
	if told != 1 {
		t.Errorf("it was told %d times", told)
	}
}
