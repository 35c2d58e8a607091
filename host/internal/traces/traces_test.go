package traces

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

var bundled = hosttest.NewProgram(arena.Title, crowd.Title, pong.Title, stack.Title)

// recordGame plays a game with people who press everything, and gives its trace and last world.
func recordGame(t testing.TB, g *world.Game, ticks int, o trace.Options,
	change func(tick world.Tick, in *world.Inputs)) ([]byte, *world.World) {
	t.Helper()
	w, err := g.New(world.Settings{Seed: 11, Secret: 12})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	tw, err := trace.NewWriter(&out, w, o)
	if err != nil {
		t.Fatal(err)
	}
	in, inputs := g.NewInputs(), world.RandomInputs(g, 13, 2)
	for range ticks {
		inputs(w.Tick()+1, in)
		if change != nil {
			change(w.Tick()+1, in)
		}
		if err := errors.Join(w.Host().Step(in), tw.Tick(in, w)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), w
}

// save puts files into a folder of their own, and gives their names.
func save(t testing.TB, files ...[]byte) (names []string) {
	t.Helper()
	dir := t.TempDir()
	for i, data := range files {
		name := filepath.Join(dir, string(rune('a'+i))+".trace")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// later is a match in which a player does something else from tick 200 on.
func later(t *testing.T) func(tick world.Tick, in *world.Inputs) {
	return func(tick world.Tick, in *world.Inputs) {
		if tick >= 200 {
			if err := world.Give(in, 1, pong.Move{Y: 1}); err != nil {
				t.Error(err)
			}
		}
	}
}

func traceOptions() trace.Options {
	return trace.Options{
		Build: trace.Build{
			Module: "example.org/pong", Version: "v1.0.0", Go: "go1.26", Platform: "plan9/mips"},
		Note: "a test"}
}

// expect runs a command and holds what it prints against parts of it.
func expect(t *testing.T, cmd *cobra.Command, code int, stdout, stderr []string,
	args ...string) string {
	t.Helper()
	got, out, err := bundled.Try([]*cobra.Command{cmd}, args...)
	if got != code {
		t.Errorf("%v: exit code %d, want %d", args, got, code)
	}
	for _, want := range stdout {
		if !strings.Contains(out, want) {
			t.Errorf("%v: no %q in\n%s", args, want, out)
		}
	}
	for _, want := range stderr {
		if !strings.Contains(err, want) {
			t.Errorf("%v: no %q in\n%s", args, want, err)
		}
	}
	if len(stderr) == 0 && err != "" || len(stdout) == 0 && out != "" {
		t.Errorf("%v: stdout %q, stderr %q", args, out, err)
	}
	return out
}

// TestUnendedChapter: a chapter that is still being written is whole as far as it goes, and what is
// damaged in one is damaged.
func TestUnendedChapter(t *testing.T) {
	data, _ := recordGame(t, pong.Game, 300, traceOptions(), nil)
	bad := slices.Clone(data[:len(data)-40])
	bad[len(bad)/2] ^= 1
	dir := t.TempDir()
	name := filepath.Join(dir, "chapter-000000000001.trace")
	if !keep.Named(filepath.Base(name)) {
		t.Fatalf("%s is no chapter", name)
	}
	for _, c := range []struct {
		data []byte
		code int
		errs []string
	}{{data[:len(data)-40], 0, nil}, {bad, 1, []string{"is damaged"}}} {
		if err := os.WriteFile(name, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		want := []string{"remark", "still being written"}
		if c.code != 0 {
			want = []string{"pong"}
		}
		for _, file := range []string{name, dir} {
			expect(t, Command(&bundled.Program), c.code, want, c.errs, "trace", "info", file)
			expect(t, Command(&bundled.Program), c.code, want, c.errs, "trace", "replay", file)
		}
	}
}

func TestTraceInfo(t *testing.T) {
	data, _ := recordGame(t, pong.Game, 300, traceOptions(), nil)
	bad := slices.Clone(data)
	bad[len(bad)-40] ^= 1
	chess, _ := recordGame(t, world.Define("chess"), 60, traceOptions(), nil)
	newer, _ := recordGame(t, world.Define("pong", world.Rate(30)), 60, traceOptions(), nil)
	f := save(t, data, bad, data[:len(data)-40], chess, newer, []byte("hello"))
	expect(t, Command(&bundled.Program), 0,
		[]string{"pong, declarations ", "example.org/pong v1.0.0 (go1.26, plan9/mips)", "a test",
			"0 to 300, 60 a second: 5s", "2 at most; ", "damage   none", "by this program"}, nil,
		"trace", "info", f[0])
	expect(t, Command(&bundled.Program), 1, []string{"damage   trace: trace is damaged", "at byte"},
		[]string{"good up to tick 240"}, "trace", "info", f[1])
	expect(t, Command(&bundled.Program), 1, []string{"cut off"}, []string{"good up to tick"},
		"trace", "info", f[2])
	expect(t, Command(&bundled.Program), 0,
		[]string{`not by this program: it is of game "chess", and this program has only arena, crowd, pong, stack`, "example.org/pong v1.0.0"}, nil, "trace", "info", f[3])
	expect(t, Command(&bundled.Program), 0,
		[]string{`not by this program`, `"pong" had other classes`}, nil, "trace", "info", f[4])
	expect(t, Command(&bundled.Program), 1, nil, []string{"not a trace"}, "trace", "info", f[5])
	expect(t, Command(&bundled.Program), 1, nil, []string{"there is no such file"}, "trace", "info",
		f[5]+".not")
	expect(t, Command(&bundled.Program), 2, nil, []string{"--help"}, "trace", "info")

	var info map[string]any
	if err := json.Unmarshal(
		[]byte(expect(t, Command(&bundled.Program), 0, []string{"{"}, nil, "trace", "info",
			"--json", f[0])), &info); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"game": "pong", "seed": 11.0, "first_tick": 0.0, "last_tick": 300.0, "seconds": 5.0,
		"players": 2.0, "bytes": float64(len(data)),
		"file_bytes": float64(len(data)), "bytes_per_second": float64(len(data)) / 5,
		"replayable": true} {
		if info[name] != want {
			t.Errorf("%s is %v, not %v", name, info[name], want)
		}
	}
}

func TestTraceReplay(t *testing.T) {
	data, w := recordGame(t, pong.Game, 300, traceOptions(), nil)
	chess, _ := recordGame(t, world.Define("chess"), 60, traceOptions(), nil)
	bad := slices.Clone(data)
	bad[len(bad)-40] ^= 1
	f := save(t, data, chess, bad)
	hash := expect(t, Command(&bundled.Program), 0,
		[]string{"pong, ticks 0 to 300: 301 hashes compared, all agree", "at tick 300: "}, nil,
		"trace", "replay", f[0])
	if !strings.Contains(hash, hashText(w)) {
		t.Errorf("%s: the hash is %s", hash, hashText(w))
	}
	expect(t, Command(&bundled.Program), 0, []string{"ticks 0 to 100: 101 hashes"}, nil, "trace",
		"replay", f[0], "--until", "100")
	expect(t, Command(&bundled.Program), 1, nil,
		[]string{`it is of game "chess"`, "this program has only arena, crowd, pong, stack"},
		"trace", "replay", f[1])
	expect(t, Command(&bundled.Program), 1, []string{"all agree"},
		[]string{"damaged", "good up to tick 240"}, "trace", "replay", f[2])
	expect(t, Command(&bundled.Program), 2, nil, []string{"give --record too"}, "trace", "replay",
		f[0], "--states", "3")
	var rep struct {
		Hash     string
		Verified bool
		Last     int `json:"last_tick"`
		Compared int `json:"hashes_compared"`
	}
	if err := json.Unmarshal(
		[]byte(expect(t, Command(&bundled.Program), 0, []string{"{"}, nil, "trace", "replay",
			"--json", f[0])), &rep); err != nil {
		t.Fatal(err)
	}
	if rep.Hash != hashText(w) || !rep.Verified || rep.Last != 300 || rep.Compared != 301 {
		t.Errorf("%+v", rep)
	}
}

func hashText(w *world.World) string { return fmt.Sprintf("%016x", w.Hash()) }

// A replay can be recorded, with more states than the original, and is the same run.
func TestTraceReplayRecords(t *testing.T) {
	data, _ := recordGame(t, pong.Game, 150, traceOptions(), nil)
	f := save(t, data)
	out := filepath.Join(t.TempDir(), "out.trace")
	expect(t, Command(&bundled.Program), 0, []string{"all agree"}, nil, "trace", "replay", f[0],
		"--record", out, "--states", "1")
	expect(t, Command(&bundled.Program), 0, []string{"151 states", "a test; replayed"}, nil,
		"trace", "info", out)
	expect(t, Command(&bundled.Program), 0,
		[]string{"inputs  the same", "hashes  the same, 150 of them", "header  build: "}, nil,
		"trace", "diff", f[0], out)
	expect(t, DesyncCommand(&bundled.Program), 0, []string{"are the same from tick 0 to 150"}, nil,
		"desync", f[0], out)
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(out), "*")); err != nil ||
		len(left) != 1 {
		t.Error(left, err)
	}
}

func TestTraceDiff(t *testing.T) {
	a, _ := recordGame(t, pong.Game, 300, traceOptions(), nil)
	b, _ := recordGame(t, pong.Game, 280, traceOptions(), later(t))
	f := save(t, a, b)
	expect(t, Command(&bundled.Program), 0, []string{"1 to 300 were compared", "inputs  the same"},
		nil, "trace", "diff", f[0], f[0])
	expect(t, Command(&bundled.Program), 1,
		[]string{"inputs  differ first at tick 200, player 1, Y: ",
			"hashes  differ first at tick 20"}, []string{"the traces differ"}, "trace", "diff",
		f[0], f[1])
	var d struct {
		Same   bool
		Inputs trace.InputDifference
		Hash   trace.HashDifference
	}
	out := expect(t, Command(&bundled.Program), 1, []string{"{"}, []string{"differ"}, "trace",
		"diff", "--json", f[0], f[1])
	if err := json.Unmarshal([]byte(out), &d); err != nil || d.Same || d.Inputs.Tick != 200 ||
		d.Inputs.Field != "Y" || d.Hash.Tick < 200 {
		t.Errorf("%v %+v", err, d)
	}
}

func TestDesync(t *testing.T) {
	a, _ := recordGame(t, pong.Game, 300, traceOptions(), nil)
	b, v := recordGame(t, pong.Game, 300, traceOptions(), later(t))
	f := save(t, a, b)
	out := filepath.Join(t.TempDir(), "bundle")
	first := expect(t, DesyncCommand(&bundled.Program), 1,
		[]string{"differs   at tick 200", "inputs    differ first at tick 200, player 1, Y: ",
			"commands around it", "tick 199", out}, []string{"the two differ"},
		"desync", f[0], f[1], "--out", out)
	expect(t, DesyncCommand(&bundled.Program), 1, nil, []string{"bundle exists"}, "desync", f[0],
		f[1], "--out", out)

	// What is in the bundle shows the same.
	again := expect(t, DesyncCommand(&bundled.Program), 1, []string{"differs"},
		[]string{"the two differ"}, "desync", filepath.Join(out, "a.trace"),
		filepath.Join(out, "b.trace"), "--out", "none")
	if !strings.HasPrefix(first, again) {
		t.Errorf("from the bundle comes\n%s, not\n%s", again, first)
	}
	states := expect(t, DesyncCommand(&bundled.Program), 1,
		[]string{"two states alone do not tell"}, []string{"differ"}, "desync",
		filepath.Join(out, "a.state"), filepath.Join(out, "b.state"), "--out", "none")
	line := func(s string) string {
		_, s, _ = strings.Cut(s, "first  ")
		s, _, _ = strings.Cut(s, "\nwhy")
		return s
	}
	if line(states) == "" || !strings.HasPrefix(line(first), line(states)) {
		t.Errorf("%q from states, %q from traces", line(states), line(first))
	}
	if text, err := os.ReadFile(filepath.Join(out, "README.txt")); err != nil ||
		!strings.Contains(string(text), "coeval desync a.trace b.trace") {
		t.Errorf("%v %s", err, text)
	}

	packed := filepath.Join(t.TempDir(), "bundle.zip")
	var rep struct {
		Bundle, Cause string
		Tick          int
	}
	if err := json.Unmarshal(
		[]byte(expect(t, DesyncCommand(&bundled.Program), 1, []string{"{"}, []string{"differ"},
			"desync", f[0], f[1], "-o", packed, "--json")), &rep); err != nil {
		t.Fatal(err)
	}
	if rep.Bundle != packed || rep.Cause != "inputs" || rep.Tick != 200 {
		t.Errorf("%+v", rep)
	}
	z, err := zip.OpenReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if len(z.File) != 7 {
		t.Errorf("%d files", len(z.File))
	}

	// Without a name, one is made up, and never one that is taken.
	t.Chdir(t.TempDir())
	for _, name := range []string{"desync-pong-200", "desync-pong-200-2"} {
		expect(t, DesyncCommand(&bundled.Program), 1, []string{"is in " + name + "\n"},
			[]string{"differ"}, "desync", f[0], f[1])
		if _, err := os.Stat(filepath.Join(name, "report.json")); err != nil {
			t.Error(err)
		}
	}

	g := save(t, v.Host().Save(nil), []byte("hello"), []byte("hello"))
	expect(t, DesyncCommand(&bundled.Program), 1, nil, []string{"give two of a kind"}, "desync",
		f[0], g[0])
	expect(t, DesyncCommand(&bundled.Program), 1, nil,
		[]string{"neither traces nor saved worlds of a game that this program has (arena, crowd, " +
			"pong, stack)"}, "desync", g[1], g[2])
	expect(t, DesyncCommand(&bundled.Program), 0, []string{"are the same"}, nil, "desync", g[0],
		g[0])
	expect(t, DesyncCommand(&bundled.Program), 0, []string{`the two runs of "pong" are the same`},
		nil, "desync", f[0], f[0])
	expect(t, DesyncCommand(&bundled.Program), 1, nil, []string{"there is no such file"}, "desync",
		f[0], "nowhere")
}
