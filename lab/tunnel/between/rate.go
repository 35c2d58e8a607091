package between

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/world"
)

// Bounds of AtRate.
const (
	MostRate  = 20
	MostDepth = 400 * time.Millisecond
)

// between is about how long it takes after a rollback until the next can begin.
const between = 100 * time.Millisecond

// AtRate is rollback in which the first player's machine goes back so many times a second, by
// about so much: what others command is held back on its way to it until it has guessed for that
// long. The delay of commands is such that nothing has to be guessed otherwise, unless the network
// is worse than its latency and jitter say; so between two rates nothing differs but that. A guess
// that was right is no rollback, and then it is held back again.
func AtRate(rate float64, depth time.Duration) (tunnel.Architecture, error) {
	if !(rate >= 0 && rate <= MostRate) {
		return tunnel.Architecture{}, fmt.Errorf("%v rollbacks a second: it must be from 0 to %d",
			rate, MostRate)
	}
	if depth <= 0 || depth > MostDepth {
		return tunnel.Architecture{}, fmt.Errorf("rollbacks of %v: they must be of up to %v", depth,
			MostDepth)
	}
	if most := 0.8 / (depth + between).Seconds(); rate > most {
		return tunnel.Architecture{}, fmt.Errorf("%v rollbacks of %v a second leave no time "+
			"between them: at most %.1f do", rate, depth, most)
	}
	name := fmt.Sprintf("rollback=%v@%v", rate, depth)
	about := fmt.Sprintf("%v rollbacks a second, of %d ms each", rate, depth.Milliseconds())
	if rate == 0 {
		name, about = "rollback=0", "no rollbacks"
	}
	a := architecture(name, about, peers.Style{}, peers.Match{})
	a.Start = func(t *tunnel.Trial) (tunnel.Match, error) {
		length := t.Subject.Game.TickLength()
		ticks := int((depth + length/2) / length)
		if ticks < 1 || ticks >= peers.MaxDepth {
			return nil, fmt.Errorf("rollbacks of %v are %d ticks of %s: it must be from 1 to %d",
				depth, ticks, t.Subject.Name(), peers.MaxDepth-1)
		}
		style := peers.Style{Depth: peers.MaxDepth, Delay: enough(t)}
		return startHeld(t, style, peers.Match{}, &hold{ticks: world.Tick(ticks), rate: rate,
			random: t.Random.Rand})
	}
	return a, nil
}

// enough is the delay of commands with which they come in time.
func enough(t *tunnel.Trial) int {
	worst, length := time.Duration(0), t.Subject.Game.TickLength()
	for _, s := range t.Seats[1:] {
		c := t.Field.Path(s.Spot, t.Seats[0].Spot)
		for _, p := range []*netsim.Profile{&c.Up, &c.Down} {
			worst = max(worst, p.Latency+3*p.Jitter.Amount)
		}
	}
	return min(int(worst/length)+2, peers.MaxDelay)
}

// A hold is the link of a machine that now and then hears nothing, until it has guessed for as many
// ticks as it should.
type hold struct {
	link.Link
	ticks  world.Tick
	rate   float64
	random *netsim.Rand

	on      bool
	since   time.Duration // when it began
	due     time.Duration // when it is next to hear nothing
	debt    bool          // a rollback is due that has not come
	returns uint64        // of the copy, when that became due
}

// Receive gives nothing while it is held.
func (h *hold) Receive(batch []link.Datagram) (int, error) {
	if h.on {
		return 0, nil
	}
	return h.Link.Receive(batch)
}

// watch looks at what the machine has come to.
func (h *hold) watch(c *turns.Copy, now time.Duration) {
	if h.rate == 0 || c.Shown() == 0 {
		return
	}
	if h.due == 0 {
		h.due = now + h.gap()
	}
	guessed := c.Shown() - c.Known()
	switch {
	case h.on:
		h.on = guessed < h.ticks && now-h.since < longest
	case h.debt && c.Stats().Returns > h.returns:
		h.debt = false
	case h.debt && guessed == 0: // it guessed right
		h.on, h.since = true, now
	case !h.debt && guessed == 0 && now >= h.due:
		h.debt, h.returns = true, c.Stats().Returns
		h.on, h.since = true, now
		h.due = max(h.due+h.gap(), now-time.Second) // what is late is caught up with
	}
}

// longest is for how long a machine hears nothing at most, whatever it has guessed.
const longest = 2 * MostDepth

// gap is how long it is from one to the next: from half of the mean to half more, so that nobody
// can wait for it.
func (h *hold) gap() time.Duration {
	return time.Duration((0.5 + h.random.Float64()) / h.rate * float64(time.Second))
}
