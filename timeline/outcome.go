package timeline

import (
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// An Outcome is what a tick did in one copy of the world, and what it was told: all that other
// copies, and the players, have to be compared with.
type Outcome struct {
	tick    world.Tick
	events  []happening
	bodies  []body
	players []world.Player // who was there
	told    []int32        // what each commanded, given or repeated: an image after the other
	changes uint64         // who joined and left, what was told and shown
	gaps    uint64         // whose commands were repeated, if that is watched
	data    []int32        // of events and bodies
	hash    uint64
	hashed  bool
}

// A happening is an event of the tick; its image stands in data.
type happening struct {
	world.Emitted
	at, n int32
}

// A body is an entity with fields that have margins; these stand in data.
type body struct {
	id    world.ID
	at, n int32
}

func (r *Outcome) image(h happening) []int32 { return r.data[h.at : h.at+h.n] }
func (r *Outcome) values(b body) []int32     { return r.data[b.at : b.at+b.n] }

func (r *Outcome) reset(t world.Tick) {
	r.tick, r.hash, r.hashed, r.changes, r.gaps = t, 0, false, 0, 0
	r.events, r.bodies, r.players, r.told, r.data = r.events[:0], r.bodies[:0], r.players[:0],
		r.told[:0], r.data[:0]
}

// copyFrom makes it the same as another, in memory of its own.
func (r *Outcome) copyFrom(o *Outcome) {
	r.tick, r.hash, r.hashed, r.changes, r.gaps = o.tick, o.hash, o.hashed, o.changes, o.gaps
	r.events = append(r.events[:0], o.events...)
	r.bodies = append(r.bodies[:0], o.bodies...)
	r.players = append(r.players[:0], o.players...)
	r.told = append(r.told[:0], o.told...)
	r.data = append(r.data[:0], o.data...)
}

// bodiesFrom makes its bodies those of another, and nothing else.
func (r *Outcome) bodiesFrom(o *Outcome) {
	r.reset(o.tick)
	for _, b := range o.bodies {
		at := int32(len(r.data))
		r.data = append(r.data, o.values(b)...)
		r.bodies = append(r.bodies, body{b.id, at, b.n})
	}
}

// Command is what a player commanded at the tick, or nil if the player was not there.
func (r *Outcome) Command(p world.Player) []int32 {
	i, found := slices.BinarySearch(r.players, p)
	if !found {
		return nil
	}
	n := len(r.told) / len(r.players)
	return r.told[i*n : (i+1)*n]
}

// Hashes are those of both, if both have one.
func (r *Outcome) Hashes(o *Outcome) (a, b uint64, both bool) {
	if o == nil || !r.hashed || !o.hashed {
		return 0, 0, false
	}
	return r.hash, o.hash, true
}

// SameTold says that both were told the same.
func (r *Outcome) SameTold(o *Outcome) bool {
	return o != nil && r.changes == o.changes && r.gaps == o.gaps &&
		slices.Equal(r.players, o.players) && slices.Equal(r.told, o.told)
}

// Digest is a number by which machines tell whether the same strict events happened: 0 if none did.
func (c *Core) Digest(r *Outcome) uint32 {
	h, some := uint64(r.tick), false
	mix := func(v uint64) {
		h = (h ^ v) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	for _, e := range r.events {
		if c.Game.Events()[e.Kind].Weak() {
			continue
		}
		some = true
		mix(uint64(e.Kind) + 1)
		mix(uint64(e.By))
		mix(uint64(e.About))
		mix(uint64(e.Ordinal))
		for _, v := range r.image(e) {
			mix(uint64(uint32(v)))
		}
	}
	if !some {
		return 0
	}
	return max(uint32(h>>32), 1)
}

// A History holds the outcomes of one copy of the world, for as many ticks as may still be
// compared.
type History struct{ ring []Outcome }

// NewHistory has room for some ticks.
func NewHistory(ticks int) History { return History{make([]Outcome, ticks)} }

// At gives the outcome of a tick, or nil if there is none.
func (h *History) At(t world.Tick) *Outcome {
	if r := h.slot(t); r.tick == t {
		return r
	}
	return nil
}

// slot is where the outcome of a tick stands, or will.
func (h *History) slot(t world.Tick) *Outcome { return &h.ring[int(t%world.Tick(len(h.ring)))] }

// A watcher makes outcomes of ticks and compares them. One serves all copies of a timeline.
type watcher struct {
	game    *world.Game
	classes [][]*group // by class: what is compared of its entities
	kinds   [][]*group // by kind of event: what is compared of weak ones
	listed  []int      // the classes that have any
	command int        // the length of a command's image
	repeats bool       // watch whose commands were repeated
	rewinds bool       // what players were shown counts
	sync    bits.Sync
	used    []bool
	nothing Outcome
}

// A group is the slots of one field, such as the two of a place, and how far they may differ.
type group struct {
	class  string
	field  string
	slots  []bits.Slot // of the image
	index  []int       // where they stand in the image
	at     int         // where they stand among a body's values
	margin float64
}

// mix adds to what changed.
func (r *Outcome) mix(v uint64) { r.changes = (r.changes ^ v) * 0x9E3779B97F4A7C15 }

// sees adds what a player was shown.
func (r *Outcome) sees(s world.Sight) {
	if s == (world.Sight{}) {
		return
	}
	r.mix(uint64(s.Ago)<<32 | uint64(s.Base)<<16 | uint64(s.Claimed))
	for _, c := range s.Claims[:s.Claimed] {
		r.mix(uint64(c.Target))
		r.mix(uint64(uint32(c.Place[0]))<<32 | uint64(uint32(c.Place[1])))
		r.mix(uint64(uint32(c.Place[2])))
	}
}

// observe writes down what the last tick of a world did.
func (o *watcher) observe(r *Outcome, w *world.World, in *world.Inputs) {
	r.reset(w.Tick())
	for _, p := range in.Joins() {
		r.mix(uint64(p) ^ 1<<20)
	}
	for _, p := range in.Leaves() {
		r.mix(uint64(p) ^ 1<<21)
	}
	for t, data := range in.Tellings {
		r.mix(uint64(t.Kind) ^ 1<<23)
		for _, v := range data {
			r.mix(uint64(v))
		}
	}
	for p := range w.Players {
		r.players = append(r.players, p)
		if o.rewinds {
			r.sees(w.Sight(p))
		}
		if o.repeats && w.Repeated(p) {
			r.gaps = (r.gaps ^ uint64(p) ^ 1<<22) * 0x9E3779B97F4A7C15
		}
		if o.command > 0 {
			r.told = slices.Grow(r.told, o.command)
			n := len(r.told)
			r.told = r.told[:n+o.command]
			w.Host().CommandImage(p, r.told[n:])
		}
	}
	for e, v := range w.Host().Happened {
		layout := o.game.Events()[e.Kind].Layout()
		n, at := layout.Len(), len(r.data)
		r.data = slices.Grow(r.data, n)[:at+n]
		if layout.Pack(&o.sync, v, r.data[at:]) != nil {
			clear(r.data[at:]) // it was packed when it was emitted
		}
		r.events = append(r.events, happening{e, int32(at), int32(n)})
	}
	for _, class := range o.listed {
		groups := o.classes[class]
		for id := range w.Host().Of(class) {
			image, at := w.Host().Image(id), len(r.data)
			for _, g := range groups {
				for _, s := range g.index {
					r.data = append(r.data, image[s])
				}
			}
			r.bodies = append(r.bodies, body{id, int32(at), int32(len(r.data) - at)})
		}
	}
}
