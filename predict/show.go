package predict

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// Show gives the world to draw: what is predicted as it is at the client's tick, with errors on
// their way out, and what is interpolated as it was a moment ago. Its events are those to be shown
// now, each once. It is good until the next call, and is to be left as it is.
func (c *Client) Show(now time.Duration) *world.World {
	if c.style == None {
		return c.showPlain()
	}
	if !c.any {
		return c.shown
	}
	c.repredict(c.past.now)
	w := c.shown
	c.fail(w.Host().CopyFrom(c.past.at(c.past.now)))
	w.Host().SetTick(c.past.now) // events that were predicted again are no news
	for id, b := range c.blends.of {
		if image := w.Host().Image(id); image != nil {
			copy(b.class.image, image)
			b.show(b.class.image)
			// where a game does not allow it there, it is shown where it is
			_ = w.Host().Put(id, w.Host().Entry(id), b.class.image)
		}
	}
	if c.mixed() {
		c.interpolate(now)
	}
	c.notices.release(c.seen)
	c.hand(w)
	return w
}

// hand gives a world the events that are to be shown with it.
func (c *Client) hand(w *world.World) {
	c.handed = c.notices.take(c.handed)
	for i := range c.handed {
		if n := &c.handed[i]; n.Shows() {
			c.reader.Reset(n.data)
			c.fail(w.Host().Deliver(n.Emitted, &c.reader))
		}
	}
}

// interpolate puts into the world to draw what is shown as it was.
func (c *Client) interpolate(now time.Duration) {
	w := c.shown
	c.seen = c.playout.At(now)
	told := c.seen // what belongs to nobody is shown at
	if c.style == QuakeWorld {
		told, c.seen = float64(c.latest), c.carried(now)
	}
	c.drop(w, 0, len(c.classes), func(id world.ID) bool { return !c.steps(w, id) })
	for id, tr := range c.tracks.of {
		x := c.classes[id.Class()]
		view := c.seen
		if tr.n > 0 && tr.kept[tr.n-1].entry.Owner == world.Nobody {
			view = told
		}
		e, ok := tr.at(x, view, float64(c.o.Extrapolate), x.image)
		switch {
		case !ok:
		case c.truth.Host().Entry(id) == e && slices.Equal(c.truth.Host().Image(id), x.image):
			c.fail(w.Host().Take(c.truth, id))
		case w.Host().Put(id, e, x.image) != nil:
			// an image between two may be none that the game has
			c.fail(w.Host().Put(id, e, tr.last(c.seen)))
		}
	}
	c.tracks.prune(c.seen)
}

// carried is the moment at which QuakeWorld shows other players: by the time since the newest state
// came, and a fiftieth of a second, but only by half of it, so that who stops is not overrun by
// much (CL_LinkPlayers in cl_ents.c of the released source).
func (c *Client) carried(now time.Duration) float64 {
	const margin, most = 20 * time.Millisecond, 255 * time.Millisecond
	since := min(max(now-c.came, 0)+margin, most)
	return float64(c.latest) + float64(since.Seconds()*float64(c.game.Rate())/2)
}

// Seen is the moment that interpolated things are shown at, in ticks and parts of them: what a
// server is told of a shooter. Where everything is predicted it is the client's
// tick.
func (c *Client) Seen() float64 {
	switch c.style {
	case Doom3:
		return float64(c.past.now)
	case None:
		return float64(c.known)
	}
	return c.seen
}

// Notices are those about the events of the world that Show gave last, and about earlier ones. They
// are good until the next Show.
func (c *Client) Notices() []Notice { return c.handed }
