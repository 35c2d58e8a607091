package replica

import (
	"cmp"
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
	"pgregory.net/rapid"
)

// Under loss, duplication and reordering a client of a world that is taken back over and over ends
// up with exactly that world, sees no image that was never published, and hears of each reliable
// event once, and of each that did not happen that it did not.
func TestTakenBack(t *testing.T) {
	total := [4]int{}
	ticks := 240
	if testing.Short() {
		ticks = 80
	}
	rapid.Check(t, func(rt *rapid.T) {
		strategy := Strategy(rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3, 4, 5, 6}).Draw(rt,
			"strategy"))
		seed := rapid.Uint64().Draw(rt, "seed")
		rollback := rapid.SampledFrom([]float64{0, 0.05, 0.3, 1}).Draw(rt, "rollback")
		skip := rapid.SampledFrom([]float64{0, 0.2}).Draw(rt, "skip")
		m := newMirror(t, Options{Strategy: strategy}, seed, 5)
		var guests []*guest
		var witnesses []*witness
		join := func(p world.Player) {
			g := newGuest(m.site, p, seed)
			g.loss = rapid.SampledFrom([]float64{0, 0.1, 0.4}).Draw(rt, "loss")
			g.ackLoss = rapid.SampledFrom([]float64{0, 0.1}).Draw(rt, "ackLoss")
			g.twice = rapid.SampledFrom([]float64{0, 0.2}).Draw(rt, "twice")
			g.delay = rapid.IntRange(1, 9).Draw(rt, "delay")
			g.jitter = rapid.SampledFrom([]int{0, 4, 12}).Draw(rt, "jitter")
			g.every = rapid.IntRange(1, 3).Draw(rt, "every")
			if rapid.IntRange(0, 3).Draw(rt, "tight") == 0 {
				g.room = Room{Packet: 200, Budget: 120}
			}
			g.check = func(s *Snapshot) {
				for _, u := range s.Updates {
					if u.What == Held &&
						!slices.ContainsFunc(m.published[u.ID][uint32(s.Tick)],
							func(i []int32) bool { return slices.Equal(i, u.Image) }) {
						rt.Fatalf("tick %d: %v is %v, and was never", s.Tick, u.ID, u.Image)
					}
				}
			}
			guests, witnesses = append(guests, g), append(witnesses, newWitness(m, g))
		}
		join(1)
		join(2)
		tick := func() {
			for i, g := range guests {
				g.tick()
				witnesses[i].look()
			}
		}
		for i := range ticks {
			if i == ticks*5/8 {
				join(3)
			}
			m.advance(rollback, skip)
			tick()
		}
		// In the end nothing is taken back, nothing moves and nothing is lost.
		for range 60 {
			m.advance(0, 0)
			tick()
		}
		m.publish(m.w.Tick())
		for i, g := range guests {
			g.loss, g.ackLoss, g.twice, g.jitter = 0, 0, 0, 0
			g.room = Room{Packet: 1150, Budget: 1150}
			for n := 0; !g.exact() || witnesses[i].judge() != nil ||
				g.r.Settled() != m.settled; n++ {
				if n > 200 {
					rt.Fatalf("guest %d: %s; events: %v; settled %d of %d; %v, %+v, %d wait", i,
						g.wrong(), witnesses[i].judge(), g.r.Settled(), m.settled, g.fails,
						g.r.Stats(), len(g.r.queue.list))
				}
				m.publish(m.w.Tick())
				g.tick()
				witnesses[i].look()
			}
			if st := g.r.Stats(); st.Mismatch+st.Repairs > 0 {
				rt.Fatalf("guest %d and the mirror disagreed about bases: %v, %+v", i, g.fails, st)
			}
			if g.w.Tick() != m.w.Tick() {
				rt.Fatalf("guest %d is at tick %d, the mirror at %d", i, g.w.Tick(), m.w.Tick())
			}
			for id := range g.w.Entities() {
				if o := g.w.Origin(id); o != (world.Name{}) && o != m.w.Origin(id) {
					rt.Fatalf("guest %d has %v as spawned by %+v, and it was by %+v", i, id, o,
						m.w.Origin(id))
				}
			}
			kept, all := savedBy(g.w), savedBy(m.w)
			for _, e := range kept {
				if !slices.Contains(all, e) {
					rt.Fatalf("guest %d keeps %v, the mirror %v", i, e, all)
				}
			}
			for _, e := range all {
				if g.view.Has(e.About) && !slices.Contains(kept, e) {
					rt.Fatalf("guest %d sees %v and keeps %v, the mirror %v", i, e.About, kept, all)
				}
			}
			total[3] += witnesses[i].undone
		}
		total[0] += m.rollbacks
		total[1] += m.reborn
		total[2] += m.returned
	})
	t.Logf("%d rollbacks, %d identifiers that came to name another, %d entities that came again, "+
		"%d retractions heard", total[0], total[1], total[2], total[3])
	if slices.Min(total[:]) == 0 {
		t.Errorf("%v: something was not tried", total)
	}
}

// savedBy lists what a world keeps for latecomers, in an order that does not depend on when it
// learned of it.
func savedBy(w *world.World) (list []world.Emitted) {
	for e := range w.Host().SavedHappened {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b world.Emitted) int {
		return cmp.Or(cmp.Compare(a.Tick, b.Tick), cmp.Compare(a.By, b.By),
			cmp.Compare(a.Ordinal, b.Ordinal))
	})
	return list
}

func event(kind uint16, tick world.Tick, ordinal uint16) world.Emitted {
	return world.Emitted{Name: world.Name{Tick: tick, Ordinal: ordinal}, Kind: kind}
}

// Who joins is told what of the saved events is certain, and what is not as such; what is retracted
// later is taken back, and what is confirmed is told once.
func TestJoinWhileProvisional(t *testing.T) {
	s := newStall(t, Options{}, SenderOptions{})
	sure, good, bad, plain := event(1, 1, 0), event(1, 1, 1), event(1, 1, 2), event(0, 1, 3)
	s.publish(
		Happening{Provisional, sure, []int32{1}}, Happening{Confirmed, sure, []int32{1}},
		Happening{Provisional, good, []int32{2}}, Happening{Provisional, bad, []int32{3}},
		Happening{Provisional, plain, []int32{4, 4}},
	)
	s.s = NewSender(s.pub, SenderOptions{})
	hear := func() (list []string) {
		s.s.Encode(s.worker, Room{})
		for _, m := range s.s.Messages() {
			if err := s.r.Message(m); err != nil {
				t.Fatal(err)
			}
		}
		for _, e := range s.r.Events() {
			what := "certain"
			if e.Provisional {
				what = "provisional"
			}
			if e.Retracted {
				what = "retracted"
			}
			list = append(list, what+string(rune('0'+e.Ordinal)))
		}
		return list
	}
	if got := hear(); !slices.Equal(got, []string{"certain0", "provisional1", "provisional2"}) {
		t.Errorf("at first: %v", got)
	}
	s.publish(Happening{Retracted, bad, nil}, Happening{Retracted, plain, nil})
	if got := hear(); !slices.Equal(got, []string{"retracted2"}) {
		t.Errorf("then: %v", got)
	}
	s.tell(Leading{Again: true, Settled: 1, Events: []Happening{{Confirmed, good, []int32{2}}}})
	if got := hear(); len(got) > 0 || s.r.Settled() != 1 {
		t.Errorf("in the end: %v, settled %d", got, s.r.Settled())
	}
	s.r = NewReceiver(s.pub.protocol, ReceiverOptions{})
	s.s = NewSender(s.pub, SenderOptions{})
	if got := hear(); !slices.Equal(got, []string{"certain0", "certain1"}) {
		t.Errorf("who joins after that hears %v", got)
	}
}

// What is no event of the game is refused, and nothing of it published.
func TestPublishLeadingRefuses(t *testing.T) {
	s := newStall(t, Options{}, SenderOptions{})
	before := s.pub.count
	for _, h := range []Happening{
		{Provisional, event(9, 1, 0), []int32{1}},
		{Provisional, event(1, 1, 0), nil},
		{Confirmed, event(1, 1, 0), []int32{1, 2}},
		{Standing(3), event(1, 1, 0), []int32{1}},
	} {
		if s.pub.PublishLeading(s.w, Leading{Events: []Happening{h}}) == nil {
			t.Errorf("%+v was published", h)
		}
	}
	other, err := testGame.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if s.pub.PublishLeading(other, Leading{}) == nil || s.pub.count != before {
		t.Error("a world of another game was published")
	}
}

// A world that may be taken back costs no allocation either, once it has been going for a while:
// events are announced, and some ticks later retracted or confirmed.
func TestNoAllocationsLeading(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while to warm up; TestNoAllocations covers most of it")
	}
	c := newCrowd(t, Options{}, 40, 40)
	const behind = 20
	type page struct {
		events []world.Emitted
		images [64][4]int32
	}
	var pages [behind]page
	var told []Happening
	advance := func() {
		c.tick++
		for p := range c.w.Players {
			if c.rng.IntN(20) == 0 {
				world.Give(c.in, p,
					walk{Move: det.Vec2{X: 1}, Aim: det.Angle(c.rng.Uint64()),
						Fire: c.rng.IntN(2) == 0})
			}
		}
		if err := c.w.Host().Step(c.in); err != nil {
			t.Fatal(err)
		}
		c.in.Reset()
		told = told[:0]
		pg := &pages[c.w.Tick()%behind]
		for i, e := range pg.events {
			h := Happening{Confirmed, e, pg.images[i][:testGame.Events()[e.Kind].Layout().Len()]}
			if c.rng.IntN(4) == 0 {
				h.What = Retracted
			}
			told = append(told, h)
		}
		pg.events = pg.events[:0]
		for e, v := range c.w.Host().Happened {
			i, l := len(pg.events), testGame.Events()[e.Kind].Layout()
			if i == len(pg.images) {
				break
			}
			pg.events = append(pg.events, e)
			if err := l.Pack(&c.pub.events.sync, v, pg.images[i][:l.Len()]); err != nil {
				t.Fatal(err)
			}
			told = append(told, Happening{Provisional, e, pg.images[i][:l.Len()]})
		}
		if err := c.pub.PublishLeading(c.w,
			Leading{Again: c.tick%5 == 0, Settled: c.w.Tick() - behind, Events: told}); err != nil {
			t.Fatal(err)
		}
		c.follow.Follow(c.w)
		for _, a := range c.flying[c.tick&7] {
			a.g.s.Arrived(a.carrier)
		}
		c.flying[c.tick&7] = c.flying[c.tick&7][:0]
		for _, g := range c.guests {
			if g.now++; g.now%3 == 0 {
				g.look()
				g.encode(c)
			}
		}
	}
	for range 3000 {
		advance()
	}
	// What is saved grows for as long as it is kept; that takes memory now and then.
	if n := testing.AllocsPerRun(300, advance); n > 0.5 {
		t.Errorf("%.1f allocations a tick", n)
	}
}
