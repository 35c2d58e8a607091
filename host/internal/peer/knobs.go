//go:build !js

package peer

import (
	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/topology/peers"
)

// A Way is how peers play, as lab run names it: in a style, over a mesh or by a relay's rows.
type Way struct {
	Name, Style string
	Rows        bool
}

var ways = []Way{
	{"lockstep", "lockstep", false}, {"rollback", "rollback", false}, {"doom", "doom", false},
	{"packetserver", "lockstep", true}, {"packetserver-rollback", "rollback", true},
}

// WayOf finds how peers play, by what lab run calls it.
func WayOf(architecture string) (Way, bool) {
	for _, w := range ways {
		if w.Name == architecture {
			return w, true
		}
	}
	return Way{}, false
}

// WayBy finds how peers play by its style, over a mesh or by rows. One in a style that is not known
// has no knobs of its own.
func WayBy(style string, rows bool) Way {
	for _, w := range ways {
		if w.Style == style && w.Rows == rows {
			return w
		}
	}
	return Way{Name: style, Style: style, Rows: rows}
}

// Knobs are what can be set.
func (w Way) Knobs() []knob.Of[peers.Tuning] {
	if w.Style == "rollback" {
		return peers.Knobs(peers.Rollback(), w.Rows)
	}
	return peers.Knobs(peers.Lockstep(), w.Rows)
}

// tune sets flags by knobs, where they are not given. Whoever joins by a relay is told by it
// whether it is a match by rows, so that settings of both will do.
func (f *flags) tune(cmd *cobra.Command) error {
	if !f.knobs.Given() {
		return nil
	}
	rows := f.Relay != "" && !f.Mesh
	err := f.knobs.Choose(cmd, "style", &f.style, func(a string) (string, bool) {
		w, ok := WayOf(a)
		if ok && f.Match == nil && f.Relay != "" {
			rows = w.Rows
		}
		return w.Style, ok && w.Rows == rows
	})
	if err != nil {
		return err
	}
	w := WayBy(f.style, rows)
	values, err := f.knobs.Values(cmd, f.Title, w.Name, knob.List(w.Knobs()))
	if err != nil {
		return err
	}
	for name, v := range values {
		// who joins has no --wait, which is the founder's
		if g := cmd.Flags().Lookup(name); g != nil && v != knob.Auto {
			if err := g.Value.Set(v); err != nil {
				return cli.Usagef("%s is %s: %w", name, v, err)
			}
		}
	}
	return nil
}
