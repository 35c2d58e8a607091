package world

import (
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"pgregory.net/rapid"
)

func TestLoadSaysWhatIsWrong(t *testing.T) {
	w := newArena(t, Settings{Seed: 1})
	run(t, w, 1, 50)
	data := w.Host().Save(nil)
	other := Define("boules", arenaParts()...)
	older := Define("arena", arenaParts()[:2]...)
	for _, x := range []struct {
		name string
		game *Game
		data []byte
		is   error
		says string
	}{
		{"other game", other, data, ErrGame, `game "arena", not "boules"`},
		{"other version", older, data, ErrGame, "other classes"},
		{"not a world", arena, []byte("hello, this is a text"), ErrGame, "not a saved world"},
		{"nothing", arena, nil, ErrGame, "not a saved world"},
		{"cut", arena, data[:len(data)/2], ErrDamaged, "ends too early"},
		{"left over", arena, append(slices.Clone(data), 0), ErrDamaged, "left over"},
	} {
		if _, err := x.game.Load(x.data); !errors.Is(err, x.is) ||
			!strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v", x.name, err)
		}
	}
	for i := range data {
		bad := slices.Clone(data)
		bad[i] ^= 0x10
		if _, err := arena.Load(bad); err == nil {
			t.Fatalf("byte %d of %d was changed and no one noticed", i, len(data))
		}
	}
}

// village is an arena with few entities, so that saved ones are short.
var village = Define("village", append(arenaParts()[:9:9], OnStart(func(w *World) {
	for i := range 3 {
		Spawn(w, drone{})
		Spawn(w, trail{})
		Spawn(w, ship{Name: "abc"[:i], Health: 40 * i})
		Emit(w, None, sunk{By: 7})
	}
}))...)

// head is what every save of the game starts with.
func head(g *Game) []byte {
	return binary.LittleEndian.AppendUint64(
		append(binary.AppendUvarint([]byte(magic), uint64(len(g.name))), g.name...), g.Hash())
}

// FuzzLoad gives Load everything but the beginning and the hash at the end, which would otherwise
// keep all mutations out.
func FuzzLoad(f *testing.F) {
	w, err := village.New(Settings{Seed: 1, Allocator: 3})
	if err != nil {
		f.Fatal(err)
	}
	for range 3 {
		data := w.Host().Save(nil)
		f.Add(data[len(head(village)) : len(data)-8])
		run(f, w, 1, 20)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append(append(head(village), data...), 0, 0, 0, 0, 0, 0, 0, 0)
		w, _, err := village.load(data, LoadLimits{})
		if err != nil {
			return
		}
		again, err := village.Load(w.Host().Save(nil))
		if err != nil {
			t.Fatal("what was loaded and saved cannot be loaded: ", err)
		}
		if d := Differ(w, again); d != nil {
			t.Fatal(d)
		}
		for range 2 {
			if err := errors.Join(w.Host().Step(nil), again.Host().Step(nil)); err != nil &&
				!errors.Is(err, ErrLimit) {
				t.Fatal(err)
			}
			if d := Differ(w, again); d != nil {
				t.Fatal(d)
			}
		}
	})
}

func drawInputs(t *rapid.T) *Inputs {
	in := arena.NewInputs()
	players := rapid.SliceOfN(rapid.Uint16Range(1, 1<<16-1), 0, 6)
	for _, p := range players.Draw(t, "joins") {
		in.Join(Player(p))
	}
	for _, p := range players.Draw(t, "leaves") {
		in.Leave(Player(p))
	}
	for _, p := range players.Draw(t, "commands") {
		if err := Give(in, Player(p),
			steer{Thrust: rapid.Int8Range(0, 15).Draw(t, "thrust"),
				Fire: rapid.Bool().Draw(t, "fire")}); err != nil {
			t.Fatal(err)
		}
	}
	return in
}

func TestInputsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawInputs(t), drawInputs(t)
		buf := make([]byte, 4096)
		wr := bits.NewWriter(buf)
		var s bits.Sync
		s.StartWrite(wr)
		a.Sync(&s)
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
		r := bits.NewReader(wr.Bytes())
		s.StartRead(r)
		b.Sync(&s)
		if err := errors.Join(s.Err(), r.Finish()); err != nil {
			t.Fatal(err)
		}
		sameInputs(t, a, b)
		c := arena.NewInputs()
		if err := c.CopyFrom(a); err != nil {
			t.Fatal(err)
		}
		a.Reset()
		sameInputs(t, b, c)
	})
}

func sameInputs(t interface{ Fatal(...any) }, a, b *Inputs) {
	if !slices.Equal(a.joins, b.joins) || !slices.Equal(a.leaves, b.leaves) ||
		!slices.Equal(a.players, b.players) {
		t.Fatal(a, b)
	}
	for _, p := range a.players {
		x, _ := Given[steer](a, p)
		y, ok := Given[steer](b, p)
		image := make([]int32, len(arena.Commands().Slots))
		c := arena.NewInputs()
		if !a.Image(p, image) || c.GiveImage(p, image) != nil {
			t.Fatal("no image of ", x)
		}
		z, _ := Given[steer](c, p)
		if !ok || x != y || x != z {
			t.Fatal(p, x, y, z)
		}
	}
}

func FuzzInputs(f *testing.F) {
	in := arena.NewInputs()
	for p := range Player(20) {
		in.Join(p * 7)
		_ = Give(in, p, steer{Thrust: 3})
	}
	var s bits.Sync
	wr := bits.NewWriter(make([]byte, 1000))
	s.StartWrite(wr)
	in.Sync(&s)
	f.Add(wr.Bytes())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := arena.NewInputs()
		var s bits.Sync
		r := bits.NewReader(data)
		s.StartRead(r)
		in.Sync(&s)
		if s.Err() != nil || r.Finish() != nil {
			return
		}
		wr := bits.NewWriter(make([]byte, len(data)+16))
		s.StartWrite(wr)
		in.Sync(&s)
		if s.Err() != nil || !slices.Equal(wr.Bytes(), data) {
			t.Fatalf("read from %x, written as %x (%v)", data, wr.Bytes(), s.Err())
		}
		w, err := arena.New(Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Host().Step(in); err != nil && !errors.Is(err, ErrLimit) {
			t.Fatal(err)
		}
	})
}

func TestGiveFromTakesBackWhatItCannotRead(t *testing.T) {
	in := arena.NewInputs()
	for p := Player(1); p <= 3; p++ {
		if err := Give(in, p, steer{Thrust: int8(p)}); err != nil {
			t.Fatal(err)
		}
	}
	if in.GiveFrom(2, bits.NewReader(nil)) == nil {
		t.Error("a command was read from nothing")
	}
	if !slices.Equal(in.Players(), []Player{1, 3}) {
		t.Error(in.Players())
	}
	for _, p := range in.Players() {
		if c, _ := Given[steer](in, p); c.Thrust != int8(p) {
			t.Error(p, c)
		}
	}
	if in.GiveFrom(Nobody, bits.NewReader([]byte{0, 0, 0})) == nil {
		t.Error("nobody gave a command")
	}
	if err := in.GiveFrom(2, bits.NewReader([]byte{0, 0xf0, 0xff})); err != nil {
		t.Error(err)
	}
}

func TestFieldsByName(t *testing.T) {
	w := newArena(t, Settings{Seed: 1})
	run(t, w, 1, 30)
	for id := range All[ship](w) {
		s := Get[ship](w, id)
		for name, want := range map[string]any{
			"Pos.X": s.Pos.X, "Health": int64(s.Health), "Burning": s.Burning, "Name": s.Name,
			"Nose.Y": s.Nose.Y, "Shots": int64(s.Shots)} {
			f, err := w.Host().Field(id, name)
			if err != nil || f.Value != want {
				t.Errorf("%s: %v, %v, want %v", name, f, err, want)
			}
		}
		if _, err := w.Host().Field(id, "Mass"); err == nil {
			t.Error("there is a Mass")
		}
		if f, _ := w.Host().Field(id, "Shots"); f.Role != "server" {
			t.Error(f)
		}
		if f, _ := w.Host().Field(id, "Nose.X"); f.Role != "derived" {
			t.Error(f)
		}
	}
	if d := w.Host().Clone(); Differ(w, d) != nil {
		t.Error(Differ(w, d))
	} else {
		for id := range All[ship](d) {
			Get[ship](d, id).Mood += 1
			if got := Differ(w, d); got == nil || got.Field != "Mood" || got.Entity != id ||
				got.Class != "ship" {
				t.Error(got)
			}
			break
		}
	}
}

// sparse makes a world of which little is left: each of its tables has that many banks, each with
// one slot that was used once.
func sparse(t *testing.T, banks int) []byte {
	w, err := village.New(Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range w.tables {
		for a := 1; a <= banks && !table.class.state; a++ {
			b := table.needBank(uint16(a))
			if err := table.fill(b, 0, slotFree, 5, MaxEntities); err != nil {
				t.Fatal(err)
			}
		}
	}
	return w.Host().Save(nil)
}

// TestAStrangersWorld loads worlds that say little and ask for much. What is allocated for one is
// in proportion to its size.
func TestAStrangersWorld(t *testing.T) {
	load := func(data []byte, l LoadLimits) (uint64, error) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := village.LoadWithin(data, l)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc, err
	}
	for _, x := range []struct {
		name  string
		banks int
		l     LoadLimits
		is    error
	}{
		{"an honest one", 3, LoadLimits{}, nil},
		{"of many servers", 200, LoadLimits{}, nil},
		{"of very many servers", 1200, LoadLimits{}, ErrMemory},
		{"of very many servers, from a friend", 1200, LoadLimits{Memory: 1 << 30}, nil},
		{"of more than a caller wants", 200, LoadLimits{Memory: 1 << 20}, ErrMemory},
	} {
		data := sparse(t, x.banks)
		n, err := load(data, x.l)
		t.Logf("%s: %d bytes take %d kB: %v", x.name, len(data), n>>10, err)
		if !errors.Is(err, x.is) {
			t.Errorf("%s: %v", x.name, err)
		}
		if most := x.l.memory(village, len(data)); n > uint64(2*most) {
			t.Errorf("%s: %d bytes took %d, and at most %d are allowed", x.name, len(data), n, most)
		}
	}
	w := newArena(t, Settings{})
	w.admitOne(1<<16 - 1)
	data := w.Host().Save(nil)
	if _, err := arena.LoadWithin(data, LoadLimits{Memory: 1 << 16}); !errors.Is(err, ErrMemory) {
		t.Errorf("a player of a high number: %v", err)
	}
	if _, err := arena.Load(data); err != nil {
		t.Error(err)
	}
}
