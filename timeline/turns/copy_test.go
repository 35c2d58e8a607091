package turns_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/world"
)

// A script is a match in which each player's commands come to know at some time: a source whose
// knowledge grows.
type script struct {
	coder   *turns.Coder
	players int
	truth   [][][]int32 // by player and tick
	streams []*turns.Stream
	items   [][][]byte
	joins   map[world.Tick]world.Player
}

func newScript(r *rand.Rand, players, ticks int) *script {
	s := &script{
		coder: turns.NewCoder(rules), players: players, joins: map[world.Tick]world.Player{}}
	in := rules.NewInputs()
	for p := range players {
		random := world.RandomInputs(rules, r.Uint64(), 1)
		before := make([]int32, s.coder.Len())
		s.coder.Start(before)
		var truth [][]int32
		var items [][]byte
		hold := make([]int32, s.coder.Len())
		for t := 1; t <= ticks; t++ {
			image := make([]int32, s.coder.Len())
			if t == 1 || r.IntN(3) == 0 {
				in.Reset()
				random(world.Tick(t), in)
				if !in.Image(1, hold) {
					s.coder.Start(hold)
				}
			}
			copy(image, hold)
			item, err := s.coder.Append(nil, before, image)
			if err != nil {
				panic(err)
			}
			truth, items = append(truth, image), append(items, item)
			copy(before, image)
		}
		s.truth, s.items = append(s.truth, truth), append(s.items, items)
		s.streams = append(s.streams, turns.NewStream(s.coder, 1))
		s.joins[world.Tick(1+p)] = world.Player(p + 1)
	}
	return s
}

func (s *script) Turn(t world.Tick, in *world.Inputs) bool {
	known := true
	image := make([]int32, s.coder.Len())
	for p, st := range s.streams {
		if s.joins[t] == world.Player(p+1) {
			in.Join(world.Player(p + 1))
		}
		if st.Holds(uint64(t)) {
			copy(image, st.Image(uint64(t)))
		} else {
			st.Guess(image)
			known = false
		}
		if err := in.GiveImage(world.Player(p+1), image); err != nil {
			panic(err)
		}
	}
	return known
}

// truly computes the match with everything known.
func (s *script) truly(t *testing.T, ticks int) uint64 {
	w, err := rules.New(world.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	in := rules.NewInputs()
	for n := 1; n <= ticks; n++ {
		in.Reset()
		for p := range s.players {
			if s.joins[world.Tick(n)] == world.Player(p+1) {
				in.Join(world.Player(p + 1))
			}
			if err := in.GiveImage(world.Player(p+1), s.truth[p][n-1]); err != nil {
				t.Fatal(err)
			}
		}
		_ = w.Host().Step(in)
	}
	return w.Hash()
}

// TestCopy lets commands come in any order and late, and changes between lock step and rollback on
// the way. In the end the world must be the one that is computed with everything known.
func TestCopy(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { play(t, seed) })
	}
}

func play(t *testing.T, seed uint64) {
	const ticks = 300
	r := rand.New(rand.NewPCG(seed, 2))
	s := newScript(r, 1+r.IntN(4), ticks)
	w, err := rules.New(world.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	c, err := turns.NewCopy(w, s, turns.Options{Depth: r.IntN(20), Every: 1 + r.IntN(30)})
	if err != nil {
		t.Fatal(err)
	}
	type coming struct{ player, tick int }
	var late []coming
	sent, before := 0, world.Tick(0)
	for c.Known() < ticks {
		if sent < ticks && sent < int(c.Known())+40 {
			sent++
			for p := range s.players {
				late = append(late, coming{p, sent})
			}
		}
		for i := 0; i < len(late); {
			if r.IntN(4) > 0 {
				i++
				continue
			}
			m := late[i]
			late[i] = late[len(late)-1]
			late = late[:len(late)-1]
			from := s.streams[m.player].Have() + 1
			news, err := s.streams[m.player].Put(uint64(m.tick), s.items[m.player][m.tick-1])
			if err != nil {
				t.Fatal(err)
			}
			if news {
				c.Learn(world.Tick(from))
			}
		}
		if err := c.Repair(); err != nil {
			t.Fatal(err)
		}
		if r.IntN(50) == 0 {
			c.SetDepth(r.IntN(20))
		}
		if c.Shown() < ticks {
			if _, err := c.Advance(); err != nil {
				t.Fatal(err)
			}
		}
		if c.Known() < before {
			t.Fatalf("known went back from %d to %d", before, c.Known())
		}
		before = c.Known()
		c.Settle(c.Known())
	}
	if got, want := c.World().Hash(), s.truly(t, ticks); got != want {
		t.Fatalf("the world is another: %x, want %x; %+v", got, want, c.Stats())
	}
	for _, m := range c.Marks() {
		if m.World.Tick() != m.Tick || m.Hash != s.truly(t, int(m.Tick)) {
			t.Fatalf("the mark of tick %d is of another world", m.Tick)
		}
	}
}

// TestTakenBack has something that was known not count after all, as when those who remain agree
// on the last command of one that is gone.
func TestTakenBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	s := newScript(r, 2, 200)
	w, _ := rules.New(world.Settings{Seed: 1})
	c, err := turns.NewCopy(w, s, turns.Options{Depth: 4, Every: 20})
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 90; n++ {
		for p := range s.players {
			if _, err := s.streams[p].Put(uint64(n), s.items[p][n-1]); err != nil {
				t.Fatal(err)
			}
		}
		if ok, err := c.Advance(); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	c.Settle(40)
	s.streams[1].Cut(50)
	c.Learn(51)
	if err := c.Repair(); err != nil {
		t.Fatal(err)
	}
	if c.Known() != 50 || c.Shown() != 90 || c.Stats().Far != 1 {
		t.Fatalf("known %d, shown %d, %+v", c.Known(), c.Shown(), c.Stats())
	}
	for n := 51; n <= 90; n++ {
		if _, err := s.streams[1].Put(uint64(n), s.items[1][n-1]); err != nil {
			t.Fatal(err)
		}
	}
	c.Learn(51)
	if err := c.Repair(); err != nil {
		t.Fatal(err)
	}
	if got, want := c.World().Hash(), s.truly(t, 90); got != want {
		t.Fatalf("the world is another: %x, want %x", got, want)
	}
	s.streams[1].Cut(30)
	c.Learn(31)
	if err := c.Repair(); err == nil {
		t.Fatal("what is settled was changed without a word")
	}
}
