//go:build !windows

package host

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
)

// private complains of files below a path that others on the machine could read.
func private(t *testing.T, path string) {
	t.Helper()
	files := 0
	if err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %04o", name, info.Mode().Perm())
		}
		files++
		return err
	}); err != nil || files == 0 {
		t.Errorf("%s: %d files, %v", path, files, err)
	}
}

// TestRecordingsArePrivate: whatever holds a world's secret is readable by its owner alone, also
// where it takes the place of a file that was not.
func TestRecordingsArePrivate(t *testing.T) {
	dir := t.TempDir()
	record := func(name, seed string) string {
		name = filepath.Join(dir, name)
		if code, _, stderr := tryPlay("pong", "--headless", "--ticks", "60", "--seed", seed,
			"--record", name); code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		private(t, name)
		return name
	}
	a, b := record("a.trace", "1"), record("b.trace", "2")

	again := filepath.Join(dir, "again.trace")
	if err := os.WriteFile(again, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(again, 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := try("trace", "replay", a, "--record", again); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	private(t, again)
	for _, out := range []string{filepath.Join(dir, "report"), filepath.Join(dir, "report.zip")} {
		if code, _, stderr := try("desync", a, b, "--out", out); code != cli.ExitFailure {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		private(t, out)
	}
}

// TestPanicsArePrivate: so is the trace that a server writes of a panic.
func TestPanicsArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "panics")
	code, _, stderr := tryProgram(Program{Titles: []*game.Title{fuses()}}, "serve", "--listen",
		"127.0.0.1:0", "--panic-trace", dir, "--on-panic", "end")
	if code != cli.ExitFailure {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	private(t, dir)
}

// TestOpenKeyIsRefused: a key that others can read is no key, for any command.
func TestOpenKeyIsRefused(t *testing.T) {
	key := filepath.Join(t.TempDir(), "open.key")
	if code, _, stderr := try("token", "key", "--out", key); code != 0 {
		t.Fatal(stderr)
	}
	if err := os.Chmod(key, 0o640); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"serve pong --listen 127.0.0.1:0 --http none --key " + key,
		"token issue --game pong --client 7 --key " + key,
		"mirror --uber --listen 127.0.0.1:0 --mirrors 127.0.0.1:0 --http none --key " + key,
	} {
		code, stdout, stderr := try(strings.Fields(args)...)
		if code != cli.ExitFailure || !strings.Contains(stderr, "chmod 600 "+key) {
			t.Errorf("%s: exit code %d: %s%s", args, code, stdout, stderr)
		}
	}
}

// TestEndlessFiles: a file that never ends is not read to its end.
func TestEndlessFiles(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("this system has no file that never ends")
	}
	for _, args := range []string{
		"play arena --headless --ticks 1 --map /dev/zero",
		"serve pong --listen 127.0.0.1:0 --http none --key /dev/zero",
		"trace info /dev/zero",
	} {
		code, _, stderr := try(strings.Fields(args)...)
		if code == 0 || stderr == "" {
			t.Errorf("%s: exit code %d: %s", args, code, stderr)
		}
	}
}
