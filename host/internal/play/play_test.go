package play

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/world"
)

var bundled = hosttest.NewProgram(arena.Title, crowd.Title, pong.Title, stack.Title)

func tryPlay(args ...string) (code int, stdout, stderr string) {
	return bundled.Try([]*cobra.Command{Command(&bundled.Program)},
		append([]string{"play"}, args...)...)
}

func TestPlayCommandLine(t *testing.T) {
	for _, x := range []struct {
		args           string
		code           int
		stdout, stderr string // what each must contain; empty means empty
	}{
		{"pong --headless --ticks 300", 0, "pong, seed 1, 1 players, tick 300: 3 entities, hash ",
			""},
		{"stack --headless --ticks 20 --players 2", 0, "302 entities", ""},
		{"arena --headless --ticks 300 --players 3", 0, "arena, seed 1, 3 players, tick 300: ", ""},
		{"arena --check --ticks 60 --players 3", 0, "0 were wrong", ""},
		{"pong --check --ticks 200", 0,
			"200 ticks computed again from copies and saves, all the same", ""},
		{"stack --check --ticks 20", 0, "0 were wrong", ""},
		{"pong", 2, "", "use --headless"},
		{"", 2, "", "which game? There are arena, crowd, pong, stack"},
		{"pnog", 2, "", `there is no game "pnog"`},
		{"pong --headless --check", 2, "", "headless"},
		{"pong --speed 0", 2, "", "--speed is 0"},
		{"pong --players -1", 2, "", "--players -1"},
		{"pong --json", 2, "", "--json goes with"},
		{"--help", 0, "a pile of boxes", ""},
	} {
		t.Run(x.args, func(t *testing.T) {
			code, stdout, stderr := tryPlay(strings.Fields(x.args)...)
			if code != x.code {
				t.Errorf("exit code %d, want %d", code, x.code)
			}
			for _, s := range []struct{ name, got, want string }{
				{"stdout", stdout, x.stdout}, {"stderr", stderr, x.stderr}} {
				if (s.want == "") != (s.got == "") || !strings.Contains(s.got, s.want) {
					t.Errorf("%s is %q, want it to contain %q", s.name, s.got, s.want)
				}
			}
		})
	}
}

func TestHeadlessRepeats(t *testing.T) {
	hash := func(args ...string) string {
		code, stdout,
			stderr := tryPlay(append([]string{"pong", "--headless", "--json", "--ticks", "500"},
			args...)...)
		var r played
		if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != 0 || r.Ticks != 500 ||
			len(r.Hash) != 16 {
			t.Fatal(code, stdout, stderr, err)
		}
		return r.Hash
	}
	first := hash()
	if again := hash(); again != first {
		t.Error("two runs differ")
	}
	if hash("--seed", "2") == first {
		t.Error("the seed makes no difference")
	}
}

// moody is a game that depends on what it must not know.
type moody struct{ N int }

var moods int

func (m *moody) Sync(s *bits.Sync)                { s.Int(&m.N, 0, 999) }
func (m *moody) Step(w *world.World, me world.ID) { moods++; m.N = moods % 1000 }

func TestCheckFails(t *testing.T) {
	g := &game.Title{
		Game: world.Define("moody", world.Class[moody](),
			world.OnStart(func(w *world.World) { world.Spawn(w, moody{}) }))}
	for _, asJSON := range []bool{false, true} {
		var out bytes.Buffer
		err := (&flags{Options: Options{Ticks: 20}, json: asJSON}).try(&out, g)
		if err == nil || !strings.Contains(err.Error(), "moody is not deterministic") {
			t.Error(err)
		}
		if !strings.Contains(out.String(), "moody 0.0.1, N:") {
			t.Errorf("%q", out.String())
		}
	}
}

// TestCompany: the bots that play along fight each other while the player does nothing, the same
// from the same seed; a game without bots has no company.
func TestCompany(t *testing.T) {
	var hashes [2]uint64
	for i := range hashes {
		g, control := arena.Title, arena.Title.Control()
		others := newCompany(g, 5, 7)
		w, err := g.Game.New(world.Settings{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		in := g.Game.NewInputs()
		for p := range world.Player(5) {
			in.Join(p + 1)
		}
		for range 2400 {
			if err := errors.Join(control(&game.Input{}, 1, in), others.give(in),
				w.Host().Step(in)); err != nil {
				t.Fatal(err)
			}
			others.seen = w
			in.Reset()
		}
		deaths := 0
		for _, s := range world.All[arena.Sheet](w) {
			deaths += s.Deaths
		}
		if deaths == 0 {
			t.Error("nobody died in forty seconds")
		}
		hashes[i] = w.Hash()
	}
	if hashes[0] != hashes[1] {
		t.Error("two runs differ")
	}
	if c := newCompany(pong.Title, 5, 7); len(c.bots) != 0 {
		t.Errorf("pong has %d bots", len(c.bots))
	}
}
