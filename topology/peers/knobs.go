package peers

import (
	"strconv"
	"time"

	"github.com/coeval-dev/coeval/knob"
)

// A Tuning is what can be set of how a peer plays: of Options, and of RelayedOptions.
type Tuning struct {
	Style   Style
	Packets int
	Wait    time.Duration // at a relay
}

// Knobs are what can be set of peers for lab tune to search, by the names that flags of peer have.
// A style with a Depth has other knobs than lock step; through a relay there is a wait.
func Knobs(style Style, relayed bool) []knob.Of[Tuning] {
	delay := knob.Knob{Name: "delay", Least: 0, Most: MaxDelay, Step: 1, Flag: "delay",
		About:   "after how many ticks own commands count: more is later, and fewer guesses are wrong",
		Default: strconv.Itoa(style.Delay), Levels: []string{"0", "1", "2", "3", "4", "6", "8"}}
	if style.Delay < 0 {
		delay.Default, delay.Auto = knob.Auto, "as many as the slowest path takes"
		delay.Levels = []string{"2", "4", knob.Auto, "6", "8", "12", "16"}
	}
	list := []knob.Of[Tuning]{{Knob: delay,
		Set: func(o *Tuning, v knob.Value) { o.Style.Delay = v.Int() }}}
	if style.Depth > 0 {
		list = append(list, knob.Of[Tuning]{Knob: knob.Knob{Name: "depth", Least: 1, Most: MaxDepth,
			Step: 1, Default: strconv.Itoa(style.Depth), Flag: "depth",
			About:  "how many ticks may be shown with what others do guessed",
			Levels: []string{"2", "4", "8", "12", "16", "24"}},
			Set: func(o *Tuning, v knob.Value) { o.Style.Depth = v.Int() }})
	}
	list = append(list, knob.Of[Tuning]{Knob: knob.Knob{Name: "packets", Least: 1, Most: 1000,
		Step: 1, Default: knob.Auto, Auto: "one a tick", Flag: "packets",
		About:  "packets a second to each of the others",
		Levels: []string{"10", "15", "20", "30", knob.Auto}},
		Set: func(o *Tuning, v knob.Value) { o.Packets = v.Int() }})
	if relayed {
		list = append(list, knob.Of[Tuning]{Knob: knob.Knob{Name: "wait", Time: true, Most: 10000,
			Default: "100ms", Flag: "wait",
			About:  "how long a tick waits beyond its time for somebody's command, at the relay",
			Levels: []string{"0s", "20ms", "50ms", "100ms", "200ms"}},
			Set: func(o *Tuning, v knob.Value) {
				if o.Wait = v.Duration(); o.Wait == 0 {
					o.Wait = -1 // zero has another meaning
				}
			}})
	}
	return list
}
