package host

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func tryPlay(args ...string) (code int, stdout, stderr string) {
	return try(append([]string{"play"}, args...)...)
}

// What was recorded replays to the hash that the run printed, and a recording is never written
// over.
func TestPlayRecords(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.trace")
	code, played,
		stderr := tryPlay("pong", "--headless", "--ticks", "200", "--players", "2", "--record",
		name)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	hash := strings.TrimSpace(played[strings.LastIndex(played, " "):])
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"trace", "replay", name}, &out, &errs,
		commands()); code != 0 {
		t.Fatalf("replay: exit code %d: %s", code, &errs)
	}
	if !strings.Contains(out.String(), hash) {
		t.Errorf("replay says %q, the run had hash %s", &out, hash)
	}
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := tryPlay("pong", "--headless", "--record", name); code != 1 ||
		!strings.Contains(stderr, "already there") {
		t.Errorf("recording over a file: exit code %d, %q", code, stderr)
	}
	if after, _ := os.ReadFile(name); !bytes.Equal(before, after) {
		t.Error("the recording was changed")
	}
	if code, _, stderr := tryPlay("pong", "--headless", "--record",
		filepath.Join(t.TempDir(), "no", "such")); code != 1 ||
		!strings.Contains(stderr, "cannot record") {
		t.Errorf("recording into a folder that is not there: exit code %d, %q", code, stderr)
	}
}
