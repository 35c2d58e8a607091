package timeline_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/ruled"
	"github.com/coeval-dev/coeval/world"
)

// wide is a command with more numbers than a mask has bits.
type wide struct{ Keys [100]int8 }

func (c *wide) Sync(s *bits.Sync) {
	for i := range c.Keys {
		s.Int8(&c.Keys[i], -3, 3)
	}
}

var wideGame = world.Define("wide", world.Commands[wide]())

// What a judge rules says the same after it was sent, whoever plays and whatever they do; and by it
// another mirror executes exactly that.
func TestRulingsAreSent(t *testing.T) {
	for _, g := range []*world.Game{game, wideGame} {
		slots := g.Commands().Slots
		rapid.Check(t, func(t *rapid.T) {
			w, err := g.New(world.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			judge, err := ruled.New(w,
				ruled.Options{Judge: true, Wait: -1, Term: rapid.Uint32().Draw(t, "term")})
			if err != nil {
				t.Fatal(err)
			}
			other, err := ruled.New(w, ruled.Options{Term: judge.Term()})
			if err != nil {
				t.Fatal(err)
			}
			player := rapid.Custom(func(t *rapid.T) world.Player {
				if rapid.Bool().Draw(t, "low") {
					return world.Player(rapid.IntRange(1, 9).Draw(t, "player"))
				}
				return world.Player(rapid.IntRange(1, 400).Draw(t, "player"))
			})
			for n := world.Tick(1); n <= 12; n++ {
				for i := range rapid.IntRange(0, 12).Draw(t, "commands") {
					c := timeline.Command{
						Tick: n, Seq: uint32(i + 1), Player: player.Draw(t, "by"),
						Kind: rapid.SampledFrom([]timeline.Kind{timeline.Give, timeline.Join,
							timeline.Join, timeline.Leave}).Draw(t, "kind")}
					if c.Kind == timeline.Give {
						c.Image = make([]int32, len(slots))
						for k := range slots {
							c.Image[k] = slots[k].Absent
						}
						for range rapid.IntRange(0, 4).Draw(t, "changes") {
							k := rapid.IntRange(0, len(slots)-1).Draw(t, "slot")
							c.Image[k] = rapid.Int32Range(slots[k].Min, slots[k].Max).Draw(t,
								"value")
						}
					}
					if _, err := judge.Submit(0, c); err != nil {
						t.Fatal(err)
					}
				}
				if err := judge.Advance(at(n)); err != nil {
					t.Fatal(err)
				}
				var used ruled.Ruling
				for r := range judge.Rulings {
					b := r.Append([]byte("before"))
					got, err := ruled.ParseRuling(g, b[6:])
					if err != nil || !got.Equal(r) || string(b[:6]) != "before" {
						t.Fatalf("%+v became %+v, %v", r, got, err)
					}
					if err := used.Parse(g, b[6:]); err != nil || !used.Equal(r) {
						t.Fatalf("%+v became %+v in used memory, %v", r, used, err)
					}
					if f, err := other.Rule(0, got); f != timeline.OnTime || err != nil {
						t.Fatal(f, err)
					}
				}
				if err := other.Advance(at(n)); err != nil {
					t.Fatal(err)
				}
				if a, b := judge.Settled(), other.Settled(); a.Tick() != n || b.Tick() != n ||
					a.Hash() != b.Hash() {
					t.Fatalf("ticks %d and %d", a.Tick(), b.Tick())
				}
			}
		})
	}
}

// A tick in which nothing changes is ruled in a few bytes.
func TestRulingsAreSmall(t *testing.T) {
	judge, _ := pair(t, ruled.Options{Wait: -1})
	for n := world.Tick(1); n <= 300; n++ {
		for p := world.Player(1); p <= 24; p++ {
			c := timeline.Command{Tick: n, Seq: uint32(n), Player: p, Image: image(act{X: 1})}
			if n == 1 {
				c.Kind = timeline.Join
			}
			if _, err := judge.Submit(0, c); err != nil {
				t.Fatal(err)
			}
		}
		for _, b := range advance(t, judge, at(n)) {
			if n == 300 && len(b) > 11 {
				t.Errorf("24 players who go on take %d bytes", len(b))
			}
		}
	}
}

// Whatever is sent as a ruling is refused, or is the one form of what it says; and a mirror who
// believes it does not break.
func FuzzRuling(f *testing.F) {
	judge, _ := pair(f, ruled.Options{Wait: -1})
	for _, c := range []timeline.Command{
		{Kind: timeline.Join, Tick: 1, Player: 1}, {Kind: timeline.Join, Tick: 1, Player: 2}, {
			Kind: timeline.Join, Tick: 2, Player: 40},
		{Tick: 2, Player: 1, Image: image(act{X: 1})}, {Tick: 2, Player: 40, Image: image(act{})}, {
			Tick: 3, Player: 1, Image: image(act{Fire: true})},
		{Tick: 3, Player: 2, Image: image(act{X: -1, Grab: true})}, {
			Kind: timeline.Leave, Tick: 4, Player: 1},
	} {
		if _, err := judge.Submit(0, c); err != nil {
			f.Fatal(err)
		}
	}
	var valid [][]byte
	for _, b := range advance(f, judge, at(6)) {
		f.Add(b)
		valid = append(valid, b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := ruled.ParseRuling(wideGame, b); err == nil && !bytes.Equal(r.Append(nil), b) {
			t.Errorf("%x became %x", b, r.Append(nil))
		}
		r, err := ruled.ParseRuling(game, b)
		if err != nil {
			return
		}
		if again := r.Append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x became %x", b, again)
		}
		_, other := pair(t, ruled.Options{Delay: 10 * time.Millisecond})
		rulings := slices.Clone(valid)
		for _, b := range slices.Insert(rulings, int(r.Tick)%len(rulings), b) {
			v := parse(t, b)
			_, _ = other.Rule(0, v) // it may be refused
		}
		_ = other.Advance(at(20)) // and it may be over
	})
}

// What sending and taking in a ruling costs, for 24 players of whom a few do something else at each
// tick.
func BenchmarkRuling(b *testing.B) {
	judge, err := ruled.New(begin(b), ruled.Options{Judge: true, Wait: -1})
	if err != nil {
		b.Fatal(err)
	}
	var rulings []ruled.Ruling
	for n := world.Tick(1); n <= 200; n++ {
		for p := world.Player(1); p <= 24; p++ {
			a, ok := busy(p, n)
			c := timeline.Command{Tick: n, Seq: uint32(n), Player: p, Image: image(a)}
			if n == 1 {
				c.Kind = timeline.Join
			} else if !ok {
				continue
			}
			if _, err := judge.Submit(0, c); err != nil {
				b.Fatal(err)
			}
		}
		for _, bytes := range advance(b, judge, at(n)) {
			rulings = append(rulings, *parse(b, bytes))
		}
	}
	var buf []byte
	var back ruled.Ruling
	size, n := 0, 0
	b.ReportAllocs()
	for b.Loop() {
		buf = rulings[n%len(rulings)].Append(buf[:0])
		if err := back.Parse(game, buf); err != nil {
			b.Fatal(err)
		}
		size += len(buf)
		n++
	}
	b.ReportMetric(float64(size)/float64(n), "B/ruling")
}
