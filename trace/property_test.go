package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// A line is a record in words, kept beyond the next.
func line(r *Record) string {
	s := fmt.Sprintf("tick %d hash %x/%d joins %v leaves %v", r.Tick, r.Hash, r.HashBits, r.Joins,
		r.Leaves)
	if r.IsState() {
		data, err := r.State()
		return fmt.Sprintf("state %s given %v: %x %v", s, r.Given(), data, err)
	}
	for i, p := range r.Players {
		s += fmt.Sprintf(" %d:%v", p, r.Command(i))
	}
	return s
}

func lines(t interface{ Fatal(...any) }, data []byte) (out []string, err error) {
	r, err := Open(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for {
		rec, err := r.Next()
		if err != nil {
			if _, again := r.Next(); again != err {
				t.Fatal("the error did not stay: ", again)
			}
			return out, err
		}
		out = append(out, line(rec))
	}
}

// drawn are inputs of any kind, for properties.
func drawn(t *rapid.T) func(world.Tick, *world.Inputs) {
	players := rapid.SliceOfN(rapid.Uint16Range(1, 300), 1, 5).Draw(t, "players")
	return func(tick world.Tick, in *world.Inputs) {
		in.Reset()
		for _, p := range players {
			player := world.Player(p)
			switch rapid.IntRange(0, 12).Draw(t, "what") {
			case 0:
				in.Join(player)
			case 1:
				in.Leave(player)
			case 2, 3, 4, 5:
				c := run{X: int8(rapid.IntRange(-1, 1).Draw(t, "x")),
					Fire: rapid.Bool().Draw(t, "fire")}
				c.Slot = rapid.Uint8Range(0, 200).Draw(t, "slot")
				c.Gold = rapid.Int64().Draw(t, "gold")
				c.Say = rapid.StringN(0, 6, 12).Draw(t, "say")
				if err := world.Give(in, player, c); err != nil {
					t.Fatal(err)
				}
			case 6, 7, 8, 9, 10:
				if err := world.Give(in, player, run{X: 1}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func drawPlay(t *rapid.T) play {
	return play{
		ticks:  rapid.IntRange(0, 150).Draw(t, "ticks"),
		inputs: drawn(t),
		options: Options{
			HashEvery:  rapid.SampledFrom([]int{0, -1, 1, 7}).Draw(t, "hash every"),
			StateEvery: rapid.SampledFrom([]int{0, -1, 1, 25}).Draw(t, "state every"),
			Note:       rapid.StringN(0, 10, -1).Draw(t, "note"),
			Build:      Build{Module: "example.org/shooter", Version: "v1.2.3"},
		},
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlay(rt)
		var want []*world.Inputs
		var hashes []uint64
		p.each = func(w *world.World, in *world.Inputs) {
			kept := shooter.NewInputs()
			kept.CopyFrom(in)
			want, hashes = append(want, kept), append(hashes, w.Hash())
		}
		data, last := p.record(t, shooter)
		r := open(t, data)
		h := r.Header()
		if h.Game != "shooter" || h.Seed != 7 || h.Rate != 60 || h.First != 0 ||
			h.Note != p.options.Note || h.Build != p.options.Build ||
			h.Declarations != shooter.Hash() ||
			!slices.Equal(h.Commands.Slots, shooter.Commands().Slots) || h.Fits(shooter) != nil {
			rt.Fatalf("header %+v", h)
		}
		in, n, states := shooter.NewInputs(), 0, 0
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				rt.Fatal(err)
			}
			if rec.IsState() {
				if int(rec.Tick) != n || rec.Given() != (n == 0) {
					rt.Fatalf("a state of tick %d after %d ticks", rec.Tick, n)
				}
				states++
				continue
			}
			if err := rec.Inputs(in); err != nil {
				rt.Fatal(err)
			}
			if int(rec.Tick) != n+1 || !sameInputs(in, want[n]) {
				rt.Fatalf("tick %d differs", rec.Tick)
			}
			if !sameHash(rec.Hash, rec.HashBits, hashes[n], 64) {
				rt.Fatalf("tick %d has hash %x/%d, not %x", rec.Tick, rec.Hash, rec.HashBits,
					hashes[n])
			}
			n++
		}
		if n != p.ticks || r.Counts().Ticks != n || r.Counts().States != states {
			rt.Fatalf("%d ticks of %d, counts %+v", n, p.ticks, r.Counts())
		}
		res, err := Replay(shooter, open(t, data), ReplayOptions{})
		if err != nil || res.Mismatch != nil || res.Damage != nil || res.Hash != last.Hash() ||
			int(res.Last) != p.ticks {
			rt.Fatalf("%+v %v", res, err)
		}
	})
}

func sameInputs(a, b *world.Inputs) bool {
	write := func(in *world.Inputs) []byte {
		buf := make([]byte, 1<<14)
		w := bits.NewWriter(buf)
		var s bits.Sync
		s.StartWrite(w)
		in.Sync(&s)
		if s.Err() != nil {
			panic(s.Err())
		}
		return w.Bytes()
	}
	return bytes.Equal(write(a), write(b))
}

// TestAnyCut holds that a trace that was cut anywhere can be read, and is a prefix.
func TestAnyCut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlay(rt)
		data, _ := p.record(t, shooter)
		whole, err := lines(rt, data)
		if err != io.EOF {
			rt.Fatal(err)
		}
		n := rapid.IntRange(0, len(data)-1).Draw(rt, "cut")
		part, err := lines(rt, data[:n])
		switch {
		case n == 0 && errors.Is(err, ErrNotTrace):
		case !errors.Is(err, ErrCut):
			rt.Fatalf("cut at %d of %d: %v", n, len(data), err)
		}
		if len(part) > len(whole) || !slices.Equal(part, whole[:len(part)]) {
			rt.Fatal("what is left is not the beginning")
		}
	})
}

// TestAnyFlip holds that no byte can change without being noticed, and that what comes before is as
// it was.
func TestAnyFlip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlay(rt)
		data, _ := p.record(t, shooter)
		whole, _ := lines(rt, data)
		at := rapid.IntRange(0, len(data)-1).Draw(rt, "at")
		bad := slices.Clone(data)
		bad[at] ^= byte(rapid.IntRange(1, 255).Draw(rt, "flip"))
		part, err := lines(rt, bad)
		if !errors.Is(err, ErrNotTrace) && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrCut) {
			rt.Fatalf("byte %d of %d: %v", at, len(data), err)
		}
		if len(part) >= len(whole)+1 || !slices.Equal(part, whole[:len(part)]) {
			rt.Fatal("what is left is not the beginning")
		}
		var damage *DamageError
		// the number of a version can become that of another, whose first block then is not right
		if errors.As(err, &damage) && damage.Offset > max(int64(at), int64(len(magic))) {
			rt.Fatalf("byte %d was changed, and the damage is said to begin at %d", at,
				damage.Offset)
		}
	})
}
