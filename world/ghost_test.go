package world

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/coeval-dev/coeval/bits"
	"pgregory.net/rapid"
)

// A page takes two lines of cache, which is felt where all pages are visited.
func TestPageSize(t *testing.T) {
	if n := unsafe.Sizeof(page{}); unsafe.Sizeof(uintptr(0)) == 8 && n != 128 {
		t.Errorf("a page takes %d bytes", n)
	}
	if n := unsafe.Sizeof(slot{}); n > 24 {
		t.Errorf("a slot takes %d bytes", n)
	}
}

// A meddler does to another thing what must be done by an action.
type meddler struct {
	Mode   int
	Victim ID
}

func (m *meddler) Sync(s *bits.Sync) {
	s.Int(&m.Mode, 0, 10)
	bits.Integer(s, &m.Victim, 0, 1<<64-1)
}

func (m *meddler) Step(w *World, me ID) {
	x := Get[walker](w, m.Victim)
	if x == nil {
		return
	}
	switch m.Mode {
	case 1:
		x.Health--
	case 2:
		x.Secret = 7
	case 3:
		w.Remove(m.Victim)
	case 4:
		w.SetOwner(m.Victim, 3)
	case 5:
		Emit(w, m.Victim, ouch{N: 1})
	case 6:
		StateOf[board](w).Blows++
	case 7:
		StateOf[board](w).Quiet++
	case 8: // memory to work with is everybody's own
		b := StateOf[board](w)
		b.list = append(b.list, 1)
	case 9: // as it was
		h := x.Health
		x.Health = 1
		x.Health = h
	}
}

var meddling = Define("meddling", State[board](), Class[walker](), Class[meddler](),
	Commands[nudge](), Event[ouch](EventOptions{Delivery: Saved}))

// What is done to what belongs to another server is taken back, and is an error that says where
// while developing.
func TestWritesToGhosts(t *testing.T) {
	for mode, says := range []string{"", "walker 1.0.1: field Health is written",
		"walker 1.0.1: field Secret is written", "walker 1.0.1: it is removed",
		"walker 1.0.1: it is given to an owner", "walker 1.0.1: event ouch is saved about it",
		"board 0.0.1: field Blows is written", "board 0.0.1: field Quiet is written", "", ""} {
		for _, develop := range []bool{false, true} {
			w, err := meddling.New(Settings{Seed: 1, Develop: develop})
			if err != nil {
				t.Fatal(err)
			}
			w.busy = true
			victim := Spawn(w, walker{Health: 9, Secret: 3})
			Spawn(w, meddler{Mode: mode, Victim: victim})
			w.busy = false
			step(t, w, nil)
			all, err := w.Host().Divide(0, []int{0, 1}, func(id ID) int { return id.Class() - 1 })
			if err != nil {
				t.Fatal(err)
			}
			z := all[1]
			if err := z.Host().PutGhost(victim, all[0].Host().Entry(victim),
				all[0].Host().Image(victim)); err != nil {
				t.Fatal(err)
			}
			calm := z.Host().Clone()
			for range 3 {
				err = errors.Join(err, z.Host().Step(nil))
				calm.tick++
			}
			undone := 0
			if says != "" {
				undone = 3
			}
			if n := z.Host().Undone(); n != undone {
				t.Errorf("mode %d: %d undone", mode, n)
			}
			if develop && says != "" {
				if !errors.Is(err, ErrGhost) || !strings.Contains(err.Error(), says) {
					t.Errorf("mode %d: %v", mode, err)
				}
			} else if err != nil {
				t.Errorf("mode %d: %v", mode, err)
			}
			for _, id := range []ID{victim, makeID(0, 0, 0, 1)} {
				if z.Host().HashEntity(id) != calm.Host().HashEntity(id) || !z.Ghost(id) {
					t.Errorf("mode %d: %v is not what it was", mode, id)
				}
			}
			for range z.Host().SavedHappened {
				t.Errorf("mode %d: an event is kept", mode)
			}
		}
	}
}

// zones are some worlds between which entities move at random.
type zones struct {
	t       *rapid.T
	all     []*World
	flights [][]flight // to each
	acts    []sentAct
	names   map[Name]string
}

// Wherever entities go, each is in one place, each tick of it is computed once, and no two things
// have the same name.
func TestZones(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, err := seamless.New(Settings{Seed: rapid.Uint64().Draw(t, "seed"), Secret: 9})
		if err != nil {
			t.Fatal(err)
		}
		in := seamless.NewInputs()
		for p := range Player(6) {
			in.Join(p + 1)
		}
		step(t, w, in)
		step(t, w, nil)
		z := &zones{t: t, names: map[Name]string{}}
		n := rapid.IntRange(2, 4).Draw(t, "zones")
		z.all, err = w.Host().Divide(0, []int{0, 5, 9, 1}[:n], func(id ID) int {
			return rapid.IntRange(0, n-1).Draw(t, "zone")
		})
		if err != nil {
			t.Fatal(err)
		}
		z.flights = make([][]flight, n)
		for range rapid.IntRange(1, 40).Draw(t, "ticks") {
			z.tick()
			z.move()
			z.check()
		}
	})
}

func (z *zones) tick() {
	for i, w := range z.all {
		in := seamless.NewInputs()
		z.flights[i] = z.land(w, z.flights[i])
		for p := range w.Players {
			if rapid.IntRange(0, 2).Draw(z.t, "commands") == 0 {
				if err := Give(in, p, nudge{Go: 1, Spawn: rapid.Bool().Draw(z.t, "spawns")}); err !=
					nil {
					z.t.Fatal(err)
				}
			}
		}
		for _, a := range z.acts {
			if w.Has(a.Target) && !w.Ghost(a.Target) {
				if err := in.Act(a.Acted, a.data); err != nil {
					z.t.Fatal(err)
				}
			}
		}
		again := w.Host().Clone()
		step(z.t, w, in)
		step(z.t, again, in)
		if d := Differ(w, again); d != nil {
			z.t.Fatal(d)
		}
		loaded, err := seamless.Load(w.Host().Save(nil))
		if err != nil || Differ(w, loaded) != nil {
			z.t.Fatal(err, Differ(w, loaded))
		}
	}
	z.acts = nil
	for _, w := range z.all {
		for a, data := range w.Host().Outgoing {
			z.acts = append(z.acts, sentAct{a, append([]byte(nil), data...)})
		}
		for e := range w.Host().Happened {
			if was, there := z.names[e.Name]; there {
				z.t.Fatalf("two events are called %+v: %s and %v", e.Name, was, e.Kind)
			}
			z.names[e.Name] = "an event"
		}
	}
}

// land takes in those of a world's visitors who are due.
func (z *zones) land(w *World, list []flight) (rest []flight) {
	for _, f := range list {
		if f.due > w.tick+1 {
			rest = append(rest, f)
			continue
		}
		id, stepped, err := w.Host().Unpack(f.data)
		if err != nil || w.Host().HashEntity(id) != f.hash {
			z.t.Fatal(f.id, err)
		}
		if err := w.Host().Catch(id, int(w.tick-stepped)); err != nil {
			z.t.Fatal(err)
		}
	}
	return rest
}

// move sends some entities to other worlds.
func (z *zones) move() {
	for i, w := range z.all {
		var ids []ID
		for id := range w.Entities() {
			if !w.Ghost(id) {
				ids = append(ids, id)
			}
		}
		for _, id := range ids {
			to := rapid.IntRange(0, 3*len(z.all)).Draw(z.t, "to")
			if to >= len(z.all) || to == i {
				continue
			}
			late := rapid.IntRange(0, MaxCatch).Draw(z.t, "late")
			z.flights[to] = append(z.flights[to], flight{id: id, data: w.Host().Pack(id, nil),
				hash: w.Host().HashEntity(id), due: w.tick + 1 + Tick(late)})
			if rapid.Bool().Draw(z.t, "ghost") {
				w.Host().SetGhost(id)
				if rapid.Bool().Draw(z.t, "dropped") {
					w.Host().DropGhost(id)
				}
			} else {
				w.Host().Lend(id)
			}
		}
	}
}

func (z *zones) check() {
	seen := map[ID]bool{}
	for i, w := range z.all {
		here := map[int]int{}
		for id := range w.Entities() {
			x := Get[walker](w, id)
			if w.Ghost(id) {
				continue
			}
			here[id.Allocator()]++
			if seen[id] {
				z.t.Fatalf("%v is there twice", id)
			}
			seen[id] = true
			if x.Ticks != int(w.tick-w.Origin(id).Tick) {
				z.t.Fatalf("%v was stepped %d times in %d ticks", id, x.Ticks,
					w.tick-w.Origin(id).Tick)
			}
			if x.Secret != x.Ticks {
				z.t.Fatalf("%v counts %d in secret, and %d openly", id, x.Secret, x.Ticks)
			}
		}
		for a, n := range here {
			if got, _ := w.Host().AllocatorUse(a); got != n {
				z.t.Fatalf("zone %d: %d of allocator %d are here, not %d", i, n, a, got)
			}
		}
	}
	for _, list := range z.flights {
		for _, f := range list {
			if seen[f.id] {
				z.t.Fatalf("%v is there, and on its way", f.id)
			}
			seen[f.id] = true
		}
	}
	for _, w := range z.all { // what was lent is not forgotten
		_, lent := w.Host().AllocatorUse(w.settings.Allocator)
		n := 0
		for id := range seen {
			if id.Allocator() == w.settings.Allocator && (!w.Has(id) || w.Ghost(id)) {
				n++
			}
		}
		if lent != n {
			z.t.Fatalf("%d of allocator %d are lent, not %d", n, w.settings.Allocator, lent)
		}
	}
}

// What an action draws and emits where its target is, and what the target itself does in that
// tick, are not the same numbers and names.
func TestActionsFromElsewhereHaveTheirOwn(t *testing.T) {
	all := divided(t, 4)
	ferry(t, all)
	for range 10 {
		ferry(t, all)
		for _, w := range all {
			by := map[ID]map[int]int{}
			for e, o := range Events[ouch](w) {
				if by[e.By] == nil {
					by[e.By] = map[int]int{}
				}
				by[e.By][int(e.Ordinal)]++
				if o.N > 1<<10 {
					by[e.By][o.N]++
				}
			}
			for id, m := range by {
				for what, n := range m {
					if n > 1 {
						t.Errorf("%v has %d %d times", id, what, n)
					}
				}
				if len(m) < 3 {
					t.Errorf("%v emits %v", id, m)
				}
			}
		}
	}
}

// A state can move its home.
func TestStateMoves(t *testing.T) {
	all := divided(t, 4)
	id := StateID[board](all[0])
	data, hash := all[0].Host().Pack(id, nil), all[0].Host().HashEntity(id)
	all[0].Host().SetGhost(id)
	if _, _, err := all[1].Host().Unpack(data); err != nil || all[1].Host().HashEntity(id) != hash {
		t.Fatal(err)
	}
	if !all[0].Ghost(id) || all[1].Ghost(id) || all[0].Host().Ghosts(0) != 1 ||
		all[1].Host().Ghosts(0) != 0 {
		t.Error("its home is not where it went")
	}
	before := StateOf[board](all[1]).Blows
	for range 4 {
		ferry(t, all)
	}
	if n := StateOf[board](all[1]).Blows; n <= before {
		t.Errorf("%d blows are counted at its new home, %d before", n, before)
	}
}
