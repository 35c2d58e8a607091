package turns_test

import (
	"math/rand/v2"
	"testing"

	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/world"
)

// loop is a source of one command that is repeated, or of another in one tick.
type loop struct {
	coder       *turns.Coder
	known       world.Tick
	other       world.Tick // in which the command is another
	image, last []int32
}

func newLoop() *loop {
	l := &loop{coder: turns.NewCoder(rules)}
	l.image, l.last = make([]int32, l.coder.Len()), make([]int32, l.coder.Len())
	l.coder.Start(l.image)
	copy(l.last, l.image)
	l.last[0]++
	return l
}

func (l *loop) Turn(t world.Tick, in *world.Inputs) bool {
	image := l.image
	if t == l.other {
		image = l.last
	}
	for p := world.Player(1); p <= 2; p++ {
		if t == 1 {
			in.Join(p)
		}
		_ = in.GiveImage(p, image)
	}
	return t <= l.known
}

func newLooping(b *testing.B, l *loop, o turns.Options) *turns.Copy {
	w, err := rules.New(world.Settings{Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	c, err := turns.NewCopy(w, l, o)
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// BenchmarkRepair computes 8 ticks again, since the first was guessed wrong.
func BenchmarkRepair(b *testing.B) {
	l := newLoop()
	l.known = 100
	c := newLooping(b, l, turns.Options{Depth: 8})
	for range l.known + 8 {
		if ok, err := c.Advance(); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
	again := func() {
		if l.other == 0 {
			l.other = l.known + 1
		} else {
			l.other = 0
		}
		c.Learn(l.known + 1)
		if err := c.Repair(); err != nil {
			b.Fatal(err)
		}
	}
	again()
	before, n := c.Stats().Again, uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		again()
		n++
	}
	if got := c.Stats().Again - before; got != 8*n {
		b.Fatalf("%d ticks were computed again in %d times", got, n)
	}
}

// BenchmarkAdvance shows ticks as they are known, with marks and all.
func BenchmarkAdvance(b *testing.B) {
	l := newLoop()
	l.known = 1 << 40
	c := newLooping(b, l, turns.Options{})
	advance := func() {
		if ok, err := c.Advance(); !ok || err != nil {
			b.Fatal(ok, err)
		}
		c.Settle(c.Known())
	}
	for range 1000 {
		advance()
	}
	b.ReportAllocs()
	for b.Loop() {
		advance()
	}
}

// BenchmarkGuess shows ticks that are guessed and then known, as guessed.
func BenchmarkGuess(b *testing.B) {
	l := newLoop()
	c := newLooping(b, l, turns.Options{Depth: 8})
	advance := func() {
		if ok, err := c.Advance(); !ok || err != nil {
			b.Fatal(ok, err)
		}
		if c.Shown() > 6 {
			l.known = c.Shown() - 6
			c.Learn(l.known)
		}
		if err := c.Repair(); err != nil {
			b.Fatal(err)
		}
		c.Settle(c.Known())
	}
	for range 1000 {
		advance()
	}
	b.ReportAllocs()
	for b.Loop() {
		advance()
	}
}

// BenchmarkItem makes an item of a command, and takes it in elsewhere.
func BenchmarkItem(b *testing.B) {
	const ticks = 4096
	s := newScript(rand.New(rand.NewPCG(1, 1)), 1, ticks)
	coder := s.coder
	st, before := turns.NewStream(coder, 1), make([]int32, coder.Len())
	coder.Start(before)
	var item []byte
	n := uint64(0)
	put := func() {
		image := s.truth[0][n%ticks]
		n++
		var err error
		if item, err = coder.Append(item[:0], before, image); err != nil {
			b.Fatal(err)
		}
		copy(before, image)
		if news, err := st.Put(n, item); !news || err != nil {
			b.Fatal(news, err)
		}
	}
	for range 4 * ticks {
		put()
	}
	b.ReportAllocs()
	for b.Loop() {
		put()
	}
}
