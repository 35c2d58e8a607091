package host

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/knob/settings"
)

// settingsIn writes a file as lab tune does.
func settingsIn(t *testing.T, game, architecture string, knobs settings.Knobs) string {
	t.Helper()
	f := settings.File{Game: game, Architecture: architecture, Knobs: knobs}
	b, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), architecture+".json")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestSettings: what lab tune has written is what a server does, and its clients are told; flags go
// before it.
func TestSettings(t *testing.T) {
	t.Parallel() // it mostly waits
	file := settingsIn(t, "arena", "quake3", settings.Knobs{"snapshots": "4", "commands": "7",
		"interpolate": "300ms", "game.reach": "12"})
	s := serveIn(t, "arena", "--settings", file)
	resp, err := http.Post("http://"+s.HTTP+"/token", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(b), `"knobs":"commands=7 interpolate=300ms"`) {
		t.Errorf("clients are told %s, %v", b, err)
	}
	j := joinWith(t, s.HTTP, "--seconds", "1")
	if j.Style != "quake3" || j.Redundancy != 7 || j.Snapshots == 0 || j.Snapshots > 8 {
		t.Errorf("%+v", j)
	}
	s = serveIn(t, "arena", "--settings", file, "--snapshots", "20", "--knob", "commands=5")
	if j := joinWith(t, s.HTTP, "--seconds", "1"); j.Redundancy != 5 {
		t.Errorf("%+v", j)
	}
}

// TestSettingsOfPeers: who founds a match plays as the settings say.
func TestSettingsOfPeers(t *testing.T) {
	file := settingsIn(t, "pong", "rollback", settings.Knobs{"delay": "5", "depth": "3"})
	_, stdout, _ := try("peer", "host", "pong", "--start", "1", "--json", "--time", "1500ms",
		"--listen", "127.0.0.1:0", "--identity", filepath.Join(t.TempDir(), "id"), "--settings",
		file)
	if !strings.Contains(stdout, `"style":"rollback","depth":3,"delay":5`) {
		t.Errorf("nowhere a delay of 5 and a depth of 3: %s", stdout)
	}
}

// TestSettingsMistakes: settings that are not for the command are refused, and it is said why.
func TestSettingsMistakes(t *testing.T) {
	quake := settingsIn(t, "arena", "quake3", settings.Knobs{"snapshots": "30"})
	peers := settingsIn(t, "arena", "rollback", settings.Knobs{"delay": "3"})
	trails := settingsIn(t, "arena", "mirrors-trailing", settings.Knobs{"lead": "40ms"})
	hope := settingsIn(t, "arena", "quake3", settings.Knobs{"hope": "3"})
	much := settingsIn(t, "arena", "quake3", settings.Knobs{"snapshots": "3000"})
	far := settingsIn(t, "arena", "quake3", settings.Knobs{"game.reach": "-3"})
	old := filepath.Join(t.TempDir(), "old.json")
	if err := os.WriteFile(old, []byte(`{"version":7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	key := groupKeyFor(t)
	serve := "serve arena --listen 127.0.0.1:0 "
	mirror := "mirror --uber --game arena --key " + key +
		" --listen 127.0.0.1:0 --mirrors 127.0.0.1:0 --http none "
	for _, x := range []struct{ args, want string }{
		{serve + "--settings " + peers, "of the architecture rollback, which this command does not"},
		{serve + "--settings " + hope, `quake3 has no knob "hope"; there are snapshots`},
		{serve + "--settings " + much, "snapshots is \"3000\": it must be 1 to 1000"},
		{serve + "--settings " + far, "game.reach is \"-3\""},
		{serve + "--settings " + old, "settings of version 7"},
		{serve + "--settings nowhere.json", "nowhere.json"},
		{serve + "--architecture doom3 --settings " + quake, "and --architecture is doom3"},
		{serve + "--knob snapshots", "write a name and a value"},
		{serve + "--knob hope=1", `coeval has no knob "hope"`},
		{serve + "--knob guard=1 --knob guard=2", "there twice"},
		{serve + "--knob snapshots=9 --snapshots 8", "say the same"},
		{"serve pong --settings " + quake, "settings of the game arena, and this is pong"},
		{mirror + "--settings " + quake, "of the architecture quake3, which this command does not"},
		{mirror + "--timeline auto --settings " + trails, "and --timeline is auto"},
		{mirror + "--knob lead=40ms", `mirrors-auto has no knob "lead"`},
		{"peer host arena --json --settings " + trails, "of the architecture mirrors-trailing"},
		{"peer host arena --json --relay x:1 --settings " + peers, "of the architecture rollback"},
		{"peer host arena --json --style lockstep --settings " + peers, "and --style is lockstep"},
		{"peer host arena --json --knob depth=99", "depth is \"99\": it must be 1 to 30"},
		{"demo arena --no-open --settings " + peers, "of the architecture rollback"},
		{"demo arena --no-open --mirrors 2 --settings " + quake, "of the architecture quake3"},
		{"demo arena --no-open --peers 2 --settings " + quake, "of the architecture quake3"},
		{"demo arena --no-open --knob hope=1", `coeval has no knob "hope"`},
	} {
		code, stdout, stderr := try(strings.Fields(x.args)...)
		if code != cli.ExitUsage || stdout != "" || !strings.Contains(stderr, x.want) {
			t.Errorf("%s: exit code %d, want %q: %s%s", x.args, code, x.want, stdout, stderr)
		}
	}
}
