package world

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"github.com/coeval-dev/coeval/bits"
)

// A Delivery says whom an event reaches, and how much it matters that it arrives.
type Delivery uint8

const (
	// Reliable events reach those who see what they are about at that tick, once. It is the
	// default. Those who do not see it hear nothing, so such an event may tell of places.
	Reliable Delivery = iota
	// Saved events are kept as long as the entity they are about. They also reach those who come
	// later, when they first see that entity.
	Saved
	// Unreliable events may be lost, and are worth no repetition: sparks, footsteps. They go to
	// those who see what they are about.
	Unreliable
	// Everyone is for events that all players hear of once, whatever they see and whatever the
	// event is about: a kill, a line of chat, the end of a round. They should tell of no place.
	Everyone
	// Outside is for what a game asks of whoever runs it, such as a player's record in a store. It
	// reaches no player, and clients do not predict it. What comes of it is an Answer.
	Outside
)

func (d Delivery) String() string {
	if d > Outside {
		return fmt.Sprintf("delivery %d", uint8(d))
	}
	return [...]string{"reliable", "saved", "unreliable", "everyone", "outside"}[d]
}

// Addressed is an event that is for one player or for some alone: it has a method that says for
// whom. Of those whom its Delivery reaches only they are told, so that nobody else can read it on
// the wire; on a client, others do not foresee it either. Whoever watches is Nobody.
//
//	func (h *Hint) For(p world.Player) bool { return p == h.To }
//
// It must look at nothing but the event's own fields, as it is called from several goroutines.
type Addressed interface{ For(p Player) bool }

// EventOptions say how a kind of event is treated.
type EventOptions struct {
	// Name is what the kind is called. Default: the name of its type.
	Name string
	// Delivery says whom it reaches, and whether it must arrive.
	Delivery Delivery
	// Weak events may differ a little between copies of a world that ran apart for a moment; those
	// that are not weak are strict, and a difference means that one copy was wrong.
	Weak bool
	// Limit is how many there may be in a tick, and if they are saved, altogether. Default: 65536.
	Limit int
	// Life is for how many ticks it is worth telling: one that is older when it could arrive, or
	// when someone comes who has not heard of it, is left out, as a shout from half a minute ago
	// would be. Default: it is never too old.
	Life Tick
}

// Event declares a kind of event: something that happens once, such as a shot, and is told to
// whoever shows or hears the game.
func Event[E any, P Synced[E]](options ...EventOptions) Declaration {
	return func(g *Game) error {
		o, typ := option(options), reflect.TypeFor[E]()
		e := &EventInfo{
			number: len(g.events), name: cmp.Or(o.Name, typ.Name()), delivery: o.Delivery,
			weak:  o.Weak,
			limit: cmp.Or(o.Limit, 1<<16), life: o.Life, typ: typ}
		fail := func(err error) error { return fmt.Errorf("event %s: %w", e.name, err) }
		for _, other := range g.events {
			if other.name == e.name || other.typ == typ {
				return fail(
					fmt.Errorf("event %s has the same name or type; declare a type of its own",
						other.name))
			}
		}
		if o.Delivery > Outside || e.limit < 1 || len(g.events) == 1<<16 {
			return fail(errors.New("its options make no sense; look at world.EventOptions"))
		}
		var err error
		if e.layout, err = bits.NewLayout(P(nil)); err != nil {
			return fail(err)
		}
		sh, err := examine(typ, e.layout.Schema())
		if err != nil {
			return fail(err)
		}
		if sh.deep {
			return fail(fmt.Errorf("field %s holds a %s; events are plain values, so use an array",
				sh.deepPath, sh.deepKind))
		}
		e.fields = sh.fields
		e.newTable = func() eventTable {
			return &eventsOf[E]{info: e, syncs: func(v *E) bits.Syncer { return P(v) }}
		}
		g.events = append(g.events, e)
		return nil
	}
}

// EventInfo describes a kind of event.
type EventInfo struct {
	number   int
	name     string
	delivery Delivery
	weak     bool
	limit    int
	life     Tick
	typ      reflect.Type
	layout   *bits.Layout
	fields   []leaf
	newTable func() eventTable
}

// Number is the kind's place in the game.
func (e *EventInfo) Number() int { return e.number }

// Name is what the kind is called.
func (e *EventInfo) Name() string { return e.name }

// Delivery says whom such events reach, and whether they must.
func (e *EventInfo) Delivery() Delivery { return e.delivery }

// Weak says that such events may differ a little between copies of a world.
func (e *EventInfo) Weak() bool { return e.weak }

// Limit is how many of them there may be in a tick, and altogether if they are saved.
func (e *EventInfo) Limit() int { return e.limit }

// Life is for how many ticks such an event is worth telling; 0 if it is never too old.
func (e *EventInfo) Life() Tick { return e.life }

// Layout makes and reads the events' images.
func (e *EventInfo) Layout() *bits.Layout { return e.layout }

// New makes an empty event of this kind, for its Layout to fill from an image: for programs that
// have images of events and need their fields.
func (e *EventInfo) New() bits.Syncer { return reflect.New(e.typ).Interface().(bits.Syncer) }

// Emitted is what is known of an event apart from its fields.
type Emitted struct {
	Name // who emitted it and when: the same on every machine that computes or predicts it
	// the entity it is about: who sees that one learns of it; None if there is no such entity, so
	// that everyone does
	About ID
	Kind  uint16 // its number in Game.Events
}

type eventRef struct {
	kind  uint16
	index int32
}

// An eventTable keeps the events of one kind: those of this tick, and the saved ones.
type eventTable interface {
	reset()
	forget(w *World)
	disown(id ID)
	copyFrom(from eventTable)
	count(saved bool) int
	emitted(i int, saved bool) *Emitted
	syncer(i int, saved bool) bits.Syncer
	restore(e Emitted) // makes a saved one, to be read

	// For events from outside.
	blank() bits.Syncer
	named(e Emitted, saved bool) int
	list(e Emitted, known int) int
	keep(e Emitted)
	drop(i int, saved bool)
}

type eventsOf[E any] struct {
	info  *EventInfo
	syncs func(*E) bits.Syncer
	now   eventList[E]
	saved eventList[E]
	spare E // what is being read
}

type eventList[E any] []eventOf[E]

type eventOf[E any] struct {
	Emitted
	value E
}

func (l *eventList[E]) clear() { *l = slices.Delete(*l, 0, len(*l)) }

func (l *eventList[E]) copyFrom(from eventList[E]) {
	l.clear()
	*l = append(*l, from...)
}

func (t *eventsOf[E]) of(saved bool) *eventList[E] {
	if saved {
		return &t.saved
	}
	return &t.now
}

func (t *eventsOf[E]) reset()                             { t.now.clear() }
func (t *eventsOf[E]) count(saved bool) int               { return len(*t.of(saved)) }
func (t *eventsOf[E]) emitted(i int, saved bool) *Emitted { return &(*t.of(saved))[i].Emitted }
func (t *eventsOf[E]) syncer(i int, saved bool) bits.Syncer {
	return t.syncs(&(*t.of(saved))[i].value)
}

func (t *eventsOf[E]) restore(e Emitted) { t.saved = append(t.saved, eventOf[E]{Emitted: e}) }

func (t *eventsOf[E]) copyFrom(from eventTable) {
	f := from.(*eventsOf[E])
	t.now.copyFrom(f.now)
	t.saved.copyFrom(f.saved)
}

// forget drops saved events about entities that are not there.
func (t *eventsOf[E]) forget(w *World) {
	t.saved = slices.DeleteFunc(t.saved,
		func(e eventOf[E]) bool { return e.About != None && !w.Has(e.About) })
}

// disown drops saved events about an entity.
func (t *eventsOf[E]) disown(id ID) {
	t.saved = slices.DeleteFunc(t.saved, func(e eventOf[E]) bool { return e.About == id })
}

// Emit lets an event happen. It is about an entity, so that those who see it learn of it, or about
// None, so that everyone does; a kind whose Delivery is Everyone reaches everyone anyway. A client
// that predicts emits it too, and knows it by its name when the server's arrives.
func Emit[E any](w *World, about ID, e E) {
	for k, table := range w.events {
		t, ok := table.(*eventsOf[E])
		if !ok {
			continue
		}
		if w.outside("Emit", t.info.name) {
			return
		}
		if t.info.delivery == Outside && w.settings.Partial {
			return // it is asked once, by who decides
		}
		r := Emitted{
			Name: Name{By: w.named(), Tick: w.tick, Ordinal: uint16(w.emits)}, About: about,
			Kind: uint16(k)}
		w.emits++
		if w.settings.Partial && len(t.saved) >= t.info.limit {
			t.forget(w)
		}
		if len(t.now) >= t.info.limit || t.info.delivery == Saved && len(t.saved) >= t.info.limit {
			w.fail(t.info.name, w.me,
				fmt.Errorf("%w: there are %d such events already; emit fewer, or raise Limit in "+
					"its EventOptions", ErrLimit, t.info.limit))
			return
		}
		if t.info.delivery == Saved && about != None && w.settings.Divided && w.Ghost(about) {
			w.trespass(w.game.classes[about.Class()], about,
				"event "+t.info.name+" is saved about it")
			return
		}
		last := len(t.now)
		t.now = append(t.now, eventOf[E]{r, e})
		if err := t.info.layout.Quantise(&w.sync, t.syncer(last, false)); err != nil {
			w.fail(t.info.name, w.me, err)
		}
		// the server may have told of it already
		if t.info.delivery == Saved && (!w.settings.Partial || t.named(r, true) < 0) {
			t.saved = slices.Insert(t.saved, t.saved.after(r.Tick), t.now[last])
		}
		w.order = append(w.order, eventRef{uint16(k), int32(last)})
		return
	}
	w.fail(fmt.Sprintf("%T", e), w.me,
		errors.New("it cannot be emitted; declare it by world.Event"))
}

// Events goes through the events of type E that happened in this tick, in the order in which they
// did: for what draws or sounds, and for tests.
func Events[E any](w *World) iter.Seq2[Emitted, *E] { return eventsIn[E](w, false) }

// SavedEvents goes through the events of type E that are kept for those who come later.
func SavedEvents[E any](w *World) iter.Seq2[Emitted, *E] { return eventsIn[E](w, true) }

func eventsIn[E any](w *World, saved bool) iter.Seq2[Emitted, *E] {
	return func(yield func(Emitted, *E) bool) {
		for _, table := range w.events {
			if t, ok := table.(*eventsOf[E]); ok {
				l := *t.of(saved)
				for i := range l {
					if !yield(l[i].Emitted, &l[i].value) {
						return
					}
				}
			}
		}
	}
}

// Happened goes through all events of this tick, of whatever type, in order: for programs that
// carry or compare them. The Syncer writes the event's fields, and Game.Events has the layout of
// its image; it is to be left as it is.
func (w Host) Happened(yield func(Emitted, bits.Syncer) bool) {
	for _, r := range w.order {
		t := w.events[r.kind]
		if !yield(*t.emitted(int(r.index), false), t.syncer(int(r.index), false)) {
			return
		}
	}
}

// SavedHappened is Happened for the events that are kept for those who come later, kind by kind.
func (w Host) SavedHappened(yield func(Emitted, bits.Syncer) bool) {
	for _, t := range w.events {
		for i := range t.count(true) {
			if !yield(*t.emitted(i, true), t.syncer(i, true)) {
				return
			}
		}
	}
}

// sameEvents says whether the same events happened in two worlds at their tick, strict ones exactly
// and weak ones at least by name.
func sameEvents(a, b *World) (Emitted, bool) {
	for i := range max(len(a.order), len(b.order)) {
		if i >= len(a.order) {
			return *b.events[b.order[i].kind].emitted(int(b.order[i].index), false), false
		}
		e := a.events[a.order[i].kind].emitted(int(a.order[i].index), false)
		if i >= len(b.order) ||
			*b.events[b.order[i].kind].emitted(int(b.order[i].index), false) != *e {
			return *e, false
		}
		if l := a.game.events[e.Kind].layout; !slices.Equal(pack(a, l, e.Kind, a.order[i].index),
			pack(b, l, e.Kind, b.order[i].index)) {
			return *e, false
		}
	}
	return Emitted{}, true
}

func pack(w *World, l *bits.Layout, kind uint16, i int32) []int32 {
	image := make([]int32, l.Len())
	if l.Pack(&w.sync, w.events[kind].syncer(int(i), false), image) != nil {
		return nil
	}
	return image
}
