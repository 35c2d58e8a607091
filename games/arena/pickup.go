package arena

import (
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

// kindOf is the kind with a letter, or 0.
func kindOf(c byte) Kind {
	switch c {
	case 'h':
		return SmallPack
	case 'H':
		return LargePack
	case 'o':
		return RocketBox
	case 'R':
		return RocketGun
	case 'g':
		return SlugBox
	case 'G':
		return RailGun
	}
	return NoKind
}

// again is after how many ticks each kind is there again.
var again = [kinds]uint32{SmallPack: 15 * rate, LargePack: 40 * rate, RocketBox: 12 * rate, RocketGun: 20 * rate, SlugBox: 15 * rate, RailGun: 30 * rate}

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
	if !p.There(w) {
		return
	}
	m := world.StateOf[Match](w)
	if m.level == nil || m.Over != 0 {
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
	m.work.fighters[taker].take(p.Kind)
	p.Back = now(w) + again[p.Kind]
	world.Emit(w, me, PickedUp{Kind: p.Kind, By: w.Owner(m.work.ids[taker])})
}

// wants says whether a pickup would do something for a fighter.
func (f *Fighter) wants(k Kind) bool {
	switch k {
	case SmallPack:
		return f.Health < Healthy
	case LargePack:
		return f.Health < MaxHealth
	case RocketBox, RocketGun:
		return f.Rockets < maxRockets
	case SlugBox, RailGun:
		return f.Slugs < maxSlugs
	}
	return false
}

func (f *Fighter) take(k Kind) {
	switch k {
	case SmallPack:
		f.Health = min(f.Health+25, Healthy)
	case LargePack:
		f.Health = min(f.Health+100, MaxHealth)
	case RocketBox:
		f.Rockets = min(f.Rockets+5, maxRockets)
	case RocketGun:
		f.Rockets = min(f.Rockets+10, maxRockets)
	case SlugBox:
		f.Slugs = min(f.Slugs+3, maxSlugs)
	case RailGun:
		f.Slugs = min(f.Slugs+6, maxSlugs)
	}
}

// Traits are what interest management sees of it.
func (p *Pickup) Traits(*world.World, world.ID) interest.Traits {
	return interest.Traits{Pos: at(p.Pos), Nimbus: 0.3, Importance: 0.3}
}
