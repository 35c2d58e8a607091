package arena

import (
	"strings"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// A Kind is what a pickup gives.
type Kind uint8

// The kinds of pickups, with their letters on maps.
const (
	NoKind    Kind = iota
	SmallPack      // h: health, up to what one starts with
	LargePack      // H: health beyond that
	RocketBox      // o: rockets
	RocketGun      // R: more rockets
	SlugBox        // g: slugs for the rail gun
	RailGun        // G: more slugs
	kinds
)

// kindLetters are the letters of the kinds on maps.
const kindLetters = " hHoRgG"

// kindOf is the kind with a letter, or 0.
func kindOf(c byte) Kind { return Kind(max(0, strings.IndexByte(kindLetters, c))) }

// gifts are what the kinds give: how much at once, up to how much, and after how many ticks again.
var gifts = [kinds]struct {
	amount, most int
	again        uint32
}{
	SmallPack: {25, Healthy, 15 * rate},
	LargePack: {100, MaxHealth, 40 * rate},
	RocketBox: {5, maxRockets, 12 * rate},
	RocketGun: {10, maxRockets, 20 * rate},
	SlugBox:   {3, maxSlugs, 15 * rate},
	RailGun:   {6, maxSlugs, 30 * rate},
}

const reach = 0.7 // from a fighter's middle to a pickup's

// Pickup is something to run over. It stays in its place for ever, and is there or not.
type Pickup struct {
	Pos  det.Vec2
	Kind Kind
	Back uint32 // tick from which on it is there
}

// Sync names the fields.
func (p *Pickup) Sync(s *bits.Sync) {
	s.Vec2(&p.Pos, 0, MaxSide, 1.0/2)
	bits.Enum(s, &p.Kind, int(kinds))
	syncTick(s, &p.Back)
}

// There says whether it can be seen and taken.
func (p *Pickup) There(w *world.World) bool { return now(w) >= p.Back }

// Step is taken by whoever is near and has use for it, the nearest first.
func (p *Pickup) Step(w *world.World, me world.ID) {
	m := world.StateOf[Match](w)
	if m.stale(w, me) {
		w.Remove(me)
		return
	}
	if !p.There(w) || m.level == nil || m.Over != 0 {
		return
	}
	taker, least := -1, float64(reach*reach)
	for _, i := range m.work.near(p.Pos, reach) {
		f := m.work.fighters[i]
		d := f.Pos.Sub(p.Pos).LenSq()
		if f.Health > 0 && f.wants(p.Kind) && (d < least || d == least && taker > int(i)) {
			taker, least = int(i), d
		}
	}
	if taker < 0 {
		return
	}
	world.Act(w, m.work.ids[taker], gift{p.Kind})
	p.Back = now(w) + gifts[p.Kind].again
	world.Emit(w, me, PickedUp{Kind: p.Kind, By: w.Owner(m.work.ids[taker])})
}

// stock is what a pickup adds to.
func (f *Fighter) stock(k Kind) *int {
	switch k {
	case SmallPack, LargePack:
		return &f.Health
	case RocketBox, RocketGun:
		return &f.Rockets
	}
	return &f.Slugs
}

// wants says whether a pickup would do something for a fighter.
func (f *Fighter) wants(k Kind) bool { return *f.stock(k) < gifts[k].most }

func (f *Fighter) take(k Kind) {
	has := f.stock(k)
	*has = min(*has+gifts[k].amount, gifts[k].most)
}

// Traits are what interest management sees of it.
func (p *Pickup) Traits(*world.World, world.ID) interest.Traits {
	return interest.Traits{Pos: at(p.Pos), Nimbus: 0.3, Importance: 0.3}
}
