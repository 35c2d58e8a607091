package world

import (
	"math"
	"reflect"

	"github.com/coeval-dev/coeval/det"
)

// A Shot is something that a player does to others at where they are seen: a beam, or something
// that flies. Rules judge it by Sees and tell of it by Strike, the same on every machine.
type Shot struct {
	// By is whose shot it is. What flies belongs to who fired it.
	By Player
	// From is where the shot, or what flies, is at present.
	From det.Vec3
	// Clear says whether nothing stands between From and a place, at present. Without it nothing is
	// ever in cover.
	Clear func(to det.Vec3) bool
	// Favour says whose screen counts, for this weapon. Default: as the class of the target says.
	Favour Favour
}

// Sees says where to look for a target of a shot: where it was on the shooter's screen when the
// command was made that counts at this tick. Where that is where it is now, it
// gives that, and is not ok.
//
// Where the shooter's client interpolated, the target is taken back to the moment that was shown.
// Where it predicted, it has said where it showed the target, and that counts as far as it is the
// target's true way since the snapshot that it was predicted from, or beside it by the class's
// margin. What counts is where the target was as seen from the shot, so that a shooter who turns
// out to stand a little elsewhere hits what was in the sights. Neither goes further back than the
// class's limit. Who has been behind cover for longer than the favour allows is where they are.
//
// On a client it is where the client shows the target.
func (w *World) Sees(s Shot, target ID) (at det.Vec3, ok bool) {
	if at, ok = w.sees(s, target); ok {
		return at, true
	}
	return w.stands(target), false
}

// stands is where an entity of a class that can be rewound is now, in the middle of a tick too.
func (w *World) stands(id ID) (at det.Vec3) {
	r := w.game.rewound(id)
	pg, s := w.find(id)
	if r == nil || pg == nil {
		return at
	}
	t := w.tables[id.Class()]
	if len(r.leaves) != len(r.slots) {
		return r.point(r.of(t.image(pg, s)))
	}
	axes := [...]*float64{&at.X, &at.Y, &at.Z}
	for k, l := range r.leaves {
		v := l.bits(t.at(pg, s))
		if l.kind == reflect.Float32 {
			*axes[k] = float64(math.Float32frombits(uint32(v)))
		} else {
			*axes[k] = math.Float64frombits(v)
		}
	}
	return at
}

func (w *World) sees(s Shot, target ID) (det.Vec3, bool) {
	if w.settings.Partial {
		if w.shown == nil || s.By != w.shownTo {
			return det.Vec3{}, false
		}
		return w.shown(target)
	}
	r := w.game.rewound(target)
	if r == nil || int(s.By) >= len(w.sights) {
		return det.Vec3{}, false
	}
	favour := s.Favour
	if favour == FavourDefault {
		favour = r.favour
	}
	if favour == FavourPresent {
		return det.Vec3{}, false
	}
	j := Judging{Limit: r.limit, Cover: favour.Cover(w.game.rate), Margin: r.margin}
	if o := w.judging; o != nil {
		j.Limit, j.Cover = min(o.Limit, j.Limit), o.Cover
		if o.Margin >= 0 {
			j.Margin = o.Margin
		}
	}
	at, ago, ok := w.seen(r, &j, &s, target)
	if !ok {
		return det.Vec3{}, false
	}
	if s.Clear != nil && 16*j.Cover < ago {
		if was, there := w.where(r, target, 16*j.Cover); !there || !s.Clear(was) {
			return det.Vec3{}, false
		}
	}
	return at, true
}

// seen is where a target was on the shooter's screen, and up to how many sixteenths of a tick ago
// it was there.
func (w *World) seen(r *Rewinding, j *Judging, s *Shot, target ID) (at det.Vec3, ago Tick,
	ok bool) {
	sight := &w.sights[s.By]
	if ago = min(Tick(sight.Ago), 16*j.Limit); ago > 0 {
		at, ok = w.where(r, target, ago)
	}
	for _, c := range sight.list() {
		switch {
		case c.Target != target:
		case sight.Ago == 0:
			base := min(Tick(sight.Base), j.Limit)
			at, ok = w.believe(r, s.From, c, base, r.spread(j.Margin, base))
			return at, 16 * base, ok
		case ok:
			margin := r.spread(j.Margin, Tick(max(1, w.game.rate/15)))
			at = w.within(at, s.From.Add(r.point(c.Place)), margin)
			return at, ago, true
		}
	}
	return at, ago, ok
}

// within is a claimed place, if it is within a margin of where the target was, or else the nearest
// that is.
func (w *World) within(was, claim det.Vec3, margin float64) det.Vec3 {
	off := claim.Sub(was).Len()
	if off <= margin {
		return claim
	}
	w.doubted++
	return was.Add(claim.Sub(was).Mul(margin / off))
}

// Claims says whether the shooter's client saw the shot hit a target. Where several are in the line
// of fire, as the world has it, it is that one who was in the sights.
func (w *World) Claims(s Shot, target ID) bool {
	if w.settings.Partial || int(s.By) >= len(w.sights) {
		return false
	}
	for _, c := range w.sights[s.By].list() {
		if c.Target == target {
			return true
		}
	}
	return false
}

// believe is the place that a client names, or the nearest to it that the target can have had: its
// true way over the last ticks, and a margin around it.
func (w *World) believe(r *Rewinding, from det.Vec3, c Claim, base Tick,
	margin float64) (det.Vec3, bool) {
	claim, last := from.Add(r.point(c.Place)), w.remembered()
	best, found, near := det.Vec3{}, false, 0.0
	var before det.Vec3
	for t := last - min(last, base); t <= last; t++ {
		place, ok := w.exactly(c.Target, t)
		if !ok {
			continue
		}
		p := r.point(place)
		q := p
		if found {
			q = nearest(before, p, claim)
		}
		if d := claim.Sub(q).Len(); !found || d < near {
			best, near = q, d
		}
		before, found = p, true
	}
	if !found {
		return best, false
	}
	return w.within(best, claim, margin), true
}

// nearest is the point of a line that is nearest to another.
func nearest(a, b, to det.Vec3) det.Vec3 {
	d := b.Sub(a)
	length := d.Dot(d)
	if length == 0 {
		return a
	}
	return a.Add(d.Mul(det.Clamp(to.Sub(a).Dot(d)/length, 0, 1)))
}

// Strike tells that a shot hits a target at the place that Sees gave. A client says so to its
// server along with the command. It says what Decides does: whether what comes of it, such as a
// death, is for this machine to say.
func (w *World) Strike(s Shot, target ID) bool {
	r := w.game.rewound(target)
	if w.settings.Partial && w.shown != nil && s.By == w.shownTo && len(w.claims) < MaxClaims &&
		r != nil {
		if at, ok := w.shown(target); ok {
			w.claims = append(w.claims, Claim{Target: target, Place: r.offset(at.Sub(s.From))})
		}
	}
	return w.Decides()
}

// A Judging says by what shots are judged, whatever classes and weapons say: how many ticks back a
// view is honoured, up to the class's own limit, for how many ticks a target may have been behind
// cover, and how far beside its way it may have been shown; below zero, as the class says.
type Judging struct {
	Limit, Cover Tick
	Margin       float64
}

// SetJudging has this world, and no copy of it, judge shots otherwise than its classes say, for
// experiments; nil takes it back.
func (w Host) SetJudging(j *Judging) { w.judging = j }

// SetShown tells a client's world where its player is shown things, for Sees and Strike; nil takes
// it back. It is of this world and not of its copies.
func (w Host) SetShown(to Player, where func(target ID) (det.Vec3, bool)) {
	w.shownTo, w.shown = to, where
}

// Claims are what Strike told in the last tick, good until the next.
func (w Host) Claims() []Claim { return w.claims }

// Doubted is how often, in the last tick, a place that a client claims was not one that its target
// can have had, and the nearest of those counted.
func (w Host) Doubted() int { return w.doubted }

// Place is the place of an entity whose class can be rewound, as the world has it: for clients that
// show it elsewhere.
func (w Host) Place(id ID) (det.Vec3, bool) {
	r, image := w.game.rewound(id), w.Image(id)
	if r == nil || image == nil {
		return det.Vec3{}, false
	}
	return r.point(r.of(image)), true
}
