package mirrored

import (
	"cmp"
	"time"

	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/mirrorlab"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/mirror"
)

// A Form is how mirrors are made.
type Form struct {
	// Kind is the timeline's name.
	Kind string
	// Mirrors is how many there are. Default: 3.
	Mirrors int
	// Delays, if there are any, are those of the timeline in place of such as fit the network.
	Delays []time.Duration
	// Repair and Exact are those of mirror.Options.
	Repair kinds.Repair
	Exact  bool
	// Between, if it is set, lies between any two mirrors, wherever they are.
	Between *netsim.Conditions
	// Watch, if it is set, is given each mirror when a match ends.
	Watch func(seed uint64, index int, m *mirror.Mirror)
}

// Architecture makes one of mirrors of a form, which is not registered yet.
func Architecture(name, about string, f Form) tunnel.Architecture {
	f.Mirrors = cmp.Or(f.Mirrors, mirrors)
	return tunnel.Architecture{
		Name: name, About: about, Family: tunnel.Mirrored, Packages: []string{here},
		Fits: func(s *lab.Subject) error {
			return s.Commanded("there is nothing for mirrors to tell each other")
		},
		Start: func(t *tunnel.Trial) (tunnel.Match, error) { return start(t, f) },
		Knobs: func(c tunnel.Course) []knob.Knob { return knobs(&f, c) },
	}
}

// path is what lies between two mirrors.
func (f *Form) path(on *tunnel.Field, a, b tunnel.Spot) netsim.Conditions {
	if f.Between != nil {
		return *f.Between
	}
	return on.Path(a, b)
}

// delays are those of the timeline on a field: the form's own, or such as fit the longest way.
func (f *Form) delays(on *tunnel.Field, players int) []time.Duration {
	if f.Delays != nil {
		return f.Delays
	}
	worst, spots := netsim.Conditions{}, on.Servers(f.Mirrors, players)
	for i, a := range spots {
		for _, b := range spots[:i] {
			if p := f.path(on, a, b); p.Up.Latency >= worst.Up.Latency {
				worst = p
			}
		}
	}
	return mirrorlab.FitDelays(f.Kind, worst)
}
