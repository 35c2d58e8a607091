package dis

import (
	"iter"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/reckon"
)

// Options say who we are in an exercise, and what we take from others. The zero value listens to
// all exercises and believes what can be.
type Options struct {
	// Exercise is the one that we take part in; zero listens to all.
	Exercise uint8
	// Site and Application are our own. Whoever else speaks for them is refused. Zero for who
	// only listens.
	Site, Application uint16

	// Beats are how often entities of a type are told, so that the silent are forgotten. Nil means
	// reckon.StandardBeats for all.
	Beats func(t Type) reckon.Beats

	// Entities is how many are remembered at most, and Simulators how many applications. Zero means
	// 20,000 and 1,000.
	Entities, Simulators int

	// MaxSpeed, in metres a second, and MaxSpin, in radians a second, are beyond what anything
	// does; MaxPos is the greatest distance from the centre of the Earth. What says more is
	// refused. Zero means 20,000, 1,000 and 100,000 km.
	MaxSpeed, MaxSpin, MaxPos float64

	// MaxJump is by how many metres an entity may be away from where it was reckoned. What jumps
	// further is taken there only when it says so twice, so that no single PDU can do it. Zero
	// means 10 km.
	MaxJump float64

	// MaxAge is by how much clocks that are said to agree may differ; beyond it the time of arrival
	// counts. Zero means 5 s.
	MaxAge time.Duration
}

func (o *Options) fill() {
	set := func(p *float64, to float64) {
		if *p <= 0 {
			*p = to
		}
	}
	set(&o.MaxSpeed, 20000)
	set(&o.MaxSpin, 1000)
	set(&o.MaxPos, 1e8)
	set(&o.MaxJump, 10000)
	if o.Entities <= 0 {
		o.Entities = 20000
	}
	if o.Simulators <= 0 {
		o.Simulators = 1000
	}
	if o.MaxAge <= 0 {
		o.MaxAge = 5 * time.Second
	}
	if o.Beats == nil {
		o.Beats = func(Type) reckon.Beats { return reckon.StandardBeats }
	}
}

// Refusal is why a PDU was not believed.
type Refusal uint8

// The refusals.
const (
	Taken     Refusal = iota // it was not refused
	Malformed                // its bytes are no PDU
	Elsewhere                // it is of another exercise
	Ours                     // it speaks for what is ours
	Nobody                   // it names no proper entity
	NoNumber                 // a number in it is infinite or none
	TooFast                  // it moves or spins as nothing does
	TooFar                   // it is beyond where anything is
	Late                     // a newer one of the same entity came before
	Jumped                   // it is far from where it was a moment ago
	Full                     // there are as many entities as are remembered
	refusals
)

var refusalNames = [refusals]string{"taken", "malformed", "other exercise", "claims to be ours",
	"no proper name", "not a number", "too fast", "too far", "late", "jumped", "no room"}

func (r Refusal) String() string {
	if r < refusals {
		return refusalNames[r]
	}
	return "refused"
}

// Counters are what an Exercise has seen.
type Counters struct {
	Datagrams, Bytes uint64
	Kinds            [256]uint64 // PDUs that were well-formed, by kind
	Refused          [refusals]uint64
	OddClocks        uint64 // stamps that were said to be absolute and are far from our clock
	Forgotten        uint64 // entities that fell silent
	Removed          uint64 // entities that were said to be no more
}

// Refusals goes through the reasons for which PDUs were refused, with how many there were.
func (c *Counters) Refusals() iter.Seq2[Refusal, uint64] {
	return func(yield func(Refusal, uint64) bool) {
		for r := Malformed; r < refusals; r++ {
			if n := c.Refused[r]; n > 0 && !yield(r, n) {
				return
			}
		}
	}
}

// Entity is one of the others in an exercise, as we know it.
type Entity struct {
	ID      ID
	Force   uint8
	Type    Type
	Marking Marking
	Looks   uint32
	Model   reckon.Model
	Version uint8
	Updates uint64 // Entity State PDUs that were taken

	told   reckon.Body // in the model's axes
	at     time.Duration
	heard  time.Duration
	stamp  Stamp
	silent time.Duration // how long it may be

	jump  reckon.Body // where it says to be, if that is not believed yet
	jumps bool
}

// At is the entity at a time, as it is to be reckoned, with velocity along the world's axes.
func (e *Entity) At(now time.Duration) reckon.Body {
	return reckon.Flight{Model: e.Model, Body: e.told}.After((now - e.at).Seconds())
}

// Heard is how long ago the last PDU came, at a time.
func (e *Entity) Heard(now time.Duration) time.Duration { return now - e.heard }

// Exercise is what one program knows of an exercise: who else is there, reckoned to now. It is
// given datagrams and the time, and does nothing of its own accord.
type Exercise struct {
	o        Options
	entities map[ID]*Entity
	order    []*Entity // by ID, remade when it is asked for
	stale    bool
	next     time.Duration // when one may be forgotten
	reader   Reader
	Counters Counters
}

// NewExercise makes an exercise in which nobody is known yet.
func NewExercise(o Options) *Exercise {
	o.fill()
	return &Exercise{o: o, entities: map[ID]*Entity{}}
}

// Receive takes in a datagram that came at a time; clock is what an absolute stamp of now would be.
// Each PDU that is believed is then given to each, which may be nil; it must not be kept. Entities
// change with it.
func (x *Exercise) Receive(now time.Duration, clock Stamp, datagram []byte, each func(PDU)) {
	x.Counters.Datagrams++
	x.Counters.Bytes += uint64(len(datagram))
	for p, err := range x.reader.All(datagram) {
		if err != nil {
			x.Counters.Refused[Malformed]++
			continue
		}
		h := HeaderOf(p)
		x.Counters.Kinds[h.Kind]++
		why := x.take(now, clock, p)
		x.Counters.Refused[why]++
		if why == Taken && each != nil {
			each(p)
		}
	}
}

// take decides about one PDU.
func (x *Exercise) take(now time.Duration, clock Stamp, p PDU) Refusal {
	h := HeaderOf(p)
	if x.o.Exercise != 0 && h.Exercise != x.o.Exercise {
		return Elsewhere
	}
	switch p := p.(type) {
	case *EntityState:
		return x.entityState(now, clock, p)
	case *Fire:
		return x.speaks(p.Firer, finite(p.Pos) && p.Vel.finite() && p.Range-p.Range == 0)
	case *Detonation:
		return x.speaks(p.Firer, finite(p.Pos) && p.Vel.finite() && p.At.finite())
	case *Collision:
		return x.speaks(p.Issuer, p.Vel.finite() && p.At.finite() && p.Mass-p.Mass == 0)
	case *RemoveEntity:
		// An entity that is no more is told with its own name. A simulator's own can be told to
		// all; a request to remove what is another's is not ours to carry out.
		if x.ours(p.From) {
			return Ours
		}
		if e := x.entities[p.From]; e != nil && (p.To == p.From || p.To == ID{} || all(p.To)) {
			x.drop(e)
			x.Counters.Removed++
		}
	case *CreateEntity:
		return x.speaks(p.From, true)
	case *StartResume:
		return x.speaks(p.From, true)
	case *StopFreeze:
		return x.speaks(p.From, true)
	case *Acknowledge:
		return x.speaks(p.From, true)
	case *Data:
		return x.speaks(p.From, true)
	case *Comment:
		return x.speaks(p.From, true)
	}
	return Taken
}

func all(id ID) bool {
	return id.Site == Everyone && id.Application == Everyone && id.Number == Everyone
}

func (x *Exercise) ours(id ID) bool {
	return (x.o.Site != 0 || x.o.Application != 0) && id.From(x.o.Site, x.o.Application)
}

// speaks says whether one may say what it says.
func (x *Exercise) speaks(by ID, numbers bool) Refusal {
	switch {
	case x.ours(by):
		return Ours
	case !numbers:
		return NoNumber
	}
	return Taken
}

func (x *Exercise) entityState(now time.Duration, clock Stamp, p *EntityState) Refusal {
	if why := x.judge(p); why != Taken {
		return why
	}
	e := x.entities[p.ID]
	if !p.Active() {
		if e != nil {
			x.drop(e)
			x.Counters.Removed++
		}
		return Taken
	}
	at := now
	if h := &p.Header; h.Time.IsAbsolute() {
		if age := clock.Since(h.Time); age.Abs() <= x.o.MaxAge {
			at = now - age
		} else {
			x.Counters.OddClocks++
		}
	}
	if e == nil {
		if len(x.entities) >= x.o.Entities {
			return Full
		}
		e = &Entity{ID: p.ID}
		x.entities[p.ID], x.stale = e, true
	} else if why := x.compare(now, at, e, p); why != Taken {
		return why
	}
	e.take(now, at, p)
	beats := x.o.Beats(p.Type)
	still := p.Model == reckon.Static || p.Vel == Vec{} && p.Spin == Vec{} && p.Accel == Vec{}
	e.silent = beats.Gone(still)
	if due := now + e.silent; e.silent > 0 && (x.next == 0 || due < x.next) {
		x.next = due
	}
	return Taken
}

// judge says what is wrong with an entity by itself.
func (x *Exercise) judge(p *EntityState) Refusal {
	switch {
	case x.ours(p.ID):
		return Ours
	case !p.ID.Proper():
		return Nobody
	case !p.Finite():
		return NoNumber
	case p.Vel.Vec3().Len() > x.o.MaxSpeed, p.Spin.Vec3().Len() > x.o.MaxSpin,
		p.Accel.Vec3().Len() > x.o.MaxSpeed:
		return TooFast
	case p.Pos.Len() > x.o.MaxPos:
		return TooFar
	}
	return Taken
}

// compare says what is wrong with an update of an entity that is known.
func (x *Exercise) compare(now, at time.Duration, e *Entity, p *EntityState) Refusal {
	back := p.Time.Since(e.stamp)
	if p.Time.IsAbsolute() == e.stamp.IsAbsolute() && back < 0 && back > -time.Minute {
		return Late
	}
	was := e.At(at)
	if was.Pos.Sub(p.Pos).Len() <= x.o.MaxJump {
		return Taken
	}
	if e.jumps && e.jump.Pos.Sub(p.Pos).Len() <= x.o.MaxJump {
		return Taken // it says so again
	}
	e.jump, e.jumps, e.heard, e.stamp = p.Body(), true, now, p.Time
	return Jumped
}

func (e *Entity) take(now, at time.Duration, p *EntityState) {
	e.Force, e.Type, e.Marking, e.Looks = p.Force, p.Type, p.Marking, p.Looks
	e.Model, e.Version = p.Model, p.Header.Version
	e.told, e.at, e.heard, e.stamp, e.jumps = p.Body(), at, now, p.Time, false
	if p.Frozen() {
		e.Model = reckon.Static
	}
	e.Updates++
}

func (x *Exercise) drop(e *Entity) {
	delete(x.entities, e.ID)
	x.stale = true
}

// Tick forgets those who have been silent for too long.
func (x *Exercise) Tick(now time.Duration) {
	if x.next == 0 || now < x.next {
		return
	}
	x.next = 0
	for _, e := range x.entities { // the order does not matter
		due := e.heard + e.silent
		switch {
		case e.silent <= 0:
		case due <= now:
			x.drop(e)
			x.Counters.Forgotten++
		case x.next == 0 || due < x.next:
			x.next = due
		}
	}
}

// Len is how many others there are.
func (x *Exercise) Len() int { return len(x.entities) }

// Entity finds one of the others, or nil.
func (x *Exercise) Entity(id ID) *Entity { return x.entities[id] }

// Entities goes through the others, in order of their IDs.
func (x *Exercise) Entities() iter.Seq[*Entity] {
	if x.stale {
		x.stale = false
		x.order = x.order[:0]
		for _, e := range x.entities {
			x.order = append(x.order, e)
		}
		slices.SortFunc(x.order, func(a, b *Entity) int { return a.ID.compare(b.ID) })
	}
	return slices.Values(x.order)
}
