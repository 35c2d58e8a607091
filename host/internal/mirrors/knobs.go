//go:build !js

package mirrors

import (
	"strings"

	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/architecture"
	"github.com/coeval-dev/coeval/topology/mirror"
)

// Knobs are what can be set of mirrors with a kind of timeline, and of their clients.
func Knobs(kind string) []knob.Knob {
	return append(knob.List(mirror.Knobs(kind)), architecture.OfMirrors()...)
}

// Architecture is what lab run calls mirrors with a kind of timeline, and TimelineOf the reverse.
func Architecture(kind string) string { return "mirrors-" + kind }

// TimelineOf is the kind of timeline of an architecture of mirrors.
func TimelineOf(architecture string) (kind string, ok bool) {
	kind, ok = strings.CutPrefix(architecture, "mirrors-")
	for _, name := range kinds.Names() {
		if ok && name == kind {
			return kind, true
		}
	}
	return "", false
}

// Tune sets knobs of a mirror, whose timeline is known, and of its title.
func Tune(o *mirror.Options, values knob.Values) (err error) {
	if len(values) == 0 {
		return nil
	}
	kind := o.Timeline
	if kind == "" {
		kind = "auto"
	}
	if values, err = knob.Read(Architecture(kind), append(Knobs(kind),
		o.Server.Title.Settable()...), values); err != nil {
		return err
	}
	if o.Server.Title, err = o.Server.Title.With(values); err != nil {
		return err
	}
	return mirror.Tune(o, values)
}
