package turns_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/world"
)

func TestItems(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	s := newScript(r, 3, 400)
	total, coder := 0, s.coder
	for p := range s.players {
		before, image := make([]int32, coder.Len()), make([]int32, coder.Len())
		coder.Start(before)
		for i, item := range s.items[p] {
			total += len(item)
			if err := coder.Read(item, before, image); err != nil {
				t.Fatalf("item %d of %d bytes: %v", i, len(item), err)
			}
			if !slices.Equal(image, s.truth[p][i]) {
				t.Fatalf("item %d: %v, want %v", i, image, s.truth[p][i])
			}
			before, image = image, before
		}
	}
	t.Logf("%.2f bytes a command", float64(total)/1200)
}

func TestStreamRefuses(t *testing.T) {
	s := newScript(rand.New(rand.NewPCG(4, 2)), 1, 10)
	st := s.streams[0]
	if _, err := st.Put(1, s.items[0][0]); err != nil {
		t.Fatal(err)
	}
	other := append([]byte{1}, s.items[0][0]...)
	if _, err := st.Put(1, other); !errors.Is(err, turns.ErrTwoFaced) {
		t.Fatal(err)
	}
	if _, err := st.Put(2, []byte{0, 0, 0}); !errors.Is(err, turns.ErrItem) {
		t.Fatal(err)
	}
	if news, err := st.Put(2, s.items[0][1]); !news || err != nil {
		t.Fatal(news, err)
	}
	if news, err := st.Put(2+turns.Window, nil); news || err != nil {
		t.Fatal(news, err)
	}
}

// TestRepeat has a stream go on with commands that repeat the last, whatever came early for those,
// and then with others.
func TestRepeat(t *testing.T) {
	c := turns.NewCoder(rules)
	s := turns.NewStream(c, 5)
	image, before := make([]int32, c.Len()), make([]int32, c.Len())
	c.Start(before)
	copy(image, before)
	image[0] = c.Least(0)
	item, err := c.Append(nil, before, image)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []uint64{5, 7, 9} { // two of them early
		if _, err := s.Put(n, item); err != nil {
			t.Fatal(err)
		}
	}
	s.Repeat(8)
	if s.Have() != 9 || len(s.Item(7)) != 0 || len(s.Item(9)) == 0 {
		t.Fatalf("it has all up to %d, and for 7 %x", s.Have(), s.Item(7))
	}
	for n := uint64(5); n < 9; n++ {
		if s.Image(n)[0] != image[0] {
			t.Errorf("item %d is %v, want %v", n, s.Image(n), image)
		}
	}
	s.Cut(6)
	s.Repeat(8)
	if s.Have() != 8 {
		t.Errorf("after a cut it has all up to %d, want 8", s.Have())
	}
}

// TestMerge keeps what was pressed in a command that is not executed by itself.
func TestMerge(t *testing.T) {
	c := turns.NewCoder(rules)
	in := rules.NewInputs()
	image := func(w walk) []int32 {
		in.Reset()
		if err := world.Give(in, 1, w); err != nil {
			t.Fatal(err)
		}
		b := make([]int32, c.Len())
		in.Image(1, b)
		return b
	}
	got := image(walk{X: 2})
	c.Merge(image(walk{X: 1, Fire: true, Verb: 1, Text: "hi"}), got)
	if want := image(walk{X: 2, Fire: true, Verb: 1, Text: "hi"}); !slices.Equal(got, want) {
		t.Fatalf("%v, want %v", got, want)
	}
}

func FuzzItem(f *testing.F) {
	s := newScript(rand.New(rand.NewPCG(4, 2)), 1, 40)
	for _, item := range s.items[0] {
		f.Add(item)
	}
	f.Fuzz(func(t *testing.T, item []byte) {
		before, image := make([]int32, s.coder.Len()), make([]int32, s.coder.Len())
		s.coder.Start(before)
		if s.coder.Read(item, before, image) != nil {
			return
		}
		in := rules.NewInputs()
		if err := in.GiveImage(1, image); err != nil {
			t.Fatal(err)
		}
		again, err := s.coder.Append(nil, before, image)
		if err != nil {
			t.Fatal(err)
		}
		back := make([]int32, s.coder.Len())
		if err := s.coder.Read(again, before, back); err != nil || !slices.Equal(image, back) {
			t.Fatalf("%v %v %v", err, image, back)
		}
	})
}

// TestStreamFar has somebody who lies about how much there is cost nothing.
func TestStreamFar(t *testing.T) {
	coder := turns.NewCoder(rules)
	for _, have := range []uint64{1 << 40, math.MaxUint64 - turns.Window/2, math.MaxUint64 - 1,
		math.MaxUint64} {
		s := turns.Resume(coder, have, nil, turns.Head{})
		s.Cut(10)
		_, _ = s.Put(have+1, nil)
		s.Cut(math.MaxUint64 - 1)
		if s.Holds(0) || s.Have()+1 < s.From() {
			t.Errorf("resumed at %d it begins at %d and has %d", have, s.From(), s.Have())
		}
	}
}
