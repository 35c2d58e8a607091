package predict

import (
	"cmp"
	"math"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// A Clock says which tick a client is at. It runs ahead of the server by just enough for commands
// to arrive before they are needed, with a margin for the jitter that it measures, and it keeps
// there by running a little faster or slower.
//
// It steers by what the server reports about the arrival of commands. Each report is set against
// the lead that the clock had when that command was made, which gives a measurement that does not
// depend on what the clock has done since; so, although reports are a round trip old, there is no
// loop that could swing.
type Clock struct {
	o    ClockOptions
	rate float64 // ticks a second

	running bool
	moved   bool       // the way to the server is another since the last snapshot
	toward  float64    // the round trip to a server that commands go to as well, or zero
	now     float64    // seconds, at the last call
	lead    float64    // what to add to the local time, in ticks, to have the client's
	target  float64    // where the lead should be
	pace    float64    // at which time goes, against the local clock
	tick    world.Tick // the last that was handed out
	jumps   int

	newest  world.Tick // of the reports
	saw     world.Tick // the newest snapshot
	apart   float64    // how many ticks are between snapshots, as a rule
	reports window     // how early commands would arrive, in ticks, if the lead were zero
	// how the reports rise, in ticks a second: by how much this machine's clock is fast
	drift float64
	deaf  float64    // until when reports are about commands from before a jump
	first world.Tick // the first command after it
	trip  float64    // round trip in seconds
	least float64    // the least of late, in seconds, or zero
	loss  float64
	hurry bool // the path has become shorter, and the lead is not yet
	full  int  // reports in a row of commands that come as early as can be told, or more

	leads [leadsKept]float64 // the lead at each of the last ticks
}

const (
	leadsKept = 256
	// recent is how many reports tell how early commands come now.
	recent = 20
	// mostEarly is the most that reports tell, in quarters of a tick, and enoughFull how many of
	// those in a row say that it is more.
	mostEarly  = 127
	enoughFull = 5
	// hurryFor is for how many seconds, after a change of the path, reports are awaited that tell
	// what the lead should be.
	hurryFor = 1
)

// ClockOptions say how a Clock runs. The zero value runs for 60 ticks a second and is right for
// games in which a command that comes late is a visible error.
type ClockOptions struct {
	// Rate is the game's ticks a second. Default: 60.
	Rate int
	// Late is the share of commands that may arrive too late. Less costs a longer lead, and so a
	// longer prediction. Default: 0.002.
	Late float64
	// Guard is how many ticks early even those shall arrive that just do. Default: 0.5.
	Guard float64
	// Memory is for how long a delay that was met is reckoned with. Default: 15 s.
	Memory time.Duration
	// Gentle is the largest change of pace in normal play. Default: 0.02.
	Gentle float64
	// Brisk is the largest change of pace while commands come late, or after an interruption.
	// Default: 0.05.
	Brisk float64
	// Brake is by how much time may slow down where the lead is longer than it need be by more than
	// Jump. A jump back would be a time in which nothing that the player does is answered. Default:
	// 0.25.
	Brake float64
	// Jump is the error in ticks beyond which time is set anew rather than steered, if the clock is
	// behind; ahead, it takes a second. Default: a quarter of a second.
	Jump float64
	// Early is how many ticks before they are needed commands may come: a server refuses what is
	// too far in the future, and each tick of it is a tick more to predict. Where delays differ by
	// more than this, some commands are late instead. Default: half a second, and no more than 31
	// ticks, which is as much as servers report.
	Early float64
	// Most is how many ticks the clock may be ahead of the newest snapshot. Default: 60.
	Most world.Tick
}

func (o *ClockOptions) defaults() {
	orElse(&o.Rate, 60)
	orElse(&o.Memory, 15*time.Second)
	orElse(&o.Most, 60)
	orElse(&o.Late, 0.002)
	orElse(&o.Guard, 0.5)
	orElse(&o.Gentle, 0.02)
	orElse(&o.Brisk, 0.05)
	orElse(&o.Brake, 0.25)
	orElse(&o.Jump, float64(o.Rate)/4)
	orElse(&o.Early, min(float64(o.Rate)/2, 31))
}

// orElse sets an option that was not given to its default.
func orElse[T cmp.Ordered](x *T, v T) {
	var zero T
	if *x <= zero {
		*x = v
	}
}

// NewClock makes a clock that stands still until Start.
func NewClock(o ClockOptions) *Clock {
	o.defaults()
	return &Clock{o: o, rate: float64(o.Rate), pace: 1, reports: newWindow(o.Memory.Seconds(), 512)}
}

// Start sets the clock by the first snapshot, or anew: the server was at a tick when it sent it,
// and the round trip is as given.
func (c *Clock) Start(now time.Duration, server world.Tick, roundTrip time.Duration) {
	c.now, c.trip = now.Seconds(), max(0, roundTrip.Seconds())
	c.running, c.newest, c.moved = true, server, false
	c.saw, c.apart = server, c.o.Early
	c.drift = 0
	c.tick, c.reports.at, c.reports.value = 0, c.reports.at[:0], c.reports.value[:0]
	c.set(c.leadFor(server))
	c.tick = world.Tick(max(0, math.Floor(c.time())))
	for i := range c.leads {
		c.leads[i] = c.lead
	}
}

// Stop lets the clock stand still until Start.
func (c *Clock) Stop() { c.running = false }

// Running says whether the clock was started.
func (c *Clock) Running() bool { return c.running }

// set jumps to a lead.
func (c *Clock) set(lead float64) {
	c.lead, c.target, c.pace = lead, lead, 1
	c.listen()
}

// listen has reports count from now on: what is on its way was measured before. A report names its
// command only roughly.
func (c *Clock) listen() {
	c.deaf = c.now + c.trip
	c.first = max(c.tick, world.Tick(max(0, c.time()))) + 4
}

// margin is how early the latest of commands should come: the guard, and as many ticks as a lost
// command needs to arrive with a later message.
func (c *Clock) margin() float64 {
	return c.o.Guard + float64(again(c.loss, c.o.Late)-1)
}

// time is the client's, in ticks.
func (c *Clock) time() float64 { return float64(c.now*c.rate) + c.lead }

// SetQuality tells what the connection measures: the round trip, and the share of datagrams that
// are lost on the way to the server.
func (c *Clock) SetQuality(roundTrip time.Duration, loss float64) {
	if roundTrip > 0 {
		c.trip = roundTrip.Seconds()
	}
	c.loss = min(max(loss, 0), 1)
}

// SetLeast tells the least round trip of late. Where it falls by much, the path is another: what
// was measured of the old one does not count any more, and the lead is made shorter as fast as may
// be.
func (c *Clock) SetLeast(roundTrip time.Duration) {
	least := roundTrip.Seconds()
	if c.running && least > 0 && least < 0.6*c.least-0.01 {
		c.reports.drop(len(c.reports.at))
		c.deaf = max(c.deaf, c.now+c.least)
		c.hurry = true
	}
	c.least = least
}

// Report takes what a snapshot says: how many quarters of a tick before they were needed commands
// arrived, negative if late. Of the commands since the snapshot before, it should be the least:
// when a path stalls, the last of those that then come together is the only one in time.
func (c *Clock) Report(now time.Duration, server world.Tick, early int) {
	c.pass(now)
	if !c.running || server <= c.newest {
		return
	}
	c.newest = server
	if c.now < c.deaf {
		return
	}
	if c.full++; early < mostEarly {
		c.full = 0
	}
	if c.full >= enoughFull {
		c.farAhead(server)
		return
	}
	ticks := float64(early) / 4
	// The command that this is about, as far as one can tell; the lead changes so slowly that its
	// neighbours will do.
	command := world.Tick(max(0, float64(server)+ticks))
	if command < c.first || command > c.tick+1 {
		return // from before a jump, or about nothing that was sent
	}
	if command > c.tick || c.tick-command >= leadsKept {
		command = c.tick
	}
	c.reports.add(c.now, ticks-c.leads[command%leadsKept])
	if c.reports.shifted(5, c.o.Jump/2) {
		c.reports.drop(len(c.reports.value) - 5) // another network, or a clock that jumped
		c.drift = 0
	}
	c.aim()
}

// gap looks for how long nothing was seen. If that was longer than commands may be early, the line
// was cut: what was commanded meanwhile comes late, however long the way is, and no lead could have
// helped. So reports count again when they are about commands that are made from now on.
func (c *Clock) gap(server world.Tick) {
	if server <= c.saw {
		return
	}
	ticks := float64(server - c.saw)
	c.saw = server
	if ticks > max(c.o.Early, 4*c.apart) {
		c.listen()
	}
	const slow = 1.0 / 16 // of snapshots: where they are always far apart, that is no cut
	c.apart += (ticks - c.apart) * slow
}

// farAhead shortens a lead that is so long that reports cannot tell by how much: the server stood
// still, or its clock jumped. The snapshot and the round trip say where the lead should be, about.
func (c *Clock) farAhead(server world.Tick) {
	c.reports.drop(len(c.reports.at))
	c.drift, c.hurry = 0, true
	if c.target = min(c.target, c.leadFor(server)); c.target-c.lead < -max(c.rate, c.o.Jump) {
		c.jumps++
		c.set(c.target)
	}
}

// Moved tells that commands go to another server from now on, to which the way may be longer. What
// was measured does not count any more; with the next snapshot time is set ahead if it has to be,
// and where it need not be so far ahead there is time.
func (c *Clock) Moved() { c.moved = true }

// Toward tells that commands go to another server of the same world as well, and the round trip to
// it; zero that they do not. Time is set ahead at once by what that way is longer: commands
// shall come there in time from the first on, also before anything has come from there.
func (c *Clock) Toward(now, roundTrip time.Duration) {
	c.pass(now)
	to := roundTrip.Seconds()
	if to <= 0 {
		c.toward = 0
		return
	}
	if more := (to - max(c.toward, c.trip)) / 2 * c.rate; c.running && more > 0.75 {
		c.toward = to
		c.reports.drop(len(c.reports.at))
		c.set(c.lead + more)
	}
}

// Saw tells that the snapshot of a tick has come. A clock that is not past it by a round trip was
// interrupted, and is set anew if it is not past it at all.
func (c *Clock) Saw(now time.Duration, server world.Tick) {
	c.pass(now)
	if c.running {
		c.gap(server)
	}
	if c.running && c.moved { // the first snapshot of another server
		c.moved, c.toward = false, 0
		c.reports.drop(len(c.reports.at))
		c.set(max(c.leadFor(server), c.lead))
	}
	if c.running && c.time() < float64(server) {
		c.jumps++
		c.reports.drop(len(c.reports.at))
		c.set(c.leadFor(server))
	}
}

// leadFor is the lead by which a command comes to the server in time, by its snapshot of a tick.
func (c *Clock) leadFor(server world.Tick) float64 {
	return float64(server) + float64(c.trip*c.rate) + c.margin() - float64(c.now*c.rate)
}

// aim finds where the lead should be.
func (c *Clock) aim() {
	if slope, ok := c.reports.slope(); ok {
		const slow = 1.0 / 128 // of reports: a clock's fault stays, a network's does not
		bound := float64(0.02 * c.rate)
		c.drift += (min(max(slope, -bound), bound) - c.drift) * slow
	}
	drift := c.drift
	if few := float64(0.001 * c.rate); math.Abs(drift) < few {
		drift = 0 // it may be chance
	}
	sorted := c.reports.sorted(c.now, drift)
	least := sorted[int(float64(len(sorted))*c.o.Late)]
	c.target = min(c.margin()-least, max(c.o.Early, c.margin())-c.reports.most(recent))
	// Further ahead than the client can predict there is nothing to gain, and what a snapshot tells
	// is over.
	zero := float64(c.newest) - float64(c.now*c.rate)
	c.target = min(max(c.target, zero+1), zero+float64(c.o.Most))
	if off := c.target - c.lead; (off > c.o.Jump || off < -max(c.rate, c.o.Jump)) &&
		len(sorted) >= 3 {
		c.jumps++
		c.set(c.target)
	}
}

// pass lets the local clock go on to now, and the lead toward its target.
func (c *Clock) pass(now time.Duration) {
	dt := now.Seconds() - c.now
	if dt <= 0 || !c.running {
		return
	}
	c.now = now.Seconds()
	const ease = 1.0 // seconds in which an error mostly goes away
	off := c.target - c.lead
	limit := c.o.Gentle
	c.hurry = c.hurry && (off < -1 || c.now < c.deaf+hurryFor)
	switch {
	case off < -c.o.Jump || c.hurry && off < 0:
		limit = c.o.Brake
	case off > 1 || off < -c.o.Jump/2:
		limit = c.o.Brisk // commands are late, or everything is long
	}
	if math.Abs(off) < 0.1 {
		off = 0 // a sixth of a hundredth of a second is not worth a change of pace
	}
	change := min(max(off/ease, -limit*c.rate), limit*c.rate)
	if dt < ease {
		c.lead += float64(change * dt)
	} else {
		c.lead = c.target
	}
	c.pace = 1 + change/c.rate
}

// Advance gives the tick that the client should be at now. It never goes back, except after Start;
// after a jump back it waits until the time has come.
func (c *Clock) Advance(now time.Duration) world.Tick {
	c.pass(now)
	if !c.running {
		return 0
	}
	t := world.Tick(max(0, math.Floor(c.time())))
	for k := max(c.tick+1, t-min(t, leadsKept-1)); k <= t; k++ {
		c.leads[k%leadsKept] = c.lead
	}
	c.tick = max(c.tick, t)
	return c.tick
}

// Fraction is how much of the time until the next tick has passed, from 0 to 1: for what draws more
// often than the game steps.
func (c *Clock) Fraction() float64 {
	return min(max(c.time()-float64(c.tick), 0), 1)
}

// Pace is how fast the clock runs against the machine's own, 1 when it is where it should be.
func (c *Clock) Pace() float64 { return c.pace }

// Jumps is how often time had to be set anew.
func (c *Clock) Jumps() int { return c.jumps }

// Ahead is by how many ticks the client's time is past the newest snapshot: what it predicts.
func (c *Clock) Ahead() float64 { return c.time() - float64(c.newest) }
