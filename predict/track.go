package predict

import (
	"slices"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// tracks hold what a client was sent about each entity of late, to show it at any moment between.
type tracks struct{ pool[track] }

// A track is the recent past of one entity.
type track struct {
	kept [tracked]sample // the oldest first
	n    int
	gone world.Tick // when it left the view or ended; 0 while it is there
}

// A sample is an image and the ticks at which it is known to have been true.
type sample struct {
	from, until world.Tick
	entry       world.Entry
	image       []int32
}

// tracked is how many images are kept of an entity: at twenty snapshots a second, half a second of
// motion.
const tracked = 12

// held notes the image of an entity at a tick.
func (ts *tracks) held(t world.Tick, id world.ID, e world.Entry, image []int32) {
	tr := ts.of[id]
	if tr == nil {
		tr = ts.add(id)
		tr.n, tr.gone = 0, 0
	}
	if tr.gone != 0 {
		if t < tr.gone {
			return // from before it left
		}
		tr.n, tr.gone = 0, 0
	}
	if tr.n > 0 {
		last := &tr.kept[tr.n-1]
		if t <= last.until {
			return // older than what is known
		}
		if last.entry == e && slices.Equal(last.image, image) {
			last.until = t
			return
		}
	}
	if tr.n == tracked {
		first := tr.kept[0]
		copy(tr.kept[:], tr.kept[1:])
		tr.kept[tracked-1] = first // its memory is used again
		tr.n--
	}
	s := &tr.kept[tr.n]
	tr.n++
	s.from, s.until, s.entry = t, t, e
	s.image = append(s.image[:0], image...)
}

// left notes that an entity was not there any more at a tick.
func (ts *tracks) left(t world.Tick, id world.ID) {
	if tr := ts.of[id]; tr != nil && tr.gone == 0 && tr.n > 0 && t > tr.kept[tr.n-1].from {
		tr.gone = t
	}
}

// prune forgets what left before the moment that is shown.
func (ts *tracks) prune(view float64) {
	for id, tr := range ts.of {
		if tr.gone != 0 && float64(tr.gone) <= view {
			ts.remove(id)
		}
	}
}

// at sets dst to the image of an entity at a moment: between two images where there are two, and
// beyond the last for no longer than a limit in ticks. It is not ok when the entity was not there.
func (tr *track) at(c *class, view float64, limit float64, dst []int32) (e world.Entry, ok bool) {
	if tr.n == 0 || view < float64(tr.kept[0].from) || tr.gone != 0 && view >= float64(tr.gone) {
		return e, false
	}
	i := tr.n - 1
	for float64(tr.kept[i].from) > view {
		i--
	}
	s := &tr.kept[i]
	switch {
	case view <= float64(s.until):
		copy(dst, s.image)
	case i+1 < tr.n:
		next := &tr.kept[i+1]
		if c.leaps(s.image, next.image) {
			copy(dst, s.image)
			break
		}
		c.fields.between(dst, s.image, next.image,
			(view-float64(s.until))/float64(next.from-s.until))
	default:
		tr.extrapolate(c, min(view-float64(s.until), limit), dst)
	}
	return s.entry, true
}

// last is the newest image from before a moment.
func (tr *track) last(view float64) []int32 {
	i := tr.n - 1
	for i > 0 && float64(tr.kept[i].from) > view {
		i--
	}
	return tr.kept[i].image
}

// extrapolate goes on from the last image by some ticks.
func (tr *track) extrapolate(c *class, ticks float64, dst []int32) {
	last := &tr.kept[tr.n-1]
	copy(dst, last.image)
	switch {
	case c.o.Reckon != nil:
		var h codec.History
		h.Add(last.image, round(ticks))
		for i := tr.n - 2; i >= 0 && h.Len < codec.Depth; i-- {
			h.Add(tr.kept[i].image, round(ticks)+int32(last.until-tr.kept[i].until))
		}
		c.o.Reckon(&h, dst)
	case tr.n > 1 && last.from == last.until:
		before := &tr.kept[tr.n-2]
		if !c.leaps(before.image, last.image) {
			c.fields.beyond(dst, before.image, last.image, ticks/float64(last.from-before.until))
		}
	}
}
