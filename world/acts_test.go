package world

import (
	"errors"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"pgregory.net/rapid"
)

// written are the bytes of inputs.
func writtenInputs(t testing.TB, in *Inputs) []byte {
	t.Helper()
	var s bits.Sync
	wr := bits.NewWriter(make([]byte, 1<<20))
	s.StartWrite(wr)
	if in.Sync(&s); s.Err() != nil {
		t.Fatal(s.Err())
	}
	return wr.Bytes()
}

func readInputs(g *Game, data []byte) (*Inputs, error) {
	in := g.NewInputs()
	var s bits.Sync
	r := bits.NewReader(data)
	s.StartRead(r)
	in.Sync(&s)
	return in, errors.Join(s.Err(), r.Finish())
}

// Actions among the inputs have one order and one form, whatever order they come in.
func TestActsAreInputs(t *testing.T) {
	all := divided(t, 8)
	step(t, all[0], nil)
	type sent struct {
		x    Acted
		data []byte
	}
	var list []sent
	for x, data := range all[0].Host().Outgoing {
		list = append(list, sent{x, append([]byte(nil), data...)})
	}
	if len(list) < 4 {
		t.Fatalf("%d actions left", len(list))
	}
	rapid.Check(t, func(rt *rapid.T) {
		in, other := seamless.NewInputs(), seamless.NewInputs()
		for _, a := range list {
			if err := in.Act(a.x, a.data); err != nil {
				rt.Fatal(err)
			}
		}
		for _, a := range rapid.Permutation(list).Draw(rt, "order") {
			for range rapid.IntRange(1, 2).Draw(rt, "times") {
				if err := other.Act(a.x, a.data); err != nil {
					rt.Fatal(err)
				}
			}
		}
		bytes := writtenInputs(t, in)
		back, err := readInputs(seamless, bytes)
		if err != nil || in.Empty() {
			rt.Fatal(err)
		}
		copied := seamless.NewInputs()
		if err := copied.CopyFrom(back); err != nil {
			rt.Fatal(err)
		}
		if string(writtenInputs(t, copied)) != string(bytes) {
			rt.Fatal("inputs that were read are others")
		}
		var hashes [3]uint64
		for i, in := range []*Inputs{in, other, copied} {
			w := all[1].Host().Clone()
			step(t, w, in)
			hashes[i] = w.Hash()
		}
		if hashes[0] != hashes[1] || hashes[0] != hashes[2] {
			rt.Fatal("the order of arrival matters")
		}
	})
	in := seamless.NewInputs()
	good := list[0]
	for why, bad := range map[string]sent{
		"kind":   {Acted{Name: good.x.Name, Target: good.x.Target, Kind: 9}, good.data},
		"target": {Acted{Name: good.x.Name, Target: MakeID(9, 0, 0, 1)}, good.data},
		"none":   {Acted{Name: good.x.Name}, good.data},
		"short":  {good.x, good.data[:len(good.data)-1]},
		"long":   {good.x, append(append([]byte(nil), good.data...), 0)},
		"empty":  {good.x, nil},
		"tick":   {Acted{Name: Name{Tick: 1 << 60}, Target: good.x.Target}, good.data},
	} {
		if err := in.Act(bad.x, bad.data); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v", why, err)
		}
	}
	if !in.Empty() {
		t.Error("something was taken")
	}
}

// Inputs of a game that declares no actions are what they were, to the bit.
func TestNoActionsNoBits(t *testing.T) {
	var s bits.Sync
	wr := bits.NewWriter(make([]byte, 8))
	s.StartWrite(wr)
	Define("plain", Class[drone]()).NewInputs().Sync(&s)
	if n := wr.Len(); n != 2 { // nobody joins, nobody leaves
		t.Errorf("%d bits", n)
	}
}

// In a world that is not divided, and on a client, what is there is done to at once.
func TestActAtOnce(t *testing.T) {
	w, err := seamless.New(Settings{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	in := seamless.NewInputs()
	in.Join(1)
	in.Join(2)
	step(t, w, in)
	step(t, w, nil)
	client, err := seamless.New(Settings{Seed: 7, Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	client.Host().SetTick(w.tick)
	for i := range seamless.Classes() {
		for id := range w.Host().Of(i) {
			if i == 1 && id.Index() == 1 {
				continue // it is hidden
			}
			if err := client.Host().Put(id, w.Host().Entry(id), w.Host().Image(id)); err != nil {
				t.Fatal(err)
			}
		}
	}
	step(t, w, nil)
	step(t, client, nil)
	first := makeID(1, 0, 0, 1)
	if h := Get[walker](w, first).Health; h != 497 || StateOf[board](w).Blows != 2 {
		t.Errorf("a health of %d", h)
	}
	if StateOf[board](client).Blows != 0 || Get[walker](client, first).Health != 500 {
		t.Error("a client did what it cannot know")
	}
	for range w.Host().Outgoing {
		t.Error("an action is outgoing in one whole world")
	}
	Act(w, first, blow{})
	if err := w.Host().Step(nil); err == nil {
		t.Error("an action outside of a tick was taken")
	}
}

// An action whose target has moved on is sent on, as the same action.
func TestActsGoOn(t *testing.T) {
	all := divided(t, 4)
	step(t, all[0], nil)
	in, n := seamless.NewInputs(), 0
	for x, data := range all[0].Host().Outgoing {
		n++
		if err := in.Act(x, data); err != nil {
			t.Fatal(err)
		}
	}
	// What was meant for next door comes back to where it was from.
	step(t, all[0], in)
	back := 0
	for x := range all[0].Host().Outgoing {
		if x.Hops == 1 && x.Tick+1 == all[0].tick {
			back++
		}
	}
	if n == 0 || back != n {
		t.Errorf("%d of %d went on", back, n)
	}
}

func FuzzActs(f *testing.F) {
	all := divided(f, 6)
	step(f, all[0], nil)
	in := seamless.NewInputs()
	for x, data := range all[0].Host().Outgoing {
		if err := in.Act(x, data); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(writtenInputs(f, in))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := readInputs(seamless, data)
		if err != nil {
			return
		}
		if string(writtenInputs(t, in)) != string(data) {
			t.Fatalf("read from %x, written as %x", data, writtenInputs(t, in))
		}
		for _, w := range divided(t, 4) {
			if err := w.Host().Step(in); err != nil && !errors.Is(err, ErrLimit) {
				t.Fatal(err)
			}
		}
	})
}

func FuzzUnpack(f *testing.F) {
	all := divided(f, 6)
	ferry(f, all)
	for id := range all[0].Entities() {
		f.Add(all[0].Host().Pack(id, nil))
	}
	f.Add(all[0].Host().Pack(StateID[board](all[0]), nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		for i, w := range divided(t, 6) {
			step(t, w, nil)
			before := w.Hash()
			id, stepped, err := w.Host().Unpack(data)
			if err != nil {
				if w.Hash() != before {
					t.Fatal("what was refused changed the world")
				}
				continue
			}
			again := w.Host().Pack(id, nil)
			other := divided(t, 6)[i]
			step(t, other, nil)
			id2, _, err := other.Host().Unpack(again)
			if err != nil || id2 != id || other.Host().HashEntity(id) != w.Host().HashEntity(id) {
				t.Fatal(id, err)
			}
			if err := w.Host().Catch(id, int(min(w.tick-stepped, MaxCatch))); err != nil {
				t.Fatal(err)
			}
			step(t, w, nil)
			if loaded, err := seamless.Load(w.Host().Save(nil)); err != nil ||
				loaded.Hash() != w.Hash() {
				t.Fatal(err)
			}
		}
	})
}

// BenchmarkAct is what an action costs, on what is here and on what is elsewhere.
func BenchmarkAct(b *testing.B) {
	all := divided(b, 4)
	w := all[0]
	here, there := makeID(1, 0, 0, 1), makeID(1, 0, 1, 1)
	b.Run("here", func(b *testing.B) {
		b.ReportAllocs()
		w.busy = true
		w.enter(here)
		for b.Loop() {
			Act(w, StateID[board](w), count{N: 1, By: 0.5})
		}
	})
	b.Run("elsewhere", func(b *testing.B) {
		b.ReportAllocs()
		w.busy = true
		w.enter(here)
		for b.Loop() {
			if len(w.cluster.sent.list) == 1000 {
				w.cluster.begin()
			}
			Act(w, there, blow{Much: 1, By: 0.5})
		}
	})
	b.Run("arriving", func(b *testing.B) {
		w.busy = true
		w.cluster.begin()
		w.enter(here)
		for range 1000 {
			Act(w, there, blow{Much: 1, By: 0.5})
		}
		w.busy = false
		var from acts
		from.copyFrom(&w.cluster.sent)
		in := seamless.NewInputs()
		b.ReportAllocs()
		for b.Loop() {
			in.Reset()
			for i := range from.list {
				if err := in.Act(from.list[i].Acted, from.bytes(i)); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/action")
	})
	if w.err != nil {
		b.Fatal(w.err)
	}
}
