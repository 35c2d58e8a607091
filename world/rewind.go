package world

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
)

// A Rewinder is a class whose entities can be shot at where a player saw them, though they have
// moved on since. Rewind says how, once, on a zero value of the class:
//
//	func (t *Tank) Rewind(r *world.Rewinding) { r.Place(&t.Pos) }
//
// A world then remembers for a while where they were. That is part of its state: a copy, a saved
// world and a replay judge alike. Rules ask for it by Sees.
type Rewinder interface{ Rewind(r *Rewinding) }

// A Rewinding is what a class says of how it is rewound.
type Rewinding struct {
	class  *ClassInfo
	value  any
	slots  []int
	leaves []leaf // the floats in the struct that these are made of, if they are
	limit  Tick
	margin float64
	favour Favour
	err    error
}

// Place says which field is the entity's place, of one to three numbers. Default: Pos.
func (r *Rewinding) Place(field any) {
	f, err := r.class.Field(r.value, field)
	r.place(f, err)
}

func (r *Rewinding) place(f Field, err error) {
	if err == nil && len(f.Slots) > 3 {
		err = fmt.Errorf("field %s is of %d numbers; a place has at most three", f.Path,
			len(f.Slots))
	}
	for i, k := range f.Kinds {
		if err == nil && k != bits.KindFloat && k != bits.KindVec2 && k != bits.KindVec3 ||
			err == nil && r.class.Schema().Slots[f.Slots[i]].Wraps {
			err = fmt.Errorf("field %s is no place: use a float, a Vec2 or a Vec3", f.Path)
		}
	}
	r.err = errors.Join(r.err, err)
	r.slots = f.Slots
}

// Limit says how many ticks back a player's view is honoured. A longer delay is that player's own
// burden. Default: half a second.
func (r *Rewinding) Limit(ticks Tick) {
	if ticks < 1 || ticks > maxRewind {
		r.err = errors.Join(r.err,
			fmt.Errorf("a limit of %d ticks; choose 1 to %d", ticks, maxRewind))
		return
	}
	r.limit = ticks
}

// maxRewind is how many ticks can be remembered.
const maxRewind = 1000

// Margin says how far beside its true way a client may have shown it, in the units of its place,
// and still be believed: about what its players can do to their way within half of the limit. It
// counts in full where a client predicted for that long, and less the less it had to predict; where
// it interpolated, it makes up for what lies between two snapshots. Default: 0.5.
func (r *Rewinding) Margin(units float64) {
	if !(units >= 0 && units < 1e9) {
		r.err = errors.Join(r.err, fmt.Errorf("a margin of %v; choose 0 or more", units))
		return
	}
	r.margin = units
}

// Favour says who is favoured where a shot at the class says nothing else. Default: FavourBoth.
func (r *Rewinding) Favour(f Favour) {
	if f >= favours {
		r.err = errors.Join(r.err, fmt.Errorf("%v is no favour; choose one of the constants", f))
		return
	}
	r.favour = f
}

// A Favour says whose screen counts when what two players saw cannot both be true: one shot at
// somebody in the open, who had found cover by then. Whoever is hit after a while behind cover is
// annoyed, and so is whoever hits and is told that it was not so.
type Favour uint8

const (
	// FavourDefault is what the class says, and if that says nothing, FavourBoth.
	FavourDefault Favour = iota
	// FavourBoth lets a shot hit who has been behind cover for a tenth of a second at most: where
	// less denies the shooter more and spares the victim little, by bench feel.
	FavourBoth
	// FavourShooter lets a shot hit whoever was in the open on the shooter's screen.
	FavourShooter
	// FavourVictim lets nobody be hit who has been behind cover for a twentieth of a second.
	FavourVictim
	// FavourPresent judges by the present, whatever players saw.
	FavourPresent
	favours
)

func (f Favour) String() string {
	if f >= favours {
		return fmt.Sprintf("favour %d", uint8(f))
	}
	return [...]string{"default", "both", "shooter", "victim", "present"}[f]
}

// Cover is how many ticks someone may have been behind cover and still be hit, at a tick rate.
func (f Favour) Cover(rate int) Tick {
	switch f {
	case FavourShooter:
		return maxRewind
	case FavourVictim:
		return Tick(max(1, rate/20))
	}
	return Tick(max(1, rate/10))
}

// spread is how much of a margin counts where a client knew of it so many ticks ago.
func (r *Rewinding) spread(margin float64, ticks Tick) float64 {
	return margin * min(1, float64(2*ticks)/float64(r.limit))
}

// slot is the range and scale of the place's k-th number.
func (r *Rewinding) slot(k int) *bits.Slot { return &r.class.layout.Schema().Slots[r.slots[k]] }

// point is a place in the world's units.
func (r *Rewinding) point(place [3]int32) (p det.Vec3) {
	axes := [...]*float64{&p.X, &p.Y, &p.Z}
	for k := range r.slots {
		*axes[k] = float64(place[k]) * r.slot(k).Scale
	}
	return p
}

// offset is the way between two places as the numbers of a Claim.
func (r *Rewinding) offset(d det.Vec3) (place [3]int32) {
	axes := [...]float64{d.X, d.Y, d.Z}
	for k := range r.slots {
		most := r.most(k)
		place[k] = det.Int32(det.Clamp(det.Round(axes[k]/r.slot(k).Scale), -most, most))
	}
	return place
}

// most is how far two places can be apart along an axis, in steps.
func (r *Rewinding) most(k int) float64 {
	s := r.slot(k)
	return min(float64(s.Max)-float64(s.Min), 1<<31-1)
}

// of is the place in an image.
func (r *Rewinding) of(image []int32) (place [3]int32) {
	for k, slot := range r.slots {
		place[k] = image[slot]
	}
	return place
}

// declareRewind asks a class how it is rewound, if it is.
func (c *ClassInfo) declareRewind(g *Game) error {
	v, ok := c.New().(Rewinder)
	if !ok {
		return nil
	}
	r := &Rewinding{class: c, value: v, margin: 0.5, favour: FavourBoth}
	v.Rewind(r)
	if r.err == nil && r.slots == nil {
		f, ok := c.FieldNamed("Pos")
		if !ok {
			return errors.New("method Rewind says no Place, and there is no synced field Pos")
		}
		r.place(f, nil)
	}
	for _, slot := range r.slots {
		name := c.layout.Schema().Slots[slot].Name
		for _, l := range c.fields {
			if l.path == name && (l.kind == reflect.Float64 || l.kind == reflect.Float32) {
				r.leaves = append(r.leaves, l)
			}
		}
	}
	if r.favour == FavourDefault {
		r.favour = FavourBoth
	}
	c.rewind = r
	return r.err
}

// rewindable fills in what depends on the tick rate, when that is known.
func (g *Game) rewindable() {
	for _, c := range g.classes {
		if r := c.rewind; r != nil {
			if r.limit == 0 {
				r.limit = Tick(max(1, g.rate/2))
			}
			g.rewinds = max(g.rewinds, r.limit)
		}
	}
}

// describeRewind writes how the class is rewound.
func (c *ClassInfo) describeRewind(d *describer) {
	r := c.rewind
	if r == nil {
		return
	}
	place := base(&c.layout.Schema().Slots[r.slots[0]])
	d.entry("rewound", fmt.Sprintf("%s, %d ticks, margin %s, favours %v", plainly(place), r.limit,
		decimal(r.margin), r.favour))
}

// Rewinds is how many ticks back the game's worlds remember where things were, or 0 if nothing in
// it can be rewound.
func (g *Game) Rewinds() Tick { g.prepare(); return g.rewinds }

// Rewound says whether the class can be rewound.
func (c *ClassInfo) Rewound() bool { return c.rewind != nil }

// rewound is how an entity is rewound, or nil.
func (g *Game) rewound(id ID) *Rewinding {
	if c := id.Class(); c < len(g.classes) && id != None && !id.Local() {
		return g.classes[c].rewind
	}
	return nil
}

// A memory is where things were, tick by tick: those of classes that can be rewound, in order of
// identifier.
type memory struct {
	ring  []moment // by tick
	count Tick     // how many of the last ticks are there
}

type moment struct {
	ids    []ID
	places [][3]int32
	hash   uint64
}

func (m *memory) at(t Tick) *moment { return &m.ring[t%Tick(len(m.ring))] }

// remember keeps the tick that has just been computed.
func (w *World) remember() {
	if w.game.rewinds == 0 || w.settings.Partial {
		return
	}
	m := &w.memory
	if m.ring == nil {
		m.ring = make([]moment, w.game.rewinds+1)
	}
	now := m.at(w.tick)
	now.ids, now.places = now.ids[:0], now.places[:0]
	h := newHasher(5)
	for _, t := range w.tables {
		r := t.class.rewind
		if r == nil || t.count == 0 {
			continue
		}
		for pg := range t.pages {
			for s := range pg.slots {
				if pg.live>>s&1 == 0 {
					continue
				}
				id, place := t.id(pg, s), r.of(t.image(pg, s))
				now.ids, now.places = append(now.ids, id), append(now.places, place)
				h.word(uint64(id))
				h.numbers(place[:])
			}
		}
	}
	now.hash = h.sum()
	m.count = min(m.count+1, Tick(len(m.ring)))
}

// copyFrom copies what is remembered.
func (m *memory) copyFrom(from *memory) {
	if len(m.ring) < len(from.ring) {
		m.ring = make([]moment, len(from.ring))
	}
	m.count = from.count
	for i := range from.ring {
		to, of := &m.ring[i], &from.ring[i]
		to.ids, to.places = append(to.ids[:0], of.ids...), append(to.places[:0], of.places...)
		to.hash = of.hash
	}
}

// size is how many bytes are copied.
func (m *memory) size() (n int) {
	for i := range m.ring {
		n += 20 * len(m.ring[i].ids)
	}
	return n
}

// exactly is where something was at the end of a tick.
func (w *World) exactly(id ID, t Tick) (place [3]int32, ok bool) {
	m := &w.memory
	last := w.remembered()
	if t > last || last-t >= m.count {
		return place, false
	}
	now := m.at(t)
	i, ok := slices.BinarySearch(now.ids, id)
	if !ok {
		return place, false
	}
	return now.places[i], true
}

// remembered is the newest tick that is.
func (w *World) remembered() Tick {
	if w.busy {
		return w.tick - 1
	}
	return w.tick
}

// where is where something was, so many sixteenths of a tick before the tick that is computed; not
// later than the last that is known, and not further back than is remembered.
func (w *World) where(r *Rewinding, id ID, ago Tick) (det.Vec3, bool) {
	last := w.remembered()
	now := 16 * w.tick
	at := min(now-min(now, ago), 16*last)
	a, ok := w.exactly(id, at/16)
	if !ok {
		return det.Vec3{}, false
	}
	from, part := r.point(a), float64(at%16)/16
	if part == 0 {
		return from, true
	}
	b, ok := w.exactly(id, at/16+1)
	if !ok {
		return from, true
	}
	return from.Add(r.point(b).Sub(from).Mul(part)), true
}

// past writes or reads what is remembered, and what players saw last.
func (a *archive) past(w *World) {
	if w.game.rewinds == 0 || w.settings.Partial {
		return
	}
	m := &w.memory
	count := a.count(int(m.count), uint64(w.game.rewinds)+1, 1)
	if a.reading {
		m.ring, m.count = make([]moment, w.game.rewinds+1), Tick(count)
		if Tick(count) > w.tick+1 {
			a.fail(errors.New("more ticks are remembered than there were"))
		}
	}
	for i := range Tick(count) {
		if a.err != nil {
			return
		}
		a.moment(w, m.at(w.tick-Tick(count)+1+i))
	}
	a.sights(w)
}

func (a *archive) moment(w *World, now *moment) {
	n := a.count(len(now.ids), 1<<28, 2)
	last := None
	for i := range n {
		var id ID
		var place [3]int32
		if !a.reading {
			id, place = now.ids[i], now.places[i]
		}
		gap := uint64(id - last)
		uvarint(a, &gap)
		if id = last + ID(gap); gap == 0 || id < last {
			a.fail(errors.New("what is remembered is not in order"))
		}
		r := w.game.rewound(id)
		if r == nil {
			a.fail(errors.New("something is remembered that cannot be rewound"))
		}
		if a.err != nil {
			return
		}
		for k := range r.slots {
			v := int64(place[k])
			a.varint(&v)
			if s := r.slot(k); v < int64(s.Min) || v > int64(s.Max) {
				a.fail(errors.New("a place is remembered that is none"))
				return
			}
			place[k] = int32(v)
		}
		if last = id; a.reading {
			if a.charge(20); a.err != nil {
				return
			}
			now.ids, now.places = append(now.ids, id), append(now.places, place)
		}
	}
	if a.reading {
		now.hash = now.sum()
	}
}

// sum is the hash of a moment; remember comes to the same.
func (m *moment) sum() uint64 {
	h := newHasher(5)
	for i, id := range m.ids {
		h.word(uint64(id))
		h.numbers(m.places[i][:])
	}
	return h.sum()
}

// sights are what players saw last, of those who are there.
func (a *archive) sights(w *World) {
	for p := range w.Players {
		if a.reading {
			w.needSights()
		}
		var s Sight
		if !a.reading {
			s = w.Sight(p)
		}
		a.sight(&s)
		if !a.reading || a.err != nil {
			continue
		}
		if err := w.game.CheckSight(&s); err != nil {
			a.fail(err)
			return
		}
		w.sights[p] = s
	}
}

// sight is what a player saw last.
func (a *archive) sight(s *Sight) {
	below(a, &s.Ago, 1<<16)
	below(a, &s.Base, 1<<16)
	below(a, &s.Claimed, MaxClaims+1)
	for i := range s.Claims[:s.Claimed] {
		uvarint(a, &s.Claims[i].Target)
		for k := range s.Claims[i].Place {
			v := int64(s.Claims[i].Place[k])
			a.varint(&v)
			s.Claims[i].Place[k] = int32(v)
		}
	}
}

// needSights makes room for what each player saw.
func (w *World) needSights() {
	if w.game.rewinds == 0 || w.settings.Partial {
		return
	}
	for len(w.sights) < len(w.present) {
		w.sights = append(w.sights, Sight{})
	}
	clear(w.sights[len(w.present):])
	w.sights = w.sights[:len(w.present)]
}

// hashMemory adds what is remembered to a hash.
func (w *World) hashMemory(h *hasher) {
	if w.game.rewinds == 0 || w.settings.Partial {
		return
	}
	for i := range w.memory.count {
		h.word(w.memory.at(w.tick - i).hash)
	}
	for p := range w.Players {
		s := w.Sight(p)
		if s == (Sight{}) {
			continue
		}
		h.pair(uint64(p), uint64(s.Ago)<<32|uint64(s.Base)<<8|uint64(s.Claimed))
		for i := range s.list() {
			h.word(uint64(s.Claims[i].Target))
			h.numbers(s.Claims[i].Place[:])
		}
	}
}

var rewinderType = reflect.TypeFor[Rewinder]()
