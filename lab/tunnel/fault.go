package tunnel

import (
	"context"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/netsim"
)

// fault is one player being cut off for a while, after all else was measured: how long it takes
// that player to see the truth again, and what the others notice.
type fault struct {
	victim *Seat
	from   time.Duration // when it was cut off
	healed time.Duration
	still  time.Duration // the longest that another saw nothing new
	gaps   []gap         // of the victim
	usual  []float32     // how far off what it was shown was before
}

// settleTime is how long is looked at after a fault.
const settleTime = 8 * time.Second

// faulty cuts the first player off, and heals the network again.
func (t *Trial) faulty(ctx context.Context) error {
	if err := t.pass(ctx, drain, nil, nil); err != nil {
		return err
	}
	f := &t.fault
	victim := t.Seats[0]
	if victim.End == nil {
		return nil // it is nowhere on the network
	}
	var rest []*netsim.Endpoint
	for i := range t.lines {
		if t.lines[i].end != victim.End {
			rest = append(rest, t.lines[i].end)
		}
	}
	f.victim, f.from = victim, t.Net.Now()
	t.Net.Partition([]*netsim.Endpoint{victim.End}, rest)
	if err := t.pass(ctx, t.Cut, nil, nil); err != nil {
		return err
	}
	f.healed = t.Net.Now()
	t.Net.HealPartition([]*netsim.Endpoint{victim.End}, rest)
	if err := t.pass(ctx, settleTime, nil, nil); err != nil {
		return err
	}
	for _, s := range t.Seats {
		f.shows(s, t.Net.Now()) // it may stand still
	}
	return nil
}

// shows is told when a seat shows something new.
func (f *fault) shows(s *Seat, now time.Duration) {
	if f.victim != nil && s != f.victim {
		f.still = max(f.still, now-max(s.changed, f.from)-s.trial.Subject.Game.TickLength())
	}
}

// off is told how far what was shown at a moment was from the truth.
func (f *fault) off(s *Seat, at time.Duration, far float32) {
	switch {
	case s.Index != 0:
	case f.victim != nil && at >= f.from:
		f.gaps = append(f.gaps, gap{at, far})
	case s.trial.measured(at):
		f.usual = append(f.usual, far)
	}
}

// calm is for how long what the victim sees must be right.
const calm = 500 * time.Millisecond

// recovered is how long after the network was whole again the victim saw the truth, as near as
// nineteen times in twenty before and half a body. Where it never did, it is as long as was looked
// at.
func (f *fault) recovered(body float64) time.Duration {
	usual := float32(body / 2)
	if n := len(f.usual); n > 0 {
		slices.Sort(f.usual)
		usual += f.usual[n*95/100]
	}
	begin, last := time.Duration(-1), time.Duration(0)
	for _, g := range f.gaps {
		if g.at < f.healed {
			continue
		}
		if g.off > usual || begin >= 0 && g.at-last > calm {
			begin = -1
		}
		if g.off <= usual && begin < 0 {
			begin = g.at
		}
		if last = g.at; begin >= 0 && last-begin >= calm {
			return begin - f.healed
		}
	}
	return settleTime
}
