package seamless

import (
	"errors"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

const savedVersion = 2

// errSaved says that bytes are not what Save wrote.
var errSaved = errors.New("seamless: a saved zone is damaged, or of another version")

// Save appends all that Step depends on.
func (b *body) Save(dst []byte) []byte {
	dst = b.saveBeside(dst)
	return b.w.Host().Save(dst)
}

// Hash is of all that Step depends on.
func (b *body) Hash() uint64 {
	b.pack = b.saveBeside(b.pack[:0])
	h := fnv.New64a()
	_, _ = h.Write(b.pack)
	return h.Sum64() ^ b.w.Hash()*0x9E3779B97F4A7C15
}

// saveBeside appends what there is beside the world. Each thing has one form.
func (b *body) saveBeside(dst []byte) []byte {
	dst = append(dst, savedVersion)
	dst = putUint(dst, uint64(b.self))
	dst = putUint(dst, uint64(b.most))
	dst = putBytes(dst, b.plan.data)
	if b.next != nil {
		dst = putBytes(dst, b.next.data)
	} else {
		dst = putBytes(dst, nil)
	}
	dst = putUint(dst, uint64(b.since))
	dst = putUint(dst, uint64(len(b.ghosts.all)))
	for _, id := range slices.Sorted(maps.Keys(b.ghosts.all)) {
		g := b.ghosts.all[id]
		dst = putUint(putUint(dst, uint64(id)), uint64(g.from))
		dst = putUint(putUint(dst, uint64(g.tick)), uint64(g.until))
	}
	dst = putUint(dst, uint64(len(b.ghosts.leaving)))
	for _, l := range b.ghosts.leaving {
		dst = putUint(putUint(dst, uint64(l.id)), uint64(l.until))
	}
	dst = putUint(dst, uint64(len(b.views)))
	for _, v := range b.views {
		dst = putUint(putUint(putUint(dst, uint64(v.zone)), uint64(v.tick)), uint64(v.at))
		for _, ids := range v.ids {
			dst = putUint(dst, uint64(len(ids)))
			for _, id := range ids {
				dst = putUint(dst, uint64(id))
			}
		}
	}
	dst = saveMap(dst, b.went)
	dst = saveMap(dst, b.held)
	dst = putUint(dst, uint64(len(b.out.errands)))
	for i := range b.out.errands {
		e := &b.out.errands[i]
		dst = putBytes(putUint(putUint(dst, uint64(e.to)), e.entity), e.data)
	}
	for _, list := range [][]waiting{b.out.acts, b.out.events} {
		dst = putUint(dst, uint64(len(list)))
		for i := range list {
			dst = putBytes(putUint(dst, uint64(list[i].target)), list[i].data)
		}
	}
	dst = putUint(dst, uint64(len(b.strays)))
	for _, id := range b.strays {
		dst = putUint(dst, uint64(id))
	}
	return b.seats.save(b.ahead.save(b.players.save(dst)))
}

func saveMap[K ~uint16 | ~uint64, V ~uint32 | ~uint64](dst []byte, m map[K]V) []byte {
	dst = putUint(dst, uint64(len(m)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		dst = putUint(putUint(dst, uint64(k)), uint64(m[k]))
	}
	return dst
}

func loadMap[K ~uint16 | ~uint64, V ~uint32 | ~uint64](r *reader) map[K]V {
	m := map[K]V{}
	for range r.count() {
		k := K(r.uint())
		m[k] = V(r.uint())
	}
	return m
}

func (p *players) save(dst []byte) []byte {
	dst = putUint(dst, uint64(len(p.trails)))
	for _, who := range slices.Sorted(maps.Keys(p.trails)) {
		t := p.trails[who]
		dst = putUint(putUint(dst, uint64(who)), uint64(t.body))
		dst = putUint(dst, uint64(len(t.to)))
		for _, to := range t.to {
			dst = putUint(dst, uint64(to))
		}
	}
	dst = putUint(dst, uint64(len(p.joined)))
	for _, j := range p.joined {
		dst = putUint(putFixed(dst, j.nonce), uint64(j.player))
	}
	return saveMap(dst, p.left)
}

func (p *players) load(r *reader) {
	*p = newPlayers()
	for range r.count() {
		who := world.Player(r.below(1 << 16))
		t := &trail{body: zone.ID(r.below(1 << 32))}
		for range r.count() {
			t.to = append(t.to, zone.ID(r.below(1<<32)))
		}
		p.trails[who] = t
	}
	for range r.count() {
		p.joined = append(p.joined, joining{r.fixed(), world.Player(r.below(1 << 16))})
	}
	p.left = loadMap[world.Player, world.Tick](r)
}

// readPlans reads the plan that counts, and the one that is to follow it, if there is any.
func readPlans(r *reader) (plan, next *Plan, err error) {
	text, later := r.bytes(), r.bytes()
	if r.bad {
		return nil, nil, errSaved
	}
	if plan, err = parsePlan(text); err == nil && len(later) > 0 {
		next, err = parsePlan(later)
	}
	return plan, next, err
}

// Load replaces the zone by one that was saved.
func (b *body) Load(data []byte) error {
	r := reader{b: data}
	if r.byte() != savedVersion || zone.ID(r.below(1<<32)) != b.self {
		return errSaved
	}
	most := int(r.below(1 << 16))
	plan, next, err := readPlans(&r)
	if err != nil {
		return err
	}
	since := world.Tick(r.uint())
	g := ghosts{all: map[world.ID]ghost{}}
	for range r.count() {
		id := world.ID(r.uint())
		g.all[id] = ghost{zone.ID(r.below(1 << 32)), world.Tick(r.uint()), world.Tick(r.uint())}
	}
	for range r.count() {
		g.leaving = append(g.leaving, leaving{world.ID(r.uint()), world.Tick(r.uint())})
	}
	var list views
	for range r.count() {
		v := list.of(zone.ID(r.below(1 << 32)))
		v.tick, v.at = world.Tick(r.uint()), world.Tick(r.uint())
		for s := range v.ids {
			for range r.count() {
				v.ids[s] = append(v.ids[s], world.ID(r.uint()))
			}
		}
	}
	went, held := loadMap[world.ID, zone.ID](&r), loadMap[world.ID, world.Tick](&r)
	var o outbox
	for range r.count() {
		e := errand{zone.ID(r.below(1 << 32)), r.uint(), slices.Clone(r.bytes())}
		o.errands = append(o.errands, e)
	}
	for _, list := range []*[]waiting{&o.acts, &o.events} {
		for range r.count() {
			x := waiting{target: world.ID(r.uint()), data: slices.Clone(r.bytes())}
			*list = append(*list, x)
			o.size += len(x.data)
		}
	}
	var strays []world.ID
	for range r.count() {
		strays = append(strays, world.ID(r.uint()))
	}
	var p players
	p.load(&r)
	var intents ahead
	intents.load(&r)
	var seats seats
	seats.load(&r)
	if r.bad {
		return errSaved
	}
	w, err := b.game.Load(r.rest())
	if err != nil {
		return err
	}
	b.w, b.most, b.next, b.since = w, most, next, since
	b.strays, b.ahead, b.seats, b.recent.list = strays, intents, seats, nil
	b.ghosts, b.views, b.went, b.held, b.out, b.players = g, list, went, held, o, p
	b.settlePlan(plan)
	return nil
}
