package mirrorlab

import (
	"context"
	"time"

	"github.com/coeval-dev/coeval/lab"
)

// Processor is what a tick takes of one, in microseconds.
type Processor struct {
	// Mirror is that of a mirror, with its own players, and Plain that of a plain server with all
	// players of all mirrors, in the same run. Ratio is the one by the other.
	Mirror float64 `json:"mirror_us_per_tick" head:"a mirror" as:"%.0f"`
	Plain  float64 `json:"plain_us_per_tick" head:"plain, all" as:"%.0f"`
	Ratio  float64 `json:"ratio" head:"ratio" as:"%.2f"`
	// Few is that of a plain server with as many players as one mirror has.
	Few float64 `json:"plain_few_us_per_tick" head:"plain, few" as:"%.0f"`
	// Step and Copy are what computing a tick of a world and copying one takes, as auto was told.
	Step float64 `json:"step_us" head:"a step" as:"%.1f"`
	Copy float64 `json:"copy_us" head:"a copy" as:"%.1f"`
}

// against sets plain servers beside the mirrors.
func (p *Processor) against(ctx context.Context, o *Options, all time.Duration, r *Result) error {
	if p == nil {
		return nil
	}
	ticks := r.Seconds * float64(r.TickRate)
	p.Plain = 1000 * lab.Millis(all) / ticks
	p.Ratio = p.Mirror / max(p.Plain, 1e-9)
	few := *o
	few.Mirrors = 1
	_, spent, err := playPlain(ctx, &few, false, nil)
	p.Few = 1000 * lab.Millis(spent) / ticks
	return err
}

// What a step and a copy take where nothing measures them, so that a run repeats.
const (
	usualStep = 50 * time.Microsecond
	usualCopy = 5 * time.Microsecond
)

// measure finds out what a step and a copy of a world take, with all players in it, for auto.
func (o *Options) measure() error {
	if o.Step > 0 && o.Copy > 0 {
		return nil
	}
	if o.Clock == nil {
		o.Step, o.Copy = usualStep, usualCopy
		return nil
	}
	const warm, times = 120, 240
	m, err := lab.NewMatch(o.subject, o.serving()*o.Players, o.Seed)
	if err != nil {
		return err
	}
	for range warm {
		if err := m.Step(); err != nil {
			return err
		}
	}
	to := m.World.Host().Clone()
	var step, copying time.Duration
	for range times {
		if err := m.Prepare(); err != nil {
			return err
		}
		a := o.Clock()
		if err := m.World.Host().Step(m.In); err != nil {
			return err
		}
		b := o.Clock()
		if err := to.Host().CopyFrom(m.World); err != nil {
			return err
		}
		step, copying = step+b-a, copying+o.Clock()-b
	}
	o.Step, o.Copy = max(step/times, 1), max(copying/times, 1)
	return nil
}
