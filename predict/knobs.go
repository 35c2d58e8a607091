package predict

import "github.com/coeval-dev/coeval/knob"

// Interpolate is the knob of how late others are shown (PlayoutOptions.Delay). Clients have it, and
// servers, which must know what their clients show.
func Interpolate() knob.Knob {
	return knob.Knob{Name: "interpolate", Time: true, Least: 1, Most: 2000, Default: knob.Auto,
		Auto: "as long as jitter and losses ask for",
		About: "how long after it could be known others are shown: less is earlier, and jerky " +
			"where snapshots come late",
		Levels: []string{"20ms", "40ms", "60ms", knob.Auto, "80ms", "120ms", "200ms"}}
}
