package lab

import (
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// begun makes a guest ready to play in the world that its client was told of. The server shows
// nothing of it before it has heard that the client is ready, so no command comes before this.
func (u *feelGuest) begun(v *client.View) {
	u.me = v.Me
	u.probe = v.Truth.Host().Clone()
	for i := range u.commands {
		u.commands[i].image = make([]int32, len(u.run.g.Game.Commands().Slots))
	}
}

// command asks the bot, which is shown what the client shows, and notes what the bot will see of it.
func (u *feelGuest) command(t world.Tick, _ world.Player, shown *world.World, in *world.Inputs) {
	u.run.fail(u.bot(shown, u.me, t, in))
	c := &u.commands[t%feelTicks]
	c.tick, c.seen = 0, world.Nobody
	if !in.Image(u.me, c.image) {
		return
	}
	c.tick = t
	if u.run.g.Shots.Hits == nil {
		return
	}
	// What would come of it if what is shown were true?
	if u.probe.Host().CopyFrom(shown) != nil {
		return
	}
	u.in.Reset()
	if u.in.GiveImage(u.me, c.image) == nil {
		_ = u.probe.Host().Step(u.in) // a game may complain of a world that was put together; what counts is whether there was a hit
		u.run.g.Hits(u.probe, func(h game.Hit) bool {
			if h.Direct && h.By == u.me && h.Victim != u.me {
				c.seen = h.Victim
			}
			return true
		})
	}
}

// frame is what a player's program does at each tick of its own.
func (u *feelGuest) frame() {
	r := u.run
	v := u.client.Frame(r.net.Now(), u.command)
	if v.Began {
		u.begun(&v)
	}
	if v.Ended {
		r.fail(v.Err)
	}
	if !v.Fresh {
		return
	}
	w, c := v.World, u.client.Predict()
	s := &u.shown[w.Tick()%feelTicks]
	s.tick, s.poses = w.Tick(), s.poses[:0]
	for id := range w.Host().Of(r.body) {
		if p, alive := r.pose(w, id); alive {
			s.poses = append(s.poses, p)
		}
	}
	r.g.Hits(w, func(h game.Hit) bool {
		if h.Victim == u.me {
			u.feared = w.Tick()
		}
		return true
	})
	for i := range v.Notices {
		switch v.Notices[i].What {
		case predict.Foreseen:
			r.foreseen++
		case predict.Denied:
			r.denied++
		}
	}
	own := c.Corrections()
	if !r.measure {
		return
	}
	for _, x := range own {
		if w.Owner(x.Entity) == u.me && x.Entity.Class() == r.body && x.Distance > r.g.Width()/20 {
			u.corrected(w, x)
		}
	}
	r.looks++
	r.ahead += c.Clock().Ahead()
	r.behind += c.Playout().Behind()
	u.inputLags += float64(u.client.Sent() - min(u.client.Sent(), w.Tick()))
	u.inputs++
}

// corrected books a correction of the player's own body by its cause.
func (u *feelGuest) corrected(w *world.World, x predict.Correction) {
	r := u.run
	r.corrections++
	known := u.client.Predict().Known()
	// The news of a hit come with one of the next snapshots; one that was foreseen, and did not happen, is taken back as late as that.
	if u.struck+12 >= known || u.feared >= known {
		r.struck++
		return
	}
	// What was predicted since the snapshot is what turned out to be wrong.
	for t := known; t <= w.Tick(); t++ {
		if u.close(&u.shown[t%feelTicks], t) {
			r.contact++
			return
		}
	}
}

// close says whether another body was next to the player's own, as it was shown at a tick.
func (u *feelGuest) close(s *feelShown, t world.Tick) bool {
	if s.tick != t {
		return false
	}
	for _, own := range s.poses {
		if own.owner != u.me {
			continue
		}
		for _, p := range s.poses {
			if p.owner != u.me && p.at.Sub(own.at).Len() < 2*u.run.g.Width() {
				return true
			}
		}
	}
	return false
}

// after is called after each tick of the server.
func (r *feelRun) after(w *world.World, in *world.Inputs) {
	t := w.Tick()
	if r.rewind != nil {
		r.rewind.Remember(w)
	}
	r.consult(w, in)
	r.hits = r.hits[:0]
	r.g.Hits(w, func(h game.Hit) bool {
		r.hits = append(r.hits, h)
		return true
	})
	for _, u := range r.guests {
		if u.probe == nil {
			continue
		}
		for _, h := range r.hits {
			if h.Victim == u.me {
				u.struck = t
			}
		}
		for id := range w.Host().Of(r.body) {
			if w.Owner(id) != u.me {
				continue
			}
			if life, alive := game.Lives(w, id); life != u.life || alive != u.alive {
				u.life, u.alive, u.struck = life, alive, t
			}
		}
		if r.measure {
			r.compare(u, w)
			r.judge(u, t)
		}
	}
	if r.measure {
		r.cover(w)
		r.ticks++
	}
}

// consult lets the oracle take its tick: the same commands, each at the tick for which it was given. Every second it starts again from the server's world, since a
// shot that hit in one world and not in the other makes two different games.
func (r *feelRun) consult(w *world.World, in *world.Inputs) {
	if w.Tick()%world.Tick(r.g.Game.Rate()) == 0 {
		r.fail(r.oracle.Host().CopyFrom(w))
		return
	}
	r.in.Reset()
	for _, p := range in.Joins() {
		r.in.Join(p)
	}
	for _, p := range in.Leaves() {
		r.in.Leave(p)
	}
	for _, u := range r.guests {
		if c := &u.commands[w.Tick()%feelTicks]; c.tick == w.Tick() && u.me != world.Nobody {
			r.fail(r.in.GiveImage(u.me, c.image))
		}
	}
	_ = r.oracle.Host().Step(r.in) // the server's world reports the same errors
}

// compare holds what a client showed for a tick against the truth.
func (r *feelRun) compare(u *feelGuest, w *world.World) {
	s := &u.shown[w.Tick()%feelTicks]
	if s.tick != w.Tick() {
		return
	}
	for _, p := range s.poses {
		if !r.oracle.Has(p.id) {
			continue
		}
		truth, alive := r.pose(r.oracle, p.id)
		if !alive || truth.life != p.life {
			continue
		}
		d := float32(p.at.Sub(truth.at).Len())
		if p.owner != u.me {
			r.others = append(r.others, d)
			continue
		}
		r.own = append(r.own, d)
		if is, alive := r.pose(w, p.id); alive && is.life == truth.life {
			r.drift = append(r.drift, float32(is.at.Sub(truth.at).Len()))
		}
	}
}

// judge holds the hits that a shooter saw against those that the server gave.
func (r *feelRun) judge(u *feelGuest, t world.Tick) {
	seen := world.Nobody
	if c := &u.commands[t%feelTicks]; c.tick == t {
		seen = c.seen
	}
	given := world.Nobody
	for _, h := range r.hits {
		if h.Direct && h.By == u.me {
			given = h.Victim
		}
	}
	if seen != world.Nobody {
		r.sum.HitsSeen++
		if given != seen {
			r.sum.HitsDenied++
		}
	} else if given != world.Nobody {
		r.sum.HitsUnseen++
	}
}

// cover counts those who were hit where they could not be hit, as they saw it.
func (r *feelRun) cover(w *world.World) {
	t := w.Tick()
	for _, h := range r.hits {
		if h.Kill {
			r.sum.Deaths++
		}
		if !h.Direct || h.By == h.Victim {
			continue
		}
		r.sum.Hits++
		if h.Kill {
			r.sum.DeathsByHit++
		}
		shooter, ok := r.bodyOf(w, h.By)
		if !ok || int(h.Victim) > len(r.guests) {
			continue
		}
		for _, u := range r.guests {
			s := &u.shown[t%feelTicks]
			if u.me != h.Victim || s.tick != t {
				continue
			}
			for _, p := range s.poses {
				if p.owner == u.me && !r.g.Clear(w, shooter.at, p.at) {
					r.sum.HitsCovered++
					if h.Kill {
						r.sum.DeathsCovers++
					}
				}
			}
		}
	}
}

// mark begins to count.
func (u *feelGuest) mark() {
	if c := u.client.Predict(); c != nil {
		u.start = c.Stats()
		for _, x := range c.Report() {
			u.compared += x.Compared
			u.mistaken += x.Wrong
		}
	}
	n := u.end.Counters()
	u.bytesIn, u.bytesOut = n.ReceivedBytes, n.SentBytes
	u.repeated = u.client.Stats().Repeated
}

// result sums it up.
func (r *feelRun) result() *FeelResult {
	x := &r.sum
	x.Style, x.Network, x.Players, x.Seed = r.style.String(), r.o.Conditions.Name, r.o.Players, r.o.Seed
	x.Seconds = float64(r.ticks) / float64(r.g.Game.Rate())
	x.Own, x.Others, x.Server = summary(r.own), summary(r.others), summary(r.drift)
	each := x.Seconds * float64(r.o.Players)
	minutes := each / 60
	x.Corrections = float64(r.corrections) / minutes
	x.CorrectionsContact, x.CorrectionsStruck = float64(r.contact)/minutes, float64(r.struck)/minutes
	x.CorrectionsRest = float64(r.corrections-r.contact-r.struck) / minutes
	x.Ahead, x.Behind = r.ahead/float64(max(r.looks, 1)), r.behind/float64(max(r.looks, 1))
	if r.foreseen > 0 {
		x.EventsDenied = float64(r.denied) / float64(r.foreseen)
	}
	lags, inputs := 0.0, 0
	compared, mistaken, repeated := 0, 0, uint64(0)
	for _, u := range r.guests {
		n := u.end.Counters()
		x.BytesDown += float64(n.ReceivedBytes-u.bytesIn) / each
		x.BytesUp += float64(n.SentBytes-u.bytesOut) / each
		lags += u.inputLags
		inputs += u.inputs
		repeated += u.client.Stats().Repeated - u.repeated
		c := u.client.Predict()
		x.Steps += float64(c.Stats().Steps-u.start.Steps) / float64(r.ticks) / float64(r.o.Players)
		for _, y := range c.Report() {
			compared += y.Compared
			mistaken += y.Wrong
		}
		compared -= u.compared
		mistaken -= u.mistaken
	}
	x.InputTicks = lags / float64(max(inputs, 1))
	x.Late = float64(repeated) / float64(max(r.ticks, 1)) / float64(r.o.Players)
	x.Exact = 1 - float64(mistaken)/float64(max(compared, 1))
	return x
}
