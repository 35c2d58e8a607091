package world

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"pgregory.net/rapid"
)

// carried writes an event's fields as a server does.
func carried(v bits.Syncer) *bits.Reader {
	w := bits.NewWriter(make([]byte, 256))
	var s bits.Sync
	s.StartWrite(w)
	v.Sync(&s)
	return bits.NewReader(w.Bytes())
}

// carry takes all events of a tick from one world to another.
func carry(t fataler, to, from *World) {
	for e, v := range from.Host().Happened {
		if err := to.Host().Deliver(e, carried(v)); err != nil {
			t.Fatal(err)
		}
	}
}

type fataler interface{ Fatal(...any) }

func listed[E any](w *World, saved bool) []string {
	var out []string
	seq := Events[E](w)
	if saved {
		seq = SavedEvents[E](w)
	}
	for e, v := range seq {
		out = append(out, fmt.Sprintf("%+v %+v", e, *v))
	}
	return out
}

func happened(w *World) []string {
	var out []string
	for e, v := range w.Host().Happened {
		out = append(out, fmt.Sprintf("%+v %+v", e, v))
	}
	return out
}

// TestDeliveredEventsAreThoseOfTheServer follows a fight from a partial world that is never
// stepped.
func TestDeliveredEventsAreThoseOfTheServer(t *testing.T) {
	w, p := newArena(t, Settings{Seed: 1}), newArena(t, Settings{Seed: 1, Partial: true})
	in, inputs := arena.NewInputs(), RandomInputs(arena, 1, 8)
	n := 0
	for range 1500 {
		inputs(w.Tick()+1, in)
		if err := w.Host().Step(in); err != nil && !errors.Is(err, ErrLimit) {
			t.Fatal(err)
		}
		p.Host().SetTick(w.Tick())
		if len(happened(p)) > 0 {
			t.Fatal("what happened before is still there")
		}
		carry(t, p, w)
		if !slices.Equal(happened(p), happened(w)) ||
			!slices.Equal(listed[hit](p, false), listed[hit](w, false)) {
			t.Fatalf("%v\n%v", happened(p), happened(w))
		}
		if !slices.Equal(listed[sunk](p, true), listed[sunk](w, true)) {
			t.Fatal("saved events differ")
		}
		n += len(listed[hit](w, false))
	}
	if n == 0 || len(listed[sunk](w, true)) == 0 {
		t.Fatalf("%d hits, %d sunk: nothing was tried", n, len(listed[sunk](w, true)))
	}
	q := newArena(t, Settings{Seed: 1, Partial: true})
	if err := q.Host().CopyFrom(p); err != nil {
		t.Fatal(err)
	}
	if q.Hash() != p.Hash() || !slices.Equal(listed[sunk](q, true), listed[sunk](p, true)) {
		t.Error("a copy lost delivered events")
	}
}

// TestPredictedEventsAreHeardOnce steps a client beside its server and then lets the server's
// events arrive.
func TestPredictedEventsAreHeardOnce(t *testing.T) {
	g := Define("g", Class[siren](), Event[sunk](EventOptions{Delivery: Saved}), Event[hit](),
		OnStart(func(w *World) { Spawn(w, siren{}) }))
	w, err := g.New(Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	p, _ := g.New(Settings{Seed: 1, Partial: true})
	for id := range w.Entities() {
		if err := p.Host().Put(id, w.Host().Entry(id), w.Host().Image(id)); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		if err := errors.Join(w.Host().Step(nil), p.Host().Step(nil)); err != nil {
			t.Fatal(err)
		}
		predicted := happened(p)
		carry(t, p, w)
		if !slices.Equal(happened(p), predicted) || !slices.Equal(happened(p), happened(w)) {
			t.Fatalf("%v, predicted %v, the server has %v", happened(p), predicted, happened(w))
		}
		if got, want := listed[sunk](p, true), listed[sunk](w, true); len(want) == 0 ||
			!slices.Equal(got, want) {
			t.Fatalf("saved %v, want %v", got, want)
		}
	}
	// The server's word counts, and one that arrives late still stands in order.
	for e, v := range SavedEvents[sunk](w) {
		said := *v
		said.By = 77
		if err := p.Host().Deliver(e, carried(&said)); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range SavedEvents[sunk](p) {
		if v.By != 77 {
			t.Error("the prediction counted")
		}
	}
	late := Emitted{Name: Name{By: 5, Tick: 3}}
	if err := p.Host().Deliver(late, carried(&sunk{By: 5})); err != nil {
		t.Fatal(err)
	}
	var ticks []Tick
	for e := range SavedEvents[sunk](p) {
		ticks = append(ticks, e.Tick)
	}
	if !slices.IsSorted(ticks) || len(ticks) != 21 {
		t.Error(ticks)
	}
	// Events that arrived before their tick is computed again are not kept twice.
	fresh, _ := g.New(Settings{Seed: 1, Partial: true})
	start, _ := g.New(Settings{Seed: 1})
	for id := range start.Entities() {
		_ = fresh.Host().Put(id, start.Host().Entry(id), start.Host().Image(id))
	}
	for e, v := range SavedEvents[sunk](w) {
		if err := fresh.Host().Deliver(e, carried(v)); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		if err := fresh.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(listed[sunk](fresh, true), listed[sunk](w, true)) {
		t.Error("what was told and then predicted is kept twice")
	}
}

// siren has something to say at each tick.
type siren struct{ N int }

func (s *siren) Sync(b *bits.Sync) { b.Int(&s.N, 0, 1000) }
func (s *siren) Step(w *World, me ID) {
	s.N++
	Emit(w, me, hit{At: det.Vec2{X: float64(s.N)}})
	Emit(w, me, sunk{By: ID(s.N)})
}

func TestSavedEventsLastAsLongAsWhatTheyAreAbout(t *testing.T) {
	g := Define("g", Class[siren](), Class[drone](),
		Event[sunk](EventOptions{Delivery: Saved, Limit: 3}))
	p, err := g.New(Settings{Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	id := func(i int) ID { return MakeID(1, 0, i, 1) }
	for i := range 3 {
		if err := p.Host().Put(id(i), Entry{},
			make([]int32, g.classes[1].layout.Len())); err != nil {
			t.Fatal(err)
		}
		if err := p.Host().Deliver(Emitted{Name: Name{By: id(i)}, About: id(i)},
			carried(&sunk{By: id(i)})); err != nil {
			t.Fatal(err)
		}
	}
	p.Host().SetTick(1)
	more := Emitted{Name: Name{By: id(9), Tick: 1}, About: id(9)}
	if err := p.Host().Deliver(more, carried(&sunk{})); !errors.Is(err, ErrLimit) {
		t.Errorf("beyond the limit: %v", err)
	}
	p.Host().Forget(None)
	p.Host().Drop(id(0)) // it left the view and may come back
	if n := len(listed[sunk](p, true)); n != 3 {
		t.Errorf("%d saved events after one left the view", n)
	}
	p.Host().Forget(id(1)) // it is no more
	if p.Has(id(1)) || len(listed[sunk](p, true)) != 2 {
		t.Error(listed[sunk](p, true))
	}
	// the second takes the place of what is about an entity that is not here
	for i, want := range []error{nil, nil, ErrLimit} {
		more.Ordinal = uint16(i)
		more.About = id(2)
		if err := p.Host().Deliver(more, carried(&sunk{})); !errors.Is(err, want) {
			t.Errorf("%d: %v, want %v", i, err, want)
		}
	}
}

func TestDeliverRefuses(t *testing.T) {
	w, p := newArena(t, Settings{Seed: 1}), newArena(t, Settings{Seed: 1, Partial: true})
	hits := uint16(1)
	if w.Host().Deliver(Emitted{Kind: hits}, carried(&hit{})) == nil {
		t.Error("a whole world took an event")
	}
	if err := p.Host().Deliver(Emitted{Kind: 3}, carried(&hit{})); !errors.Is(err, ErrEvent) {
		t.Error(err)
	}
	if p.Host().Deliver(Emitted{Kind: hits}, bits.NewReader(nil)) == nil {
		t.Error("an event without its fields was taken")
	}
	g := Define("g", Event[hit](EventOptions{Limit: 2}))
	few, err := g.New(Settings{Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []error{nil, nil, ErrLimit} {
		if err := few.Host().Deliver(Emitted{Name: Name{By: 1, Ordinal: uint16(i)}},
			carried(&hit{})); !errors.Is(err, want) {
			t.Errorf("event %d: %v", i, err)
		}
	}
	if n := len(happened(few)); n != 2 {
		t.Errorf("%d events are listed", n)
	}
	if n := len(happened(p)); n != 0 {
		t.Errorf("%d refused events are listed", n)
	}
}

// TestCommandsOfStrangers steps a partial world with the commands of players that it never saw
// join.
func TestCommandsOfStrangers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newArena(t, Settings{Seed: 1})
		in := arena.NewInputs()
		players := rapid.IntRange(1, 6).Draw(t, "players")
		for p := range players {
			in.Join(Player(p + 1))
		}
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		p := newArena(t, Settings{Seed: 1, Partial: true})
		p.Host().SetTick(w.Tick())
		for i := range arena.classes {
			for id := range w.Host().Of(i) {
				if err := p.Host().Put(id, w.Host().Entry(id), w.Host().Image(id)); err != nil {
					t.Fatal(err)
				}
			}
		}
		image, again := make([]int32, arena.commands.layout.Len()),
			make([]int32, arena.commands.layout.Len())
		relayed := arena.NewInputs()
		for tick := range rapid.IntRange(1, 20).Draw(t, "ticks") {
			in.Reset()
			for q := range players {
				if tick == 0 || rapid.Bool().Draw(t, "commands") {
					_ = Give(in, Player(q+1),
						steer{Thrust: int8(rapid.IntRange(0, 15).Draw(t, "thrust")),
							Fire: rapid.Bool().Draw(t, "fire")})
				}
			}
			if err := w.Host().Step(in); err != nil {
				t.Fatal(err)
			}
			relayed.Reset()
			for q := range w.Players {
				if !w.Host().CommandImage(q, image) {
					t.Fatal("a player without a command")
				}
				if !w.Repeated(q) {
					if err := relayed.GiveImage(q, image); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := p.Host().Step(relayed); err != nil {
				t.Fatal(err)
			}
			for q := range w.Players {
				if !w.Host().CommandImage(q, image) || !p.Host().CommandImage(q, again) ||
					!slices.Equal(image, again) || w.Repeated(q) != p.Repeated(q) {
					t.Fatalf("player %d: %v, %v", q, image, again)
				}
			}
			for id := range w.Host().Of(0) {
				if !slices.Equal(w.Host().Image(id), p.Host().Image(id)) {
					t.Fatalf("%v was predicted wrong", id)
				}
			}
		}
		if w.Host().CommandImage(Player(players+1), image) || w.Host().CommandImage(Nobody, image) {
			t.Fatal("a command of someone who is not there")
		}
	})
}

func FuzzDeliver(f *testing.F) {
	f.Add(uint16(0), uint64(0), []byte{7})
	f.Add(uint16(1), uint64(1)<<24|1, []byte{1, 2, 3, 4})
	f.Add(uint16(2), uint64(3), []byte{255, 255, 255, 255, 255, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, kind uint16, about uint64, data []byte) {
		p, err := arena.New(Settings{Partial: true})
		if err != nil {
			t.Fatal(err)
		}
		e := Emitted{Name: Name{By: ID(about), Tick: Tick(len(data))}, About: ID(about), Kind: kind}
		before := p.Hash()
		err = p.Host().Deliver(e, bits.NewReader(data))
		if n := len(happened(p)); (err == nil) != (n == 1) || err != nil && p.Hash() != before {
			t.Fatalf("%d listed: %v", n, err)
		}
		if err == nil {
			for got, v := range p.Host().Happened {
				if got != e {
					t.Fatal(got)
				}
				was := fmt.Sprintf("%+v", v)
				q, _ := arena.New(Settings{Partial: true})
				if err := q.Host().Deliver(e, carried(v)); err != nil {
					t.Fatal(err)
				}
				for _, v := range q.Host().Happened {
					if now := fmt.Sprintf("%+v", v); now != was {
						t.Fatalf("%s became %s", was, now)
					}
				}
			}
			if l, err := arena.Load(p.Host().Save(nil)); err != nil || l.Hash() != p.Hash() {
				t.Fatal("it cannot be saved: ", err)
			}
		}
	})
}

func BenchmarkDeliver(b *testing.B) {
	p := newArena(b, Settings{Partial: true})
	data := append([]byte(nil), 1, 2, 3, 4, 5, 6, 7, 8)
	r := bits.NewReader(data)
	b.ReportAllocs()
	for i := range b.N {
		if i%100 == 0 {
			p.Host().SetTick(Tick(i))
		}
		r.Reset(data)
		if err := p.Host().Deliver(Emitted{Name: Name{By: 1, Tick: Tick(i)}, Kind: 1},
			r); err != nil {
			b.Fatal(err)
		}
	}
}

// TestRetract takes back what was delivered: of two in one tick, of saved ones among others, and of
// what is not there.
func TestRetract(t *testing.T) {
	w, p := newArena(t, Settings{Seed: 1}), newArena(t, Settings{Seed: 1, Partial: true})
	in, inputs := arena.NewInputs(), RandomInputs(arena, 1, 8)
	var kept []string // names of saved events that were not taken back
	taken, several := 0, 0
	for range 1500 {
		inputs(w.Tick()+1, in)
		if err := w.Host().Step(in); err != nil && !errors.Is(err, ErrLimit) {
			t.Fatal(err)
		}
		p.Host().SetTick(w.Tick())
		carry(t, p, w)
		var want []string
		i := 0
		for e, v := range w.Host().Happened {
			if i++; i%2 == 0 {
				want = append(want, fmt.Sprintf("%+v %+v", e, v))
				if arena.Events()[e.Kind].Delivery() == Saved {
					kept = append(kept, fmt.Sprintf("%+v", e))
				}
				continue
			}
			if !p.Host().Retract(e) || p.Host().Retract(e) {
				t.Fatalf("%+v is not taken back once", e)
			}
			taken++
		}
		if i > 2 {
			several++
		}
		if got := happened(p); !slices.Equal(got, want) {
			t.Fatalf("tick %d: %v is left of what should be %v", w.Tick(), got, want)
		}
		if w.Host().Retract(Emitted{}) || p.Host().Retract(Emitted{Kind: 999}) {
			t.Fatal("what was never there is taken back")
		}
	}
	if taken == 0 || several == 0 || len(kept) == 0 {
		t.Fatalf("%d taken back, %d ticks with several, %d kept: nothing was tried", taken, several,
			len(kept))
	}
	var saved []string
	for e := range p.Host().SavedHappened {
		saved = append(saved, fmt.Sprintf("%+v", e))
	}
	slices.Sort(saved)
	slices.Sort(kept)
	if !slices.Equal(saved, kept) {
		t.Errorf("%d are saved, %d should be", len(saved), len(kept))
	}
}

// TestNewEvent makes events of their images alone.
func TestNewEvent(t *testing.T) {
	w := newArena(t, Settings{Seed: 2})
	in, inputs := arena.NewInputs(), RandomInputs(arena, 2, 8)
	var sync bits.Sync
	n := 0
	for range 300 {
		inputs(w.Tick()+1, in)
		if err := w.Host().Step(in); err != nil && !errors.Is(err, ErrLimit) {
			t.Fatal(err)
		}
		for e, v := range w.Host().Happened {
			info := arena.Events()[e.Kind]
			image, other := make([]int32, info.Layout().Len()), info.New()
			if err := errors.Join(info.Layout().Pack(&sync, v, image),
				info.Layout().Unpack(&sync, other, image)); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprintf("%+v", other) != fmt.Sprintf("%+v", v) {
				t.Fatalf("%+v became %+v", v, other)
			}
			n++
		}
	}
	if n == 0 {
		t.Fatal("nothing happened")
	}
}
