package game

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/reckon"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// A Hinter is a class that says how it is to be treated. Hints runs once, when the title is
// checked, on a zero value; fields are named by pointers to them, in the manner of Sync:
//
//	func (t *Tank) Hints(h *game.Hints) {
//		h.Heading(&t.Turret)
//		h.Body(1.5)
//	}
//
// A kind of event may have Hints, too, for Margin.
type Hinter interface{ Hints(h *Hints) }

// A Seen is a class that tells interest management where an entity is and what makes it worth
// showing. It is asked for each entity once a tick. A class without it is where its place says.
type Seen interface {
	Traits(w *world.World, me world.ID) interest.Traits
}

// An Eye is a class through which its owner looks at the world: where from, and how fast that may
// change. It is asked for each entity once a tick. Without one, players look from their Body.
type Eye interface {
	Look(w *world.World, me world.ID) interest.Observer
}

// A Leaver is a class of which clients take over some entities: once a client holds such a one it
// is told no more of it, as its own simulation is good enough. It is asked when an entity changed.
type Leaver interface {
	TakenOver(w *world.World, me world.ID) bool
}

// A Mortal is a class whose entities come and go without being removed: which of its lives one
// lives, so that a leap from one place to another is not taken for an error, and whether it is in
// play.
type Mortal interface{ Lives() (life int, alive bool) }

// Hints collect what a class says of itself. Each method may be called once, or once for each
// field; those that are not called leave things as they are for any class.
type Hints struct {
	of     string           // name of the class or event
	info   *world.ClassInfo // nil for an event
	event  *world.EventInfo
	value  any
	rate   int
	class  class
	called map[string]bool
	wrong  []error
}

// class is what hints come to.
type class struct {
	info    *world.ClassInfo
	place   world.Field
	body    float64
	predict predict.Class
	policy  replica.Policy
	margins []timeline.Margin
	relay   relaying

	seen, eye bool // it has the method
}

// relaying is whether the commands of an entity's owner go to those who see the entity.
type relaying uint8

const (
	relayDefault relaying = iota // as Title.relays says
	relayAlways
	relayNever
)

// Place says where an entity is: a vector, or a number. Default: the field Pos, if there is one.
// What is shown is smoothed there, and it is what is rewound and seen.
func (h *Hints) Place(field any) {
	f, ok := h.field("Place", field, true)
	switch {
	case !ok:
	case !h.slides(f):
		h.fail("Place",
			fmt.Errorf("%s is no place: name a vector, or a number that Sync quantises in steps",
				f.Path))
	default:
		h.class.place, h.class.predict.Place = f, f.Path
	}
}

// Heading names an angle that is smoothed as the place is.
func (h *Hints) Heading(field any) {
	f, ok := h.field("Heading", field, true)
	switch {
	case !ok:
	case h.info.Schema().Slots[f.Slots[0]].Kind != bits.KindAngle:
		h.fail("Heading",
			fmt.Errorf("%s is no angle: name one that is synced by Sync.Angle", f.Path))
	default:
		h.class.predict.Heading = f.Path
	}
}

// Smooth says how an error of the place goes away once it is known: after the time given a third of
// it is left, and an error beyond a distance is corrected at once. Defaults: 100 ms and 4 units.
func (h *Hints) Smooth(over time.Duration, beyond float64) {
	if !h.once("Smooth") {
		return
	}
	ticks := over.Seconds()*float64(h.rate) + 0.5
	if over < 0 || !(beyond >= 0) || ticks > reckon.MaxTicks {
		h.fail("Smooth",
			fmt.Errorf("%v and a distance of %v: give a time of up to %d ticks and a distance of "+
				"0 or more", over, beyond, reckon.MaxTicks))
		return
	}
	h.class.predict.Smooth = reckon.Converge{
		By: reckon.Exponential, Ticks: int32(ticks), Limit: det.FixedOf(beyond)}
}

// Predicted has clients step the class's entities whatever the style, OwnOnly only those that
// belong to the player, and Interpolated none: they are shown as they were a moment ago.
func (h *Hints) Predicted() { h.mode("Predicted", predict.Predicted) }

// OwnOnly has clients predict what belongs to the player, and show the rest as it was a moment ago.
func (h *Hints) OwnOnly() { h.mode("OwnOnly", predict.Own) }

// Interpolated has clients show the class's entities as they were a moment ago.
func (h *Hints) Interpolated() { h.mode("Interpolated", predict.Interpolated) }

func (h *Hints) mode(name string, m predict.Mode) {
	if !h.once(name) {
		return
	}
	if h.class.predict.Mode != predict.ByStyle {
		h.fail(name,
			errors.New("another of Predicted, OwnOnly and Interpolated was called; choose one"))
		return
	}
	h.class.predict.Mode = m
}

// Obstacle keeps entities that are interpolated in the way of what is predicted.
func (h *Hints) Obstacle() { h.flag("Obstacle", &h.class.predict.Obstacle) }

// Alone says that Step looks at no other entity and changes none, spawns nothing, and that nothing
// else looks at it. Such entities are predicted again by themselves.
func (h *Hints) Alone() { h.flag("Alone", &h.class.predict.Alone) }

// Leap takes an image some ticks further in one go, as reckon.Motion.After does, in place of
// predicting tick by tick: for things that are many, and of which an error is not noticed.
func (h *Hints) Leap(f func(image []int32, ticks int32, now []int32)) {
	if h.once("Leap") {
		h.class.predict.Leap = f
	}
}

// Reckon extrapolates images in integers, as reckon.Motion.Now does: for the codec, and where an
// interpolated entity's next image is late.
func (h *Hints) Reckon(f func(past *codec.History, now []int32)) {
	if h.once("Reckon") {
		h.class.predict.Reckon, h.class.policy.Reckon = f, f
	}
}

// Every is the least number of ticks between two updates of an entity that is sent, and far the
// least for one of low priority.
func (h *Hints) Every(near, far world.Tick) {
	if !h.once("Every") {
		return
	}
	if far < near {
		h.fail("Every",
			fmt.Errorf("%d ticks near and %d far: what is far cannot be told more often", near,
				far))
		return
	}
	h.class.policy.Interval, h.class.policy.Far = near, far
}

// TakeOver stops all updates of an entity once the client holds it: it flies by itself from there.
// A class of which only some are taken over has the method TakenOver instead.
func (h *Hints) TakeOver() { h.flag("TakeOver", &h.class.policy.Takeover) }

// Beyond has changes of a field told only when they amount to more than a distance, in the field's
// own units.
func (h *Hints) Beyond(field any, by float64) {
	f, ok := h.field("Beyond", field, false)
	if !ok {
		return
	}
	if !(by >= 0) {
		h.fail("Beyond", fmt.Errorf("%s by %v: give a distance of 0 or more", f.Path, by))
		return
	}
	h.class.policy.Beyond = append(h.class.policy.Beyond, replica.Threshold{Field: f.Path, By: by})
}

// Rate says that one field changes at the rate that another holds, in units a second, so that the
// codec reckons with it. Fields whose names are those of a position and a velocity are paired by
// themselves.
func (h *Hints) Rate(field, velocity any) {
	f, ok := h.field("Rate", field, false)
	v, good := h.field("Rate", velocity, false)
	if !ok || !good {
		return
	}
	if len(f.Slots) != len(v.Slots) {
		h.fail("Rate",
			fmt.Errorf("%s has %d numbers and %s %d", f.Path, len(f.Slots), v.Path, len(v.Slots)))
		return
	}
	if h.class.policy.Rates == nil {
		h.class.policy.Rates = map[string]string{}
	}
	slots := h.info.Schema().Slots
	for i, slot := range f.Slots {
		h.class.policy.Rates[slots[slot].Name] = slots[v.Slots[i]].Name
	}
}

// Kind corrects what the codec takes a field for.
func (h *Hints) Kind(field any, kind codec.Kind) {
	f, ok := h.field("Kind", field, false)
	if !ok {
		return
	}
	if h.class.policy.Kinds == nil {
		h.class.policy.Kinds = map[string]codec.Kind{}
	}
	for _, slot := range f.Slots {
		h.class.policy.Kinds[h.info.Schema().Slots[slot].Name] = kind
	}
}

// Margin has copies of the world on mirrors compare a field, which may differ by so much, in its
// own units, before that is repaired. Without a margin only strict events are compared; so give one
// for the place of what players control. Of events, only weak ones have margins.
func (h *Hints) Margin(field any, by float64) {
	f, ok := h.field("Margin", field, false)
	if !ok {
		return
	}
	h.class.margins = append(h.class.margins, timeline.Margin{Class: h.of, Field: f.Path, By: by})
}

// Relay says that clients predict the class from its owner's commands: those who see an entity of
// it are told the levels of these commands, never edges such as a shot or a line of chat. Without
// this hint that is so for the players' Body; where no class is one, for every class that is
// predicted if everyone is shown everything, and otherwise for those through which players look.
// Where players can hide, whoever sees such an entity can follow its owner: so do not give the hint
// to what is seen when its owner is not.
func (h *Hints) Relay() { h.relaying("Relay", relayAlways) }

// NoRelay says that nobody is told its owner's commands because of it.
func (h *Hints) NoRelay() { h.relaying("NoRelay", relayNever) }

func (h *Hints) relaying(name string, r relaying) {
	if !h.once(name) {
		return
	}
	if h.class.relay != relayDefault {
		h.fail(name, errors.New("Relay and NoRelay were both called; choose one"))
		return
	}
	h.class.relay = r
}

// Body says that it is what a player moves about in, one for each, and how wide one is: for
// measuring, for players to look from if no class is an Eye, and for whose commands are relayed.
func (h *Hints) Body(width float64) {
	if !h.once("Body") {
		return
	}
	if !(width > 0) {
		h.fail("Body", fmt.Errorf("%v wide: give how wide it is, above 0", width))
		return
	}
	h.class.body = width
}

// flag sets what a hint without arguments says.
func (h *Hints) flag(name string, to *bool) { *to = h.once(name) || *to }

// once notes that a hint is given, and says whether that makes sense.
func (h *Hints) once(name string) bool {
	switch {
	case h.event != nil:
		h.fail(name, errOfEvent)
		return false
	case h.called[name]:
		h.fail(name, errors.New("it is called twice"))
		return false
	}
	h.called[name] = true
	return true
}

var errOfEvent = errors.New("that is for classes; of events only Margin can be said")

// slides says whether a field can be a place: at most three numbers that take every value between.
func (h *Hints) slides(f world.Field) bool {
	for _, slot := range f.Slots {
		switch h.info.Schema().Slots[slot].Kind {
		case bits.KindFloat, bits.KindVec2, bits.KindVec3:
		default:
			return false
		}
	}
	return len(f.Slots) <= 3
}

// field finds the field that is pointed to.
func (h *Hints) field(name string, pointer any, once bool) (f world.Field, ok bool) {
	if once && !h.once(name) {
		return f, false
	}
	var err error
	switch {
	case h.event == nil:
		f, err = h.info.Field(h.value, pointer)
	case name != "Margin":
		err = errOfEvent
	default:
		f, err = h.event.Field(h.value, pointer)
	}
	if err != nil {
		h.fail(name, err)
		return f, false
	}
	return f, true
}

func (h *Hints) fail(name string, err error) {
	h.wrong = append(h.wrong, fmt.Errorf("h.%s: %w", name, err))
}

// optional are the methods that a class may have, for the mistake of one with other arguments,
// which would silently never be called.
var optional = map[string]reflect.Type{
	"Hints": reflect.TypeFor[Hinter](), "Traits": reflect.TypeFor[Seen](),
	"Look":      reflect.TypeFor[Eye](),
	"TakenOver": reflect.TypeFor[Leaver](), "Lives": reflect.TypeFor[Mortal](),
}

// readHints asks all classes and events of a game. What is wrong is listed by class.
func readHints(g *world.Game) (classes []class, wrong []error) {
	body := "" // the class that is one
	for _, info := range g.Classes() {
		h := Hints{of: info.Name(), info: info, value: info.New(), rate: g.Rate(),
			called: map[string]bool{}}
		h.class.info = info
		h.ask()
		h.conclude()
		switch {
		case h.class.body == 0:
		case body != "":
			h.fail("Body", fmt.Errorf("%s is the players' body already; they have one", body))
		default:
			body = info.Name()
		}
		for _, err := range h.wrong {
			wrong = append(wrong, fmt.Errorf("class %s: %w", info.Name(), err))
		}
		classes = append(classes, h.class)
	}
	for _, e := range g.Events() {
		h := Hints{of: e.Name(), event: e, value: e.New(), rate: g.Rate(),
			called: map[string]bool{}}
		h.ask()
		for _, err := range h.wrong {
			wrong = append(wrong, fmt.Errorf("event %s: %w", e.Name(), err))
		}
		if len(h.class.margins) > 0 {
			if !e.Weak() {
				wrong = append(wrong,
					fmt.Errorf("event %s: h.Margin: it is strict, so all of it is compared; "+
						"declare it Weak in its EventOptions, or leave the margin out", e.Name()))
				continue
			}
			// behind those that have numbers
			classes = append(classes, class{margins: h.class.margins})
		}
	}
	return classes, wrong
}

// ask runs the class's Hints on a zero value. A pointer into a slice cannot be taken there, as it
// is empty.
func (h *Hints) ask() {
	t := reflect.TypeOf(h.value)
	for _, name := range slices.Sorted(maps.Keys(optional)) {
		if m := reflect.ValueOf(h.value).MethodByName(name); m.IsValid() &&
			!t.Implements(optional[name]) {
			want, _ := optional[name].MethodByName(name)
			h.wrong = append(h.wrong,
				fmt.Errorf("method %s is a %s; it is called only if it is a %s, so change it, or "+
					"its name", name, m.Type(), want.Type))
		}
	}
	hinter, ok := h.value.(Hinter)
	if !ok {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			h.wrong = append(h.wrong,
				fmt.Errorf("Hints panicked: %v; it runs on a zero value, whose slices are empty: "+
					"name whole fields", r))
		}
	}()
	hinter.Hints(h)
}

// conclude looks at what the hints of a class come to.
func (h *Hints) conclude() {
	c := &h.class
	_, c.seen = h.value.(Seen)
	_, c.eye = h.value.(Eye)
	switch _, leaves := h.value.(Leaver); {
	case leaves && c.policy.Takeover:
		h.wrong = append(h.wrong,
			errors.New("it has the method TakenOver, which is asked for each entity, and "+
				"h.TakeOver, which is for all of them; leave one of them out"))
	case leaves:
		c.policy.TakenOver = func(w *world.World, id world.ID) bool {
			l, ok := w.Host().Value(id).(Leaver)
			return ok && l.TakenOver(w, id)
		}
	}
	if len(c.place.Slots) == 0 {
		if f, ok := h.info.FieldNamed("Pos"); ok && h.slides(f) {
			c.place = f
		}
	}
	p := &c.policy
	c.predict.Sparse = p.Interval > 0 || p.Far > 0 || p.Takeover || p.TakenOver != nil ||
		len(p.Beyond) > 0
	for _, need := range []struct {
		what string
		is   bool
	}{{"Body", c.body > 0}} {
		if need.is && len(c.place.Slots) == 0 {
			h.fail(need.what, errors.New("it needs a place: a field Pos, or h.Place"))
		}
	}
	if m := c.predict.Mode; c.relay == relayAlways && (m == predict.Own ||
		m == predict.Interpolated) {
		h.fail("Relay", errors.New("other clients do not predict it, as h.OwnOnly or "+
			"h.Interpolated says; leave one of them out"))
	}
	if h.info.State() {
		for _, name := range slices.Sorted(maps.Keys(h.called)) {
			switch name {
			case "Every", "TakeOver", "Smooth", "Place", "Heading":
			default:
				h.fail(name,
					errors.New("it is a state: there is one, which everyone is told and "+
						"predicts; leave the hint out"))
				c.predict, c.body = predict.Class{}, 0 // that says it once
			}
		}
		if c.seen || c.eye {
			h.wrong = append(h.wrong,
				errors.New("it is a state, which everyone is told: leave out the methods Traits "+
					"and Look"))
		}
	}
}

func (t *Title) predict() map[string]predict.Class {
	out := map[string]predict.Class{}
	for i := range t.classes {
		if c := &t.classes[i]; c.info != nil {
			out[c.info.Name()] = c.predict
		}
	}
	return out
}

func (t *Title) policies() map[string]replica.Policy {
	out := map[string]replica.Policy{}
	for i := range t.classes {
		if c := &t.classes[i]; c.info != nil {
			p := c.policy
			p.NoRelay = !t.relays(c)
			out[c.info.Name()] = p
		}
	}
	return out
}

// relays says whether the commands of an entity's owner go to those who see the entity.
func (t *Title) relays(c *class) bool {
	switch m := c.predict.Mode; {
	case c.relay != relayDefault:
		return c.relay == relayAlways
	case c.info.State() || m == predict.Own || m == predict.Interpolated:
		return false // nobody else predicts it
	}
	for i := range t.classes {
		if t.classes[i].body > 0 {
			return c.body > 0
		}
	}
	hides := t.Sight.Reach > 0 || t.Sight.Rules != nil || t.Sight.Views != nil
	return !hides || c.eye
}

func (t *Title) margins() (list []timeline.Margin) {
	for i := range t.classes {
		list = append(list, t.classes[i].margins...)
	}
	return list
}
