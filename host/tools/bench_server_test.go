package tools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBenchServerRefusesNonsense(t *testing.T) {
	for args, want := range map[string]string{
		"--players 0":       "--players is 0",
		"--players -4":      "-4 players",
		"--players 1000000": "there can be 1 to",
		"--snapshots 0":     "--snapshots is 0",
		"--snapshots 61":    "61 snapshots",
		"--seconds 0":       "--seconds is 0",
		"--seconds NaN":     "--seconds is NaN",
		"--seconds 0.001":   "measuring for 1ms",
		"--procs 0":         "[0] cores",
		"--strategy quake4": `"quake4"`,
		"--players many":    "invalid argument",
		"surplus":           "unknown command",
	} {
		code, stdout, stderr := try(append([]string{"bench", "server"}, strings.Fields(args)...)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

// The program starts itself twice more, and the crowd is there.
func TestBenchServer(t *testing.T) {
	if testing.Short() {
		t.Skip("a server and its bots take their time")
	}
	t.Parallel()
	out, err := transportProgram(t, "bench", "server", "--players", "8", "--seconds", "0.6", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Strategy string
		Players  int
		Tick     float64 `json:"ms_per_tick"`
		Others   float64 `json:"others_in_view"`
		Bad      uint64
		Inside   map[string]float64 `json:"snapshots_by_purpose"`
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	if r.Strategy != "coeval" || r.Players != 8 || !(r.Tick > 0) || !(r.Others > 5 && r.Others <= 7) || r.Bad != 0 || !(r.Inside["Avatar"] > 0) {
		t.Errorf("%+v\n%s", r, out)
	}
	text, err := transportProgram(t, "bench", "server", "--players", "3", "--seconds", "0.5").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"60 ticks a second, 20 snapshots", "strategy", "encode", "others", "of snapshots and their messages: ", "Avatar "} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestCodecPlay(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	t.Parallel()
	file := filepath.Join(t.TempDir(), "crowd.tables")
	code, stdout, stderr := try("codec", "play", "crowd", "--players", "6", "--seconds", "4", "--out", file)
	if code != 0 || !strings.Contains(stdout, "Plaza, Avatar, Bolt, Gem, command") {
		t.Fatalf("exit code %d, %q, %q", code, stdout, stderr)
	}
	if data, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(data), "coeval tables ") {
		t.Errorf("%v, %.20q", err, data)
	}
	for args, want := range map[string]string{
		"chess --out " + file:              `no game "chess"`,
		"crowd":                            `"out"`,
		"crowd --out /nonexistent/a/b":     "/nonexistent",
		"crowd --players -1 --out " + file: "-1 players",
	} {
		if code, _, stderr := try(append([]string{"codec", "play"}, strings.Fields(args)...)...); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q", args, code, stderr)
		}
	}
}
