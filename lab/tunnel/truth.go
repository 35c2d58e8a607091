package tunnel

import (
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/world"
)

// truth is what really happened, as who decides has it, and the oracle: the same world, to whom all
// commands come at the tick for which they were given.
type truth struct {
	tick   world.Tick
	oracle *world.World
	in     *world.Inputs
	image  []int32
	poses  []session.Pose
	before []session.Pose // those of the tick before
	older  []session.Pose // and of the one before that
	turned turning
	// What flies is gone in the tick in which it hits, so it is known where it was before. Only
	// titles that tell of cover and hits have this.
	flies, flew []session.Pose

	said, sworn []world.Emitted // strict events of a tick: the truth's, and the oracle's
	recent      []happened      // strict events of the last ticks
	grants      []claim         // hits of the last ticks

	ticks, apart  int // so many ticks, and in how many the oracle's world was another
	events, wrong int // strict events of both, and those that one of them did not have
	drift         []float32
}

// happened is an event of the truth.
type happened struct {
	world.Emitted
	tick  world.Tick
	taken uint64 // by seats to whom it was shown
}

// A claim is an event or a hit that somebody was shown, or that happened.
type claim struct {
	tick  world.Tick
	at    time.Duration
	count bool // it is measured
	event world.Emitted
	hit   game.Hit
	taken bool
}

// apart is by how many ticks the same thing may happen earlier or later than it was shown.
const apart = 6

func (x *truth) init(t *Trial) {
	x.in = t.Subject.Game.NewInputs()
	if c := t.Subject.Game.Commands(); c != nil {
		x.image = make([]int32, len(c.Slots))
	}
}

// poses lists the bodies that are in play.
func (t *Trial) poses(list []session.Pose, w *world.World) []session.Pose {
	if t.body < 0 {
		return list
	}
	for id := range w.Host().Of(t.body) {
		if p, alive := t.pose(w, id); alive {
			list = append(list, p)
		}
	}
	return list
}

func (t *Trial) pose(w *world.World, id world.ID) (session.Pose, bool) {
	life, alive := game.Lives(w, id)
	p := session.Pose{ID: id, Owner: w.Owner(id), Life: life}
	p.At, _ = t.Subject.At(w, id)
	return p, alive
}

// strict goes through the events of a world's tick that all should agree on.
func (t *Trial) strict(w *world.World, f func(world.Emitted)) {
	kinds := t.Subject.Game.Events()
	for e := range w.Host().Happened {
		if !kinds[e.Kind].Weak() {
			f(e)
		}
	}
}

// Truth is told each tick that is decided, in their order, with what went into it: by the server
// that decides, or when nothing can change it any more.
func (t *Trial) Truth(w *world.World, in *world.Inputs) {
	t.think(func() { t.decided(w, in) })
}

func (t *Trial) decided(w *world.World, in *world.Inputs) {
	x := &t.truth
	if x.tick != 0 && w.Tick() <= x.tick {
		return
	}
	x.tick = w.Tick()
	x.older, x.before, x.poses = x.before, x.poses, t.poses(x.older[:0], w)
	count := t.counts(x.tick)
	if count {
		x.turned.add(x.older, x.before, x.poses, world.Nobody)
	}
	if count {
		t.consult(w, in)
		t.commands(in)
	} else if x.oracle != nil && !t.on {
		x.oracle = nil
	}
	if t.filming {
		t.Film.Truth(t.Net.Now()-t.zero, w)
	}
	t.hear(w)
	x.flies, x.flew = t.things(x.flew[:0], w), x.flies
	t.hits(w, count)
	t.sight.follow(t, w, count)
	for _, s := range t.Seats {
		s.compare(x, count)
	}
}

// counts says whether a tick is measured: whether it was while it was measured that somebody gave a
// command for it.
func (t *Trial) counts(tick world.Tick) bool {
	for _, s := range t.Seats {
		if g := s.given.At(tick); g != nil {
			return t.measured(g.at)
		}
	}
	return t.on
}

// consult lets the oracle take its tick. Every second it starts again from the truth, since a shot
// that hit in one world and not in the other makes two different games.
func (t *Trial) consult(w *world.World, in *world.Inputs) {
	x := &t.truth
	if x.oracle == nil {
		x.oracle = w.Host().Clone()
		return
	}
	if !t.Exact && w.Tick()%world.Tick(t.Subject.Game.Rate()) == 0 ||
		x.oracle.Tick()+1 != w.Tick() {
		t.Fail(x.oracle.Host().CopyFrom(w))
		return
	}
	if t.Fail(x.in.CopyFrom(in)); t.err != nil {
		return
	}
	for _, s := range t.Seats {
		if g := s.given.At(w.Tick()); g != nil && len(x.image) > 0 && s.Me != world.Nobody {
			t.Fail(x.in.GiveImage(s.Me, g.image))
			if sight, ok := in.Sight(s.Me); ok {
				t.Fail(x.in.Show(s.Me, sight))
			}
		}
	}
	_ = x.oracle.Host().Step(x.in) // the true world reports the same errors
	x.ticks++
	if t.Exact && x.oracle.Hash() != w.Hash() {
		x.apart++
	}
	x.said, x.sworn = x.said[:0], x.sworn[:0]
	t.strict(w, func(e world.Emitted) { x.said = append(x.said, e) })
	t.strict(x.oracle, func(e world.Emitted) { x.sworn = append(x.sworn, e) })
	x.events += max(len(x.said), len(x.sworn))
	x.wrong += missing(x.said, x.sworn) + missing(x.sworn, x.said)
	for i := range x.poses {
		p := &x.poses[i]
		if !x.oracle.Has(p.ID) {
			continue
		}
		if is, alive := t.pose(x.oracle, p.ID); alive && is.Life == p.Life {
			x.drift = append(x.drift, float32(is.At.Sub(p.At).Len()))
		}
	}
}

// missing is how many of a are not in b.
func missing(a, b []world.Emitted) (n int) {
	for _, e := range a {
		found := false
		for _, o := range b {
			found = found || o == e
		}
		if !found {
			n++
		}
	}
	return n
}

// commands counts those that the truth has otherwise than they were given.
func (t *Trial) commands(in *world.Inputs) {
	x := &t.truth
	for _, s := range t.Seats {
		g := s.given.At(x.tick)
		if g == nil || s.Me == world.Nobody || len(x.image) == 0 {
			continue
		}
		s.Commands++
		if !in.Image(s.Me, x.image) || !equal(x.image, g.image) {
			s.Late++
		}
	}
}

// hear holds the events that were shown against those that happened.
func (t *Trial) hear(w *world.World) {
	x := &t.truth
	n := 0
	for _, h := range x.recent {
		if h.tick+3*apart > x.tick {
			x.recent[n] = h
			n++
		}
	}
	x.recent = x.recent[:n]
	t.strict(w, func(e world.Emitted) {
		x.recent = append(x.recent, happened{Emitted: e, tick: x.tick})
	})
	for _, s := range t.Seats {
		s.events = s.settle(s.events, func(c *claim) {
			if !x.happened(c, 1<<s.Index) {
				s.Taken++
				s.wrong(EventTaken, s.ownerOf(c.event, c.tick), c.at, c.tick,
					lab.Millis(t.Net.Now()-c.at), t.nameOf(c.event))
			}
		})
	}
}

// happened finds what a claim was of: the same kind of event, about the same thing, at about the
// same time.
func (x *truth) happened(c *claim, to uint64) bool {
	for i := range x.recent {
		h := &x.recent[i]
		if h.taken&to == 0 && h.Kind == c.event.Kind && h.About == c.event.About &&
			near(h.tick, c.tick) {
			h.taken |= to
			return true
		}
	}
	return false
}

func near(a, b world.Tick) bool { return max(a, b)-min(a, b) <= apart }

// settle goes through the claims that are old enough, and keeps the rest.
func (s *Seat) settle(list []claim, each func(c *claim)) []claim {
	n := 0
	for i := range list {
		c := &list[i]
		if c.tick+apart >= s.trial.truth.tick {
			list[n] = *c
			n++
			continue
		}
		if c.count {
			each(c)
		}
	}
	return list[:n]
}

// most is how many claims are kept of a player.
const most = 4096

// Foresee says that the player is shown a strict event that is not certain yet.
func (s *Seat) Foresee(e world.Emitted, t world.Tick) {
	count := s.trial.on
	if count {
		s.Events++
	}
	if len(s.events) < most {
		s.events = append(s.events, claim{tick: t, at: s.trial.Net.Now(), event: e, count: count})
	}
}

// Happens says that the player is told of an event that is certain, and Denied that one which was
// shown did not happen, where the machine finds that out by itself.
func (s *Seat) Happens() {
	if s.trial.on {
		s.Events++
	}
}

// Denies says that an event that Happens told of is taken back, and for how long it was believed.
func (s *Seat) Denies(e world.Emitted, believed time.Duration) {
	if t := s.trial; t.on {
		s.Taken++
		s.wrong(EventTaken, s.ownerOf(e, e.Tick), t.Net.Now()-believed, e.Tick,
			lab.Millis(believed), t.nameOf(e))
	}
}

// compare holds what was shown for a tick against the truth.
func (s *Seat) compare(x *truth, count bool) {
	f := s.shown.At(x.tick)
	if f == nil || s.trial.body < 0 {
		return
	}
	var far float32
	f.off = f.off[:0]
	count = count && s.trial.measured(f.at)
	for i := range f.poses {
		p := &f.poses[i]
		is := find(x.poses, p.ID)
		f.off = append(f.off, 0)
		if is == nil {
			if count && p.Owner != s.Me {
				s.Ghosts++
			}
			continue
		}
		if is.Life != p.Life {
			continue
		}
		d := float32(p.At.Sub(is.At).Len())
		f.off[i], far = d, max(far, d)
		if !count {
			continue
		}
		s.bin(f.at).book(d, p.Owner == s.Me)
		if p.Owner == s.Me {
			s.offOwn = append(s.offOwn, d)
			continue
		}
		s.off = append(s.off, d)
		if bad := float64(d) / s.trial.width(); bad > leastOff {
			s.wrong(ShownOff, p.Owner, f.at, x.tick, bad, "")
		}
	}
	s.trial.fault.off(s, f.at, far)
	if count {
		s.trial.sight.compare(s, f)
	}
}

func find(list []session.Pose, id world.ID) *session.Pose {
	for i := range list {
		if list[i].ID == id {
			return &list[i]
		}
	}
	return nil
}
