package tools

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

const dotsSchema = `{
 "name": "dots", "entities": 12, "rate_hz": 20, "base_age": 2, "skip": 2,
 "fields": [ { "name": "x", "min": 0, "max": 4095 }, { "name": "speed", "min": -50, "max": 50 }, { "name": "colour", "min": 0, "max": 4 } ],
 "classes": [ { "name": "dot", "first": 0, "count": 12 } ],
 "hints": { "position": ["x"], "velocity": ["speed"] }
}`

// dots writes a small recording, and says where its files are.
func dots(t *testing.T) (schema, frames string) {
	t.Helper()
	var data []byte
	for n := range 60 {
		for e := range 12 {
			speed := (e*7+n/10)%41 - 20
			for _, v := range []int{2048 + n*speed, speed, (n + e) / 16 % 5} {
				data = binary.LittleEndian.AppendUint32(data, uint32(v))
			}
		}
	}
	dir := t.TempDir()
	schema, frames = filepath.Join(dir, "dots.json"), filepath.Join(dir, "dots.bin")
	if err := errorsOf(os.WriteFile(schema, []byte(dotsSchema), 0o600), os.WriteFile(frames, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	return schema, frames
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// tryOne runs a command line on one command alone.
func tryOne(cmd *cobra.Command, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(context.Background(), args, &out, &err, []*cobra.Command{cmd})
	return code, out.String(), err.String()
}

func TestBenchCodecJSON(t *testing.T) {
	schema, frames := dots(t)
	for _, x := range []struct {
		args  []string
		lines int
	}{
		{nil, 8},
		{[]string{"--loss", "0.2"}, 4},
		{[]string{"--loss", "0", "--strategy", "raw,coeval", "--seed", "9", "--rounds", "1"}, 2},
	} {
		code, stdout, stderr := tryOne(benchCodecCommand(), append([]string{"codec", "--json", "--schema", schema, "--frames", frames}, x.args...)...)
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
			want := []string{"allocs_per_frame", "bytes_per_frame", "decode_ns_per_entity", "encode_ns_per_changed", "encode_ns_per_entity",
				"encode_ns_per_unchanged", "kbps", "loss", "packets_per_frame", "strategy", "tables", "verified", "workload"}
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
	schema, frames := dots(t)
	code, stdout, stderr := tryOne(benchCodecCommand(), "codec", "--schema", schema, "--frames", frames, "--rounds", "1")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, stderr %q", code, stderr)
	}
	lines := strings.Split(strings.TrimRight(stdout, "\n"), "\n")
	if len(lines) != 2+4+1+4+1 {
		t.Fatalf("%d lines:\n%s", len(lines), stdout)
	}
	width := len(lines[1])
	for i, line := range lines[1:11] {
		if line == "" && i == 5 {
			continue
		}
		if len(line) != width {
			t.Errorf("line %d is not as long as the heading:\n%s", i+1, stdout)
		}
	}
	for _, want := range []string{"x raw", "quake3", " 20 %", " 1.00 ", "tables of coeval for dots: defaults"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
}

func TestBenchCodecRefuses(t *testing.T) {
	schema, frames := dots(t)
	for _, x := range []struct {
		args   string
		code   int
		stderr string
	}{
		{"--loss 1", exitUsage, "--loss is 1: it must be at least 0 and below 1"},
		{"--loss NaN", exitUsage, "--loss is NaN"},
		{"--rounds 0", exitUsage, "--rounds is 0"},
		{"--strategy raw,zip", exitUsage, `--strategy: there is no strategy "zip"; there are raw, quake3, doom3, coeval`},
		{"--workload chess", exitUsage, `--workload: there is no workload "chess"; there are cubes, arena`},
		{"--workload cubes,cubes", exitUsage, "cubes is named twice"},
		{"--schema " + schema, exitUsage, "missing [frames]"},
		{"--schema " + schema + " --frames " + frames + " --workload cubes", exitUsage, "none of the others can be"},
		{"extra", exitUsage, "extra"},
		{"--schema " + schema + ".not --frames " + frames, exitFailure, schema + ".not: there is no such file"},
		{"--schema " + frames + " --frames " + frames, exitFailure, "schema " + frames + ": line 1: not a JSON file"},
		{"--schema " + schema + " --frames " + schema, exitFailure, "frames " + schema + ": frame 0, entity 0 (dot), field x: "},
		{"--schema " + schema + " --frames " + frames + " --tables " + frames, exitFailure, "this is not a tables file"},
		{"--tables " + frames, exitFailure, "this is not a tables file"},
	} {
		code, stdout, stderr := tryOne(benchCodecCommand(), append([]string{"codec"}, strings.Fields(x.args)...)...)
		if code != x.code || stdout != "" || !strings.Contains(stderr, x.stderr) {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q, want %d and %q", x.args, code, stdout, stderr, x.code, x.stderr)
		}
	}
}

func TestBenchCodecIsInterrupted(t *testing.T) {
	schema, frames := dots(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, err bytes.Buffer
	code := run(ctx, []string{"codec", "--schema", schema, "--frames", frames}, &out, &err, []*cobra.Command{benchCodecCommand()})
	if code != exitInterrupted || out.Len() > 0 {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, out.String(), err.String())
	}
}
