package seamless

import (
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// waitHere is for how many ticks an entity stays that came back, as there was no room for it.
const waitHere = 16

// arrive takes in an entity that another zone handed over, and has it catch up with the ticks that
// it missed. One for which there is no room goes back to where it came from: it must not be lost.
func (b *body) arrive(a *zone.Arrival) {
	h := b.w.Host()
	id, _, err := h.Unpack(a.Data)
	if err != nil {
		b.faults.refused++
		b.faults.last = err
		b.out.giveBack(a.From, a.Entity, a.Data)
		return
	}
	if uint64(id) != a.Entity {
		panic(fmt.Sprintf("entity %v came as %v", id, world.ID(a.Entity)))
	}
	if err := h.Catch(id, a.Missed, b.missed(id, a.Missed)...); err != nil {
		panic(err) // it is here, and package zone bounds the ticks
	}
	delete(b.ghosts.all, id)
	delete(b.went, id)
	if p := &b.where[id.Class()]; len(p.slots) > 0 {
		if at := p.at(h.Image(id)); b.zoneOf(&at) != b.self {
			b.held[id] = b.w.Tick() + waitHere
		}
	}
	for i, to := range b.near {
		if to == a.From {
			// It is known there, so that it is told if it is out of sight again at once.
			b.shows.near[i].see(id, h.Entry(id), h.Image(id), b.w.Tick()+1)
		}
	}
}

// zoneOf is the zone in which something of this zone belongs: this one, as long as it is not beyond
// the margin.
func (b *body) zoneOf(at *point) zone.ID {
	i, ok := b.plan.find(b.self)
	if ok && b.plan.areas[i].beyond(at) <= b.plan.Margin {
		return b.self
	}
	return b.plan.zoneAt(at)
}

// sweep goes through all that is here after a tick: it hands over what is in another zone, and
// notes what is near to others.
func (b *body) sweep() {
	b.census = census{}
	b.players.begin()
	own := b.area()
	h, now := b.w.Host(), b.w.Tick()
	for class := range b.where {
		p := &b.where[class]
		b.census.ghosts += h.Ghosts(class)
		for id := range h.Of(class) {
			if b.w.Ghost(id) {
				continue
			}
			if len(p.slots) == 0 {
				b.homely(id, p)
				continue
			}
			image := h.Image(id)
			at := p.at(image)
			to, beyond := b.self, own.beyond(&at)
			if beyond > b.plan.Margin {
				to = b.plan.zoneAt(&at)
			}
			if to != b.self && b.leave(id, to) {
				continue
			}
			b.stays(id)
			if -beyond > b.plan.Reach {
				continue
			}
			for k, j := range own.near {
				if far := b.plan.areas[j].beyond(&at); far <= b.plan.Reach {
					turn := uint64(now) + uint64(id.Index())
					if far > b.plan.Reach*nearPart && b.pace.rests(turn) &&
						b.shows.near[k].keep(id, now) {
						continue
					}
					b.shows.near[k].see(id, h.Entry(id), image, now)
				}
			}
		}
	}
}

// nearPart is which part of the reach is so near to a border that it is always shown at once.
const nearPart = 0.25

// homely deals with what has no place, which belongs home and is shown to everybody from there.
func (b *body) homely(id world.ID, p *placeOf) {
	h := b.w.Host()
	if !b.home() && !p.state && b.leave(id, b.plan.Home) {
		return
	}
	if !p.state {
		b.stays(id)
	}
	if b.home() {
		b.shows.all.see(id, h.Entry(id), h.Image(id), b.w.Tick())
	}
}

// stays counts an entity that is here after this tick.
func (b *body) stays(id world.ID) {
	b.census.entities++
	if p := b.w.Owner(id); p != world.Nobody {
		b.players.owns(p, b.bodies < 0 || id.Class() == b.bodies)
	}
}

// leave hands an entity over, unless it has to wait. It stays here as a ghost, if the other zone is
// near.
func (b *body) leave(id world.ID, to zone.ID) bool {
	h, now := b.w.Host(), b.w.Tick()
	if until, ok := b.held[id]; ok {
		if now < until {
			return false
		}
		delete(b.held, id)
	}
	if !b.out.opens(to) {
		return false
	}
	b.pack = h.Pack(id, b.pack[:0])
	if len(b.pack) > zone.MaxItem {
		b.faults.large++
		return false
	}
	if !b.out.hasRoom(len(b.pack)) {
		return false
	}
	b.out.depart(to, uint64(id), b.pack)
	if p := b.w.Owner(id); p != world.Nobody {
		b.players.follow(p, to, b.bodies < 0 || id.Class() == b.bodies)
		b.carry(p, to)
	}
	if id.Allocator() == h.Settings().Allocator {
		b.went[id] = to
	}
	if b.isNear(to) || to == b.plan.Home && len(b.where[id.Class()].slots) == 0 {
		h.SetGhost(id)
		b.ghosts.left(id, to, now)
	} else {
		h.Lend(id)
	}
	return true
}

func (b *body) isNear(id zone.ID) bool {
	for _, n := range b.near {
		if n == id {
			return true
		}
	}
	return false
}

// forgetting are identifiers that can be given up, as what they named is no more, for the zone that
// keeps them.
type forgetting struct {
	zone zone.ID
	ids  []byte
}

// forgetMost is how many identifiers are told in one message.
const forgetMost = 2048

// bury tells the zones by whose allocators entities were named which of those were removed here.
func (b *body) bury() {
	for i := range b.forget {
		b.forget[i].ids = b.forget[i].ids[:0]
	}
	unknown := b.strays
	b.strays = b.strays[:0]
	for _, id := range unknown {
		b.buryOne(id)
	}
	for id := range b.w.Host().Removed {
		delete(b.held, id)
		b.buryOne(id)
	}
	for i := range b.forget {
		if f := &b.forget[i]; len(f.ids) > 0 {
			b.out.tell(f.zone, controlForget, f.ids)
		}
	}
}

// buryOne has the zone that keeps an identifier told that it can be given up.
func (b *body) buryOne(id world.ID) {
	keeper, ok := b.plan.keeper(id.Allocator())
	switch {
	case !ok && len(b.strays) < maxStrays:
		b.strays = append(b.strays, id) // of a zone of which this one has not heard yet
		return
	case !ok || keeper == b.self:
		return
	}
	n := 0
	for n < len(b.forget) && b.forget[n].zone < keeper {
		n++
	}
	if n == len(b.forget) || b.forget[n].zone != keeper {
		// In order of zone, so that who has loaded this one tells the same in the same order.
		b.forget = slices.Insert(b.forget, n, forgetting{zone: keeper})
	}
	f := &b.forget[n]
	f.ids = putUint(f.ids, uint64(id))
	if len(f.ids) > 8*forgetMost {
		b.out.tell(f.zone, controlForget, f.ids)
		f.ids = f.ids[:0]
	}
}

// maxStrays is how many identifiers wait until this zone hears who keeps them.
const maxStrays = 1 << 14

// forgets gives up identifiers that this zone keeps.
func (b *body) forgets(r *reader) {
	for len(r.b) > 0 {
		id := world.ID(r.uint())
		if r.bad || id.Class() >= len(b.where) {
			b.faults.strange++
			return
		}
		if b.w.Ghost(id) {
			b.w.Host().DropGhost(id)
			delete(b.ghosts.all, id)
		}
		b.w.Host().Forget(id)
		delete(b.went, id)
	}
}
