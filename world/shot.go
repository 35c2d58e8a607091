package world

import "github.com/coeval-dev/coeval/det"

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
// command was made that counts at this tick. It is not ok where that is where it is.
//
// Where the shooter's client interpolated, the target is taken back to the moment that was shown.
// Where it predicted, it has said where it showed the target, and that counts as far as it is the
// target's true way since the snapshot that it was predicted from, or beside it by the class's
// margin. Neither goes further back than the class's limit. Who has been behind cover for longer
// than the favour allows is where they are.
//
// On a client it is where the client shows the target.
func (w *World) Sees(s Shot, target ID) (det.Vec3, bool) {
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
	sight := &w.sights[s.By]
	ago := min(Tick(sight.Ago), 16*r.limit)
	at, ok := det.Vec3{}, false
	for _, c := range sight.list() {
		if c.Target == target {
			at, ok = w.believe(r, c, min(Tick(sight.Base), r.limit))
			ago = 16 * min(Tick(sight.Base), r.limit)
		}
	}
	if !ok && ago > 0 {
		at, ok = w.where(r, target, ago)
	}
	if !ok {
		return det.Vec3{}, false
	}
	if cover := 16 * favour.cover(w.game.rate); s.Clear != nil && cover < ago {
		if was, there := w.where(r, target, cover); !there || !s.Clear(was) {
			return det.Vec3{}, false
		}
	}
	return at, true
}

// believe is the place that a client names, or the nearest to it that the target can have had: its
// true way over the last ticks, and the class's margin around it.
func (w *World) believe(r *Rewinding, c Claim, base Tick) (det.Vec3, bool) {
	claim, last := r.point(c.Place), w.remembered()
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
	if found && near > r.margin {
		best = best.Add(claim.Sub(best).Mul(r.margin / near))
	} else {
		best = claim
	}
	return best, found
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
// server along with the command; on a machine that decides it does nothing.
func (w *World) Strike(s Shot, target ID) {
	if !w.settings.Partial || w.shown == nil || s.By != w.shownTo || len(w.claims) >= MaxClaims {
		return
	}
	r := w.game.rewound(target)
	if r == nil {
		return
	}
	if at, ok := w.shown(target); ok {
		w.claims = append(w.claims, Claim{Target: target, Place: r.numbers(at)})
	}
}

// SetShown tells a client's world where its player is shown things, for Sees and Strike; nil takes
// it back. It is of this world and not of its copies.
func (w Host) SetShown(to Player, where func(target ID) (det.Vec3, bool)) {
	w.shownTo, w.shown = to, where
}

// Claims are what Strike told in the last tick, good until the next.
func (w Host) Claims() []Claim { return w.claims }

// Place is the place of an entity whose class can be rewound, as the world has it, and as the
// numbers of a Claim: for clients that show it elsewhere.
func (w Host) Place(id ID) (at det.Vec3, place [3]int32, ok bool) {
	r, image := w.game.rewound(id), w.Image(id)
	if r == nil || image == nil {
		return at, place, false
	}
	place = r.of(image)
	return r.point(place), place, true
}
