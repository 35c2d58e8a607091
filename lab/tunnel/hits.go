package tunnel

import (
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/world"
)

// Hit says that the player is shown a hit at a tick, by whomever.
func (s *Seat) Hit(h game.Hit, t world.Tick) {
	if h.Direct && h.By == s.Me && h.Victim != s.Me && len(s.hits) < most {
		s.hits = append(s.hits, claim{tick: t, at: s.trial.Net.Now(), hit: h, count: s.trial.on})
	}
}

// hits holds the hits that were seen against those that were given, and counts who died how.
func (t *Trial) hits(w *world.World, count bool) {
	x := &t.truth
	t.Subject.Hits(w, func(h game.Hit) bool {
		if h.Direct && h.By != h.Victim {
			x.grants = append(x.grants, claim{tick: x.tick, hit: h, count: count})
		}
		if count && h.Kill {
			t.killed(w, h)
		}
		return true
	})
	for _, s := range t.Seats {
		s.hits = s.settle(s.hits, func(c *claim) {
			s.Seen++
			if !x.granted(c) {
				s.Denied++
				s.wrong(HitDenied, c.hit.Victim, c.at, c.tick, s.offAt(c.tick, c.hit.Victim),
					c.hit.Weapon)
			}
		})
	}
	n := 0
	for _, g := range x.grants {
		if g.tick+3*apart > x.tick {
			x.grants[n] = g
			n++
		} else if s := t.players[g.hit.By]; s != nil && !g.taken && g.count {
			s.Unseen++
			s.wrong(HitUnseen, g.hit.Victim, s.sawAt(g.tick), g.tick, s.offAt(g.tick, g.hit.Victim),
				g.hit.Weapon)
		}
	}
	x.grants = x.grants[:n]
}

// granted finds the hit that was seen among those that were given: the nearest in time.
func (x *truth) granted(c *claim) bool {
	var best *claim
	for i := range x.grants {
		g := &x.grants[i]
		if g.taken || g.hit.By != c.hit.By || g.hit.Victim != c.hit.Victim ||
			g.hit.Weapon != c.hit.Weapon || !near(g.tick, c.tick) {
			continue
		}
		if best == nil || gapOf(g.tick, c.tick) < gapOf(best.tick, c.tick) {
			best = g
		}
	}
	if best != nil {
		best.taken = true
	}
	return best != nil
}

func gapOf(a, b world.Tick) world.Tick { return max(a, b) - min(a, b) }

// killed counts a death.
func (t *Trial) killed(w *world.World, h game.Hit) {
	if s := t.players[h.By]; s != nil && h.By != h.Victim {
		s.Kills++
	}
	v := t.players[h.Victim]
	if v == nil {
		return
	}
	v.Deaths++
	if !h.Direct || h.By == h.Victim {
		return
	}
	if hidden := t.covered(w, v, h); hidden > coverTime {
		v.Covered++
		v.wrong(DeathCovered, h.By, v.sawAt(w.Tick()), w.Tick(), lab.Millis(hidden), h.Weapon)
	}
}

// coverTime is for how long one must have been behind cover to feel wronged by a hit.
const coverTime = 100 * time.Millisecond

// things lists where all is that is no body, for titles that tell of cover and hits.
func (t *Trial) things(list []session.Pose, w *world.World) []session.Pose {
	if t.Subject.Shots.Clear == nil || t.Subject.Shots.Hits == nil {
		return list
	}
	for class := range t.Subject.Game.Classes() {
		if _, ok := t.Subject.Place(class); !ok || class == t.body {
			continue
		}
		for id := range w.Host().Of(class) {
			p := session.Pose{ID: id}
			p.At, _ = t.Subject.At(w, id)
			list = append(list, p)
		}
	}
	return list
}

// shotFrom is where a hit came from: where what flew was a tick ago, or else the shooter.
func (t *Trial) shotFrom(h game.Hit) *session.Pose {
	if h.Shot != world.None {
		if p := find(t.truth.flew, h.Shot); p != nil {
			return p
		}
	}
	for i := range t.truth.poses {
		if p := &t.truth.poses[i]; p.Owner == h.By {
			return p
		}
	}
	return nil
}

// covered is for how long the victim of a hit had been behind cover, on its own screen.
func (t *Trial) covered(w *world.World, v *Seat, h game.Hit) time.Duration {
	from := t.shotFrom(h)
	if from == nil {
		return 0
	}
	ticks := 0
	for ; ticks < session.Remember/4; ticks++ {
		f := v.shown.At(w.Tick() - world.Tick(ticks))
		if f == nil {
			break
		}
		hidden := false
		for i := range f.poses {
			if p := &f.poses[i]; p.Owner == v.Me {
				hidden = !t.Subject.Clear(w, from.At, p.At)
			}
		}
		if !hidden {
			break
		}
	}
	return time.Duration(ticks) * t.Subject.Game.TickLength()
}
