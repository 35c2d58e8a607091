package bench_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
)

func TestBenchCodecJSON(t *testing.T) {
	schema, frames := toolstest.Dots(t)
	for _, x := range []struct {
		args  []string
		lines int
	}{
		{nil, 12},
		{[]string{"--loss", "0.2"}, 6},
		{[]string{"--loss", "0", "--strategy", "raw,coeval", "--seed", "9", "--rounds", "1"}, 2},
	} {
		code, stdout,
			stderr := toolstest.Try(
			append([]string{"bench", "codec", "--json", "--schema", schema, "--frames", frames},
				x.args...)...)
		if code != 0 || stderr != "" {
			t.Fatalf("%v: exit code %d, stderr %q", x.args, code, stderr)
		}
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		if len(lines) != x.lines {
			t.Errorf("%v: %d lines, want %d", x.args, len(lines), x.lines)
		}
		for _, line := range lines {
			var r map[string]any
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			want := []string{
				"allocs_per_frame", "bytes_per_frame", "decode_ns_per_entity",
				"encode_ns_per_changed", "encode_ns_per_entity",
				"encode_ns_per_unchanged", "kbps", "loss", "packets_per_frame", "strategy",
				"tables", "verified", "workload"}
			if got := slices.Sorted(maps.Keys(r)); !slices.Equal(got, want) {
				t.Errorf("names are %q", got)
			}
			if r["workload"] != "dots" || r["verified"] != true {
				t.Error(line)
			}
		}
	}
}

func TestBenchCodecTable(t *testing.T) {
	schema, frames := toolstest.Dots(t)
	code, stdout,
		stderr := toolstest.Try("bench", "codec", "--schema", schema, "--frames", frames,
		"--rounds", "1")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, stderr %q", code, stderr)
	}
	for line := range strings.Lines(stdout) {
		if len(strings.TrimRight(line, "\n")) > 100 {
			t.Errorf("a line is wider than 100 columns:\n%s", stdout)
		}
	}
	for _, want := range []string{
		" raw  ", "quake3", " 20 %", " 1.00", "tables of coeval for dots: defaults"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
}

func TestBenchCodecRefuses(t *testing.T) {
	schema, frames := toolstest.Dots(t)
	for _, x := range []struct {
		args   string
		code   int
		stderr string
	}{
		{"--loss 1", toolstest.ExitUsage, "--loss is 1: choose 0 to "},
		{"--loss NaN", toolstest.ExitUsage, "--loss is NaN"},
		{"--rounds 0", toolstest.ExitUsage, "--rounds is 0"},
		{"--strategy raw,zip", toolstest.ExitUsage,
			`--strategy: there is no "zip"; there are raw, quake, quake3, doom3exact, doom3, coeval`},
		{"--workload chess", toolstest.ExitUsage,
			`--workload: there is no "chess"; there are cubes, arena`},
		{"--workload cubes,cubes", toolstest.ExitUsage, "cubes is named twice"},
		{"--schema " + schema, toolstest.ExitUsage, "missing [frames]"},
		{"--schema " + schema + " --frames " + frames + " --workload cubes", toolstest.ExitUsage,
			"none of the others can be"},
		{"extra", toolstest.ExitUsage, "extra"},
		{"--schema " + schema + ".not --frames " + frames, toolstest.ExitFailure,
			schema + ".not: there is no such file"},
		{"--schema " + frames + " --frames " + frames, toolstest.ExitFailure,
			"schema " + frames + ": line 1: not a JSON file"},
		{"--schema " + schema + " --frames " + schema, toolstest.ExitFailure,
			"frames " + schema + ": frame 0, entity 0 (dot), field x: "},
		{"--schema " + schema + " --frames " + frames + " --tables " + frames,
			toolstest.ExitFailure, "this is not a tables file"},
		{"--tables " + frames, toolstest.ExitFailure, "this is not a tables file"},
	} {
		code, stdout,
			stderr := toolstest.Try(append([]string{"bench", "codec"},
			strings.Fields(x.args)...)...)
		if code != x.code || stdout != "" || !strings.Contains(stderr, x.stderr) {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q, want %d and %q", x.args, code, stdout,
				stderr, x.code, x.stderr)
		}
	}
}

func TestBenchCodecIsInterrupted(t *testing.T) {
	schema, frames := toolstest.Dots(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, stdout,
		stderr := toolstest.TryContext(ctx, "bench", "codec", "--schema", schema, "--frames",
		frames)
	if code != toolstest.ExitInterrupted || stdout != "" {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
