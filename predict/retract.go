package predict

import (
	"bytes"
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// A server whose world may be taken back tells of events that may be retracted. What was shown and
// is retracted is told to the game; what was not shown yet is left out, and what only turns out to
// have been a little earlier or later stays as it was shown.

// doubt remembers an event that may be retracted. If there are too many, the first is taken for
// certain.
func (n *notices) doubt(b belief, provisional bool) {
	if !provisional {
		return
	}
	if len(n.doubted) >= maxPending {
		n.doubted = slices.Delete(n.doubted, 0, 1)
	}
	n.doubted = append(n.doubted, b)
}

// retract takes back an event of which the server told. What is not among those in doubt was never
// shown, or is certain.
func (n *notices) retract(e world.Emitted, data []byte) {
	i := slices.IndexFunc(n.doubted, func(b belief) bool { return b.Emitted == e })
	if i < 0 {
		return
	}
	b := n.doubted[i]
	n.doubted = slices.Delete(n.doubted, i, i+1)
	if d := n.decision(&e); d != nil {
		// and it is not foreseen again, as the prediction that would do so knows less
		d.undone = true
	}
	if n.unshow(&n.held, &e) || n.unshow(&n.list, &e) {
		return
	}
	n.list = append(n.list,
		Notice{Emitted: b.first, What: Retracted, Believed: n.span(b.since), data: n.copy(data),
			told: e})
}

// unshow leaves out an event that was to be shown, and says whether it was not yet.
func (n *notices) unshow(list *[]Notice, e *world.Emitted) bool {
	i := slices.IndexFunc(*list,
		func(x Notice) bool { return x.What == Happened && x.Emitted == *e })
	if i < 0 {
		return false
	}
	n.free = append(n.free, (*list)[i].data)
	*list = slices.Delete(*list, i, i+1)
	return true
}

// moved says whether an event is one that was just retracted and happened all the same, perhaps a
// little earlier or later. It was shown, and stays so.
func (n *notices) moved(e world.Emitted, data []byte, provisional bool) bool {
	i := slices.IndexFunc(n.list, func(x Notice) bool {
		t := &x.told
		off := max(t.Tick, e.Tick) - min(t.Tick, e.Tick)
		return x.What == Retracted && t.Kind == e.Kind && t.About == e.About && t.By == e.By &&
			off <= moves && (e.By != world.None || off == 0) && bytes.Equal(x.data, data)
	})
	if i < 0 {
		return false
	}
	x := n.list[i]
	n.free = append(n.free, x.data)
	n.list = slices.Delete(n.list, i, i+1)
	if d := n.decision(&x.Emitted); d != nil {
		d.undone = false // what is shown under this name is taken
	}
	if d := n.decision(&e); d != nil {
		d.undone = false
	} else {
		n.decide(e)
	}
	since := n.present - min(n.present, world.Tick(x.Believed/n.length))
	if provisional {
		n.doubt(belief{e, x.Emitted, since}, true)
	} else {
		n.list = append(n.list, Notice{Emitted: x.Emitted, What: Settled})
	}
	return true
}

// sure tells what is certain, now that the server takes nothing back up to a tick.
func (n *notices) sure(t world.Tick) {
	n.doubted = slices.DeleteFunc(n.doubted, func(b belief) bool {
		if b.Tick > t {
			return false
		}
		if i := slices.IndexFunc(n.held,
			func(x Notice) bool { return x.Emitted == b.Emitted }); i >= 0 {
			n.held[i].Provisional = false // it was not shown yet
		} else {
			n.list = append(n.list, Notice{Emitted: b.first, What: Settled})
		}
		return true
	})
}
