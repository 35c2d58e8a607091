package predict

import (
	"math"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// A Playout says which moment of the past to show where things are interpolated: as recent as can
// be, but old enough that there is mostly a snapshot on either side of it. Jitter and losses make
// the delay longer, and a good network makes it shorter again, both too slowly to be seen.
type Playout struct {
	o       PlayoutOptions
	rate    float64
	running bool
	now     float64 // seconds
	lag     float64 // what to take from the local time, in ticks, to have the moment to show
	target  float64
	view    float64 // never goes back
	newest  world.Tick
	needs   window // how large the lag had to be, at each snapshot
}

// PlayoutOptions say how a Playout chooses. The zero value is for 60 ticks a second.
type PlayoutOptions struct {
	// Rate is the game's ticks a second. Default: 60.
	Rate int
	// Gaps is the share of snapshots that may come too late to be interpolated to; things are
	// extrapolated until they come. Default: 0.02.
	Gaps float64
	// Memory is for how long a delay that was met is reckoned with. Default: 10 s.
	Memory time.Duration
	// Gentle is the largest change of pace. Default: 0.05.
	Gentle float64
	// Jump is the error in ticks beyond which time is set anew. Default: half a second.
	Jump float64
	// Delay, if it is above zero, is how long after it could be known a moment is shown, in place
	// of what jitter and losses ask for: as a setting of the player did in Half-Life. Where it is
	// shorter than the time between two snapshots, things are extrapolated all the time.
	Delay time.Duration
}

// NewPlayout makes one that has seen nothing yet.
func NewPlayout(o PlayoutOptions) *Playout {
	orElse(&o.Rate, 60)
	orElse(&o.Gaps, 0.02)
	orElse(&o.Memory, 10*time.Second)
	orElse(&o.Gentle, 0.05)
	orElse(&o.Jump, float64(o.Rate)/2)
	return &Playout{o: o, rate: float64(o.Rate), needs: newWindow(o.Memory.Seconds(), 512)}
}

// Arrived notes that the snapshot of a tick is here.
func (p *Playout) Arrived(now time.Duration, tick world.Tick) {
	p.pass(now)
	local := float64(p.now * p.rate)
	if !p.running {
		// Until more is known, a snapshot every twentieth of a second.
		p.running, p.newest = true, tick
		behind := p.rate / 20
		if p.fixed() {
			behind = float64(p.o.Delay.Seconds() * p.rate)
			p.needs.add(p.now, local-float64(tick))
		}
		p.lag = local - float64(tick) + behind
		p.target, p.view = p.lag, float64(tick)-behind
		return
	}
	if tick <= p.newest {
		return
	}
	// Until this moment the one before was the newest, so nothing later than it could be shown.
	need := local - float64(p.newest)
	p.newest = tick
	if p.fixed() {
		need = local - float64(tick)
	}
	p.needs.add(p.now, need)
	const while = 20 // snapshots, a second of them, that say that another time has begun
	if n := len(p.needs.value) - while; n > 0 && slices.Max(p.needs.value[n:])+p.o.Jump < p.target {
		p.needs.drop(n)
	}
	sorted := p.needs.sorted(p.now, 0)
	p.target = sorted[len(sorted)-1-int(float64(len(sorted))*p.o.Gaps)]
	if p.fixed() {
		p.target = sorted[0] + float64(p.o.Delay.Seconds()*p.rate)
	}
	if off := p.target - p.lag; math.Abs(off) > p.o.Jump && len(sorted) >= 5 {
		p.lag = p.target
		p.view = local - p.lag
	}
}

// fixed says that the delay is one that was chosen. Then needs are how late snapshots came, and
// what counts is the earliest.
func (p *Playout) fixed() bool { return p.o.Delay > 0 }

func (p *Playout) pass(now time.Duration) {
	dt := now.Seconds() - p.now
	if dt <= 0 {
		return
	}
	p.now = now.Seconds()
	if !p.running {
		return
	}
	const ease = 2.0 // seconds
	change := min(max((p.target-p.lag)/ease, -p.o.Gentle*p.rate), p.o.Gentle*p.rate)
	p.lag += float64(change * min(dt, ease))
	p.view = max(p.view, float64(p.now*p.rate)-p.lag)
}

// At is the moment to show, in ticks and parts of them. It never goes back in normal play.
func (p *Playout) At(now time.Duration) float64 {
	p.pass(now)
	return p.view
}

// Newest is the tick of the newest snapshot.
func (p *Playout) Newest() world.Tick { return p.newest }

// Behind is how many ticks lie between what is shown and the newest snapshot; below zero, how many
// things are extrapolated.
func (p *Playout) Behind() float64 { return float64(p.newest) - p.view }
