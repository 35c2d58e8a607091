package predict

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/world"
)

// A plant is a server and a network around a clock, in steps of a millisecond: what the clock
// controls.
type plant struct {
	clock    *Clock
	up, down *netsim.Path
	fast     float64       // by how much the client's own clock is fast
	shift    time.Duration // by how much it jumped
	frozen   bool          // the client's machine is asleep
	hiccup   bool          // the server is
	many     int           // commands go into each packet

	now      time.Duration
	server   float64 // ticks
	sent     world.Tick
	early    int // the least since the last report
	last     int // the last that was reported
	reported world.Tick
	commands []parcel
	reports  []parcel

	arrived map[world.Tick]float64 // how early each command came
	leads   []float64              // the client's time against the server's, each 10 ms
	paces   []float64
}

type parcel struct {
	at    time.Duration
	tick  world.Tick
	early int
	many  int
}

const none = 1 << 20

func newPlant(c netsim.Conditions, seed uint64) *plant {
	return &plant{
		clock: NewClock(ClockOptions{}), up: netsim.NewPath(c.Up, seed),
		down: netsim.NewPath(c.Down, seed+1), arrived: map[world.Tick]float64{}, early: none,
		last: none, many: 4}
}

func (p *plant) local() time.Duration {
	return time.Duration(float64(p.now)*(1+p.fast)) + p.shift
}

func (p *plant) run(d time.Duration) {
	for end := p.now + d; p.now < end; p.now += time.Millisecond {
		p.ms()
	}
}

func (p *plant) ms() {
	if !p.hiccup {
		p.server += 60.0 / 1000
	}
	p.commands = slices.DeleteFunc(p.commands, func(c parcel) bool {
		if c.at > p.now {
			return false
		}
		for t := c.tick; t > c.tick-min(c.tick, world.Tick(c.many)); t-- {
			if _, dup := p.arrived[t]; !dup {
				p.arrived[t] = float64(t) - p.server
				p.early = min(p.early, int(math.Floor(4*p.arrived[t])))
			}
		}
		return true
	})
	if t := world.Tick(p.server); t >= p.reported+3 && !p.hiccup {
		p.reported = t
		if p.early < none {
			p.last = min(max(p.early, -127), 127) // all that a snapshot can tell
		}
		p.early = none
		if f := p.down.Pass(p.now, 300); f.Copies > 0 {
			p.reports = append(p.reports, parcel{at: f.At[0], tick: t, early: p.last})
		}
	}
	if p.frozen {
		return
	}
	p.reports = slices.DeleteFunc(p.reports, func(r parcel) bool {
		if r.at > p.now {
			return false
		}
		if !p.clock.Running() {
			p.clock.Start(p.local(), r.tick, 60*time.Millisecond)
			p.sent = p.clock.Advance(p.local())
			return true
		}
		p.clock.Saw(p.local(), r.tick)
		if r.early < none {
			p.clock.Report(p.local(), r.tick, r.early)
		}
		return true
	})
	if !p.clock.Running() {
		return
	}
	if t := p.clock.Advance(p.local()); t > p.sent {
		if f := p.up.Pass(p.now, 36); f.Copies > 0 {
			p.commands = append(p.commands, parcel{at: f.At[0], tick: t, many: p.many})
		}
		p.sent = t
	}
	if p.now%(10*time.Millisecond) == 0 {
		p.leads = append(p.leads, p.clock.time()-p.server)
		p.paces = append(p.paces, p.clock.Pace())
	}
}

// late is the share of commands that came too late, or never, since a tick.
func (p *plant) late(since world.Tick) float64 {
	n, bad := 0, 0
	for t := since; t < world.Tick(p.server); t++ {
		n++
		if e, ok := p.arrived[t]; !ok || e < 0 {
			bad++
		}
	}
	return float64(bad) / float64(max(n, 1))
}

// spread is the least and the largest of the last n leads.
func spread(x []float64) (lo, hi float64) { return slices.Min(x), slices.Max(x) }

// TestClockStep: when the way to the server becomes longer the lead follows within seconds, goes
// there without swinging back, and stays.
func TestClockStep(t *testing.T) {
	for _, more := range []time.Duration{
		20 * time.Millisecond, 50 * time.Millisecond, 120 * time.Millisecond,
		400 * time.Millisecond} {
		p := newPlant(netsim.Both(netsim.Profile{Latency: 20 * time.Millisecond}), 1)
		p.run(20 * time.Second)
		_, before := spread(p.leads[len(p.leads)-200:])
		p.up.SetProfile(netsim.Profile{Latency: 20*time.Millisecond + more})
		p.leads = p.leads[:0]
		p.run(30 * time.Second)
		ticks := more.Seconds() * 60
		lo, hi := spread(p.leads)
		if rise := p.leads[len(p.leads)-1] - before; math.Abs(rise-ticks) > 1 {
			t.Errorf("+%v: the lead rose by %.2f ticks, not %.2f", more, rise, ticks)
		}
		if over := hi - p.leads[len(p.leads)-1]; over > 1 {
			t.Errorf("+%v: it overshot by %.2f ticks", more, over)
		}
		if lo < before-0.6 {
			t.Errorf("+%v: it went the wrong way, from %.2f to %.2f", more, before, lo)
		}
		if late := p.late(world.Tick(p.server) - 20*60); late > 0 {
			t.Errorf("+%v: %.3f of commands are late for good", more, late)
		}
		// And back.
		p.up.SetProfile(netsim.Profile{Latency: 20 * time.Millisecond})
		p.run(60 * time.Second)
		if rest := p.leads[len(p.leads)-1] - before; math.Abs(rest) > 1 {
			t.Errorf("-%v: the lead stays %.2f ticks too long", more, rest)
		}
		if late := p.late(world.Tick(p.server) - 60*60); late > 0 {
			t.Errorf("-%v: %.4f of commands came late on a path that got better", more, late)
		}
	}
}

// TestClockMoved: when commands go to another server, to which the way is longer, a clock that is
// told so is there at once; where the way is shorter it moves slowly, and nothing comes late.
func TestClockMoved(t *testing.T) {
	near, far := 20*time.Millisecond, 110*time.Millisecond
	late := func(from, to time.Duration, told bool) (share float64) {
		p := newPlant(netsim.Both(netsim.Profile{Latency: from}), 1)
		p.run(20 * time.Second)
		p.up.SetProfile(netsim.Profile{Latency: to})
		p.down.SetProfile(netsim.Profile{Latency: to})
		p.clock.SetQuality(2*to, 0)
		if told {
			p.clock.Moved()
		}
		p.run(to + 100*time.Millisecond) // until the first snapshot has come by the new way
		since := p.sent
		p.run(3 * time.Second)
		return p.late(since)
	}
	if l := late(near, far, true); l > 0.1 {
		t.Errorf("of the commands of the next three seconds %.2f were late", l)
	}
	if l := late(near, far, false); l < 0.2 {
		t.Errorf("it makes no difference: %.2f", l)
	}
	if l := late(far, near, true); l > 0 {
		t.Errorf("on a shorter way %.2f were late", l)
	}
}

// TestClockNoise: under all the presets the lead is as long as the jitter asks for, commands are
// hardly ever late, and changes of pace are too small to notice.
func TestClockNoise(t *testing.T) {
	for _, c := range netsim.Presets() {
		p := newPlant(c, 7)
		p.run(20 * time.Second) // to learn
		since, jumps := world.Tick(p.server), p.clock.Jumps()
		p.leads, p.paces = p.leads[:0], p.paces[:0]
		p.run(60 * time.Second)
		lo, hi := spread(p.leads)
		slow, quick := spread(p.paces)
		late := p.late(since)
		t.Logf("%-14s late %.4f, lead %.1f to %.1f ticks, pace %.3f to %.3f", c.Name, late, lo, hi,
			slow, quick)
		allowed := 0.012
		if c.Name == "awful" {
			allowed = 0.1
		}
		if late > allowed {
			t.Errorf("%s: %.3f of commands are late", c.Name, late)
		}
		if n := p.clock.Jumps() - jumps; n > 0 && c.Name != "awful" {
			t.Errorf("%s: time jumped %d times in normal play", c.Name, n)
		}
		least := 0.94
		if c.Name == "awful" {
			least = 0.74 // when snapshots are late it may be further ahead than can be predicted
		}
		if slow < least || quick > 1.06 {
			t.Errorf("%s: pace from %.3f to %.3f", c.Name, slow, quick)
		}
	}
}

// TestClockNeverStands goes from every network to every other: whatever was learnt on the one, time
// goes on, so that what the player does is answered; and no command comes so early that a server
// would refuse it.
func TestClockNeverStands(t *testing.T) {
	narrow := netsim.Modem // more is sent than it carries, so that its queue is full
	narrow.Up.Rate, narrow.Up.Queue = narrow.Up.Rate/2, narrow.Up.Queue/2
	all := append(netsim.Presets(), narrow)
	for i, from := range all {
		for j, to := range all {
			if i == j && i < len(all)-1 {
				continue
			}
			p := newPlant(from, uint64(10*i+j))
			p.run(15 * time.Second)
			p.up, p.down = netsim.NewPath(to.Up, uint64(i)), netsim.NewPath(to.Down, uint64(j))
			var stood, most int
			for end := p.now + 15*time.Second; p.now < end; {
				before := p.sent
				p.run(time.Millisecond)
				if stood++; p.sent != before {
					stood = 0
				}
				most = max(most, stood)
			}
			if most > 50 { // milliseconds; two ticks are 33, and slower time makes that 45
				t.Errorf("%s to %s: time stood still for %d ms", from.Name, to.Name, most)
			}
			for tick, early := range p.arrived {
				if early > 59 {
					t.Errorf("%s to %s: the command for tick %d came %.1f ticks early", from.Name,
						to.Name, tick, early)
					break
				}
			}
		}
	}
}

// TestClockNoLimitCycle: on a steady network nothing swings, whatever the round trip; the clock
// comes to rest and stays there.
func TestClockNoLimitCycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		up := time.Duration(rapid.IntRange(0, 300).Draw(t, "up")) * time.Millisecond
		down := time.Duration(rapid.IntRange(0, 300).Draw(t, "down")) * time.Millisecond
		p := newPlant(netsim.Conditions{Up: netsim.Profile{Latency: up},
			Down: netsim.Profile{Latency: down}}, 1)
		p.run(25 * time.Second)
		p.leads, p.paces = p.leads[:0], p.paces[:0]
		p.run(10 * time.Second)
		if lo, hi := spread(p.leads); hi-lo > 0.3 {
			t.Errorf("the lead wanders from %.2f to %.2f", lo, hi)
		}
		turns := 0
		for i := 1; i < len(p.paces); i++ {
			if (p.paces[i]-1)*(p.paces[i-1]-1) < 0 {
				turns++
			}
		}
		if turns > 2 {
			t.Errorf("the pace turned %d times in ten seconds", turns)
		}
		if late := p.late(world.Tick(p.server) - 600); late > 0 {
			t.Errorf("%.3f late", late)
		}
	})
}

// TestClockFast: a machine whose clock is 1 % off stays where it should be, without a jump.
func TestClockFast(t *testing.T) {
	for _, fast := range []float64{0.01, -0.01, 0.003} {
		p := newPlant(netsim.Cable, 3)
		p.fast = fast
		p.run(90 * time.Second)
		since := world.Tick(p.server)
		p.leads = p.leads[:0]
		p.run(60 * time.Second)
		lo, hi := spread(p.leads)
		if hi > 7 || p.late(since) > 0.01 || p.clock.Jumps() > 0 {
			t.Errorf("%+.1f %%: lead %.1f to %.1f, late %.3f, %d jumps", 100*fast, lo, hi,
				p.late(since), p.clock.Jumps())
		}
	}
}

// TestClockInterrupted: whatever stops for a while, play goes on as before soon after.
func TestClockInterrupted(t *testing.T) {
	cases := map[string]func(p *plant){
		"the path stalls for 5 s": func(p *plant) {
			p.up.Cut()
			p.down.Cut()
			p.run(5 * time.Second)
			p.up.Heal()
			p.down.Heal()
		},
		"only commands are lost for 5 s": func(p *plant) {
			p.up.Cut()
			p.run(5 * time.Second)
			p.up.Heal()
		},
		"the machine sleeps for an hour": func(p *plant) {
			p.frozen = true
			p.server += 3600 * 60
			p.shift += time.Hour
			p.run(300 * time.Millisecond)
			p.frozen = false
		},
		"the machine sleeps and its clock with it": func(p *plant) {
			p.frozen = true
			p.server += 30 * 60
			p.run(300 * time.Millisecond)
			p.frozen = false
		},
		"the clock jumps ahead": func(p *plant) { p.shift += 2 * time.Second },
		"the clock jumps back":  func(p *plant) { p.shift -= 2 * time.Second },
		"the server hiccups": func(p *plant) {
			p.hiccup = true
			p.run(700 * time.Millisecond)
			p.hiccup = false
		},
	}
	for name, trouble := range cases {
		for _, c := range []netsim.Conditions{netsim.Cable, netsim.WiFi, netsim.LTE} {
			p := newPlant(c, 11)
			p.run(20 * time.Second)
			_, before := spread(p.leads[len(p.leads)-500:])
			trouble(p)
			p.run(25 * time.Second) // longer than what it remembers
			since := world.Tick(p.server)
			p.run(10 * time.Second)
			_, after := spread(p.leads[len(p.leads)-500:])
			if late := p.late(since); late > 0.012 {
				t.Errorf("%s, %s: %.3f of commands late afterwards", name, c.Name, late)
			}
			if after > before+4 || after < 0 {
				t.Errorf("%s, %s: lead %.1f ticks before, %.1f after", name, c.Name, before, after)
			}
		}
	}
}

// TestClockCut: what was not heard of for seconds says nothing of how long the way is. When the
// network is whole again the lead is what it was before, though all that was commanded meanwhile
// came too late.
func TestClockCut(t *testing.T) {
	for _, c := range []netsim.Conditions{netsim.Cable, netsim.Transatlantic, netsim.WiFi} {
		for _, many := range []int{4, 16, 64} {
			p := newPlant(c, 1)
			p.many = many
			p.run(10 * time.Second)
			_, before := spread(p.leads[len(p.leads)-300:])
			p.up.Cut()
			p.down.Cut()
			p.run(2 * time.Second)
			p.up.Heal()
			p.down.Heal()
			p.run(2 * time.Second)
			since := world.Tick(p.server)
			p.run(3 * time.Second)
			if _, after := spread(p.leads[len(p.leads)-300:]); after > before+4 {
				t.Errorf("%s, %d commands in a packet: up to %.1f ticks ahead before, and %.1f "+
					"after",
					c.Name, many, before, after)
			}
			if late := p.late(since); late > 0.02 {
				t.Errorf("%s, %d commands in a packet: %.1f %% are late afterwards", c.Name, many,
					100*late)
			}
		}
	}
}

// TestClockSeldom: where snapshots are a second apart as a rule, reports count all the same.
func TestClockSeldom(t *testing.T) {
	c := NewClock(ClockOptions{})
	c.Start(0, 100, 50*time.Millisecond)
	for i := range 20 {
		now := time.Duration(i+1) * time.Second
		server := world.Tick(160 + 60*i)
		c.Advance(now)
		c.Saw(now, server)
		c.Report(now, server, -40) // ten ticks too late
	}
	if ahead := c.time() - float64(100+60*20); ahead < 10 {
		t.Errorf("after 20 reports that commands are late, it is %.1f ticks ahead", ahead)
	}
}

// TestClockForward: whatever is reported, ticks never go back.
func TestClockForward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewClock(ClockOptions{})
		now := time.Duration(0)
		c.Start(now, 100, 50*time.Millisecond)
		last, server := world.Tick(0), world.Tick(100)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += time.Duration(rapid.Int64Range(-1e6, 3e8).Draw(t, "passes"))
			if rapid.Bool().Draw(t, "report") {
				server += world.Tick(rapid.IntRange(0, 40).Draw(t, "server"))
				c.Report(now, server, rapid.IntRange(-4000, 4000).Draw(t, "early"))
				c.SetQuality(time.Duration(rapid.Int64Range(-10, 1e9).Draw(t, "trip")),
					rapid.Float64Range(0, 1).Draw(t, "loss"))
			}
			tick := c.Advance(now)
			if tick < last || math.IsNaN(c.lead) || c.Pace() < 0.5 || c.Pace() > 1.5 {
				t.Fatalf("tick %d after %d, pace %v, lead %v", tick, last, c.Pace(), c.lead)
			}
			if f := c.Fraction(); f < 0 || f > 1 {
				t.Fatalf("fraction %v", f)
			}
			last = tick
		}
	})
}

func TestRedundancy(t *testing.T) {
	last := 0
	for _, loss := range []float64{0, 0.001, 0.01, 0.05, 0.2, 0.4, 0.6} {
		r := Redundancy{}
		d := det.At(5, 0, 0)
		lost, run, messages := 0, 0, 40000
		var sum int
		for i := range messages {
			gone := d.Chance(loss)
			r.Observe(gone)
			n := r.Commands()
			sum += n
			if gone {
				run++
			} else {
				run = 0
			}
			if i > 1000 && run >= n { // the oldest of what this message carried will not come again
				lost++
			}
		}
		mean := sum / messages
		if mean < last {
			t.Errorf("%v loss: %d commands a message, fewer than with less loss", loss, mean)
		}
		last = mean
		if share := float64(lost) / float64(messages); share > 0.0025 {
			t.Errorf("%v loss: %.4f of commands never arrived, with %d to a message", loss, share,
				mean)
		}
		if loss == 0 && mean > 2 || loss > 0.3 && mean < 6 {
			t.Errorf("%v loss: %d commands a message", loss, mean)
		}
	}
}

func BenchmarkClockReport(b *testing.B) {
	c := NewClock(ClockOptions{})
	c.Start(0, 0, 50*time.Millisecond)
	now := time.Duration(0)
	r := det.At(1, 0, 0)
	b.ReportAllocs()
	for i := range b.N {
		now += 50 * time.Millisecond
		c.Report(now, world.Tick(3*i+3), r.IntN(8))
		c.Advance(now)
	}
}

// TestClockFarAhead: reports tell no more than that commands come very early, as after a server
// that stood still, and the lead is right within a few seconds all the same. A single such report
// changes nothing.
func TestClockFarAhead(t *testing.T) {
	for _, stood := range []world.Tick{40, 90, 400} {
		c := NewClock(ClockOptions{})
		c.SetQuality(40*time.Millisecond, 0)
		const tick = time.Second / 60
		now := time.Duration(0)
		server, lost := world.Tick(1000), world.Tick(0)
		c.Start(now, server, 40*time.Millisecond)
		early := func(command world.Tick) int {
			return min(mostEarly, 4*(int(command)-int(server)-2))
		}
		run := func(seconds int) {
			for i := range seconds * 60 {
				now += tick
				if lost > 0 {
					lost--
				} else if server++; i%3 == 0 {
					c.Report(now, server, early(c.Advance(now)))
				}
				c.Advance(now)
			}
		}
		run(5)
		if a := c.Ahead(); a > 6 {
			t.Fatalf("%.1f ahead to begin with", a)
		}
		lead := c.lead
		c.Report(now, server+1, mostEarly)
		if c.lead < lead-1 {
			t.Errorf("one report moves the lead from %.1f to %.1f", lead, c.lead)
		}
		lost = stood
		run(int(stood)/60 + 8)
		if a := c.Ahead(); a > 8 || a < 2 {
			t.Errorf("a server stood still for %d ticks: %.1f ahead after 8 s", stood, a)
		}
	}
}

// TestClockToward: while commands go to another server as well, time is set ahead at once by what
// the way there is longer, once, and not for one that is nearer or as near.
func TestClockToward(t *testing.T) {
	c := NewClock(ClockOptions{})
	c.Toward(0, time.Second) // it does not run yet
	now := time.Second
	c.Start(now, 60, 20*time.Millisecond)
	at := func(trip time.Duration) float64 {
		before := c.time()
		c.Toward(now, trip)
		return c.time() - before
	}
	for i, x := range []struct {
		trip time.Duration
		want float64 // ticks
	}{
		{10 * time.Millisecond, 0}, {30 * time.Millisecond, 0}, {120 * time.Millisecond, 3},
		{120 * time.Millisecond, 0}, {110 * time.Millisecond, 0}, {180 * time.Millisecond, 1.8},
		{0, 0}, {-time.Second, 0},
	} {
		if got := at(x.trip); math.Abs(got-x.want) > 0.01 {
			t.Errorf("%d: to a server %v away time was set ahead by %.2f ticks, want %.2f", i,
				x.trip, got, x.want)
		}
	}
}
