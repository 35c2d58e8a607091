package tunnel

import (
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/world"
)

// turning adds up by how much bodies change their motion from one tick to the next. On the screen
// that is what was guessed and put right, beside what is true.
type turning struct {
	Sum float64
	N   int
}

// add looks at the bodies of three ticks, but for those of one player. One that was born again
// between them does not count.
func (x *turning) add(a, b, c []session.Pose, but world.Player) {
	for i := range c {
		now := &c[i]
		if now.Owner == but && but != world.Nobody {
			continue
		}
		last, first := find(b, now.ID), find(a, now.ID)
		if last == nil || first == nil || last.Life != now.Life || first.Life != now.Life {
			continue
		}
		x.Sum += now.At.Sub(last.At).Sub(last.At.Sub(first.At)).Len()
		x.N++
	}
}

func (x *turning) mean() float64 { return x.Sum / float64(max(x.N, 1)) }
