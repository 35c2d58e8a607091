package predict

import (
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// repredict computes again what no longer follows from what is known, up to a tick.
func (c *Client) repredict(t world.Tick) {
	if c.past.valid < t {
		c.stats.Repredictions++
		c.setAside()
		for c.past.valid < t {
			c.stats.Steps++
			c.predict(c.past.valid + 1)
		}
	}
	if t < c.past.now {
		return
	}
	c.putBack()
	c.notices.conclude()
	if c.stale {
		c.correct()
		c.stale, c.pairs = false, c.pairs[:0]
	}
}

// predict computes the world of a tick from the one before.
func (c *Client) predict(t world.Tick) {
	w := c.past.at(t)
	c.fail(w.Host().CopyFrom(c.past.at(t - 1)))
	if c.aims.where != nil {
		c.aims.tick = t
		w.Host().SetShown(c.o.Player, c.aims.where)
	}
	c.fail(w.Host().Step(c.past.in(t)))
	c.past.valid = t
	if c.mixed() {
		c.hold(w)
	}
	c.notices.again(t)
	for e, v := range w.Host().Happened {
		if !c.mixed() || e.By == world.None || c.caused(w, e.By) {
			c.notices.foresee(e, v)
		}
	}
}

// mixed says whether some of what is in the predicted worlds is not predicted.
func (c *Client) mixed() bool {
	return c.style != None && (c.style != Doom3 || c.modes)
}

// predicts says whether what someone owns is stepped here.
func (c *Client) predicts(x *class, owner world.Player) bool {
	return x.predicts(c.style, owner != world.Nobody && owner == c.o.Player)
}

// steps says whether an entity of a world is stepped here.
func (c *Client) steps(w *world.World, id world.ID) bool {
	owner := w.Owner(id)
	return c.predicts(c.classes[id.Class()], owner)
}

// caused says whether what an entity did in a tick was computed here. What ended by it, as a shot
// that struck, is no more, and belonged to who had it before.
func (c *Client) caused(w *world.World, id world.ID) bool {
	if before := c.past.at(w.Tick() - 1); !w.Has(id) && before.Has(id) {
		return c.steps(before, id)
	}
	return c.steps(w, id)
}

// drop takes the entities of some classes out of a world to which something applies.
func (c *Client) drop(w *world.World, from, to int, applies func(id world.ID) bool) {
	c.gone = c.gone[:0]
	for i := from; i < to; i++ {
		for id := range w.Host().Of(i) {
			if applies(id) {
				c.gone = append(c.gone, id)
			}
		}
	}
	for _, id := range c.gone {
		w.Host().Drop(id)
	}
}

// hold takes out of a world what is not predicted, and puts what stands in the way where it was
// last told to be.
func (c *Client) hold(w *world.World) {
	c.drop(w, 0, len(c.classes), func(id world.ID) bool {
		return !c.steps(w, id) && (!c.classes[id.Class()].o.Obstacle || !c.truth.Has(id))
	})
	for i, x := range c.classes {
		if !x.o.Obstacle || x.predicts(c.style, false) {
			continue
		}
		for id := range c.truth.Host().Of(i) {
			if owner := c.truth.Owner(id); owner == world.Nobody || owner != c.o.Player {
				c.fail(w.Host().Take(c.truth, id))
			}
		}
	}
}

// stepAlone predicts again only what was wrong, in a world of its own.
func (c *Client) stepAlone() {
	c.stats.Alone += len(c.wrong)
	c.fail(c.alone.Host().CopyFrom(c.plain))
	c.alone.Host().SetTick(c.known)
	for i, x := range c.classes {
		if x.info.State() {
			for id := range c.truth.Host().Of(i) {
				c.fail(c.alone.Host().Take(c.truth, id))
			}
		}
	}
	from := c.past.at(c.known)
	for _, id := range c.wrong {
		c.fail(c.alone.Host().Take(c.truth, id))
		c.fail(from.Host().Take(c.truth, id))
	}
	for t := c.known + 1; t <= c.past.valid; t++ {
		in := c.past.in(t)
		if t == c.known+1 && c.a != nil { // what players held down before goes on
			in = c.past.scratch
			c.fail(in.CopyFrom(c.past.in(t)))
			for p := range from.Players {
				if in.Command(p) == nil && from.Host().CommandImage(p, c.a) && p != c.o.Player {
					c.fail(in.GiveImage(p, c.a))
				}
			}
		}
		c.fail(c.alone.Host().Step(in))
		w := c.past.at(t)
		for _, id := range c.wrong {
			if c.alone.Host().Image(id) != nil {
				c.fail(w.Host().Take(c.alone, id))
			} else {
				w.Host().Drop(id)
			}
		}
		for e, v := range c.alone.Host().Happened {
			if slices.Contains(c.wrong, e.By) {
				c.notices.foresee(e, v)
			}
		}
	}
}

// leaping is what became of classes that leap. While aside is true, saved holds their entities and
// the worlds do not.
type leaping struct {
	leapers, modes bool // some class leaps; some class has a mode of its own
	saved          []leaper
	aside          bool
}

// A leaper is an entity that waits in the present while the rest is predicted again.
type leaper struct {
	id    world.ID
	entry world.Entry
	image []int32
}

// leap sees that an entity whose class leaps is where the truth leads to.
func (c *Client) leap(x *class, id world.ID) {
	w := c.past.at(c.past.now)
	ticks := int32(c.past.now - c.known)
	copy(x.image, c.truth.Host().Image(id))
	if ticks > 0 {
		x.o.Leap(c.truth.Host().Image(id), ticks, x.image)
	}
	was := w.Host().Image(id)
	if was != nil {
		x.report.Compared++
		if slices.Equal(was, x.image) {
			return
		}
		x.report.differ(c.known, id, x.fields.slots, was, x.image)
		c.stats.Leaps++
	}
	e := c.truth.Host().Entry(id)
	c.fail(w.Host().Put(id, e, x.image))
	if c.aside {
		i := slices.IndexFunc(c.saved, func(l leaper) bool { return l.id == id })
		if i < 0 {
			c.save(id, e, x.image)
		} else {
			c.saved[i].entry = e
			copy(c.saved[i].image, x.image)
		}
	}
}

func (c *Client) save(id world.ID, e world.Entry, image []int32) {
	n := len(c.saved)
	if n == cap(c.saved) {
		c.saved = append(c.saved, leaper{})
	} else {
		c.saved = c.saved[:n+1] // with the memory it had
	}
	l := &c.saved[n]
	l.id, l.entry, l.image = id, e, append(l.image[:0], image...)
}

// setAside takes what leaps out of the worlds that are to be predicted again.
func (c *Client) setAside() {
	if !c.leapers || c.aside {
		return
	}
	c.aside = true
	c.saved = c.saved[:0]
	w, start := c.past.at(c.past.now), c.past.at(c.past.valid)
	for i, x := range c.classes {
		if x.o.Leap == nil {
			continue
		}
		for id := range w.Host().Of(i) {
			c.save(id, w.Host().Entry(id), w.Host().Image(id))
		}
		c.drop(start, i, i+1, func(world.ID) bool { return true })
	}
}

// putBack puts it back.
func (c *Client) putBack() {
	if !c.leapers {
		return
	}
	w := c.past.at(c.past.now)
	if c.aside {
		c.aside = false
		for i := range c.saved {
			if l := &c.saved[i]; l.id.Allocator() == world.Predicted || c.truth.Has(l.id) {
				c.fail(w.Host().Put(l.id, l.entry, l.image))
			}
		}
	}
	// The worlds between do not tell who left.
	for i, x := range c.classes {
		if x.o.Leap == nil {
			continue
		}
		c.drop(w, i, i+1,
			func(id world.ID) bool { return id.Allocator() != world.Predicted && !c.truth.Has(id) })
	}
}

// correct compares the present with what it was taken for before the news, and lets what is shown
// go over from the one to the other.
func (c *Client) correct() {
	w := c.past.at(c.past.now)
	for i, x := range c.classes {
		if x.info.State() || len(x.fields.place) == 0 {
			continue
		}
		for id := range w.Host().Of(i) {
			is, was := w.Host().Image(id), c.before.Host().Image(id)
			if was == nil {
				for _, p := range c.pairs {
					if p.to == id {
						was = c.before.Host().Image(p.from)
					}
				}
			}
			if was == nil || slices.Equal(is, was) || !c.steps(w, id) {
				continue
			}
			d, snapped := c.blends.correct(x, id, was, is)
			if d > 0 && len(c.moved) < maxPending {
				c.moved = append(c.moved,
					Correction{Tick: c.past.now, Entity: id, Distance: d, Snapped: snapped})
			}
		}
	}
}
