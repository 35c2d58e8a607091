package client

import (
	"slices"

	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// alreadyTold knows of which reliable events a client was told, so that it is not told twice when
// another server begins with what is kept for latecomers, or is a little behind.
type alreadyTold struct {
	saved  map[world.Emitted]bool
	recent []world.Emitted // the last that are not saved, in a ring
	at     int             // where the next of them goes
	open   []world.Emitted // of those that are saved, what the server may take back
	doubts []world.Emitted // the same of the server before, until this one speaks of it
}

// recentEvents is how many events are remembered that are not kept for latecomers.
const recentEvents = 256

// savedEvents bounds how many are remembered that are kept for latecomers: more than a world that
// keeps to its limits has.
const savedEvents = 1 << 16

// hear remembers an event, and says whether it was heard before.
func (h *alreadyTold) hear(e *replica.Event) bool {
	if e.Retracted {
		h.forget(e.Emitted)
		return false
	}
	if e.Delivery != world.Saved {
		return h.hearRecent(e.Emitted)
	}
	h.doubts = without(h.doubts, e.Emitted)
	if e.Provisional && len(h.open) < recentEvents && !slices.Contains(h.open, e.Emitted) {
		h.open = append(h.open, e.Emitted)
	}
	if h.saved[e.Emitted] {
		return true
	}
	if h.saved == nil {
		h.saved = map[world.Emitted]bool{}
	}
	if len(h.saved) < savedEvents {
		h.saved[e.Emitted] = true
	}
	return false
}

func (h *alreadyTold) hearRecent(e world.Emitted) bool {
	if slices.Contains(h.recent, e) {
		return true
	}
	if len(h.recent) < recentEvents {
		h.recent = append(h.recent, e)
		return false
	}
	h.recent[h.at] = e
	h.at = (h.at + 1) % recentEvents
	return false
}

// forget is told of an event that did not happen: if it does after all, it is news.
func (h *alreadyTold) forget(e world.Emitted) {
	delete(h.saved, e)
	h.open, h.doubts = without(h.open, e), without(h.doubts, e)
	if i := slices.Index(h.recent, e); i >= 0 {
		h.recent[i] = world.Emitted{}
	}
}

// moved is told that another server goes on.
func (h *alreadyTold) moved() {
	h.doubts = append(h.doubts, h.open...)
	h.open = h.open[:0]
}

// certain forgets what the server takes back no more. It gives what the server before believed to
// have happened, and this one, which is certain by now, has not spoken of: that did not happen. Of
// an entity that the client does not see a server is silent, so what was told of it stays.
func (h *alreadyTold) certain(t world.Tick, sees func(world.ID) bool) (never []world.Emitted) {
	h.open = slices.DeleteFunc(h.open, func(e world.Emitted) bool { return e.Tick <= t })
	for _, e := range slices.Clone(h.doubts) {
		switch {
		case e.Tick > t:
		case e.About == world.None || sees(e.About):
			never = append(never, e)
			h.forget(e)
		default:
			h.doubts = without(h.doubts, e)
		}
	}
	return never
}

func without(list []world.Emitted, e world.Emitted) []world.Emitted {
	return slices.DeleteFunc(list, func(x world.Emitted) bool { return x == e })
}
