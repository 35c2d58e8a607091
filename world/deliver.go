package world

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/coeval-dev/coeval/bits"
)

// ErrEvent says that a world cannot take an event, because the game has no such kind.
var ErrEvent = errors.New("no such kind of event")

// Deliver lets an event that happened elsewhere be heard in a partial world: how clients learn of
// what their server emitted. It works between ticks. Events and Happened list it as something of
// the present tick, until the next Step or SetTick; an event of a saved kind is listed by
// SavedEvents as well, in order of the ticks at which they were emitted.
//
// The reader stands before the event's fields, as the Syncer of Happened writes them, and is moved
// behind them. They may come from a stranger: if they are not what the game emits, or there are too
// many, nothing is changed and the error says why.
//
// An event that the world has predicted, and so knows by its name, is not listed twice; it becomes
// what the server says.
func (w Host) Deliver(e Emitted, r *bits.Reader) error {
	if !w.settings.Partial {
		return errors.New(
			"world: a whole world makes its own events; deliver them to a partial one")
	}
	return w.tell(e, r, w.game.keeps(e.Kind))
}

// Recall lists an event among those of the present tick, in a copy of a world that is only looked
// at: for what shows the events of several ticks at once, and each of them once, though ticks are
// computed again. It works as Deliver does, in whole worlds as well, and keeps nothing for later.
func (w Host) Recall(e Emitted, r *bits.Reader) error { return w.tell(e, r, false) }

// keeps says whether events of a kind are kept for those who come later.
func (g *Game) keeps(kind uint16) bool {
	return int(kind) < len(g.events) && g.events[kind].delivery == Saved
}

// tell lists an event that is read.
func (w Host) tell(e Emitted, r *bits.Reader, keep bool) error {
	if int(e.Kind) >= len(w.events) {
		return fmt.Errorf("world: event kind %d: %w: the game has %d", e.Kind, ErrEvent,
			len(w.events))
	}
	t, info := w.events[e.Kind], w.game.events[e.Kind]
	fail := func(err error) error { return fmt.Errorf("world: event %s: %w", info.name, err) }
	v := t.blank()
	w.sync.StartRead(r)
	v.Sync(&w.sync)
	if err := w.sync.Err(); err != nil {
		return fail(err)
	}
	if err := info.layout.Quantise(&w.sync, v); err != nil {
		return fail(err)
	}
	known := -1
	if e.Tick == w.tick { // only then can it be one that this tick emitted
		known = t.named(e, false)
	}
	if known < 0 && t.count(false) >= info.limit {
		return fail(fmt.Errorf("%w: %d such events in one tick", ErrLimit, info.limit))
	}
	if keep {
		if t.count(true) >= info.limit && t.named(e, true) < 0 {
			t.forget(w.World)
			if t.count(true) >= info.limit {
				return fail(fmt.Errorf("%w: %d such events are saved already", ErrLimit,
					info.limit))
			}
		}
		t.keep(e)
	}
	if i := t.list(e, known); known < 0 {
		w.order = append(w.order, eventRef{e.Kind, int32(i)})
	}
	return nil
}

// Retract takes back an event that was delivered, or predicted, since it did not happen after all:
// how clients learn that their server, whose world may be taken back, was wrong. It is listed no
// more, neither by SavedEvents nor among the events of the present tick. It says whether there was
// anything to take back.
func (w Host) Retract(e Emitted) bool {
	if !w.settings.Partial || int(e.Kind) >= len(w.events) {
		return false
	}
	t := w.events[e.Kind]
	saved := t.named(e, true)
	if saved >= 0 {
		t.drop(saved, true)
	}
	now := t.named(e, false)
	if now < 0 {
		return saved >= 0
	}
	t.drop(now, false)
	w.order = slices.DeleteFunc(w.order,
		func(r eventRef) bool { return r == eventRef{e.Kind, int32(now)} })
	for i := range w.order {
		if r := &w.order[i]; r.kind == e.Kind && int(r.index) > now {
			r.index--
		}
	}
	return true
}

// silence forgets the events of the tick.
func (w *World) silence() {
	for i := range w.order {
		w.events[w.order[i].kind].reset()
	}
	w.order = w.order[:0]
}

// blank gives an empty event to be read into, which list and keep then take.
func (t *eventsOf[E]) blank() bits.Syncer {
	t.spare = *new(E)
	return t.syncs(&t.spare)
}

// list puts the event that was read among those of the tick, in the place of one that is known, or
// at the end if that is negative.
func (t *eventsOf[E]) list(e Emitted, known int) int {
	if known >= 0 {
		t.now[known] = eventOf[E]{e, t.spare}
		return known
	}
	t.now = append(t.now, eventOf[E]{e, t.spare})
	return len(t.now) - 1
}

// keep puts the event that was read among the saved ones, in order of tick.
func (t *eventsOf[E]) keep(e Emitted) {
	if i := t.named(e, true); i >= 0 {
		t.saved[i] = eventOf[E]{e, t.spare}
		return
	}
	t.saved = slices.Insert(t.saved, t.saved.after(e.Tick), eventOf[E]{e, t.spare})
}

// drop takes an event out.
func (t *eventsOf[E]) drop(i int, saved bool) {
	l := t.of(saved)
	*l = slices.Delete(*l, i, i+1)
}

// named finds an event by its name, or gives -1. Saved ones stand in order of tick; those of this
// tick are few.
func (t *eventsOf[E]) named(e Emitted, saved bool) int {
	l, end := *t.of(saved), t.count(saved)
	if saved {
		end = l.after(e.Tick)
	}
	for i := end - 1; i >= 0; i-- {
		if l[i].Name == e.Name {
			return i
		}
		if saved && l[i].Tick < e.Tick {
			break
		}
	}
	return -1
}

// after is where the events end that were emitted up to a tick.
func (l eventList[E]) after(t Tick) int {
	n := len(l)
	if n == 0 || l[n-1].Tick <= t { // mostly
		return n
	}
	return sort.Search(n, func(i int) bool { return l[i].Tick > t })
}
