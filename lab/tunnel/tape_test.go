package tunnel

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// recordTrace has bots play a title and records them. Some may leave out commands.
func recordTrace(t *testing.T, title *game.Title, players, ticks int,
	leaveOut func(*world.Inputs, int)) (s *lab.Subject, name string) {
	t.Helper()
	s, err := lab.NewSubject(title, "", players)
	if err != nil {
		t.Fatal(err)
	}
	m, err := lab.NewMatch(s, players, 1)
	if err != nil {
		t.Fatal(err)
	}
	name = filepath.Join(t.TempDir(), "match.trace")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tw, err := trace.NewWriter(f, m.World, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range ticks {
		if err := m.Prepare(); err != nil {
			t.Fatal(err)
		}
		if leaveOut != nil {
			leaveOut(m.In, i)
		}
		if err := m.World.Host().Step(m.In); err != nil {
			t.Fatal(err)
		}
		if err := tw.Tick(m.In, m.World); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	return s, name
}

// TestReadTape: a tape that is read from a trace is what the players in it did, also if the trace
// was cut off.
func TestReadTape(t *testing.T) {
	const players, ticks = 3, 400
	s, name := recordTrace(t, arena.Title, players, ticks, nil)
	direct, err := Record(s, players, ticks, 1)
	if err != nil {
		t.Fatal(err)
	}
	read, err := ReadTape(s, []string{name}, players, ticks)
	if err != nil || len(read.players) != players {
		t.Fatalf("%v; %d players", err, len(read.players))
	}
	for p, list := range direct.players {
		// bots give nothing until they have joined
		first := slices.IndexFunc(list, func(image []int32) bool { return image != nil })
		if !slices.EqualFunc(list[first:], read.players[p], slices.Equal) {
			t.Errorf("player %d did something else", p+1)
		}
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.trace")
	if err := os.WriteFile(cut, whole[:len(whole)*9/10], 0o600); err != nil {
		t.Fatal(err)
	}
	if part, err := ReadTape(s, []string{cut}, players, ticks); err != nil ||
		len(part.players[0]) < 60 || part.hash() == read.hash() {
		t.Errorf("most of a trace: %v", err)
	}
	one, err := ReadTape(s, []string{name}, 1, 100)
	if err != nil || len(one.players) != 1 || len(one.players[0]) != 100 {
		t.Errorf("%v: %d players", err, len(one.players))
	}
	// Two seats that share a person do not do the same at the same time.
	in, image := s.Game.NewInputs(), make([]int32, len(s.Game.Commands().Slots))
	same := 0
	for tick := range world.Tick(100) {
		var was []int32
		for seat := range 2 {
			if err := one.play(seat, tick, 1, in); err != nil || !in.Image(1, image) {
				t.Fatal(err)
			}
			if seat == 0 {
				was = slices.Clone(image)
			}
		}
		if slices.Equal(was, image) {
			same++
		}
	}
	if same > 50 {
		t.Errorf("two seats do the same in %d of 100 ticks", same)
	}
}

// TestTapeGaps: where somebody gave no command, what is left of the last when it is repeated is
// given.
func TestTapeGaps(t *testing.T) {
	var first []int32
	s, name := recordTrace(t, arena.Title, 2, 200, func(in *world.Inputs, i int) {
		first = slices.Grow(first[:0], 64)[:len(arena.Title.Game.Commands().Slots)]
		if i > 10 && i%3 != 0 && in.Image(1, first) {
			in.Reset() // and so the second gives none
			if err := in.GiveImage(1, first); err != nil {
				t.Error(err)
			}
		}
	})
	tape, err := ReadTape(s, []string{name}, 2, 200)
	if err != nil {
		t.Fatal(err)
	}
	coder := turns.NewCoder(s.Game)
	list, repeated := tape.players[1], 0
	if len(tape.players[0]) < len(list) || len(list) < 190 {
		t.Fatalf("%d and %d ticks", len(tape.players[0]), len(list))
	}
	for i := 1; i < len(list); i++ {
		again := slices.Clone(list[i-1])
		coder.Repeat(again)
		if slices.Equal(again, list[i]) {
			repeated++
		}
	}
	if repeated < 100 {
		t.Errorf("%d of %d commands are the one before, repeated", repeated, len(list))
	}
}

// TestNoTape: what is no recording of the game is refused with a reason.
func TestNoTape(t *testing.T) {
	s, _ := recordTrace(t, arena.Title, 2, 1, nil)
	_, other := recordTrace(t, pong.Title, 2, 100, nil)
	_, short := recordTrace(t, arena.Title, 2, 30, nil)
	text := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(text, []byte("left, left, fire"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, want string }{
		{other, `it is of "pong"`}, {short, "nobody plays for a second"}, {text, "not a trace"},
		{filepath.Join(t.TempDir(), "none"), "no such file"},
	} {
		if _, err := ReadTape(s, []string{c.name}, 2, 100); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
