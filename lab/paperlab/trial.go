package paperlab

import (
	"context"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/tunnel"
	_ "github.com/coeval-dev/coeval/lab/tunnel/all" // what is played
	"github.com/coeval-dev/coeval/world"
)

// A trial is what is played in the wind tunnel, once for each seed.
type trial struct {
	arch    string               // by name
	made    *tunnel.Architecture // or one that is not registered
	network string
	players int
	subject *lab.Subject          // another than the title of the options
	watch   func(run int) watcher // sees what is measured
	time    time.Duration         // default: 20 s, or 4 s if it is to be quick
}

// A watcher is shown what is true and what players see.
type watcher interface {
	truth(w *world.World)
	shown(s *tunnel.Seat, w *world.World)
}

// measured is a film of what a watcher is to see: neither what is before, nor what comes after.
type measured struct {
	watcher
	length time.Duration
}

func (m *measured) Begin([]*tunnel.Seat) {}

func (m *measured) Truth(at time.Duration, w *world.World) {
	if at >= 0 && at < m.length {
		m.truth(w)
	}
}

func (m *measured) Held(*tunnel.Seat, time.Duration, *world.World) {}

func (m *measured) Shown(s *tunnel.Seat, at time.Duration, w *world.World) {
	if at >= 0 && at < m.length {
		m.shown(s, w)
	}
}

// tunnelFigures plays a trial with each seed, on all cores.
func tunnelFigures(ctx context.Context, o *Options, p lab.Progress,
	t trial) ([]*tunnel.Sample, error) {
	var err error
	a := t.made
	if a == nil {
		if a, err = tunnel.Lookup(t.arch); err != nil {
			return nil, err
		}
	}
	field, err := tunnel.ParseField(t.network)
	if err != nil {
		return nil, err
	}
	s := t.subject
	if s == nil {
		if s, err = lab.NewSubject(o.Title, o.Level, t.players); err != nil {
			return nil, err
		}
	}
	warm, length := 4*time.Second, 20*time.Second
	if t.time > 0 {
		length = t.time
	}
	if o.Quick {
		warm, length = time.Second, 4*time.Second
	}
	list := make([]*tunnel.Sample, o.Seeds)
	var jobs []lab.Job
	for i, seed := range o.seeds() {
		jobs = append(jobs, lab.Job{
			What: fmt.Sprintf("%s on %s, seed %d", a.Name, field.Name, seed), Work: 1,
			Do: func(ctx context.Context) (err error) {
				setup := tunnel.Setup{Subject: s, Arch: a, Field: field, Players: t.players,
					Seed: seed, Warm: warm, Time: length, Cut: -1}
				if t.watch != nil {
					setup.Film = &measured{t.watch(i), length}
				}
				list[i], err = tunnel.Play(ctx, setup, nil)
				return err
			}})
	}
	return list, lab.Spread(ctx, jobs, p)
}

// pick is one figure of each sample that has it.
func pick(list []*tunnel.Sample, key string) (values []float64) {
	for _, s := range list {
		if v, ok := s.Figures[key]; ok {
			values = append(values, v)
		}
	}
	return values
}

// pickOf is the same, the mean of some of the players.
func pickOf(list []*tunnel.Sample, key string, of func(player int) bool) (values []float64) {
	for _, s := range list {
		sum, n := 0.0, 0
		for i, p := range s.Players {
			if v, ok := p.Figures[key]; ok && of(i) {
				sum, n = sum+v, n+1
			}
		}
		if n > 0 {
			values = append(values, sum/float64(n))
		}
	}
	return values
}
