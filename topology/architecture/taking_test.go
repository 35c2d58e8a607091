package architecture_test

import (
	"os"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/topology/architecture"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// Slots of a runner's image.
const (
	slotSteps = 4
	slotShots = 5
)

// seeds is how many networks are tried: one, or many where COEVAL_SOAK is set.
func seeds() uint64 {
	if os.Getenv("COEVAL_SOAK") != "" {
		return 30
	}
	return 1
}

// walked plays a few seconds in which the player walks all the time, and then rests.
func (m *match) walked(d time.Duration) {
	m.net.Run(2 * time.Second)
	from := m.server.World().Tick() + 60
	to := from + world.Tick(d/track.TickLength())
	m.input = func(t world.Tick) run {
		if t < from || t >= to {
			return run{}
		}
		return run{X: 1, Fire: t%11 == 0}
	}
	m.net.Run(d + 4*time.Second)
}

// counts is what the player commanded, and what became of it: steps and shots, and in how many
// ticks between the first step and the last the body made none, or several.
func (m *match) counts() (moves, shots, steps, fired, none, several int) {
	for _, c := range m.made {
		if c[0] != 0 {
			moves++
		}
		if c[1] != 0 {
			shots++
		}
	}
	last := m.server.World().Tick()
	steps, fired = int(m.bodies[last][slotSteps]), int(m.bodies[last][slotShots])
	for t := m.joined + 1; t <= last; t++ {
		before, now := int(m.bodies[t-1][slotSteps]), int(m.bodies[t][slotSteps])
		if before == 0 || now == steps {
			continue
		}
		switch now - before {
		case 0:
			none++
		case 1:
		default:
			several++
		}
	}
	return moves, shots, steps, fired, none, several
}

func kind(t *testing.T, name string) architecture.Kind {
	a, err := architecture.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Where each command is executed as it comes, a client with jitter moves unevenly: none is made up,
// none is left out. At their ticks they move it evenly.
func TestEachAsItComes(t *testing.T) {
	for seed := range seeds() {
		for _, name := range []string{"quakeworld", "quake2"} {
			m := play(t, kind(t, name), seed, conditions(t, "latency=40ms jitter=25ms"), nil)
			m.walked(5 * time.Second)
			moves, _, steps, _, none, several := m.counts()
			if moves < 250 || steps != moves {
				t.Errorf("seed %d, %s: %d commands made %d steps", seed, name, moves, steps)
			}
			if none < 10 || several < 10 {
				t.Errorf("seed %d, %s: there was no step in %d ticks and several in %d; it should "+
					"move unevenly", seed, name, none, several)
			}
			if c := m.server.Seat(1).Commands(); c.Repeated > 0 {
				t.Errorf("seed %d, %s: %d commands were made up", seed, name, c.Repeated)
			}
			m.repeats()
		}
		m := play(t, kind(t, "quake3"), seed, conditions(t, "latency=40ms jitter=25ms"), nil)
		m.walked(5 * time.Second)
		if moves, _, steps, _, none, several := m.counts(); none+several > 3 ||
			steps < moves-3 || steps > moves+3 {
			t.Errorf("seed %d, at their ticks: %d commands made %d steps, none in %d ticks and "+
				"several in %d", seed, moves, steps, none, several)
		}
	}
}

// Where the newest command counts there is a step in every tick, whatever came: what is held down
// goes on, and what came too many at once is left out, but for shots.
func TestNewestCounts(t *testing.T) {
	for seed := range seeds() {
		m := play(t, kind(t, "quake"), seed, conditions(t, "latency=40ms jitter=25ms"), nil)
		m.walked(5 * time.Second)
		moves, shots, steps, fired, none, several := m.counts()
		if moves < 250 || none+several > 0 {
			t.Errorf("seed %d: %d commands made %d steps, none in %d ticks and several in %d", seed,
				moves, steps, none, several)
		}
		if shots < 20 || fired != shots {
			t.Errorf("seed %d: of %d shots %d were fired", seed, shots, fired)
		}
		m.repeats()
	}
}

// Three commands in each packet survive two lost packets in a row; two do not.
func TestThreeRepeats(t *testing.T) {
	lose := func(n int) bool { return n > 100 && (n%9 == 0 || n%9 == 1) }
	for _, repeats := range []int{3, 2, 1} {
		a := kind(t, "quakeworld")
		a.Commands = repeats
		m := play(t, a, 7, conditions(t, "latency=20ms"), lose)
		m.walked(5 * time.Second)
		moves, _, steps, _, _, _ := m.counts()
		if moves < 250 || (steps == moves) != (repeats == 3) {
			t.Errorf("%d commands in each packet: %d were made and %d arrived", repeats, moves,
				steps)
		}
		m.repeats()
	}
}

// Through loss, duplication and reordering no command is executed twice, and whatever came is.
func TestEachOnABadNetwork(t *testing.T) {
	for seed := range seeds() {
		m := play(t, kind(t, "quakeworld"), seed,
			conditions(t, "latency=30ms jitter=20ms loss=5% duplicate=5% reorder=5%"), nil)
		m.walked(5 * time.Second)
		moves, _, steps, _, _, _ := m.counts()
		if c := m.server.Seat(1).Commands(); steps > moves || steps < moves*95/100 ||
			c.Differed+c.Future > 0 {
			t.Errorf("seed %d: %d commands made %d steps, %+v", seed, moves, steps, c)
		}
		m.repeats()
	}
}

// Nobody moves faster by sending more: what is for ticks to come is refused, and what is too much
// for a tick waits.
func TestEachIsBounded(t *testing.T) {
	a := kind(t, "quakeworld")
	m := play(t, a, 3, conditions(t, "perfect"), nil)
	m.net.Run(2 * time.Second)
	m.input = func(world.Tick) run { return run{X: 1} }
	m.net.Run(time.Second)
	held := m.bodies[m.server.World().Tick()][slotSteps]
	began := m.server.World().Tick()
	for range 120 { // commands for times to come, as fast as they can be made
		m.client.Advance(m.client.Sent()+4, func(_ world.Tick, me world.Player, _ *world.World,
			in *world.Inputs) {
			_ = world.Give(in, me, run{X: 1})
		})
		m.client.Send()
		m.net.Run(time.Millisecond)
	}
	m.net.Run(2 * time.Second)
	passed := int32(m.server.World().Tick() - began)
	if s := m.server.Seat(1); s != nil {
		if steps := m.bodies[m.server.World().Tick()][slotSteps] - held; steps > passed+70 {
			t.Errorf("%d steps in %d ticks: %+v", steps, passed, s.Commands())
		}
	}
	for tick := began; tick < m.server.World().Tick(); tick++ {
		if a, b := m.bodies[tick], m.bodies[tick+1]; a != nil && b != nil &&
			b[slotSteps]-a[slotSteps] > 8 {
			t.Fatalf("%d steps in tick %d", b[slotSteps]-a[slotSteps], tick)
		}
	}
}

// What cannot be is said when a server is made.
func TestTakingRefuses(t *testing.T) {
	if _, err := server.ParseTaking("never"); err == nil {
		t.Error("commands are never taken")
	}
	for _, name := range []string{"tick", "newest", "each"} {
		if k, err := server.ParseTaking(name); err != nil || k.String() != name {
			t.Errorf("%q is %v: %v", name, k, err)
		}
	}
	if _, err := architecture.Parse("hexen"); err == nil {
		t.Error("there is an architecture of that name")
	}
	for _, a := range architecture.All() {
		if got, err := architecture.Parse(a.Name); err != nil || got != a {
			t.Errorf("%s: %+v, %v", a.Name, got, err)
		}
	}
}
