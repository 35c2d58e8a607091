package host

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
)

// TestEveryTitleUnderEveryCommand plays every bundled title under every command that makes sense
// for it.
func TestEveryTitleUnderEveryCommand(t *testing.T) {
	for _, title := range bundled.List {
		t.Run(title.Name(), func(t *testing.T) {
			t.Parallel() // most of it is waiting
			m := matrix{t, title}
			t.Run("alone", m.alone)
			t.Run("served", m.served)
			if title == arena.Title || hosttest.Soak() { // one tells what mirrors make of a title
				t.Run("mirrored", m.mirrored)
			}
		})
	}
}

// A matrix is one row of it.
type matrix struct {
	t     *testing.T
	title *game.Title
}

// ok runs a command that must succeed, and gives what it printed.
func ok(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := try(args...)
	if code != cli.ExitOK {
		t.Fatalf("%s: exit code %d\n%s%s", strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout
}

// alone is all that needs no network.
func (m *matrix) alone(t *testing.T) {
	name := m.title.Name()
	record := filepath.Join(t.TempDir(), "run.trace")
	var p struct {
		Game, Hash string
		Ticks      int
	}
	if err := json.Unmarshal(
		[]byte(ok(t, "play", name, "--headless", "--ticks", "60", "--players", "2", "--record",
			record, "--json")), &p); err != nil || p.Game != name || p.Ticks != 60 {
		t.Errorf("%+v, %v", p, err)
	}
	if out := ok(t, "play", name, "--check", "--ticks", "40", "--players",
		"2"); !strings.Contains(out, "all the same") {
		t.Error(out)
	}
	if out := ok(t, "trace", "info", record); !strings.Contains(out, "by this program") {
		t.Error(out)
	}
	if out := ok(t, "trace", "replay", record); !strings.Contains(out, "all agree") ||
		!strings.Contains(out, p.Hash) {
		t.Error(out)
	}
	if out := ok(t, "desync", record, record); !strings.Contains(out, "are the same") {
		t.Error(out)
	}
	code, _, stderr := try("play", name)
	want := "not a terminal"
	if !m.title.Screen.Drawn() {
		want = name + " cannot be drawn"
	}
	if code != cli.ExitUsage || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// served is a server with a player and bots, and one that wants tokens.
func (m *matrix) served(t *testing.T) {
	name := m.title.Name()
	s := serveIn(t, name, "--strategy", "quake3")
	var j Joined
	if err := json.Unmarshal(
		[]byte(ok(t, "join", s.HTTP, "--headless", "--seconds", "0.3", "--json")),
		&j); err != nil || j.Game != name || j.Snapshots == 0 || j.Commands == 0 {
		t.Errorf("%+v, %v", j, err)
	}
	if b := botsAt(t, s.HTTP, 2, 20); b.Played != 2 || b.Bad != 0 {
		t.Errorf("%+v", b)
	}
	if code := s.stop(); code != cli.ExitOK {
		t.Errorf("exit code %d: %v", code, s.lines())
	}
	key := groupKeyFor(t)
	s = serveIn(t, name, "--key", key)
	token := strings.TrimSpace(ok(t, "token", "issue", "--key", key, "--game", name, "--client",
		"7"))
	ok(t, "join", s.UDP, "--game", name, "--token", token, "--headless", "--seconds", "0.2")
}

// mirrored is two mirrors, with a player at the second.
func (m *matrix) mirrored(t *testing.T) {
	if testing.Short() {
		t.Skip("mirrors need time to agree")
	}
	name, key := m.title.Name(), groupKeyFor(t)
	one := mirrorIn(t, "--uber", "--game", name, "--key", key, "--open")
	two := mirrorIn(t, "--join", one.Address, "--game", name, "--key", key, "--open")
	var j Joined
	if err := json.Unmarshal(
		[]byte(ok(t, "join", two.HTTP, "--headless", "--seconds", "0.3", "--json")),
		&j); err != nil || j.Game != name || j.Snapshots == 0 {
		t.Errorf("%+v, %v", j, err)
	}
}
