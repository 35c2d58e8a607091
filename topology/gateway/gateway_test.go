package gateway

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/seamless"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// A player walks across a border and back, and notices nothing: what was foreseen is what happened,
// to a hair, and each shot counts once.
func TestBorder(t *testing.T) {
	for _, line := range []string{"lan", "lan loss=1%"} {
		t.Run(line, func(t *testing.T) {
			s := newSim(t, 1, seamless.FoundOptions{Title: walkTitle(), Zones: 2})
			c, err := netsim.ParseConditions(line)
			if err != nil {
				t.Fatal(err)
			}
			s.net.Use(c)
			o := s.watch()
			s.serve()
			s.serve()
			g := s.gate()
			s.net.Run(2 * time.Second)
			k := newTrack()
			p := s.join(g, netsim.Cable, k.walk, k.see)
			s.until("a player plays", 20*time.Second, p.plays)
			s.net.Run(5 * time.Second)
			clear(k.me)
			fired, counted := k.fired, o.fired[k.id]
			s.net.Run(20 * time.Second)
			fired, counted = k.fired-fired, o.fired[k.id]-counted
			most, wrong, all := k.off(o)
			t.Logf("off by %.3f at most, in %d of %d ticks; %+v", most, wrong, all,
				g.Gate().Stats())
			if most > 0.05 || all < 1000 || len(o.zones[k.id]) != 2 || o.double > 0 {
				t.Errorf("off by %.3f at most, %d ticks, zones %v, %d ticks computed twice", most,
					all, o.zones[k.id], o.double)
			}
			if fired < 150 || counted < fired-1 || counted > fired+1 { // the last are on their way
				t.Errorf("fired %d times, and %d were counted", fired, counted)
			}
			if k.most != 1 || k.gaps != 0 || p.ended != nil {
				t.Errorf("%d bodies at once, %d frames without one, %v", k.most, k.gaps, p.ended)
			}
		})
	}
}

// people are some players, spread over gateways.
func (s *sim) people(n int, c netsim.Conditions) (list []*player, tracks []*track) {
	s.t.Helper()
	for i := range n {
		k := newTrack()
		p := s.join(s.gates[i%len(s.gates)], c, k.walk, k.see)
		list, tracks = append(list, p), append(tracks, k)
		s.net.Run(50 * ms)
	}
	s.until("everyone plays", 30*time.Second, func() bool {
		for _, p := range list {
			if !p.plays() {
				return false
			}
		}
		return true
	})
	s.net.Run(3 * time.Second)
	return list, tracks
}

// again measures for how long players cannot act after something happens.
func (s *sim) again(o *oracle, tracks []*track, happens func()) (list []time.Duration) {
	s.t.Helper()
	before := map[world.ID]int{}
	happens()
	from := s.net.Now()
	for _, k := range tracks {
		before[k.id] = o.fired[k.id]
	}
	// What was sent before does not count.
	s.net.Run(300 * ms)
	for _, k := range tracks {
		before[k.id] = o.fired[k.id]
	}
	done := map[world.ID]bool{}
	s.until("everyone acts again", 30*time.Second, func() bool {
		for _, k := range tracks {
			if !done[k.id] && o.fired[k.id] > before[k.id] {
				done[k.id] = true
				list = append(list, s.net.Now()-from)
			}
		}
		return len(done) == len(tracks)
	})
	slices.Sort(list)
	return list
}

// whole looks whether everyone is the one that they were, and sees one of themselves.
func (s *sim) whole(o *oracle, list []*player, tracks []*track, ids []world.ID) {
	s.t.Helper()
	s.net.Run(2 * time.Second)
	for i, k := range tracks {
		if k.id != ids[i] {
			s.t.Errorf("player %d was %v and is %v", i, ids[i], k.id)
		}
		if k.most != 1 || list[i].ended != nil {
			s.t.Errorf("player %d saw %d of itself; %v", i, k.most, list[i].ended)
		}
	}
	if o.double > 0 {
		s.t.Errorf("%d ticks of things were computed twice, and differently", o.double)
	}
}

func idsOf(tracks []*track) (ids []world.ID) {
	for _, k := range tracks {
		ids = append(ids, k.id)
	}
	return ids
}

// The players of a gateway that dies go on at another, each in the same body.
func TestGatewayDies(t *testing.T) {
	for seed := range uint64(seeds(2)) {
		s := newSim(t, seed, seamless.FoundOptions{Title: walkTitle(), Zones: 3})
		o := s.watch()
		s.serve()
		s.serve()
		g := s.gate()
		s.gate()
		s.net.Run(3 * time.Second)
		list, tracks := s.people(8, netsim.Cable)
		ids := idsOf(tracks)
		times := s.again(o, tracks, func() { g.dead = true })
		t.Log(times)
		if worst := times[len(times)-1]; worst > 2*time.Second {
			t.Errorf("seed %d: act again after %v", seed, worst)
		}
		s.whole(o, list, tracks, ids)
	}
}

// A server of zones dies: its part of the world stands still for a moment and goes on, and nobody
// sees two of anything.
func TestZoneDies(t *testing.T) {
	for seed := range uint64(seeds(2)) {
		s := newSim(t, seed, seamless.FoundOptions{Title: walkTitle(), Zones: 3})
		o := s.watch()
		for range 3 {
			s.serve()
		}
		s.gate()
		s.net.Run(3 * time.Second)
		list, tracks := s.people(6, netsim.Cable)
		ids := idsOf(tracks)
		victim := s.owner(s.plan.Zone(s.middle()))
		times := s.again(o, tracks, func() { s.kill(victim) })
		t.Log(times)
		if worst := times[len(times)-1]; worst > 3*time.Second {
			t.Errorf("seed %d: act again after %v", seed, worst)
		}
		o.double = 0 // what was shown before it was durable may have been computed anew
		s.whole(o, list, tracks, ids)
		st := s.gates[0].Gate().Stats()
		t.Logf("%+v", st)
		if st.Provisional < st.Confirmed+st.Retracted ||
			st.Provisional > st.Confirmed+st.Retracted+20 || st.Confirmed == 0 {
			t.Errorf("%+v", st)
		}
	}
}

// A gateway that is cut off from some of the zones says which part of the world stands still, and
// when it goes on.
func TestCutOff(t *testing.T) {
	s := newSim(t, 3, seamless.FoundOptions{Title: walkTitle(), Zones: 4})
	o := s.watch()
	for range 4 {
		s.serve()
	}
	g := s.gate()
	s.net.Run(3 * time.Second)
	list, _ := s.people(2, netsim.Cable)
	var words []string
	list[0].see = func(v *viewOf) {
		for _, w := range v.Words {
			words = append(words, w.Text)
		}
	}
	if n := len(g.Standing()); n != 0 {
		t.Fatalf("%d zones stand still", n)
	}
	far := s.plan.Zones()[3]
	s.net.Cut(g.line, s.owner(far).end)
	s.until("it is said", 10*time.Second, func() bool { return len(words) > 0 })
	if !slices.Equal(g.Standing(), []zone.ID{far}) || !strings.Contains(words[0], "stands still") {
		t.Errorf("zones %v stand still; %q", g.Standing(), words)
	}
	s.net.Heal(g.line, s.owner(far).end)
	s.until("it is taken back", 20*time.Second, func() bool { return len(words) > 1 })
	if len(g.Standing()) != 0 || !strings.Contains(words[1], "goes on") {
		t.Errorf("zones %v stand still; %q", g.Standing(), words)
	}
	if o.double > 0 || list[0].ended != nil {
		t.Error(o.double, list[0].ended)
	}
}

// Players of several gateways hear each other, count together, and leave.
func TestPeople(t *testing.T) {
	s := newSim(t, 5, seamless.FoundOptions{Title: walkTitle(), Zones: 2})
	o := s.watch()
	s.serve()
	s.gate()
	s.gate()
	s.net.Run(3 * time.Second)
	list, tracks := s.people(3, netsim.Cable)
	var heard []string
	list[1].see = func(v *viewOf) {
		for _, w := range v.Words {
			heard = append(heard, fmt.Sprint(w.Player, " ", w.Text))
		}
	}
	list[0].Say("hello there")
	s.until("it is heard", 5*time.Second, func() bool { return len(heard) > 0 })
	if want := fmt.Sprint(list[0].view.Me, " hello there"); heard[0] != want {
		t.Errorf("heard %q, want %q", heard, want)
	}
	if n := world.StateOf[tally](list[2].view.Truth).Marks; n == 0 || n > o.tally ||
		o.tally-n > 20 {
		t.Errorf("%d lines are counted, and shown are %d", o.tally, n)
	}
	gone := tracks[0].id
	list[0].Leave()
	s.until("the body is gone", 10*time.Second, func() bool {
		return !list[1].view.Truth.Has(gone) && !list[2].view.Truth.Has(gone)
	})
	if p := s.gates[0].Server().Population(); p.Players != 1 {
		t.Errorf("%+v", p)
	}
}

// A gateway that stops in good order sends its players to another.
func TestLeave(t *testing.T) {
	s := newSim(t, 6, seamless.FoundOptions{Title: walkTitle(), Zones: 2})
	o := s.watch()
	s.serve()
	g := s.gate()
	s.gate()
	s.net.Run(3 * time.Second)
	list, tracks := s.people(4, netsim.Cable)
	ids := idsOf(tracks)
	g.Leave()
	s.until("all are gone", 10*time.Second, g.Left)
	g.dead = true
	s.whole(o, list, tracks, ids)
	for i, k := range tracks {
		if k.gaps > 0 {
			t.Errorf("player %d was not there for %d frames", i, k.gaps)
		}
	}
	if p := s.gates[1].Server().Population(); p.Players != 4 {
		t.Errorf("%+v", p)
	}
}

// order has something be done by those who run the world.
func (s *sim) order(o seamless.Order) {
	s.t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := seamless.Do(s.t.Context(), s.kept.Map(), o)
		done <- err
	}()
	s.until("an order is carried out", time.Hour, func() bool {
		select {
		case err := <-done:
			s.check(err)
			return true
		default:
			time.Sleep(time.Microsecond) // whoever waits for it waits by the clock
			return false
		}
	})
}

// Borders move under players: a zone is split where they walk, and made whole again. Nobody is
// anybody else, sees two of itself, or is put right by more than a hair.
func TestBordersMove(t *testing.T) {
	s := newSim(t, 7, seamless.FoundOptions{Title: walkTitle(), Zones: 2})
	o := s.watch()
	s.serve()
	s.serve()
	g := s.gate()
	s.net.Run(3 * time.Second)
	list, tracks := s.people(4, netsim.Cable)
	ids := idsOf(tracks)
	for _, k := range tracks {
		clear(k.me)
	}
	cut, zones := 114.0, len(s.plan.Zones())
	s.order(seamless.Order{Kind: seamless.Split, Zone: s.plan.Zone(det.Vec3{X: 60}), Cut: &cut})
	s.until("the gateway knows three zones", 20*time.Second, func() bool {
		return len(g.Gate().Plan().Zones()) == zones+1
	})
	s.net.Run(10 * time.Second)
	s.order(seamless.Order{Kind: seamless.Merge, Zone: s.plan.Zone(det.Vec3{X: 60})})
	s.net.Run(10 * time.Second)
	t.Logf("%d zones; %+v", len(g.Gate().Plan().Zones()), g.Gate().Stats())
	crossed := 0
	for i, k := range tracks {
		if most, _, all := k.off(o); most > 0.05 || all < 500 {
			t.Errorf("player %d was off by %.3f, in %d ticks", i, most, all)
		}
		crossed = max(crossed, len(o.zones[k.id]))
	}
	if n := g.Standing(); len(n) > 0 || crossed < 3 {
		t.Errorf("zones %v are said to stand still; a player was in %d", n, crossed)
	}
	s.whole(o, list, tracks, ids)
}
