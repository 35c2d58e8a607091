package world

import (
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/bits"
)

// breeder has a child at its first tick, and counts its own ticks.
type breeder struct {
	Age  int
	Many bool
}

func (b *breeder) Sync(s *bits.Sync) { s.Int(&b.Age, 0, 1000); s.Bool(&b.Many) }

func (b *breeder) Step(w *World, me ID) {
	if b.Age++; b.Age == 1 && b.Many {
		Emit(w, me, birth{})
		Spawn(w, breeder{})
		Spawn(w, infant{}) // of a class whose turn is still to come
	}
	if b.Age == 5 {
		w.Remove(me)
	}
}

// infant does nothing but grow, and does not even have an image that tells it from nothing.
type infant struct {
	Age int `world:"server"`
}

func (*infant) Sync(*bits.Sync)        {}
func (i *infant) Step(w *World, me ID) { i.Age++ }

type birth struct{}

func (*birth) Sync(*bits.Sync) {}

var nursery = Define("nursery", Class[breeder](), Class[infant](),
	Event[birth](EventOptions{Delivery: Saved}),
	OnStart(func(w *World) { Spawn(w, breeder{Many: true}) }))

func ages(w *World) (list []int) {
	for _, b := range All[breeder](w) {
		list = append(list, b.Age)
	}
	for _, i := range All[infant](w) {
		list = append(list, i.Age)
	}
	return list
}

func TestWhatIsNewStepsFromTheNextTickOn(t *testing.T) {
	w, err := nursery.New(Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for tick, want := range [][]int{{1, 0, 0}, {2, 1, 1}, {3, 2, 2}} {
		if err := w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
		got := ages(w)
		if !slices.Equal(got, want) {
			t.Errorf("tick %d: ages %v, want %v", tick+1, got, want)
		}
	}
}

func TestWhatIsNewOrChangesHandsIsChanged(t *testing.T) {
	g := Define("new", Class[infant](), OnJoin(func(w *World, p Player) {
		if w.Tick() == 1 {
			Spawn(w, infant{})
		}
		for id := range All[infant](w) {
			w.SetOwner(id, p)
		}
	}))
	w, err := g.New(Settings{})
	if err != nil {
		t.Fatal(err)
	}
	in := g.NewInputs()
	for tick, want := range []bool{true, false, true, false} {
		in.Reset()
		if tick%2 == 0 {
			in.Join(Player(tick + 1))
		}
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		for id := range w.Entities() {
			if w.Host().Changed(id) != want {
				t.Errorf("tick %d: changed is %v", tick+1, w.Host().Changed(id))
			}
		}
	}
}

func TestSavedEventsGoWithTheirEntity(t *testing.T) {
	w, err := nursery.New(Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for tick := 1; tick <= 8; tick++ {
		if err := w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
		n, want := 0, 1
		if tick >= 5 {
			want = 0
		}
		for range w.Host().SavedHappened {
			n++
		}
		if n != want {
			t.Errorf("tick %d: %d saved events, want %d", tick, n, want)
		}
	}
}

func TestDropLeavesNothing(t *testing.T) {
	w := newArena(t, Settings{Seed: 1})
	run(t, w, 1, 40)
	p := newArena(t, Settings{Seed: 1, Partial: true})
	empty := p.Hash()
	for id := range w.Entities() {
		if err := p.Host().Put(id, w.Host().Entry(id), w.Host().Image(id)); err != nil {
			t.Fatal(err)
		}
	}
	if p.Hash() == empty {
		t.Error("nothing was put")
	}
	for id := range w.Entities() {
		p.Host().Drop(id)
	}
	if p.Hash() != empty {
		t.Error("something is left:", Differ(p, newArena(t, Settings{Seed: 1, Partial: true})))
	}
	for id := range w.Entities() {
		w.Host().Drop(id) // a whole world drops nothing
	}
	if Count[drone](w) != 70 {
		t.Error(Count[drone](w))
	}
}

// total writes to all it saw once it has seen them all.
type total struct{ N int }

func (x *total) Sync(s *bits.Sync) { s.Int(&x.N, 0, 1<<20) }

func (x *total) Step(w *World, me ID) {
	var all []*tally
	for _, c := range All[tally](w) {
		all = append(all, c)
	}
	for _, c := range all {
		c.N = (c.N + len(all)) % 1000
	}
	x.N = len(all)
}

type tally struct{ N int }

func (x *tally) Sync(s *bits.Sync) { s.Int(&x.N, 0, 1<<20) }

type bystander struct{ N int }

func (x *bystander) Sync(s *bits.Sync)    { s.Int(&x.N, 0, 1<<20) }
func (x *bystander) Step(w *World, me ID) { x.N = w.Rand().IntN(1000) }

// TestWhatWasSeenBeforeCountsToo has a state that first looks at everything and then changes it:
// none of that can be predicted, but all the rest.
func TestWhatWasSeenBeforeCountsToo(t *testing.T) {
	g := Define("total", Class[bystander](), Class[tally](), State[total](),
		OnStart(func(w *World) {
			for range 8 {
				Spawn(w, bystander{})
				Spawn(w, tally{})
			}
		}))
	rep, err := CheckHidden(g, CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if rep.Wrong > 0 || rep.Explained == 0 || rep.Exact == 0 {
		t.Errorf("%+v", rep)
	}
}

// TestOwned: of what a player owns the first is found, and of what nobody owns nothing.
func TestOwned(t *testing.T) {
	g := Define("owned", Class[infant](), OnJoin(func(w *World, p Player) {
		Spawn(w, infant{})
		for range p - 1 {
			w.SetOwner(Spawn(w, infant{}), p)
		}
	}))
	w, err := g.New(Settings{})
	if err != nil {
		t.Fatal(err)
	}
	in := g.NewInputs()
	for p := range Player(3) {
		in.Join(p + 1)
	}
	for range 2 { // what was spawned is there a tick later
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		in.Reset()
	}
	for p := range Player(3) {
		var first ID
		for id := range w.Entities() {
			if first == None && w.Owner(id) == p+1 {
				first = id
			}
		}
		id, e := Owned[infant](w, p+1)
		if id != first || (e == nil) != (p == 0) || e != nil && e != Get[infant](w, id) {
			t.Errorf("player %d has %v, %v, want %v", p+1, id, e, first)
		}
	}
}
