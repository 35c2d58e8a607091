package predict

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// Event takes a reliable event, as replica.Receiver.Events gives it. Take those before the
// snapshots that came with them.
func (c *Client) Event(e *replica.Event) {
	if e.Delivery == world.Saved {
		// What is kept for latecomers is part of the world, and of every copy of it.
		for t := max(min(e.Tick, c.past.now),
			c.past.now-min(c.past.now, c.o.Keep)); t <= c.past.now && c.style != None; t++ {
			if c.any && c.past.has(t) {
				c.fail(e.Deliver(c.past.at(t)))
			}
		}
		c.fail(e.Deliver(c.truth))
	}
	c.told(e)
}

func (c *Client) told(e *replica.Event) {
	var buf [1 << 10]byte
	data, r := buf[:0], e.Fields()
	for r.Left() > 0 && len(data) < len(buf) {
		data = append(data, byte(r.ReadBits(min(8, r.Left()))))
	}
	c.notices.present = max(c.notices.present, c.past.now)
	if e.Retracted {
		c.notices.retract(e.Emitted, data)
		return
	}
	c.notices.told(e.Emitted, data, c.mixed() && float64(e.Tick) > c.seen && !c.mine(e.By),
		e.Provisional)
}

// mine says whether an entity belongs to who plays here.
func (c *Client) mine(id world.ID) bool {
	return c.o.Player != world.Nobody && c.any && c.past.at(c.past.now).Owner(id) == c.o.Player
}

// Snapshot takes a packet's worth of news. It compares them with what was predicted for that tick;
// where something differs, the ticks since are predicted again, when they are next needed. The news
// may come from a stranger; what is no image of the game is left out.
func (c *Client) Snapshot(now time.Duration, s *replica.Snapshot) {
	c.stats.Snapshots++
	if c.style == None {
		c.takePlain(now, s)
		return
	}
	t := c.player(s)
	if !c.any {
		c.begin(t)
	}
	if !c.clock.Running() {
		c.clock.Start(now, s.Tick, c.trip)
	}
	c.clock.Saw(now, s.Tick)
	if s.Report {
		c.clock.Report(now, s.Tick, s.Early)
		c.stats.Repeated += s.Repeated
	}
	c.playout.Arrived(now, s.Tick)
	if s.Tick > c.latest && t < c.known {
		c.known = t // it began to execute commands at their ticks, or anew
	}
	newer := t > c.known
	if s.Tick > c.latest {
		c.came = now
	}
	c.latest = max(c.latest, s.Tick)
	c.take(s, t)
	for i := range s.Events {
		c.told(&s.Events[i])
	}
	c.notices.sure(s.Settled)
	if t > c.past.now {
		c.known = t
		c.catchUp(t)
		c.relay(s)
		return
	}
	if !c.stale { // what is shown now was predicted without these news
		c.repredict(c.past.now)
		c.fail(c.before.Host().CopyFrom(c.past.at(c.past.now)))
		c.stale = true
	}
	if t < c.known {
		c.stats.Overtaken++
		c.compare(false) // what it brought is older than what is compared, but what left is gone
		return
	}
	c.known = t
	if newer {
		c.repredict(t)
	}
	c.compare(s.Certain)
	c.relay(s)
	if s.Certain {
		c.certain = t
	}
}

// player is the tick of the player that a snapshot is of: the server's, or if the server executes
// commands as they come, that of the last one it has executed. What is predicted here follows from
// the player's commands alone, where it is not all that is in view.
func (c *Client) player(s *replica.Snapshot) world.Tick {
	if s.Report {
		if c.ahead = 0; s.Acted != 0 && c.style != Doom3 {
			c.ahead = int64(s.Acted) - int64(s.Tick)
		}
	}
	return world.Tick(max(int64(s.Tick)+c.ahead, 1))
}

// begin starts with the first snapshot.
func (c *Client) begin(t world.Tick) {
	c.any = true
	c.known = t
	c.past.now, c.past.valid = t, t
	w := c.past.at(t)
	c.fail(w.Host().CopyFrom(c.plain))
	w.Host().SetTick(t)
}

// catchUp is for news from beyond what was predicted: after a pause, or when the clock is behind.
// They are the present then.
func (c *Client) catchUp(t world.Tick) {
	c.stats.Behind++
	c.stale, c.pairs = false, c.pairs[:0]
	c.blends.clear()
	w := c.past.at(t)
	c.fail(w.Host().CopyFrom(c.past.at(c.past.valid)))
	w.Host().SetTick(t)
	c.past.now, c.past.valid = t, t
	c.compare(true)
	c.past.valid = t
}

// take brings the truth up to date, and the tracks of what is interpolated, by a snapshot that is
// of the player's tick t.
func (c *Client) take(s *replica.Snapshot, t world.Tick) {
	older := t < c.known
	if !older {
		c.truth.Host().SetTick(s.Tick)
	}
	if s.Certain && !older {
		c.outdated = c.outdated[:0]
		c.unseen = s.Behind
		for _, id := range s.Deferred {
			if c.truth.Has(id) {
				c.outdated = insert(c.outdated, id)
			} else {
				c.unseen = true
			}
		}
	}
	for i := range s.Updates {
		u := &s.Updates[i]
		if u.What != replica.Held {
			c.truth.Host().Drop(u.ID)
			c.tracks.left(s.Tick, u.ID)
			if u.What == replica.Left {
				c.notices.left(u.ID, c.known)
			}
			continue
		}
		if err := c.truth.Host().Put(u.ID, u.Entry, u.Image); err != nil {
			c.fail(err)
			continue
		}
		c.prime(u)
		if older {
			c.outdated = insert(c.outdated, u.ID)
		} else {
			c.outdated = remove(c.outdated, u.ID)
		}
		c.track(s.Tick, u.ID, u.Entry, u.Image)
	}
	if s.Certain && !older {
		for id, tr := range c.tracks.of {
			if tr.gone == 0 && tr.n > 0 && !c.isOutdated(id) && !c.classes[id.Class()].o.Sparse {
				tr.kept[tr.n-1].until = max(tr.kept[tr.n-1].until, s.Tick)
			}
		}
	}
	c.ids = c.ids[:0]
	for i := range s.Updates {
		c.ids = append(c.ids, s.Updates[i].ID)
	}
	slices.Sort(c.ids)
}

// prime makes room for a class in every world, when the first of its entities comes. Otherwise a
// world that is copied over from one in which there are none would give its memory up, and take it
// anew each time.
func (c *Client) prime(u *replica.Update) {
	kind := u.ID &^ (1<<44 - 1) // class and allocator
	if slices.Contains(c.primed, kind) {
		return
	}
	c.primed = append(c.primed, kind)
	for _, id := range []world.ID{u.ID, world.MakeID(u.ID.Class(), world.Predicted, 0, 1)} {
		if c.classes[id.Class()].info.State() {
			return
		}
		for _, w := range append(c.past.worlds, c.plain, c.shown, c.alone, c.before) {
			if !w.Has(id) && w.Host().Put(id, u.Entry, u.Image) == nil {
				w.Host().Drop(id)
			}
		}
	}
}

// track remembers an image of what is interpolated.
func (c *Client) track(t world.Tick, id world.ID, e world.Entry, image []int32) {
	x := c.classes[id.Class()]
	if !c.predicts(x, e.Owner) {
		c.tracks.held(t, id, e, image)
	} else if len(c.tracks.of) > 0 {
		c.tracks.left(t, id)
	}
}

func insert(list []world.ID, id world.ID) []world.ID {
	if i, ok := slices.BinarySearch(list, id); !ok {
		return slices.Insert(list, i, id)
	}
	return list
}

func remove(list []world.ID, id world.ID) []world.ID {
	if i, ok := slices.BinarySearch(list, id); ok {
		return slices.Delete(list, i, i+1)
	}
	return list
}

func (k *knowledge) isOutdated(id world.ID) bool { return found(k.outdated, id) }

// compare holds the truth against what was predicted for its tick, and puts right what differs. If
// not everything is known, it looks only at what was told.
func (c *Client) compare(all bool) {
	w := c.past.at(c.known)
	c.wrong, c.gone = c.wrong[:0], c.gone[:0]
	alone := true
	for i, x := range c.classes {
		for id := range c.truth.Host().Of(i) {
			if (!all || x.o.Sparse) && !found(c.ids, id) && (!all || w.Has(id)) ||
				c.isOutdated(id) || !c.predictable(x, id) {
				continue
			}
			if x.o.Leap != nil {
				c.leap(x, id)
				continue
			}
			if c.right(x, w, id) {
				continue
			}
			c.wrong = append(c.wrong, id)
			alone = alone && x.o.Alone && w.Has(id)
		}
	}
	c.strangers(w, all)
	c.match(w)
	if len(c.wrong)+len(c.gone) == 0 {
		return
	}
	if alone && len(c.gone) == 0 && c.past.valid > c.known {
		c.stepAlone()
		return
	}
	for _, id := range c.gone {
		w.Host().Drop(id)
	}
	for _, id := range c.wrong {
		c.fail(w.Host().Take(c.truth, id))
	}
	c.past.valid = min(c.past.valid, c.known)
}

func found(list []world.ID, id world.ID) bool {
	_, ok := slices.BinarySearch(list, id)
	return ok
}

// predictable says whether an entity belongs into the worlds that are predicted.
func (c *Client) predictable(x *class, id world.ID) bool {
	return c.steps(c.truth, id) || x.o.Obstacle
}

// right compares one entity, and books the result.
func (c *Client) right(x *class, w *world.World, id world.ID) bool {
	is, was := c.truth.Host().Image(id), w.Host().Image(id)
	if was == nil {
		return false // it came into view, or was foreseen to end, or to begin under another name
	}
	same := slices.Equal(is, was) && c.truth.Owner(id) == w.Owner(id)
	if !c.steps(c.truth, id) {
		return same // it stands in the way, and moves without being predicted
	}
	x.report.Compared++
	if same {
		return true
	}
	x.report.differ(c.known, id, x.fields.slots, was, is)
	return false
}

// strangers finds what is predicted and is not in the truth: what left the view, and spawns that
// were foreseen.
func (c *Client) strangers(w *world.World, all bool) {
	c.spawns = c.spawns[:0]
	for id := range w.Entities() {
		switch {
		case id.Allocator() == world.Predicted:
			c.spawns = append(c.spawns, id)
		case !c.truth.Has(id):
			c.gone = append(c.gone, id)
		case c.mixed() && !c.predictable(c.classes[id.Class()], id):
			c.gone = append(c.gone, id)
		}
	}
	patience := c.o.Patience
	if all && !c.unseen {
		patience = 0
	}
	for _, id := range c.spawns {
		if born := w.Origin(id).Tick; born+patience <= c.known && !c.real(w, id) {
			c.stats.SpawnsDenied++
			c.gone = append(c.gone, id)
		}
	}
}

// real says whether a foreseen spawn is among what is about to be put into the world.
func (c *Client) real(w *world.World, id world.ID) bool {
	return slices.ContainsFunc(c.wrong, func(x world.ID) bool {
		return x.Class() == id.Class() && c.truth.Origin(x) == w.Origin(id)
	})
}

// match finds the foreseen spawns that the truth now has under their real identifiers.
func (c *Client) match(w *world.World) {
	for _, p := range c.spawns {
		o := w.Origin(p)
		if o.Tick > c.known {
			continue
		}
		for _, id := range c.wrong {
			if id.Class() == p.Class() && c.truth.Origin(id) == o {
				c.pairs = append(c.pairs, pair{p, id})
				c.gone = append(c.gone, p)
				c.blends.rename(p, id)
				c.notices.rename(p, id, o.Tick)
				c.stats.SpawnsConfirmed++
				x := c.classes[id.Class()]
				x.report.Compared++
				if was, is := w.Host().Image(p), c.truth.Host().Image(id); !slices.Equal(was, is) {
					x.report.differ(c.known, id, x.fields.slots, was, is)
				}
				break
			}
		}
	}
}

// relay takes the commands of others that a snapshot brought. What they hold down they will go on
// holding, as far as anyone knows; what they did for a moment they do not do again.
func (c *Client) relay(s *replica.Snapshot) {
	if c.a == nil {
		return
	}
	w := c.past.at(c.known)
	for i := range s.Commands {
		r := &s.Commands[i]
		if r.Image == nil || r.Player == c.o.Player || !c.level(r) {
			continue
		}
		if w.Host().CommandImage(r.Player, c.b) && slices.Equal(c.a, c.b) {
			continue
		}
		if c.past.in(c.known+1).GiveImage(r.Player, c.a) == nil {
			c.past.valid = min(c.past.valid, c.known)
			c.stats.Relayed++
		}
	}
}

// level makes in c.a what is left of a command when it is repeated.
func (c *Client) level(r *replica.Relayed) bool {
	in := c.past.scratch
	in.Reset()
	return in.GiveImage(r.Player, r.Image) == nil && in.Repeat(r.Player) && in.Image(r.Player, c.a)
}

func (c *Client) fail(err error) {
	if err != nil && c.err == nil {
		c.err = err
	}
}
