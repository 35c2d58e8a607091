package client

import (
	"maps"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// carriedOver are the entities that a client saw at one server when it went on at another, and of
// which the new one has said nothing yet. They stay in view, so that nothing vanishes for a moment;
// when the new server has told of all that it shows, whatever is left is gone.
type carriedOver struct {
	left  map[world.ID]bool
	start *world.World // the states of which need not be told; nil if the server tells of all
	until time.Duration
}

func newCarriedOver(view, start *world.World, until time.Duration) *carriedOver {
	h := &carriedOver{left: map[world.ID]bool{}, start: start, until: until}
	for i := range view.Game().Classes() {
		for id := range view.Host().Of(i) {
			h.left[id] = true
		}
	}
	return h
}

// update takes note of what a snapshot tells. It adds to it what is to be done about the rest, and
// says so, when it is the last: one that is certain and brings nothing that the new server had not
// told of before.
func (h *carriedOver) update(now time.Duration, view *world.World, s *replica.Snapshot) bool {
	news := false
	for i := range s.Updates {
		u := &s.Updates[i]
		news = news || h.left[u.ID] || u.What == replica.Held && !view.Has(u.ID)
		delete(h.left, u.ID)
	}
	if (news || !s.Certain) && now < h.until {
		return false
	}
	classes := view.Game().Classes()
	for _, id := range slices.Sorted(maps.Keys(h.left)) {
		u := replica.Update{ID: id, What: replica.Left}
		if classes[id.Class()].State() {
			if h.start == nil || !h.start.Has(id) {
				continue
			}
			image := h.start.Host().Image(id)
			if slices.Equal(image, view.Host().Image(id)) {
				continue
			}
			u.What, u.Entry, u.Image = replica.Held, h.start.Host().Entry(id), slices.Clone(image)
		}
		s.Updates = append(s.Updates, u)
	}
	return true
}
